"""Ranking the texts of each row by the answers to comparisons of them, and these answers as they were given."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import StageError
from fcpair.lazy import pd
from fcpair.params import Rank
from fcpair.records import Round
from fcpair.stages.corpus.comparisons import LETTERS
from fcpair.stages.stats.ranking import TIE, Ranking, choice_places, rank_answers
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import takes_params
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides, texts

DEFAULT = Rank()


@takes_params
def rank_compared(
    grid: GridContext,
    options: Rank = DEFAULT,
    *,
    round: str | None = None,
    prior: float = 2.0,
    tie: Literal["half", "left-out"] = "half",
    level: float = 0.95,
) -> Ranking:
    """Rank the texts of each row by the current answers to comparisons, in the round that counts if none is named.

    Raises StageError for a grid that compares nothing, or where nothing was answered, UnknownIdError for no
    such round.
    """
    with grid._store.read() as tx:
        return ranking_of(tx, options, rounds.by_name(tx, round))


def ranking_of(tx: Tx, options: Rank, round_: Round) -> Ranking:
    """The ranking as `rank_compared` has it, in a transaction that is under way."""
    answers, located, shown = load_choices(tx, round_)
    numbers = {text_id: at for at, text_id in enumerate(sides.text_ids(tx, "row", drawn=True), 1)}
    rows = located["hs_id"].map(numbers).to_numpy(np.int64)
    at = answers.pop("place").to_numpy(np.int64)
    words: dict[Any, str] = texts.by_id(tx, [*numbers, *shown.ravel()])["body"].to_dict()
    items = {row: np.unique(shown[rows == row]).tolist() for row in np.unique(rows).tolist()}
    row_texts = {number: words[text_id] for text_id, number in numbers.items()}
    return rank_answers(answers.assign(row=rows[at]), shown[at], items, options, row_texts, words)


def load_choices(tx: Tx, round_: Round, *columns: str) -> tuple[pd.DataFrame, pd.DataFrame, Ints]:
    """The current answers of a round to comparisons, and the comparisons with what they show, as `cells.compared_texts`
    has them. Of an answer: `cell_id`, `annotator`, `value`, `columns`; `best` and `worst`, as `choice_places` finds
    them; and `place`, that of its comparison. Raises what `rank_compared` does.
    """
    if not cells.has_comparisons(tx):
        raise StageError.say("this grid compares nothing; plan one whose columns `compare` texts, and name it (--grid)")
    located, shown = cells.compared_texts(tx)
    answers = judgements.current_labels(tx, "cell_id", "annotator", "value", *columns, of=round_)
    if answers.empty:
        raise StageError(f"round `{round_.name}` has no answers yet")
    form = form_of(round_.form)
    find_places = choice_places(form, shown.shape[1])
    places = {value: find_places(form.load(value)) for value in answers["value"].unique()}
    best, worst = np.array([places[value] for value in answers["value"]], np.int64).T
    at = np.searchsorted(located["cell_id"], answers["cell_id"])
    return answers.reset_index(drop=True).assign(place=at, best=best, worst=worst), located, shown


def preference_lines(tx: Tx, round_: Round) -> str:
    """Each current answer of a round to a comparison as it was given, as a line of JSON; skips are left out.

    `prompt`, `chosen` and `rejected` are as preference datasets have them: the row, and the better of two, or the best
    and the worst; None for a tie, and where nothing definite was said.
    """
    answers, located, shown = load_choices(tx, round_, "seconds", "at", "origin")
    words, form, lines = texts.by_id(tx, [*located["hs_id"], *shown.ravel()]), form_of(round_.form), list[str]()

    def identify(text_id: int, own_id: str) -> dict[str, Any]:
        of = words.loc[text_id]
        return {"id": text_id, **({own_id: of["meta"][own_id]} if of["meta"].get(own_id) else {}), "text": of["body"]}

    for row in answers.to_dict("records"):
        row_id, options = int(located["hs_id"].iloc[row["place"]]), shown[row["place"]].tolist()
        lettered = zip(LETTERS, options, strict=False)
        chosen = (words.at[options[row[of]], "body"] if row[of] >= 0 else None for of in ("best", "worst"))
        line = {
            "comparison": int(grids.to_public_number(row["cell_id"])),
            "row": identify(row_id, "hs_id"),
            "options": [{"letter": letter, **identify(text_id, "cn_id")} for letter, text_id in lettered],
            "answer": form.names(form.load(row["value"])),
            "tie": row["best"] == TIE,
            "prompt": words.at[row_id, "body"],
            **dict(zip(("chosen", "rejected"), chosen, strict=True)),
            "by": row["annotator"],
            "seconds": None if pd.isna(row["seconds"]) else row["seconds"],
            "time": row["at"],
            "origin": row["origin"],
        }
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)

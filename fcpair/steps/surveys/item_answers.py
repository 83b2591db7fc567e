"""Answers of models to items that are the rows of a grid, and what a bias test makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fcpair.bias.answers import COLUMNS, LETTERS, STATEMENT, Answers, answers_to_items
from fcpair.bias.scoring import MEAN, BiasFigure, ModelScores, ScoredAnswers, score_models
from fcpair.errors import InputError, StageError, suggest_name
from fcpair.lazy import pd
from fcpair.params import BELIEVED
from fcpair.records import Round
from fcpair.stages.answers.replies import parse_probabilities
from fcpair.stages.surveys.survey import count_answers
from fcpair.steps.answers.answer_tables import ROW, answers_table, replies_table, rows_table
from fcpair.steps.base.context import GridContext, find_grid, note_run
from fcpair.steps.surveys.survey import survey_answers
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.values import parse_json

_UNKNOWN = (np.nan,) * len(LETTERS)
BIAS = "bias score"


def item_answers(grid: GridContext, round: str | None = None) -> dict[str, Answers]:
    """Answers to the items of a grid in a round, the one that counts if none is named, by who answered.

    Where the round asks for probabilities these are there as well. A skip is an answer that cannot be read, but for a
    reply whose likeliest options tie: its probabilities count.

    Raises:
        StageError: the rows are no items, or nothing was answered.
        UnknownIdError: no such round.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        return answers_to_grid_items(tx, grid.grid.name, round_)


def answers_to_grid_items(tx: Tx, name: str, round_: Round) -> dict[str, Answers]:
    """Answers to the items of the grid that a transaction is about, as `item_answers` returns them."""
    rows = rows_table(tx, name)
    row_columns = [str(column) for column in rows.columns]
    if missing := [column for column in COLUMNS if column not in row_columns]:
        raise StageError(
            f"the rows of grid `{name}` are not items made from templates: they have no `{missing[0]}`; "
            f"{suggest_name(missing[0], row_columns, 'they have %(names)s')}"
        )
    table = answers_table(tx, round_)
    if table.empty:
        raise StageError(f"round `{round_.name}` of grid `{name}` has no answers yet")
    question = next(iter(table.columns[list(table.columns).index("skipped") + 1 :]))
    last_replies = replies_table(tx, round_).groupby(["cell", "by"])["reply"].last()
    keys = pd.MultiIndex.from_frame(table[["cell", "by"]])
    table = table.assign(reply=last_replies.reindex(keys).fillna("").to_numpy())
    columns = [*COLUMNS, *({STATEMENT} & set(row_columns))]
    items = rows.set_index(ROW).loc[table["row"], columns].reset_index(drop=True)
    answers_by_name = {}
    for by, own_rows in table.reset_index(drop=True).groupby("by", sort=False):
        shares = (
            _option_probabilities(own_rows["reply"].tolist(), own_rows["skipped"].tolist())
            if round_.options.probabilities
            else None
        )
        answers = own_rows[question].where(~own_rows["skipped"], own_rows["reply"]).tolist()
        own_items = items.loc[own_rows.index].reset_index(drop=True)
        answers_by_name[str(by)] = answers_to_items(own_items, answers, shares, name, own_rows["cell"].tolist())
    return answers_by_name


def _option_probabilities(replies: list[str], skipped: list[bool]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The probabilities of the options in each reply, `(n, 3)`; NaN where they cannot be read.

    Of a skip only those whose likeliest options tie.
    """
    probabilities = [
        _tied_probabilities(one) if skip else _read_probabilities(one)
        for one, skip in zip(replies, skipped, strict=True)
    ]
    return np.array(probabilities, np.float64).reshape(len(replies), len(LETTERS))


def _read_probabilities(reply: str) -> Sequence[float]:
    try:
        probabilities = parse_json(reply)
        return [float(probabilities[letter]) for letter in LETTERS]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _UNKNOWN


def _tied_probabilities(reply: str) -> Sequence[float]:
    try:
        shares, _ = parse_probabilities(reply, LETTERS)
    except InputError:
        return _UNKNOWN
    return shares if shares.count(max(shares)) > 1 else _UNKNOWN


def score_bias(
    grid: GridContext,
    scheme: str,
    round: str | None = None,
    *,
    survey: str | None = None,
    question: str = BELIEVED,
    smooth: float = 0.0,
) -> ModelScores:
    """Score the answers to the items of a grid, by who answered, and note the scores.

    Args:
        scheme: whose definition of the scores: `bbq`, `kobbq`, `cbbq` or `pbbq`.
        round: by name; without one, the round that counts.
        survey: the grid of a survey; it is measured how far people are from each model.
        question: of the survey, which is compared.
        smooth: is added to both shares of a model.

    Raises:
        StageError: the rows are no items, or nothing was answered.
        UnknownIdError: no such round or grid.
        InputError: no such scheme or question, or one that needs what the answers do not have.
    """
    grid._store.check_writable()
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        answers = answers_to_grid_items(tx, grid.grid.name, round_)
        asked_grid = find_grid(tx, survey) if survey else None
    people = count_answers(survey_answers(GridContext(grid._store, asked_grid)).given) if asked_grid else None
    scores = score_models(answers, scheme, people, question=question, smooth=smooth)
    params: dict[str, Any] = {"grid": grid.grid.name, "round": round_.name, "role": round_.role.value, "as": scheme}
    if survey:
        params |= {"survey": survey, "question": question, "smooth": smooth}
    by_name = {by: {figure.score: figure for figure in _figures_over_all(one)} for by, one in scores.scores.items()}
    counts = {
        "models": len(scores.scores),
        "answers": sum(one.n for one in scores.scores.values()),
        "unreadable": sum(one.n_unreadable for one in scores.scores.values()),
        "categories": max(len(one.categories) for one in scores.answers.values()),
        "scores": {by: {name: one.value for name, one in figures.items()} for by, figures in by_name.items()},
        "intervals": {
            by: {name: [one.low, one.high] for name, one in figures.items() if one.low is not None}
            for by, figures in by_name.items()
        },
    }
    if scores.divergences:
        counts["divergence"] = {by: one.figures[-1].value for by, one in scores.divergences.items()}
    with grid._store.write() as tx:
        note_run(tx, BIAS, params, counts)
    return scores


def _figures_over_all(scored: ScoredAnswers) -> list[BiasFigure]:
    """The figures that are means over categories; where there is one category, its own."""
    means = [figure for figure in scored.figures if figure.category == MEAN]
    return means or list(scored.figures)

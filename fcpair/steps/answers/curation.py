"""Texts written in a round, as one table, and the effect of a round that edits or curates on those of another."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fcpair.errors import StageError
from fcpair.lazy import pd
from fcpair.notebook import Result
from fcpair.records import Origin
from fcpair.stages.answers.curation import ALL, CurationSummary, TextChange, describe_change, summarize_changes
from fcpair.stages.questions import AnyOf, Form
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids


@dataclass(frozen=True, repr=False)
class Curation(Result):
    """Effect of a round on the texts of the round that it `edits`, or of the rows where that is `row`.

    `sources` are those who wrote the texts, people or models, by name, or where rows are edited those that the rows
    were collected from, models, `people` or `unknown`; `all` is over all of them. `lost` answers are in neither: the
    text that they are about was empty, or has been taken back since.
    """

    round: str
    edits: str
    sources: tuple[CurationSummary, ...]
    all: CurationSummary
    lost: int

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each source, and one for all: how many answers did what, for which reason, and the two means."""
        for of in (*self.sources, self.all):
            reasons = {f"rejected: {reason}": n for reason, n in of.reasons.items()}
            means = {"words_changed": of.words_changed.value, "characters_changed": of.characters_changed.value}
            counts = {name: getattr(of, name) for name in ("source", "n", "accepted", "edited", "rejected")}
            yield counts | reasons | means

    def _summary(self) -> str:
        of = self.all
        return f"round `{self.round}`, {of.accepted:,} accepted, {of.edited:,} edited, {of.rejected:,} rejected"


def measure_curation(grid: GridContext, round: str | None = None) -> Curation:
    """Count the texts that a round accepted, edited and rejected, by reason; without a name, in the round that counts.

    Each current answer counts, skips left out, by comparing it with what the round before has on the cell now. Raises
    UnknownIdError for no such round, StageError where it edits nothing, or nothing has been answered there yet.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        form = form_of(round_.form)
        if not (round_.options.edits and form.edited_question):
            raise StageError(f"round `{round_.name}` edits nothing; name one that does with `--round`")
        if round_.options.edits_round:
            originals = authorship.authored_texts(tx, rounds.by_name(tx, round_.options.edits_round))
        else:
            sources, row_texts = authorship.sources_of_rows(tx), authorship.originals(tx, round_)
            originals = {
                cell_id: authorship.AuthoredText(body, sources.get(cell_id, "unknown"))
                for cell_id, body in row_texts.items()
            }
        answers = judgements.current_answers(tx, round_, "cell_id", "value")
    texts = {cell_id: entry.body for cell_id, entry in originals.items()}
    changes = zip(map(originals.get, answers["cell_id"]), text_changes(form, answers, texts), strict=True)
    made = [(original, change) for original, change in changes if change]
    if not made:
        raise StageError(f"nothing has been answered in round `{round_.name}` yet")
    counted, question = [(original.by, change) for original, change in made if original], form.edited_question[1]
    by_source = defaultdict[str, list[TextChange]](list)
    for source, change in counted:
        by_source[source].append(change)
    return Curation(
        round_.name,
        round_.options.edits,
        tuple(summarize_changes(question, source, by_source[source]) for source in sorted(by_source)),
        summarize_changes(question, ALL, [change for _, change in counted]),
        len(made) - len(counted),
    )


def text_changes(form: Form, rows: pd.DataFrame, originals: Mapping[int, str]) -> list[TextChange | None]:
    """Change that each answer (`cell_id`, `value`) to a form that edits makes to its cell's text; None of a skip."""
    if form.edited_question is None:
        return [None] * len(rows)
    name, question = form.edited_question
    edits_by_value = {value: form.load(value)[name] for value in rows["value"].dropna().unique()}
    edits = zip(rows["cell_id"], map(edits_by_value.get, rows["value"]), strict=True)
    return [
        None if edit is None else describe_change(question, edit, originals.get(cell_id)) for cell_id, edit in edits
    ]


def written_table(tx: Tx, name: str | None = None) -> pd.DataFrame:
    """The texts of the current answers of a round, by cell and writer; without a name, of the round that counts.

    Columns: `cell`, `hs` (the row's text), `type` (the column's), `cn` (what was written), `types` (the column's,
    unless the first question of several labels does not have it, and the other labels given there, separated by
    semicolons), `by`, `simulated`; and if there are any `original` (what was edited), `group` and `language` (of the
    row). Raises StageError where no text is written there, or none was.
    """
    round_ = rounds.by_name(tx, name)
    form = form_of(round_.form)
    if form.written_question is None:
        raise StageError(f"no text is written in round `{round_.name}`, so there is none to export")
    answers = judgements.current_answers(tx, round_, "cell_id", "annotator", "value", "origin")
    texts = {value: form.text(form.load(value)) for value in answers["value"].dropna().unique()}
    text_rows = answers[answers["value"].map(texts, na_action="ignore").notna()]
    if text_rows.empty:
        raise StageError(f"nothing has been written in round `{round_.name}` yet")
    located = text_rows.join(cells.by_id(tx, text_rows["cell_id"]).set_index("cell_id"), on="cell_id")
    grid_texts = cells.texts_of_grid(tx).set_index("text_id")
    row_texts, kinds = grid_texts.reindex(located["hs_id"]), located["cn_id"].map(grid_texts["body"]).tolist()
    # The types of a text are its column's, and the labels of the first question that asks for several.
    types = next(((name, question.names) for name, question in form.questions if isinstance(question, AnyOf)), None)
    joined = []
    for kind, value in zip(kinds, text_rows["value"], strict=True):
        answered = (types and json.loads(value)[types[0]]) or ()
        of_column = [kind] if types is None or kind in types[1] else []
        joined.append("; ".join([*of_column, *(label for label in answered if label != kind)]))
    columns: dict[str, list[Any]] = {
        "cell": grids.to_public_number(text_rows["cell_id"]).tolist(),
        "hs": row_texts["body"].tolist(),
        "type": kinds,
        "cn": text_rows["value"].map(texts).tolist(),
        "types": joined,
        "by": text_rows["annotator"].tolist(),
        "simulated": (text_rows["origin"] == Origin.SIMULATED.value).tolist(),
    }
    groups = [str(meta.get("group", "")) for meta in row_texts["meta"]]
    languages = [language or "" for language in row_texts["language"]]
    columns |= {name: values for name, values in (("group", groups), ("language", languages)) if any(values)}
    if round_.options.edits:
        columns["original"] = text_rows["cell_id"].map(authorship.originals(tx, round_)).tolist()
    return pd.DataFrame(columns)

"""Effect of a round that edits or curates on the texts of the round before it, source by source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fcpair.errors import StageError
from fcpair.records import Round
from fcpair.stages.answers.curation import ALL, CurationSummary, TextChange, describe_change, summarize_changes
from fcpair.stages.questions import Form
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements, text_origins
from fcpair.store.assignment import rounds

if TYPE_CHECKING:
    import pandas as pd


UNKNOWN = "unknown"


@dataclass(frozen=True)
class Curation:
    """Effect of a round on the texts of the round that it `edits`, or of the rows where that is `row`.

    `sources` are those who wrote the texts, people or models, by name, and `all` is over all of them. `lost` answers
    are in neither: the text that they are about was empty, or has been taken back since. Where the rows themselves are
    edited, `edits` is `row`, and the sources are those that the rows were collected from, models, or `people`;
    `unknown` where nothing says so.
    """

    round: str
    edits: str
    sources: tuple[CurationSummary, ...]
    all: CurationSummary
    lost: int

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        sources = [one.as_dict() for one in self.sources]
        return {**vars(self), "sources": sources, "all": self.all.as_dict()}


def measure_curation(grid: GridContext, name: str | None = None) -> Curation:
    """Count the texts that a round accepted, edited and rejected, by reason; without a name, in the round that counts.

    Each current answer counts, skips left out. Whether a text was changed is found by comparing it with what the round
    before has on the cell now.

    Raises:
        UnknownIdError: no such round.
        StageError: the round edits nothing, or nothing has been answered there yet.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, name)
        form = form_of(round_.form)
        if not (round_.options.edits and form.edited_question):
            raise StageError(f"round `{round_.name}` edits nothing; name one that does with `--round`")
        originals = _originals(tx, round_)
        answers = judgements.answer_values(tx, round_)
    texts = {cell_id: entry.body for cell_id, entry in originals.items()}
    changes_made = [
        (originals.get(cell_id), entry)
        for cell_id, entry in zip(answers["cell_id"], text_changes(form, answers, texts), strict=True)
        if entry
    ]
    if not changes_made:
        raise StageError(f"nothing has been answered in round `{round_.name}` yet")
    by_source: dict[str, list[TextChange]] = {}
    for original, entry in changes_made:
        if original:
            by_source.setdefault(original.by, []).append(entry)
    question, counted_changes = form.edited_question[1], [entry for original, entry in changes_made if original]
    sources = tuple(summarize_changes(question, source, by_source[source]) for source in sorted(by_source))
    return Curation(
        round_.name,
        round_.options.edits,
        sources,
        summarize_changes(question, ALL, counted_changes),
        len(changes_made) - len(counted_changes),
    )


def _originals(tx: Tx, round_: Round) -> dict[int, authorship.AuthoredText]:
    """The text that is edited on each cell, and where it is from."""
    if round_.options.edits_round:
        return authorship.authored_texts(tx, rounds.by_name(tx, round_.options.edits_round))
    sources = text_origins.sources_of_rows(tx)
    row_texts = authorship.originals(tx, round_).items()
    return {cell_id: authorship.AuthoredText(body, sources.get(cell_id, UNKNOWN)) for cell_id, body in row_texts}


def text_changes(form: Form, rows: pd.DataFrame, originals: Mapping[int, str]) -> list[TextChange | None]:
    """Change that each answer (`cell_id`, `value`) to a form that edits makes to the text of its cell.

    None of a skip, and of an answer that was not asked for its text.
    """
    if form.edited_question is None:
        return [None] * len(rows)
    name, question = form.edited_question
    answers_by_value = {value: form.load(value)[name] for value in rows["value"].dropna().unique()}
    answers = (
        (cell_id, answers_by_value.get(value)) for cell_id, value in zip(rows["cell_id"], rows["value"], strict=True)
    )
    return [None if one is None else describe_change(question, one, originals.get(cell_id)) for cell_id, one in answers]

"""What a round that edits or curates did with the texts of the round before it, source by source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fcpair.errors import StageError
from fcpair.records import Round
from fcpair.stages.answers.curation import ALL, Change, Curated, change, summarize
from fcpair.stages.questions import Form
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import OnGrid
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements, text_origins
from fcpair.store.assignment import rounds

if TYPE_CHECKING:
    import pandas as pd


UNKNOWN = "unknown"


@dataclass(frozen=True)
class Curation:
    """What a round did with the texts of the round that it `edits`, or of the rows where that is `row`.

    `sources` are those who wrote the texts, people or models, by name, and `all` is over all of them. `lost` answers
    are in neither: the text that they are about was empty, or has been taken back since. Where the rows themselves are
    edited, `edits` is `row`, and the sources are those that the rows were collected from, models, or `people`;
    `unknown` where nothing says so.
    """

    round: str
    edits: str
    sources: tuple[Curated, ...]
    all: Curated
    lost: int

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        sources = [one.as_dict() for one in self.sources]
        return {**vars(self), "sources": sources, "all": self.all.as_dict()}


def measure_curation(grid: OnGrid, name: str | None = None) -> Curation:
    """How many texts a round accepted, edited and rejected for which reason; without a name, the round that counts.

    Each current answer counts, skips left out. Whether a text was changed is found by comparing it with what the round
    before has on the cell now.

    Raises:
        UnknownIdError: no such round.
        StageError: the round edits nothing, or nothing has been answered there yet.
    """
    with grid.store.read() as tx:
        of = rounds.counting(tx) if name is None else rounds.named(tx, name)
        form = form_of(of.form)
        if not (of.options.edits and form.edits):
            raise StageError(f"round `{of.name}` edits nothing; name one that does with `--round`")
        originals = _originals(tx, of)
        given = judgements.values(tx, of)
    texts = {cell_id: one.body for cell_id, one in originals.items()}
    made = [
        (originals.get(cell_id), one)
        for cell_id, one in zip(given["cell_id"], changes_of(form, given, texts), strict=True)
        if one
    ]
    if not made:
        raise StageError(f"nothing has been answered in round `{of.name}` yet")
    by_source: dict[str, list[Change]] = {}
    for original, one in made:
        if original:
            by_source.setdefault(original.by, []).append(one)
    question, counted = form.edits[1], [one for original, one in made if original]
    sources = tuple(summarize(question, source, by_source[source]) for source in sorted(by_source))
    return Curation(of.name, of.options.edits, sources, summarize(question, ALL, counted), len(made) - len(counted))


def _originals(tx: Tx, of: Round) -> dict[int, authorship.OnCell]:
    """The text that is edited on each cell, and where it is from."""
    if of.options.edits_round:
        return authorship.on_cells(tx, rounds.named(tx, of.options.edits_round))
    sources = text_origins.sources_of_rows(tx)
    there = authorship.originals(tx, of).items()
    return {cell_id: authorship.OnCell(body, sources.get(cell_id, UNKNOWN)) for cell_id, body in there}


def changes_of(form: Form, given: pd.DataFrame, originals: Mapping[int, str]) -> list[Change | None]:
    """What each answer (`cell_id`, `value`) to a form that edits does with the text of its cell.

    None of a skip, and of an answer that was not asked for its text.
    """
    if form.edits is None:
        return [None] * len(given)
    name, question = form.edits
    said = {value: form.load(value)[name] for value in given["value"].dropna().unique()}
    answers = ((cell_id, said.get(value)) for cell_id, value in zip(given["cell_id"], given["value"], strict=True))
    return [None if one is None else change(question, one, originals.get(cell_id)) for cell_id, one in answers]

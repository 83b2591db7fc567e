"""What was answered in a round, as a table with a column for each question: out of a study, and into it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fcpair.errors import StageError
from fcpair.files.answers.answer_files import Incoming, read_forms
from fcpair.records import Role, Round, RunRecord
from fcpair.stages.answers.curation import Change
from fcpair.stages.assignment.plan import CHANGES
from fcpair.stages.questions import Form
from fcpair.stages.questions.text_question import REJECTED
from fcpair.steps.answers import answer_import, curation
from fcpair.steps.base.answer_values import as_sent, form_of, numbers
from fcpair.steps.base.context import OnGrid
from fcpair.steps.rules import text_checks
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements, model_replies, refused_texts, text_origins
from fcpair.store.assignment import rounds
from fcpair.store.assignment.distinct_answers import WRITTEN
from fcpair.store.corpus import cells, grids
from fcpair.store.corpus.grids import number_of

if TYPE_CHECKING:
    import pandas as pd

ABOUT = ("seconds", "time", "note", "origin")
ORIGINAL = "original"  # the column of a sheet that shows a text to be edited


def export_answers(grid: OnGrid, name: str | None = None) -> pd.DataFrame:
    """Everybody's current answer in a round, by cell and person; without a name, in the round that counts.

    Columns: `cell` (its number in the grid), `row` and `column` (their texts), `by`, `skipped` (bool), one for each
    question (as people read the answer; empty for a skip), `seconds`, `time`, `note`, `origin`. Where the rows are what
    was written, also `answered` (the text that the row answers), `written_as` (the column that it was written for) and
    `source` (the name of a model, or `people`; of an edited text that of the original); and `source` and `group`, where
    the metadata of the rows, or of what they answer, have them. Of a round of models also `marks`.

    A round that edits has four more behind the questions: `original` (the text that was given), `act` (`accepted`,
    `edited` or `rejected`), `words_changed` and `characters_changed` (Levenshtein distances; missing for what was
    rejected). They come of comparing with the text as it is now, and are empty for a skip, or where it was taken back.

    Raises:
        UnknownIdError: no such round.
    """
    with grid.store.read() as tx:
        return answers_table(tx, rounds.counting(tx) if name is None else rounds.named(tx, name))


def export_texts(grid: OnGrid, name: str | None = None) -> pd.DataFrame:
    """What was written in a round, or answered: as `export_answers` has it, without skips, for those who look at texts.

    Behind `row` is `row_number`, from 1, since several rows may have the same words. Where a text was rejected, the
    column that would have it is empty, as there is no text. Raises UnknownIdError for a round that there is not.
    """
    import pandas as pd

    with grid.store.read() as tx:
        of = rounds.counting(tx) if name is None else rounds.named(tx, name)
        table = answers_table(tx, of)
        pairs = cells.by_id(tx, grids.span(tx).first + table["cell"])
        there = pd.Series(cells.places_of(tx, pairs) // cells.shape(tx)[1] + 1, number_of(pairs["cell_id"]))
    table.insert(list(table.columns).index("row") + 1, "row_number", table["cell"].map(there))
    table = table[~table["skipped"]].reset_index(drop=True)
    if edits := form_of(of.form).edits:
        table.loc[table["act"] == REJECTED, edits[0]] = ""
    return table


def export_refusals(grid: OnGrid, name: str | None = None) -> pd.DataFrame:
    """What checks refused of texts that were sent in a round, oldest first; without a name, in the round that counts.

    Columns: `cell`, `by`, `rule`, `version` (of the rule), `score` (a number of words, a probability or a similarity;
    NaN where a rule has none), `text` (empty unless its writer lets it be kept), `time`.

    Raises:
        UnknownIdError: no such round.
    """
    with grid.store.read() as tx:
        rows = refused_texts.table(tx, rounds.counting(tx) if name is None else rounds.named(tx, name))
    rows.insert(0, "cell", number_of(rows.pop("cell_id")))
    return rows


def export_replies(grid: OnGrid, name: str) -> pd.DataFrame:
    """Every reply that models ever gave in a round, verbatim, oldest first; what was asked again has several.

    Columns: `cell`, `by`, `run` (its number), `reply`, `marks` (separated by semicolons).

    Raises:
        UnknownIdError: no such round.
    """
    with grid.store.read() as tx:
        return replies_table(tx, rounds.named(tx, name))


def replies_table(tx: Tx, of: Round) -> pd.DataFrame:
    """Every reply of models in a round, as `export_replies` has it."""
    rows = model_replies.table(tx, of)
    rows.insert(0, "cell", number_of(rows.pop("cell_id")))
    return rows.assign(marks=["; ".join(marks) for marks in rows["marks"]])


def answers_table(tx: Tx, of: Round) -> pd.DataFrame:
    """Everybody's current answer in a round, as `export_answers` has it."""
    forms = [form_of(rounds.form(tx, one)) for one in of.ids]
    given = judgements.values(tx, of)
    bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
    placed = given.join(cells.by_id(tx, given["cell_id"]).set_index("cell_id"), on="cell_id")
    names = {value: _named(forms, value) for value in given["value"].dropna().unique()}
    nothing = {question: "" for form in forms for question, _ in form.questions}
    table = placed.assign(
        cell=number_of(given["cell_id"]),
        row=placed["hs_id"].map(bodies),
        column=placed["cn_id"].map(bodies),
        by=given["annotator"],
        time=given["at"],
    )
    for question in nothing:
        table[question] = [names.get(value, nothing).get(question, "") for value in given["value"]]
    if of.role is Role.MODEL and (marked := model_replies.marks(tx, of)):
        pairs = zip(given["cell_id"], given["annotator"], strict=True)
        table["marks"] = ["; ".join(marked.get(pair, ())) for pair in pairs]
        nothing = {**nothing, "marks": ""}
    known_of = {name: one for name, one in _known_of(tx, placed["hs_id"].tolist()).items() if name not in nothing}
    changes = _changes(tx, of, given)
    table = table.assign(**known_of, **changes)
    return table[["cell", "row", "column", *known_of, "by", "skipped", *nothing, *changes, *ABOUT]]


def _changes(tx: Tx, of: Round, given: pd.DataFrame) -> dict[str, list[str] | pd.Series[int]]:
    """The columns about what was done with each text; none where the round edits nothing."""
    import pandas as pd

    if not of.options.edits:
        return {}
    there = authorship.originals(tx, of)
    made = [one or Change(None) for one in curation.changes_of(form_of(of.form), given, there)]
    words, characters = (
        pd.Series([getattr(one, name) for one in made], index=given.index, dtype="Int64")
        for name in ("words", "characters")
    )
    texts, acts = [there.get(cell, "") for cell in given["cell_id"]], [str(one.act or "") for one in made]
    columns: tuple[list[str] | pd.Series[int], ...] = (texts, acts, words, characters)
    return dict(zip((ORIGINAL, *CHANGES), columns, strict=True))


def _known_of(tx: Tx, row_ids: list[int]) -> dict[str, list[str]]:
    """What is known of the text of each row beside itself, by columns; those that are empty are left out."""
    meta = cells.texts_of_grid(tx).set_index("text_id")["meta"]
    found = text_origins.about(tx, sorted(set(row_ids))) if WRITTEN in grids.kinds(tx) else {}
    own = [found.get(one) for one in row_ids]
    said = [{**(one.meta if one else {}), **meta[row]} for one, row in zip(own, row_ids, strict=True)]
    columns = {name: [getattr(one, name) if one else "" for one in own] for name in ("answered", "written_as")}
    sources = [one.source if one else str(about.get("source", "")) for one, about in zip(own, said, strict=True)]
    columns |= {"source": sources, "group": [str(about.get("group", "")) for about in said]}
    return {name: values for name, values in columns.items() if any(values)}


def _named(forms: Sequence[Form], value: str) -> dict[str, str]:
    """An answer as people read it, question by question; a round that checks has another form where it is blind."""
    asked = set(json.loads(value))
    form = next(one for one in forms if {name for name, _ in one.questions} == asked)
    return form.names(form.load(value))


def asked_in(tx: Tx, grid: str, name: str | None) -> Round:
    """The round whose answers people can give in a file; without a name, the one that counts.

    Raises:
        UnknownIdError: no such round.
        StageError: it is answered by models, or checks what was decided.
    """
    of = rounds.counting(tx) if name is None else rounds.named(tx, name)
    if of.role is Role.MODEL:
        raise StageError(
            f"round `{of.name}` is answered by models; `fcpair generate {of.name} --grid {grid}` asks them"
        )
    if of.checks is not None:
        raise StageError("verdicts have files of their own; see `fcpair validate sheets` and `fcpair validate import`")
    return of


def not_due(tx: Tx, of: Round, cell_ids: Iterable[int]) -> set[int]:
    """Those of these cells that have no answer in the round on which this one rests, or no text, and so wait for it."""
    return set(cell_ids) - authorship.cells_before(tx, of) if of.options.rests_on else set()


def import_answers(grid: OnGrid, path: str | Path, name: str | None = None, *, supersede: bool = False) -> RunRecord:
    """Record the answers of a file in a round, the one that counts if none is named: filled-in sheets, or a long table
    as `export_answers` has it.

    `supersede` lets a different answer replace an earlier one as the current one. Raises UnknownIdError for a round
    that there is not, and StageError for one that models answer or that checks what was decided.
    """
    with grid.store.read() as tx:
        of = asked_in(tx, grid.grid.name, name)
        known = text_checks.compared(tx, of)
    form = form_of(of.form)
    given = read_forms(path, form, shown=ORIGINAL if of.options.edits else "")
    said = (form.text(answer) for answer in given.rows["answer"] if answer is not None)
    text_checks.know(of, [*known, *(text for text in said if text)])
    with grid.store.write() as tx:
        answer_import.place(tx, given, of)
        given.rows["answer_id"] = numbers(tx, of, form, given.rows["answer"].tolist(), given.rows["cell_id"].tolist())
        answer_import.compare(tx, given, of, supersede=supersede)
        _refuse_what_is_not_due(tx, given, of)
        _refuse_what_checks_refuse(tx, given, of, form)
        return answer_import.enter(tx, given, of, supersede=supersede, grid=grid.grid.name, round=of.name)


def _refuse_what_checks_refuse(tx: Tx, given: Incoming, of: Round, form: Form) -> None:
    """Add a finding where the checks of the round refuse a text that is new, as they would online.

    Texts of the same writer in the file are held against each other, in its order.
    """
    if not text_checks.is_checked(of):
        return
    rows, said = given.rows, np.full(len(given.rows), "", object)
    before: dict[int, list[str]] = {}
    for at in np.flatnonzero(rows["is_new"].to_numpy() & ~given.faulty).tolist():
        answer, who = rows["answer"].iloc[at], int(rows["person_id"].iloc[at])
        if answer is None or not (text := form.text(answer)):
            continue
        stored = text_checks.others(tx, of, who, int(rows["assignment_id"].iloc[at]))
        there = stored._replace(own=[*stored.own, *before.get(who, [])])
        found = text_checks.look(of, as_sent(form.store(answer)), there, warns=False)
        said[at] = " ".join(one.sentence for one in found if one.refuses)
        before.setdefault(who, []).append(text)
    given.complain(said != "", (f"cell {cell}: {why}" for cell, why in zip(rows["pair"], said, strict=True)))


def _refuse_what_is_not_due(tx: Tx, given: Incoming, of: Round) -> None:
    """Add a finding where a newly answered cell waits for an earlier round, or has another text there than is shown."""
    rows, there = given.rows, authorship.originals(tx, of)
    is_new = rows["is_new"].to_numpy() & ~given.faulty
    early = rows["cell_id"].isin(not_due(tx, of, rows["cell_id"].tolist())).to_numpy() & is_new
    said = f"no answer in round `{of.options.rests_on}` yet"
    given.complain(early, (f"cell {one} has {said}" for one in rows["pair"]), cause=f"these cells have {said}")
    shown = zip(rows["shown"], rows["cell_id"], strict=True)
    differs = [
        bool(text) and answer_import.letters(text) != answer_import.letters(there.get(one, "")) for text, one in shown
    ]
    other = np.array(differs, np.bool_) & is_new & ~early
    hint = "has changed since this sheet was written; leave its row empty, and edit it on a new sheet"
    messages = (f"the text of cell {one} {hint}" for one in rows["pair"])
    given.complain(other, messages, cause=f"the text of these cells {hint}")

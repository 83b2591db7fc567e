"""Sheets to fill in: written for each person; what somebody wrote on one is never overwritten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import CELL, PAIR
from fcpair.files.answers.sheets import Blank, Form, write_sheet
from fcpair.files.tables.tabular import read_table
from fcpair.records import Kept, OldSheet, Round, Status
from fcpair.stages.questions import SKIP, AnyOf, Closed, Question
from fcpair.stages.questions.any_of import NONE
from fcpair.stages.questions.labels import VERDICT, answer_words
from fcpair.steps.answers import answer_tables
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import OnGrid, opaque, scheme_of
from fcpair.steps.people import access
from fcpair.steps.rules import permissions
from fcpair.store import Tx
from fcpair.store.answers import authorship
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus.grids import number_of
from fcpair.store.oversight import runs
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

FILLED_IN = {False: ("label",), True: ("verdict", "own_label")}  # of a round that checks, or does not
NOTE = "note"


def to_fill_in(tx: Tx, column: str, words: Sequence[str]) -> Blank:
    """What a sheet of this study says about itself: the column to fill in by these words, its texts, the guidelines."""
    return _blank(tx, {column: words}, PAIR.sides)


def _blank(tx: Tx, columns: Mapping[str, Sequence[str] | str], sides: tuple[str, str]) -> Blank:
    facts = runs.study_facts(tx)
    return Blank(columns, facts["guidelines"], dict(zip(sides, (facts["hs_name"], facts["cn_name"]), strict=True)))


def why_kept(path: Path, columns: Sequence[str]) -> Kept | None:
    """Why a file is not to be overwritten by a sheet with these columns to fill in; None for one that nobody has
    filled in.
    """
    try:
        rows = read_table(path)
    except InputError:
        return Kept.UNREADABLE
    answers = [name for name in columns if name in rows.columns]
    if not answers:
        return Kept.OTHER
    if _is_filled_in(rows[answers]):
        return Kept.ANSWERS
    return Kept.NOTES if NOTE in rows.columns and _is_filled_in(rows[[NOTE]]) else None


def _is_filled_in(columns: pd.DataFrame) -> bool:
    return bool(columns.apply(lambda column: column.str.strip() != "").to_numpy().any())


def old_sheets(grid: OnGrid, folder: str | Path, *, checks: bool = False) -> list[OldSheet]:
    """The sheets in a folder that are kept as they are, or are of somebody who left, by name.

    They are those of validators where the round `checks`.
    """
    with grid.store.read() as tx:
        return _old(tx, Path(folder), rounds.checking(tx) if checks else rounds.counting(tx), FILLED_IN[checks])


def old_answer_sheets(grid: OnGrid, folder: str | Path, name: str | None = None) -> list[OldSheet]:
    """What `old_sheets` says, of the sheets of `write_answer_sheets`."""
    with grid.store.read() as tx:
        of = answer_tables.asked_in(tx, grid.grid.name, name)
        return _old(tx, Path(folder), of, [question for question, _ in form_of(of.form).questions])


def _old(tx: Tx, folder: Path, of: Round, columns: Sequence[str]) -> list[OldSheet]:
    everybody = {one.name: one for one in people.people(tx)}
    counts = assignments.counts(tx)
    dealt = counts[counts["round"] == of.name]

    def found() -> Iterator[OldSheet]:
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            one = everybody.get(path.stem)
            own = dealt[dealt["person_id"] == one.id] if one else dealt[:0]
            if one is None or own.empty:
                continue
            n = dict(zip(own["status"].tolist(), own["n"].tolist(), strict=True))
            open_ = n.get(Status.OPEN.value, 0)
            passed_on = not one.retired and not open_ and Status.WITHDRAWN.value in n
            yield OldSheet(path, one.name, why_kept(path, columns), open_, one.retired, passed_on)

    return [sheet for sheet in found() if sheet.kept or sheet.left or sheet.passed_on]


SHEET_COLUMNS = ("annotator", "position", "pair", "hs_id", "cn_id", "hs", "cn", "label", "note")


def write_sheets(grid: OnGrid, folder: str | Path, form: Form = "csv") -> dict[str, int]:
    """Write each annotator's open shard as a sheet to fill in; returns the rows by annotator.

    A file that holds answers or notes, or is no such sheet, is kept, and not in what is returned.
    """
    access.Access(grid).spare()
    with grid.store.read() as tx:
        blank = to_fill_in(tx, "label", answer_words(scheme_of(tx)))
        rows = assignments.open_work(tx, rounds.counting(tx))
        assigned = not assignments.counts(tx).empty
        asked_for = open_slots.n_free(tx, rounds.counting(tx))
    if asked_for:
        raise StageError(
            f"{asked_for:,} labels are given to whoever asks in the browser (`fcpair serve`), so nobody has a sheet; "
            "`fcpair assign --close` and then `fcpair assign --more` deal them"
        )
    if rows.empty:
        raise StageError("no label is open" if assigned else "no pairs have been dealt; run `fcpair assign`")
    rows["pair"] = number_of(rows["cell_id"])
    return _write_by_person(rows.assign(label="", note="")[list(SHEET_COLUMNS)], folder, form, blank, FILLED_IN[False])


def write_validation_sheets(grid: OnGrid, folder: str | Path, form: Form = "csv") -> dict[str, int]:
    """Write each validator's open pairs as a sheet to fill in; returns the rows by validator.

    The column `label` holds the adjudicated label; a blind round has `own_label` to be filled in, and no label. Where
    open pairs are of both kinds, those of the present one come first, and the others when these are done. A file that
    holds answers or notes, or is no such sheet, is kept, and not in what is returned.
    """
    from fcpair.steps.assignment.validate import is_blind, label_names

    access.Access(grid).spare()
    with grid.store.read() as tx:
        rows = assignments.open_work(tx, rounds.checking(tx)).rename(columns={"annotator": "validator"})
        if rows.empty:
            dealt = not assignments.assignments(tx, rounds.checking(tx)).empty
            raise StageError(f"no verdict is open; `fcpair validate assign{' --more' * dealt}` deals pairs")
        rows = rows[~rows["cell_id"].isin(permissions.not_due_to_check(tx, rows["cell_id"].tolist()))]
        if rows.empty:
            raise StageError("no verdict is due: all that are open wait until all labels of their pairs are in")
        columns = ["validator", "position", "pair", "hs", "cn"]
        blind = is_blind(tx) if (rows["blind"] == is_blind(tx)).any() else not is_blind(tx)
        rows = rows[rows["blind"] == blind].copy()
        hides = rounds.checking(tx).options.hides_column
        rows["pair"] = numbers_on_sheet(tx, rounds.checking(tx), rows["cell_id"])
        if hides:
            columns.remove("cn")
        if blind:
            question, answer = scheme_of(tx), "own_label"
            sheets = rows.assign(own_label="", note="")[[*columns, "own_label", "note"]]
        else:
            question, answer = VERDICT, "verdict"
            rows["label"] = rows["cell_id"].map(label_names(tx))
            sheets = rows.assign(verdict="", note="")[[*columns, "label", "verdict", "note"]]
        blank = to_fill_in(tx, answer, answer_words(question))
        blank = _without(blank, "cn") if hides else blank
    return _write_by_person(sheets, folder, form, blank, FILLED_IN[True])


def write_answer_sheets(
    grid: OnGrid, folder: str | Path, name: str | None = None, form: Form = "csv"
) -> dict[str, int]:
    """Write what each person has open in a round, the one that counts if none is named, as a sheet to fill in, with a
    column for each question; returns the rows by person.

    A round that edits has the text to be edited in the column `original`. A file that holds answers or notes, or is no
    such sheet, is kept, and not in what is returned. Raises what `answer_tables.asked_in` does.
    """
    access.Access(grid).spare()
    with grid.store.read() as tx:
        of = answer_tables.asked_in(tx, grid.grid.name, name)
        rows = assignments.open_work(tx, of)
        if rows.empty:
            deal = f"`fcpair assign --grid {grid.grid.name} --round {of.name}` deals a round that was not"
            raise StageError(f"nothing is open in round `{of.name}`; {deal}")
        rows = rows[~rows["cell_id"].isin(answer_tables.not_due(tx, of, rows["cell_id"].tolist()))]
        if rows.empty:
            raise StageError(
                f"nothing of round `{of.name}` is due: all that is open waits for round `{of.options.rests_on}`"
            )
        questions = form_of(of.form).questions
        blank = _blank(tx, {name: _how(question) for name, question in questions}, CELL.sides)
        sheets = rows[["annotator"]].rename(columns={"annotator": "by"})
        sheets = sheets.assign(cell=numbers_on_sheet(tx, of, rows["cell_id"]), row=rows["hs"], column=rows["cn"])
        if of.options.hides_column:
            sheets, blank = sheets.drop(columns="column"), _without(blank, "column")
        if of.options.edits:
            sheets[answer_tables.ORIGINAL] = rows["cell_id"].map(authorship.originals(tx, of))
    return _write_by_person(
        sheets.assign(**dict.fromkeys(blank.columns, ""), note=""), folder, form, blank, [*blank.columns]
    )


def numbers_on_sheet(tx: Tx, of: Round, cell_ids: pd.Series[int]) -> pd.Series[int]:
    """The numbers of cells on a sheet of a round; where it hides the column, they do not tell it."""
    numbers = number_of(cell_ids)
    return numbers.map(opaque(tx).hide_cell) if of.options.hides_column else numbers


def _without(blank: Blank, side: str) -> Blank:
    return replace(blank, sides={name: said for name, said in blank.sides.items() if name != side})


def _how(question: Question[Any]) -> Sequence[str] | str:
    """How a question is answered on a sheet: the words to choose from, or what to write."""
    if isinstance(question, Closed):
        return answer_words(question)
    if isinstance(question, AnyOf):
        return f"any of these, separated by semicolons: {'; '.join(question.names)}; or {NONE}; or {SKIP}"
    return f"{question}, or {SKIP}"


def _write_by_person(
    rows: pd.DataFrame, folder: str | Path, form: Form, blank: Blank, columns: Sequence[str]
) -> dict[str, int]:
    """Write the rows of each person, named in the first column, as a sheet with these `columns` to fill in."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, shard in rows.groupby(rows.columns[0], sort=False):
        path = folder / f"{name}.{form}"
        if not (path.exists() and why_kept(path, columns)):
            write_sheet(shard, path, blank)
            written[str(name)] = len(shard)
    return written

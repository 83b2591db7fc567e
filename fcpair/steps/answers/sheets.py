"""Sheets to fill in: written for each person; what somebody wrote on one is never overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import CELL_COLUMNS, PAIR_COLUMNS, CellColumns
from fcpair.files.answers.sheets import SheetFormat, SheetLayout, write_sheet
from fcpair.files.tables.tabular import read_table
from fcpair.lazy import pd
from fcpair.records import Round, Status
from fcpair.sentences import say
from fcpair.stages.questions import SKIP, AnyOf, Closed, Question
from fcpair.stages.questions.closed import NONE
from fcpair.stages.questions.labels import VERDICT, answer_words
from fcpair.steps.answers import answer_tables
from fcpair.steps.assignment.validate import is_blind, label_names
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext, load_opaque_ids, scheme_of
from fcpair.steps.people import access
from fcpair.steps.rules import permissions
from fcpair.steps.rules.tallies import round_progress
from fcpair.steps.rules.wording import number_heading, role_noun, side_headings
from fcpair.store import Tx
from fcpair.store.answers import authorship
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.oversight import runs
from fcpair.store.people import people
from fcpair.work_records import KeepReason, OldSheet

ANSWER_COLUMNS = {False: ("label",), True: ("verdict", "own_label")}  # of a round that checks, or does not
NOTE = "note"


def label_blank(tx: Tx, column: str, words: Sequence[str]) -> SheetLayout:
    """Layout of a sheet of this study: the column to fill in by these words, its texts, the guidelines."""
    return _make_blank(tx, {column: words}, PAIR_COLUMNS, rounds.primary(tx))


def _make_blank(
    tx: Tx, columns: Mapping[str, Sequence[str] | str], cell_columns: CellColumns, round_: Round
) -> SheetLayout:
    headings = dict(zip(cell_columns.sides, side_headings(tx), strict=True))
    if (noun := role_noun(tx, round_.role).one) != cell_columns.number:
        headings[cell_columns.number] = number_heading(noun)
    return SheetLayout(columns, runs.study_facts(tx)["guidelines"], headings)


def keep_reason(path: Path, columns: Sequence[str]) -> KeepReason | None:
    """Why a file is not to be overwritten by a sheet with these columns to fill in; None for one that nobody has
    filled in.
    """
    try:
        rows = read_table(path)
    except InputError:
        return KeepReason.UNREADABLE
    names = [name for name in (*columns, NOTE) if name in rows.columns]
    filled = {name for name in names if (rows[name].str.strip() != "").any()}
    if not {*columns} & {*names}:
        return KeepReason.OTHER
    if filled & {*columns}:
        return KeepReason.ANSWERS
    return KeepReason.NOTES if NOTE in filled else None


def old_sheets(grid: GridContext, folder: str | Path, *, checks: bool = False) -> list[OldSheet]:
    """The sheets in a folder that are kept as they are, or are of somebody who left, by name.

    They are those of validators where the round `checks`.
    """
    with grid._store.read() as tx:
        return _find_old_sheets(
            tx, Path(folder), rounds.validation(tx) if checks else rounds.primary(tx), ANSWER_COLUMNS[checks]
        )


def old_answer_sheets(grid: GridContext, folder: str | Path, round: str | None = None) -> list[OldSheet]:
    """List old sheets as `old_sheets` does, for those of `write_answer_sheets`."""
    with grid._store.read() as tx:
        round_ = answer_tables.round_for_files(tx, grid.grid.name, round)
        return _find_old_sheets(tx, Path(folder), round_, [question for question, _ in form_of(round_.form).questions])


def _find_old_sheets(tx: Tx, folder: Path, round_: Round, columns: Sequence[str]) -> list[OldSheet]:
    everybody = {one.name: one for one in people.people(tx)}
    counts, sheets = assignments.counts_of_grid(tx).get(round_.name, {}), list[OldSheet]()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        person = everybody.get(path.stem)
        if person is not None and (n_by_status := counts.get(person.id)):
            n_open = n_by_status.get(Status.OPEN.value, 0)
            passed_on = not person.retired and not n_open and Status.WITHDRAWN.value in n_by_status
            reason = keep_reason(path, columns)
            sheets.append(OldSheet(path, person.name, reason, n_open, person.retired, passed_on))
    return [sheet for sheet in sheets if sheet.kept or sheet.left or sheet.passed_on]


def write_sheets(grid: GridContext, folder: str | Path, sheet_format: SheetFormat = "csv") -> dict[str, int]:
    """Write each annotator's open shard as a sheet to fill in; returns the rows by annotator.

    A file that holds answers or notes, or is no such sheet, is kept, and not in what is returned.
    """
    access.Access(grid).spare()
    with grid._store.read() as tx:
        blank = label_blank(tx, "label", answer_words(scheme_of(tx)))
        rows = _begun_work(tx, rounds.primary(tx))
        is_assigned = bool(assignments.counts_of_grid(tx))
        _refuse_free(tx, rounds.primary(tx))
    if rows.empty:
        raise StageError(
            say("no label is open") if is_assigned else say("no pairs have been assigned; run `fcpair assign`")
        )
    rows["pair"] = to_public_number(rows["cell_id"])
    columns = ["annotator", "position", "pair", "hs_id", "cn_id", "hs", "cn", "label", "note"]
    sheets = rows.assign(label="", note="")[columns]
    return _write_by_person(sheets, folder, sheet_format, blank, ANSWER_COLUMNS[False])


def _refuse_free(tx: Tx, round_: Round) -> None:
    """Raise StageError where work of a round is free for anybody, and so is nobody's on a sheet."""
    if n_free := open_slots.n_free(tx, round_):
        raise StageError(
            f"{n_free:,} labels are free for anybody in the browser (`fcpair serve`), so there are no sheets; "
            "`fcpair assign --close` and then `fcpair assign --more` assign them"
        )


def _begun_work(tx: Tx, round_: Round) -> pd.DataFrame:
    """What people have open in a round and can begin, with their control pairs; raises StageError where all of them
    have still to qualify for it, which is done in the browser.
    """
    rows = assignments.open_work(tx, rounds.with_known_pairs(tx, round_))
    unqualified = permissions.unqualified(tx, round_, [one.id for one in people.people(tx)])
    waiting = [one.name for one in people.people(tx) if one.id in unqualified]
    begun = rows[~rows["annotator"].isin(waiting)].reset_index(drop=True)
    if begun.empty and not rows.empty:
        raise StageError.say(
            "nobody has qualified yet, which people do in the browser (`fcpair serve`); `fcpair people "
            "qualified` shows how far they are"
        )
    return begun


def write_validation_sheets(grid: GridContext, folder: str | Path, sheet_format: SheetFormat = "csv") -> dict[str, int]:
    """Write each validator's open pairs as a sheet to fill in; returns the rows by validator.

    The column `label` holds the adjudicated label; a blind round has `own_label` to be filled in, and no label. Where
    open pairs are of both kinds, those of the present one come first, and the others when these are done. A file that
    holds answers or notes, or is no such sheet, is kept, and not in what is returned.
    """
    access.Access(grid).spare()
    with grid._store.read() as tx:
        rows = assignments.open_work(tx, rounds.validation(tx)).rename(columns={"annotator": "validator"})
        if rows.empty:
            is_assigned = not assignments.assignments(tx, rounds.validation(tx)).empty
            command = f"fcpair validate assign{' --more' * is_assigned}"
            raise StageError.say("no verdict is open; `%(command)s` assigns pairs", command=command)
        rows = rows[~rows["cell_id"].isin(permissions.not_due_reasons(tx, rows["cell_id"].tolist()))]
        if rows.empty:
            raise StageError.say("no verdict is due: open verdicts wait until all labels of their pairs are in")
        columns = ["validator", "position", "pair", "hs", "cn"]
        blind = is_blind(tx) if (rows["blind"] == is_blind(tx)).any() else not is_blind(tx)
        rows = rows[rows["blind"] == blind].copy()
        hides_column = rounds.validation(tx).options.hides_column
        rows["pair"] = numbers_on_sheet(tx, rounds.validation(tx), rows["cell_id"])
        if hides_column:
            columns.remove("cn")
        if blind:
            question, answer = scheme_of(tx), "own_label"
            sheets = rows.assign(own_label="", note="")[[*columns, "own_label", "note"]]
        else:
            question, answer = VERDICT, "verdict"
            rows["label"] = rows["cell_id"].map(label_names(tx))
            sheets = rows.assign(verdict="", note="")[[*columns, "label", "verdict", "note"]]
        blank = _make_blank(tx, {answer: answer_words(question)}, PAIR_COLUMNS, rounds.validation(tx))
    return _write_by_person(sheets, folder, sheet_format, blank, ANSWER_COLUMNS[True])


def write_answer_sheets(
    grid: GridContext, folder: str | Path, round: str | None = None, sheet_format: SheetFormat = "csv"
) -> dict[str, int]:
    """Write what each person has open in a round, the one that counts if none is named, as a sheet to fill in, with a
    column for each question; returns the rows by person.

    A round that edits has the text to be edited in the column `original`. A file that holds answers or notes, or is no
    such sheet, is kept, and not in what is returned. Raises what `answer_tables.round_for_files` does.
    """
    access.Access(grid).spare()
    with grid._store.read() as tx:
        round_, rows = open_cells(tx, grid, round)
        questions = form_of(round_.form).questions
        blank = _make_blank(
            tx, {name: _answer_instructions(question) for name, question in questions}, CELL_COLUMNS, round_
        )
        sheets = rows[["annotator"]].rename(columns={"annotator": "by"})
        sheets = sheets.assign(cell=numbers_on_sheet(tx, round_, rows["cell_id"]), row=rows["hs"], column=rows["cn"])
        if round_.options.hides_column:
            sheets = sheets.drop(columns="column")
        if round_.options.edits:
            sheets[answer_tables.ORIGINAL] = rows["cell_id"].map(authorship.originals(tx, round_))
    return _write_by_person(
        sheets.assign(**dict.fromkeys(blank.columns, ""), note=""), folder, sheet_format, blank, [*blank.columns]
    )


def open_cells(tx: Tx, grid: GridContext, name: str | None) -> tuple[Round, pd.DataFrame]:
    """The round that is named, or the one that counts, and the cells that people have open in it and can answer now.

    Raises:
        StageError: nothing is open, or all of it waits for another round; and what `round_for_files` raises.
    """
    round_ = answer_tables.round_for_files(tx, grid.grid.name, name)
    rows = _begun_work(tx, round_)
    if rows.empty:
        _refuse_free(tx, round_)
        progress, name, open_in = (
            round_progress(tx, round_),
            grid.grid.name,
            f"nothing is open in round `{round_.name}`",
        )
        if not progress.dealt:
            remedy = f"`fcpair assign --grid {name} --round {round_.name}` assigns it"
            raise StageError(f"{open_in}, which has not been assigned yet; {remedy}")
        n_done, n_skipped, n_vacant = (progress.counts[key] for key in (Status.DONE, Status.SKIPPED, "vacant"))
        if n_vacant:
            remedy = f"`fcpair people add NAME --role {round_.role}` adds somebody"
            raise StageError(f"{open_in}, but {n_vacant:,} answers are vacant; {remedy}")
        skipped = f" or skipped ({n_skipped:,})" if n_skipped else ""
        raise StageError(f"{open_in}: all of it is answered ({n_done:,}){skipped}")
    rows = rows[~rows["cell_id"].isin(answer_tables.cells_not_due(tx, round_, rows["cell_id"].tolist()))]
    if rows.empty:
        raise StageError(
            f"nothing of round `{round_.name}` is due: all open work waits for round `{round_.options.rests_on}`"
        )
    return round_, rows


def numbers_on_sheet(tx: Tx, round_: Round, cell_ids: pd.Series[int]) -> pd.Series[int]:
    """The numbers of cells on a sheet of a round; where it hides the column, they do not tell it."""
    numbers = to_public_number(cell_ids)
    return numbers.map(load_opaque_ids(tx).encrypt_cell) if round_.options.hides_column else numbers


def _answer_instructions(question: Question[Any]) -> Sequence[str] | str:
    """Instructions for a question on a sheet: the words to choose from, or what to write."""
    if isinstance(question, Closed):
        return answer_words(question)
    if isinstance(question, AnyOf):
        return f"any of these, separated by semicolons: {'; '.join(question.names)}; or {NONE}; or {SKIP}"
    return f"{question}, or {SKIP}"


def _write_by_person(
    rows: pd.DataFrame, folder: str | Path, form: SheetFormat, blank: SheetLayout, columns: Sequence[str]
) -> dict[str, int]:
    """Write the rows of each person, named in the first column, as a sheet with these `columns` to fill in."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    n_rows_by_person = {}
    for name, shard in rows.groupby(rows.columns[0], sort=False):
        path = folder / f"{name}.{form}"
        if not (path.exists() and keep_reason(path, columns)):
            write_sheet(shard, path, blank)
            n_rows_by_person[str(name)] = len(shard)
    return n_rows_by_person

"""Work that people answer elsewhere: sheets to fill in, projects of annotation tools, and what these export."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fcpair.errors import FcpairError, Finding, InputError, StageError, UnknownIdError, list_first
from fcpair.files.answers.answer_files import CELL_COLUMNS, PAIR_COLUMNS, CellColumns, ImportedAnswers
from fcpair.files.answers.sheets import SheetFormat, SheetLayout, write_sheet
from fcpair.files.corpus.corpus import CN, HS, with_own_ids
from fcpair.files.exchange import annotation_tool
from fcpair.files.exchange.catalogue import find_tool
from fcpair.files.tables.folders import new_folder
from fcpair.files.tables.tabular import read_table
from fcpair.lazy import pd
from fcpair.params import Ids
from fcpair.records import Origin, Round, RunRecord, Status
from fcpair.sentences import Answer, mark, say
from fcpair.stages.questions import NO_CODE, SKIP, AnyOf, Closed, Question, closed
from fcpair.stages.questions.labels import VERDICT, answer_words
from fcpair.steps.answers import answer_import, answer_tables
from fcpair.steps.assignment.validate import is_blind, label_names
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext, is_planned, load_opaque_ids, scheme_of
from fcpair.steps.people import access
from fcpair.steps.rules import permissions, tallies, wording
from fcpair.store import Tx, people
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import runs
from fcpair.work_records import KeepReason, OldSheet

ANSWER_COLUMNS = {False: ("label",), True: ("verdict", "own_label")}  # of a round that checks, or does not
NOTE = "note"
NOT_ASSIGNED = mark(
    "nothing is open in round `%(round)s`, which has not been assigned yet; `fcpair assign --grid %(grid)s --round "
    "%(round)s` assigns it"
)
VACANT = mark(
    "nothing is open in round `%(round)s`, but %(vacant)s answers are vacant; `fcpair people add NAME --role %(role)s` "
    "adds somebody"
)
MOST_TAKEN = 20  # answers of a file that a forecast lists
ALL_ANSWERED = mark("nothing is open in round `%(round)s`: all of it is answered (%(done)s)")
ALL_ANSWERED_OR_SKIPPED = mark(
    "nothing is open in round `%(round)s`: all of it is answered (%(done)s) or skipped (%(skipped)s)"
)


def make_blank(
    tx: Tx,
    columns: Mapping[str, Sequence[str] | str],
    cell_columns: CellColumns = PAIR_COLUMNS,
    round_: Round | None = None,
) -> SheetLayout:
    """Layout of a sheet: the columns to fill in, each by these words or instructions, its texts, the guidelines."""
    headings = dict(zip(cell_columns.sides, wording.side_headings(tx), strict=True))
    if (noun := wording.role_noun(tx, (round_ or rounds.primary(tx)).role).one) != cell_columns.number:
        headings[cell_columns.number] = wording.number_heading(noun)
    return SheetLayout(columns, runs.study_facts(tx)["guidelines"], headings)


def keep_reason(path: Path, columns: Sequence[str]) -> KeepReason | None:
    """The reason not to overwrite a file by a sheet with these columns; None for one that nobody has filled in."""
    try:
        rows = read_table(path)
    except InputError:
        return KeepReason.UNREADABLE
    if {*columns}.isdisjoint(rows.columns):
        return KeepReason.OTHER
    filled = {name for name in (*columns, NOTE) if name in rows.columns and (rows[name].str.strip() != "").any()}
    if filled & {*columns}:
        return KeepReason.ANSWERS
    return KeepReason.NOTES if NOTE in filled else None


def old_sheets(grid: GridContext, folder: str | Path, *, checks: bool = False) -> list[OldSheet]:
    """The sheets in a folder, of validators if `checks`, that are kept as they are, or are of somebody who left."""
    with grid._store.read() as tx:
        round_ = rounds.validation(tx) if checks else rounds.primary(tx)
        return _find_old_sheets(tx, Path(folder), round_, ANSWER_COLUMNS[checks])


def old_answer_sheets(grid: GridContext, folder: str | Path, round: str | None = None) -> list[OldSheet]:
    """List old sheets as `old_sheets` does, for those of `write_answer_sheets`."""
    with grid._store.read() as tx:
        round_ = answer_tables.round_for_files(tx, grid.grid.name, round)
        return _find_old_sheets(tx, Path(folder), round_, [question for question, _ in form_of(round_.form).questions])


def _find_old_sheets(tx: Tx, folder: Path, round_: Round, columns: Sequence[str]) -> list[OldSheet]:
    everybody = {person.name: person for person in people.people(tx)}
    counts, sheets = assignments.counts_of_grid(tx).get(round_.name, {}), list[OldSheet]()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        person = everybody.get(path.stem)
        if person is not None and (n_by_status := counts.get(person.id)):
            n_open = n_by_status.get(Status.OPEN.value, 0)
            passed_on = not person.retired and not n_open and Status.WITHDRAWN.value in n_by_status
            reason = keep_reason(path, columns)
            if reason or person.retired or passed_on:
                sheets.append(OldSheet(path, person.name, reason, n_open, person.retired, passed_on))
    return sheets


def write_sheets(
    grid: GridContext, folder: str | Path, sheet_format: SheetFormat = "csv", *, ids: Ids | None = None
) -> dict[str, int]:
    """Write each annotator's open shard as a sheet to fill in; returns the rows by annotator. A file that holds answers
    or notes, or is no such sheet, is kept, and not in what is returned. `ids` is as for `Grid.tier`.
    """
    access.Access(grid).spare()
    with grid._store.read() as tx:
        blank = make_blank(tx, {"label": answer_words(scheme_of(tx))})
        rows, texts = _begun_work(tx, rounds.primary(tx)), cells.texts_of_grid(tx)
        is_assigned = bool(assignments.counts_of_grid(tx))
        _refuse_free(tx, rounds.primary(tx))
    if rows.empty:
        raise StageError(
            say("no label is open") if is_assigned else say("no pairs have been assigned; run `fcpair assign`")
        )
    sheets = rows.assign(pair=grids.to_public_number(rows["cell_id"]), label="", note="")
    sheets = sheets[["annotator", "position", "pair", "hs_id", "cn_id", "hs", "cn", "label", "note"]]
    return _write_by_person(with_own_ids(sheets, texts, ids=ids), folder, sheet_format, blank, ANSWER_COLUMNS[False])


def _refuse_free(tx: Tx, round_: Round) -> None:
    if n_free := open_slots.n_free(tx, round_):
        raise StageError.say(
            "%(number)s labels are free for anybody in the browser (`fcpair serve`), so there are no sheets; "
            "`fcpair assign --close` and then `fcpair assign --more` assign them",
            number=n_free,
        )


def _begun_work(tx: Tx, round_: Round) -> pd.DataFrame:
    """Open work of people who can begin a round, with control pairs; StageError where all have yet to qualify."""
    rows = assignments.open_work(tx, rounds.with_known_pairs(tx, round_))
    ids = {person.name: person.id for person in people.people(tx)}
    is_waiting = rows["annotator"].map(ids).isin(permissions.unqualified(tx, round_, ids.values()))
    if is_waiting.any() and is_waiting.all():
        raise StageError.say(
            "nobody has qualified yet, which people do in the browser (`fcpair serve`); `fcpair people "
            "qualified` shows how far they are"
        )
    return rows[~is_waiting].reset_index(drop=True)


def write_validation_sheets(
    grid: GridContext, folder: str | Path, sheet_format: SheetFormat = "csv", *, ids: Ids | None = None
) -> dict[str, int]:
    """Write each validator's open pairs as a sheet to fill in, as `write_sheets` does; returns the rows by validator.

    The column `label` holds the adjudicated label; a blind round has `own_label` to be filled in, and no label. Where
    open pairs are of both kinds, those of the present one come first, and the others when these are done.
    """
    access.Access(grid).spare()
    with grid._store.read() as tx:
        round_ = rounds.validation(tx)
        rows = assignments.open_work(tx, round_).rename(columns={"annotator": "validator"})
        if rows.empty:
            command = f"fcpair validate assign{' --more' * (not assignments.assignments(tx, round_).empty)}"
            raise StageError.say("no verdict is open; `%(command)s` assigns pairs", command=command)
        rows = rows[~rows["cell_id"].isin(permissions.not_due_reasons(tx, rows["cell_id"].tolist()))]
        if rows.empty:
            raise StageError.say("no verdict is due: open verdicts wait until all labels of their pairs are in")
        blind = is_blind(tx) if (rows["blind"] == is_blind(tx)).any() else not is_blind(tx)
        rows = rows[rows["blind"] == blind]
        sheets = rows[["validator", "position"]].assign(
            pair=numbers_on_sheet(tx, round_, rows["cell_id"]), **{side: rows[side] for side in _shown_sides(round_)}
        )
        sheets = with_own_ids(sheets, cells.texts_of_grid(tx), numbers=rows, ids=ids)
        if not blind:
            sheets["label"] = rows["cell_id"].map(label_names(tx))
        question, answer = (scheme_of(tx), "own_label") if blind else (VERDICT, "verdict")
        blank = make_blank(tx, {answer: answer_words(question)}, round_=round_)
    sheets = sheets.assign(**{answer: "", "note": ""})
    return _write_by_person(sheets, folder, sheet_format, blank, ANSWER_COLUMNS[True])


def write_answer_sheets(
    grid: GridContext,
    folder: str | Path,
    round: str | None = None,
    sheet_format: SheetFormat = "csv",
    *,
    ids: Ids | None = None,
) -> dict[str, int]:
    """Write what each person has open in a round, the one that counts if none is named, as `write_sheets` does, with a
    column for each question; returns the rows by person.

    A round that edits has the text in the column `original`. Raises what `answer_tables.round_for_files` does.
    """
    access.Access(grid).spare()
    with grid._store.read() as tx:
        round_, rows = open_cells(tx, grid, round)
        instructions = {name: _answer_instructions(question) for name, question in form_of(round_.form).questions}
        blank = make_blank(tx, instructions, CELL_COLUMNS, round_)
        sheets = rows[["annotator"]].rename(columns={"annotator": "by"})
        sheets = sheets.assign(cell=numbers_on_sheet(tx, round_, rows["cell_id"]), row=rows["hs"])
        if not round_.options.hides_column:
            sheets["column"] = rows["cn"]
        if round_.options.edits:
            sheets[answer_tables.ORIGINAL] = rows["cell_id"].map(authorship.originals(tx, round_))
        sheets = with_own_ids(sheets, cells.texts_of_grid(tx), CELL_COLUMNS.sides, numbers=rows, ids=ids)
    sheets = sheets.assign(**dict.fromkeys(instructions, ""), note="")
    return _write_by_person(sheets, folder, sheet_format, blank, [*instructions])


def open_cells(tx: Tx, grid: GridContext, name: str | None) -> tuple[Round, pd.DataFrame]:
    """The round that is named, or the one that counts, and the cells that people have open in it and can answer now."""
    round_ = answer_tables.round_for_files(tx, grid.grid.name, name)
    rows = _begun_work(tx, round_)
    if rows.empty:
        _refuse_free(tx, round_)
        progress, message = tallies.round_progress(tx, round_), ALL_ANSWERED
        n_done, n_skipped, n_vacant = (progress.counts[key] for key in (Status.DONE, Status.SKIPPED, "vacant"))
        if not progress.dealt:
            message = NOT_ASSIGNED
        elif n_vacant or n_skipped:
            message = VACANT if n_vacant else ALL_ANSWERED_OR_SKIPPED
        figures = {"vacant": n_vacant, "done": n_done, "skipped": n_skipped}
        raise StageError.say(message, grid=grid.grid.name, round=round_.name, role=say(round_.role.value), **figures)
    rows = rows[~rows["cell_id"].isin(answer_tables.cells_not_due(tx, round_, rows["cell_id"].tolist()))]
    if rows.empty:
        waits = mark("nothing of round `%(round)s` is due: all open work waits for round `%(other)s`")
        raise StageError.say(waits, round=round_.name, other=round_.options.rests_on)
    return round_, rows


def numbers_on_sheet(tx: Tx, round_: Round, cell_ids: pd.Series[int]) -> pd.Series[int]:
    """The numbers of cells on a sheet of a round; where it hides the column, they do not tell it."""
    numbers = grids.to_public_number(cell_ids)
    return numbers.map(load_opaque_ids(tx).encrypt_cell) if round_.options.hides_column else numbers


def _answer_instructions(question: Question[Any]) -> Sequence[str] | str:
    if isinstance(question, Closed):
        return answer_words(question)
    if isinstance(question, AnyOf):
        return f"any of these, separated by semicolons: {'; '.join(question.names)}; or {closed.NONE}; or {SKIP}"
    return f"{question}, or {SKIP}"


def _write_by_person(
    rows: pd.DataFrame, folder: str | Path, form: SheetFormat, blank: SheetLayout, columns: Sequence[str]
) -> dict[str, int]:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    n_rows_by_person = {}
    for name, shard in rows.groupby(rows.columns[0], sort=False):
        path = folder / f"{name}.{form}"
        if not (path.exists() and keep_reason(path, columns)):
            write_sheet(shard, path, blank)
            n_rows_by_person[str(name)] = len(shard)
    return n_rows_by_person


def write_project(
    grid: GridContext, folder: str | Path, tool: str, round: str | None = None, *, is_download: bool = False
) -> dict[str, int]:
    """Write what people have open in a round, the one that counts if none is named, as a project of an annotation tool.

    `tool` is a key of `fcpair.files.exchange.catalogue.TOOLS`. What `is_download` names no place on this machine, and
    says that the study's pages take the export. Returns the items by person. Raises InputError where the
    tool is unknown or cannot carry the form, or the folder is not empty; StageError where nothing is open or due, or as
    `answer_tables.round_for_files`.
    """
    access.Access(grid).spare()
    writer = find_tool(tool)
    with grid._store.read() as tx:
        round_, rows = open_cells(tx, grid, round)
        form = form_of(round_.form)
        if obstacle := writer.obstacle(form):
            message = mark("round `%(round)s` cannot be answered in %(tool)s: %(why)s")
            raise InputError.say(message, round=round_.name, tool=writer.title, why=obstacle)
        facts, round_key = runs.study_facts(tx), f"{grid.grid.name}:{round_.name}"
        cell_ids, numbers = rows["cell_id"].tolist(), numbers_on_sheet(tx, round_, rows["cell_id"]).tolist()
        headings, texts = _shown_texts(tx, round_, cell_ids)
        shards = defaultdict[str, list[annotation_tool.Item]](list)  # in the order in which they were assigned
        for person, number, cell in zip(rows["annotator"], numbers, cell_ids, strict=True):
            key = annotation_tool.ItemKey(round_key, number, annotation_tool.digest_texts(texts[cell]))
            shards[str(person)].append(annotation_tool.Item(key, texts[cell]))
        place = grid._store.place
        file = ("STUDY" if "://" in place else os.path.basename(place)) if is_download else ""
        study = f"--study {shlex.quote(file or (place if '://' in place else os.path.relpath(place, folder)))}"
        named = f"--grid {shlex.quote(grid.grid.name)} --round {shlex.quote(round_.name)}"
        asks_labels = round is None and not is_planned(tx)  # which have a command of their own
        project = annotation_tool.Project(
            name=round_key.replace(":", "-").replace(" ", "_"),
            title=facts["title"] or grid.grid.name,
            guidelines=facts["guidelines"],
            form=form,
            headings=headings,
            shards=dict(shards),
            command=f"labels import {study}" if asks_labels else f"answers import {named} {study}",
            file=file,
            grid=grid.grid.name,
            words=wording.effective_words(tx),
        )
    with new_folder(folder) as target:
        for path, content in writer.write(project).items():
            (target / path).parent.mkdir(exist_ok=True)
            (target / path).write_text(content, "utf-8", newline="\n")
    return {person: len(items) for person, items in shards.items()}


def import_export(
    grid: GridContext,
    path: str | Path,
    tool: str,
    round: str | None = None,
    *,
    people: str | Path | None = None,
    supersede: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> RunRecord:
    """Record what an annotation tool exported, in a round, the one that counts if none is named.

    Of several answers by a person on a cell the latest counts, and those before it are kept. Left out are answers that
    are recorded already, of people who were dismissed, or from before another that the person has given since. The
    notes of the run say which were left out, and how many cells of each person are still missing.

    Args:
        grid: where the answers belong.
        path: a file, a zip file or a folder: all of it is recorded, or nothing.
        tool: a key of `fcpair.files.exchange.catalogue.TOOLS`.
        round: the name of the round.
        people: a table of the columns `user` and `annotator`: which user of the tool is which person, if names differ.
        supersede: let a different answer replace an earlier one as the current one.
        announce: is called with each thing that the export lacks, before anything is checked.

    Raises:
        InputError: everything that is wrong with the export; nothing is recorded then.
    """
    reader = find_tool(tool)
    users = None if people is None else annotation_tool.read_users(people)
    with grid._store.read() as tx:
        round_ = answer_tables.round_for_files(tx, grid.grid.name, round)
        unit = CELL_COLUMNS if is_planned(tx) else PAIR_COLUMNS
    form = form_of(round_.form)
    export = reader.read(annotation_tool.open_export(path, reader.suffixes), form)
    for lack in export.lacks:
        announce(lack)
    if export.n_drafts:
        message = mark("%(file)s: drafts that nobody has submitted are left out (%(number)s)")
        announce(say(message, file=str(path), number=export.n_drafts))
    exported_round = annotation_tool.ExportedRound(f"{grid.grid.name}:{round_.name}", form, unit)
    incoming = annotation_tool.collect_exported(path, reader, export, exported_round, users)

    def check(tx: Tx, answers: ImportedAnswers) -> None:
        rows = answers.rows
        cell_ids = rows["cell_id"][rows["cell_id"] != answer_import.NOBODY].tolist()
        headings, texts = _shown_texts(tx, round_, cell_ids)
        digests = {cell: annotation_tool.digest_texts(cell_texts) for cell, cell_texts in texts.items()}
        shown = {cell: answer_import.letters(reader.shown_text(headings, bodies)) for cell, bodies in texts.items()}
        is_other = rows["cell_id"].isin(texts) & (rows["cell_id"].map(digests) != rows["digest"])
        has_text = rows["cell_id"].isin(texts) & (rows["tool_text"] != "")
        expected = rows["cell_id"].map(shown).map(answer_import.letters, na_action="ignore")
        is_changed = has_text & (rows["tool_text"].map(answer_import.letters) != expected) & ~is_other
        hint = say("is the export from another study, or was the key changed?")
        message = mark("%(unit)s %(pair)s has other texts in this study than in its key; %(hint)s")
        answers.refuse(is_other.to_numpy(), message, hint=hint)
        message = mark("%(unit)s %(pair)s has other texts in the export than the tool was given")
        answers.refuse(is_changed.to_numpy(), message)
        if not answers.findings:
            answers.notes.extend(_describe_missing(tx, answers, round_, is_shared=reader.is_shared))
            answers.notes.extend(_leave_out_older(tx, answers, round_))

    return answer_tables.record_forms(grid, round_, incoming, supersede=supersede, check=check, tool=tool)


def import_file(
    grid: GridContext,
    path: str | Path,
    reader: str,
    round: str | None = None,
    *,
    people: str | Path | None = None,
    supersede: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> RunRecord:
    """Record the answers of a sheet of cells, pairs or verdicts, or those that the tool `reader` exported."""
    readers = {"pairs": answer_import.import_labels, "verdicts": answer_import.import_verdicts}
    if reader in readers:
        return readers[reader](grid, path, supersede=supersede)
    if reader == "cells":
        return answer_tables.import_answers(grid, path, round, supersede=supersede)
    return import_export(grid, path, reader, round, people=people, supersede=supersede, announce=announce)


@dataclass(frozen=True)
class ImportForecast:
    """What recording a file would do: counts and notes of its run, the pair, person and answer of those that it would
    take, at most MOST_TAKEN, and which answers it would replace; or a refusal.
    """

    counts: Mapping[str, Any]
    notes: Sequence[str]
    taken: Sequence[tuple[int, str, str]] = ()
    superseded: Sequence[Finding] = ()
    refusal: FcpairError | None = None


def forecast_import(
    grid: GridContext, path: str | Path, reader: str, round: str | None = None, people: str | Path | None = None
) -> ImportForecast:
    """Say what `import_file` would do, in a transaction of which nothing stays."""
    notes, taken = list[str](), list[tuple[int, str, Answer]]()

    def look(tx: Tx) -> None:
        run = next(run for run in reversed(runs.runs(tx)) if run.stage.endswith(" import"))
        rows = judgements.answers_of_run(tx, run.id).query("current").head(MOST_TAKEN)
        answers = answer_import.say_answers(tx, rows["answer_id"].fillna(NO_CODE).astype("int64").tolist())
        taken[:] = zip(grids.to_public_number(rows["cell_id"]), rows["person"], answers, strict=True)

    rehearsed = GridContext(grid._store.rehearsing(look), grid.grid)
    take = partial(import_file, rehearsed, path, reader, round, people=people)
    try:
        run = take(supersede=True, announce=notes.append)
    except (InputError, StageError, UnknownIdError) as error:
        return ImportForecast({}, notes, refusal=error)
    superseded: Sequence[Finding] = ()
    if run.counts.get("superseded"):
        try:
            take()
        except InputError as error:
            superseded = [of for of in error.findings if "old" in getattr(of.message, "values", ())]
    outcomes, would = {one for one, _ in tallies.LOOK_AGAIN}, mark("this would follow: %(what)s")
    of_run = (say(would, what=of) if getattr(of, "template", "") in outcomes else of for of in run.notes)
    return ImportForecast(run.counts, [*notes, *of_run], taken, superseded)


def _shown_sides(round_: Round) -> tuple[str, ...]:
    return (HS,) if round_.options.hides_column else (HS, CN)


def _shown_texts(tx: Tx, round_: Round, cell_ids: Iterable[int]) -> tuple[tuple[str, ...], dict[int, tuple[str, ...]]]:
    facts, bodies = runs.study_facts(tx), cells.texts_of_grid(tx).set_index("text_id")["body"]
    rows, shown_sides = cells.by_id(tx, cell_ids), _shown_sides(round_)
    texts = zip(*(rows[f"{side}_id"].map(bodies) for side in shown_sides), strict=True)
    headings = tuple(facts[f"{side}_name"] for side in shown_sides)
    return headings, dict(zip(rows["cell_id"].tolist(), texts, strict=True))


def _describe_missing(tx: Tx, incoming: ImportedAnswers, round_: Round, *, is_shared: bool) -> Iterator[str]:
    """Yield a sentence on each person of whose shard something is neither in the study nor in the export: of those in
    the export, and where it `is_shared` of all.
    """
    names = {person.id: person.name for person in people.people(tx)}
    shards = assignments.assignments(tx, rounds.with_known_pairs(tx, round_))
    is_skip = incoming.rows.groupby("assignment_id")["answer"].agg(lambda answers: answers.iloc[-1] is None)
    brought = is_skip.map({True: Status.SKIPPED.value, False: Status.DONE.value})
    statuses = shards["id"].map(brought).fillna(shards["status"])
    n_by_person = statuses.groupby(shards["person_id"]).value_counts().to_dict()
    exporters = incoming.rows["person_id"].tolist()
    for person_id in shards["person_id"].unique().tolist() if is_shared else dict.fromkeys(exporters):
        n = {name: n_by_person.get((person_id, name), 0) for name in ("done", "skipped", "open")}
        if n["open"]:
            yield say(
                "%(name)s: of %(all)s %(units)s %(done)s are answered, %(skipped)s skipped and %(open)s missing; unless"
                " %(name)s is still at work, or was assigned them after the project was written, the export is cut off",
                **{"name": names[person_id], "all": sum(n.values()), "units": say(incoming.of.several), **n},
            )


def _leave_out_older(tx: Tx, incoming: ImportedAnswers, round_: Round) -> Iterator[str]:
    rows, seen_round = incoming.rows, rounds.with_known_pairs(tx, round_)
    current = judgements.current_answers(tx, seen_round, *answer_import.COMPARED).set_index("assignment_id")
    current = current[current["origin"] != Origin.SIMULATED.value]
    times, current_times = (
        pd.to_datetime(column, utc=True, format="ISO8601", errors="coerce")
        for column in (rows["at"], rows["assignment_id"].map(current["at"]))
    )
    is_older = (times < current_times) & answer_import.differing_rows(rows, current)
    for name, older in rows[is_older].groupby("person", sort=False):
        pairs, n = list_first(older["pair"].tolist(), 5), len(older)
        message = mark("%(name)s has answered differently since; older answers left out: %(n)s (%(units)s %(pairs)s)")
        yield say(message, name=str(name), n=n, units=say(incoming.of.several), pairs=pairs)
    incoming.keep_rows(~is_older.to_numpy(bool))

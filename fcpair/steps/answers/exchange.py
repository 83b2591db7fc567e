"""Work for other annotation tools, and the answers that they export."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from fcpair.errors import InputError, list_first
from fcpair.files.answers.answer_files import CELL_COLUMNS, PAIR_COLUMNS, ImportedAnswers
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.exchange.annotation_tool import AnnotationTool, Item, ItemKey, Project, digest_texts, open_export
from fcpair.files.exchange.catalogue import find_tool
from fcpair.files.exchange.exported_answers import ExportedRound, collect_exported, read_users
from fcpair.files.tables.folders import new_folder
from fcpair.lazy import pd
from fcpair.records import Origin, Round, RunRecord, Status
from fcpair.steps.answers import answer_import, answer_tables, sheets
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext, is_planned
from fcpair.steps.people import access
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import runs
from fcpair.store.people import people


def write_project(grid: GridContext, folder: str | Path, tool: str, round: str | None = None) -> dict[str, int]:
    """Write what people have open in a round, the one that counts if none is named, as a project of an annotation tool.

    `tool` is a key of `fcpair.files.exchange.catalogue.TOOLS`. Returns the items by person. Raises what
    `answer_tables.round_for_files` does.

    Raises:
        InputError: there is no such tool, it cannot carry the form of the round, or the folder is not empty.
        StageError: nothing is open, or all of it waits for another round.
    """
    access.Access(grid).spare()
    writer = find_tool(tool)
    with grid._store.read() as tx:
        round_, rows = sheets.open_cells(tx, grid, round)
        form = form_of(round_.form)
        if obstacle := writer.obstacle(form):
            raise InputError(f"round `{round_.name}` cannot be answered in {writer.title}: {obstacle}")
        facts, round_key = runs.study_facts(tx), _round_key(grid, round_)
        texts = _texts_of_cells(tx, round_, rows["cell_id"].tolist())
        numbers = sheets.numbers_on_sheet(tx, round_, rows["cell_id"]).tolist()
        shards: dict[str, list[Item]] = {}  # in the order in which they were assigned
        for person, number, cell in zip(rows["annotator"], numbers, rows["cell_id"].tolist(), strict=True):
            item = Item(ItemKey(round_key, number, digest_texts(texts[cell])), texts[cell])
            shards.setdefault(str(person), []).append(item)
        place = grid._store.place
        study = f"--study {shlex.quote(place if '://' in place else os.path.relpath(place, folder))}"
        named = f"--grid {shlex.quote(grid.grid.name)} --round {shlex.quote(round_.name)}"
        asks_labels = round is None and not is_planned(tx)  # which have a command of their own
        command = f"labels import {study}" if asks_labels else f"answers import {named} {study}"
        project = Project(
            name=round_key.replace(":", "-").replace(" ", "_"),
            title=facts["title"] or grid.grid.name,
            guidelines=facts["guidelines"],
            form=form,
            headings=_headings(tx, round_),
            shards=shards,
            command=command,
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

    `path` is a file, a zip file or a folder: all of it is recorded, or nothing. Of several answers by a person on a
    cell the latest counts, and those before it are kept. An answer that is recorded already is not recorded again, nor
    is one of somebody who was dismissed, or from before another that its person has given since. The notes of the run
    say which were left out, and how many cells of each person are still missing.

    Args:
        grid: where the answers belong.
        path: what was exported.
        tool: a key of `fcpair.files.exchange.catalogue.TOOLS`.
        name: the round.
        people: a table of the columns `user` and `annotator`: which user of the tool is which person. Without it, users
            have the names of people.
        supersede: let a different answer replace an earlier one as the current one.
        announce: is called with each thing that the export lacks, before anything is checked.

    Raises:
        InputError: everything that is wrong with the export; nothing is recorded then.
    """
    reader = find_tool(tool)
    users = None if people is None else read_users(people)
    with grid._store.read() as tx:
        round_ = answer_tables.round_for_files(tx, grid.grid.name, round)
        unit = CELL_COLUMNS if is_planned(tx) else PAIR_COLUMNS
    form = form_of(round_.form)
    export = reader.read(open_export(path, reader.suffixes), form)
    for lack in export.lacks:
        announce(lack)
    if export.n_drafts:
        announce(f"{path}: drafts that nobody has submitted are left out ({export.n_drafts:,})")
    exported_round = ExportedRound(_round_key(grid, round_), form, unit)
    incoming = collect_exported(path, reader, export, exported_round, users)

    def check(tx: Tx, answers: ImportedAnswers) -> None:
        _compare_texts(tx, answers, round_, reader)
        if answers.findings:
            return
        answers.notes.extend(_describe_missing(tx, answers, round_, is_shared=reader.is_shared))
        answers.notes.extend(_leave_out_older(tx, answers, round_))

    return answer_tables.record_forms(grid, round_, incoming, supersede=supersede, check=check, tool=tool)


def _round_key(grid: GridContext, round_: Round) -> str:
    return f"{grid.grid.name}:{round_.name}"


def _headings(tx: Tx, round_: Round) -> tuple[str, ...]:
    facts = runs.study_facts(tx)
    names = (facts["hs_name"], facts["cn_name"])
    return names[:1] if round_.options.hides_column else names


def _texts_of_cells(tx: Tx, round_: Round, cell_ids: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """The texts that a tool shows of each cell: those of its sides, unless the round hides its column."""
    bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
    rows = cells.by_id(tx, cell_ids)
    sides = [HS] if round_.options.hides_column else [HS, CN]
    columns = [rows[f"{side}_id"].map(bodies) for side in sides]
    return dict(zip(rows["cell_id"].tolist(), zip(*columns, strict=True), strict=True))


def _compare_texts(tx: Tx, incoming: ImportedAnswers, round_: Round, tool: AnnotationTool) -> None:
    """Add a finding where the study has other texts than the tool was given, or the export has other texts than that.

    Of a text, what programs change of how lines end is not compared.
    """
    rows, unit, headings = incoming.rows, incoming.of.number, _headings(tx, round_)
    texts = _texts_of_cells(tx, round_, rows["cell_id"][rows["cell_id"] != answer_import.NOBODY].tolist())
    digests = {cell: digest_texts(cell_texts) for cell, cell_texts in texts.items()}
    shown = {cell: answer_import.letters(tool.shown_text(headings, bodies)) for cell, bodies in texts.items()}
    is_other = (rows["cell_id"].isin(texts) & (rows["cell_id"].map(digests) != rows["digest"])).to_numpy()
    clause = "other texts in this study than in its key; is the export from another study, or was the key changed?"
    incoming.refuse(is_other, f"{unit} {{pair}} has {clause}", f"these {unit}s have {clause}")
    has_text = rows["cell_id"].isin(texts) & (rows["tool_text"] != "")
    expected = rows["cell_id"].map(shown).map(answer_import.letters, na_action="ignore")
    is_changed = (has_text & (rows["tool_text"].map(answer_import.letters) != expected)).to_numpy()
    clause = "other texts in the export than the tool was given"
    incoming.refuse(is_changed & ~is_other, f"{unit} {{pair}} has {clause}", f"these {unit}s have {clause}")


def _describe_missing(tx: Tx, incoming: ImportedAnswers, round_: Round, *, is_shared: bool) -> Iterator[str]:
    """Yield a sentence on each person of whose shard something is neither in the study nor in the export.

    They are those in the export, and where it `is_shared` all who have work in the round.
    """
    names, unit = {one.id: one.name for one in people.people(tx)}, f"{incoming.of.number}s"
    shards = assignments.assignments(tx, rounds.with_known_pairs(tx, round_))
    is_skip = incoming.rows.groupby("assignment_id")["answer"].agg(lambda answers: answers.iloc[-1] is None)
    brought = is_skip.map({True: Status.SKIPPED.value, False: Status.DONE.value})
    statuses = shards["id"].map(brought).fillna(shards["status"])
    n_by_person = statuses.groupby(shards["person_id"]).value_counts().to_dict()
    exporters = incoming.rows["person_id"].tolist()
    for person_id in shards["person_id"].unique().tolist() if is_shared else dict.fromkeys(exporters):
        n_done, n_skipped, n_open = (
            n_by_person.get((person_id, status.value), 0) for status in (Status.DONE, Status.SKIPPED, Status.OPEN)
        )
        if n_open:
            yield (
                f"{names[person_id]}: of {n_done + n_skipped + n_open:,} {unit} {n_done:,} are answered, {n_skipped:,} "
                f"skipped and {n_open:,} missing; unless {names[person_id]} is still at work, or was assigned them "
                "after the project was written, the export was cut off"
            )


def _leave_out_older(tx: Tx, incoming: ImportedAnswers, round_: Round) -> Iterator[str]:
    """Leave out answers from before another one that the same person has given on the cell; yields a sentence on each
    person.

    Simulated answers are nobody's, and where the export has no times nothing says which is the older.
    """
    rows = incoming.rows
    seen_round = rounds.with_known_pairs(tx, round_)
    current = judgements.current_answers(tx, seen_round, *answer_import.COMPARED).set_index("assignment_id")
    current = current[current["origin"] != Origin.SIMULATED.value]
    times = pd.to_datetime(rows["at"], utc=True, format="ISO8601", errors="coerce")
    current_times = pd.to_datetime(
        rows["assignment_id"].map(current["at"]), utc=True, format="ISO8601", errors="coerce"
    )
    is_older = (times < current_times) & answer_import.differing_rows(rows, current)
    for name, older in rows[is_older].groupby("person", sort=False):
        numbers = list_first(older["pair"].tolist(), 5)
        left_out = f"{len(older):,} ({incoming.of.number}s {numbers})"
        yield f"{name} has answered differently since; older answers left out: {left_out}"
    incoming.keep_rows(~is_older.to_numpy(np.bool_))

"""Answers, labels and verdicts of a file: each is tied to its cell, its person and its assignment, held against what is
there, and recorded; and labels to a file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from fcpair.arrays import Bools
from fcpair.errors import InputError, StageError, suggest_name
from fcpair.files.answers.answer_files import PAIR_COLUMNS, ImportedAnswers, read_answers
from fcpair.files.corpus.corpus import CN, HS, with_own_ids
from fcpair.files.tables.tabular import Source, read_table
from fcpair.lazy import pd
from fcpair.params import Assign, Ids
from fcpair.records import COMPARISON, Known, Origin, Round, RunRecord
from fcpair.sentences import Answer, join, mark, say
from fcpair.stages.answers.replies import is_ascending, is_sorted
from fcpair.stages.corpus.text_identity import identity, strip_zero_decimals
from fcpair.stages.questions import NO_CODE, SKIP
from fcpair.stages.questions.labels import label_reader
from fcpair.steps.assignment import further, leases, validate
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import GridContext, begin_run, is_planned, lease_minutes, load_opaque_ids, scheme_of
from fcpair.steps.base.text_digests import digester
from fcpair.steps.people import eligibility, reassignment
from fcpair.steps.rules import permissions, rule_decisions, tallies, wording
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids, texts
from fcpair.store.corpus.sides import spellings
from fcpair.store.oversight import build_progress, runs, settings

ANSWERED_AT = "answered_at"  # the column of exports that is there where an answer came late
DISMISS = "dismiss"  # the stage of runs that let somebody go whose answers are set aside
SUPERSEDE = say("--supersede takes this as the newer answer")
COMPARED = ("assignment_id", "code", "answer_id", "own_code", "origin", "at")  # what is compared of current answers
OWN_LABEL, VERDICT = "own_label", "verdict"
FROM_FILES = "from_files"  # the settings that say which rounds of a planned grid are answered in files, undealt


def identify_rows(tx: Tx, incoming: ImportedAnswers, round_: Round) -> None:
    """Add `cell_id`, `person_id` and `assignment_id` to each row, or an error; leave out who was dismissed. Where no
    pairs were assigned, the role says who may answer, and answers bring their own assignments; else `position` is where
    each was.
    """
    locate_cells(tx, incoming)
    role, has_leases = round_.role, lease_minutes(tx, round_) is not None
    if not is_planned(tx):
        is_unassigned = round_.counts and not settings.of_stage(tx, Assign.stage)
    else:  # or only what files had brought was assigned
        is_from_files = round_.name in settings.of_stage(tx, FROM_FILES)
        is_unassigned = not has_leases and (is_from_files or not assignments.n_by_status(tx, round_))
    incoming.brings_work = is_unassigned and not round_.options.calibrates
    everybody, workers = people.people(tx, role if incoming.brings_work else None), assignments.counts_of_grid(tx)
    ids_by_name = {person.name: person.id for person in everybody}
    can_answer = [of.name for of in everybody if of.role is role or of.id in workers.get(round_.name, ())]
    names, listed = incoming.rows["person"], mark("there are %(names)s")
    is_unknown = (~names.isin(ids_by_name) & (names != "")).to_numpy()
    hints = {name: suggest_name(name, can_answer or [say("none")], listed) for name in names[is_unknown].unique()}
    message = mark("no %(role)s is called `%(person)s`; %(hint)s")
    incoming.refuse(is_unknown, message, role=say(role.value), hint=[*map(hints.get, names)])
    incoming.rows = incoming.rows.assign(person_id=names.map(ids_by_name).fillna(NOBODY).astype("int64"))
    is_waiting = incoming.rows["person_id"].isin(permissions.unqualified(tx, round_, ids_by_name.values())).to_numpy()
    hint = say("nobody answers before that; `fcpair people qualified` shows how far people are")
    incoming.refuse(is_waiting, mark("%(person)s has not qualified, and %(hint)s"), hint=hint)
    # where their work passes on to others
    dismissed = {run.params["person"] for run in runs.runs(tx, DISMISS)} if round_.reassigns_skipped else set()
    is_dismissed = incoming.rows["person"].isin(dismissed)
    for name, rows in incoming.rows[is_dismissed].groupby("person", sort=False):
        message = mark("%(name)s was dismissed, so the answers of %(name)s are left out (%(number)s)")
        incoming.notes.append(say(message, name=str(name), number=len(rows)))
    if is_dismissed.any():
        incoming.keep_rows(~is_dismissed.to_numpy(np.bool_))
    rows, key = incoming.rows, ["cell_id", "person_id"]
    is_identified = (rows[key] != NOBODY).all(axis="columns").to_numpy()
    if incoming.brings_work:
        _refuse_ineligible(tx, incoming, is_identified, round_)
        reassignment.assign_missing(tx, rows[is_identified], round_)
    elif has_leases:
        answered = rows[is_identified][key].drop_duplicates()
        existing = pd.MultiIndex.from_frame(assignments.assignments(tx, round_)[key])
        new_pairs = answered[~pd.MultiIndex.from_frame(answered).isin(existing)].to_numpy(np.int64)
        leases.take_slots_of_cells(tx, round_, *new_pairs.T)
    matched_rows = rows.merge(assignments.assignments(tx, round_)[["id", *key, "position"]], on=key, how="left")
    is_stray = is_identified & matched_rows["id"].isna().to_numpy()
    incoming.refuse(is_stray, mark("%(unit)s %(pair)s was not assigned to %(person)s"))
    incoming.rows = rows.assign(assignment_id=matched_rows["id"].fillna(NOBODY).astype("int64"))
    if not (incoming.brings_work or has_leases):  # else they stand in the order of the file
        incoming.rows["position"] = matched_rows["position"]


def record_answers(
    tx: Tx, incoming: ImportedAnswers, round_: Round, *, supersede: bool, **run_params: str
) -> RunRecord:
    """Record what is new of the answers; raises InputError with every finding when there is one."""
    answers = incoming.checked_rows()
    new_answers = answers[answers["is_new"]]
    run_id = begin_run(tx, f"{round_.name} import", {**run_params, "path": incoming.path, "supersede": supersede})
    if incoming.brings_work and is_planned(tx):
        settings.save_settings(tx, FROM_FILES, {round_.name: True}, run_id)
    earlier_answers = new_answers[:0]
    if incoming.earlier is not None:  # of those who have a new one, what is not recorded: an older one never counts
        rows = incoming.earlier[incoming.earlier["later_row"].isin(new_answers.index)]
        recorded = judgements.recorded_answers(tx, rows["assignment_id"].tolist())
        answer_ids = (None if answer == NO_CODE else answer for answer in rows["answer_id"])
        keys = zip(rows["assignment_id"], answer_ids, rows["at"], strict=True)
        earlier_answers = rows[np.array([key not in recorded for key in keys], np.bool_)]
    save_answers(tx, earlier_answers, Origin.IMPORTED, run_id)
    for origin, rows in new_answers.groupby("origin"):
        save_answers(tx, rows, Origin(str(origin)), run_id)
    answers_given = new_answers["code" if "code" in new_answers.columns else "answer_id"]
    answered_ids = new_answers["assignment_id"][answers_given != NO_CODE]
    control_ids = [
        assignments.assignments(tx, control_round)["id"]
        for control_round in rounds.of_known_pairs(tx, round_, Known.CONTROLS)
    ]
    n_skips = len(new_answers) - len(answered_ids)
    n_controls = sum(int(answered_ids.isin(ids).sum()) for ids in control_ids)
    rare = {"controls": n_controls, "earlier": len(earlier_answers), "superseded": int(new_answers["differs"].sum())}
    counts: dict[str, Any] = {
        "answers": len(answered_ids) - n_controls,
        "skips": n_skips,
        "already_there": len(answers) - len(new_answers),
    } | {name: n for name, n in rare.items() if n}
    counts |= reassignment.reassign(tx, seed=0) if n_skips else {}
    question = closed_question(form_of(round_.form))
    # where codes are not themselves the names of choices
    n_by_cell = Counter(strip_zero_decimals(cell.strip()) for column in incoming.said.values() for cell in column)
    readings = [
        f"{choice.code} as {choice.name} ({n_by_cell[str(choice.code)]:,})"
        for choice in question or ()
        if str(choice.code) in n_by_cell and choice.name != str(choice.code)
    ]
    notes: list[str] = [say("codes were read as labels: %(names)s", names=readings)] if readings else []
    notes += [*sorted_column_notes(incoming), *incoming.notes]
    if round_.counts and question:
        cell_ids = new_answers["cell_id"].unique().tolist()
        counts |= rule_decisions.apply_policy(tx, cell_ids) | further.ask_further(tx, cell_ids)
        n_lost = len({*cell_ids} & {*judgements.lost_verdicts(tx)})
        notes += tallies.look_again(len(rule_decisions.stale_decisions(tx, cell_ids)), n_lost)
    return replace(runs.end_run(tx, run_id, counts), notes=tuple(notes))


def sorted_column_notes(incoming: ImportedAnswers) -> tuple[str, ...]:
    """A sentence on each column of a person's answers that is sorted while its rows are still in the order of their
    cells, or as assigned: so it seems to have been sorted apart from them.
    """
    rows, notes = incoming.rows.reset_index(drop=True), list[str]()
    orders = [rows[name] for name in ("pair", "position") if name in rows.columns]
    for name, person_rows in rows.groupby("person", sort=False):
        if any(is_ascending(order[person_rows.index].tolist()) for order in orders):
            notes += [
                sorted_column_sentence(f"`{column}`" + f" ({name})" * bool(name), len(person_rows), incoming.of.several)
                for column, cells in incoming.said.items()
                if is_sorted([cells[index] for index in person_rows.index])
            ]
    hint = say("Compare some with their texts; import a corrected file with --supersede")
    return tuple(join([note, hint], ". ") for note in notes)


def sorted_column_sentence(column: str, n: int, unit: str) -> str:
    """Sentence on a column of `n` answers that is sorted while its rows are not."""
    hint = say("if it was sorted on its own, its %(n)s answers are next to the wrong %(units)s", n=n, units=say(unit))
    return say("column %(column)s is sorted, but its rows are not: %(hint)s", column=column, hint=hint)


def _refuse_ineligible(tx: Tx, incoming: ImportedAnswers, is_identified: Bools, round_: Round) -> None:
    rows, key = incoming.rows, ["cell_id", "person_id"]
    validated = assignments.assignments(tx, rounds.validation(tx))[key]
    checked = pd.MultiIndex.from_frame(pd.concat([validated, adjudications.people_who_decided(tx)]))
    is_checker = is_identified & pd.MultiIndex.from_frame(rows[key]).isin(checked)
    incoming.refuse(is_checker, mark("%(person)s validates or decided %(unit)s %(pair)s, so cannot label it"))
    if not is_planned(tx):
        return
    cell_ids, person_ids = rows.loc[is_identified, key].to_numpy(np.int64).T
    ids, column = np.unique(person_ids, return_inverse=True)
    candidates = [open_slots.Candidate(id_, 0, ()) for id_ in ids.tolist()]
    ineligible = eligibility.ineligibility_matrix(tx, cell_ids, candidates, round_, first_assignment=True)
    is_ineligible = np.zeros(len(rows), np.bool_)
    is_ineligible[is_identified] = ineligible[np.arange(len(column)), column]
    reason = say("people who made a row, wrote or answered it before, or have not passed the pilot cannot answer it")
    message = mark("%(person)s may not answer %(unit)s %(pair)s: %(why)s")
    incoming.refuse(is_ineligible & ~is_checker, message, why=reason)


def compare_answers(tx: Tx, incoming: ImportedAnswers, round_: Round, *, supersede: bool) -> None:
    """Add `is_new` and `differs` to each row, and an error where another answer is there that it may not supersede: of
    a person, also a simulated one that says the same; what a person gives takes the place of that.
    """
    rows = incoming.rows
    current_answers = judgements.current_answers(tx, round_, *COMPARED).set_index("assignment_id")
    is_answered = rows["assignment_id"].isin(current_answers.index).to_numpy()
    differs = is_answered & differing_rows(rows, current_answers)
    was_simulated = (rows["assignment_id"].map(current_answers["origin"]) == Origin.SIMULATED.value).to_numpy()
    is_simulated = (rows["origin"] == Origin.SIMULATED.value).to_numpy()
    is_made_up = is_answered & ~differs & ~was_simulated & is_simulated
    if not supersede:
        is_refused = differs & ~incoming.has_finding
        message = mark("%(person)s has already answered %(unit)s %(pair)s differently; %(hint)s")
        # The answers that stand, and those that would take their place, as people read them, by row.
        places = np.flatnonzero(is_refused).tolist()
        refused = rows.iloc[places]
        old_ids = refused["assignment_id"].map(current_answers["answer_id"]).fillna(NO_CODE).astype("int64").tolist()
        new_ids = refused["answer_id"].tolist() if "answer_id" in rows.columns else []
        new = say_answers(tx, new_ids) or [Answer(cells[at]) for cells in incoming.said.values() for at in places]
        changes = {"old": say_answers(tx, old_ids), "new": new}
        by_row = {name: dict(zip(places, answers, strict=True)) for name, answers in changes.items()}
        incoming.refuse(is_refused, message, hint=SUPERSEDE, **by_row)
        hint = say("but the answers in the file are simulated; %(hint)s", hint=SUPERSEDE)
        message = mark("%(person)s has answered %(unit)s %(pair)s already, %(hint)s")
        incoming.refuse(is_made_up & ~incoming.has_finding, message, hint=hint)
    is_new = ~is_answered | differs | (is_answered & (was_simulated != is_simulated))
    if supersede and round_.checks:  # the same word about a label that has changed is a new verdict
        is_about_current_label = rows["assignment_id"].isin(judgements.current_verdicts(tx)["assignment_id"])
        is_new |= (~is_about_current_label & (rows["code"] != NO_CODE)).to_numpy()
    incoming.rows = rows.assign(is_new=is_new, differs=differs)


def say_answers(tx: Tx, ids: Sequence[int]) -> list[Answer]:
    """The answers with these numbers, as people read them, in short; -1 is a skip."""
    kept = sorted({*ids} - {NO_CODE})
    values = (json.loads(value).values() for value in rounds.answer_values(tx, kept))
    words = {NO_CODE: SKIP} | {id_: _shorten("; ".join(map(str, of))) for id_, of in zip(kept, values, strict=True)}
    return [Answer(words[id_]) for id_ in ids]


def differing_rows(rows: pd.DataFrame, current_answers: pd.DataFrame) -> Bools:
    """Return whether each row says something else than `current_answers`, if there is one; shape `(n_rows,)`."""
    differs = np.zeros(len(rows), np.bool_)
    for name in {"code", "own_code", "answer_id"} & set(rows.columns):
        old_codes = rows["assignment_id"].map(current_answers[name].astype("Int64")).fillna(NO_CODE).to_numpy()
        differs |= old_codes != rows[name].fillna(NO_CODE).to_numpy()
    return differs


def save_answers(tx: Tx, answers: pd.DataFrame, origin: Origin, run_id: int) -> None:
    """Add a run's judgements (`assignment_id`, `code` or `answer_id`, -1 for a skip, `note`, ...), their work done."""
    if answers.empty:
        return
    answer_column = "code" if "code" in answers.columns else "answer_id"
    is_skipped = answers[answer_column] == NO_CODE
    extra_columns = [name for name in ("own_code", "adjudication_id", "seconds", "at") if name in answers.columns]
    rows = answers[["assignment_id", "note", *extra_columns]].assign(skipped=is_skipped, run_id=run_id)
    rows[answer_column] = answers[answer_column].astype("Int64").mask(is_skipped)
    lapsed_ids = assignments.released_ids(tx, answers["assignment_id"][~is_skipped].tolist())
    judgements.add_judgements(tx, rows, origin)
    for assignment_id in lapsed_ids:  # now, so that whoever took a slot over and answers in the same file keeps it
        open_slots.reclaim_skipped(tx, assignment_id)


def import_labels(grid: GridContext, path: Source, *, supersede: bool = False) -> RunRecord:
    """Record the labels of a file or a frame: filled-in sheets, or a long table made elsewhere. `supersede` lets a
    different label replace an earlier one as the current one.
    """
    with grid._store.write() as tx:
        read_word, headings = label_reader(scheme_of(tx)), wording.sheet_headings(tx, PAIR_COLUMNS)
        incoming = read_answers(path, read_word, person="annotator", answer="label", headings=headings)
        round_ = rounds.with_known_pairs(tx, rounds.primary(tx))
        identify_rows(tx, incoming, round_)
        compare_answers(tx, incoming, round_, supersede=supersede)
        return record_answers(tx, incoming, round_, supersede=supersede)


def import_verdicts(grid: GridContext, path: Source, *, supersede: bool = False) -> RunRecord:
    """Record the verdicts of a file or a frame, as `import_labels` does labels."""
    with grid._store.write() as tx:
        # as was dealt; its columns say it where both were
        kinds = assignments.blind_kinds(tx) or {validate.is_blind(tx)}
        blind = kinds.pop() if len(kinds) == 1 else OWN_LABEL in read_table(path).columns
        read_word = label_reader(scheme_of(tx)) if blind else validate.read_verdict
        answer, shown = (OWN_LABEL, "") if blind else (VERDICT, "label")
        headings = wording.sheet_headings(tx, PAIR_COLUMNS)
        incoming = read_answers(path, read_word, person="validator", answer=answer, shown=shown, headings=headings)
        round_ = rounds.validation(tx)
        identify_rows(tx, incoming, round_)
        is_blind_by_id = assignments.assignments(tx, round_).set_index("id")["blind"]
        has_other_kind = (incoming.rows["assignment_id"].map(is_blind_by_id) == (not blind)).to_numpy()
        kind, column = (say("with its label shown"), VERDICT) if blind else (say("blind"), OWN_LABEL)
        message = mark("pair %(pair)s was assigned %(how)s; give `%(column)s` in a separate file")
        incoming.refuse(has_other_kind, message, how=kind, column=column)
        incoming.rows = validate.with_decisions(tx, incoming.rows, blind=blind)
        compare_answers(tx, incoming, round_, supersede=supersede)
        rows = incoming.rows
        reasons = permissions.not_due_reasons(tx, rows["cell_id"][rows["cell_id"] != NOBODY].tolist())
        is_early = (rows["cell_id"].isin(reasons) & rows["is_new"]).to_numpy() & ~incoming.has_finding
        incoming.refuse(is_early, "%(why)s", why=[str(reasons.get(pair, "")) for pair in rows["cell_id"]])
        names, question = validate.label_names(tx), scheme_of(tx)

        def name_of(shown: object) -> str:  # which another program may have written in its own way
            try:
                return question.name(question.read(str(shown))) if shown else ""
            except InputError:
                return str(shown)

        current_labels = rows["cell_id"].map(lambda cell: names.get(cell, ""))
        shown_labels = rows["shown"].map(name_of)
        is_new = (rows["is_new"] & (rows["code"] != NO_CODE)).to_numpy() & ~incoming.has_finding
        has_other_label = ((shown_labels != "") & (shown_labels != current_labels)).to_numpy() & is_new
        hint = say("leave its `%(column)s` empty, and give it on a new sheet", column=VERDICT)
        message = mark("the label of pair %(pair)s has changed since this sheet was written; %(hint)s")
        incoming.refuse(has_other_label, message, hint=hint)
        has_no_label = (current_labels == "").to_numpy() & is_new & ~has_other_label
        incoming.refuse(has_no_label, mark("pair %(pair)s has no adjudicated label, so there is nothing to check"))
        return record_answers(tx, incoming, round_, supersede=supersede)


def export_labels(grid: GridContext, *, known: bool = False, ids: Ids | None = None) -> pd.DataFrame:
    """Every annotator's current answer of each pair, skips included.

    Columns: `pair`, `hs_id`, `cn_id`, `OWN_IDS`, `annotator`, `label`, `seconds`, `time`, `note`, `origin`, and
    `answered_at` if any came later than it was given (empty where it came at once). With `known`, answers to known
    pairs come behind the others, marked in a column `known`: qualification or controls. `ids` is as for `Grid.tier`.
    """
    with grid._store.read() as tx:
        names = {choice.code: choice.name for choice in scheme_of(tx)}
        answer_rounds = [rounds.primary(tx), *(rounds.of_known_pairs(tx, rounds.primary(tx)) if known else [])]
        read = ("cell_id", "annotator", "code", "skipped", "seconds", "note", "origin", "at", ANSWERED_AT)
        tables = [
            judgements.current_answers(tx, round_, *read).assign(known=round_.options.known) for round_ in answer_rounds
        ]
        answers = pd.concat(tables, ignore_index=True).rename(columns={"at": "time"})
        sides, all_texts = cells.by_id(tx, answers["cell_id"]).set_index("cell_id"), cells.texts_of_grid(tx)
    answers["label"] = answers["code"].astype("Int64").map(names).astype(object).where(~answers["skipped"], SKIP)
    answers = answers.join(sides, on="cell_id").assign(pair=grids.to_public_number(answers["cell_id"]))
    columns = ["pair", "hs_id", "cn_id", "annotator", "label", "seconds", "time", "note", "origin"]
    columns += late_column(answers)
    rows = answers[[*columns, "known"] if known else columns]
    return with_own_ids(rows, all_texts, before=("annotator", "annotator"), ids=ids)


def late_column(answers: pd.DataFrame) -> list[str]:
    """The column of when answers were given, where any came later: without an outage, exports are as they ever were."""
    answers[ANSWERED_AT] = answers[ANSWERED_AT].astype(object).where(answers[ANSWERED_AT].notna(), "")
    return [ANSWERED_AT] if answers[ANSWERED_AT].any() else []


NOBODY = -1  # stands for a cell, a person or an assignment that there is not


def locate_cells(tx: Tx, incoming: ImportedAnswers) -> None:
    """Add `cell_id` to each row, and a finding where the pair is not in the grid or has other texts there."""
    if not build_progress.n_built(tx)["pair"]:
        raise StageError.say("the study has no pairs yet; run `fcpair pair`")
    rows = incoming.rows.assign(pair=incoming.rows["pair"].map(load_opaque_ids(tx).decrypt_cell))
    kinds = dict(zip((HS, CN), grids.side_kinds(tx), strict=True))
    digest = digester(tx)
    sides = rows[[*kinds]].apply(lambda side: side.map(digest).map(_text_ids_by_digest(tx, kinds[str(side.name)])))
    if incoming.by_text:
        cell_id_by_texts = cells.of_rows(tx, sides["hs"].dropna().astype(int)).set_index(["hs_id", "cn_id"])["cell_id"]
        cell_id = cell_id_by_texts.reindex(pd.MultiIndex.from_frame(sides)).to_numpy()
        names = [f"`{_shorten(hs)}` x `{_shorten(cn)}`" for hs, cn in zip(rows["hs"], rows["cn"], strict=True)]
    else:
        ids = grids.to_cell_id(tx, rows["pair"])
        known_cells = cells.by_id(tx, ids).set_index("cell_id")
        cell_id = ids.where(ids.isin(known_cells.index)).to_numpy()
        names = rows["pair"].astype(str).tolist()
        _compare_texts(tx, incoming, sides, ids, known_cells)
    is_outside = pd.isna(cell_id)
    is_unreadable = (rows["pair"] == NO_CODE).to_numpy() & (rows["hs"] == "").to_numpy()
    by_words = incoming.by_text and rounds.WRITTEN in kinds.values()
    hint = say(", or its text occurs in several cells; give the number of the cell") if by_words else ""
    message = mark("%(unit)s %(name)s is not in the grid%(hint)s")
    incoming.refuse(is_outside & ~is_unreadable, message, name=names, hint=hint)
    ids = pd.Series(cell_id).fillna(NOBODY).astype("int64")
    incoming.rows = rows.assign(cell_id=ids, pair=grids.to_public_number(ids).where(ids != NOBODY, rows["pair"]))


def _text_ids_by_digest(tx: Tx, kind: str) -> dict[str, int]:
    """The id of every text of a kind by its digest; of what was written, or compares, those of the grid whose digest is
    unique.
    """
    if kind not in (rounds.WRITTEN, COMPARISON):
        merged = spellings(tx)
        return {digest: merged.get(text_id, text_id) for digest, text_id in texts.text_ids(tx, kind).items()}
    grid_texts = cells.texts_of_grid(tx).query("kind == @kind")
    digests = grid_texts["body"].map(digester(tx))
    is_unique = ~digests.duplicated(keep=False)
    return dict(zip(digests[is_unique], grid_texts["text_id"][is_unique], strict=True))


def letters(text: str) -> str:
    """Characters of a text that every program keeps: some change how lines end, and what is not printed."""
    return "".join(sign for sign in identity(text) if sign.isprintable() and not sign.isspace())


def _compare_texts(
    tx: Tx, incoming: ImportedAnswers, sides: pd.DataFrame, ids: pd.Series[int], known_cells: pd.DataFrame
) -> None:
    rows, changes = incoming.rows, dict[int, str]()
    n_fitting, n_moved = 0, 0
    for side, column, kind in zip((HS, CN), incoming.of.sides, grids.side_kinds(tx), strict=True):
        expected = ids.map(known_cells[f"{side}_id"])
        has_text = (rows[side] != "") & expected.notna()
        differs = has_text & (sides[side] != expected)
        if differs.any():
            bodies = texts.texts_of(tx, kind).set_index("id")["body"]
            differs &= rows[side].map(letters) != expected.map(bodies.map(letters))
            for at in np.flatnonzero(differs).tolist():
                changes.setdefault(at, describe_change(column, bodies[expected.iloc[at]], rows[side].iloc[at]))
        n_fitting += int((has_text & ~differs).sum())
        n_moved += int((differs & sides[side].notna()).sum())
    if not changes:
        return
    remedy = (
        say("was a column sorted without the others?")
        if n_moved > len(changes) / 2
        else say("a spreadsheet program changes cells of a CSV; put the texts back, or use workbooks (.xlsx)")
        if n_fitting
        else say("is the sheet from another study?")
    )
    message = mark("%(unit)s %(pair)s has other texts in this study: %(change)s; %(hint)s")
    incoming.refuse(np.isin(np.arange(len(rows)), [*changes]), message, change=changes, hint=remedy)


def describe_change(column: str, was: str, found: str) -> str:
    """Say in short what a cell of a column was and is, from a little before where they differ."""
    start = max(sum(1 for _ in takewhile(lambda signs: signs[0] == signs[1], zip(was, found, strict=False))) - 10, 0)
    old, new = (("…" if start else "") + _shorten(text[start:]) for text in (was, found))
    return say("`%(column)s` was `%(old)s` and is `%(new)s`", column=column, old=old, new=new)


def _shorten(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"

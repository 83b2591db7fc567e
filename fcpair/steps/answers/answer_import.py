"""Recording the answers of a file: each is tied to its cell, its person and its assignment, and held against what is
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.files.answers.answer_files import ImportedAnswers
from fcpair.params import Assign
from fcpair.records import Known, Origin, Round, RunRecord, Status
from fcpair.stages.answers.sorted_columns import is_ascending, is_sorted
from fcpair.stages.corpus.text_identity import strip_zero_decimals
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.base import Closed
from fcpair.steps.answers.dismissal import leave_out_dismissed
from fcpair.steps.answers.file_cells import NOBODY, locate_cells
from fcpair.steps.assignment import leases
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import begin_run, has_saved_options, is_planned, lease_minutes
from fcpair.steps.people import reassignment
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.steps.rules.study_notes import look_again
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.oversight import runs, settings
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

SUPERSEDE = "--supersede takes this as the newer answer"
FROM_FILES = "from_files"  # the settings that say which rounds of a planned grid are answered in files, undealt


def identify_rows(tx: Tx, incoming: ImportedAnswers, round_: Round) -> None:
    """Add `cell_id`, `person_id` and `assignment_id` to each row, or a finding; leave out who was dismissed."""
    locate_cells(tx, incoming)
    _add_people(tx, incoming, round_)
    leave_out_dismissed(tx, incoming, round_)
    _add_assignments(tx, incoming, round_)


def record_answers(
    tx: Tx, incoming: ImportedAnswers, round_: Round, *, supersede: bool, **run_params: str
) -> RunRecord:
    """Record what is new of the answers; raises InputError with every finding when there is one."""
    answers = incoming.checked_rows()
    new_answers = answers[answers["is_new"]]
    run_id = begin_run(tx, f"{round_.name} import", {**run_params, "path": incoming.path, "supersede": supersede})
    if incoming.brings_work and is_planned(tx):
        settings.save_settings(tx, FROM_FILES, {round_.name: True}, run_id)
    earlier_answers = _unrecorded_earlier(tx, incoming, new_answers)
    save_answers(tx, earlier_answers, Origin.IMPORTED, run_id)
    for origin, rows in new_answers.groupby("origin"):
        save_answers(tx, rows, Origin(str(origin)), run_id)
    is_skip = new_answers[_answer_column(new_answers)] == NO_CODE
    n_skips, n_controls = int(is_skip.sum()), _n_controls(tx, new_answers[~is_skip], round_)
    counts: dict[str, Any] = {
        "answers": len(new_answers) - n_skips - n_controls,
        "skips": n_skips,
        "already_there": len(answers) - len(new_answers),
        **({"controls": n_controls} if n_controls else {}),
        **({"earlier": len(earlier_answers)} if len(earlier_answers) else {}),
    }
    counts |= reassignment.reassign(tx, seed=0) if n_skips else {}
    question = closed_question(form_of(round_.form))
    notes = [*_code_notes(incoming, question), *sorted_column_notes(incoming), *incoming.notes]
    if round_.counts and question:
        cell_ids = new_answers["cell_id"].unique().tolist()
        counts |= rule_decisions.apply_policy(tx, cell_ids)
        n_lost = len({*cell_ids} & {*judgements.lost_verdicts(tx)})
        notes += look_again(len(rule_decisions.stale_decisions(tx, cell_ids)), n_lost)
    return replace(runs.end_run(tx, run_id, counts), notes=tuple(notes))


def _n_controls(tx: Tx, answers: pd.DataFrame, round_: Round) -> int:
    """How many of these answers are to control pairs, which are no answers of the round."""
    dealt = (assignments.assignments(tx, one)["id"] for one in rounds.of_known_pairs(tx, round_, Known.CONTROLS))
    return sum(int(answers["assignment_id"].isin(ids).sum()) for ids in dealt)


def _unrecorded_earlier(tx: Tx, incoming: ImportedAnswers, new_answers: pd.DataFrame) -> pd.DataFrame:
    """The earlier answers of those who have a new one, as far as they are not recorded: an older one never counts."""
    if incoming.earlier is None:
        return new_answers[:0]
    rows = incoming.earlier[incoming.earlier["later_row"].isin(new_answers.index)]
    recorded = judgements.recorded_answers(tx, rows["assignment_id"].tolist())
    answer_ids = (None if answer == NO_CODE else answer for answer in rows["answer_id"])
    keys = zip(rows["assignment_id"], answer_ids, rows["at"], strict=True)
    return rows[np.array([key not in recorded for key in keys], np.bool_)]


def _code_notes(incoming: ImportedAnswers, question: Closed | None) -> tuple[str, ...]:
    """A sentence on what codes were read as, where a file has codes that are not themselves the names of choices."""
    cells = [strip_zero_decimals(cell.strip()) for column in incoming.said.values() for cell in column]
    n_by_cell = Counter(cells)
    readings = [
        f"{choice.code} as {choice.name} ({n_by_cell[str(choice.code)]:,})"
        for choice in question or ()
        if str(choice.code) in n_by_cell and choice.name != str(choice.code)
    ]
    return (f"codes were read as labels: {', '.join(readings)}",) if readings else ()


def sorted_column_notes(incoming: ImportedAnswers) -> tuple[str, ...]:
    """A sentence on each column of a person's answers that seems to have been sorted apart from its rows.

    That is where the answers are sorted, and the rows are still in the order of their cells, or in that in which they
    were dealt.
    """
    rows = incoming.rows.reset_index(drop=True)
    orders = [rows[name] for name in ("pair", "position") if name in rows.columns]
    notes = []
    for name, person_rows in rows.groupby("person", sort=False):
        if any(is_ascending(order[person_rows.index].tolist()) for order in orders):
            columns = [
                column
                for column, cells in incoming.said.items()
                if is_sorted([cells[index] for index in person_rows.index])
            ]
            named = (f"`{column}` of {name!s}" if name else f"`{column}`" for column in columns)
            notes += [sorted_column_sentence(one, len(person_rows), f"{incoming.of.number}s") for one in named]
    return tuple(f"{note}. Compare some with their texts; import a corrected file with --supersede" for note in notes)


def sorted_column_sentence(column: str, n: int, unit: str) -> str:
    """Sentence on a column of `n` answers that is sorted while its rows are not."""
    sentence = f"column {column} is sorted, but its rows are not"
    return f"{sentence}: if it was sorted on its own, its {n:,} answers are next to the wrong {unit}"


def _answer_column(rows: pd.DataFrame) -> str:
    """The column that says what was answered: its code, or its id."""
    return "code" if "code" in rows.columns else "answer_id"


def _add_people(tx: Tx, incoming: ImportedAnswers, round_: Round) -> None:
    """Add `person_id` to each row, and a finding where nobody has that name.

    Somebody may have changed roles since the pairs were dealt; where nothing was dealt, the role says who may answer.
    Nobody answers who has still to qualify.
    """
    role = round_.role
    ids_by_name = {one.name: one.id for one in people.people(tx, role if _is_unassigned(tx, round_) else None)}
    person = incoming.rows["person"]
    is_unknown = (~person.isin(ids_by_name) & (person != "")).to_numpy()
    incoming.add_findings(
        is_unknown, (f"no {role} is called `{name}`; {_people_hint(name, ids_by_name)}" for name in person)
    )
    incoming.rows = incoming.rows.assign(person_id=person.map(ids_by_name).fillna(NOBODY).astype("int64"))
    is_waiting = incoming.rows["person_id"].isin(permissions.unqualified(tx, round_, ids_by_name.values())).to_numpy()
    hint = "and nobody answers before that; `fcpair people qualified` shows how far people are"
    incoming.add_findings(is_waiting, (f"{name} has not qualified, {hint}" for name in person))


def _people_hint(name: str, names: Iterable[str]) -> str:
    """Hint for an unknown name: the person whose name differs in capitals alone, else who there is."""
    similar_names = [one for one in names if one.casefold() == name.casefold()]
    return f"did you mean `{similar_names[0]}`?" if similar_names else f"there are {', '.join(names) or 'none'}"


def _add_assignments(tx: Tx, incoming: ImportedAnswers, round_: Round) -> None:
    """Add `assignment_id` to each row, and a finding where the pair was not assigned to that person.

    Answers to a study in which nothing was dealt bring their own assignments. Else `position` is where it was dealt.
    """
    rows = incoming.rows
    is_identified = ((rows["cell_id"] != NOBODY) & (rows["person_id"] != NOBODY)).to_numpy()
    incoming.brings_work = _is_unassigned(tx, round_)
    if incoming.brings_work:
        _refuse_ineligible(tx, incoming, is_identified, round_)
        _add_missing_assignments(tx, rows[is_identified], round_)
    elif lease_minutes(tx, round_) is not None:
        _take_free_slots(tx, rows[is_identified], round_)
    assigned_rows = assignments.assignments(tx, round_)[["id", "cell_id", "person_id", "position"]]
    matched_rows = rows.merge(assigned_rows, on=["cell_id", "person_id"], how="left")
    is_stray = is_identified & matched_rows["id"].isna().to_numpy()
    pairs = zip(rows["pair"], rows["person"], strict=True)
    messages = (f"{incoming.of.number} {pair} was not assigned to {name}" for pair, name in pairs)
    incoming.add_findings(
        is_stray, messages, cause=f"these {incoming.of.number}s were not assigned to the person named"
    )
    incoming.rows = rows.assign(assignment_id=matched_rows["id"].fillna(NOBODY).astype("int64"))
    if not incoming.brings_work and lease_minutes(tx, round_) is None:  # else they stand in the order of the file
        incoming.rows["position"] = matched_rows["position"]


def point_at_known_answers(tx: Tx, incoming: ImportedAnswers, round_: Round) -> None:
    """Let answers to control pairs, whose round has answers of its own, be those; they say the same."""
    for control_round in rounds.of_known_pairs(tx, round_, Known.CONTROLS):
        own_ids = rounds.answer_ids(tx, control_round.id)
        own_id_by_id = {at: own_ids[code] for code, at in rounds.answer_ids(tx, round_.id).items()}
        control_ids = assignments.assignments(tx, control_round)["id"]
        rows = incoming.rows
        is_control = rows["assignment_id"].isin(control_ids) & rows["answer_id"].isin(own_id_by_id)
        rows.loc[is_control, "answer_id"] = rows.loc[is_control, "answer_id"].map(own_id_by_id)


def _refuse_ineligible(tx: Tx, incoming: ImportedAnswers, is_identified: NDArray[np.bool_], round_: Round) -> None:
    """Add a finding where somebody may not answer a cell that was dealt to nobody."""
    rows, unit = incoming.rows, incoming.of.number
    is_checker = is_identified & permissions.has_checked(tx, rows["cell_id"], rows["person_id"])
    pairs = list(zip(rows["pair"], rows["person"], strict=True))
    messages = (f"{name} validates or decided {unit} {pair}, so cannot label it" for pair, name in pairs)
    incoming.add_findings(is_checker, messages, cause=f"people who validate or decided a {unit} cannot label it")
    if not is_planned(tx):
        return
    is_ineligible = np.zeros(len(rows), np.bool_)
    is_ineligible[is_identified] = _ineligible_rows(tx, rows[is_identified], round_)
    reason = "people who made a row, wrote or answered it before, or have not passed the pilot cannot answer it"
    messages = (f"{name} may not answer {unit} {pair}: {reason}" for pair, name in pairs)
    incoming.add_findings(is_ineligible & ~is_checker, messages, cause=reason)


def _ineligible_rows(tx: Tx, rows: pd.DataFrame, round_: Round) -> NDArray[np.bool_]:
    """Whether each person may not be given that cell, shape `(n_rows,)`."""
    ids, column = np.unique(rows["person_id"].to_numpy(np.int64), return_inverse=True)
    candidates = [vacant_slots.Candidate(one, 0, ()) for one in ids.tolist()]
    ineligible = reassignment.ineligibility_matrix(
        tx, rows["cell_id"].to_numpy(np.int64), candidates, round_, first_assignment=True
    )
    return np.asarray(ineligible[np.arange(len(rows)), column])


def _take_free_slots(tx: Tx, rows: pd.DataFrame, round_: Round) -> None:
    """Give people the free slots that a file says they answered in."""
    pairs = rows[["cell_id", "person_id"]].drop_duplicates()
    existing_pairs = assignments.assignments(tx, round_).set_index(["cell_id", "person_id"]).index
    new_pairs = pairs[~pairs.set_index(["cell_id", "person_id"]).index.isin(existing_pairs)]
    leases.take_slots_of_cells(
        tx, round_, new_pairs["cell_id"].to_numpy(np.int64), new_pairs["person_id"].to_numpy(np.int64)
    )


def _is_unassigned(tx: Tx, round_: Round) -> bool:
    """Whether answers bring their own work: nothing was dealt in the round, or only what files had brought."""
    if round_.options.calibrates:
        return False
    if not is_planned(tx):
        return round_.counts and not has_saved_options(tx, Assign)
    if lease_minutes(tx, round_) is not None:
        return False
    return round_.name in settings.of_stage(tx, FROM_FILES) or not assignments.n_by_status(tx, round_)


def _add_missing_assignments(tx: Tx, rows: pd.DataFrame, round_: Round) -> None:
    new_rows = rows[["cell_id", "person_id"]].drop_duplicates().assign(status=Status.OPEN.value)
    existing_pairs = assignments.assignments(tx, round_).set_index(["cell_id", "person_id"]).index
    new_rows = new_rows[~new_rows.set_index(["cell_id", "person_id"]).index.isin(existing_pairs)]
    last_positions = new_rows["person_id"].map(assignments.last_positions(tx, round_, new_rows["person_id"].tolist()))
    last_positions = last_positions.fillna(0).astype("int64")
    new_rows["position"] = last_positions + new_rows.groupby("person_id").cumcount() + 1
    assignments.add_assignments(tx, new_rows, round_)


def compare_answers(tx: Tx, incoming: ImportedAnswers, round_: Round, *, supersede: bool) -> None:
    """Add `is_new` to each row, and a finding where another answer is there that it may not supersede.

    Where an answer comes from belongs to it. A person's answer takes the place of an equal simulated one unasked, as it
    overrides nobody; the reverse is an answer that differs.
    """
    rows = incoming.rows
    current_answers = judgements.current_codes(tx, round_).set_index("assignment_id")
    is_answered = rows["assignment_id"].isin(current_answers.index).to_numpy()
    differs = is_answered & differing_rows(rows, current_answers)
    was_simulated = (rows["assignment_id"].map(current_answers["origin"]) == Origin.SIMULATED.value).to_numpy()
    is_simulated = (rows["origin"] == Origin.SIMULATED.value).to_numpy()
    is_made_up = is_answered & ~differs & ~was_simulated & is_simulated
    if not supersede:
        pairs, unit = list(zip(rows["person"], rows["pair"], strict=True)), incoming.of.number
        messages = (f"{name} has already answered {unit} {pair} differently; {SUPERSEDE}" for name, pair in pairs)
        cause = f"these {unit}s already have different answers; {SUPERSEDE}"
        incoming.add_findings(differs & ~incoming.has_finding, messages, cause=cause)
        clause = "already, but the answers in the file are simulated"
        made_up_messages = (f"{one} has answered {unit} {at} {clause}; {SUPERSEDE}" for one, at in pairs)
        incoming.add_findings(
            is_made_up & ~incoming.has_finding,
            made_up_messages,
            cause=f"these {unit}s have been answered {clause}; {SUPERSEDE}",
        )
    is_new = ~is_answered | differs | (is_answered & (was_simulated != is_simulated))
    if supersede and round_.checks:  # the same word about a label that has changed is a new verdict
        is_about_current_label = rows["assignment_id"].isin(judgements.current_verdicts(tx)["assignment_id"])
        is_new |= (~is_about_current_label & (rows["code"] != NO_CODE)).to_numpy()
    incoming.rows = rows.assign(is_new=is_new)


def differing_rows(rows: pd.DataFrame, current_answers: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each row says something else than `current_answers`, where there is one; shape `(n_rows,)`."""
    differs = np.zeros(len(rows), np.bool_)
    for name in {"code", "own_code", "answer_id"} & set(rows.columns):
        old_codes = rows["assignment_id"].map(current_answers[name].astype("Int64")).fillna(NO_CODE).to_numpy()
        differs |= old_codes != rows[name].fillna(NO_CODE).to_numpy()
    return differs


def save_answers(tx: Tx, answers: pd.DataFrame, origin: Origin, run_id: int) -> None:
    """Add a run's judgements (`assignment_id`, `code` or `answer_id`, -1 for a skip, `note`, ...) and note that their
    work is done.
    """
    if answers.empty:
        return
    answer_column = _answer_column(answers)
    is_skipped = answers[answer_column] == NO_CODE
    extra_columns = [name for name in ("own_code", "adjudication_id", "seconds", "at") if name in answers.columns]
    rows = answers[["assignment_id", "note", *extra_columns]].assign(skipped=is_skipped, run_id=run_id)
    rows[answer_column] = answers[answer_column].astype("Int64").mask(is_skipped)
    lapsed_ids = assignments.released_ids(tx, answers["assignment_id"][~is_skipped].tolist())
    judgements.add_judgements(tx, rows, origin)
    for assignment_id in lapsed_ids:  # now, so that whoever took a slot over and answers in the same file keeps it
        vacant_slots.reclaim_skipped(tx, assignment_id)

"""Who may be given which pair, in a round of any kind, and who passed the pilot that a round asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.errors import StageError
from fcpair.params import grid_names
from fcpair.records import Known, Round
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import PLAN, GridContext, find_grid
from fcpair.store import Tx, adjudications, optouts, people
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.assignment.open_slots import Candidate
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import settings

MAX_PAIRS_BY_ID = 100  # pairs: while people answer, one is asked about, and all texts need not be read for it


def ineligibility_matrix(
    tx: Tx,
    cell_id: Ints,
    candidates: Sequence[Candidate],
    round_: Round,
    *,
    first_assignment: bool = False,
    on_request: bool = False,
) -> Bools:
    """Mark who may not get which pair in a round, shape `(n_slots, n_people)`.

    Before the `first_assignment` nobody has anything in it, and what people opted out of is assigned, and then taken
    back. Who asks for work (`on_request`) is offered nothing that they have had in the round, but for what they lost
    before they answered.
    """
    pairs, row = np.unique(cell_id, return_inverse=True)
    matrix = np.zeros((len(pairs), len(candidates)), np.bool_)
    column_by_person = {entry.id: column_index for column_index, entry in enumerate(candidates)}
    pair_ids, person_ids = pairs.tolist(), list(column_by_person)
    related_rounds: list[Round] = []  # in which nobody may have a pair who gets it in this one
    for other in rounds.of_grid(tx):
        is_about = (
            (later.checks is not None and earlier.options.calibrates)
            or later.checks == earlier.id
            or (later.options.rests_on == earlier.name and later.options.excludes_earlier_answerers)
            for later, earlier in ((other, round_), (round_, other))
        )
        if other.id == round_.id or any(is_about):
            # who has qualified on a pair has been told what is right there
            related_rounds += [other, *rounds.of_known_pairs(tx, other, Known.QUALIFICATION)]
    if first_assignment or on_request:
        related_rounds = [other for other in related_rounds if other.id != round_.id]
    for participation in (
        adjudications.involved_people(tx, pair_ids, person_ids, related_rounds),
        authorship.writers_of_cells(tx, pair_ids, person_ids),
        *(
            assignments.ever_assigned(tx, control_round, person_ids, pair_ids, answered=True)
            for control_round in rounds.of_known_pairs(tx, use=Known.CONTROLS)
        ),
    ):
        column_index = [column_by_person[person_id] for person_id in participation[:, 1].tolist()]
        matrix[np.searchsorted(pairs, participation[:, 0]), column_index] = True
    if (passed := who_passed(tx, round_)) is not None:
        matrix |= np.array([entry.id not in passed for entry in candidates], np.bool_)
    if round_.options.once_per_row and not first_assignment:
        given = assignments.ever_assigned(tx, round_, person_ids)
        rows, row_index = np.unique(cells.row_numbers(tx, np.concatenate([pairs, given[:, 0]])), return_inverse=True)
        has_row = np.zeros((len(rows), len(person_ids)), np.bool_)
        has_row[row_index[len(pairs) :], [column_by_person[person_id] for person_id in given[:, 1].tolist()]] = True
        matrix |= has_row[row_index[: len(pairs)]]
    if round_.options.author:
        name_by_id = {person.id: person.name for person in people.people(tx)}
        matrix |= authorship_matrix(tx, pair_ids, [name_by_id[candidate.id] for candidate in candidates], round_)
    for entry in candidates:
        if entry.opted_out and not first_assignment:
            pairs_asked = pair_ids if len(pairs) <= MAX_PAIRS_BY_ID else None
            opted_out_pairs = optouts.pairs_about(tx, entry.opted_out, pairs_asked)
            matrix[:, column_by_person[entry.id]] |= np.isin(pairs, opted_out_pairs)
    return matrix[row]


def authorship_matrix(tx: Tx, cell_ids: list[int], names: Sequence[str], round_: Round) -> Bools:
    """Return whether each of these cells has a row that the person of each name made, shape `(n_cells, n_names)`."""
    authors_by_cell = authorship.authors_of_rows(tx, cell_ids, round_.options.author)
    folded_names = [authorship.fold_name(name) for name in names]
    is_author = [[name in authors_by_cell.get(id_, ()) for name in folded_names] for id_ in cell_ids]
    return np.array(is_author, np.bool_).reshape(len(cell_ids), len(names))


def _results_by_person(tx: Tx, round_: Round) -> dict[int, dict[str, int]]:
    """Results of everybody who wrote in the pilot that a round asks for, by id; none where it asks for none.

    A text is good where more of its definite judgements are positive than not.
    """
    if not round_.options.passed:
        return {}
    with grids.on_grid(tx, find_grid(tx, round_.options.passed).id):
        judging_round = rounds.primary(tx)
        question = closed_question(form_of(judging_round.form))
        if question is None:
            raise StageError(
                f"round `{judging_round.name}` of grid `{round_.options.passed}` asks no closed question, so nobody "
                "can pass there"
            )
        weight_by_code = {code: 1 if code in question.positive else -1 for code in question.definite}
        votes = dict[int, int]()
        labels = judgements.label_arrays(tx, "hs_id", "code", of=judging_round)
        for text_id, code in zip(labels["hs_id"].tolist(), labels["code"].tolist(), strict=True):
            votes[text_id] = votes.get(text_id, 0) + weight_by_code.get(code, 0)
        names = grid_names(settings.of_stage(tx, PLAN)["rows"]["answers"])
    texts_by_writer: dict[int, list[int]] = {}
    for pilot in names:
        with grids.on_grid(tx, find_grid(tx, pilot).id):
            for person_id, texts in authorship.texts_by_writer(tx, rounds.primary(tx)).items():
                texts_by_writer.setdefault(person_id, []).extend(texts)
    results = {}
    for person_id, texts in texts_by_writer.items():
        text_votes = [votes[text] for text in texts if text in votes]
        n_good = sum(vote > 0 for vote in text_votes)
        passed = n_good >= (round_.options.pass_at or 0)
        results[person_id] = {"good": n_good, "judged": len(text_votes), "wrote": len(texts), "passed": passed}
    return results


class Pilot(NamedTuple):
    """Pilot that a round asks for: the grid that judges it, and how many texts of a person must be good there."""

    round: str
    judged_in: str
    pass_at: int


def list_pilots(grid: GridContext) -> list[Pilot]:
    """List the pilots that rounds of a grid ask for."""
    with grid._store.read() as tx:
        all_rounds = rounds.answer_rounds(tx)
    return [
        Pilot(round_.name, round_.options.passed, round_.options.pass_at or 0)
        for round_ in all_rounds
        if round_.options.passed
    ]


def pilot_results(grid: GridContext, round: str | None = None) -> list[dict[str, Any]]:
    """Results of everybody in the pilot of a round: `name`, `good` texts, `judged`, `wrote`, `passed`.

    Raises UnknownIdError for no such round, StageError where it asks for no pilot, or nobody has written in it yet.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        if not round_.options.passed:
            raise StageError(f"round `{round_.name}` asks for no pilot; name one that has `passed` with `--round`")
        names, results = {entry.id: entry.name for entry in people.people(tx)}, _results_by_person(tx, round_)
        rows: list[dict[str, Any]] = [{"name": names[id_], **result} for id_, result in results.items()]
    if not rows:
        raise StageError(f"nobody has written in the pilot of round `{round_.name}` yet")
    return sorted(rows, key=lambda entry: entry["name"])


def who_passed(tx: Tx, round_: Round) -> set[int] | None:
    """Those who passed the pilot of a round; None where it asks for none."""
    results = _results_by_person(tx, round_)
    return {id_ for id_, result in results.items() if result["passed"]} if round_.options.passed else None

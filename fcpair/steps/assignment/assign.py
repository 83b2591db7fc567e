"""Dealing pairs to annotators, and more labels while people are at work, also to those who joined late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import read_pair_list
from fcpair.files.tables.tabular import Source
from fcpair.lazy import pd
from fcpair.models.encode import Progress
from fcpair.param_values import as_params, whole_number
from fcpair.params import Assign, ShardOrder, check_distinct_spelling
from fcpair.records import Role, RunRecord, Status
from fcpair.sentences import join, say, say_number
from fcpair.stages.assignment.assign import assign_pairs, check_overlap, overlap_counts, shard_order
from fcpair.stages.assignment.rounds import add_labels, hand_over_slots, n_labels_missing, order_by_batch
from fcpair.steps.assignment import leases
from fcpair.steps.assignment.chosen_cells import (
    Choose,
    Chosen,
    choose_listed,
    choose_pairs,
    save_first_options,
)
from fcpair.steps.assignment.further import ask_further
from fcpair.steps.assignment.rounds import carry_answers, counted_cells, deal
from fcpair.steps.base import context
from fcpair.steps.base.context import Basis, GridContext, MovedError
from fcpair.steps.base.keywords import by_recipe, own, takes_params
from fcpair.steps.people import eligibility, known_pairs, reassignment
from fcpair.steps.people.people import ensure_active, expected_names
from fcpair.steps.people.reassignment import Handover
from fcpair.store import Tx, adjudications, people
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids
from fcpair.work_records import ExtraLabels


@takes_params
def assign(
    grid: GridContext,
    options: Assign | None = None,
    *,
    redo: bool = False,
    more: bool = False,
    pairs: Sequence[int] | None = None,
    cells: Source | Sequence[int] | None = None,
    batch: int | None = None,
    expected: int | None = None,
    annotators: int | None = own(None),
    overlap: Mapping[int, float] = own({}),
    annotator_groups: Sequence[Sequence[str]] = own(()),
    order: ShardOrder = own("random"),
    seed: int = own(0),
    open: bool = own(False),
    lease_minutes: int = own(30),
    progress: Progress | None = None,
) -> RunRecord:
    """Assign the grid in overlapping shards, or further labels with `more` (`assign_more`), also one for each of
    `pairs`.

    Or assign `cells` alone, which nobody was given: a file or a frame with a column `pair`, such as that of
    `find_pairs`, or numbers; in their order, and in batches of `batch` cells, in each of which the shares of the
    overlap hold. What was assigned stays.

    `expected` is how many labels `more` adds, where somebody has seen that (`plan_more_labels`). In open assignment
    (`options.open`, or with `more` where the study has it), whoever asks is given pairs instead. Without options, as
    the recipe says. `progress` is told how many pairs are assigned. Raises ConflictError where pairs or people changed
    while the shards were worked out.
    """
    if pairs is not None and not more:
        raise InputError("`pairs` are for more labels once the grid is assigned; give `more=True` as well")
    options = options or by_recipe(grid, Assign, more=more)
    if cells is not None:
        if more or redo:
            raise InputError("`cells` are what nobody was given yet; omit `more` and `redo`")
        return _assign_chosen(grid, replace(options, annotator_groups=()), cells, batch)
    if batch is not None:
        raise InputError("`batch` is for `cells`, which are assigned in batches; give both, or omit it")
    with grid._store.read() as tx:
        is_open = context.options_as_done(tx, Assign).open or options.open
    if more:
        choose = None if pairs is None else choose_pairs(pairs)
        return (leases.open_more_slots if is_open else assign_more)(grid, options, choose, expected)
    if options.open:
        return leases.open_assignment(grid, options, redo=redo)

    with grid._store.read() as tx:
        context.check_building(tx, "assign", redo=redo)
        basis = Basis(tx, lambda tx: _load_inputs(tx, options))
    names, grid_pairs = basis.inputs
    hs, cn = grid_pairs["hs_id"].to_numpy(), grid_pairs["cn_id"].to_numpy()
    index_by_name = {name: i for i, name in enumerate(names)}
    if unknown_names := [name for group in options.annotator_groups for name in group if name not in index_by_name]:
        check_distinct_spelling(unknown_names, index_by_name)
        raise InputError(
            f"`{unknown_names[0]}` in a group is not an active annotator; active annotators are "
            f"{', '.join(index_by_name)}"
        )
    groups = [tuple(index_by_name[name] for name in group) for group in options.annotator_groups]
    shards = assign_pairs(hs, cn, len(names), options.overlap, groups, seed=options.seed, progress=progress)
    positions = shard_order(shards.annotator, hs[shards.pair], options.seed, options.order)
    loads = np.bincount(shards.annotator, minlength=len(names))
    by_labels = overlap_counts(len(grid_pairs), options.overlap)
    counts = {
        "annotators": len(names),
        "assignments": len(shards.pair),
        "load_min": int(loads.min()),
        "load_max": int(loads.max()),
        "pairs_by_labels": {str(n): n_pairs for n, n_pairs in by_labels.items() if n_pairs},
    }
    with grid._store.write() as tx:
        basis.check_unmoved(tx)
        context.begin_building(tx, "assign", redo=redo)
        ids = np.array([annotator.id for annotator in ensure_active(tx, Role.ANNOTATOR, options.annotators)])
        deal(tx, rounds.primary(tx), grid_pairs["cell_id"].to_numpy(), ids, shards, positions, options.seed)
        by_row = options.order == "hs"
        counts |= known_pairs.assign_known_pairs(tx, rounds.primary(tx), strict=True, by_row=by_row)
        run = context.note_run(tx, options.stage, as_params(options), counts)
        context.save_options(tx, replace(options, annotators=len(names)), run)
        return carry_answers(tx, rounds.primary(tx), run)


def _assign_chosen(grid: GridContext, options: Assign, chosen: Source | Sequence[int], batch: int | None) -> RunRecord:
    """Assign the cells of a list, in shards or open to whoever asks."""
    if batch is not None and batch < 1:
        raise InputError(f"batch is {batch}; expected 1 or more")
    if isinstance(chosen, str | Path | pd.DataFrame):
        place, numbers, lines = read_pair_list(chosen)
    else:
        place, lines = "the list", [*range(1, len(chosen) + 1)]
        numbers = [whole_number("pair", number) for number in chosen]
        if not numbers:
            raise InputError("no pair is named; name at least one")
    choose = choose_listed(place, numbers, lines, options, batch)
    with grid._store.write() as tx:
        context.need_corpus(tx, Assign.stage)
        ensure_active(tx, Role.ANNOTATOR, options.annotators)
        if context.options_as_done(tx, Assign).open or options.open:
            return leases.open_chosen_slots(tx, options, choose(tx))
        return assign_more_at_once(tx, options, choose)


def _load_inputs(tx: Tx, options: Assign) -> tuple[list[str], pd.DataFrame]:
    """The names of those to assign to, and the pairs to assign, less those that have answers of a calibration."""
    counted, grid_pairs = counted_cells(tx, rounds.primary(tx)), cells.cells(tx)
    to_assign = grid_pairs[~grid_pairs["cell_id"].isin(counted)].reset_index(drop=True)
    return expected_names(tx, Role.ANNOTATOR, options.annotators), to_assign


def plan_more_labels(
    grid: GridContext, options: Assign | None = None, *, pairs: Sequence[int] | None = None
) -> ExtraLabels:
    """Work out what `assign` would add with `more`, without groups, and do nothing; raises what that does."""
    options = replace(options or by_recipe(grid, Assign, more=True), annotator_groups=())
    choose = None if pairs is None else choose_pairs(pairs)
    with grid._store.read() as tx:
        if context.options_as_done(tx, Assign).open or options.open:
            return leases.plan_more_slots(tx, options, choose)
        _, given, counts = _make_plan(_load_state(tx, options, choose), options)
        names = {person.id: person.name for person in people.people(tx)}
        is_new, numbers = given["replaces"].isna(), grids.to_public_number(given["cell_id"])
    n_new, n_moved = (Counter(names[person_id] for person_id in given["person_id"][rows]) for rows in (is_new, ~is_new))
    return ExtraLabels(
        by_pair=dict(sorted(Counter(numbers[is_new].tolist()).items())),
        by_person={name: (n_new[name], n_moved[name]) for name in names.values() if n_new[name] or n_moved[name]},
        n_unmet=counts["not_possible"],
        n_decided=counts.get("decided", 0),
    )


MAX_TRIES = 2  # while others go on; after that they wait


@dataclass(frozen=True)
class _AssignmentState:
    """Assignments of the active annotators: `crew`, `(n_pairs, n_people)`, says who has which pair.

    `asked` are the labels of each pair that were assigned to begin with, `settled` the pairs that a person has decided;
    `loads` what each has done and has open; those in `late`, by index, joined later and count as having done what
    others did on average. `open_` is open: `id`, `position`, and by index `row` and `holder`. Where `wanted` is not
    None, so many labels more are wanted of each pair, `(n_pairs,)`, and nothing else.
    """

    pairs: pd.DataFrame
    asked: Ints
    settled: Bools
    people: Ints
    crew: Bools
    barred: Bools
    loads: Ints
    late: Ints
    open_: pd.DataFrame
    chosen: Chosen | None = None


_Plan = tuple[list[dict[str, Any]], "pd.DataFrame", dict[str, int]]
"""Plan of what to write: slots that find new hands, shards in their order, and what is counted of it."""


def assign_more(grid: GridContext, options: Assign, choose: Choose | None, expected: int | None) -> RunRecord:
    """Deal pairs that nobody was given, raise the overlap where it is given, and level the work with late joiners.

    Only late joiners take over open pairs of others, up to an even share; pairs that a person has decided get no
    further labels. Where some are chosen, these get as many labels more as are wanted, and nothing else is done. Raises
    StageError where nothing has been assigned yet, there is nothing to assign, or nobody to assign it to.
    """
    if options.annotator_groups:
        raise InputError.say(
            "groups are for the first assignment; `--more` assigns pairs to everybody who may take them"
        )
    for _ in range(MAX_TRIES):
        with grid._store.read() as tx:
            basis = Basis(tx, lambda tx: _load_state(tx, options, choose))
        plan = _make_plan(basis.inputs, options)
        with suppress(MovedError), grid._store.write() as tx:
            basis.check_unmoved(tx)
            return _write_plan(tx, plan, options, basis.inputs[0].chosen, expected)
    with grid._store.write() as tx:  # people answer faster than this is worked out: once, they wait
        return assign_more_at_once(tx, options, choose, expected)


def assign_more_at_once(tx: Tx, options: Assign, choose: Choose | None, expected: int | None = None) -> RunRecord:
    """Do what `assign_more` does in a transaction that is under way."""
    state, handover = _load_state(tx, options, choose)
    return _write_plan(tx, _make_plan((state, handover), options), options, state.chosen, expected)


def _load_state(tx: Tx, options: Assign, choose: Choose | None) -> tuple[_AssignmentState, Handover]:
    """State of the assignments, once slots have found the new hands that are foreseen, and these.

    Those have no number yet: `id` is that of the slot that they fill, negative.
    """
    context.need_corpus(tx, Assign.stage)
    chosen = None if choose is None else choose(tx)
    if not (chosen and chosen.in_order) and assignments.first_assigned(tx, rounds.primary(tx)).empty:
        raise StageError.say("nothing has been assigned yet; run `fcpair assign`")
    annotators = open_slots.candidates(tx, Role.ANNOTATOR)
    if not annotators:
        raise StageError.say("no annotator is left; `fcpair people add NAME --role annotator` adds somebody")
    expected_names(tx, Role.ANNOTATOR, options.annotators)
    handover = Handover([], 0, []) if chosen is not None else reassignment.plan_handover(tx, options.seed)
    grid_pairs, ids, round_ = cells.cells(tx), np.array([annotator.id for annotator in annotators]), rounds.primary(tx)
    initial_assignments = assignments.first_assigned(tx, round_)
    existing = assignments.assignments(tx, round_)[["id", "cell_id", "person_id", "position", "status"]]
    new_rows = (row for row in handover.rows if row["round_id"] == round_.id)
    handed_over = [{**row, "id": -row["replaces"], "status": Status.OPEN.value} for row in new_rows]
    foreseen = pd.DataFrame(handed_over, columns=existing.columns).astype(existing.dtypes)
    work: pd.DataFrame = pd.concat([existing, foreseen], ignore_index=True)
    work = work[~work["status"].isin(assignments.RELEASED) & work["person_id"].isin(ids)]
    by_id = np.argsort(ids)  # people are in the order of their names
    row = np.searchsorted(grid_pairs["cell_id"], work["cell_id"])
    holder = by_id[np.searchsorted(ids, work["person_id"], sorter=by_id)]
    crew = np.zeros((len(grid_pairs), len(ids)), np.bool_)
    crew[row, holder] = True
    n_done = np.bincount(holder[work["status"] == Status.DONE.value], minlength=len(ids))
    is_late = ~np.isin(ids, initial_assignments["person_id"])
    mean_done = int(n_done[~is_late].mean()) if not is_late.all() else 0
    initial_rows = np.searchsorted(grid_pairs["cell_id"], initial_assignments["cell_id"])
    state = _AssignmentState(
        pairs=grid_pairs,
        asked=np.bincount(initial_rows, minlength=len(grid_pairs)),
        settled=grid_pairs["cell_id"].isin(adjudications.pairs_decided_by_hand(tx)).to_numpy(),
        people=ids,
        crew=crew,
        barred=eligibility.ineligibility_matrix(tx, grid_pairs["cell_id"].to_numpy(), annotators, round_) | crew,
        loads=crew.sum(axis=0) + np.where(is_late, np.maximum(mean_done - n_done, 0), 0),
        late=np.flatnonzero(is_late),
        open_=work.assign(row=row, holder=holder)[work["status"] == Status.OPEN.value],
        chosen=chosen,
    )
    return state, handover


def _make_plan(inputs: tuple[_AssignmentState, Handover], options: Assign) -> _Plan:
    state, handover = inputs
    pairs, chosen, batch = state.pairs, state.chosen, np.zeros(len(state.pairs), np.int64)
    if chosen is None:
        check_overlap(len(state.people), overlap_counts(len(pairs), options.overlap))
        sides = pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy()
        n_more = n_labels_missing(*sides, state.asked, state.settled, options.overlap or None, options.seed)
    else:
        check_overlap(len(state.people), Counter(chosen.n.tolist()))
        n_more, listed = np.zeros_like(batch), np.searchsorted(pairs["cell_id"], chosen.cell_id)
        n_more[listed], batch[listed] = np.where(state.settled[listed], 0, chosen.n), chosen.batch
    is_new, place = np.zeros_like(state.crew), None
    for number in np.unique(batch[n_more > 0]):  # each is as even as what came before allows
        crew = state.crew | is_new
        shared, loads = crew.astype(np.int64).T @ crew, state.loads + is_new.sum(axis=0)
        n_own, barred = np.where(batch == number, n_more, 0), state.barred | is_new
        is_new |= add_labels(n_own, crew, barred, shared, loads, options.seed)
    person, row = np.nonzero(is_new.T)
    new_rows = pairs.iloc[row][["cell_id", "hs_id"]].assign(person=person)
    moved_rows = new_rows.head(0)
    if chosen is None:  # late joiners take over open assignments of others
        row, holder, position = (state.open_[name].to_numpy() for name in ("row", "holder", "position"))
        may_take, loads = ~(state.barred | is_new)[row], state.loads + is_new.sum(axis=0)
        taker = hand_over_slots(row, holder, position, may_take, loads, state.late)
        open_rows = pairs.iloc[row][["cell_id", "hs_id"]].assign(person=taker, replaces=state.open_["id"].to_numpy())
        moved_rows = open_rows[taker >= 0]
    n_missing = int(n_more.sum() - is_new.sum()) + handover.vacant
    if new_rows.empty and moved_rows.empty and not handover.rows:
        raise StageError(_nothing_to_assign_message(n_missing, state))
    counts = {"annotators": len(state.people), "new": len(new_rows), "moved": len(moved_rows)}
    counts |= {"reassigned": len(handover.rows), "not_possible": n_missing}
    if chosen is not None:
        counts |= {"decided": int(state.settled[listed].sum())}
    # both in one order, `position` counted from 1 for each person
    given: pd.DataFrame = pd.concat([new_rows, moved_rows], ignore_index=True)
    person = given["person"].to_numpy(int)
    if chosen is not None and chosen.in_order:
        place = pd.Index(chosen.cell_id).get_indexer(pd.Index(given["cell_id"]))
    positions = shard_order(person, given["hs_id"].to_numpy(int), options.seed, options.order, place)
    at = np.searchsorted(pairs["cell_id"], given["cell_id"])
    positions = order_by_batch(person, batch[at], positions)
    given = given.assign(person_id=state.people[person], position=positions, status=Status.OPEN.value)
    given["replaces"] = given.get("replaces", pd.Series()).astype("Int64")
    return handover.rows, given[["cell_id", "person_id", "position", "status", "replaces"]], counts


def _write_plan(tx: Tx, plan: _Plan, options: Assign, chosen: Chosen | None, expected: int | None) -> RunRecord:
    refilled_rows, given, counts = plan
    leases.check_expected(counts["new"], expected)
    open_slots.fill_slots(tx, refilled_rows)
    replaced_ids = given["replaces"].dropna().tolist()
    successor_ids = open_slots.successors(tx, [-id_ for id_ in replaced_ids if id_ < 0])
    given["replaces"] = given["replaces"].replace({-slot: id_ for slot, id_ in successor_ids.items()})
    assignments.set_status(tx, given["replaces"].dropna().tolist(), Status.WITHDRAWN)
    given["because"] = given["replaces"].map(open_slots.reasons(tx, given["replaces"].dropna().tolist()))
    seen_round = rounds.with_known_pairs(tx, rounds.primary(tx))
    last_positions = assignments.last_positions(tx, seen_round, given["person_id"].unique().tolist())
    given["position"] += given["person_id"].map(last_positions).fillna(0).astype("int64")  # behind what they have
    assignments.add_assignments(tx, given, rounds.primary(tx))
    reassignment.merge_doubled_controls(tx)
    further_counts = ask_further(tx) if chosen is None else {}  # of whom some have come since
    known_counts = known_pairs.assign_known_pairs(tx, rounds.primary(tx))
    by_labels = {str(n): count for n, count in assignments.labels_per_pair(tx).items()}
    overlap = {str(n_labels): share for n_labels, share in options.overlap.items()}
    what = {"overlap": overlap} if chosen is None else chosen.params
    params = {"more": True, **what, "order": options.order, "seed": options.seed}
    all_counts = {**counts, **further_counts, **known_counts, "pairs_by_labels": by_labels}
    run = context.note_run(tx, Assign.stage, params, all_counts)
    if options.overlap and chosen is None:
        context.save_options(tx, options, run, only={"overlap"})
    save_first_options(tx, options, chosen, run)
    return run


def _nothing_to_assign_message(n_unmet: int, state: _AssignmentState) -> str:
    if n_unmet:
        return say_number(
            "nobody may give the %(n)s label that is missing; `fcpair people add NAME --role annotator` adds somebody "
            "who can",
            "nobody may give the %(n)s labels that are missing; `fcpair people add NAME --role annotator` adds "
            "somebody who can",
            n_unmet,
        )
    is_chosen = True if state.chosen is None else state.pairs["cell_id"].isin(state.chosen.cell_id)
    n_settled = int((state.settled & is_chosen).sum())
    nothing = say("there is nothing to assign")
    if state.chosen is None:
        nothing = say(
            "there is nothing to assign: every pair already has as many annotators as requested, and everybody has "
            "their share; `--overlap 2:SHARE` asks for more labels"
        )
    decided = say_number(
        "the %(n)s pair that somebody has decided gets no further labels",
        "the %(n)s pairs that somebody has decided get no further labels",
        n_settled,
    )
    return join((nothing, decided), "; ") if n_settled else nothing

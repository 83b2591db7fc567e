"""Known pairs of a grid (qualification, control pairs): setting and assigning them, and what people got right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import Finding, InputError, StageError, reject
from fcpair.files.answers.answer_files import read_known_pairs
from fcpair.known_pairs import PARAMS, Controls, KnownOptions, KnownPair, Qualification
from fcpair.params import Assign
from fcpair.records import Known, Round, RunRecord, Status
from fcpair.stages.assignment.rounds import merge_controls, n_controls
from fcpair.stages.stats.intervals import wilson_intervals
from fcpair.steps.base.answer_values import add_round, closed_question, form_of
from fcpair.steps.base.calibration_state import is_closed
from fcpair.steps.base.context import GridContext, StudyContext, note_stage_run, options_as_done
from fcpair.steps.base.keywords import REQUIRED, takes_params
from fcpair.steps.base.text_digests import digester, load_text_ids
from fcpair.steps.people import eligibility
from fcpair.store import Tx, people
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids, sides
from fcpair.store.oversight import build_progress, settings

KNOWN_PAIRS = "known_pairs"  # the settings that hold the pairs, by their use
NOWHERE = -1  # the id of no text


@takes_params
def save_qualification(
    grid: GridContext,
    options: Qualification = REQUIRED,
    *,
    file: str | Path = REQUIRED,
    pass_mark: float = 0.75,
    known_pairs: int | None = None,
    seed: int = 0,
) -> RunRecord:
    """Set the known pairs that everybody answers before their shard, which `assign` gives to those who have them not in
    it.

    Raises:
        InputError: all that is wrong with the table, such as a pair that is not in the grid, has two answers or is a
            control; more `pairs` than it has.
        StageError: the grid has no pairs yet, they have been assigned, or its round is not one for known pairs.
    """
    return _save(grid, options)


@takes_params
def save_controls(
    grid: GridContext, options: Controls = REQUIRED, *, file: str | Path = REQUIRED, rate: float = 0.05, seed: int = 0
) -> RunRecord:
    """Set the known pairs that `assign` puts among the others of each shard; raises what `save_qualification` does."""
    return _save(grid, options)


def _save(grid: GridContext, options: KnownOptions) -> RunRecord:
    with grid._store.write() as tx:
        n_built, round_ = build_progress.n_built(tx), rounds.primary(tx)
        if not n_built["pair"]:
            raise StageError("the grid has no pairs yet; run `fcpair pair`, then set those that are known")
        if n_built["assign"]:  # a calibration may come before or after
            raise StageError(
                "pairs have been assigned already, and known pairs are set before that; `fcpair pair --redo` takes the "
                "assignment back as long as nobody has answered"
            )
        question, design = closed_question(form_of(round_.form)), round_.options
        differs = design.shows_whole_rows or design.rests_on or design.batch or design.once_per_row
        if question is None or differs or design.models or design.keeps_sources_together:
            raise StageError(
                f"round `{round_.name}` cannot have known pairs; they are for rounds in which people answer one closed "
                "question on one pair after the other, without batches, an earlier round or one pair of each row"
            )
        explained = isinstance(options, Qualification)
        items, lines = read_known_pairs(options.file, [choice.name for choice in question], explained=explained)
        digest = digester(tx)

        def ids_by_mention(axis: sides.Axis) -> dict[str, int]:
            """The texts of a side by what a table may call them: their digest, or an id, that of files first."""
            drawn = set(sides.text_ids(tx, axis, drawn=True))
            bodies = [(text_id, body) for text_id, body in sides.bodies(tx, axis) if text_id in drawn]
            text_ids = load_text_ids(tx)[sides.CORPUS[cells.AXES.index(axis)]]
            own = {word: min(ids) for word, ids in text_ids.own.items() if len(ids) == 1 and drawn >= {*ids}}
            numbers = {str(text_id): text_id for text_id, _ in bodies}
            by_id = numbers | own if text_ids.numbering() == "own" else own | numbers
            return by_id | {digest(body): text_id for text_id, body in bodies}

        def find_id(ids: Mapping[str, int], mention: str) -> int:
            return ids.get(digest(mention), ids.get(mention, NOWHERE))

        row_ids, column_ids = map(ids_by_mention, cells.AXES)
        only_column = next(iter(column_ids.values())) if len(set(column_ids.values())) == 1 else NOWHERE
        pairs = [
            (find_id(row_ids, item.row), find_id(column_ids, item.column) if item.column else only_column)
            for item in items
        ]
        known_pairs = [[*pair, item.answer, item.explanation] for pair, item in zip(pairs, items, strict=True)]
        place, first_lines, findings = str(options.file), dict[tuple[int, int], int](), list[Finding]()
        (other_use,) = set(Known) - {Known(options.stage)}
        in_grid = assignments.known_cell_ids(tx, pairs)
        used_otherwise = {pair[:2] for pair in known_pairs_of(tx, other_use)}
        for pair, line in zip(pairs, lines, strict=True):
            if pair not in in_grid:
                findings.append(Finding(place, line, "this pair is not in the grid, so nobody can be asked it"))
            elif (first := first_lines.setdefault(pair, line)) != line:
                findings.append(Finding(place, line, f"this pair has a known answer in line {first} already"))
            elif pair in used_otherwise:
                other = f"this pair is among those of [{other_use}] already; use each for one"
                findings.append(Finding(place, line, other))
        reject(options.file, findings)
        if isinstance(options, Qualification) and (options.known_pairs or 0) > len(known_pairs):
            raise InputError(
                f"`known_pairs` is {options.known_pairs:,}, but {options.file} has {len(known_pairs):,} pairs; lower "
                "it, or add known pairs"
            )
        run = note_stage_run(tx, options, {"pairs": len(known_pairs)})
        settings.save_settings(tx, KNOWN_PAIRS, {options.stage: known_pairs}, run.id)
        return run


def known_pairs_of(tx: Tx, use: Known) -> list[KnownPair]:
    """The known pairs of the grid for a use; empty where none were set."""
    return [KnownPair(*saved) for saved in settings.of_stage(tx, KNOWN_PAIRS).get(use, [])]


def has_control_pairs(study: StudyContext) -> bool:
    """Return whether any grid of the study has control pairs, of which consent says that there are some."""
    with study._store.read() as tx:
        return any(known_pairs_of(tx, Known.CONTROLS) for _ in grids.for_each_grid(tx))


def has_known_pairs(tx: Tx) -> bool:
    """Return whether the grid has known pairs for any use."""
    return any(known_pairs_of(tx, use) for use in Known)


LET_ON = "let_on"  # those whom a lead has let on: the setting with their ids, and in the log


class Standing(StrEnum):
    """Standing of a person in a qualification: `waits` is below the pass mark, until the lead decides."""

    OPEN = "open"
    PASSED = "passed"
    WAITS = "waits"
    LET_ON = "let on"


QUALIFIED = (Standing.PASSED, Standing.LET_ON)  # who stands so begins the rest


class KnownScore(NamedTuple):
    """Answers of one person to known pairs: of `assigned` they have `answered` some, and got some `right`."""

    assigned: int
    answered: int
    skipped: int
    right: int

    @property
    def is_done(self) -> bool:
        """Return whether nothing is open any more; false where nothing was assigned."""
        return 0 < self.assigned == self.answered + self.skipped

    def reaches(self, pass_mark: float) -> bool:
        """Return whether enough of the answers are right; a skip is no answer, and alone passes nobody."""
        return self.answered > 0 and self.right >= pass_mark * self.answered - 1e-9


def known_codes(tx: Tx, known_round: Round) -> dict[tuple[int, int], int]:
    """The code of the right answer to each known pair of a round, by its texts."""
    codes = {choice.name: choice.code for choice in closed_question(form_of(known_round.form)) or ()}
    return {pair[:2]: codes[pair.answer] for pair in known_pairs_of(tx, Known(known_round.options.known))}


def _score(answers: list[assignments.KnownAnswer], codes: Mapping[tuple[int, int], int]) -> KnownScore:
    pairs = ((answer.code, codes.get((answer.row_id, answer.column_id))) for answer in answers)
    n_right = sum(code is not None and code == right for code, right in pairs)
    n_done, n_skipped = (sum(each.status == status for each in answers) for status in (Status.DONE, Status.SKIPPED))
    return KnownScore(len(answers), n_done, n_skipped, n_right)


def score_of(tx: Tx, known_round: Round, person_id: int) -> KnownScore:
    """Score of one person in a round of known pairs of the grid."""
    return _score(assignments.known_answers(tx, known_round, person_id), known_codes(tx, known_round))


def standing_of(tx: Tx, qualification: Round, person_id: int) -> Standing:
    """Standing of a person in a qualification, in whatever grid."""
    with grids.on_grid(tx, qualification.grid_id):
        return _standing(tx, person_id, score_of(tx, qualification, person_id))


def may_begin(tx: Tx, qualification: Round, person_id: int) -> bool:
    """Return whether somebody may begin what they had to qualify for."""
    return standing_of(tx, qualification, person_id) in QUALIFIED


def is_over(tx: Tx, qualification: Round, person_id: int) -> bool:
    """Return whether somebody has answered or skipped all of a qualification, and so may have read what was right."""
    with grids.on_grid(tx, qualification.grid_id):
        return score_of(tx, qualification, person_id).is_done


def is_closed_to(tx: Tx, round_: Round, person_id: int) -> bool:
    """Return whether a round takes no answers from somebody: a qualification that is over, or what `is_closed`."""
    if round_.options.known == Known.QUALIFICATION:
        return is_over(tx, round_, person_id)
    return is_closed(tx, round_)


def standings(tx: Tx, qualification: Round) -> dict[int, Standing]:
    """Standing of everybody who has something in a qualification of the grid, by person."""
    codes, answers_by_person = known_codes(tx, qualification), _answers_by_person(tx, qualification)
    return {id_: _standing(tx, id_, _score(answers, codes)) for id_, answers in answers_by_person.items()}


def _answers_by_person(tx: Tx, known_round: Round) -> dict[int, list[assignments.KnownAnswer]]:
    by_person = defaultdict[int, list[assignments.KnownAnswer]](list)
    for answer in assignments.known_answers(tx, known_round):
        by_person[answer.person_id].append(answer)
    return by_person


def _standing(tx: Tx, person_id: int, score: KnownScore) -> Standing:
    if person_id in settings.of_stage(tx, KNOWN_PAIRS).get(LET_ON, ()):
        return Standing.LET_ON
    if not score.is_done:
        return Standing.OPEN
    pass_mark = options_as_done(tx, PARAMS[Known.QUALIFICATION]).pass_mark
    return Standing.PASSED if score.reaches(pass_mark) else Standing.WAITS


def known_scores(grid: GridContext) -> list[dict[str, Any]]:
    """Everybody's right answers to known pairs of a grid, by use and in the order in which people came.

    Keys: `name`, `retired`, `use` (qualification, controls), `assigned`, `answered`, `skipped`, `right`, `share` of the
    answers (or None), `low` and `high` (Wilson's interval at 95 %), and `standing` in a qualification, else empty.
    """
    with grid._store.read() as tx:
        return list(scores(tx))


def scores(tx: Tx) -> Iterator[dict[str, Any]]:
    """Yield what `known_scores` lists of the grid that the transaction is about."""
    for known_round in rounds.of_known_pairs(tx):
        codes, answers_by_person = known_codes(tx, known_round), _answers_by_person(tx, known_round)
        for person in people.people(tx):
            if person.id in answers_by_person:
                score, use = _score(answers_by_person[person.id], codes), known_round.options.known
                share: dict[str, float | None] = dict.fromkeys(("share", "low", "high"))
                if score.answered:
                    low, high = wilson_intervals(score.right, score.answered)
                    share = {"share": score.right / score.answered, "low": float(low), "high": float(high)}
                standing = str(_standing(tx, person.id, score)) if use == Known.QUALIFICATION else ""
                about = {"name": person.name, "retired": person.retired, "use": use}
                yield {**about, **score._asdict(), **share, "standing": standing}


Share = tuple[int, int, Ints]
"""Known pairs for one person, by id: how many more they are to have, and the cells that they can have."""


def assign_known_pairs(tx: Tx, round_: Round, *, strict: bool = False, by_row: bool | None = None) -> dict[str, int]:
    """Give everybody the known pairs, none of their shard, that they should have in a round; returns how many, by use.

    Control pairs come row after row where the round does (`by_row`). Where somebody cannot have enough they get what
    there is; raises InputError if `strict`.
    """
    if not round_.counts or not has_known_pairs(tx):
        return {}
    loads, counts = assignments.n_active_by_person(tx, round_), dict[str, int]()
    if by_row is None:
        by_row = options_as_done(tx, Assign).order == "hs"
    for use in Known if loads else ():
        if known_pairs_of(tx, use):
            # nobody can call a round so
            if not any(earlier.options.known == use for earlier in rounds.of_known_pairs(tx, round_)):
                options = replace(round_.options, known=str(use), known_for=round_.name)
                add_round(tx, round_.grid_id, f"known:{use}", round_.role, form_of(round_.form), options=options)
            known_round = next(earlier for earlier in rounds.of_known_pairs(tx, round_) if earlier.options.known == use)
            shares = _shares(tx, round_, known_round, loads, strict=strict)
            counts[str(use)] = sum(_give(tx, round_, known_round, share, by_row=by_row) for share in shares)
    return counts


def replace_skipped(tx: Tx, qualification: Round, n_skipped: Mapping[int, int]) -> int:
    """Replace known pairs that people have skipped, which neither helps nor costs them; returns how many."""
    round_ = rounds.by_name(tx, qualification.options.known_for)
    candidates = [candidate for candidate in open_slots.candidates(tx, round_.role) if candidate.id in n_skipped]
    free_cells = _free_cells(tx, round_, Known.QUALIFICATION, candidates)
    return sum(
        _give(tx, round_, qualification, (candidate.id, n_skipped[candidate.id], cells), by_row=False)
        for candidate, cells in zip(candidates, free_cells, strict=True)
    )


def assign_everywhere(tx: Tx) -> dict[str, int]:
    """Do so in every grid, as when somebody has come or taken work over."""
    counts = Counter[str]()
    for _ in grids.for_each_grid(tx):
        if has_known_pairs(tx):
            counts.update(assign_known_pairs(tx, rounds.primary(tx)))
    return {name: n for name, n in counts.items() if n}


def _shares(tx: Tx, round_: Round, known_round: Round, loads: dict[int, int], *, strict: bool) -> list[Share]:
    use = Known(known_round.options.known)
    options, n_given = options_as_done(tx, PARAMS[use]), assignments.n_active_by_person(tx, known_round)
    candidates = open_slots.candidates(tx, round_.role)
    free_cells = _free_cells(tx, round_, use, candidates)
    if use is Known.CONTROLS:
        wanted = {candidate.id: n_controls(loads.get(candidate.id, 0), options.rate) for candidate in candidates}
    else:
        n_each = options.known_pairs or max(n_given.values(), default=0) or min(map(len, free_cells), default=0)
        standing_by_person = standings(tx, known_round)
        is_over = (standing_by_person.get(candidate.id, Standing.OPEN) is not Standing.OPEN for candidate in candidates)
        wanted = {candidate.id: 0 if over else n_each for candidate, over in zip(candidates, is_over, strict=True)}
    shares = [
        (candidate.id, max(wanted[candidate.id] - n_given.get(candidate.id, 0), 0), cells)
        for candidate, cells in zip(candidates, free_cells, strict=True)
    ]
    names = {person.id: person.name for person in people.people(tx)}
    for person_id, n, own_cells in shares if strict else ():
        n_left = len(own_cells)
        if use is Known.CONTROLS and n > n_left:
            raise InputError(
                f"a rate of {options.rate:g} asks for {n:,} control pairs in the shard of `{names[person_id]}`, for "
                f"whom {n_left:,} known pairs are left; add known pairs, or lower `rate`"
            )
        if use is Known.QUALIFICATION and n > n_left:
            raise InputError(
                f"`{names[person_id]}` is to qualify on {n:,} pairs, but only {n_left:,} known pairs are neither "
                "in their shard nor in a calibration; add known pairs, or lower `pairs`"
            )
        if use is Known.QUALIFICATION and not n:
            raise InputError(
                "somebody has every known pair in their shard, so nobody can qualify on the same number of pairs; add "
                "known pairs"
            )
    return shares


def _free_cells(tx: Tx, round_: Round, use: Known, candidates: Sequence[open_slots.Candidate]) -> list[Ints]:
    located = assignments.known_cell_ids(tx, [pair[:2] for pair in known_pairs_of(tx, use)])
    cell_ids = np.array(sorted(located.values()), np.int64)
    barred = eligibility.ineligibility_matrix(tx, cell_ids, candidates, round_)
    person_ids = [candidate.id for candidate in candidates]
    for earlier_round in (*rounds.of_known_pairs(tx, round_), *rounds.calibration_rounds(tx)):
        given = assignments.ever_assigned(tx, earlier_round, person_ids)
        given = given[np.isin(given[:, 0], cell_ids)]
        columns = [person_ids.index(person_id) for person_id in given[:, 1].tolist()]
        barred[np.searchsorted(cell_ids, given[:, 0]), columns] = True
    return [cell_ids[~barred[:, column]] for column in range(len(candidates))]


def _give(tx: Tx, round_: Round, known_round: Round, share: Share, *, by_row: bool) -> int:
    person_id, wanted, free_cells = share
    n = min(wanted, len(free_cells))
    if not n:
        return 0
    use = Known(known_round.options.known)
    seed = options_as_done(tx, PARAMS[use]).seed
    rng = np.random.default_rng([seed, list(Known).index(use), person_id, len(free_cells)])
    chosen = rng.choice(free_cells, n, replace=False).tolist()
    if use is Known.CONTROLS:  # places are made among what they have open
        places = assignments.open_places(tx, rounds.with_known_pairs(tx, round_), person_id)
        located = cells.cell_arrays(tx, chosen)
        row_by_cell = dict(zip(located["cell_id"].tolist(), located["hs_id"].tolist(), strict=True))
        control_rows = [row_by_cell[cell] for cell in chosen]
        order = merge_controls([place.row_id for place in places], control_rows, rng, by_row=by_row)
        first = min((place.position for place in places), default=1)
        position_by_index = {index: first + at for at, index in enumerate(order)}
        assignments.set_positions(tx, {place.id: position_by_index[index] for index, place in enumerate(places)})
        positions = [position_by_index[len(places) + at] for at in range(n)]
    else:
        last = assignments.last_positions(tx, known_round, [person_id]).get(person_id, 0)
        positions = [last + at for at in range(1, n + 1)]
    given = {"person_id": person_id, "round_id": known_round.id, "replaces": None}
    rows = [{"cell_id": cell, "position": at, **given} for cell, at in zip(chosen, positions, strict=True)]
    open_slots.fill_slots(tx, rows)
    return n

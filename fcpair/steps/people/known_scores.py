"""Scores on known pairs: what people got right, and whether they may begin their shard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from fcpair.records import Known, Round, Status
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.calibration_state import is_closed
from fcpair.steps.base.context import GridContext
from fcpair.steps.people.known_pairs import KNOWN_PAIRS, known_options, known_pairs_of
from fcpair.store import Tx
from fcpair.store.assignment import known_work, rounds
from fcpair.store.assignment.known_work import KnownAnswer
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.store.people import people

LET_ON = "let_on"  # those whom a lead has let on: the setting with their ids, and in the log


class Standing(StrEnum):
    """Where somebody stands in a qualification: `waits` is below the pass mark, until the lead decides."""

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
        """Whether nothing is open any more; false where nothing was assigned."""
        return 0 < self.assigned == self.answered + self.skipped

    def reaches(self, pass_mark: float) -> bool:
        """Whether enough of the answers are right; a skip, which needs no reason, is none, and alone passes nobody."""
        return self.answered > 0 and self.right >= pass_mark * self.answered - 1e-9


def known_codes(tx: Tx, known_round: Round) -> dict[tuple[int, int], int]:
    """The code of the right answer to each known pair of a round, by its texts."""
    question = closed_question(form_of(known_round.form))
    codes = {choice.name: choice.code for choice in question or ()}
    pairs = known_pairs_of(tx, Known(known_round.options.known))
    return {pair[:2]: codes[pair.answer] for pair in pairs}


def _score(answers: list[KnownAnswer], codes: Mapping[tuple[int, int], int]) -> KnownScore:
    n_right = sum(one.code is not None and one.code == codes.get((one.row_id, one.column_id)) for one in answers)
    n_skipped = sum(one.status == Status.SKIPPED for one in answers)
    return KnownScore(len(answers), sum(one.status == Status.DONE for one in answers), n_skipped, n_right)


def score_of(tx: Tx, known_round: Round, person_id: int) -> KnownScore:
    """What one person got right in a round of known pairs of the grid."""
    return _score(known_work.answers(tx, known_round, person_id), known_codes(tx, known_round))


def standing_of(tx: Tx, qualification: Round, person_id: int) -> Standing:
    """Where somebody stands in a qualification, in whatever grid."""
    with grids.on_grid(tx, qualification.grid_id):
        return _standing(tx, person_id, score_of(tx, qualification, person_id))


def may_begin(tx: Tx, qualification: Round, person_id: int) -> bool:
    """Whether somebody may begin what they had to qualify for."""
    return standing_of(tx, qualification, person_id) in QUALIFIED


def is_over(tx: Tx, qualification: Round, person_id: int) -> bool:
    """Whether somebody has answered or skipped all of a qualification, and so may have read what was right."""
    with grids.on_grid(tx, qualification.grid_id):
        return score_of(tx, qualification, person_id).is_done


def is_closed_to(tx: Tx, round_: Round, person_id: int) -> bool:
    """Whether a round of the grid takes no answers from somebody: a qualification that is over, or what `is_closed`."""
    if round_.options.known == Known.QUALIFICATION:
        return is_over(tx, round_, person_id)
    return is_closed(tx, round_)


def standings(tx: Tx, qualification: Round) -> dict[int, Standing]:
    """Where everybody stands who has something in a qualification of the grid, by person."""
    codes = known_codes(tx, qualification)
    return {
        person_id: _standing(tx, person_id, _score(answers, codes))
        for person_id, answers in _answers_by_person(tx, qualification).items()
    }


def _answers_by_person(tx: Tx, known_round: Round) -> dict[int, list[KnownAnswer]]:
    answers_by_person: dict[int, list[KnownAnswer]] = {}
    for one in known_work.answers(tx, known_round):
        answers_by_person.setdefault(one.person_id, []).append(one)
    return answers_by_person


def _standing(tx: Tx, person_id: int, score: KnownScore) -> Standing:
    if person_id in settings.of_stage(tx, KNOWN_PAIRS).get(LET_ON, ()):
        return Standing.LET_ON
    if not score.is_done:
        return Standing.OPEN
    passed = score.reaches(known_options(tx, Known.QUALIFICATION).pass_mark)
    return Standing.PASSED if passed else Standing.WAITS


def known_scores(grid: GridContext) -> list[dict[str, Any]]:
    """Everybody's right answers to known pairs of a grid, by use and in the order in which people came.

    Keys: `name`, `retired`, `use` (qualification, controls), `assigned`, `answered`, `skipped`, `right`, `share` of the
    answers (None where there is none), `low` and `high` (Wilson's interval at 95 %), and `standing` in a qualification:
    open, passed, waits or let on; empty for controls.
    """
    with grid._store.read() as tx:
        return list(scores(tx))


def scores(tx: Tx) -> Iterator[dict[str, Any]]:
    """Yield what `known_scores` lists of the grid that the transaction is about."""
    for known_round in rounds.of_known_pairs(tx):
        codes, answers_by_person = known_codes(tx, known_round), _answers_by_person(tx, known_round)
        for person in people.people(tx):
            if person.id in answers_by_person:
                score = _score(answers_by_person[person.id], codes)
                standing = (
                    str(_standing(tx, person.id, score)) if known_round.options.known == Known.QUALIFICATION else ""
                )
                yield {
                    "name": person.name,
                    "retired": person.retired,
                    "use": known_round.options.known,
                    **score._asdict(),
                    **_share(score),
                    "standing": standing,
                }


def _share(score: KnownScore) -> dict[str, float | None]:
    """The share of right answers, with Wilson's interval."""
    from fcpair.stages.stats.intervals import wilson_intervals

    if not score.answered:
        return dict.fromkeys(("share", "low", "high"))
    low, high = wilson_intervals(score.right, score.answered)
    return {"share": score.right / score.answered, "low": float(low), "high": float(high)}

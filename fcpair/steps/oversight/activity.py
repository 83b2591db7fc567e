"""Figures of a grid that pages and the report show: activity of people, what they answered, decisions and tiers.

Times count only where somebody answered online: answers from files carry the time of their import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.params import Partition
from fcpair.records import UNDECIDED, Origin, Person, Role, Round, Rule, Status, Verdict
from fcpair.report.data import DecisionsPart, PeopleFigures, PersonFigures, TierFigures
from fcpair.stages.adjudication.partition import best_first, tier_rules, tier_table_rows
from fcpair.stages.assignment import pace
from fcpair.stages.assignment.pace import TimeEstimate, start_of_day
from fcpair.stages.questions import NO_CODE, AnyOf, Closed
from fcpair.stages.questions.labels import VERDICT, tier_obstacle
from fcpair.steps.answers.answer_tables import export_answers
from fcpair.steps.base.answer_values import MOST_CHOICES, form_of
from fcpair.steps.base.context import GridContext, scheme_of
from fcpair.steps.release.partition import heads_of
from fcpair.steps.rules import rule_decisions, tallies
from fcpair.steps.rules.tallies import Tally, split_unanimous
from fcpair.steps.rules.tier_evidence import LabelArrays, graded_pairs
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.answers.activity_log import Decision
from fcpair.store.answers.answer_arrays import NO_ANSWER, AnswerArrays, Ints
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import grids
from fcpair.store.people import people


@dataclass(frozen=True)
class PersonActivity:
    """Progress of one person in one stage; adjudicators share one queue, so they have nothing open of their own."""

    name: str
    role: Role
    retired: bool
    done: int
    open: int
    skipped: int
    withdrawn: int
    n_today: int
    outlook: TimeEstimate


@dataclass(frozen=True)
class StageActivity:
    """Progress of one stage, by the round's `name` or `adjudicate`, and the `role` of those who do the work.

    `vacant` pairs wait for somebody to take them, `free` ones of those open go to whoever asks, and `not_due` verdicts
    wait for labels, as `unchecked` decided pairs, assigned or not, do for verdicts. In `adjudicate`, `done` pairs are
    decided by a person, `again` of the open ones need a second look, `by_policy` ones wait for a policy. `per_day` and
    `end_at` are as if anybody could take any pair; `last_end` and `longest_left_s` are of whoever is last, if known.
    """

    name: str
    role: Role
    done: int
    open: int
    vacant: int
    people: tuple[PersonActivity, ...]
    per_day: float
    end_at: float | None
    last_end: float | None
    longest_left_s: float | None
    again: int = 0
    by_policy: int = 0
    not_due: int = 0
    free: int = 0
    unchecked: int = 0


@dataclass(frozen=True)
class TooFastAnswer:
    """An answer that came after `seconds`, though the text of its column takes `least_s` seconds at the least."""

    name: str
    cell_id: int
    seconds: float
    least_s: float
    at: str


@dataclass(frozen=True)
class AnswerSpeed:
    """Of `n_timed` first answers of a person whose time is known, `n_too_fast` came sooner than can be read."""

    name: str
    n_timed: int
    n_too_fast: int


@dataclass(frozen=True)
class SpeedFigures:
    """Answers too fast to be read: how many each person gave, and the newest of them."""

    people: tuple[AnswerSpeed, ...]
    newest: tuple[TooFastAnswer, ...]


@dataclass
class _ActTimes:
    """Times at which one person acted in one stage; those in `new` were about a pair for the first time."""

    times: list[float] = field(default_factory=list)
    together: list[Hashable | None] = field(default_factory=list)  # what acts share that came at once
    new: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)  # less skips: these take on the person, and not the stage


Acts = tuple[list[Person], AnswerArrays, list[Decision]]
"""Everybody, all answers and all decisions by people in a study."""


class Clock:
    """The present, by a time that knows its zone, and when this day began where the server is: POSIX times."""

    def __init__(self, now: datetime) -> None:
        self.now, self.midnight = now.timestamp(), start_of_day(now).timestamp()


def round_activity(
    tx: Tx, round_: Round, counts_by_person: Mapping[int, Mapping[str, int]], acts_of_study: Acts, clock: Clock
) -> StageActivity:
    """Measure the progress of a round; `counts_by_person` has each person's assignments there by status."""
    everybody, answers, _ = acts_of_study
    online = answers.where(np.isin(answers.round_id, round_.ids) & answers.is_from(Origin.ONLINE))
    acts, is_first = dict[int, _ActTimes](), online.is_first()
    keys = {hs_id: round_.screen_key(hs_id) for hs_id in np.unique(online.hs_id).tolist()}
    for person_id in np.unique(online.person_id).tolist():
        is_own = online.person_id == person_id
        times, new = online.time[is_own], is_first[is_own]
        together: list[Hashable | None] = [keys[hs_id] for hs_id in online.hs_id[is_own].tolist()]
        gains = times[new & ~online.skipped[is_own]]
        acts[person_id] = _ActTimes(times.tolist(), together, times[new].tolist(), gains.tolist())
    people = tuple(
        _person_activity(entry, counts_by_person.get(entry.id, {}), acts.get(entry.id, _ActTimes()), clock)
        for entry in everybody
        if entry.role is round_.role or entry.id in counts_by_person
    )
    vacant, n_free = len(open_slots.find_vacant(tx, round_)), open_slots.n_free(tx, round_)
    done, n_open = sum(entry.done for entry in people), sum(entry.open for entry in people)
    stage = _stage_activity((round_.name, round_.role), (done, n_open + n_free, vacant), people, acts, clock)
    return replace(stage, free=n_free)


def adjudication_activity(tx: Tx, pairs: tallies.PairCounts, acts_of_study: Acts, clock: Clock) -> StageActivity:
    """Measure the progress of adjudication by people in a grid; decisions that need a second look do not count."""
    everybody, _, decisions = acts_of_study
    cell_span, n_again = grids.cell_range(tx), len(rule_decisions.stale_decisions(tx))
    n_decided_by_person = tallies.n_decided_by_person(tx)
    acts, seen_ids = dict[int, _ActTimes](), set[int]()
    for entry in decisions:
        if entry.rule == Rule.PERSON and cell_span.has(entry.cell_id):
            own, time = acts.setdefault(entry.person_id, _ActTimes()), datetime.fromisoformat(entry.at).timestamp()
            own.times.append(time)
            own.together.append(None)
            new = [] if entry.cell_id in seen_ids else [time]
            own.new += new
            own.gains += new
            seen_ids.add(entry.cell_id)
    n_done = {person.id: {Status.DONE.value: n_decided_by_person[person.id]} for person in everybody}
    people = tuple(
        _person_activity(person, n_done[person.id], acts.get(person.id, _ActTimes()), clock)
        for person in everybody
        if person.role is Role.ADJUDICATOR or person.id in acts
    )
    counts = n_decided_by_person.total(), pairs.wait_for_person + n_again, 0
    stage = _stage_activity(("adjudicate", Role.ADJUDICATOR), counts, people, acts, clock)
    return replace(stage, again=n_again, by_policy=pairs.wait_for_policy)


def _stage_activity(
    name_and_role: tuple[str, Role],
    counts: tuple[int, int, int],
    people: tuple[PersonActivity, ...],
    acts: dict[int, _ActTimes],
    clock: Clock,
) -> StageActivity:
    n_per_day = pace.answers_per_day(sorted(at for person_acts in acts.values() for at in person_acts.gains), clock.now)
    outlooks, ends_at = [person.outlook for person in people], pace.end_time(counts[1], n_per_day, clock.now)
    return StageActivity(
        *name_and_role, *counts, people, n_per_day, ends_at, pace.last_end(outlooks), pace.longest_left(outlooks)
    )


def _person_activity(person: Person, counts: Mapping[str, int], acts: _ActTimes, clock: Clock) -> PersonActivity:
    by_status: dict[str, Any] = {status.value: counts.get(status.value, 0) for status in Status}
    times = pace.spread_batch_times(zip(acts.times, acts.together, strict=True))
    return PersonActivity(
        name=person.name,
        role=person.role,
        retired=person.retired,
        **by_status,
        n_today=sum(at >= clock.midnight for at in acts.times),
        outlook=pace.estimate_time(by_status["open"], times, acts.new, clock.now),
    )


def exposures(acts_of_study: Acts, clock: Clock) -> list[tuple[Person, pace.Exposure]]:
    """Measure what each person has read to answer and to decide; answers of simulated people are left out."""
    everybody, answers, decisions = acts_of_study
    is_read, is_online = ~answers.is_from(Origin.SIMULATED), answers.is_from(Origin.ONLINE)
    acts: dict[int, list[Decision]] = {entry.id: [] for entry in everybody}
    for act in decisions:
        acts[act.person_id].append(act)
    measured = []
    for entry in everybody:  # one after the other: as Python's numbers, all answers together would take much memory
        is_own = is_read & (answers.person_id == entry.id)
        cell_ids = {*np.unique(answers.cell_id[is_own]).tolist(), *(act.cell_id for act in acts[entry.id])}
        hs_ids = {*np.unique(answers.hs_id[is_own]).tolist(), *(act.hs_id for act in acts[entry.id])}
        times = answers.time[is_own & is_online].tolist()
        own_acts = (act for act in acts[entry.id] if act.rule != Rule.IMPORTED)
        times += [datetime.fromisoformat(act.at).timestamp() for act in own_acts]
        measured.append((entry, pace.measure_exposure(len(cell_ids), len(hs_ids), sorted(times), clock.midnight)))
    return measured


def answer_speeds(
    everybody: Sequence[Person], answers: AnswerArrays, is_meant: NDArray[np.bool_], bodies: Mapping[int, str]
) -> SpeedFigures:
    """Count how often each person answered sooner than the column's text can be read, and list the newest such answers.

    Skips and changed answers do not count.
    """
    least_s = {cn_id: pace.least_reading_s(pace.n_words(body)) for cn_id, body in bodies.items()}
    names = {entry.id: entry.name for entry in everybody}
    is_timed = is_meant & ~np.isnan(answers.seconds) & ~answers.skipped & answers.is_first()
    cn_ids, text = np.unique(answers.cn_id[is_timed], return_inverse=True)
    is_fast = is_timed.copy()
    is_fast[is_timed] = answers.seconds[is_timed] < np.array([least_s[cn_id] for cn_id in cn_ids.tolist()])[text]
    fast = answers.where(is_fast)
    columns = (fast.person_id, fast.cell_id, fast.cn_id, fast.seconds, fast.at)
    too_fast_answers = [
        TooFastAnswer(names[person_id], grids.to_public_number(cell_id), seconds, least_s[cn_id], at.decode())
        for person_id, cell_id, cn_id, seconds, at in zip(*(column.tolist() for column in columns), strict=True)
    ]
    n_timed, n_fast = (Counter(ids.tolist()) for ids in (answers.person_id[is_timed], fast.person_id))
    speeds = [AnswerSpeed(entry.name, n_timed[entry.id], n_fast[entry.id]) for entry in everybody if n_timed[entry.id]]
    return SpeedFigures(tuple(speeds), tuple(too_fast_answers[::-1]))


@dataclass(frozen=True)
class PersonShares:
    """Counts of one person's current answers to a question, by its choices, and the time that a cell took them."""

    name: str
    retired: bool
    n_answers: int
    answers: tuple[int, ...]
    skipped: int
    notes: int
    median_s: float | None
    n_timed: int


@dataclass(frozen=True)
class QuestionShares:
    """Everybody's answers to one `question` of a `round`; without choices where a text is written."""

    round: str
    question: str
    choices: tuple[str, ...]
    people: tuple[PersonShares, ...]


def question_shares(grid: GridContext) -> tuple[QuestionShares, ...]:
    """The answers to every question that somebody has answered, in the order of the rounds and questions of a grid."""
    with grid._store.read() as tx:
        # The questions of a round are those of all its parts, blind or not.
        forms = {
            round_.name: dict(chain.from_iterable(form_of(rounds.form(tx, id_)).questions for id_ in round_.ids))
            for round_ in rounds.of_grid(tx)
        }
        everybody = people(tx)
    shares = []
    for round_, questions in forms.items():
        table = export_answers(grid, round_)
        for name, question in questions.items():
            if not (table[name] != "").any():
                continue
            choices = question.names if isinstance(question, AnyOf) else ()
            if isinstance(question, Closed) and len(question.choices) <= MOST_CHOICES:
                choices = tuple(choice.name for choice in question)
            persons = []
            for person in everybody:
                rows = table[table["by"] == person.name]
                if rows.empty:
                    continue
                answers, seconds = rows[name][rows[name] != ""], rows["seconds"].dropna().astype(float)
                # An answer may hold several choices; the name of a choice may hold what else splits them.
                chosen = ([answer] if answer in choices else answer.split("; ") for answer in answers)
                n_by_choice = Counter(chain.from_iterable(chosen))
                counts = tuple(n_by_choice[choice] for choice in choices)
                n_skipped, n_notes = int(rows["skipped"].sum()), int((rows["note"] != "").sum())
                speed = float(seconds.median()) if len(seconds) else None, len(seconds)
                facts = person.name, person.retired, len(answers), counts, n_skipped, n_notes
                persons.append(PersonShares(*facts, *speed))
            shares.append(QuestionShares(round_, name, choices, tuple(persons)))
    return tuple(shares)


def decision_figures(tx: Tx, rules: Partition, tally: Tally, labels: LabelArrays) -> DecisionsPart:
    """Decisions in a grid of labels, by its `tally`, and its tiers where it has any `labels` (GRADED)."""
    question, tiers = scheme_of(tx), None
    no_tiers = tier_obstacle(question)
    if len(labels["cell_id"]) and not no_tiers:
        own_rules = tier_rules(rules)
        pairs = graded_pairs(tx, question, own_rules, labels)
        verdict = pairs["verdict"]
        tiers = TierFigures(
            diamond=rules.diamond,
            rules=tuple((rule.tier, str(rule)) for rule in best_first(own_rules)),
            tables=tier_table_rows(pairs, question, own_rules, heads_of(tx)),
            n_labelled=len(verdict),
            n_final=int((pairs["final"] >= 0).sum()),
            n_verdicts=int((verdict >= 0).sum()),
            n_valid=int((verdict == Verdict.AGREE).sum()),
        )
    return DecisionsPart(
        question=question,
        rules_used=split_unanimous(tx, {rule: n for rule, n in tally.by_rule.items() if rule not in UNDECIDED}),
        n_need_person=tally.pairs.wait_for_person,
        tiers=tiers,
        no_tiers=no_tiers,
    )


def people_figures(
    tx: Tx, role: Role, round_: Round, question: Closed | None, counts: assignments.Counts
) -> tuple[PersonFigures, ...]:
    """Everybody in a role, and whoever else has had work in its round; answers are counted if there is a `question`."""
    columns = ("person_id", "code", "seconds", "has_note")
    answers, by_person = judgements.current_answers(tx, round_, *columns, in_order=False), counts.get(round_.name, {})
    figures = []
    for person in people(tx):
        if person.role is not role and person.id not in by_person:
            continue
        own, own_counts = answers[answers["person_id"] == person.id], by_person.get(person.id, {})
        by_status: dict[str, Any] = {status.value: own_counts.get(status.value, 0) for status in Status}
        seconds = own["seconds"].dropna()
        figures.append(
            PersonFigures(
                name=person.name,
                role=person.role,
                retired=person.retired,
                assigned=sum(own_counts.values()),
                **by_status,
                answers=tuple(int((own["code"] == choice.code).sum()) for choice in question or ()),
                median_s=float(seconds.median()) if len(seconds) else None,
                n_timed=len(seconds),
                notes=int(own["has_note"].sum()),
            )
        )
    return tuple(figures)


def current_labels(tx: Tx, answers: AnswerArrays) -> dict[str, Ints]:
    """The labels that count in a grid, in any order: `cell_id`, `hs_id`, `cn_id`, `person_id`, `code`."""
    round_ids, codes_by_id = rounds.primary(tx).ids, rounds.codes_by_id(tx)
    code_of = np.full(max(codes_by_id, default=NO_ANSWER) + 1, NO_CODE, np.int64)
    code_of[list(codes_by_id)] = list(codes_by_id.values())
    is_label = answers.current & ~answers.skipped & np.isin(answers.round_id, round_ids)
    columns = {name: getattr(answers, name)[is_label] for name in ("cell_id", "hs_id", "cn_id", "person_id")}
    return columns | {"code": code_of[answers.answer_id[is_label]]}


def load_people(tx: Tx) -> PeopleFigures:
    """Load the activity of annotators and validators."""
    counts, question = assignments.counts_of_grid(tx), scheme_of(tx)
    return PeopleFigures(
        question,
        people_figures(tx, Role.ANNOTATOR, rounds.primary(tx), question, counts),
        people_figures(tx, Role.VALIDATOR, rounds.validation(tx), VERDICT, counts),
    )

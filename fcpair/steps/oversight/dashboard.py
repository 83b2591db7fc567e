"""Figures for the study's lead while the study is under way: read in read transactions, so that nobody is held up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import UnknownIdError, suggest_name
from fcpair.pair_filter import LAYER, NO_METADATA, MapPart, PairFilter, check_name
from fcpair.params import Agree, Partition
from fcpair.records import TIERS, Figure, Person, Role, Round, Verdict
from fcpair.report.data import DecisionsPart, PeopleFigures
from fcpair.report.map_file import CellAnswers, CellMap, CellStandings, Size, build_layers, count_answers, measure_side
from fcpair.sentences import mark
from fcpair.stages.adjudication.adjudicate import Tally as LabelTally
from fcpair.stages.adjudication.adjudicate import combine_verdicts
from fcpair.stages.adjudication.partition import Evidence, best_of_four, is_member, memberships, tier_rules
from fcpair.stages.assignment.pace import PAUSE_S, Exposure
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.form import part_codes
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.stages.stats.agreement import Agreement, PartAgreements, compute_alpha
from fcpair.steps.adjudication import agreement
from fcpair.steps.adjudication.agreement import DisputedTexts
from fcpair.steps.adjudication.discussion import Flag, load_flags
from fcpair.steps.base.answer_values import MOST_CHOICES, form_of
from fcpair.steps.base.context import GridContext, effective_options, labels_of, scheme_of
from fcpair.steps.base.figure_cache import Kept, Marks
from fcpair.steps.oversight import activity
from fcpair.steps.oversight.next_steps import NextStep, has_decisions, next_steps
from fcpair.steps.oversight.pair_search import FoundPairs, find_neighbours, read_pairs
from fcpair.steps.oversight.status import StudyNotes, load_notes
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.tallies import Tally, simulated_note, tally
from fcpair.store import Tx, adjudications, disputes, people
from fcpair.store.answers import activity_log, judgements
from fcpair.store.answers.answer_arrays import answer_arrays, n_by_origin
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids, sides, texts
from fcpair.store.corpus.grids import cell_range
from fcpair.store.corpus.sides import Axis
from fcpair.store.oversight import pair_search

if TYPE_CHECKING:
    from fcpair.report.map_file import Layer
    from fcpair.report.page import Section


@dataclass(frozen=True)
class Headlines:
    """Headlines of a grid: all next `steps`, first things first, and answers in the `primary` round by day (UTC),
    oldest first.

    People who acted in the last ten minutes are `active`; `last_seen` has when each acted last. `roles` are those of
    all who take part, and `uninvited` counts those without a link by role.
    """

    steps: tuple[NextStep, ...]
    primary: str
    by_day: tuple[tuple[str, int], ...]
    active: tuple[str, ...]
    last_seen: Mapping[str, str]
    roles: frozenset[Role]
    uninvited: Mapping[Role, int]


Made = TypeVar("Made")


def kept(make: Callable[[Any, Tx], Made]) -> Callable[[Any], Made]:
    """Keep what a method of the monitor makes in a read transaction, under its name, until something happens."""

    @wraps(make)
    def get(monitor: Monitor) -> Made:
        return monitor._figures.get(make.__name__, lambda: monitor._read(partial(make, monitor))).made

    vars(get).pop("__wrapped__")  # whose signature has the transaction, which nobody gives
    return get


class Monitor:
    """The lead's view of a study. One object serves all requests, because it keeps what it made until things change."""

    def __init__(self, grid: GridContext) -> None:
        self._grid, self._figures = grid, grid._figures

    def _read(self, make: Callable[[Tx], Made]) -> Made:
        with self._grid._store.read() as tx:
            return make(tx)

    def _tally(self, tx: Tx) -> Tally:
        return self._figures.at(tx, "tally", tally)

    def marks(self) -> activity_log.ChangeMarks:
        """Numbers that change when anything happens in the study."""
        return self._read(activity_log.change_marks)

    @kept
    def alpha(self, tx: Tx) -> Figure | None:
        """The alpha of `agreement`, without the rest of it."""
        labels, options = activity.current_labels(tx, answer_arrays(tx)), effective_options(tx, Agree, {})
        if not len(labels["cell_id"]):
            return None
        if judgements.n_further(tx):
            labels = judgements.label_arrays(tx, *labels, further=options.further)
        ids_by_name = [member.id for member in sorted(people.people(tx), key=lambda person: person.name)]
        place_of = np.zeros(max(ids_by_name, default=0) + 1, np.int64)
        place_of[ids_by_name] = np.arange(len(ids_by_name))
        by_annotator = {**labels, "annotator": place_of[labels["person_id"]]}
        return compute_alpha(by_annotator, scheme_of(tx), options, agreement.sides_of(tx))

    @kept
    def agreement(self, tx: Tx) -> Agreement | None:
        """Agreement on the labels, by the grid's own options; None before there are any."""
        measured = agreement.measure_labels(tx, effective_options(tx, Agree, {}))
        return measured if measured.n_labels else None

    @kept
    def disputed_texts(self, tx: Tx) -> dict[Axis, DisputedTexts]:
        """The rows and the columns on which people disagree most."""
        return agreement.load_disputed_texts(tx)

    @kept
    def metadata_columns(self, tx: Tx) -> dict[Axis, tuple[str, ...]]:
        """The metadata columns of each side for which `blocks` may be asked."""
        return agreement.metadata_columns(tx)

    def blocks(self, axis: Axis, column: str) -> PartAgreements:
        """Agreement on the pairs with each value of one of the `metadata_columns`; raises InputError for another."""
        check_name(NO_METADATA, column, self.metadata_columns()[axis])

        def measure(tx: Tx) -> PartAgreements:
            options = replace(effective_options(tx, Agree, {}), blocks=axis, metadata=column)
            return PartAgreements(agreement.agreement_blocks(tx, rounds.primary(tx), options))

        return self._figures.get(f"blocks {axis} {column}", lambda: self._read(measure)).made

    @kept
    def decisions(self, tx: Tx) -> DecisionsPart:
        """The decisions, and the tiers that follow, by the grid's own rules."""
        rules, labels = effective_options(tx, Partition, {}), activity.current_labels(tx, answer_arrays(tx))
        return activity.decision_figures(tx, rules, self._tally(tx), labels)

    @kept
    def people(self, tx: Tx) -> PeopleFigures:
        """Labels and verdicts of each person."""
        return activity.load_people(tx)

    def may_have_surveys(self) -> bool:
        """Return whether the grid may have something that `survey_sections` shows."""
        from fcpair.steps.survey import declared_questions

        roles = (Role.RESPONDENT, Role.MODEL)
        return self._read(
            lambda tx: rounds.primary(tx).role in roles or bool(declared_questions(tx)[0]) or cells.has_comparisons(tx)
        )

    @kept
    def survey_sections(self, tx: Tx) -> list[Section]:
        """Sections with figures on the answers to a survey, on the bias of models, and on groups of people."""
        from fcpair.report.page import build_sections
        from fcpair.steps.oversight.report import asked_part

        return build_sections(asked_part(tx, self._grid.grid.name, in_words=True))

    def shares(self) -> tuple[activity.QuestionShares, ...]:
        """Answers of each person in each round of a planned grid."""
        return self._figures.get("shares", lambda: activity.question_shares(self._grid)).made

    @kept
    def size(self, tx: Tx) -> Size | None:
        """Rows, columns and cells; None before there are cells."""
        return Size(*cells.shape(tx), n_cells) if (n_cells := cells.n_cells(tx)) else None

    def layers(self, question: str = "") -> tuple[Layer, ...]:
        """The layers of the map that `load_cell_map` makes, by name and title alone: without a cell in them."""
        with self._grid._store.read() as tx:
            asked, nothing = _find_asked(tx, question), np.zeros(0, np.int64)
            standings = None
            if asked.question and asked.is_decided:
                tier = None if tier_obstacle(asked.question) else nothing
                rules = tier_rules(effective_options(tx, Partition, {}))[len(TIERS) :] if tier is not None else ()
                standings = CellStandings(nothing, nothing, tier, {rule.tier: nothing > 0 for rule in rules})
            return build_layers(count_answers(nothing, nothing, nothing, 0, asked.choices), standings)

    def cell_map(self, question: str = "") -> CellMap | None:
        """The map of the grid, as `load_cell_map` has it."""
        name = f"map {crc32(question.encode()):08x}" if question else "map"
        return self._figures.get(name, lambda: self._read(lambda tx: load_cell_map(tx, question))).made

    def find_pairs(
        self,
        wanted: PairFilter,
        part: MapPart,
        shown: Sequence[str] = (),
        sort: str = "",
        first: int = 0,
        n: int | None = None,
        pairs: Ints | None = None,
    ) -> FoundPairs:
        """The pairs that a search finds in a part of the map, or of these `pairs`; `shown` names further columns.

        These are metadata, and the layers of the map as `map.state`, by which they can be sorted too.
        """
        layers = [column for column in shown if column.startswith(LAYER)]
        more = [column for column in shown if column not in layers]
        cell_map, inside, rank = self._ways(part, sort, is_mapped=bool(layers))
        if inside is not None:
            pairs = inside if pairs is None else np.intersect1d(inside, pairs)
        found = read_pairs(self._grid, wanted, numbers=pairs, more=more, sort=sort, rank=rank, first=first, n=n)
        if not cell_map or not layers:
            return found
        numbers, records = np.array([record[0] for record in found.records], np.int64), found.records
        for column in layers:
            layer = cell_map.layer(column.removeprefix(LAYER))
            places = cell_map.classes_of(layer.name, numbers).tolist()
            records = [(*record, layer.classes[at].meaning) for record, at in zip(records, places, strict=True)]
        columns = (*found.columns, *layers)
        order = sorted(range(len(columns)), key=lambda at: shown.index(columns[at]) if columns[at] in shown else -1)
        records = [tuple(record[at] for at in order) for record in records]
        return replace(found, columns=tuple(columns[at] for at in order), records=records)

    def neighbours(
        self, number: int, wanted: PairFilter, part: MapPart, sort: str = ""
    ) -> tuple[int | None, int | None]:
        """The numbers of the pairs before and after one, of those that `find_pairs` finds; see `find_neighbours`."""
        _, inside, rank = self._ways(part, sort)
        return find_neighbours(self._grid, number, wanted, numbers=inside, sort=sort, rank=rank)

    def _ways(
        self, part: MapPart, sort: str, *, is_mapped: bool = False
    ) -> tuple[CellMap | None, Ints | None, Callable[[Ints], Ints] | None]:
        """The map, if it is needed, the pairs in a part of it, and the rank of pairs where they are sorted by it."""
        name = sort.removeprefix("-")
        is_sorted = name.startswith(LAYER)
        cell_map = self.cell_map(part.question) if is_mapped or is_sorted or not part.is_whole else None
        inside = cell_map.numbers_in(part) if cell_map and not part.is_whole else None
        rank = partial(cell_map.classes_of, name.removeprefix(LAYER)) if cell_map and is_sorted else None
        return cell_map, inside, rank

    def side_texts(self, axis: Axis, first: int = 0, n: int | None = None) -> list[str]:
        """The texts of the rows or the columns that are drawn, in order: `n` of them from place `first` on, from 0."""
        return self._read(lambda tx: sides.values(tx, axis, "body", drawn=True, first=first, n=n))

    def simulated_note(self) -> str | None:
        """A sentence that says how much of what was answered is made up; None where nothing is."""
        return self._read(lambda tx: simulated_note(n_by_origin(tx)))

    @kept
    def notes(self, tx: Tx) -> StudyNotes:
        """Notes for whoever reads a figure of the study; of its oldest grid, as `Study.status` has it."""
        return load_notes(tx, n_by_origin(tx), self._tally)

    def stages(self, now: datetime | None = None) -> tuple[activity.StageActivity, ...]:
        """Progress of each round of the grid and of adjudication, stage by stage and person by person."""
        return self._kept_for_a_minute(now, "stages", self._find_stages)

    def _kept_for_a_minute(self, now: datetime | None, name: str, make: Callable[[activity.Clock], Made]) -> Made:
        if now is not None:
            return make(activity.Clock(now))
        return self._figures.get(
            name, lambda: make(activity.Clock(datetime.now(UTC))), _minute_marks, base_marks=self._acts_marks
        ).made

    def _find_stages(self, clock: activity.Clock) -> tuple[activity.StageActivity, ...]:
        acts = self._kept_acts().made
        with self._grid._store.read() as tx:
            counts = assignments.counts_of_grid(tx)
            answering, checking = rounds.answer_rounds(tx), rounds.validation(tx)
            stages = [
                activity.round_activity(tx, round_, counts.get(round_.name, {}), acts, clock)
                for round_ in (*answering, checking)
                if round_.ids
            ]
            if checking.ids:
                stages[-1] = replace(stages[-1], not_due=disputes.n_verdicts_not_due(tx))
            if labels_of(tx) and has_decisions(tx):
                pairs = self._tally(tx).pairs
                if checking.ids:
                    stages[-1] = replace(stages[-1], unchecked=pairs.no_verdict)
                stages.insert(len(answering), activity.adjudication_activity(tx, pairs, acts, clock))
        return tuple(stages)

    def headlines(self) -> Headlines:
        """The next act in the grid, who is at work just now, and how many answers came on which day."""
        return self._figures.get("headlines", lambda: self._read(self._find_headlines), _minute_marks).made

    def _find_headlines(self, tx: Tx) -> Headlines:
        answers, everybody = answer_arrays(tx), people.people(tx)
        taking_part = [person for person in everybody if not person.retired and person.role is not Role.MODEL]
        primary, with_token, newest = rounds.primary(tx), people.ids_with_token(tx), activity_log.newest_act_times(tx)
        since = (datetime.now(UTC) - timedelta(seconds=PAUSE_S)).isoformat()
        # The current answers, skips left out, by the day (UTC) on which they were given.
        is_counted = answers.current & ~answers.skipped & np.isin(answers.round_id, primary.ids)
        days, counts = np.unique(answers.at[is_counted].astype(f"S{len('2026-01-31')}"), return_counts=True)
        return Headlines(
            steps=tuple(step for step in next_steps(tx, tally_of=self._tally) if step.n),
            primary=primary.name,
            by_day=tuple((day.decode(), n) for day, n in zip(days.tolist(), counts.tolist(), strict=True)),
            active=tuple(person.name for person in taking_part if newest.get(person.id, "") >= since),
            last_seen={person.name: newest[person.id] for person in everybody if person.id in newest},
            roles=frozenset(person.role for person in taking_part),
            uninvited=Counter(person.role for person in taking_part if person.id not in with_token),
        )

    def exposures(self, now: datetime | None = None) -> list[tuple[Person, Exposure]]:
        """Pairs that each person has read in all grids, and for how long."""
        return self._kept_for_a_minute(
            now, "exposures", lambda clock: activity.exposures(self._kept_acts().made, clock)
        )

    def speed(self) -> activity.SpeedFigures:
        """Answers that came sooner than the text of the column can be read."""
        return self._figures.get("speed", self._find_speed, base_marks=self._acts_marks).made

    def _find_speed(self) -> activity.SpeedFigures:
        everybody, answers, _ = self._kept_acts().made
        with self._grid._store.read() as tx:
            bodies, cell_span = texts.bodies(tx, grids.side_kinds(tx)[1:]), grids.cell_range(tx)
        is_in_grid = (answers.cell_id >= cell_span.first) & (answers.cell_id <= cell_span.last)
        return activity.answer_speeds(everybody, answers, is_in_grid, bodies)

    def flags(self) -> list[Flag]:
        """The decisions on which the guidelines should say more, newest first."""
        return self._read(load_flags)

    def _kept_acts(self) -> Kept[activity.Acts]:
        return self._figures.get("acts", lambda: self._read(_read_acts))

    def _acts_marks(self) -> Marks:
        return self._kept_acts().marks


def _read_acts(tx: Tx) -> activity.Acts:
    return people.people(tx), answer_arrays(tx), activity_log.decisions_by_people(tx)


def _minute_marks() -> Marks:
    return (int(datetime.now(UTC).timestamp() // 60),)


SKIPPED = -2  # in the place of a choice
NO_LABEL, FOR_PERSON, FOR_POLICY, DISCARDED, DECIDED, VALID, NOT_VALID = range(7)  # places in STATES


class _Asked(NamedTuple):
    """The question whose answers a map shows, among all `questions`: a `part` of the form of a round."""

    questions: tuple[str, ...]
    name: str
    round_: Round
    part: int
    question: Closed | None
    choices: tuple[str, ...]
    is_decided: bool


def _find_asked(tx: Tx, question: str) -> _Asked:
    questions: dict[str, tuple[Round, int, Closed | None]] = {}  # by name: round, part of its form, what can be counted
    for answered in sorted(rounds.answer_rounds(tx), key=lambda round_: not round_.counts):
        own_questions: dict[str, tuple[Round, int, Closed | None]] = {
            f"{answered.name}: {part.name}": (answered, at, part.question)
            for at, part in enumerate(form_of(answered.form).parts())
            if len(part.question.choices) <= MOST_CHOICES
        }
        questions |= own_questions or {answered.name: (answered, 0, None)}
    if question and question not in questions:
        hint = suggest_name(question, questions, mark("the questions of this grid: %(names)s"))
        raise UnknownIdError.say("there is no question `%(question)s`; %(hint)s", question=question, hint=hint)
    question = question or next(iter(questions))
    round_, part_index, asked = questions[question]
    choices = tuple(choice.name for choice in asked or ())
    is_decided = asked is not None and round_.counts and labels_of(tx) is not None
    if is_decided and round_.role is Role.RESPONDENT:  # of whose answers a policy alone decides
        is_decided = rule_decisions.policy_that_holds(tx) is not None
    return _Asked(tuple(questions), question, round_, part_index, asked, choices, is_decided)


def load_cell_map(tx: Tx, question: str = "") -> CellMap | None:
    """The map of the grid for the answers to a question, the first where none is named; None before there are cells,
    and of comparisons.
    """
    asked = _find_asked(tx, question)
    located = cells.cell_arrays(tx)
    cell_ids, places = located["cell_id"], cells.places_of(tx, located)
    if not len(cell_ids) or cells.has_comparisons(tx):  # of which a map would show little but places without a cell
        return None
    arrays = pair_search.current_answers(tx, asked.round_)
    choices = np.full(int(arrays["answer_id"].max(initial=0)) + 1, NO_CODE)  # by the id of the answer
    if asked.question is not None:
        ids = np.flatnonzero(np.bincount(arrays["answer_id"]))
        ids = ids[ids != pair_search.NO_ID]
        stored = rounds.answer_values(tx, ids.tolist())
        codes = part_codes(form_of(asked.round_.form), stored)[:, asked.part]
        choices[ids] = _choice_places(asked.question, codes)
    choices[pair_search.NO_ID] = SKIPPED
    cell = np.searchsorted(cell_ids, arrays["cell_id"])
    answers = count_answers(cell, choices[arrays["answer_id"]], arrays["time"], len(cell_ids), asked.choices)
    corpus = np.sort(cells.places_of(tx, cells.corpus_pairs(tx)))
    standings = _standings(tx, asked.question, answers, cell_ids) if asked.question and asked.is_decided else None
    shape = cells.shape(tx)
    row, column = np.divmod(places, shape[1])
    row_clusters, column_clusters = (
        [str(meta.get("cluster", "")) for meta in sides.values(tx, axis, "meta", drawn=True)] for axis, _ in sides.AXES
    )
    return CellMap(
        shape=shape,
        places=places,
        numbers=cell_ids - cell_range(tx).first,
        corpus=corpus[~np.isin(corpus, places)] if len(corpus) else corpus,
        layers=build_layers(answers, standings),
        rows=measure_side("rows", row, column, shape, answers, row_clusters),
        columns=measure_side("columns", column, row, shape[::-1], answers, column_clusters),
        choices=asked.choices,
        questions=asked.questions,
        question=asked.name,
    )


def _choice_places(question: Closed, codes: Ints) -> Ints:
    return np.where(codes == NO_CODE, NO_CODE, np.searchsorted(question.codes, codes))


def _standings(tx: Tx, question: Closed, answers: CellAnswers, cell_ids: Ints) -> CellStandings:
    decisions = adjudications.decided_codes(tx)
    stands = decisions["stands"] == 1
    decided, code = np.searchsorted(cell_ids, decisions["cell_id"][stands]), decisions["code"][stands]
    verdicts = judgements.verdict_arrays(tx)
    checked, verdict = combine_verdicts(verdicts["cell_id"], verdicts["code"])
    final, verdict_of = np.full((2, len(cell_ids)), NO_CODE)
    final[decided], verdict_of[np.searchsorted(cell_ids, checked)] = code, verdict
    n_definite = (answers.counts[:, [question.codes.index(code) for code in question.definite]] > 0).sum(axis=1)
    state = np.where(answers.n_answers == 0, NO_LABEL, np.where(n_definite == 1, FOR_POLICY, FOR_PERSON))
    state[np.searchsorted(cell_ids, decisions["cell_id"][decisions["requested"] == 1])] = FOR_PERSON
    state[decided] = np.where(code == NO_CODE, DISCARDED, DECIDED)
    state[verdict_of == Verdict.AGREE] = VALID
    state[verdict_of == Verdict.DISAGREE] = NOT_VALID
    places = _choice_places(question, final)
    if tier_obstacle(question):
        return CellStandings(state, places, None)
    rules = tier_rules(effective_options(tx, Partition, {}))
    tiers = memberships(Evidence(LabelTally(question, cell_ids, answers.counts), final, verdict_of), rules)
    own_tiers = {rule.tier: is_member(tiers, rules, rule.tier) for rule in rules[len(TIERS) :]}
    return CellStandings(state, places, best_of_four(tiers), own_tiers)

"""The map of a grid: how every cell was answered, and what became of it, question by question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import UnknownIdError, suggest_name
from fcpair.params import Partition
from fcpair.records import TIERS, Role, Round, Verdict
from fcpair.report.map_file import CellAnswers, CellMap, CellStandings, build_layers, count_answers, measure_side
from fcpair.sentences import mark
from fcpair.stages.adjudication.adjudicate import Tally as LabelTally
from fcpair.stages.adjudication.adjudicate import combine_verdicts
from fcpair.stages.adjudication.partition import Evidence, best_of_four, is_member, memberships, tier_rules
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.form import part_codes
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.base.answer_values import MOST_CHOICES, form_of
from fcpair.steps.base.context import effective_options, labels_of
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx, adjudications
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import cell_range
from fcpair.store.oversight import pair_search

SKIPPED = -2  # in the place of a choice
NO_LABEL, FOR_PERSON, FOR_POLICY, DISCARDED, DECIDED, VALID, NOT_VALID = range(7)  # places in STATES


@dataclass(frozen=True)
class MapQuestion:
    """A question whose answers a map shows: `part` of a round's form; none is `asked` where nothing can be counted."""

    name: str
    round: Round
    part: int = 0
    asked: Closed | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of the answers."""
        return tuple(choice.name for choice in self.asked or ())


def map_questions(tx: Tx) -> list[MapQuestion]:
    """The questions of the grid that a map can show, those of the round that counts first."""
    questions = []
    for round_ in sorted(rounds.answer_rounds(tx), key=lambda one: not one.counts):
        parts = [
            MapQuestion(f"{round_.name}: {part.name}", round_, at, part.question)
            for at, part in enumerate(form_of(round_.form).parts())
            if len(part.question.choices) <= MOST_CHOICES
        ]
        questions += parts or [MapQuestion(round_.name, round_)]
    return questions


def load_cell_map(tx: Tx, question: str = "") -> CellMap | None:
    """The map of the grid for the answers to a question, the first where none is named; None before there are cells."""
    questions = {one.name: one for one in map_questions(tx)}
    if question and question not in questions:
        hint = suggest_name(question, questions, mark("the questions of this grid: %(names)s"))
        raise UnknownIdError.say("there is no question `%(question)s`; %(hint)s", question=question, hint=hint)
    meant = questions[question] if question else next(iter(questions.values()))
    located = cells.cell_arrays(tx)
    cell_ids, places = located["cell_id"], cells.places_of(tx, located)
    if not len(cell_ids):
        return None
    answers = _count(tx, meant, cell_ids)
    corpus = np.sort(cells.places_of(tx, cells.corpus_pairs(tx)))
    standings, is_survey = None, meant.round.role is Role.RESPONDENT  # of which a policy alone decides
    if meant.asked and meant.round.counts and labels_of(tx) is not None:
        decides = not is_survey or rule_decisions.policy_that_holds(tx) is not None
        standings = _standings(tx, meant.asked, answers, cell_ids) if decides else None
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
        choices=meant.choices,
        questions=tuple(questions),
        question=meant.name,
    )


def _count(tx: Tx, question: MapQuestion, cell_ids: Ints) -> CellAnswers:
    arrays = pair_search.current_answers(tx, question.round)
    choices = np.full(int(arrays["answer_id"].max(initial=0)) + 1, NO_CODE)  # by the id of the answer
    if question.asked is not None:
        ids = np.flatnonzero(np.bincount(arrays["answer_id"]))
        ids = ids[ids != pair_search.NO_ID]
        stored = rounds.answer_values(tx, ids.tolist())
        codes = part_codes(form_of(question.round.form), stored)[:, question.part]
        choices[ids] = _choice_places(question.asked, codes)
    choices[pair_search.NO_ID] = SKIPPED
    cell = np.searchsorted(cell_ids, arrays["cell_id"])
    return count_answers(cell, choices[arrays["answer_id"]], arrays["time"], len(cell_ids), question.choices)


def _choice_places(question: Closed, codes: Ints) -> Ints:
    """The place of each code among the choices; -1 for none."""
    return np.where(codes == NO_CODE, NO_CODE, np.searchsorted(question.codes, codes))


def _standings(tx: Tx, question: Closed, answers: CellAnswers, cell_ids: Ints) -> CellStandings:
    """What became of each cell, its states as `tallies.tally` counts them."""
    decisions = adjudications.decided_codes(tx)
    stands = decisions["stands"] == 1
    decided, code = np.searchsorted(cell_ids, decisions["cell_id"][stands]), decisions["code"][stands]
    verdicts = judgements.verdict_arrays(tx)
    checked, verdict = combine_verdicts(verdicts["cell_id"], verdicts["code"])
    final, verdict_of = np.full((2, len(cell_ids)), NO_CODE)
    final[decided], verdict_of[np.searchsorted(cell_ids, checked)] = code, verdict
    definite = [question.codes.index(choice) for choice in question.definite]
    n_definite = (answers.counts[:, definite] > 0).sum(axis=1)
    state = np.where(answers.n_answers == 0, NO_LABEL, np.where(n_definite == 1, FOR_POLICY, FOR_PERSON))
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

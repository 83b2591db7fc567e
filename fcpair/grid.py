"""Grid: what is done with one grid of a study, one method for each stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.deprecation import OldName
from fcpair.params import Adjudicate
from fcpair.records import Role, SampleSize
from fcpair.steps import use_cases as steps
from fcpair.steps.base.context import GridContext, is_planned

if TYPE_CHECKING:
    from fcpair.steps.adjudication.adjudication_queue import (
        AdjudicationQueue,
        ConflictCase,
        DecisionRequest,
    )
    from fcpair.steps.adjudication.case_queues import CaseOrder, CaseQueue
    from fcpair.steps.adjudication.decision_search import DecidedCase, DecisionSearch
    from fcpair.steps.answers.curation import Curation
    from fcpair.steps.answers.examples import ExampleReview
    from fcpair.steps.oversight.activity import StageActivity
    from fcpair.steps.oversight.answer_shares import PersonShares
    from fcpair.steps.oversight.dashboard import Monitor
    from fcpair.steps.oversight.headlines import Headlines, LeadStep
    from fcpair.steps.oversight.pair_search import FoundPairs
    from fcpair.steps.release.export import Exports
    from fcpair.steps.surveys.group_comparison import GroupsFound

__all__ = [
    "AdjudicationQueue",
    "CaseOrder",
    "CaseQueue",
    "ConflictCase",
    "Curation",
    "DecidedCase",
    "DecisionRequest",
    "DecisionSearch",
    "ExampleReview",
    "Exports",
    "FoundPairs",
    "Grid",
    "GroupsFound",
    "Headlines",
    "LeadStep",
    "Monitor",
    "PersonShares",
    "StageActivity",
]


if not TYPE_CHECKING:
    __getattr__ = steps.classes(
        __name__,
        {
            "Case": "ConflictCase",
            "Decided": "DecidedCase",
            "Docket": "AdjudicationQueue",
            "OnePersonsShares": "PersonShares",
            "Reviewing": "ExampleReview",
            "Ruling": "DecisionRequest",
        },
        case_queues=["CaseOrder", "CaseQueue"],
        curation=["Curation"],
        adjudication_queue=["ConflictCase", "AdjudicationQueue", "DecisionRequest"],
        decision_search=["DecidedCase", "DecisionSearch"],
        examples=["ExampleReview"],
        export=["Exports"],
        group_comparison=["GroupsFound"],
        dashboard=["Monitor"],
        headlines=["Headlines", "LeadStep"],
        pair_search=["FoundPairs"],
        activity=["StageActivity"],
        answer_shares=["PersonShares"],
    )


class Grid(GridContext):
    """A grid of a study, which `Study.grid` hands out: the pairs of two sides, and all that people do with them.

    Methods that change the study return the RunRecord that they leave, with what they counted; a single decision
    leaves none. All raise StageError when they are called too early or a second time, InputError for what is wrong
    with their input (and then leave the study as it was), StudyError when the file cannot be read or written. `redo`
    makes a stage anew together with all that was built on it; judgements are never discarded.
    """

    recipe_options = steps.recipe_options.by_recipe

    select = steps.select.select
    retrieve = steps.retrieve.bring_in_candidates
    pair = steps.pair.make_grid
    plan = steps.overlap_plan.plan_overlap
    save_overlap = steps.overlap_plan.save_overlap
    plan_power = steps.systems_power.plan_power
    start_calibration = steps.calibration.start_calibration
    open_discussion = steps.calibration.open_discussion
    close_calibration = steps.calibration.close_calibration
    assign = steps.assign.assign
    plan_more_labels = steps.assign.plan_more_labels
    save_qualification = steps.known_pairs.save_qualification
    save_controls = steps.known_pairs.save_controls
    known_scores = steps.known_scores.known_scores
    let_on = steps.people.let_on
    close_open_assignment = steps.leases.close_open_assignment
    assign_round = steps.rounds.assign_round

    write_sheets = steps.sheets.write_sheets
    old_sheets = steps.sheets.old_sheets
    labels = steps.label_files.export_labels
    import_labels = steps.label_files.import_labels
    import_published = steps.import_fc_conan.import_published
    answers = steps.answer_tables.export_answers
    texts = steps.answer_tables.export_texts
    rows = steps.grid_rows.export_rows
    pilots = steps.qualification.list_pilots
    pilot_results = steps.qualification.pilot_results
    refusals = steps.answer_tables.export_refusals
    replies = steps.answer_tables.export_replies
    curation = steps.curation.measure_curation
    write_answer_sheets = steps.sheets.write_answer_sheets
    old_answer_sheets = steps.sheets.old_answer_sheets
    import_answers = steps.answer_tables.import_answers
    write_project = steps.exchange.write_project
    import_export = steps.exchange.import_export
    brought_answers = steps.withdraw.list_brought_answers
    withdraw_answers = steps.withdraw.withdraw_answers
    withdraw_labels = steps.withdraw.withdraw_labels
    simulate = steps.simulate.simulate
    estimate_generation = steps.generate.generation_outlook
    find_examples = steps.examples.find_examples
    review_examples = steps.examples.review_examples
    review_example = steps.examples.review_example
    row_to_review = steps.examples.row_to_review
    rounds_with_examples = steps.examples.rounds_with_examples
    examples = steps.examples.list_examples
    service_obstacle = steps.generate.service_obstacle
    generate = steps.generate.generate
    agreement = steps.agreement.measure_agreement
    measure_calibration = steps.calibration_result.measure_calibration
    round_of_blocks = steps.agreement.round_of_blocks
    aggregate = steps.aggregate.aggregate_labels
    compare_people = steps.people_agreement.compare_people
    groups = steps.group_comparison.compare_groups
    item_answers = steps.item_answers.item_answers
    score_bias = steps.bias_scores.score_bias
    survey_answers = steps.survey.survey_answers

    adjudicate_dry_run = steps.adjudicate.dry_run
    waiting_pairs = steps.adjudicate.waiting_pairs
    second_looks = steps.adjudicate.second_looks
    agenda = steps.adjudicate.agenda
    conflict = steps.adjudicate.conflict
    decide = steps.adjudicate.decide
    guideline_sentences = steps.flags.guideline_sentences
    place_flag = steps.flags.place_flag
    take_back = steps.adjudicate.take_back
    write_conflicts = steps.conflict_sheet.write_conflicts
    import_outcomes = steps.adjudicate.import_outcomes
    adjudicate = steps.adjudicate.adjudicate
    forecast_decision_requests = steps.decision_requests.forecast_decision_requests
    request_decisions = steps.decision_requests.request_decisions

    assign_validation = steps.validate.assign_validation
    write_validation_sheets = steps.sheets.write_validation_sheets
    import_verdicts = steps.label_files.import_verdicts
    withdraw_verdicts = steps.withdraw.withdraw_verdicts

    tier = steps.partition.tier_rows
    tier_start = steps.partition.first_tier_rows
    release = steps.partition.release
    explain = steps.explanation.explain
    partition = steps.partition.partition
    save_partition = steps.partition.note_partition
    list_tiers = steps.partition.list_tiers
    find_pairs = steps.pair_search.find_pairs
    search_choices = steps.pair_search.list_choices
    export = steps.cached(steps.export.Exports)

    evaluation_costs = steps.evaluate.costs
    evaluate = steps.evaluate.run_evaluation

    __repr__ = steps.summaries.describe_grid
    _repr_html_ = steps.summaries.grid_html

    @property
    def policy(self) -> Adjudicate | None:
        """The policy that holds, by which decisions follow the labels; None before one has been set."""
        with self._store.read() as tx:
            return steps.rule_decisions.policy_that_holds(tx)

    @property
    def is_planned(self) -> bool:
        """Whether the grid has two sides and rounds of its own; else it is made of a corpus, HS by CNs."""
        with self._store.read() as tx:
            return is_planned(tx)

    @property
    def primary_role(self) -> Role:
        """The role of those whose answers count."""
        from fcpair.store.assignment import rounds

        with self._store.read() as tx:
            return rounds.primary(tx).role

    @property
    def verdicts_not_due(self) -> int:
        """Number of open verdicts that wait until all labels of their cells are in."""
        from fcpair.store.adjudication import disputes

        with self._store.read() as tx:
            return disputes.n_verdicts_not_due(tx)

    @property
    def simulated_note(self) -> str | None:
        """A sentence that says how much of what was answered is made up; None where nothing is."""
        from fcpair.store.answers import judgements

        with self._store.read() as tx:
            return steps.study_notes.simulated_note(judgements.n_by_origin(tx))

    @property
    def calibration_note(self) -> str | None:
        """The same of the answers of its calibration, on which the figures of that rest."""
        from collections import Counter

        from fcpair.store.answers import judgements
        from fcpair.store.assignment import rounds

        counts: Counter[str] = Counter()
        with self._store.read() as tx:
            for round_ in rounds.calibration_rounds(tx):
                counts.update(judgements.n_by_origin(tx, round_))
        return steps.study_notes.simulated_note(counts)

    @property
    def sample_size(self) -> SampleSize | None:
        """Numbers of cells drawn for the grid and of all its cells; None where it is whole, or has not been made."""
        with self._store.read() as tx:
            return steps.sample_size.load_sample_size(tx)

    @property
    def second_look_notes(self) -> list[str]:
        """Sentences on decisions and verdicts whose labels have changed since; none where all is as it was."""
        with self._store.read() as tx:
            return steps.validate.look_again_notes(tx)

    by_recipe = OldName("recipe_options")
    close_dealing = OldName("close_open_assignment")
    docket = OldName("AdjudicationQueue(grid)", steps.adjudication_queue.AdjudicationQueue)
    monitor = OldName("Monitor(grid)", steps.dashboard.Monitor)
    generation_outlook = OldName("estimate_generation")
    waiting = OldName("waiting_pairs")
    sampled = OldName("sample_size")
    simulated = OldName("simulated_note")
    look_again = OldName("second_look_notes")

"""Grid: what is done with one grid of a study, one method for each stage."""

# mypy: implicit-reexport
# ruff: noqa: F401
from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fcpair.params import Adjudicate, DiamondRule, Partition
from fcpair.records import Role, SampleSize
from fcpair.steps import use_cases as steps
from fcpair.steps.base.context import GridContext, has_saved_options, is_planned, labels_of
from fcpair.steps.base.keywords import own, takes_params
from fcpair.store import disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells

if TYPE_CHECKING:
    from fcpair.steps.adjudication.adjudication_queue import AdjudicationQueue, DecidedCase, DecisionSearch
    from fcpair.steps.adjudication.case_queues import CaseOrder, CaseQueue
    from fcpair.steps.answers.curation import Curation
    from fcpair.steps.answers.examples import ExampleReview
    from fcpair.steps.answers.work_files import ImportForecast
    from fcpair.steps.oversight.activity import PersonShares, StageActivity
    from fcpair.steps.oversight.conflict_list import ConflictList
    from fcpair.steps.oversight.dashboard import Headlines, Monitor
    from fcpair.steps.oversight.next_steps import NextStep
    from fcpair.steps.oversight.pair_search import FoundPairs
    from fcpair.steps.release.export import Exports
    from fcpair.steps.survey import GroupsFound
    from fcpair.work_records import ConflictCase, DecisionRequest

if not TYPE_CHECKING:
    __getattr__, __all__ = steps.classes(
        __name__,
        case_queues=["CaseOrder", "CaseQueue"],
        curation=["Curation"],
        adjudication_queue=["AdjudicationQueue", "ConflictCase", "DecidedCase", "DecisionRequest", "DecisionSearch"],
        examples=["ExampleReview"],
        export=["Exports"],
        survey=["GroupsFound"],
        work_files=["ImportForecast"],
        dashboard=["Headlines", "Monitor"],
        next_steps=["NextStep"],
        conflict_list=["ConflictList"],
        pair_search=["FoundPairs"],
        activity=["PersonShares", "StageActivity"],
    )


class _GridPart(GridContext):
    """Acts on a grid that belong together; an attribute of `Grid`."""

    def __init__(self, grid: GridContext) -> None:
        self._store, self.grid = grid._store, grid.grid


class CalibrationRound(_GridPart):
    """The round in which annotators label the same pairs, discuss them, and start anew (`Grid.calibration`)."""

    start = steps.calibration.start_calibration
    open_discussion = steps.calibration.open_discussion
    close = steps.calibration.close_calibration
    measure = steps.discussion.measure_calibration

    @property
    def simulated_note(self) -> str | None:
        """A sentence that says how many of its answers are made up, on which its figures rest; None where none are."""
        from collections import Counter

        counts: Counter[str] = Counter()
        with self._store.read() as tx:
            for round_ in rounds.calibration_rounds(tx):
                counts.update(judgements.n_by_origin(tx, round_))
        return steps.tallies.simulated_note(counts)


class Sheets(_GridPart):
    """Sheets to fill in, one for each person, and those that were not overwritten (`Grid.sheets`)."""

    write_labels = steps.work_files.write_sheets
    write_answers = steps.work_files.write_answer_sheets
    write_verdicts = steps.work_files.write_validation_sheets
    old = steps.work_files.old_sheets
    old_answers = steps.work_files.old_answer_sheets


class Examples(_GridPart):
    """Examples of each row, for those who write: found, reviewed and shown (`Grid.examples`)."""

    find = steps.examples.find_examples
    review = steps.examples.review_examples
    table = steps.examples.list_examples


class Survey(_GridPart):
    """Figures of surveys, of items that people or models answer, and of tests of bias (`Grid.survey`)."""

    answers = steps.survey.survey_answers
    groups = steps.survey.compare_groups
    items = steps.survey.item_answers
    score_bias = steps.survey.score_bias


class Settings(_GridPart):
    """Settings that hold from when they are saved, without a stage that is done with them (`Grid.save`)."""

    overlap = steps.overlap_plan.save_overlap
    further = steps.further.save_further
    qualification = steps.known_pairs.save_qualification
    controls = steps.known_pairs.save_controls
    partition = steps.partition.note_partition


class Tiers(_GridPart):
    """The tiers of a grid by the rules with which `Grid.tiers` was called: all that follows from them."""

    table = steps.partition.derive_tiers
    frame = steps.partition.tier_rows
    head = steps.partition.first_tier_rows
    explain = steps.partition.explain
    release = steps.partition.release
    export = steps.cached(steps.export.Exports)
    evaluate = steps.evaluate.run_evaluation
    costs = steps.evaluate.costs

    def __repr__(self) -> str:
        return f"<Tiers of grid {self.grid.name}: {self._rules}>"


class Desk(_GridPart):
    """Acts that pages and commands need, with their options as objects; Python users hardly ever (`Grid.desk`)."""

    agenda = steps.adjudication_queue.agenda
    conflict = steps.adjudication_queue.conflict
    adjudicate_dry_run = steps.adjudicate.dry_run
    forecast_decision_requests = steps.adjudicate.forecast_decision_requests
    guideline_sentences = steps.discussion.guideline_sentences
    place_flag = steps.discussion.place_flag
    plan_more_labels = steps.assign.plan_more_labels
    forecast_further = steps.further.forecast_further
    close_open_assignment = steps.leases.close_open_assignment
    known_scores = steps.known_pairs.known_scores
    let_on = steps.people.let_on
    pilots = steps.eligibility.list_pilots
    pilot_results = steps.eligibility.pilot_results
    brought_answers = steps.withdraw.list_brought_answers
    estimate_generation = steps.generate.generation_outlook
    service_obstacle = steps.generate.service_obstacle
    review_example = steps.examples.review_example
    row_to_review = steps.examples.row_to_review
    rounds_with_examples = steps.examples.rounds_with_examples
    round_of_blocks = steps.agreement.round_of_blocks
    list_tiers = steps.partition.list_tiers
    describe_ids = steps.evaluate.describe_ids_of_files
    search_choices = steps.pair_search.list_choices
    conflicts = steps.conflict_list.list_conflicts
    add_note = steps.status.add_note
    import_file = steps.work_files.import_file
    forecast_import = steps.work_files.forecast_import

    def has_saved_options(self, cls: type[Any]) -> bool:
        """Return whether options of this kind were ever set; if not, `effective_options` gives the defaults."""
        with self._store.read() as tx:
            return has_saved_options(tx, cls)

    @property
    def is_planned(self) -> bool:
        """Return whether the grid has two sides and rounds of its own; else it is made of a corpus, HS by CNs."""
        with self._store.read() as tx:
            return is_planned(tx)

    @property
    def has_comparisons(self) -> bool:
        """Return whether the columns of the grid are comparisons of several texts of a row."""
        with self._store.read() as tx:
            return cells.has_comparisons(tx)

    @property
    def has_labels(self) -> bool:
        """Return whether answers that count are labels, one choice or a number: decisions and tiers rest on these."""
        with self._store.read() as tx:
            return labels_of(tx) is not None

    @property
    def primary_role(self) -> Role:
        """The role of those whose answers count."""
        with self._store.read() as tx:
            return rounds.primary(tx).role

    @property
    def verdicts_not_due(self) -> int:
        """Number of open verdicts that wait until all labels of their cells are in."""
        with self._store.read() as tx:
            return disputes.n_verdicts_not_due(tx)

    @property
    def simulated_note(self) -> str | None:
        """A sentence that says how much of what was answered is made up; None where nothing is."""
        with self._store.read() as tx:
            return steps.tallies.simulated_note(judgements.n_by_origin(tx))

    @property
    def block_notes(self) -> list[str]:
        """A sentence on the blocks of a grid that was extended, and whether they differ; none for any other."""
        with self._store.read() as tx:
            return list(steps.block_report.block_notes(tx))

    @property
    def basis_notes(self) -> list[str]:
        """The same after sentences on decisions and verdicts whose labels have changed since."""
        with self._store.read() as tx:
            return list(steps.block_report.basis_notes(tx))

    @property
    def label_colours(self) -> dict[str, str | None]:
        """The colours of the study's own that its labels have, by name."""
        with self._store.read() as tx:
            asked = steps.wording.asked_labels(tx, steps.wording.effective_words(tx))
        return dict(zip(asked["choices"], asked.get("colours", ()), strict=False))


class Grid(GridContext):
    """A grid of a study, which `Study.grid` hands out: the pairs of two sides, and all that people do with them.

    Methods that change the study return the RunRecord that they leave, with what they counted; a single decision
    leaves none. All raise StageError when they are called too early or a second time, InputError for what is wrong
    with their input (and then leave the study as it was), StudyError when the file cannot be read or written. `redo`
    makes a stage anew together with all that was built on it; judgements are never discarded.
    """

    desk = cached_property(Desk)
    save = cached_property(Settings)
    recipe_options = steps.keywords.by_recipe

    select = steps.building.select
    retrieve = steps.building.bring_in_candidates
    pair = steps.building.make_grid
    extend = steps.extension.extend
    plan = steps.overlap_plan.plan_overlap
    plan_power = steps.evaluate.plan_power
    calibration = cached_property(CalibrationRound)
    assign = steps.assign.assign
    assign_round = steps.rounds.assign_round

    sheets = cached_property(Sheets)
    labels = steps.answer_import.export_labels
    import_labels = steps.answer_import.import_labels
    import_published = steps.import_fc_conan.import_published
    answers = steps.answer_tables.export_answers
    texts = steps.answer_tables.export_texts
    rows = steps.answer_tables.export_rows
    refusals = steps.answer_tables.export_refusals
    replies = steps.answer_tables.export_replies
    curation = steps.curation.measure_curation
    import_answers = steps.answer_tables.import_answers
    write_project = steps.work_files.write_project
    import_export = steps.work_files.import_export
    withdraw = steps.withdraw.withdraw
    relabel = steps.relabel.relabel
    label_versions = steps.relabel.label_versions
    simulate = steps.simulate.simulate
    examples = cached_property(Examples)
    generate = steps.generate.generate
    agreement = steps.agreement.measure_agreement
    blocks = steps.block_report.measure_blocks
    aggregate = steps.case_queues.aggregate_labels
    compare_people = steps.agreement.compare_people
    ranking = steps.ranking.rank_compared
    survey = cached_property(Survey)

    waiting_pairs = steps.adjudicate.waiting_pairs
    second_looks = steps.adjudicate.second_looks
    decide = steps.adjudication_queue.decide
    take_back = steps.adjudication_queue.take_back
    write_conflicts = steps.adjudicate.write_conflicts
    import_outcomes = steps.adjudicate.import_outcomes
    adjudicate = steps.adjudicate.adjudicate
    request_decisions = steps.adjudicate.request_decisions

    assign_validation = steps.validate.assign_validation
    import_verdicts = steps.answer_import.import_verdicts

    tier = steps.partition.tier_rows
    release = steps.partition.release
    explain = steps.partition.explain
    find_pairs = steps.pair_search.find_pairs
    export = steps.cached(steps.export.Exports)

    evaluate = steps.evaluate.run_evaluation

    @takes_params
    def tiers(
        self,
        options: Partition | None = None,
        *,
        diamond: DiamondRule = own("unanimous"),
        own_tiers: Mapping[str, Any] = own(()),
        as_of: int | None = None,
    ) -> Tiers:
        """The tiers by these rules: tables, frames, explanations, exports and evaluations; or as they were, by the
        rules of then, just before the labels had the version after `as_of` (`label_versions`).

        `tier`, `explain`, `release`, `export` and `evaluate` of the grid itself are by its own rules.
        """
        past, rules = (self, None) if as_of is None else steps.relabel.past_grid(self, as_of)
        tiers = Tiers(past)
        tiers._rules, tiers._as_of = options or rules or self.effective_options(Partition), as_of
        return tiers

    __repr__ = steps.status.describe
    _repr_html_ = steps.status.describe_as_html

    @property
    def policy(self) -> Adjudicate | None:
        """The policy that holds, by which decisions follow the labels; None before one has been set."""
        with self._store.read() as tx:
            return steps.rule_decisions.policy_that_holds(tx)

    @property
    def sample_size(self) -> SampleSize | None:
        """Numbers of cells drawn for the grid and of all its cells; None where it is whole, or has not been made."""
        with self._store.read() as tx:
            return steps.context.load_sample_size(tx)

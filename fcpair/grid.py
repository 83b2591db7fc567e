"""Grid: what is done with one grid of a study, one method for each stage."""

from __future__ import annotations

from functools import cached_property

from fcpair.params import Adjudicate
from fcpair.records import Sampled
from fcpair.steps import (
    adjudicate,
    agree,
    asking,
    assign,
    conflicts,
    curating,
    evaluate,
    examples,
    generate,
    given,
    ground,
    groups,
    item_answers,
    label,
    overview,
    pair,
    partition,
    published,
    qualify,
    retrieve,
    rounds,
    rows,
    sampled,
    select,
    settle,
    sheets,
    simulate,
    survey,
    validate,
    withdraw,
)
from fcpair.steps.curating import Curation
from fcpair.steps.docket import Case, Decided, Docket, Ruling
from fcpair.steps.examples import Reviewing
from fcpair.steps.export import Exports
from fcpair.steps.ground import OnGrid
from fcpair.steps.groups import GroupsFound
from fcpair.steps.monitor import Monitor
from fcpair.steps.shares import OnePersonsShares
from fcpair.store import decisions, docket

__all__ = [
    "Case",
    "Curation",
    "Decided",
    "Docket",
    "Exports",
    "Grid",
    "GroupsFound",
    "Monitor",
    "OnePersonsShares",
    "Reviewing",
    "Ruling",
]


class Grid(OnGrid):
    """A grid of a study, which `Study.grid` hands out: the pairs of two sides, and all that people do with them.

    Methods that change the study return the RunRecord that they leave, with what they counted; a single decision
    leaves none. All raise StageError when they are called too early or a second time, InputError for what is wrong
    with their input (and then leave the study as it was), StudyError when the file cannot be read or written. `redo`
    makes a stage anew together with all that was built on it; judgements are never discarded.
    """

    # Where a method has the name of a module, it stands below all that come from that module: it hides the name here.
    select = select.select
    retrieve = retrieve.bring_in
    pair = pair.make_grid
    assign = assign.assign
    close_dealing = asking.close
    assign_round = rounds.assign_round

    write_sheets = sheets.write_sheets
    old_sheets = sheets.old_sheets
    labels = label.export_labels
    import_labels = label.import_labels
    import_published = published.import_published
    answers = given.export_answers
    texts = given.export_texts
    rows = rows.export_rows
    pilot_results = qualify.pilot_results
    refusals = given.export_refusals
    replies = given.export_replies
    curation = curating.measure_curation
    write_answer_sheets = sheets.write_answer_sheets
    old_answer_sheets = sheets.old_answer_sheets
    import_answers = given.import_answers
    withdraw_answers = withdraw.withdraw_answers
    withdraw_labels = withdraw.withdraw_labels
    simulate = simulate.simulate
    generation_outlook = generate.generation_outlook
    find_examples = examples.find_examples
    review_examples = examples.review_examples
    review_example = examples.review_example
    row_to_review = examples.row_to_review
    rounds_with_examples = examples.rounds_with_examples
    examples = examples.list_examples
    generate = generate.generate
    agreement = agree.measure_agreement
    round_of_blocks = agree.round_of_blocks
    groups = groups.compare_groups
    item_answers = item_answers.item_answers
    survey_answers = survey.survey_answers

    adjudicate_dry_run = adjudicate.dry_run
    waiting = adjudicate.waiting_pairs
    second_looks = adjudicate.second_looks
    agenda = adjudicate.agenda
    conflict = adjudicate.conflict
    decide = adjudicate.decide
    take_back = adjudicate.take_back
    write_conflicts = conflicts.write_conflicts
    import_outcomes = adjudicate.import_outcomes
    adjudicate = adjudicate.adjudicate
    docket = cached_property(Docket)

    assign_validation = validate.assign_validation
    write_validation_sheets = sheets.write_validation_sheets
    import_verdicts = label.import_verdicts
    withdraw_verdicts = withdraw.withdraw_verdicts

    tier = partition.tier_rows
    tier_start = partition.tier_start
    release = partition.release
    explain = partition.explain
    partition = partition.partition
    export = cached_property(Exports)

    evaluation_costs = evaluate.costs
    evaluate = evaluate.run_evaluation
    monitor = cached_property(Monitor)

    @property
    def policy(self) -> Adjudicate | None:
        """The policy that holds, by which decisions follow the labels; None before one has been set."""
        with self.store.read() as tx:
            return settle.policy_that_holds(tx)

    @property
    def is_planned(self) -> bool:
        """Whether the grid has two sides and rounds of its own; else it is made of a corpus, HS by CNs."""
        with self.store.read() as tx:
            return ground.is_planned(tx)

    @property
    def verdicts_not_due(self) -> int:
        """How many open verdicts wait until all labels of their cells are in."""
        with self.store.read() as tx:
            return docket.verdicts_not_due(tx)

    @property
    def simulated(self) -> str | None:
        """A sentence that says how much of what was answered is made up; None where nothing is."""
        with self.store.read() as tx:
            return overview.simulated_note(decisions.origins(tx))

    @property
    def sampled(self) -> Sampled | None:
        """How many cells of the grid were drawn, and of how many; None where it is whole, or has not been made."""
        with self.store.read() as tx:
            return sampled.sampled(tx)

    @property
    def look_again(self) -> list[str]:
        """Sentences on decisions and verdicts whose labels have changed since; none where all is as it was."""
        with self.store.read() as tx:
            return overview.look_again_notes(tx)

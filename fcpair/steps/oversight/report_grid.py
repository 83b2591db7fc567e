"""The part of a report about one planned grid: its rounds, what people and models did in them, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import Any

from fcpair.bias import ScoredAnswers, score
from fcpair.bias.answers import COLUMNS
from fcpair.errors import InputError
from fcpair.params import Agree, Partition
from fcpair.records import Role, Round, Status
from fcpair.report.data import GridPart, GroupFigures, ModelFigures, RoundPart, SurveyFigures, SurveysPart, WrittenTexts
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.questions.text_question import Text, n_words
from fcpair.stages.stats.agreement import AgreementBlock, drop_unfit_bins
from fcpair.stages.surveys.survey import add_shares, count_answers, margin_of_error
from fcpair.steps.adjudication.agreement import agreement_blocks
from fcpair.steps.adjudication.discussion import load_calibration_result
from fcpair.steps.assignment.validate import look_again_notes
from fcpair.steps.base.answer_values import MOST_CHOICES, closed_question, form_of
from fcpair.steps.base.context import effective_options, is_planned, labels_of
from fcpair.steps.oversight import status as planned
from fcpair.steps.oversight.label_figures import decision_figures, people_figures
from fcpair.steps.release.partition import GRADED
from fcpair.steps.rules import pair_counts, round_progress
from fcpair.steps.surveys.survey import (
    answers_to_grid_items,
    compare_groups_of_round,
    declared_questions,
    is_survey,
    survey_of,
)
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids, sides
from fcpair.store.oversight import runs
from fcpair.store.people import people


def grid_part(tx: Tx, name: str, partition: Partition | None = None, agree: Agree | None = None) -> GridPart:
    """Everything about the planned grid that a transaction is about; by its own options where none are given."""
    rules, options = partition or effective_options(tx, Partition, {}), agree or effective_options(tx, Agree, {})
    counts, question = assignments.counts_of_grid(tx), labels_of(tx)
    labels = judgements.label_arrays(tx, *GRADED)
    return GridPart(
        facts=planned.grid_facts(tx, name),
        look_again=tuple(look_again_notes(tx)),
        rounds=tuple(_round_part(tx, name, round_, counts, options) for round_ in rounds.of_grid(tx)),
        decided=decision_figures(tx, rules, pair_counts.tally(tx), labels) if question else None,
        asked=asked_part(tx, name),
        calibration=load_calibration_result(tx, options),
    )


def _round_part(tx: Tx, grid: str, round_: Round, counts: assignments.Counts, options: Agree) -> RoundPart:
    form, checks, by_models = form_of(round_.form), round_.checks is not None, round_.role is Role.MODEL
    question = VERDICT if checks else closed_question(form)
    if question and len(question.choices) > MOST_CHOICES:  # whose answers cannot be counted one by one
        question = None
    is_answered = not checks and bool(judgements.answered_cells(tx, round_))
    return RoundPart(
        name=round_.name,
        role=round_.role,
        form=round_.form,
        checks=checks,
        dealt=round_progress.round_progress(tx, round_).dealt,
        choices=tuple(choice.name for choice in question or ()),
        people=() if by_models else people_figures(tx, round_.role, round_, question, counts),
        models=_model_figures(tx, grid, round_, counts.get(round_.name, {})) if by_models else (),
        texts=_text_figures(tx, round_) if is_answered else (),
        agreement=_with_numbered_sides(tx, agreement_blocks(tx, round_, drop_unfit_bins(form, options)), options)
        if is_answered
        else (),
    )


def _model_figures(
    tx: Tx, grid: str, round_: Round, counts_by_person: Mapping[int, Mapping[str, int]]
) -> tuple[ModelFigures, ...]:
    """Counts of each model that has had cells of a round, and which model it is by the runs that asked it."""
    model_records: dict[str, Any] = {}
    for run in runs.runs(tx, "generate"):
        if (run.params["grid"], run.params["round"]) == (grid, round_.name):
            model_records |= run.params["models"]
    figures = []
    for person in people.people(tx, Role.MODEL):
        if by_status := counts_by_person.get(person.id):
            record = model_records.get(person.name, {})
            counts = (by_status.get(status.value, 0) for status in (Status.DONE, Status.OPEN, Status.SKIPPED))
            figures.append(ModelFigures(person.name, record.get("name", ""), record.get("sha256", ""), *counts))
    return tuple(figures)


def _text_figures(tx: Tx, round_: Round) -> tuple[WrittenTexts, ...]:
    """Count the texts in a round and measure their length, question by question."""
    form = form_of(round_.form)
    answers = [form.load(value) for value in judgements.current_labels(tx, "value", of=round_)["value"]]
    figures = []
    for name, question in form.questions:
        if isinstance(question, Text):
            lengths = [n for answer in answers if (n := n_words(answer[name] or ""))]  # None where it was not asked
            figures.append(WrittenTexts(name, len(lengths), float(median(lengths)) if lengths else None))
    return tuple(figures)


def _with_numbered_sides(
    tx: Tx, measured_blocks: tuple[AgreementBlock, ...], options: Agree
) -> tuple[AgreementBlock, ...]:
    """Agreement by column or row, with the number of each in place of a text that the plan does not name."""
    if (
        options.blocks is None
        or options.metadata is not None
        or grids.side_kinds(tx)[options.blocks == "column"] == "name"
    ):
        return measured_blocks
    numbers = {text: at for at, text in enumerate(dict.fromkeys(one.of for one in measured_blocks if one.of), 1)}
    return tuple(replace(one, of=f"{options.blocks} {numbers[one.of]}") if one.of else one for one in measured_blocks)


SCHEME, OF_PROBABILITIES = "bbq", "pbbq"


def asked_part(tx: Tx, name: str, *, in_words: bool = False) -> SurveysPart:
    """Figures on the answers to a survey or to items: the grid of this name, which a transaction is about.

    Texts that the plan does not name stand by number, unless all is to be said `in_words`.
    """
    round_ = rounds.primary(tx)
    if not judgements.answered_cells(tx, round_):
        return SurveysPart()
    if not is_planned(tx):
        return SurveysPart(groups=group_figures(tx, round_))
    return SurveysPart(
        _survey_figures(tx, name, round_, in_words=in_words), _bias_scores(tx, name, round_), group_figures(tx, round_)
    )


def may_have_asked_part(tx: Tx) -> bool:
    """Whether a grid may have something that `asked_part` finds; quick to say."""
    return rounds.primary(tx).role in (Role.RESPONDENT, Role.MODEL) or bool(declared_questions(tx)[0])


def _survey_figures(tx: Tx, name: str, round_: Round, *, in_words: bool) -> SurveyFigures | None:
    if round_.role is not Role.RESPONDENT or not is_survey(form_of(round_.form)):
        return None
    survey = survey_of(tx, name)
    n_people = int(survey.given["person"].nunique())
    if in_words:
        return SurveyFigures(add_shares(count_answers(survey.given)), n_people, margin_of_error(n_people))
    number_by_text = {
        text: f"statement {at}" for at, text in enumerate(dict.fromkeys(survey.statements["statement"]), 1)
    }
    answers = survey.given.assign(statement=survey.given["statement"].map(number_by_text))
    if grids.side_kinds(tx)[1] != "name":
        questions = dict.fromkeys(answers["question"])
        answers["question"] = answers["question"].map({text: f"question {at}" for at, text in enumerate(questions, 1)})
    return SurveyFigures(add_shares(count_answers(answers)), n_people, margin_of_error(n_people))


def _bias_scores(tx: Tx, name: str, round_: Round) -> tuple[dict[str, ScoredAnswers], ...]:
    """The scores of those who answered items: BBQ's, and where there are probabilities those of PBBQ."""
    first_row_ids = sides.text_ids(tx, "row", drawn=True)[:1]
    row_metadata = cells.texts_of_grid(tx).set_index("text_id")["meta"].loc[first_row_ids]
    if not all(column in about for about in row_metadata for column in COLUMNS):
        return ()
    answers = answers_to_grid_items(tx, name, round_)
    weighed_answers = {
        by: answers_of_model
        for by, answers_of_model in answers.items()
        if answers_of_model.answered.probabilities is not None
    }
    answers_by_scheme = {SCHEME: answers, OF_PROBABILITIES: weighed_answers}
    return tuple(
        {by: score(one.answered, scheme, one.categories) for by, one in by_model.items()}
        for scheme, by_model in answers_by_scheme.items()
        if by_model
    )


def group_figures(tx: Tx, round_: Round) -> GroupFigures | None:
    """Groups of those who answered a round; None where none were declared, or it asks no question with a list."""
    closed_questions = [name for name, question in form_of(round_.form).questions if isinstance(question, Closed)]
    declared_labels, _ = declared_questions(tx)
    if (
        not closed_questions
        or not declared_labels
        or round_.role is Role.MODEL
        or not judgements.answered_cells(tx, round_)
    ):
        return None
    try:
        comparison = compare_groups_of_round(tx, round_, question=closed_questions[0])
    except InputError as error:
        return GroupFigures(closed_questions[0], (), {}, str(error))
    return GroupFigures(comparison.question, comparison.compared, comparison.exploratory)

"""Figures of a report on a survey, on answers to items of templates, and on groups of those who answered."""

from __future__ import annotations

from fcpair.bias import Answers, ScoredAnswers, score
from fcpair.bias.answers_to_items import COLUMNS
from fcpair.errors import InputError
from fcpair.records import Role, Round
from fcpair.report.data import GroupFigures, SurveyFigures, SurveysPart
from fcpair.stages.questions import Closed
from fcpair.stages.surveys.survey import add_shares, count_answers, margin_of_error
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import is_planned
from fcpair.steps.surveys import group_comparison
from fcpair.steps.surveys.item_answers import answers_to_grid_items
from fcpair.steps.surveys.survey import is_survey, survey_of
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides

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
    return rounds.primary(tx).role in (Role.RESPONDENT, Role.MODEL) or bool(group_comparison.declared_questions(tx)[0])


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
    return tuple(_score_each(by_model, scheme) for scheme, by_model in answers_by_scheme.items() if by_model)


def _score_each(answers: dict[str, Answers], scheme: str) -> dict[str, ScoredAnswers]:
    return {by: score(one.answered, scheme, one.categories) for by, one in answers.items()}


def group_figures(tx: Tx, round_: Round) -> GroupFigures | None:
    """Groups of those who answered a round; None where none were declared, or it asks no question with a list."""
    closed_questions = [name for name, question in form_of(round_.form).questions if isinstance(question, Closed)]
    declared_labels, _ = group_comparison.declared_questions(tx)
    if (
        not closed_questions
        or not declared_labels
        or round_.role is Role.MODEL
        or not judgements.answered_cells(tx, round_)
    ):
        return None
    try:
        comparison = group_comparison.compare_groups_of_round(tx, round_, question=closed_questions[0])
    except InputError as error:
        return GroupFigures(closed_questions[0], (), {}, str(error))
    return GroupFigures(comparison.question, comparison.compared, comparison.exploratory)

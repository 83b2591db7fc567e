"""What a report says of a survey, of answers to items of templates, and of groups of those who answered."""

from __future__ import annotations

from fcpair.bias import Answers, Scored, score
from fcpair.bias.answers_to_items import COLUMNS
from fcpair.errors import InputError
from fcpair.records import Role, Round
from fcpair.report.data import AskedPart, GroupFigures, SurveyFigures
from fcpair.stages.questions import Closed
from fcpair.stages.surveys.survey import counted, margin, shares
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import is_planned
from fcpair.steps.surveys import group_comparison
from fcpair.steps.surveys.item_answers import items_answered
from fcpair.steps.surveys.survey import is_survey, survey_of
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides

SCHEME, OF_PROBABILITIES = "bbq", "pbbq"


def asked_part(tx: Tx, name: str, *, in_words: bool = False) -> AskedPart:
    """What was found by asking the grid of this name, which a transaction is about.

    Texts that the plan does not name stand by number, unless all is to be said `in_words`.
    """
    of = rounds.counting(tx)
    if not judgements.answered_cells(tx, of):
        return AskedPart()
    if not is_planned(tx):
        return AskedPart(groups=group_figures(tx, of))
    return AskedPart(_survey(tx, name, of, in_words=in_words), _bias(tx, name, of), group_figures(tx, of))


def is_asked(tx: Tx) -> bool:
    """Whether a grid may have something that `asked_part` finds; quick to say."""
    return rounds.counting(tx).role in (Role.RESPONDENT, Role.MODEL) or bool(group_comparison.declared(tx)[0])


def _survey(tx: Tx, name: str, of: Round, *, in_words: bool) -> SurveyFigures | None:
    if of.role is not Role.RESPONDENT or not is_survey(form_of(of.form)):
        return None
    found = survey_of(tx, name)
    people = int(found.given["person"].nunique())
    if in_words:
        return SurveyFigures(shares(counted(found.given)), people, margin(people))
    numbered = {text: f"statement {at}" for at, text in enumerate(dict.fromkeys(found.statements["statement"]), 1)}
    given = found.given.assign(statement=found.given["statement"].map(numbered))
    if grids.kinds(tx)[1] != "name":
        questions = dict.fromkeys(given["question"])
        given["question"] = given["question"].map({text: f"question {at}" for at, text in enumerate(questions, 1)})
    return SurveyFigures(shares(counted(given)), people, margin(people))


def _bias(tx: Tx, name: str, of: Round) -> tuple[dict[str, Scored], ...]:
    """The scores of those who answered items: BBQ's, and where there are probabilities those of PBBQ."""
    first = sides.texts(tx, "row", drawn=True)[:1]
    known = cells.texts_of_grid(tx).set_index("text_id")["meta"].loc[first]
    if not all(column in about for about in known for column in COLUMNS):
        return ()
    answers = items_answered(tx, name, of)
    weighed = {by: one for by, one in answers.items() if one.answered.probabilities is not None}
    found = {SCHEME: answers, OF_PROBABILITIES: weighed}
    return tuple(_scored(by_model, scheme) for scheme, by_model in found.items() if by_model)


def _scored(answers: dict[str, Answers], scheme: str) -> dict[str, Scored]:
    return {by: score(one.answered, scheme, one.categories) for by, one in answers.items()}


def group_figures(tx: Tx, of: Round) -> GroupFigures | None:
    """Groups of those who answered a round; None where none were declared, or it asks no question with a list."""
    closed = [name for name, question in form_of(of.form).questions if isinstance(question, Closed)]
    declared, _ = group_comparison.declared(tx)
    if not closed or not declared or of.role is Role.MODEL or not judgements.answered_cells(tx, of):
        return None
    try:
        found = group_comparison.groups_of(tx, of, question=closed[0])
    except InputError as error:
        return GroupFigures(closed[0], (), {}, str(error))
    return GroupFigures(found.question, found.compared, found.exploratory)

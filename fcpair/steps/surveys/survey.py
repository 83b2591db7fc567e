"""A survey: its grids are planned and filled at once, dealt to respondents, and what they said is counted."""

from __future__ import annotations

from collections.abc import Sequence

from fcpair.errors import StageError
from fcpair.plans import GridPlan
from fcpair.records import RunRecord
from fcpair.stages.questions import Closed, Form
from fcpair.stages.surveys.survey import ANSWERS, Survey
from fcpair.stages.surveys.survey_plan import suggestions_of
from fcpair.steps.answers.answer_tables import answers_table
from fcpair.steps.assignment import rounds
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import OnGrid, OnStudy, find_grid
from fcpair.steps.base.grid_rows import rows_table
from fcpair.steps.corpus.grids import add, fill_here
from fcpair.steps.rules.round_progress import standing
from fcpair.steps.surveys import group_comparison
from fcpair.store import Tx
from fcpair.store.assignment import rounds as stored
from fcpair.store.corpus import grids
from fcpair.store.people import people

DEFINITE = 2  # answers that say yes or no


def import_survey(study: OnStudy, plans: Sequence[GridPlan]) -> list[RunRecord]:
    """Add the grids of a survey, as `survey_plans` has them, and make their cells; all of them, or none.

    Raises:
        InputError: all that is wrong with the file of statements, or a name that another grid has.
    """
    with study.store.write(bulk=True) as tx:
        runs = []
        for one in plans:
            runs.append(add(tx, one))
            with grids.about(tx, find_grid(tx, one.name).id):
                runs.append(fill_here(tx, one.name, one))
        return runs


def open_survey(study: OnStudy, name: str) -> list[RunRecord]:
    """Deal every round of a survey's grid, and that of its suggestions, to the respondents that there are.

    Raises:
        UnknownIdError: there is no such grid.
        StageError: nobody can answer, or all is dealt.
    """
    dealt = []
    with study.store.read() as tx:
        there = [one for one in grids.keys(tx) if one.name in (name, suggestions_of(name))] or [find_grid(tx, name)]
        due = []
        for one in there:
            with grids.about(tx, one.id):
                due += [(one, of.name) for of in stored.asked(tx) if not standing(tx, of).dealt]
    if not due:
        raise StageError(f"the survey `{name}` is open already; who is added from now on is asked as well")
    for grid, of in due:
        dealt.append(rounds.assign_round(OnGrid(study.store, grid), of))
    return dealt


def survey_answers(grid: OnGrid, by: Sequence[str] = ()) -> Survey:
    """What was answered in the round of a grid that counts: a question with two definite answers, yes and no.

    Args:
        by: the labels of questions about people; each becomes a column, empty for who did not answer it.

    Raises:
        StageError: it asks no such question, or nothing was answered.
        InputError: nobody has answered a question of `by`.
    """
    with grid.store.read() as tx:
        return survey_of(tx, grid.grid.name, by)


def survey_of(tx: Tx, name: str, by: Sequence[str] = ()) -> Survey:
    """What was answered in the grid that a transaction is about, as `survey_answers` has it."""
    of = stored.counting(tx)
    if not is_survey(form_of(of.form)):
        raise StageError(
            f"round `{of.name}` of grid `{name}` is no survey: it must ask one question with yes, no, and "
            "what is neither, such as one_of(yes,no,decline?)"
        )
    ((question, form),) = form_of(of.form).questions
    called = _called(form)
    table = answers_table(tx, of)
    if table.empty:
        raise StageError(f"round `{of.name}` of grid `{name}` has no answers yet")
    said = {str(one["name"]): dict(one["demographics"]) for one in people.terms(tx)}
    group_comparison.check_known(by, said)
    given = table.rename(columns={"row": "statement", "column": "question", "by": "person", question: "answer"})
    given = given[["statement", "question", "person", "answer"]].replace({"answer": called})
    for one in by:
        given[one] = [said.get(person, {}).get(one, "") for person in given["person"]]
    statements = rows_table(tx, name).rename(columns={"row": "statement"}).drop(columns="row_number")
    order = {text: at for at, text in enumerate(statements["statement"])}
    given = given.sort_values("statement", key=lambda texts: texts.map(order), kind="stable")
    return Survey(given.reset_index(drop=True), statements)


def is_survey(form: Form) -> bool:
    """Whether a form asks one question with two definite answers."""
    return len(form.questions) == 1 and bool(_called(form.questions[0][1]))


def _called(form: object) -> dict[str, str]:
    """What each answer is, by what it is called; nothing where there are not two definite ones."""
    if not isinstance(form, Closed):
        return {}
    definite = [one.name for one in form if one.definite]
    if len(definite) != DEFINITE:
        return {}
    yes, no, decline = ANSWERS
    return {definite[0]: yes, definite[1]: no, **{one.name: decline for one in form if not one.definite}}

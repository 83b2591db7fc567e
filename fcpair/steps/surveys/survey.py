"""A survey: its grids are planned and filled at once, dealt to respondents, and what they said is counted."""

from __future__ import annotations

from collections.abc import Sequence

from fcpair.errors import StageError
from fcpair.plans import GridPlan
from fcpair.records import RunRecord
from fcpair.stages.questions import Closed, Form
from fcpair.stages.surveys.survey import ANSWERS, Survey
from fcpair.stages.surveys.survey_plan import suggestions_grid_name
from fcpair.steps.answers.answer_tables import answers_table
from fcpair.steps.assignment import rounds
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext, StudyContext, find_grid
from fcpair.steps.base.grid_rows import rows_table
from fcpair.steps.corpus.grids import add, fill_current_grid
from fcpair.steps.rules.round_progress import round_progress
from fcpair.steps.surveys import group_comparison
from fcpair.store import Tx
from fcpair.store.assignment import rounds as stored
from fcpair.store.corpus import grids
from fcpair.store.people import people

N_DEFINITE = 2  # answers that say yes or no


def import_survey(study: StudyContext, plans: Sequence[GridPlan]) -> list[RunRecord]:
    """Add the grids of a survey, as `survey_plans` has them, and make their cells; all of them, or none.

    Raises:
        InputError: all that is wrong with the file of statements, or a name that another grid has.
    """
    with study._store.write(bulk=True) as tx:
        runs = []
        for plan in plans:
            runs.append(add(tx, plan))
            with grids.on_grid(tx, find_grid(tx, plan.name).id):
                runs.append(fill_current_grid(tx, plan.name, plan))
        return runs


def open_survey(study: StudyContext, name: str) -> list[RunRecord]:
    """Deal every round of a survey's grid, and that of its suggestions, to the respondents that there are.

    Raises:
        UnknownIdError: there is no such grid.
        StageError: nobody can answer, or all is dealt.
    """
    assign_runs = []
    with study._store.read() as tx:
        grid_keys = [key for key in grids.keys(tx) if key.name in (name, suggestions_grid_name(name))] or [
            find_grid(tx, name)
        ]
        rounds_due = []
        for key in grid_keys:
            with grids.on_grid(tx, key.id):
                rounds_due += [
                    (key, round_.name) for round_ in stored.answer_rounds(tx) if not round_progress(tx, round_).dealt
                ]
    if not rounds_due:
        raise StageError(f"the survey `{name}` is already open; people added from now on are asked as well")
    for grid, round_ in rounds_due:
        assign_runs.append(rounds.assign_round(GridContext(study._store, grid), round_))
    return assign_runs


def survey_answers(grid: GridContext, by: Sequence[str] = ()) -> Survey:
    """Answers in the round of a grid that counts: a question with two definite answers, yes and no.

    Args:
        by: the labels of questions about people; each becomes a column, empty for who did not answer it.

    Raises:
        StageError: it asks no such question, or nothing was answered.
        InputError: nobody has answered a question of `by`.
    """
    with grid._store.read() as tx:
        return survey_of(tx, grid.grid.name, by)


def survey_of(tx: Tx, name: str, by: Sequence[str] = ()) -> Survey:
    """Answers in the grid that a transaction is about, as `survey_answers` returns them."""
    round_ = stored.primary(tx)
    if not is_survey(form_of(round_.form)):
        raise StageError(
            f"round `{round_.name}` of grid `{name}` is not a survey: it must ask one question with yes, no and a "
            "third answer that is neither, such as one_of(yes,no,decline?)"
        )
    ((question, form),) = form_of(round_.form).questions
    meaning_by_answer = _meaning_by_answer(form)
    table = answers_table(tx, round_)
    if table.empty:
        raise StageError(f"round `{round_.name}` of grid `{name}` has no answers yet")
    answers_by_person = {str(item["name"]): dict(item["demographics"]) for item in people.terms(tx)}
    group_comparison.check_known_labels(by, answers_by_person)
    answers = table.rename(columns={"row": "statement", "column": "question", "by": "person", question: "answer"})
    answers = answers[["statement", "question", "person", "answer"]].replace({"answer": meaning_by_answer})
    for item in by:
        answers[item] = [answers_by_person.get(person, {}).get(item, "") for person in answers["person"]]
    statements = rows_table(tx, name).rename(columns={"row": "statement"}).drop(columns="row_number")
    order = {text: at for at, text in enumerate(statements["statement"])}
    answers = answers.sort_values("statement", key=lambda texts: texts.map(order), kind="stable")
    return Survey(answers.reset_index(drop=True), statements)


def is_survey(form: Form) -> bool:
    """Whether a form asks one question with two definite answers."""
    return len(form.questions) == 1 and bool(_meaning_by_answer(form.questions[0][1]))


def _meaning_by_answer(form: object) -> dict[str, str]:
    """Meaning of each answer, by its name; empty where there are not two definite ones."""
    if not isinstance(form, Closed):
        return {}
    definite = [choice.name for choice in form if choice.definite]
    if len(definite) != N_DEFINITE:
        return {}
    yes, no, decline = ANSWERS
    return {definite[0]: yes, definite[1]: no, **{choice.name: decline for choice in form if not choice.definite}}

"""Surveys: their grids, also from an uploaded table; answers of respondents, of groups, and to items of bias tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fcpair.bias.answers import COLUMNS, LETTERS, Answers, answers_to_items
from fcpair.bias.scoring import MEAN, ModelScores, score_models
from fcpair.errors import InputError, StageError, suggest_name
from fcpair.lazy import pd
from fcpair.notebook import Plotted, column_names
from fcpair.params import BELIEVED, Annotate
from fcpair.plans import GridPlan
from fcpair.records import Round, RunRecord
from fcpair.stages.answers.replies import parse_probabilities
from fcpair.stages.questions import Closed, Form
from fcpair.stages.stats.group_differences import Difference, GroupComparison, compare_annotator_groups
from fcpair.stages.survey import ANSWERS, STATEMENT, Survey, count_answers, suggestions_grid_name
from fcpair.steps.answers.answer_tables import ROW, answers_table, replies_table, rows_table
from fcpair.steps.assignment.rounds import assign_round
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext, StudyContext, effective_options, find_grid, note_run
from fcpair.steps.grids import add, fill_current_grid
from fcpair.steps.rules.tallies import round_progress, simulated_note
from fcpair.store import Tx, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.values import parse_json


def import_survey(study: StudyContext, plans: Sequence[GridPlan]) -> list[RunRecord]:
    """Add the grids of a survey with their cells, or none; InputError for a wrong file or a name that is taken."""
    with study._store.write(bulk=True) as tx:
        return add_survey(tx, plans)


def add_survey(tx: Tx, plans: Sequence[GridPlan], *, in_place: bool = False) -> list[RunRecord]:
    """Add the grids of a survey, and make their cells; its first may be `in_place` of the study's, which is empty.

    Those of a grid that takes what is written in another one are made when that is done.
    """
    runs = []
    for plan in plans:
        runs.append(add(tx, plan, in_place_of_current=in_place and plan is plans[0]))
        if plan.rows.grids or plan.columns.grids:
            continue
        with grids.on_grid(tx, find_grid(tx, plan.name).id):
            runs.append(fill_current_grid(tx, plan.name, plan))
    return runs


def open_survey(study: StudyContext, name: str) -> list[RunRecord]:
    """Assign every round of a survey's grid, and of its suggestions, to the respondents.

    Raises UnknownIdError for no such grid, StageError where nobody can answer, or all is assigned.
    """
    names, rounds_due = (name, suggestions_grid_name(name)), []
    with study._store.read() as tx:
        grid_keys = [key for key in grids.keys(tx) if key.name in names] or [find_grid(tx, name)]
        for key in grid_keys:
            with grids.on_grid(tx, key.id):
                rounds_due += [
                    (key, round_.name) for round_ in rounds.answer_rounds(tx) if not round_progress(tx, round_).dealt
                ]
    if not rounds_due:
        raise StageError(f"the survey `{name}` is already open; people added from now on are asked as well")
    return [assign_round(GridContext(study._store, key), round_) for key, round_ in rounds_due]


def survey_answers(grid: GridContext, by: Sequence[str] = ()) -> Survey:
    """Answers in the round of a grid that counts: a question with two definite answers, yes and no.

    Each question about people in `by` becomes a column, empty for who did not answer it. Raises StageError for another
    question or no answers, InputError where nobody answered one of `by`.
    """
    with grid._store.read() as tx:
        return survey_of(tx, grid.grid.name, by)


def survey_of(tx: Tx, name: str, by: Sequence[str] = ()) -> Survey:
    """Answers in the grid that a transaction is about, as `survey_answers` returns them."""
    round_ = rounds.primary(tx)
    if not is_survey(form_of(round_.form)):
        raise StageError(
            f"round `{round_.name}` of grid `{name}` is not a survey: it must ask one question with yes, no and a "
            "third answer that is neither, such as one_of(yes,no,decline?)"
        )
    ((question, form),) = form_of(round_.form).questions
    meaning_by_answer, table = _meaning_by_answer(form), answers_table(tx, round_)
    if table.empty:
        raise StageError(f"round `{round_.name}` of grid `{name}` has no answers yet")
    answers_by_person = _answers_by_person(tx, by)
    answers = table.rename(columns={"row": "statement", "column": "question", "by": "person", question: "answer"})
    answers = answers[["statement", "question", "person", "answer"]].replace({"answer": meaning_by_answer})
    for item in by:
        answers[item] = [answers_by_person.get(person, {}).get(item, "") for person in answers["person"]]
    statements = rows_table(tx, name).rename(columns={"row": "statement"}).drop(columns="row_number")
    order = {text: at for at, text in enumerate(statements["statement"])}
    answers = answers.sort_values("statement", key=lambda texts: texts.map(order), kind="stable")
    return Survey(answers.reset_index(drop=True), statements)


def is_survey(form: Form) -> bool:
    """Return whether a form asks one question with two definite answers."""
    return len(form.questions) == 1 and bool(_meaning_by_answer(form.questions[0][1]))


def _meaning_by_answer(form: object) -> dict[str, str]:
    """Meaning of each answer, by its name; empty if there are not two definite ones."""
    if not isinstance(form, Closed) or len(definite := [choice.name for choice in form if choice.definite]) != 2:
        return {}
    yes, no, decline = ANSWERS
    return {definite[0]: yes, definite[1]: no, **{choice.name: decline for choice in form if not choice.definite}}


@dataclass(frozen=True, repr=False)
class GroupsFound(Plotted):
    """Results about groups of those who answered a `question` of a `round`; `simulated` says how much is made up.

    `exploratory` are those of `by` that were not declared before the first answer, with why.
    """

    round: str
    question: str
    compared: tuple[GroupComparison, ...]
    exploratory: dict[str, str]
    simulated: str | None = None

    columns = ("by", *column_names(Difference))

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each difference between two groups; the columns are `by` and the fields of `Difference`."""
        return (
            {"by": comparison.by, **vars(difference)}
            for comparison in self.compared
            for difference in comparison.differences
        )

    def _summary(self) -> str:
        return (
            f"`{self.question}` of round `{self.round}`, by {', '.join(comparison.by for comparison in self.compared)}"
        )


def compare_groups(
    grid: GridContext,
    by: Sequence[str] = (),
    *,
    round: str | None = None,
    labels: str | None = None,
    seed: int = 13,
    mixed: bool = False,
) -> GroupsFound:
    """Compare groups of those who answered a round, by what they said about themselves.

    Args:
        by: the labels of questions about people; those that were declared, if none is given.
        round: the round; the one that counts, if none is named.
        labels: the question of its form whose answers are compared; it may be left out where the form has one.
        seed: of permutations.
        mixed: whether to fit mixed models as well.

    Raises:
        StageError: nothing was answered; or no question is given, and none was declared.
        InputError: no such question, none with a list of answers, and what `compare_annotator_groups` raises.
        UnknownIdError: the grid has no such round.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        return compare_groups_of_round(tx, round_, by, question=labels, seed=seed, mixed=mixed)


def compare_groups_of_round(
    tx: Tx, round_: Round, by: Sequence[str] = (), *, question: str | None = None, seed: int = 13, mixed: bool = False
) -> GroupsFound:
    """Compare groups of those who answered a round of the grid that a transaction is about; as `compare_groups`."""
    declared_labels, declared_at = declared_questions(tx)
    closed = [name for name, asked in form_of(round_.form).questions if isinstance(asked, Closed)]
    if not closed:
        raise InputError(
            "this round asks no question with a list of answers, so there are no shares to compare between groups"
        )
    if question is None and len(closed) > 1:
        raise InputError(f"this round asks several questions; name one: {', '.join(closed)}")
    if question is not None and question not in closed:
        raise InputError(
            f"this round asks no question `{question}` with a list of answers; {suggest_name(question, closed)}"
        )
    question_name = question or closed[0]
    by = tuple(by) or declared_labels
    if not by:
        raise StageError(
            "no question was declared beforehand (`compare` of the section [annotate]); name one, as with `--by Gender`"
        )
    answers_by_person, table = _answers_by_person(tx, by), answers_table(tx, round_)
    table = table[~table["skipped"]]
    if table.empty:
        raise StageError(f"round `{round_.name}` has no answers yet")
    first_answer_at = min(table["time"])
    labels = table.assign(item=table["cell"], annotator=table["by"], label=table[question_name])
    labels = labels[["item", "annotator", "label"]].reset_index(drop=True)
    for item in by:
        labels[item] = [answers_by_person.get(name, {}).get(item, "") for name in labels["annotator"]]
    comparisons = compare_annotator_groups(labels, by, seed=seed, mixed=mixed)
    exploratory = {label: "it was not declared beforehand" for label in by if label not in declared_labels}
    if declared_at and declared_at > first_answer_at:
        late_reason = f"it was declared at {declared_at}, after the first answer ({first_answer_at})"
        exploratory = {label: exploratory.get(label, late_reason) for label in by}
    simulated = simulated_note(judgements.n_by_origin(tx))
    return GroupsFound(round_.name, question_name, comparisons, exploratory, simulated)


def declared_questions(tx: Tx) -> tuple[tuple[str, ...], str | None]:
    """The questions that were declared, and when."""
    with grids.on_first_grid(tx):
        return effective_options(tx, Annotate, {}).compare, settings.time_set(tx, Annotate.stage, "compare")


def _answers_by_person(tx: Tx, by: Sequence[str]) -> dict[str, dict[str, str]]:
    """Answers of people about themselves; raises InputError for a question of `by` that nobody has answered."""
    answers_by_person = {str(item["name"]): dict(item["demographics"]) for item in people.terms(tx)}
    known_labels = list(dict.fromkeys(key for own in answers_by_person.values() for key in own))
    for label in by:
        if label not in known_labels:
            nothing = "nobody has stated anything about themselves"
            hint = suggest_name(label, known_labels, "they said %(names)s") if known_labels else nothing
            raise InputError(f"nobody has answered `{label}`; {hint}")
    return answers_by_person


_UNKNOWN = (np.nan,) * len(LETTERS)


def item_answers(grid: GridContext, round: str | None = None) -> dict[str, Answers]:
    """Answers to the items of a grid in a round, the one that counts if none is named, by who answered.

    A skip cannot be read, but for a reply whose likeliest options tie: its probabilities, if asked, count. Raises
    StageError where the rows are no items, or nothing was answered; UnknownIdError for no such round.
    """
    with grid._store.read() as tx:
        return answers_to_grid_items(tx, grid.grid.name, rounds.by_name(tx, round))


def answers_to_grid_items(tx: Tx, name: str, round_: Round) -> dict[str, Answers]:
    """Answers to the items of the grid that a transaction is about, as `item_answers` returns them."""
    rows = rows_table(tx, name)
    row_columns = [str(column) for column in rows.columns]
    if missing := [column for column in COLUMNS if column not in row_columns]:
        raise StageError(
            f"the rows of grid `{name}` are not items made from templates: they have no `{missing[0]}`; "
            f"{suggest_name(missing[0], row_columns, 'they have %(names)s')}"
        )
    table = answers_table(tx, round_)
    if table.empty:
        raise StageError(f"round `{round_.name}` of grid `{name}` has no answers yet")
    question = next(iter(table.columns[list(table.columns).index("skipped") + 1 :]))
    last_replies = replies_table(tx, round_).groupby(["cell", "by"])["reply"].last()
    keys = pd.MultiIndex.from_frame(table[["cell", "by"]])
    table = table.assign(reply=last_replies.reindex(keys).fillna("").to_numpy())
    columns = [*COLUMNS, *({STATEMENT} & set(row_columns))]
    items = rows.set_index(ROW).loc[table["row"], columns].reset_index(drop=True)
    answers_by_name = {}
    for by, own_rows in table.reset_index(drop=True).groupby("by", sort=False):
        shares = None
        if round_.options.probabilities:
            replies = zip(own_rows["reply"], own_rows["skipped"], strict=True)
            shares = np.array([_option_probabilities(*reply) for reply in replies], np.float64)
        answers = own_rows[question].where(~own_rows["skipped"], own_rows["reply"]).tolist()
        own_items = items.loc[own_rows.index].reset_index(drop=True)
        answers_by_name[str(by)] = answers_to_items(own_items, answers, shares, name, own_rows["cell"].tolist())
    return answers_by_name


def _option_probabilities(reply: str, skipped: bool) -> Sequence[float]:
    """The probabilities of the options in a reply, of a skip only if the likeliest tie; NaN where none can be read."""
    try:
        if skipped:
            shares, _ = parse_probabilities(reply, LETTERS)
            return shares if shares.count(max(shares)) > 1 else _UNKNOWN
        probabilities = parse_json(reply)
        return [float(probabilities[letter]) for letter in LETTERS]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _UNKNOWN


def score_bias(
    grid: GridContext,
    scheme: str,
    round: str | None = None,
    *,
    survey: str | None = None,
    question: str = BELIEVED,
    smooth: float = 0.0,
) -> ModelScores:
    """Score the answers to the items of a grid, by who answered, and note the scores.

    Args:
        scheme: whose definition of the scores: `bbq`, `kobbq`, `cbbq` or `pbbq`.
        round: by name; without one, the round that counts.
        survey: the grid of a survey; it is measured how far people are from each model.
        question: of the survey, which is compared.
        smooth: is added to both shares of a model.

    Raises:
        StageError: the rows are no items, or nothing was answered.
        UnknownIdError: no such round or grid.
        InputError: no such scheme or question, or one that needs what the answers do not have.
    """
    grid._store.check_writable()
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        answers = answers_to_grid_items(tx, grid.grid.name, round_)
        asked_grid = find_grid(tx, survey) if survey else None
    people = count_answers(survey_answers(GridContext(grid._store, asked_grid)).given) if asked_grid else None
    scores = score_models(answers, scheme, people, question=question, smooth=smooth)
    params: dict[str, Any] = {"grid": grid.grid.name, "round": round_.name, "role": round_.role.value, "as": scheme}
    if survey:
        params |= {"survey": survey, "question": question, "smooth": smooth}
    by_name = {  # the means, or the figures themselves if there is one category
        by: {figure.score: figure for figure in [f for f in one.figures if f.category == MEAN] or one.figures}
        for by, one in scores.scores.items()
    }
    counts = {
        "models": len(scores.scores),
        "answers": sum(score.n for score in scores.scores.values()),
        "unreadable": sum(score.n_unreadable for score in scores.scores.values()),
        "categories": max(len(answer.categories) for answer in scores.answers.values()),
        "scores": {by: {name: figure.value for name, figure in figures.items()} for by, figures in by_name.items()},
        "intervals": {
            by: {name: [figure.low, figure.high] for name, figure in figures.items() if figure.low is not None}
            for by, figures in by_name.items()
        },
    }
    if scores.divergences:
        counts["divergence"] = {by: divergence.figures[-1].value for by, divergence in scores.divergences.items()}
    with grid._store.write() as tx:
        note_run(tx, "bias score", params, counts)
    return scores

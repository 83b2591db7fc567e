"""Whether groups of the people who answered a round answered it otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from fcpair.errors import InputError, StageError, suggest_name
from fcpair.notebook import Result, frame_of
from fcpair.params import Annotate
from fcpair.records import Round
from fcpair.stages.questions import Closed
from fcpair.stages.stats.group_differences import Difference, GroupComparison, compare_annotator_groups
from fcpair.steps.answers.answer_tables import answers_table
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext, effective_options
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

UNDECLARED = "no question was declared beforehand (`compare` of the section [annotate])"


@dataclass(frozen=True, repr=False)
class GroupsFound(Result):
    """Results about groups of those who answered a `question` of a `round`.

    `exploratory` are those of `by` that were not declared before the first answer, with why.
    """

    round: str
    question: str
    compared: tuple[GroupComparison, ...]
    exploratory: dict[str, str]

    def to_frame(self) -> pd.DataFrame:
        """A row for each difference between two groups; the columns are `by` and the fields of `Difference`."""
        rows = [{"by": one.by, **vars(difference)} for one in self.compared for difference in one.differences]
        return frame_of(rows, ("by", *(item.name for item in fields(Difference))))

    def _summary(self) -> str:
        return f"`{self.question}` of round `{self.round}`, by {', '.join(one.by for one in self.compared)}"


def compare_groups(
    grid: GridContext,
    by: Sequence[str] = (),
    *,
    round: str | None = None,
    question: str | None = None,
    seed: int = 13,
    mixed: bool = False,
) -> GroupsFound:
    """Compare groups of those who answered a round, by what they said about themselves.

    Args:
        by: the labels of questions about people; those that were declared, if none is given.
        round: the round; the one that counts, if none is named.
        question: which question of its form; it may be left out where the form has one.
        seed: of permutations.
        mixed: whether to fit mixed models as well.

    Raises:
        StageError: nothing was answered; or no question is given, and none was declared.
        InputError: no such question, or one without a list of answers, and what
            `group_differences.compare_annotator_groups` raises.
        UnknownIdError: the grid has no such round.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        return compare_groups_of_round(tx, round_, by, question=question, seed=seed, mixed=mixed)


def compare_groups_of_round(
    tx: Tx, round_: Round, by: Sequence[str] = (), *, question: str | None = None, seed: int = 13, mixed: bool = False
) -> GroupsFound:
    """Compare groups of those who answered a round of the grid that a transaction is about; as `compare_groups`."""
    declared_labels, declared_at = declared_questions(tx)
    question_name = _find_closed_question(form_of(round_.form).questions, question)
    by = tuple(by) or declared_labels
    if not by:
        raise StageError(f"{UNDECLARED}; name one, as with `--by Gender`")
    answers_by_person = {str(item["name"]): dict(item["demographics"]) for item in people.terms(tx)}
    check_known_labels(by, answers_by_person)
    table = answers_table(tx, round_)
    table = table[~table["skipped"]]
    if table.empty:
        raise StageError(f"round `{round_.name}` has no answers yet")
    first_answer_at = min(table["time"])
    labels = table.assign(item=table["cell"], annotator=table["by"], label=table[question_name])
    labels = labels[["item", "annotator", "label"]].reset_index(drop=True)
    for item in by:
        labels[item] = [answers_by_person.get(name, {}).get(item, "") for name in labels["annotator"]]
    comparisons = compare_annotator_groups(labels, by, seed=seed, mixed=mixed)
    return GroupsFound(
        round_.name, question_name, comparisons, _exploratory_reasons(by, declared_labels, declared_at, first_answer_at)
    )


def declared_questions(tx: Tx) -> tuple[tuple[str, ...], str | None]:
    """The questions that were declared, and when."""
    with grids.on_first_grid(tx):
        return effective_options(tx, Annotate, {}).compare, settings.time_set(tx, Annotate.stage, "compare")


def _exploratory_reasons(
    by: Sequence[str], declared_labels: Sequence[str], declared_at: str | None, first_answer_at: str
) -> dict[str, str]:
    late_reason = (
        f"it was declared at {declared_at}, after the first answer ({first_answer_at})"
        if declared_at and declared_at > first_answer_at
        else ""
    )
    reasons = {label: "it was not declared beforehand" if label not in declared_labels else late_reason for label in by}
    return {label: why for label, why in reasons.items() if why}


def _find_closed_question(questions: Sequence[tuple[str, object]], requested: str | None) -> str:
    closed = [name for name, question in questions if isinstance(question, Closed)]
    if not closed:
        raise InputError(
            "this round asks no question with a list of answers, so there are no shares to compare between groups"
        )
    if requested is None and len(closed) > 1:
        raise InputError(f"this round asks several questions; name one: {', '.join(closed)}")
    if requested is not None and requested not in closed:
        raise InputError(
            f"this round asks no question `{requested}` with a list of answers; {suggest_name(requested, closed)}"
        )
    return requested or closed[0]


def check_known_labels(by: Sequence[str], answers_by_person: Mapping[str, Mapping[str, str]]) -> None:
    """Raise InputError for a question about people that nobody has answered."""
    known_labels = list(dict.fromkeys(key for own in answers_by_person.values() for key in own))
    for label in by:
        if label not in known_labels:
            hint = (
                suggest_name(label, known_labels, "they said")
                if known_labels
                else "nobody has stated anything about themselves"
            )
            raise InputError(f"nobody has answered `{label}`; {hint}")

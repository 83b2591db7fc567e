"""Whether groups of the people who answered a round answered it otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fcpair.errors import InputError, StageError, nearest
from fcpair.params import Annotate
from fcpair.records import Round
from fcpair.stages.questions import Closed
from fcpair.stages.stats.group_differences import Compared, compared
from fcpair.steps.answers.answer_tables import answers_table
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import OnGrid, own
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.store.people import people

UNDECLARED = "no question was declared beforehand (`compare` of the section [annotate])"


@dataclass(frozen=True)
class GroupsFound:
    """What was found about groups of those who answered a `question` of a `round`.

    `exploratory` are those of `by` that were not declared before the first answer, with why.
    """

    round: str
    question: str
    compared: tuple[Compared, ...]
    exploratory: dict[str, str]


def compare_groups(
    grid: OnGrid,
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
        InputError: no such question, or one without a list of answers, and what `stages.groups.compared` raises.
        UnknownIdError: the grid has no such round.
    """
    with grid.store.read() as tx:
        of = rounds.counting(tx) if round is None else rounds.named(tx, round)
        return groups_of(tx, of, by, question=question, seed=seed, mixed=mixed)


def groups_of(
    tx: Tx, of: Round, by: Sequence[str] = (), *, question: str | None = None, seed: int = 13, mixed: bool = False
) -> GroupsFound:
    """Compare groups of those who answered a round of the grid that a transaction is about; as `compare_groups`."""
    wanted, since = declared(tx)
    asked = _asked(form_of(of.form).questions, question)
    by = tuple(by) or wanted
    if not by:
        raise StageError(f"{UNDECLARED}; name one, as with `--by Gender`")
    said = {str(one["name"]): dict(one["demographics"]) for one in people.terms(tx)}
    check_known(by, said)
    table = answers_table(tx, of)
    table = table[~table["skipped"]]
    if table.empty:
        raise StageError(f"round `{of.name}` has no answers yet")
    first = min(table["time"])
    labels = table.assign(item=table["cell"], annotator=table["by"], label=table[asked])
    labels = labels[["item", "annotator", "label"]].reset_index(drop=True)
    for one in by:
        labels[one] = [said.get(name, {}).get(one, "") for name in labels["annotator"]]
    found = compared(labels, by, seed=seed, mixed=mixed)
    return GroupsFound(of.name, asked, found, _exploratory(by, wanted, since, first))


def declared(tx: Tx) -> tuple[tuple[str, ...], str | None]:
    """The questions that were declared, and when."""
    with grids.about(tx, grids.keys(tx)[0].id):
        return own(tx, Annotate, {}).compare, settings.set_at(tx, Annotate.stage, "compare")


def _exploratory(by: Sequence[str], declared: Sequence[str], since: str | None, first: str) -> dict[str, str]:
    late = f"it was declared at {since}, after the first answer ({first})" if since and since > first else ""
    found = {one: "it was not declared beforehand" if one not in declared else late for one in by}
    return {one: why for one, why in found.items() if why}


def _asked(questions: Sequence[tuple[str, object]], wanted: str | None) -> str:
    closed = [name for name, one in questions if isinstance(one, Closed)]
    if not closed:
        raise InputError("this round asks no question with a list of answers, so that groups have no shares of them")
    if wanted is None and len(closed) > 1:
        raise InputError(f"this round asks several questions; name one: {', '.join(closed)}")
    if wanted is not None and wanted not in closed:
        raise InputError(f"this round asks no question `{wanted}` with a list of answers; {nearest(wanted, closed)}")
    return wanted or closed[0]


def check_known(by: Sequence[str], said: Mapping[str, Mapping[str, str]]) -> None:
    """Raise InputError for a question about people that nobody has answered."""
    known = list(dict.fromkeys(key for own in said.values() for key in own))
    for one in by:
        if one not in known:
            there = nearest(one, known, "they said") if known else "nobody has said anything about themselves"
            raise InputError(f"nobody has answered `{one}`; {there}")

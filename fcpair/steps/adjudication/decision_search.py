"""Search in what is decided, as adjudicators see it: never a name of who labelled."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from fcpair.errors import InputError
from fcpair.records import Rule
from fcpair.sentences import say
from fcpair.stages.corpus.text_identity import fold_letters
from fcpair.steps.adjudication.adjudicate import outcome_code, outcome_names
from fcpair.steps.base.context import scheme_of
from fcpair.steps.rules.permissions import NOT_SHOWN
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.adjudication.adjudications import DecisionFilter
from fcpair.store.assignment import rounds
from fcpair.store.corpus import sides
from fcpair.store.corpus.grids import to_public_number
from fcpair.work_records import ShownText


@dataclass(frozen=True)
class DecisionSearch:
    """Search in what is decided; what is empty is not searched by.

    All `words` must occur in HS or CN, whatever their capitals. `by` is the name of a person who decided, also in a
    file, or `NO_PERSON`: a rule or a file that names nobody.
    """

    NO_PERSON: ClassVar[str] = "a rule, or a file"  # no pseudonym has a comma
    words: str = ""
    outcome: str = ""
    by: str = ""
    flagged: bool = False


@dataclass(frozen=True)
class DecidedCase:
    """A current decision; `by` is null if a rule or a file made it.

    `labels` counts the labels that it rests on, by name; it is empty while somebody has still to label the pair.
    """

    decision_id: int
    cell_id: int
    hs: ShownText
    cn: ShownText
    outcome: str
    rule: Rule
    by: str | None
    note: str
    flagged: bool
    at: str
    labels: dict[str, int]


def find_decisions(
    tx: Tx,
    search: DecisionSearch,
    limit: int,
    before: int | None = None,
    made_by: int | None = None,
    spared: Collection[int] = (),
) -> list[DecidedCase]:
    """The decisions that stand, newest first, with the ids that the study has of them; not those on `spared` pairs.

    Raises InputError where there is no such outcome, or nobody of that name decides.
    """
    hides_column = rounds.primary(tx).options.hides_column
    decision_filter = DecisionFilter(
        tuple(_matching_texts(tx, search.words, hides_column=hides_column)),
        (outcome_code(tx, search.outcome),) if search.outcome else (),
        (_decider_id(tx, search.by),) if search.by else (),
        search.flagged,
        tuple(sorted(spared)),
    )
    rows = adjudications.matching_decisions(tx, limit, before, decision_filter, made_by)
    counts, outcomes = adjudications.label_counts(tx, [row["id"] for row in rows]), outcome_names(scheme_of(tx))
    names = {choice.code: choice.name for choice in scheme_of(tx)}
    hidden_column = {"cn": NOT_SHOWN, "cn_language": None} if hides_column else {}
    return [
        _build_decision(
            {**row, **hidden_column},
            outcomes[row["code"]],
            {names[code]: n for code, n in counts.get(row["id"], {}).items()},
        )
        for row in rows
    ]


def _matching_texts(tx: Tx, words: str, *, hides_column: bool) -> Iterable[tuple[list[int], list[int]]]:
    """The texts in which each word occurs; a hidden column is not searched, which would tell what is in it."""
    folded_words = _fold(words).split()
    if not folded_words:
        return
    rows, columns = ([(text_id, _fold(body)) for text_id, body in sides.bodies(tx, axis)] for axis, _ in sides.AXES)
    for word in folded_words:
        row_ids, column_ids = ([text_id for text_id, body in side if word in body] for side in (rows, columns))
        yield row_ids, [] if hides_column else column_ids


def _fold(text: str) -> str:
    return fold_letters(text).casefold()


def _decider_id(tx: Tx, name: str) -> int | None:
    if name == DecisionSearch.NO_PERSON:
        return None
    deciders = adjudications.deciders(tx)
    if name not in deciders:
        raise InputError(
            say("nobody called `%(name)s` decides here; expected one of %(names)s", name=name, names=list(deciders))
        )
    return deciders[name]


def _build_decision(row: dict[str, Any], outcome: str, labels: dict[str, int]) -> DecidedCase:
    return DecidedCase(
        decision_id=row["id"],
        cell_id=to_public_number(row["cell_id"]),
        hs=ShownText.of(row["hs"], row["hs_language"]),
        cn=ShownText.of(row["cn"], row["cn_language"]),
        outcome=outcome,
        rule=Rule(row["rule"]),
        by=row["by"],
        note=row["note"],
        flagged=row["flagged"],
        at=row["at"],
        labels=labels,
    )

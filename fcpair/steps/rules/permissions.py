"""Who may decide, take back, check and label which pair, and when: one answer for every door.

The dialogue, a file of decisions, `Grid.decide`, the pages and the API all ask here. Who may be dealt a pair to
validate or to label stands beside this in `reassignment.barred`: nobody who has had anything to do with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import ConflictError, FcpairError, InputError, RefusedError
from fcpair.params import apart
from fcpair.records import BY_HAND, Agenda, Person, Role, Rule
from fcpair.steps.base.context import scheme_of
from fcpair.steps.people.people import check_pseudonym
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import number_of
from fcpair.store.people import opt_out_pairs, people

if TYPE_CHECKING:
    import pandas as pd

DECIDE = (Role.ADJUDICATOR, Role.LEAD)
NOT_SHOWN = "(not shown)"  # in the place of a text that is hidden from those who judge


@dataclass(frozen=True)
class Opened:
    """A case that a person may decide; `standing` is None where no decision stands on it.

    `again` says that what stands was decided before the labels changed. `answer_id` is the newest answer there.
    """

    standing: disputes.Standing | None
    again: bool
    answer_id: int


def who_decides(tx: Tx, name: str, *, or_left: bool = False) -> Person | None:
    """The person of this name, who must be one to decide; None for somebody new, who then becomes an adjudicator.

    Raises:
        InputError: no pseudonym, one that differs from another in capitals alone, or somebody in another role.
        RefusedError: somebody who has left; a file may name them (`or_left`), because it tells what was decided before.
    """
    known = {one.name: one for one in people.people(tx)}
    if name not in known:
        check_pseudonym(name)
        apart([name], known)
        return None
    if known[name].role not in DECIDE:
        raise InputError(f"`{name}` is {known[name].role}; adjudicators have that role, or lead")
    if known[name].retired and not or_left:
        raise RefusedError(f"`{name}` has left the study, and decides nothing more")
    return known[name]


def bars(tx: Tx, person: Person | None, cell_ids: Sequence[int]) -> dict[int, FcpairError]:
    """Why these pairs cannot be decided by this person, or not now: an error for each that cannot.

    Nobody decides a pair that has no label, or that somebody has still to label; nor one that they labelled, skipped or
    validate. `person` is None where nobody is named, or somebody new.
    """
    asked = [int(pair) for pair in cell_ids]
    found: dict[int, FcpairError] = {
        pair: ConflictError(f"pair {number_of(pair)} has no label, so there is nothing to decide")
        for pair in set(asked) - disputes.labelled(tx, asked)
    }
    for pair in disputes.still_labelled(tx, asked):
        found[pair] = ConflictError(
            f"pair {number_of(pair)} is still being labelled; it can be decided when all its labels are in"
        )
    if person is not None:
        found |= {
            pair: RefusedError(f"`{person.name}` {did} pair {number_of(pair)}, so somebody else must decide it")
            for did, pairs in _had_to_do_with(tx, person, asked).items()
            for pair in pairs
        }
    return found


def not_due_to_check(tx: Tx, cell_ids: Sequence[int]) -> dict[int, FcpairError]:
    """Why nobody checks these pairs now: an error for each that somebody has still to label.

    A validator is shown the label that the others have given, which tells it before everybody has given theirs.
    """
    return {pair: still_labelled(pair) for pair in disputes.still_labelled(tx, [int(pair) for pair in cell_ids])}


def still_labelled(cell_id: int) -> ConflictError:
    """What who would check a pair is told while somebody has still to label it."""
    return ConflictError(
        f"pair {number_of(cell_id)} is still being labelled; it can be checked when all its labels are in"
    )


def _had_to_do_with(tx: Tx, person: Person, cell_ids: Sequence[int] | None = None) -> dict[str, set[int]]:
    """The pairs, or those of these, that this person may not decide because of what they did before, by what it was."""
    return {
        "labelled": disputes.answered_by(tx, person.id, cell_ids),
        "validates": disputes.checked_by(tx, person.id, cell_ids),
    }


def for_others(tx: Tx, person: Person | None) -> set[int]:
    """The pairs that this person is not asked to decide: barred to them alone, or opted out of in any role."""
    if person is None:
        return set()
    opted_out = people.opt_outs(tx, person.id).get(person.id)
    spared = set(opt_out_pairs.pairs_about(tx, opted_out)) if opted_out else set()
    return spared.union(*_had_to_do_with(tx, person).values())


def check_deciding(tx: Tx, person: Person | None, cell_id: int) -> None:
    """Raise what `bars` says of one pair."""
    if barred := bars(tx, person, [cell_id]).get(cell_id):
        raise barred


def open_case(tx: Tx, person: Person | None, cell_id: int) -> Opened:
    """Open a case that waits, or one's own: its labels differ, or it was decided before they changed.

    Raises:
        RefusedError, ConflictError: as in `bars`; or there is nothing to decide, because the labels agree, or somebody
            else, a rule or a file has.
    """
    check_deciding(tx, person, cell_id)
    standing = disputes.standing(tx, cell_id)
    again = bool(rule_decisions.overtaken(tx, [cell_id]))
    if standing is None:
        _check_differ(tx, cell_id)
    elif not again and not is_own(standing, person):
        raise ConflictError(_overtaken(cell_id, standing))
    return Opened(standing, again, disputes.newest_answer(tx, cell_id))


def _check_differ(tx: Tx, cell_id: int) -> None:
    codes = {code for code, _ in disputes.labels(tx, [cell_id]).get(cell_id, [])}
    if len(codes & set(scheme_of(tx).definite)) == 1:
        raise ConflictError(f"the labels of pair {number_of(cell_id)} agree, so there is nothing to decide")


def _overtaken(cell_id: int, standing: disputes.Standing) -> str:
    if standing.rule == Rule.IMPORTED:
        who = f"{standing.by} (in a file)" if standing.by else "a file"
    else:
        who = standing.by or "a rule"
    return f"pair {number_of(cell_id)} has been decided by {who} meanwhile"


def check_seen(opened: Opened, cell_id: int, decision_id: int | None, answer_id: int | None) -> None:
    """Raise ConflictError unless a case is as it was shown: the decision that stands, and where it is told the labels.

    `answer_id` is the newest answer that was there; None: not told.
    """
    standing = opened.standing.id if opened.standing else None
    if standing != decision_id:
        was = "taken back" if standing is None else "decided"
        raise ConflictError(f"pair {number_of(cell_id)} has been {was} since it was shown; look at it again")
    if answer_id is not None and answer_id != opened.answer_id:
        raise ConflictError(f"a label of pair {number_of(cell_id)} has changed since it was shown; look at it again")


def check_taking_back(tx: Tx, person: Person | None, cell_id: int) -> None:
    """Raise unless this person may take back what was decided on a pair: their own decision, or as lead any by hand.

    Raises:
        ConflictError: no decision stands on it, or one that is not theirs.
    """
    standing = disputes.standing(tx, cell_id)
    if standing is None:
        raise ConflictError(f"no decision on pair {number_of(cell_id)} stands, so there is none to take back")
    if standing.rule not in BY_HAND:
        raise ConflictError(
            f"a rule has decided pair {number_of(cell_id)}: that follows the labels, so there is nothing to take back; "
            "decide the pair, and that stands instead"
        )
    if not is_own(standing, person) and (person is None or person.role is not Role.LEAD):
        able = "the person who decided, or a lead," if standing.rule == Rule.PERSON else "a lead"
        raise ConflictError(f"{_overtaken(cell_id, standing)}, and only {able} can take that back")


def is_own(standing: disputes.Standing, person: Person | None) -> bool:
    """Whether this person made a decision, in the study and not in a file."""
    return person is not None and standing.rule == Rule.PERSON and standing.person_id == person.id


def own_words(tx: Tx, person: Person | None, cell_id: int, standing: disputes.Standing | None) -> dict[str, Any]:
    """The `note` and whether it is `flagged`, of this person's decision on a pair: what stands, or was taken back."""
    if person is None or (standing is not None and not is_own(standing, person)):
        return {"note": "", "flagged": False}
    note, flagged = standing[-2:] if standing else disputes.words_taken_back(tx, cell_id, person.id)
    return {"note": note, "flagged": flagged}


def agenda(tx: Tx, person: Person | None) -> Agenda:
    """What there is for one person to decide."""
    waiting = [one for one in rule_decisions.in_dispute(tx) if one.by is None]
    due = [one for one in waiting if one.due]
    others = for_others(tx, person)
    own = [one for one in due if one.cell_id not in others]
    return Agenda(
        tuple(one.cell_id for one in own),
        frozenset(one.cell_id for one in own if one.again),
        len(waiting) - len(due),
        len(due) - len(own),
    )


def has_checked(tx: Tx, cell_id: pd.Series[int], person_id: pd.Series[int]) -> NDArray[np.bool_]:
    """Whether each person validates that pair or has decided it, and so may not label it, shape `(n,)`."""
    import pandas as pd

    asked = pd.MultiIndex.from_arrays([cell_id, person_id])
    validated = assignments.assignments(tx, rounds.checking(tx))[["cell_id", "person_id"]]
    decided = judgements.decided_by_people(tx)
    return asked.isin(pd.MultiIndex.from_frame(validated)) | asked.isin(pd.MultiIndex.from_frame(decided))


def texts_to_judge(tx: Tx, cell_id: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two texts of a cell as whoever decides about it is shown them: where those who answer it do not see the
    column, neither do they.
    """
    row, column = cells.texts_of(tx, cell_id)
    hidden: dict[str, Any] = {"body": NOT_SHOWN, "language": None, "meta": {}}
    return row, ({**column, **hidden} if rounds.counting(tx).options.hides_column else column)

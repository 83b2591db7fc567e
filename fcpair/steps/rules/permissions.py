"""Permission to read, label, check, decide or take back a pair: who has it, and when; one answer for every way in.

Who may be assigned a pair to validate or to label is said by `eligibility.ineligibility_matrix`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fcpair.errors import ConflictError, FcpairError, InputError, RefusedError
from fcpair.params import check_distinct_spelling
from fcpair.records import BY_HAND, Known, Person, Role, Round, Rule
from fcpair.sentences import Id, mark, say
from fcpair.steps.base.context import scheme_of
from fcpair.steps.people import known_pairs
from fcpair.steps.people.people import check_pseudonym
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx, disputes, optouts, people
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids
from fcpair.work_records import Agenda

NOT_CONSENTED = say("please read what the study is about and agree to take part first")
NOT_SHOWN = "(not shown)"  # in the place of a text that is hidden from those who judge


def find_decider(tx: Tx, name: str, *, allow_retired: bool = False) -> Person | None:
    """The person of this name, who must be one to decide; None for somebody new, who then becomes an adjudicator.

    Raises InputError for no pseudonym, one that differs from another in capitals alone, and for another role;
    RefusedError for somebody who has left, whom a file of earlier decisions may name (`allow_retired`).
    """
    people_by_name = {person.name: person for person in people.people(tx)}
    if name not in people_by_name:
        check_pseudonym(name)
        check_distinct_spelling([name], people_by_name)
        return None
    person = people_by_name[name]
    if person.role not in (Role.ADJUDICATOR, Role.LEAD):
        sentence = mark("`%(name)s` is %(role)s; adjudicators have that role, or lead")
        raise InputError.say(sentence, name=name, role=say(str(person.role)))
    if person.retired and not allow_retired:
        raise RefusedError.say("`%(name)s` has left the study and can no longer decide", name=name)
    return person


def blocking_reasons(tx: Tx, person: Person | None, cell_ids: Sequence[int]) -> dict[int, FcpairError]:
    """The error for each of these pairs that this person cannot decide, or not now; None is nobody, or somebody new.

    Nobody decides a pair that has no label, or that somebody has still to label; nor one that they answered or skipped
    in any round, also as a known pair, that they validate, or whose topic they opted out of.
    """
    unlabelled = mark("pair %(number)s has no label, so there is nothing to decide")
    labelling = mark("pair %(number)s is still being labelled; it can be decided when all its labels are in")
    pair_ids = [int(pair) for pair in cell_ids]
    errors: dict[int, FcpairError] = {
        **{pair: _conflict(unlabelled, pair) for pair in set(pair_ids) - disputes.pairs_with_label(tx, pair_ids)},
        **{pair: _conflict(labelling, pair) for pair in disputes.pairs_to_label(tx, pair_ids)},
    }
    if person is not None:
        errors |= {
            pair: RefusedError.say(sentence, name=person.name, number=Id(grids.to_public_number(pair)))
            for sentence, pairs in _pairs_involving(tx, person, pair_ids)
            for pair in pairs
        }
    return errors


def not_due_reasons(tx: Tx, cell_ids: Sequence[int]) -> dict[int, FcpairError]:
    """The error for each of these pairs that somebody has still to label, and that nobody may check before."""
    return {pair: still_labelled_error(pair) for pair in disputes.pairs_to_label(tx, [int(pair) for pair in cell_ids])}


def still_labelled_error(cell_id: int) -> ConflictError:
    """Error for somebody who would check a pair while somebody else has still to label it."""
    return _conflict(
        mark("pair %(number)s is still being labelled; it can be checked when all its labels are in"), cell_id
    )


def _pairs_involving(tx: Tx, person: Person, cell_ids: Sequence[int] | None = None) -> Iterator[tuple[str, set[int]]]:
    """Yield why this person may not decide pairs because of what they did before, each with the pairs."""
    sentence = mark("`%(name)s` opted out of a topic of pair %(number)s, so somebody else must decide it")
    yield sentence, spared_pairs(tx, person.id, cell_ids)
    sentence = mark("`%(name)s` labelled pair %(number)s, so somebody else must decide it")
    yield sentence, disputes.pairs_answered_by(tx, person.id, cell_ids)
    sentence = mark("`%(name)s` validates pair %(number)s, so somebody else must decide it")
    yield sentence, disputes.pairs_checked_by(tx, person.id, cell_ids)


def excluded_pairs(tx: Tx, person: Person | None) -> set[int]:
    """The pairs that this person is not asked to decide, as they are barred to them alone."""
    return set().union(*(pairs for _, pairs in _pairs_involving(tx, person))) if person else set()


def spared_pairs(tx: Tx, person_id: int, cell_ids: Sequence[int] | None = None) -> set[int]:
    """The pairs, or those of these, that somebody is to be shown in no role: they opted out of a topic of theirs."""
    opted_out = people.opt_outs(tx, person_id).get(person_id)
    return set(optouts.pairs_about(tx, opted_out, cell_ids)) if opted_out else set()


def unqualified(tx: Tx, round_: Round, person_ids: Iterable[int]) -> set[int]:
    """Those of these people whose answers in a round are not taken, because they have still to qualify for it."""
    if not round_.counts or not known_pairs.known_pairs_of(tx, Known.QUALIFICATION):
        return set()
    standings = {
        person_id: standing
        for qualification in rounds.of_known_pairs(tx, round_, Known.QUALIFICATION)
        for person_id, standing in known_pairs.standings(tx, qualification).items()
    }
    return {id_ for id_ in person_ids if standings.get(id_) not in known_pairs.QUALIFIED}


def check_may_decide(tx: Tx, person: Person | None, cell_id: int) -> None:
    """Raise what `blocking_reasons` has of one pair."""
    if error := blocking_reasons(tx, person, [cell_id]).get(cell_id):
        raise error


def open_case(tx: Tx, person: Person | None, cell_id: int) -> tuple[disputes.StandingDecision | None, bool, int]:
    """Open a case that waits for a decision, or that this person has decided.

    Returns the decision that stands, if one does; whether it was made before the labels changed; and the newest answer.
    Raises RefusedError and ConflictError as in `blocking_reasons`, and where the labels agree or another has decided.
    """
    check_may_decide(tx, person, cell_id)
    standing = disputes.standing_decision(tx, cell_id)
    again = standing is not None and bool(rule_decisions.stale_decisions(tx, [cell_id]))
    if standing is None and not disputes.is_requested(tx, cell_id):
        codes = {code for code, _ in disputes.label_notes(tx, [cell_id]).get(cell_id, [])}
        if len(codes & set(scheme_of(tx).definite)) == 1:
            raise _conflict(mark("the labels of pair %(number)s agree, so there is nothing to decide"), cell_id)
    if standing is not None and not again and not is_own_decision(standing, person):
        if not (decider := _decider(standing)):
            raise _conflict(mark("pair %(number)s has been decided by a rule meanwhile"), cell_id)
        raise _conflict(mark("pair %(number)s has been decided by %(name)s meanwhile"), cell_id, name=decider)
    return standing, again, disputes.newest_answer(tx, cell_id)


def _conflict(sentence: str, cell_id: int, **values: str) -> ConflictError:
    return ConflictError(say(sentence, number=Id(grids.to_public_number(cell_id)), **values))


def _decider(standing: disputes.StandingDecision) -> str:
    """The person who decided, or the file that says so; empty for a rule."""
    if standing.rule != Rule.IMPORTED:
        return standing.by or ""
    return say("%(name)s (in a file)", name=standing.by) if standing.by else say("a file")


def check_still_as_shown(
    tx: Tx, person: Person, cell_id: int, shown_decision: int | None, shown_answer: int | None
) -> None:
    """Raise what `open_case` raises, and ConflictError unless decision and newest answer, if given, are those shown."""
    standing, _, answer_id = open_case(tx, person, cell_id)
    if standing is None and shown_decision is not None:
        raise _conflict(mark("pair %(number)s has been taken back since it was shown; look at it again"), cell_id)
    if standing is not None and standing.id != shown_decision:
        raise _conflict(mark("pair %(number)s has been decided since it was shown; look at it again"), cell_id)
    if shown_answer not in (None, answer_id):
        raise _conflict(mark("a label of pair %(number)s has changed since it was shown; look at it again"), cell_id)


def decision_to_take_back(tx: Tx, person: Person | None, cell_id: int) -> disputes.StandingDecision:
    """The decision that stands on a pair; ConflictError unless it is this person's, or by hand and they lead."""
    standing = disputes.standing_decision(tx, cell_id)
    if standing is None:
        raise _conflict(mark("pair %(number)s has no current decision, so there is none to take back"), cell_id)
    if standing.rule not in BY_HAND:
        sentence = mark(
            "a rule has decided pair %(number)s: such a decision follows the labels, so there is nothing to take back; "
            "decide the pair yourself to replace it"
        )
        raise _conflict(sentence, cell_id)
    if not is_own_decision(standing, person) and (person is None or person.role is not Role.LEAD):
        only_lead = mark("pair %(number)s has been decided by %(name)s meanwhile, and only a lead can take that back")
        or_decider = mark(
            "pair %(number)s has been decided by %(name)s meanwhile, and only the person who decided, or a lead, can "
            "take that back"
        )
        sentence = or_decider if standing.rule == Rule.PERSON else only_lead
        raise _conflict(sentence, cell_id, name=_decider(standing))
    return standing


def is_own_decision(standing: disputes.StandingDecision | None, person: Person | None) -> bool:
    """Return whether this person made a decision, in the study and not in a file."""
    if standing is None or person is None:
        return False
    return standing.rule == Rule.PERSON and standing.person_id == person.id


def agenda(tx: Tx, person: Person | None) -> Agenda:
    """Collect what there is for one person to decide."""
    undecided = [case for case in rule_decisions.disputed_pairs(tx) if case.by is None]
    due_cases, excluded = [case for case in undecided if case.due], excluded_pairs(tx, person)
    own_cases = [case for case in due_cases if case.cell_id not in excluded]
    return Agenda(
        tuple(case.cell_id for case in own_cases),
        frozenset(case.cell_id for case in own_cases if case.again),
        len(undecided) - len(due_cases),
        len(due_cases) - len(own_cases),
    )


def texts_to_judge(tx: Tx, cell_id: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two texts of a cell as those who decide about it see them: no column that those who answer do not see."""
    row, column = cells.texts_of(tx, cell_id)
    hidden: dict[str, Any] = {"body": NOT_SHOWN, "language": None, "meta": {}}
    return row, ({**column, **hidden} if rounds.primary(tx).options.hides_column else column)

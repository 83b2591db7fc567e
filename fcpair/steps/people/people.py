"""The people of a study: adding them, changing their roles, letting them go."""

from __future__ import annotations

from collections import Counter

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.params import LONGEST_NAME, apart
from fcpair.records import WORKERS, Person, Role, RunRecord, Status
from fcpair.steps.base.context import OnStudy, note_run
from fcpair.steps.people.reassignment import refill_everywhere
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.store.people import people

SEE_LABELS = (Role.ADJUDICATOR, Role.LEAD)
GIVE_LABELS = tuple(role for role in WORKERS if role is not Role.VALIDATOR)
_PREFIX = {Role.ANNOTATOR: "a", Role.VALIDATOR: "v", Role.WRITER: "w", Role.RATER: "r", Role.RESPONDENT: "p"}


def add(study: OnStudy, names: list[str], role: Role) -> list[Person]:
    """Add people in one role under pseudonyms; they get the work that nobody could take so far."""
    with study.store.write() as tx:
        return enter(tx, names, role)


def enter(tx: Tx, names: list[str], role: Role) -> list[Person]:
    """Add people as `add` does, in a transaction that is under way."""
    known = [one.name for one in people.people(tx)]
    twice = [name for name in names if name in known or names.count(name) > 1]
    for name in names:
        check_pseudonym(name)
    if twice:
        raise InputError(f"there is a `{twice[0]}` already; choose another pseudonym")
    apart(names, known)
    added = people.add_people(tx, names, role)
    counts = {"people": len(added), **refill_everywhere(tx, seed=0)}
    note_run(tx, "people", {"add": names, "role": role.value}, counts)
    return added


def check_pseudonym(name: str) -> None:
    """Raise InputError unless a name can stand in lists and name a sheet."""
    sound = name.strip() and name == name.strip() and name.isprintable() and not set(name) & set(",/\\.")
    if not sound or len(name) > LONGEST_NAME:
        raise InputError(
            f"`{name}` cannot be a pseudonym; use a word of at most {LONGEST_NAME} characters without commas, dots, "
            "slashes and outer spaces"
        )


def find(tx: Tx, name: str) -> Person:
    """The person of this name; raises UnknownIdError with the names that there are."""
    everybody = people.people(tx)
    for one in everybody:
        if one.name == name:
            return one
    raise UnknownIdError(f"there is nobody called `{name}`; there are {', '.join(p.name for p in everybody) or 'none'}")


def active(tx: Tx, role: Role, n: int | None) -> list[Person]:
    """The active people in a role; when there are none yet, `n` new ones with numbered pseudonyms.

    Raises what `expected` does.
    """
    names = expected(tx, role, n)
    return people.people(tx, role, active=True) or people.add_people(tx, names, role)


def expected(tx: Tx, role: Role, n: int | None) -> list[str]:
    """The pseudonyms of those whom `active` finds or would add, in its order.

    Raises:
        StageError: there are none and no number was given.
        InputError: a number that is not the number of those who are there, or below 1.
    """
    there = people.people(tx, role, active=True)
    if there:
        if n is not None and n != len(there):
            raise InputError(
                f"{n} {role}s were asked for, but the study has {len(there)} active ones; omit the number, or "
                "change who takes part with `fcpair people`"
            )
        return [one.name for one in there]
    if n is None:
        raise StageError(f"there are no {role}s; give their number, or add them with `{_how_to_add(role)}`")
    if n < 1:
        raise InputError(f"{n} {role}s; at least 1 is needed")
    width = len(str(n))
    names = [f"{_PREFIX[role]}{i:0{width}d}" for i in range(1, n + 1)]
    taken = {one.name for one in people.people(tx)} & set(names)
    if taken:
        raise InputError(f"`{min(taken)}` is taken by somebody in another role; add {role}s with `{_how_to_add(role)}`")
    apart(names, [one.name for one in people.people(tx)])
    return names


def _how_to_add(role: Role) -> str:
    return f"fcpair people add NAME --role {role}"


def change_role(study: OnStudy, name: str, role: Role) -> RunRecord:
    """Give a person without open work another role; who has seen labels cannot come to give any.

    Raises UnknownIdError when there is nobody of that name.
    """
    with study.store.write() as tx:
        person = find(tx, name)
        if person.role in SEE_LABELS and role in GIVE_LABELS and _is_labelled(tx):
            raise StageError(
                f"`{name}` is {person.role} and may have seen labels, so cannot give any; add somebody else with "
                f"`{_how_to_add(role)}`"
            )
        open_ = _open_counts(tx).get(person.id, 0)
        if open_:
            raise StageError(f"`{name}` has {open_:,} open pairs; `fcpair people handover {name}` first")
        people.set_role(tx, person.id, role)
        params = {"role": name, "to": role.value, "from": person.role.value}
        return note_run(tx, "people", params, refill_everywhere(tx, seed=0))


def _is_labelled(tx: Tx) -> bool:
    """Whether there are answers in any grid that decisions rest on."""
    return any(judgements.n_judgements(tx, rounds.counting(tx)) for _ in grids.each(tx))


def retire(study: OnStudy, name: str, *, seed: int = 0) -> RunRecord:
    """Let a person go; open work goes to others, what they did stays."""
    with study.store.write() as tx:
        person = find(tx, name)
        if person.retired:
            raise StageError(f"`{name}` has been retired already")
        people.retire(tx, person.id)
        withdrawn = assignments.withdraw(tx, person.id)
        counts = {"withdrawn": withdrawn, **refill_everywhere(tx, seed)}
        return note_run(tx, "people", {"retire": name, "seed": seed}, counts)


def hand_over(study: OnStudy, name: str, to: str | None = None, *, seed: int = 0) -> RunRecord:
    """Give a person's open work to `to`, as far as they may take it, and the rest to all others in their role."""
    with study.store.write() as tx:
        person = find(tx, name)
        heir = None if to is None else _heir(tx, person, to)
        withdrawn = assignments.withdraw(tx, person.id)
        if not withdrawn:
            raise StageError(f"`{name}` has no open work")
        first = refill_everywhere(tx, seed, to=heir) if heir else {"reassigned": 0}
        rest = refill_everywhere(tx, seed)
        counts = {"withdrawn": withdrawn, **rest, "reassigned": first["reassigned"] + rest["reassigned"]}
        return note_run(tx, "people", {"handover": name, "to": to, "seed": seed}, counts)


def _heir(tx: Tx, person: Person, to: str) -> Person:
    heir = find(tx, to)
    if heir.id == person.id or heir.role is not person.role or heir.retired:
        raise InputError(f"`{to}` cannot take over from `{person.name}`; name another active {person.role}")
    return heir


def _open_counts(tx: Tx) -> dict[int, int]:
    found = Counter[int]()
    for one in assignments.counted(tx):
        if one.status == Status.OPEN.value:
            found[one.person_id] += one.n
    return found

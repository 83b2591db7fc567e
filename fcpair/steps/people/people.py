"""The people of a study: adding them, changing their roles, letting them begin and letting them go."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.param_values import N_PEOPLE
from fcpair.params import LONGEST_NAME, check_distinct_spelling
from fcpair.records import WORKERS, Known, Person, Role, RunRecord, Status
from fcpair.sentences import Id, say
from fcpair.steps.base import departures
from fcpair.steps.base.context import GridContext, StudyContext, note_run
from fcpair.steps.people.known_pairs import KNOWN_PAIRS, LET_ON, Standing, assign_everywhere, standing_of
from fcpair.steps.people.reassignment import reassign_everywhere
from fcpair.store import Tx, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings

SEEING_LABELS_ROLES = (Role.ADJUDICATOR, Role.LEAD)
LABELLING_ROLES = tuple(role for role in WORKERS if role is not Role.VALIDATOR)
_PREFIX = {Role.ANNOTATOR: "a", Role.VALIDATOR: "v", Role.WRITER: "w", Role.RATER: "r", Role.RESPONDENT: "p"}


def add(study: StudyContext, names: list[str], role: Role) -> list[Person]:
    """Add people in one role under pseudonyms; they get the work that nobody could take so far."""
    with study._store.write() as tx:
        return enrol_people(tx, names, role)


def enrol_people(tx: Tx, names: list[str], role: Role) -> list[Person]:
    """Add people as `add` does, in a transaction that is under way."""
    existing_names = [person.name for person in people.people(tx)]
    check_n_people(len(existing_names) + len(names))
    for name in names:
        check_pseudonym(name)
    counted = Counter([*existing_names, *names])
    if duplicates := [name for name in names if counted[name] > 1]:
        raise InputError.say("`%(name)s` already exists; choose another pseudonym", name=duplicates[0])
    check_distinct_spelling(names, existing_names)
    new_people = people.add_people(tx, names, role)
    _give_work(tx, {"add": names, "role": role.value}, people=len(new_people))
    return new_people


def _give_work(tx: Tx, params: dict[str, Any], seed: int = 0, **counts: int) -> RunRecord:
    run = note_run(tx, "people", params, counts | reassign_everywhere(tx, seed) | assign_everywhere(tx))
    departures.update_people(tx, run.id)
    return run


def check_n_people(n: int) -> None:
    """Raise InputError for more people than a study can have."""
    if n > (N_PEOPLE.most or 0):
        raise InputError.say("a study of %(number)s people; expected %(most)s at most", number=n, most=N_PEOPLE.most)


def check_pseudonym(name: str) -> None:
    """Raise InputError unless a name can stand in lists and name a sheet."""
    is_valid = name.strip() and name == name.strip() and name.isprintable() and not set(name) & set(",/\\.")
    if not is_valid or len(name) > LONGEST_NAME:
        raise InputError.say(
            "`%(name)s` cannot be a pseudonym; use a word of at most %(number)s characters without commas, dots, "
            "slashes and outer spaces",
            name=name,
            number=Id(LONGEST_NAME),
        )


def find_person(tx: Tx, name: str) -> Person:
    """The person of this name; raises UnknownIdError with the names that there are."""
    people_by_name = {person.name: person for person in people.people(tx)}
    if name not in people_by_name:
        names = [*people_by_name] or say("none")
        raise UnknownIdError.say("there is nobody called `%(name)s`; there are %(codes)s", name=name, codes=names)
    return people_by_name[name]


def ensure_active(tx: Tx, role: Role, n: int | None) -> list[Person]:
    """The active people in a role, by name, or `n` new ones with numbered pseudonyms; raises as `expected_names`."""
    names = expected_names(tx, role, n)
    active_people = people.people(tx, role, active=True) or people.add_people(tx, names, role)
    return sorted(active_people, key=lambda person: person.name)  # nothing rests on who was added first


def expected_names(tx: Tx, role: Role, n: int | None) -> list[str]:
    """Names that `ensure_active` finds or would add; StageError for no number, InputError for an impossible one."""
    active_people = people.people(tx, role, active=True)
    if active_people:
        if n is not None and n != len(active_people):
            raise InputError.say(
                "%(n)s %(people)s were asked for, but the study has %(active)s active ones; omit the number, or "
                "change who takes part with `fcpair people`",
                n=n,
                people=say(f"{role}s"),
                active=len(active_people),
            )
        return sorted(person.name for person in active_people)
    if n is None:
        raise StageError.say(
            "there are no %(people)s; give their number, or add them with `%(command)s`",
            people=say(f"{role}s"),
            command=_how_to_add(role),
        )
    if n < 1:
        raise InputError.say("%(n)s %(people)s; at least 1 is needed", n=n, people=say(f"{role}s"))
    check_n_people(n)
    width = len(str(n))
    names = [f"{_PREFIX[role]}{i:0{width}d}" for i in range(1, n + 1)]
    existing_names = [person.name for person in people.people(tx)]
    if taken_names := {*existing_names} & {*names}:
        raise InputError.say(
            "`%(name)s` is taken by somebody in another role; add %(people)s with `%(command)s`",
            name=min(taken_names),
            people=say(f"{role}s"),
            command=_how_to_add(role),
        )
    check_distinct_spelling(names, existing_names)
    return names


def _how_to_add(role: Role) -> str:
    return f"fcpair people add NAME --role {role}"


def change_role(study: StudyContext, name: str, role: Role) -> RunRecord:
    """Give a person without open work another role; who has seen labels cannot come to give any.

    Raises UnknownIdError for no such person, StageError for the retired, for open pairs, and who may have seen labels.
    """
    with study._store.write() as tx:
        person = find_person(tx, name)
        if person.retired:
            raise StageError.say(
                "`%(name)s` has been retired and takes no further part; add them under another name", name=name
            )
        if (
            person.role in SEEING_LABELS_ROLES
            and role in LABELLING_ROLES
            and any(judgements.n_judgements(tx, rounds.primary(tx)) for _ in grids.for_each_grid(tx))
        ):
            raise StageError.say(
                "`%(name)s` is %(role)s and may have seen labels, so cannot give any; add somebody else with "
                "`%(text)s`",
                name=name,
                role=say(person.role.value),
                text=_how_to_add(role),
            )
        if n_open := _n_open(tx, person.id):
            raise StageError.say(
                "`%(name)s` has %(number)s open pairs; `fcpair people handover %(text)s` first",
                name=name,
                number=n_open,
                text=name,
            )
        people.change(tx, person.id, role=role.value)
        return _give_work(tx, {"role": name, "to": role.value, "from": person.role.value})


def retire(study: StudyContext, name: str, *, seed: int = 0) -> RunRecord:
    """Let a person go; open work goes to others, what they did stays."""
    with study._store.write() as tx:
        person = find_person(tx, name)
        if person.retired:
            raise StageError.say("`%(name)s` has been retired already", name=name)
        people.retire(tx, person.id)
        n_withdrawn = assignments.withdraw_open(tx, person.id)
        return _give_work(tx, {"retire": name, "seed": seed}, seed, withdrawn=n_withdrawn)


def hand_over(
    study: StudyContext, name: str, to: str | None = None, *, last: int | None = None, seed: int = 0
) -> RunRecord:
    """Give a person's open work to `to`, as far as they may take it, and the rest to all others in their role.

    With `last`, only so many pairs, those that they would come to last. Raises UnknownIdError for an unknown name,
    StageError for no open work, InputError for a `last` that they have not open, or a `to` who cannot take over.
    """
    with study._store.write() as tx:
        person = find_person(tx, name)
        successor = None if to is None else find_person(tx, to)
        if successor and (successor.id == person.id or successor.role is not person.role or successor.retired):
            raise InputError.say(
                "`%(other)s` cannot take over from `%(name)s`; name another active %(role)s",
                other=to,
                name=person.name,
                role=say(person.role.value),
            )
        if not (n_open := _n_open(tx, person.id)):
            raise StageError.say("`%(name)s` has no open work", name=name)
        if last is not None and not 1 <= last <= n_open:
            raise InputError.say(
                "%(number)s pairs of `%(name)s` cannot be handed over; expected 1 to %(most)s, which are open",
                number=last,
                name=name,
                most=n_open,
            )
        n_withdrawn = assignments.withdraw_open(tx, person.id, last)
        first = reassign_everywhere(tx, seed, to=successor) if successor else {"reassigned": 0}
        rest = reassign_everywhere(tx, seed)
        counts = {"withdrawn": n_withdrawn, **rest, "reassigned": first["reassigned"] + rest["reassigned"]}
        counts |= assign_everywhere(tx)
        part = {} if last is None else {"pairs": last}
        return note_run(tx, "people", {"handover": name, "to": to, **part, "seed": seed}, counts)


def _n_open(tx: Tx, person_id: int) -> int:
    return assignments.sums_of_people(assignments.counts_of_all_grids(tx))[person_id][Status.OPEN.value]


def let_on(grid: GridContext, name: str) -> RunRecord:
    """Let somebody below the pass mark begin; UnknownIdError for no such name, StageError for who does not wait."""
    with grid._store.write() as tx:
        person = find_person(tx, name)
        qualification = next(iter(rounds.of_known_pairs(tx, use=Known.QUALIFICATION)), None)
        if qualification is None or person.retired or standing_of(tx, qualification, person.id) is not Standing.WAITS:
            raise StageError.say(
                "`%(name)s` is not waiting to be let on; `fcpair people qualified` shows who is", name=name
            )
        run = note_run(tx, "people", {LET_ON: name, "grid": grid.grid.name}, {"people": 1})
        earlier_ids = settings.of_stage(tx, KNOWN_PAIRS).get(LET_ON, [])
        settings.save_settings(tx, KNOWN_PAIRS, {LET_ON: [*earlier_ids, person.id]}, run.id)
        return run

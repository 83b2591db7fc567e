"""The people of a study: adding them, their roles, letting them begin and go; and the terms on which they take part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fcpair.errors import ConflictError, InputError, LimitError, StageError, UnknownIdError
from fcpair.param_values import N_PEOPLE
from fcpair.params import DEFAULT_CONSENT, LONGEST_NAME, MOST_GUIDELINES, Annotate, check_distinct_spelling
from fcpair.records import TOPIC_SPLIT, WORKERS, Known, Person, Role, RunRecord, Status
from fcpair.sentences import Id, say, say_number
from fcpair.stages.assignment.pace import start_of_day
from fcpair.steps.base import departures
from fcpair.steps.base.context import GridContext, StudyContext, effective_options, note_run, note_stage_run
from fcpair.steps.base.keywords import check_seen, own, takes_params
from fcpair.steps.people.known_pairs import KNOWN_PAIRS, LET_ON, Standing, assign_everywhere, standing_of
from fcpair.steps.people.reassignment import reassign_everywhere
from fcpair.store import Tx, disputes, people
from fcpair.store.answers import judgements, task_queries
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.store.database.store import latest_plausible_time
from fcpair.store.oversight import settings
from fcpair.values import is_blank
from fcpair.work_records import Reading

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


LIMITS = ("daily_limit", "total_limit")


@takes_params
def save_terms(
    study: StudyContext,
    options: Annotate | None = None,
    *,
    seen: str | None = None,
    loosen: bool = False,
    ask_again: bool = False,
    about: str = own(""),
    warning: str | None = own(None),
    consent: str = own(DEFAULT_CONSENT),
    thanks: str | None = own(None),
    contact: str = own(""),
    demographics: Sequence[str] = own(()),
    compare: Sequence[str] = own(()),
    opt_out: str | None = own(None),
    opt_out_split: str = own(TOPIC_SPLIT),
    pause_pairs: int = own(50),
    pause_minutes: int = own(20),
    daily_limit: int | None = own(None),
    total_limit: int | None = own(None),
    offline: bool = own(True),
) -> RunRecord:
    """Set the texts, questions and limits for people who answer in the browser, which a server takes up in half a
    minute.

    Who has agreed goes on, unless everybody is to `ask_again` before their next pair; both consents are kept then.

    Raises:
        InputError: a limit that is looser than the study's, or another opt-out, without `loosen`.
        ConflictError: the terms are no longer those that somebody has `seen` (`digest_params`).
    """
    with study._store.write() as tx, grids.on_first_grid(tx):
        check_seen(tx, Annotate, seen)
        terms = effective_options(tx, Annotate, {}) if options is None else options
        if not loosen:
            check_not_looser(tx, terms)
        counts = {"questions": len(terms.demographics)}
        if ask_again:
            counts["asked_again"] = people.n_consents(tx)
        run = note_stage_run(tx, terms, counts)
        if ask_again:
            people.ask_consent_again(tx, run.id)
        return run


def _midnight() -> str:
    return start_of_day(datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds")


def check_not_looser(tx: Tx, terms: Annotate) -> None:
    """Raise InputError where terms have a looser limit than the study, or another opt-out."""
    if looser := list(loosened_limits(tx, terms)):
        looser_list = [
            say("`%(key)s` is %(limit)s (given: %(value)s)", key=key, limit=limit, value=value or say("none"))
            for key, value, limit in looser
        ]
        raise InputError.say(
            "these terms are looser than those of the study, where %(looser_list)s; use `--loosen` if you mean it",
            looser_list=looser_list,
        )


@dataclass(frozen=True)
class ReadingAllowance:
    """Pairs that a person has read (answered, skipped or decided) since midnight and in all, and how many one may (or
    None).

    `ahead` of those of today have a time that has not come yet, as a clock was wrong; counted where it fills the daily
    limit.
    """

    today: int
    read: int
    daily_limit: int | None
    total_limit: int | None
    ahead: int = 0

    @property
    def n_remaining(self) -> int | None:
        """Number of pairs that the person may still read now; None without a limit."""
        limits = ((self.today, self.daily_limit), (self.read, self.total_limit))
        remainders = [limit - n for n, limit in limits if limit is not None]
        return max(min(remainders), 0) if remainders else None

    @property
    def limit(self) -> str | None:
        """A sentence when a limit is reached."""
        if self.total_limit is not None and self.read >= self.total_limit:
            return say(
                "You have read %(n_nouns)s, as many as one person may read in this study. Thank you.",
                n_nouns=say_number("%(n)s pair", "%(n)s pairs", self.read),
            )
        if self.daily_limit is None or self.today < self.daily_limit:
            return None
        pairs = say_number("%(n)s pair", "%(n)s pairs", self.today)
        if self.ahead:
            return say(
                "You have read %(n_nouns)s today, as many as one person may read in a day. The recorded time of "
                "%(number)s of them is in the future: a clock was or is wrong. Please tell the people who run the "
                "study.",
                n_nouns=pairs,
                number=Id(self.ahead),
            )
        return say(
            "You have read %(n_nouns)s today, as many as one person may read in a day. Please come back tomorrow.",
            n_nouns=pairs,
        )

    @property
    def shown(self) -> Reading:
        """The part that the person is shown."""
        return Reading(self.today, self.read, self.daily_limit, self.total_limit, self.limit)


def reading_allowance(tx: Tx, person_id: int, annotate: Annotate, *, decides: bool = False) -> ReadingAllowance:
    """Count the pairs that a person has read, and may read on these terms."""
    counts = [task_queries.pairs_read]
    if decides or has_limit(annotate):  # decisions have no index by person, so they are counted only where they matter
        counts.append(disputes.n_pairs_decided)
    today, read = (sum(count(tx, person_id, since) for count in counts) for since in (_midnight(), ""))
    full = annotate.daily_limit is not None and today >= annotate.daily_limit
    ahead = sum(count(tx, person_id, latest_plausible_time()) for count in counts) if full else 0
    return ReadingAllowance(today, read, annotate.daily_limit, annotate.total_limit, ahead)


def has_limit(annotate: Annotate) -> bool:
    """Return whether these terms limit what one person may read."""
    return (annotate.daily_limit, annotate.total_limit) != (None, None)


def limit_reached(tx: Tx, person_id: int, annotate: Annotate) -> str | None:
    """A sentence when a person has reached a limit; nothing is counted if there is none."""
    return reading_allowance(tx, person_id, annotate).limit if has_limit(annotate) else None


def n_readable(tx: Tx, person_id: int, annotate: Annotate) -> int | None:
    """Number of pairs that a person may still read now; None without a limit, and then nothing is counted."""
    return reading_allowance(tx, person_id, annotate).n_remaining if has_limit(annotate) else None


def check_reading_limit(tx: Tx, person_id: int, annotate: Annotate, cell_id: int) -> None:
    """Raise LimitError where somebody who decides has reached a limit; what they have decided once, they have read."""
    limit = limit_reached(tx, person_id, annotate)
    if limit and not disputes.has_decided(tx, cell_id, person_id):
        raise LimitError(limit)


def loosened_limits(tx: Tx, annotate: Annotate) -> Iterator[tuple[str, int | str | None, int | str]]:
    """The limits that these terms would loosen, and the opt-out that they would end: key, new and own value."""
    study_terms = effective_options(tx, Annotate, {})
    for key in LIMITS:
        new_limit, limit = getattr(annotate, key), getattr(study_terms, key)
        if limit is not None and (new_limit is None or new_limit > limit):
            yield key, new_limit, limit
    if study_terms.opt_out is not None and annotate.opt_out != study_terms.opt_out:
        yield "opt_out", annotate.opt_out, study_terms.opt_out


def guideline_versions(study: StudyContext) -> list[dict[str, Any]]:
    """Every version of the guidelines, oldest first: `version`, `body`, `at`, `by` (None: as the study was made), and
    `judgements` that were given online while it held.
    """
    with study._store.read() as tx:
        return people.guideline_versions(tx)


@dataclass(frozen=True)
class GuidelineReader:
    """The versions of the guidelines that a person is known to have been shown, or None.

    `at_consent` held when they consented; `answered` is the newest of their `n_answers` on the pages.
    """

    name: str
    role: Role
    at_consent: int | None
    answered: int | None
    n_answers: int

    @property
    def newest(self) -> int | None:
        """The newest version that they are known to have been shown."""
        return max((terms for terms in (self.at_consent, self.answered) if terms is not None), default=None)


def guideline_readers(study: StudyContext) -> list[GuidelineReader]:
    """The versions that everybody who takes part and answers or decides has been shown, in the order of `people`."""
    with study._store.read() as tx:
        answered, all_versions = people.answers_by_guidelines(tx), people.guideline_versions(tx)
        consents = {row["name"]: row["consented_at"] for row in people.terms(tx)}
        reading = [person for person in people.people(tx, active=True) if person.role in (*WORKERS, Role.ADJUDICATOR)]
    at_consent = {  # who has not consented has no time
        name: max((row["version"] for row in all_versions if at and row["at"] <= at), default=None)
        for name, at in consents.items()
    }
    return [
        GuidelineReader(person.name, person.role, at_consent.get(person.name), *answered.get(person.id, (None, 0)))
        for person in reading
    ]


def edit_guidelines(study: StudyContext, body: str, *, by: str, seen: int | None = None) -> RunRecord:
    """Publish a new version of the guidelines, `by` a person of the study; earlier ones and what rests on them stay.

    Raises ConflictError where another version than the one `seen` (None: not told) holds, UnknownIdError for nobody
    called `by`, InputError for an empty or too long text, StageError for the text that holds already.
    """
    with study._store.write() as tx:
        if is_blank(body) or "\0" in body:
            raise InputError.say("the guidelines are empty or hold a NUL; write what annotators should do")
        check_guidelines(body)
        newest, current_body = people.current_guidelines(tx)
        if seen not in (None, newest):
            raise ConflictError.say(
                "somebody else has edited the guidelines since you opened them, and version %(number)s is current now",
                number=Id(newest),
            )
        if body == current_body:
            raise StageError.say("these are already the current guidelines")
        version = people.add_guidelines(tx, body, find_person(tx, by).id)
        return note_run(tx, "guidelines", {"by": by}, {"version": version})


def check_guidelines(body: str) -> None:
    """Raise InputError for a text that has more than MOST_GUIDELINES."""
    if (n_bytes := len(body.encode("utf-8", "replace"))) > MOST_GUIDELINES:
        raise InputError.say(
            "the guidelines have %(number)s bytes (as UTF-8); the limit is %(most)s. Put pictures and long lists "
            "behind a link",
            number=n_bytes,
            most=MOST_GUIDELINES,
        )

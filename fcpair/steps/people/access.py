"""Access to a study, and its terms: invitations, consent, and what a person does not want to read."""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, ip_address, ip_network
from threading import BoundedSemaphore
from typing import Any

from fcpair.errors import InputError, StageError, StudyError, TooManyError
from fcpair.params import Annotate
from fcpair.records import TOPIC_SPLIT, Person, Role, RunRecord, Status, Visitor
from fcpair.steps.base.context import StudyContext, lease_minutes, note_run
from fcpair.steps.people import known_pairs, reassignment
from fcpair.steps.people.people import check_not_looser, enrol_people, find_person, loosened_limits
from fcpair.store import Store, Tx, optouts, people
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import grids
from fcpair.store.optouts import OptOut, topic_key
from fcpair.store.oversight import build_progress, runs, settings
from fcpair.words import PAGE_LANGUAGES
from fcpair.work_records import Topic

TOKEN_BYTES = 24
_FAREWELL = "farewell"  # the settings of the first grid with the reasons of dismissals
MAX_FAILURES = 20
"""So many attempts from one neighbourhood may fail in any WINDOW_S seconds."""

MAX_FAILURES_IN_ALL = 1_200
"""... and so many from everywhere, so that strangers with many addresses fill no disk."""

WINDOW_S = 60
MAX_WAITING = 16
"""So many threads of a process wait at most to count one while somebody else writes."""

RETRY_S = 2
UNREADABLE = "?"
_SUBSCRIBER = 64  # bits of an IPv6 address that a subscriber is given; the rest they choose, anew for each attempt


class Access:
    """Lets people in by their token, of which a SHA-256 alone is kept, and remembers their terms."""

    def __init__(self, study: StudyContext) -> None:
        self._store = study._store
        self.attempts = LoginThrottle(study._store)

    @property
    def secret(self) -> str:
        """Secret of the study that never changes: the name of its cookie comes from it."""
        with self._store.read() as tx:
            return runs.secret(tx)

    @property
    def session_secret(self) -> str:
        """Secret with which sessions are signed now."""
        with self._store.read() as tx:
            return runs.secret(tx, "session_secret")

    def rotate_secret(self) -> RunRecord:
        """Sign sessions with a new secret: every session ends at a server's next request; invite links hold."""
        with self._store.write() as tx:
            people.renew_session_secret(tx)
            return note_run(tx, "people", {"rotate_secret": True}, {"people": len(people.ids_with_token(tx))})

    def end_session(self, person_id: int, session: str, lasts_s: float) -> None:
        """End one session of a person, and every copy of its cookie, which lasts for `lasts_s` seconds."""
        with self._store.write() as tx:
            people.end_session(tx, person_id, session, lasts_s)

    def add(self, names: list[str], role: Role) -> dict[str, str]:
        """Add people in one role as `Study.add_people` does, and invite them: their tokens by name, shown this once.

        All are added and invited, or none. Raises InputError where one of the names cannot be a pseudonym, or is taken.
        """
        with self._store.write() as tx:
            return _issue_tokens(tx, enrol_people(tx, names, role))

    def add_all(self, roles: Mapping[str, Role]) -> dict[str, str]:
        """Add people, each in a role of their own, and invite them, as `add` does: all of them, or none."""
        with self._store.write() as tx:
            tokens: dict[str, str] = {}
            for role in dict.fromkeys(roles.values()):
                names = [name for name, own_role in roles.items() if own_role is role]
                tokens |= _issue_tokens(tx, enrol_people(tx, names, role))
            return {name: tokens[name] for name in roles}

    def invite(self, name: str) -> str:
        """A new token for a person, which ends the one before and its sessions; raises what `invite_all` does."""
        return self.invite_all([name])[name]

    def invite_all(
        self, names: Sequence[str] | None = None, keep: Callable[[dict[str, str]], None] = lambda _: None
    ) -> dict[str, str]:
        """New tokens for these people, or for everybody active who has none, by name; all of them, or none.

        `keep` is called with them before they hold: where it fails, the tokens before still do. Raises UnknownIdError
        for an unknown name, StageError for who takes no further part, models, and if there is nobody to invite.
        """
        with self._store.write() as tx:
            if names is None:
                ids_with_token, everybody = people.ids_with_token(tx), people.people(tx, active=True)
                can_have_token = (person for person in everybody if person.role is not Role.MODEL)
                invitees = [person for person in can_have_token if person.id not in ids_with_token]
            else:
                invitees = [find_person(tx, name) for name in dict.fromkeys(names)]
            if not invitees and not people.people(tx, active=True):
                raise StageError.say(
                    "nobody takes part yet; `fcpair people add NAME` adds somebody, with an invite link"
                )
            if not invitees:
                raise StageError.say("everybody has an invite link; `fcpair people invite NAME` makes a new one")
            if retired := [person.name for person in invitees if person.retired]:
                raise StageError.say("`%(name)s` has been retired, so cannot be invited", name=retired[0])
            if models := [person.name for person in invitees if person.role is Role.MODEL]:
                raise StageError(
                    f"`{models[0]}` is a model, for which `fcpair run` answers; models have no invite links"
                )
            tokens = _issue_tokens(tx, invitees)
            keep(tokens)
        return tokens

    def revoke(self, name: str) -> RunRecord:
        """End a person's token and sessions; UnknownIdError for an unknown name, StageError for who has no token."""
        with self._store.write() as tx:
            person = find_person(tx, name)
            if person.id not in people.ids_with_token(tx):
                raise StageError.say("`%(name)s` has no invite link that could be revoked", name=name)
            people.set_token(tx, person.id, None)
            return note_run(tx, "people", {"revoke": name}, {"people": 1})

    def invited(self) -> set[str]:
        """The names of those who have a token."""
        with self._store.read() as tx:
            ids = people.ids_with_token(tx)
            return {person.name for person in people.people(tx) if person.id in ids}

    def by_token(self, token: str) -> Visitor | None:
        """Visitor whom a token lets in; None when it is unknown, replaced, revoked, or its owner is retired."""
        token_hash = _hash_token(token)
        with self._store.read() as tx:
            visitor = people.visitor_by_hash(tx, token_hash)
        return visitor if visitor and hmac.compare_digest(visitor.key, token_hash) else None

    def by_id(self, person_id: int, session: str = "") -> Visitor | None:
        """The person of a session, whose `key` and `session_secret` the caller compares; None when it or they ended."""
        with self._store.read() as tx:
            return people.visitor_by_id(tx, person_id, session)

    def farewell(self, token: str) -> str | None:
        """Reason for which the owner of a token was dismissed; None where they were not, or no reason was given."""
        token_hash = _hash_token(token)
        with self._store.read() as tx:
            owners = [id_ for id_, key in people.retired_keys(tx).items() if hmac.compare_digest(key, token_hash)]
            return _farewells(tx).get(str(owners[0])) if owners else None

    def farewell_of(self, person_id: int) -> tuple[str, str] | None:
        """The key by which somebody came and the reason for which they were dismissed; the caller compares the key."""
        with self._store.read() as tx:
            key, reason = people.retired_keys(tx).get(person_id), _farewells(tx).get(str(person_id))
        return (key, reason) if key and reason else None

    def consent(self, person_id: int, demographics: dict[str, str], sentence: str = "") -> None:
        """Note that a person agreed to `sentence`, and what they chose to say about themselves.

        The first consent stands until people are asked again; what was agreed to and said before is kept.
        """
        with self._store.write() as tx:
            if people.is_asked_again(tx, person_id):
                name = next(person.name for person in people.people(tx) if person.id == person_id)
                run = note_run(tx, "people", {"consent_again": name}, {"people": 1})
                people.renew_consent(tx, person_id, sentence, run.id)
            people.note_consent(tx, person_id, demographics, sentence)

    def terms(self) -> list[dict[str, Any]]:
        """On what terms people take part: `name`, `role`, `consented_at` (None: not yet), `consented_to` (the
        sentence), `earlier_consents` (times and sentences), `demographics` (by question), `opted_out` (topics by
        metadata column).
        """
        with self._store.read() as tx:
            return people.terms(tx)

    def forget(self, name: str) -> RunRecord:
        """Delete what a person said about themselves, their refused texts, and once they are retired their opt-outs.

        Their answers stay, under their pseudonym. Raises UnknownIdError when there is nobody of that name.
        """
        with self._store.write() as tx:
            people.forget(tx, find_person(tx, name).id)
            return note_run(tx, "people", {"forget": name}, {"people": 1})

    def set_blurred(self, person_id: int, blurred: bool) -> None:
        """Remember whether a person wants the HS blurred until they ask for it."""
        with self._store.write() as tx:
            people.change(tx, person_id, blurred=blurred)

    def set_keeps_refused(self, person_id: int, keeps: bool) -> None:
        """Remember whether a person lets their texts be kept that the checks of a round refuse."""
        with self._store.write() as tx:
            people.change(tx, person_id, keeps_refused=keeps)

    def set_language(self, person_id: int, language: str) -> None:
        """Remember the language in which a person wants the pages; raises InputError where they are not in it."""
        if language not in PAGE_LANGUAGES:
            raise InputError.say(
                "there are no pages in `%(code)s`; expected one of %(codes)s", code=language, codes=PAGE_LANGUAGES
            )
        with self._store.write() as tx:
            people.change(tx, person_id, language=language)

    def topics(self, person_id: int, column: str, split: str = TOPIC_SPLIT) -> list[Topic]:
        """The topics of a metadata column that a person may opt out of; each character of `split` splits values."""
        with self._store.read() as tx:
            opt_outs = [
                opt_out for opt_out in people.opt_outs(tx, person_id).get(person_id, ()) if opt_out.column == column
            ]
            open_counts = optouts.open_by_topic(tx, person_id, column, split)
            return [
                Topic(topic, open_counts[topic_key(topic)], any(out.covers(topic) for out in opt_outs))
                for topic in optouts.topics(tx, column, split)
            ]

    def loosened_limits(self, annotate: Annotate) -> list[tuple[str, int | str | None, int | str]]:
        """The limits that terms would loosen, and the opt-out that they would end: key, new and own value."""
        with self._store.read() as tx:
            return list(loosened_limits(tx, annotate))

    def check_terms(self, annotate: Annotate, *, loosen: bool = False) -> None:
        """Raise InputError for an opt-out that no text of the grid, if there is one yet, has metadata for, or for terms
        looser than the study's, unless that is meant (`loosen`).
        """
        with self._store.read() as tx:
            if not loosen:
                check_not_looser(tx, annotate)
            column = annotate.opt_out
            if column is not None and build_progress.n_built(tx)["pair"] and not optouts.topics(tx, column, ""):
                raise InputError.say(
                    "no text of the study has metadata called `%(name)s`, so nobody can opt out by it", name=column
                )

    def opt_out(
        self, person_id: int, column: str, chosen: Sequence[str], *, split: str = TOPIC_SPLIT, seed: int = 0
    ) -> RunRecord:
        """Spare a person the pairs whose texts name one of these topics; open ones go to others.

        `chosen` is everything that the person opts out of among the `topics` of this column. What was taken back for a
        topic that is omitted comes back in its place, whoever has answered it meanwhile, as somebody who sees only what
        nobody else needed could tell control pairs by that. Raises InputError for a topic that no text of the grid
        names.
        """
        with self._store.write() as tx:
            all_topics = optouts.topics(tx, column, split)
            keys = {topic_key(topic) for topic in all_topics}
            if unknown_topics := sorted(topic for topic in chosen if topic_key(topic) not in keys):
                raise InputError.say(
                    "no text of the study has `%(text)s` as its `%(name)s`", text=unknown_topics[0], name=column
                )
            old_opt_outs = people.opt_outs(tx, person_id).get(person_id, ())
            kept_opt_outs = (item.unlisted_part(all_topics) if item.column == column else item for item in old_opt_outs)
            new_opt_outs = [*kept_opt_outs, OptOut(column, split, tuple(sorted(set(chosen))))]
            people.change(tx, person_id, opted_out=optouts.to_stored(new_opt_outs))
            by_round: dict[tuple[int, int], list[int]] = {}  # what was taken back for topics that count no more
            for taken in optouts.taken_back(tx, person_id, new_opt_outs):
                by_round.setdefault((taken.grid_id, taken.round_id), []).append(taken.id)
            returned = []
            for (grid_id, round_id), ids in by_round.items():
                with grids.on_grid(tx, grid_id):
                    round_ = rounds.by_id(tx, round_id)
                    if lease_minutes(tx, round_) is not None:
                        assignments.set_status(tx, ids, Status.WITHDRAWN)
                    elif not known_pairs.is_closed_to(tx, round_, person_id):
                        returned += ids
            for assignment_id in returned:  # who has it open instead loses it
                if not open_slots.reclaim_skipped(tx, assignment_id):
                    open_slots.leave_slot(tx, assignment_id)
            assignments.set_status(tx, returned, Status.OPEN)
            counts = {"withdrawn": withdraw_opted_out(tx, [person_id]), "returned": len(returned)}
            counts |= reassignment.reassign_everywhere(tx, seed)
            name = next(item.name for item in people.people(tx) if item.id == person_id)
            return note_run(tx, "people", {"opt_out": name}, counts)

    def spare(self, *, seed: int = 0) -> None:
        """Give to others what people have open though they opted out of it, as fcpair before 0.4 left it.

        Called wherever open pairs are about to reach people; if there is nothing to do, nothing is written.
        """
        with self._store.read() as tx:
            due_ids = [
                person for person, opt_outs in people.opt_outs(tx).items() if optouts.n_open_about(tx, person, opt_outs)
            ]
        if not due_ids:
            return
        with self._store.write() as tx:
            names = [person.name for person in people.people(tx) if person.id in due_ids]
            counts = {"withdrawn": withdraw_opted_out(tx, due_ids), **reassignment.reassign_everywhere(tx, seed)}
            note_run(tx, "people", {"spare": names}, counts)


def save_farewell(tx: Tx, person_id: int, reason: str, run_id: int) -> None:
    """Keep the reason for which somebody is dismissed, which they read when they come back."""
    with grids.on_first_grid(tx):
        settings.save_settings(tx, _FAREWELL, {str(person_id): reason}, run_id)


def _farewells(tx: Tx) -> dict[str, str]:
    with grids.on_first_grid(tx):
        return settings.of_stage(tx, _FAREWELL)


def _issue_tokens(tx: Tx, invitees: Sequence[Person]) -> dict[str, str]:
    tokens = {person.name: secrets.token_urlsafe(TOKEN_BYTES) for person in invitees}
    for person in invitees:
        people.set_token(tx, person.id, _hash_token(tokens[person.name]))
        note_run(tx, "people", {"invite": person.name}, {"people": 1})
    return tokens


def withdraw_opted_out(tx: Tx, person_ids: Sequence[int]) -> int:
    """Take back what these people have open of what they opted out of; returns how much there was."""
    opted_out = people.opt_outs(tx)
    return sum(optouts.withdraw_about(tx, id_, opted_out[id_]) for id_ in person_ids if id_ in opted_out)


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class LoginThrottle:
    """Attempts to come in that failed; right tokens never come here.

    One that cannot be counted, as others write, too many come or the disk is full, is refused, or it would go
    uncounted.
    """

    def __init__(self, store: Store, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store, self._clock = store, clock
        self._slots = BoundedSemaphore(MAX_WAITING)

    def count_failure(self, address: str) -> None:
        """Count an attempt from an address that failed; one that is refused is not counted, and writes nothing.

        Raises TooManyError after MAX_FAILURES from its neighbourhood, or MAX_FAILURES_IN_ALL, in WINDOW_S seconds.
        """
        if not self._slots.acquire(blocking=False):
            raise TooManyError(RETRY_S)
        try:
            with self._store.read() as tx:
                # it tells nothing to whoever has not the study's secret, too
                place = hmac.digest(runs.secret(tx).encode(), f"door {neighbourhood(address)}".encode(), "sha256").hex()
                self._check_limits(tx, place)
            with self._store.write(alone=False) as tx:
                people.hold_attempts(tx)
                now = self._check_limits(tx, place)  # again, as others were counted meanwhile
                people.forget_attempts_outside(tx, _counting_span(now))
                people.add_attempt(tx, place, _format_time(now))
        except StudyError as error:
            raise TooManyError(RETRY_S) from error
        finally:
            self._slots.release()

    def _check_limits(self, tx: Tx, place: str) -> datetime:
        now = self._clock()
        for most, scope in ((MAX_FAILURES, place), (MAX_FAILURES_IN_ALL, None)):
            n, oldest = people.tally_attempts(tx, _counting_span(now), scope)
            if n >= most and oldest is not None:
                wait_s = (datetime.fromisoformat(oldest) - now).total_seconds() + WINDOW_S
                raise TooManyError(min(max(math.ceil(wait_s), 1), WINDOW_S))
        return now

    def delete_expired(self) -> None:
        """Delete what does not count any more; where that cannot be done now, the next time does it."""
        with suppress(StudyError):
            span = _counting_span(self._clock())
            with self._store.read() as tx:
                if not people.has_attempts_outside(tx, span):
                    return
            with self._store.write(alone=False) as tx:
                people.forget_attempts_outside(tx, span)


def neighbourhood(address: str) -> str:
    """Neighbourhood that an address counts as: an IPv4 address alone, an IPv6 address with all others of its /64."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return UNREADABLE  # all together, since whoever sends one through a proxy can make up another
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((int(parsed), _SUBSCRIBER), strict=False))


def _counting_span(now: datetime) -> people.TimeSpan:
    """Span of time that counts; a clock that runs ahead by no more than WINDOW_S does not let anybody off."""
    window = timedelta(seconds=WINDOW_S)
    return _format_time(now - window), _format_time(now + window)


def _format_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")

"""The terms on which people take part: what they are told, agree to and are asked, and how much they may read.

The limits on what a person may read are one rule for all who answer or decide, by page, API or dialogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fcpair.errors import InputError, LimitError
from fcpair.params import DEFAULT_CONSENT, Annotate
from fcpair.records import TOPIC_SPLIT, RunRecord
from fcpair.sentences import Id, say, say_number
from fcpair.stages.assignment.pace import start_of_day
from fcpair.steps.base.context import StudyContext, effective_options, note_stage_run
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import check_seen
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import task_queries
from fcpair.store.corpus import grids
from fcpair.store.database.store import latest_plausible_time
from fcpair.store.people import people
from fcpair.work_records import Reading

BEGINNING = ""  # before every time
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
    """Set the texts, questions and limits for people who answer in the browser.

    Who has agreed already goes on, unless everybody is to `ask_again`: then they agree before their next pair, and both
    consents are kept (`Access.terms`). A server takes the terms up by itself, within half a minute.

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


def check_not_looser(tx: Tx, terms: Annotate) -> None:
    """Raise InputError where terms have a looser limit than the study, or another opt-out."""
    if looser := list(loosened_limits(tx, terms)):
        looser_list = [
            say("`%(key)s` is %(limit)s (given: %(value)s)", key=key, limit=limit, value=value or say("none"))
            for key, value, limit in looser
        ]
        raise InputError(
            say(
                "these terms are looser than those of the study, where %(looser_list)s; use `--loosen` if you mean it",
                looser_list=looser_list,
            )
        )


@dataclass(frozen=True)
class ReadingAllowance:
    """The pairs that a person has read since midnight (`today`) and in all (`read`), and how many one may read.

    A pair is read when it is answered, skipped or decided; None stands for no limit. `ahead` of those of today are
    kept with a time that has not come yet, because a clock was wrong; it is counted where it fills the daily limit.
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
        """What the person is shown of it."""
        return Reading(self.today, self.read, self.daily_limit, self.total_limit, self.limit)


def reading_allowance(tx: Tx, person_id: int, annotate: Annotate, *, decides: bool = False) -> ReadingAllowance:
    """Count the pairs that a person has read, and may read on these terms.

    Decisions have no index by person, so they are looked for where they can matter: for somebody who `decides`, and
    where there is a limit.
    """
    counts = [task_queries.pairs_read]
    if decides or has_limit(annotate):
        counts.append(disputes.n_pairs_decided)
    today, read = (sum(count(tx, person_id, since) for count in counts) for since in (_midnight(), BEGINNING))
    full = annotate.daily_limit is not None and today >= annotate.daily_limit
    ahead = sum(count(tx, person_id, latest_plausible_time()) for count in counts) if full else 0
    return ReadingAllowance(today, read, annotate.daily_limit, annotate.total_limit, ahead)


def has_limit(annotate: Annotate) -> bool:
    """Whether these terms limit what one person may read."""
    return (annotate.daily_limit, annotate.total_limit) != (None, None)


def limit_reached(tx: Tx, person_id: int, annotate: Annotate) -> str | None:
    """A sentence when a person has reached a limit; nothing is counted where there is none."""
    return reading_allowance(tx, person_id, annotate).limit if has_limit(annotate) else None


def may_read_more(tx: Tx, person_id: int, annotate: Annotate, n_ahead: int) -> bool:
    """Whether a person may read another pair after `n_ahead` that they have before them."""
    n_remaining = n_readable(tx, person_id, annotate)
    return n_remaining is None or n_remaining > n_ahead


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


def _midnight() -> str:
    """The last midnight where the server is, as the study keeps times."""
    return start_of_day(datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds")

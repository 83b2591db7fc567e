"""The terms on which people take part: what they are told, agree to and are asked, and how much they may read."""

from __future__ import annotations

from collections.abc import Sequence

from fcpair.errors import InputError
from fcpair.params import DEFAULT_CONSENT, Annotate
from fcpair.records import TOPIC_SPLIT, RunRecord
from fcpair.steps.base.context import StudyContext, effective_options, note_stage_run
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import check_seen
from fcpair.steps.people.reading_limits import loosened_limits
from fcpair.store import Tx
from fcpair.store.corpus import grids
from fcpair.store.people import people


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
        looser_list = ", ".join(f"`{key}` is {limit} (given: {value or 'none'})" for key, value, limit in looser)
        raise InputError(
            f"these terms are looser than those of the study, where {looser_list}; use `--loosen` if you mean it"
        )

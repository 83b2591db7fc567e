"""The guidelines that annotators follow: the version that holds, and every one before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.params import MOST_GUIDELINES
from fcpair.records import WORKERS, Role, RunRecord
from fcpair.sentences import Id, say
from fcpair.steps.base.context import StudyContext, note_run
from fcpair.steps.people.people import find_person
from fcpair.store.people import people
from fcpair.values import is_blank


def versions(study: StudyContext) -> list[dict[str, Any]]:
    """Every version of the guidelines, oldest first.

    Keys: `version`, `body`, `at`, `by` (None: as the study was made), and `judgements`, which counts those that were
    given online while it held; for imported ones nobody knows.
    """
    with study._store.read() as tx:
        return people.guideline_versions(tx)


@dataclass(frozen=True)
class GuidelineReader:
    """The versions of the guidelines that a person has been shown, as far as that is known; None where it is not.

    `at_consent` held when they consented, on a page that shows the guidelines; `answered` is the newest under which
    they have answered on the pages, with `n_answers`. Whoever only opened a page is not noted, nor does a decision
    note the version.
    """

    name: str
    role: Role
    at_consent: int | None
    answered: int | None
    n_answers: int

    @property
    def newest(self) -> int | None:
        """The newest version that they are known to have been shown."""
        return max((one for one in (self.at_consent, self.answered) if one is not None), default=None)


def readers(study: StudyContext) -> list[GuidelineReader]:
    """The versions that everybody who takes part and answers or decides has been shown, in the order of `people`."""
    with study._store.read() as tx:
        answered, made_at = (
            people.answers_by_guidelines(tx),
            [(row["at"], row["version"]) for row in people.guideline_versions(tx)],
        )
        consents = {row["name"]: row["consented_at"] for row in people.terms(tx)}
        reading = [one for one in people.people(tx, active=True) if one.role in (*WORKERS, Role.ADJUDICATOR)]
    return [
        GuidelineReader(
            one.name, one.role, _version_at(made_at, consents.get(one.name)), *answered.get(one.id, (None, 0))
        )
        for one in reading
    ]


def _version_at(made_at: list[tuple[str, int]], at: str | None) -> int | None:
    """The version that held at a time."""
    return max((version for made, version in made_at if at is not None and made <= at), default=None)


def edit(study: StudyContext, body: str, *, by: str, seen: int | None = None) -> RunRecord:
    """Publish a new version of the guidelines; the earlier ones and what rests on them stay.

    `by` is a person of the study, `seen` the version that was edited; None: not told.

    Raises:
        ConflictError: another version than `seen` holds by now.
        UnknownIdError: there is nobody called `by`.
        InputError: an empty text, or one that is too long.
        StageError: the text is the one that holds already.
    """
    with study._store.write() as tx:
        if is_blank(body) or "\0" in body:
            raise InputError(say("the guidelines are empty or hold a NUL; write what annotators should do"))
        check_length(body)
        newest = people.current_guidelines(tx)[0]
        if seen not in (None, newest):
            sentence = say(
                "somebody else has edited the guidelines since you opened them, and version %(number)s is current now",
                number=Id(newest),
            )
            raise ConflictError(sentence)
        if body == people.current_guidelines(tx)[1]:
            raise StageError(say("these are already the current guidelines"))
        version = people.add_guidelines(tx, body, find_person(tx, by).id)
        return note_run(tx, "guidelines", {"by": by}, {"version": version})


def check_length(body: str) -> None:
    """Raise InputError for a text that has more than MOST_GUIDELINES."""
    if (n_bytes := len(body.encode("utf-8", "replace"))) > MOST_GUIDELINES:
        sentence = say(
            "the guidelines have %(number)s bytes (as UTF-8); the limit is %(most)s. Put pictures and long lists "
            "behind a link",
            number=n_bytes,
            most=MOST_GUIDELINES,
        )
        raise InputError(sentence)

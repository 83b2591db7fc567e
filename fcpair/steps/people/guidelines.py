"""The guidelines that annotators follow: the version that holds, and every one before it."""

from __future__ import annotations

from typing import Any

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.params import MOST_GUIDELINES
from fcpair.records import RunRecord
from fcpair.steps.base.context import StudyContext, note_run
from fcpair.steps.people.people import find_person
from fcpair.store.people import guidelines

EDIT_CONFLICT = "somebody else has edited the guidelines since you opened them, and version {} is current now"


def versions(study: StudyContext) -> list[dict[str, Any]]:
    """Every version of the guidelines, oldest first.

    Keys: `version`, `body`, `at`, `by` (None: as the study was made), and `judgements`, which counts those that were
    given online while it held; for imported ones nobody knows.
    """
    with study._store.read() as tx:
        return guidelines.versions(tx)


def edit(study: StudyContext, body: str, *, by: str, seen: int | None = None) -> RunRecord:
    """Let a new version of the guidelines hold from now on; the earlier ones and what rests on them stay.

    `by` is a person of the study, `seen` the version that was edited; None: not told.

    Raises:
        ConflictError: another version than `seen` holds by now.
        UnknownIdError: there is nobody called `by`.
        InputError: an empty text, or one that is too long.
        StageError: the text is the one that holds already.
    """
    with study._store.write() as tx:
        if not body.strip() or "\0" in body:
            raise InputError("the guidelines are empty or hold a NUL; write what annotators should do")
        check_length(body)
        newest = guidelines.current_version(tx)[0]
        if seen not in (None, newest):
            raise ConflictError(EDIT_CONFLICT.format(newest))
        if body == guidelines.current_version(tx)[1]:
            raise StageError("these are already the current guidelines")
        version = guidelines.add_version(tx, body, find_person(tx, by).id)
        return note_run(tx, "guidelines", {"by": by}, {"version": version})


def check_length(body: str) -> None:
    """Raise InputError for a text that has more than MOST_GUIDELINES."""
    if (n_bytes := len(body.encode("utf-8", "replace"))) > MOST_GUIDELINES:
        raise InputError(
            f"the guidelines have {n_bytes:,} bytes (as UTF-8); the limit is {MOST_GUIDELINES:,}. Put pictures and "
            "long lists behind a link"
        )

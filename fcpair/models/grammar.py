"""Faults of grammar: found by harper, offline and in English, or by a LanguageTool server that the study names."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from threading import Lock
from typing import Any, NamedTuple

from fcpair.errors import ServiceError, require
from fcpair.values import parse_json

HARPER = "harper"
TIMEOUT_S = 3.0  # for a whole request: somebody waits for what they have written to be taken
LONGEST_ANSWER = 8_000_000  # bytes
_UNUSABLE = (ImportError, OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError)
_lock = Lock()


class Fault(NamedTuple):
    """Fault in a text: its kind as the checker names it, what is wrong, and the words that are at fault."""

    kind: str
    message: str
    words: str


def find_faults(text: str, checker: str, language: str) -> list[Fault]:
    """The faults of a text, in their order, by `harper` or the LanguageTool server at a URL, which is told the
    language. Raises ServiceError where the server cannot be reached, or answers what cannot be used.
    """
    if checker == HARPER:
        with _lock:
            lints = sorted(_linter().lint(text), key=lambda one: one.span.start)
        return [Fault(str(lint.lint_kind), str(lint.message), str(lint.problem_text)) for lint in lints]
    import httpx2

    from fcpair.models.service import ACCEPT_GZIP, TooLongError, post

    form_data = {"text": text, "language": language or "auto"}
    try:
        client = httpx2.Client(timeout=TIMEOUT_S, headers=ACCEPT_GZIP)
        address = f"{checker.rstrip('/')}/v2/check"
        answer = post(client, address, timeout_s=TIMEOUT_S, longest=LONGEST_ANSWER, data=form_data)
        if answer.status != httpx2.codes.OK:
            raise ValueError(f"it answered {answer.status}")
        halves, faults = text.encode("utf-16-le"), []  # it counts as Java does: in halves of UTF-16, two for an emoji
        for match in parse_json(answer.body)["matches"]:
            words = halves[2 * match["offset"] : 2 * (match["offset"] + match["length"])].decode("utf-16-le", "replace")
            faults.append(Fault(str(match["rule"]["category"]["id"]), str(match["message"]), words))
        return faults
    except (*_UNUSABLE, TooLongError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ServiceError(f"the grammar checker at {checker} gives no usable answer ({error})") from error


def rule(checker: str) -> str:
    """The checker and its version, as refusals keep it."""
    return f"harper {version('harper-py')}" if checker == HARPER else f"LanguageTool at {checker}"


def check_installed(checker: str) -> None:
    """Raise MissingExtraError for a checker whose library is not installed; a server's needs none."""
    if checker == HARPER:
        require("texts", "the grammar checker `harper`", "harper")


@cache
def _linter() -> Any:
    check_installed(HARPER)
    import harper

    return harper.Linter()

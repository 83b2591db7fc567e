"""Faults of grammar that a LanguageTool server finds, played by a small one; what it gets, and what if it fails."""

from __future__ import annotations

import json
from time import monotonic

import pytest

from fcpair.errors import ServiceError
from fcpair.models import grammar
from fcpair.models.grammar import Fault, find_faults
from models.served import PATIENCE_S, Reply, Served


def found(*matches: tuple[str, str, int, int]) -> Reply:
    """What LanguageTool answers: of each match its category, its message, and where it is."""
    there = [
        {"message": message, "offset": offset, "length": length, "rule": {"id": "R", "category": {"id": category}}}
        for category, message, offset, length in matches
    ]
    return Reply(json.dumps({"software": {"name": "LanguageTool"}, "matches": there}).encode())


def test_faults_are_those_of_the_server_which_is_told_the_language_or_finds_it_out(served: Served) -> None:
    served.then = lambda _: found(("TYPOS", "Did you mean “tea”?", 7, 4), ("GRAMMAR", "An article is missing.", 0, 1))
    assert find_faults("I want teaa.", served.url, "en") == [
        Fault("TYPOS", "Did you mean “tea”?", "teaa"),
        Fault("GRAMMAR", "An article is missing.", "I"),
    ]
    (asked,) = served.asked
    assert (asked.path, asked.body) == ("/v1/v2/check", {"text": "I want teaa.", "language": "en"})
    served.then = lambda _: found(("TYPOS", "Did you mean “tea”?", 8, 4))  # as Java counts: two for each of the faces
    assert find_faults("😀😀 My teaa.", served.url, "")[0].words == "teaa"
    assert served.asked[1].body["language"] == "auto"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"busy", 500),
        Reply(b"no json"),
        Reply(b"[]"),
        Reply(b'{"matches": [{"message": "x"}]}'),
        Reply(b'{"matches": [{"message": "x", "offset": "a", "length": 1, "rule": {"category": {"id": "T"}}}]}'),
        Reply(held=True),
        Reply(b" " * 1000, drips="head"),
        Reply(b" " * 1000, drips="body"),
        Reply(b" " * 1_000_000),
        Reply(b"[" * 20_000),
        Reply(b'{"matches": ' + b"9" * 5_000 + b"}"),
    ],
)
def test_what_is_no_usable_answer_is_said_with_the_place(
    served: Served, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammar, "TIMEOUT_S", 0.5)
    monkeypatch.setattr(grammar, "LONGEST_ANSWER", 100_000)
    served.then = lambda _: reply
    start = monotonic()
    with pytest.raises(ServiceError, match=f"the grammar checker at {served.url} gives no usable answer"):
        find_faults("Tea.", served.url, "en")
    assert monotonic() - start < PATIENCE_S


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://[", "nowhere"])
def test_a_server_that_cannot_be_reached_is_said(url: str) -> None:
    with pytest.raises(ServiceError, match="gives no usable answer"):
        find_faults("Tea.", url, "en")

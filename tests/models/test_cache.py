"""What is kept between runs: a question finds its answer, only a usable one; and records, never worth an error."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import numpy as np
import pytest

from fcpair.models.cache import cache_folder, read_record, write_part, write_record
from fcpair.models.service import (
    BrokenReply,
    Prompt,
    Reply,
    cache_answer,
    model_record,
    n_prompt_tokens,
    prompt_subject,
    read_cached,
    reported_model,
)

QUESTION = Prompt("embeddings", {"model": "tiny", "input": "a text"}, "a text")


def as_it_is(answer: Reply) -> Reply:
    return answer


@pytest.mark.usefixtures("answers")
def test_an_answer_is_found_by_its_question() -> None:
    cache_answer(QUESTION, Reply([1.0, 2.0], "tiny-2"), "http://localhost/v1")
    same = Prompt("embeddings", {"input": "a text", "model": "tiny"}, "in other words")
    assert read_cached(same, as_it_is) == Reply([1.0, 2.0], "tiny-2")


@pytest.mark.parametrize(
    "other",
    [
        Prompt("chat/completions", QUESTION.body, ""),
        Prompt("embeddings", {**QUESTION.body, "model": "other"}, ""),
        Prompt("embeddings", {**QUESTION.body, "input": "a text "}, ""),
    ],
)
@pytest.mark.usefixtures("answers")
def test_another_question_has_no_answer(other: Prompt) -> None:
    cache_answer(QUESTION, Reply([1.0], ""), None)
    assert read_cached(other, as_it_is) is None


def test_a_kept_answer_says_what_was_asked_where_and_of_which_model(answers: Path) -> None:
    cache_answer(QUESTION, Reply([1.0], "tiny-2"), "http://localhost/v1")
    (file,) = answers.glob("*/*.json")
    assert file.parent.name == file.name[:2]
    assert json.loads(file.read_text()) == {
        "endpoint": "embeddings",
        "asked": {"model": "tiny", "input": "a text"},
        "base_url": "http://localhost/v1",
        "model": "tiny-2",
        "answer": [1.0],
    }


@pytest.mark.parametrize("kept", ['{"model": "tiny-2"}', '{"answer": [1.0]}', "{", "[]"])
@pytest.mark.usefixtures("answers")
def test_what_is_no_kept_answer_is_a_warning(kept: str, caplog: pytest.LogCaptureFixture) -> None:
    cache_answer(QUESTION, Reply([1.0], ""), None)
    QUESTION.path.write_text(kept)
    with caplog.at_level(logging.WARNING):
        assert read_cached(QUESTION, as_it_is) is None
    assert "requested again" in caplog.text


@pytest.mark.usefixtures("answers")
def test_a_kept_answer_that_cannot_be_used_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: Reply) -> Reply:
        raise BrokenReply("of no use")

    cache_answer(QUESTION, Reply([1.0], ""), None)
    with caplog.at_level(logging.WARNING):
        assert read_cached(QUESTION, refuse) is None
    assert "of no use" in caplog.text


def test_tokens_are_a_quarter_of_the_characters_rounded_up() -> None:
    """6 characters, 4 + 5, 3 + 2 in a chat: 20 together, and 21 with one more."""
    chat = {"model": "tiny", "messages": [{"role": "user", "content": "abc"}, {"role": "user", "content": "de"}]}
    prompts = [
        QUESTION,
        Prompt("embeddings", {"model": "tiny", "input": ["four", "fivee"]}, ""),
        Prompt("chat/completions", chat, ""),
    ]
    assert n_prompt_tokens(prompts) == 5
    assert n_prompt_tokens([*prompts, Prompt("embeddings", {"input": "a"}, "")]) == 6
    assert n_prompt_tokens([]) == 0


def test_a_run_keeps_every_model_that_the_service_reported() -> None:
    assert model_record("tiny", ["b", "a", "b", ""]) == {"name": "tiny", "source": "service", "reported": "a, b"}


def test_a_model_that_is_no_text_is_none() -> None:
    assert [reported_model(payload) for payload in ({"model": "a"}, {"model": 3}, {})] == ["a", "", ""]


def test_nothing_is_said_of_an_empty_text() -> None:
    assert prompt_subject("a text", " ") == "a text (nothing)"


# -- What is kept between runs


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("FCPAIR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "fcpair"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "fcpair"


def test_a_record_comes_back_and_leaves_nothing_else_and_none_is_no_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_record(tmp_path / "ab" / "r.json", {"answer": "é", "asked": {"n": 1}})
    assert read_record(tmp_path / "ab" / "r.json") == {"answer": "é", "asked": {"n": 1}}
    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["r.json"]
    assert read_record(tmp_path / "r.json") is None
    assert not caplog.records


@pytest.mark.parametrize("damage", [b"", b'{"answer": ', b"[1]", b"\xff", b"[" * 100_000])
def test_a_damaged_record_is_nothing_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    (tmp_path / "r.json").write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        assert read_record(tmp_path / "r.json") is None
    assert "cannot be read" in caplog.text


def test_a_record_that_cannot_be_kept_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        write_record(tmp_path / "file" / "r.json", {})
    assert "cannot be kept" in caplog.text


def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write_record(tmp_path / "answers" / "one.json", {"asked": "a text"})
        part = write_part(tmp_path, ["ab" * 32], np.zeros((1, 3)))
    finally:
        os.umask(old)
    for kept in (tmp_path / "answers" / "one.json", part):
        assert kept.stat().st_mode & 0o777 == 0o600

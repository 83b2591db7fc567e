"""Questions and kept answers: the same question finds its answer, and only a usable one."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

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

"""Replies of models: asked once and kept, what is no reply is refused; and canned ones, by row or by cell."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from fcpair.errors import InputError, ServiceError
from fcpair.models.answering_models import Canned, Cell, Chat, RequestEstimate, open_model
from fcpair.stages.answers.model_spec import parse_model_spec
from models.served import Reply, Served, said

CELLS = [
    Cell("Tea is for cowards.", "facts", "Answer `Tea is for cowards.` with facts."),
    Cell("Cyclists own the road.", "humour", "Answer `Cyclists own the road.` with humour."),
]


def test_a_service_is_asked_by_the_prompt_once_and_what_it_says_is_verbatim_even_if_empty(served: Served) -> None:
    served.script = [said(" One. "), said("Two.")]
    chat = Chat("tiny", "Answer `{row}` with {column}.")
    seen: list[tuple[int, int]] = []
    assert chat.replies(CELLS, lambda done, n: seen.append((done, n))) == [" One. ", "Two."]
    assert seen == [(1, 2), (2, 2)]
    body = served.asked[0].body
    assert body["messages"] == [{"role": "user", "content": "Answer `Tea is for cowards.` with facts."}]
    assert (body["model"], body["temperature"], body["seed"]) == ("tiny", 0, 0)
    assert chat.replies(CELLS) == [" One. ", "Two."]
    assert len(served.asked) == 2
    served.script = [said("  ")]
    twice = [Cell("Tea.", column, "Answer `Tea.`") for column in ("facts", "humour")]
    assert chat.replies(twice) == ["  ", "  "]
    served.then = lambda _: Reply(b'{"choices": [{"message": {"content": null}}]}')
    with pytest.raises(ServiceError, match="without content"):
        chat.replies([Cell("Cats.", "facts", "Answer `Cats.`")])


def test_the_outlook_says_what_is_kept_and_about_how_much_the_rest_is(served: Served) -> None:
    served.script = [said("Eight ch")]
    chat = Chat("tiny", "Answer `{row}` with {column}.")  # 40 and 44 characters
    assert chat.estimate(CELLS) == RequestEstimate(2, 0, 21, None)
    assert not served.asked
    chat.replies(CELLS[:1])
    assert chat.estimate(CELLS) == RequestEstimate(2, 1, 11, 2)
    assert chat.estimate(CELLS[:1]) == RequestEstimate(1, 1, 0, 0)


def test_a_record_tells_prompts_apart() -> None:
    first, second = (Chat("tiny", prompt).record() for prompt in ("{row}", "{row}!"))
    assert first["name"] == second["name"] == "tiny"
    assert first["sha256"] != second["sha256"]


def test_canned_replies_by_row_or_by_cell(tmp_path: Path) -> None:
    by_row, by_cell = tmp_path / "row.csv", tmp_path / "cell.csv"
    by_row.write_text('row,reply\n"Tea is for cowards. ",Is it?\n', "utf-8")
    by_cell.write_text(
        "row,column,reply\nTea is for cowards.,facts,Six cups a day.\nTea is for cowards.,humour,\n", "utf-8"
    )
    assert open_model(parse_model_spec(f"a=canned:{by_row}"), "").replies(CELLS) == ["Is it?", None]
    assert Canned.read(by_cell).replies([*CELLS, Cell("Tea is for cowards.", "humour")]) == [
        "Six cups a day.",
        None,
        "",
    ]
    assert Canned.read(by_row).record()["sha256"] != Canned.read(by_cell).record()["sha256"]


def test_two_replies_to_a_cell_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("row,reply\nTea.,One.\nTea.,Two.\n", "utf-8")
    with pytest.raises(InputError, match=r"twice\.csv:3: this cell has another reply"):
        Canned.read(path)


def told(*tokens: tuple[str, float]) -> Reply:
    """The likeliest tokens of a service, with their probabilities."""
    top = [{"token": token, "logprob": math.log(p)} for token, p in tokens]
    return Reply(
        json.dumps({"model": "tiny-2", "choices": [{"logprobs": {"content": [{"top_logprobs": top}]}}]}).encode()
    )


def test_a_service_says_how_probable_options_are(served: Served) -> None:
    served.script = [told(("A", 0.5), (" A", 0.1), ("the", 0.2), ("B", 0.2)), told(("the", 0.9))]
    chat = open_model(parse_model_spec("a=service:tiny"), "{row}", ("A", "B", "C"))
    first, second = (json.loads(reply or "") for reply in chat.replies(CELLS))
    assert first == pytest.approx({"A": 0.75, "B": 0.25, "C": 0, "(all)": 0.8})
    assert second == {"A": 0, "B": 0, "C": 0, "(all)": 0}
    body = served.asked[0].body
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)
    assert [json.loads(reply or "") for reply in chat.replies(CELLS)] == [first, second]
    assert len(served.asked) == 2


def test_a_service_without_probabilities_is_refused(served: Served) -> None:
    served.then = lambda _: said("A")
    with pytest.raises(ServiceError, match="without the probabilities of tokens"):
        open_model(parse_model_spec("a=service:tiny"), "{row}", ("A", "B")).replies(CELLS[:1])


def test_canned_replies_by_what_is_known_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "said.csv"
    path.write_text("item_id,reply\none,A\ntwo,B\n", "utf-8")
    cells = [Cell("Tea?", "m", about={"item_id": name}) for name in ("two", "one", "three")]
    assert open_model(parse_model_spec(f"m=canned:{path}(by=item_id)"), "").replies(cells) == ["B", "A", None]
    with pytest.raises(InputError, match="missing column `id`"):
        open_model(parse_model_spec(f"m=canned:{path}(by=id)"), "")
    with pytest.raises(InputError, match="has `by` and `row`"):
        parse_model_spec(f"m=canned:{path}(by=item_id,row=text)")

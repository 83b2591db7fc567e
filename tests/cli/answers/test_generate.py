"""`fcpair generate`: what would be asked and what it costs, what was asked, and what is refused."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from cli.conftest import Fcpair
from fcpair.models.answering_models import Cell, Chat
from fcpair.models.service import Reply, cache_answer
from fcpair.params import Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.study import Study

ON = ("--grid", "replies", "--round", "propose")
ROWS = ("Tea is odd.", "Cats are odd.")


@pytest.fixture(autouse=True)
def proposed(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows, which a service and a file answer."""
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    near = tmp_path / "near.csv"
    near.write_text("row,reply\nTea is odd.,It is not so odd.\nCats are odd.,As an AI I have none.\n", "utf-8")
    models = ("far=service:tiny", f"near=canned:{near}")
    propose = RoundPlan("propose", "text: text(max_words=3)", models=models, prompt="Answer {row}")
    sides = (SidePlan(names=ROWS), SidePlan(names=("far", "near")))
    with closing(Study.create(study, Setup(title="t"), grids=[GridPlan("replies", *sides, (propose,))])) as made:
        made.grid().pair()


def said_to(row: str, reply: str) -> None:
    """Have the service's reply to a row in the cache."""
    chat = Chat("tiny", "Answer {row}")
    cache_answer(chat.request(Cell(row, "far", f"Answer {row}")), Reply(reply, "tiny"), None)


def test_a_dry_run_asks_nothing_and_says_what_is_not_known(fcpair: Fcpair) -> None:
    listed = fcpair("generate", *ON, "--dry-run", "--price-in", "2", "--price-out", "10", "--format", "json")
    far, near = json.loads(listed.stdout)
    assert (far["model"], far["requests"], far["cached"], far["tokens_in"]) == ("far", 2, 0, 10)  # 38 characters
    assert (far["tokens_out"], far["cost"]) == (None, None)
    assert far["undefined"] == "no reply of the model is kept, so the length of its replies is unknown"
    assert (near["requests"], near["cost"], near["undefined"]) == (0, 0, None)
    assert "undefined for far: no reply of the model" in fcpair("generate", *ON, "--dry-run").stdout


def test_the_cost_is_that_of_what_is_read_and_written(fcpair: Fcpair) -> None:
    said_to(ROWS[0], "x" * 400)
    listed = fcpair("generate", *ON, "--dry-run", "--price-in", "2", "--price-out", "10", "--format", "json")
    far = json.loads(listed.stdout)[0]
    assert (far["cached"], far["tokens_in"], far["tokens_out"]) == (1, 5, 100)
    assert far["cost"] == pytest.approx((5 * 2 + 100 * 10) / 1_000_000)


def test_marks_are_counted_where_models_were_asked(fcpair: Fcpair) -> None:
    for row in ROWS:
        said_to(row, "Not at all.")
    told = "4 answers were given by 2 models in round `propose`; marked: too long: 2, refusal: 1"
    assert fcpair("generate", *ON).stdout == f"generate: {told}\n"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--price-in", "1", "--price-out", "2"), "--price-in has no effect without --dry-run"),
        (("--dry-run", "--price-in", "1"), "--price-in and --price-out go together"),
        (("--dry-run", "--price-in", "-1", "--price-out", "2"), "a price must be 0 or more"),
        (("--dry-run", "--price-in", "nan", "--price-out", "2"), "a price must be 0 or more"),
    ],
)
def test_prices_that_cannot_be_are_refused(fcpair: Fcpair, options: tuple[str, ...], why: str) -> None:
    assert why in fcpair("generate", *ON, *options, code=2).output


def test_replies_are_written_to_a_file_once_there_are_any(fcpair: Fcpair, tmp_path: Path) -> None:
    out = tmp_path / "raw.csv"
    assert "no model has replied in round `propose`" in fcpair("answers", "replies", *ON, "--out", out, code=2).output
    for row in ROWS:
        said_to(row, " Not at all.")
    fcpair("generate", *ON)
    assert fcpair("answers", "replies", *ON, "--out", out).stdout == f"{out}: 4 replies\n"
    assert out.read_text("utf-8").splitlines()[:2] == ["cell,by,run,reply,marks", "1,far,4, Not at all.,"]

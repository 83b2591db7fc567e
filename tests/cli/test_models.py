"""Models on the command line: the examples that they are shown, what they would cost, and what they replied."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from steps.shown import CATS, put_examples, study_of

from cli.conftest import Fcpair
from fcpair.models.answering_models import Cell, Chat
from fcpair.models.service import Reply, cache_answer
from fcpair.params import Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.study import Study

ON = ("--grid", "replies", "--round", "propose")
ROWS = ("Tea is odd.", "Cats are odd.")
PRICED = ("--dry-run", "--price-in", "2", "--price-out", "10")


def test_examples_are_listed_written_as_a_sheet_and_reviewed(study: Path, fcpair: Fcpair, tmp_path: Path) -> None:
    with closing(study_of(tmp_path)) as made:
        put_examples(made)
    assert "already has 4 examples; `--redo`" in fcpair.refusal("examples", "find", *ON)
    assert "2 rows have examples that nobody has reviewed" in fcpair.refusal("generate", *ON)
    sheet = study.with_name("sheet.csv")
    assert "4 examples" in fcpair("examples", "sheet", sheet, *ON).stdout
    content = sheet.read_text("utf-8")
    assert "exists already and may hold reviews" in fcpair.refusal("examples", "sheet", sheet, *ON)
    assert sheet.read_text("utf-8") == content
    sheet.write_text(content.replace("0.8,", "0.8,perhaps"), "utf-8")
    refused = fcpair.refusal("examples", "review", sheet, *ON)
    assert "sheet.csv:2: `used` is `perhaps`; expected yes or no (2 lines: 2, 4)" in refused
    sheet.write_text(content.replace("0.8,", "0.8,yes").replace("0.7,", "0.7,no"), "utf-8")
    reviewed = fcpair("examples", "review", sheet, *ON).stdout
    assert "2 examples of round `propose` were accepted; 2 were refused" in reviewed
    rows = fcpair.json("examples", "list", *ON)
    assert [(row["rank"], row["used"]) for row in rows] == [(1, "yes"), (2, "no")] * 2
    assert (rows[0]["hs"], rows[0]["score"]) == (CATS, 0.8)


@pytest.fixture
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


def keep_reply(row: str, reply: str) -> None:
    """Have the service's reply to a row in the cache."""
    chat = Chat("tiny", "Answer {row}")
    cache_answer(chat.request(Cell(row, "far", f"Answer {row}")), Reply(reply, "tiny"), None)


@pytest.mark.usefixtures("proposed")
def test_a_dry_run_asks_nothing_and_says_what_it_would_cost_and_what_is_not_known(fcpair: Fcpair) -> None:
    far, near = fcpair.json("generate", *ON, *PRICED)
    assert (far["model"], far["requests"], far["cached"], far["tokens_in"]) == ("far", 2, 0, 10)  # 38 characters
    assert (far["tokens_out"], far["cost"]) == (None, None)
    assert far["undefined"] == "no reply of the model is kept, so the length of its replies is unknown"
    assert (near["requests"], near["cost"], near["undefined"]) == (0, 0, None)
    assert "undefined for far: no reply of the model" in fcpair("generate", *ON, "--dry-run").stdout
    keep_reply(ROWS[0], "x" * 400)
    far, _ = fcpair.json("generate", *ON, *PRICED)
    assert (far["cached"], far["tokens_in"], far["tokens_out"]) == (1, 5, 100)
    assert far["cost"] == pytest.approx((5 * 2 + 100 * 10) / 1_000_000)
    for options, why in (
        (("--price-in", "1", "--price-out", "2"), "--price-in has no effect without --dry-run"),
        (("--dry-run", "--price-in", "1"), "--price-in and --price-out go together"),
        (("--dry-run", "--price-in", "-1", "--price-out", "2"), "a price must be 0 or more"),
        (("--dry-run", "--price-in", "nan", "--price-out", "2"), "a price must be 0 or more"),
    ):
        assert why in fcpair.refusal("generate", *ON, *options)


@pytest.mark.usefixtures("proposed")
def test_models_are_asked_marks_counted_and_replies_written_to_a_file(fcpair: Fcpair, tmp_path: Path) -> None:
    writing = ("answers", "replies", *ON, "--out", tmp_path / "raw.csv")
    assert "no model has replied in round `propose`" in fcpair.refusal(*writing)
    keep_reply(ROWS[0], " Not at all.")
    keep_reply(ROWS[1], "Not at all.")
    asked = "4 answers were given by 2 models in round `propose`; marked: too long: 2, refusal: 1"
    assert fcpair("generate", *ON).stdout == f"generate: {asked}\n"
    assert fcpair(*writing).stdout == f"{tmp_path / 'raw.csv'}: 4 replies\n"
    lines = (tmp_path / "raw.csv").read_text("utf-8").splitlines()
    assert lines[:2] == ["cell,by,run,reply,marks", "1,far,4, Not at all.,"]

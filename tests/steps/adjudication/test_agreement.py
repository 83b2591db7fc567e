"""Agreement in a planned grid: a block for each part of a round's form, and for each column or row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid
from fcpair.params import Agree, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Figure, Role
from fcpair.stages.questions import parse_form
from fcpair.stages.questions.form import part_codes
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.stats.agreement import Agreement, AgreementBlock, compute_agreement, part_agreements
from fcpair.steps.adjudication import agreement as agree
from fcpair.study import Study
from steps.online import at_desk, give

REPLIES = tuple(f"A mild reply about the weather, number {at}." for at in range(6))
CRITERIA = ("fluent", "specific", "respectful")
FORM = "text: text(); types: any_of(facts,humour); tone: scale(1,5,0.5)"
HALVES = "rate: scale(1,5,0.5,positive=4)"
COLUMNS = ["cell_id", "hs_id", "cn_id", "annotator", "code"]
At = Callable[[str], Study]


def said(cell: int, who: str) -> dict[str, Any]:
    """What somebody answers on a cell: bo differs from al on some."""
    differs = who == "bo" and cell % 4 == 0
    types = [name for name, by in (("facts", 2), ("humour", 5)) if (cell % by == 0) ^ (differs and name == "humour")]
    return {"text": f"{who} on {cell}", "types": types, "tone": 1 + (cell % 8 + differs) / 2}


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """Six replies on three criteria; al and bo each answer the whole form on all 18 cells, and skip the last."""
    sides = SidePlan(names=REPLIES), SidePlan(names=CRITERIA)
    rounds = (
        RoundPlan("answer", FORM, "rater", answers=2, counts=True),
        RoundPlan("later", "fit: one_of(no,yes+)", "rater", answers=2),
    )
    plan = GridPlan("rate", *sides, rounds, row_name="reply", column_name="criterion")
    path = tmp_path_factory.mktemp("agree") / "study.db"
    with closing(Study.create(path, grids=[plan])) as study:
        grid = study.grid()
        grid.pair()
        study.add_people(["al", "bo"], Role.RATER)
        grid.assign_round("answer")
        for who in ("al", "bo"):
            desk, visitor = at_desk(study, who)
            for task in desk.tasks(visitor, 99):
                give(desk, visitor, "skip" if task.cell_id == 18 else said(task.cell_id, who), task.assignment_id)
        yield grid


def by_hand(part: str) -> pd.DataFrame:
    """The labels of a part, as one question's would be."""
    question, _, name = part.partition(": ")

    def code(cell: int, who: str) -> int:
        answer = said(cell, who)[question]
        return int(name in answer) if name else int(2 * (answer - 1))

    rows = [
        (cell, (cell - 1) // 3, (cell - 1) % 3, who, code(cell, who)) for cell in range(1, 18) for who in ("al", "bo")
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def values(found: Agreement | None) -> dict[str, tuple[float | None, ...]]:
    assert found is not None
    figures = (*found.pooled, *found.summary, *(one.kappa for one in found.subsets))
    return {one.name: (one.value, one.low, one.high, one.n) for one in figures}


def named(blocks: tuple[AgreementBlock, ...]) -> dict[tuple[str, str], AgreementBlock]:
    return {(one.part, one.of): one for one in blocks}


def test_each_part_has_the_agreement_of_one_question_and_a_text_says_why_it_has_none(grid: Grid) -> None:
    text, *parts = grid.agreement(round="answer")
    assert (text.part, text.agreement) == ("text", None)
    assert text.undefined == "two people write different texts, which neither agree nor disagree"
    assert [one.part for one in parts] == ["types: facts", "types: humour", "tone"]
    for one in parts:
        question = dict(parse_form(FORM).parts())[one.part]
        assert values(one.agreement) == values(compute_agreement(by_hand(one.part), question))
        assert one.agreement is not None
        assert (one.agreement.n_labels, one.agreement.n_overlapped) == (34, 17)
    facts, humour, tone = (one.agreement.alpha for one in parts if one.agreement)
    assert (facts.name, tone.name) == ("Krippendorff's alpha, nominal", "Krippendorff's alpha, interval")
    assert facts.value == 1
    assert humour.value is not None
    assert humour.value < 1


def test_each_column_is_named_and_its_intervals_are_for_new_rows(grid: Grid) -> None:
    blocks = named(grid.agreement(Agree(blocks="column", level=0.5), round="answer"))
    assert [of for part, of in blocks if part == "tone"] == list(CRITERIA)
    assert [part for part, of in blocks if not of] == ["text"]
    found = blocks["tone", "respectful"].agreement
    assert found is not None
    assert (found.n_overlapped, found.interval_scope) == (
        5,
        "new rows, the same annotators",
    )  # the last cell was skipped
    raw = found.pooled[0]
    labels = by_hand("tone")
    agrees = labels[labels["cn_id"] == 2].groupby("hs_id")["code"].nunique() == 1
    share = agrees.mean()
    assert raw.value == pytest.approx(share)
    error = (share * (1 - share) / (len(agrees) - 1)) ** 0.5  # of a mean of independent rows
    assert raw.high is not None
    assert raw.high - share == pytest.approx(0.740697 * error, abs=1e-6)  # t with 4 degrees of freedom at 0.75
    assert "interval from 5 rows" in raw.note


def test_a_row_with_too_little_says_so(grid: Grid) -> None:
    blocks = named(grid.agreement(Agree(blocks="row"), round="answer"))
    assert [of for part, of in blocks if part == "tone"] == list(REPLIES)
    last = blocks["tone", REPLIES[-1]].agreement
    assert last is not None
    assert last.pooled[0].n == 2
    alone = [one for one in last.pooled if one.undefined]
    assert alone
    assert all(one.undefined for one in alone)


def test_notes_of_a_planned_grid_speak_of_rows_and_columns(grid: Grid) -> None:
    tone = named(grid.agreement(Agree(intervals="annotators"), round="answer"))["tone", ""].agreement
    assert tone is not None
    assert tone.interval_scope == "new rows, columns and annotators"
    assert not any("HS" in one.note or "CN" in one.note for one in tone.pooled)
    assert "6 rows, 3 columns" in grid.agreement(round="answer")[3].agreement.pooled[0].note  # type: ignore[union-attr]


def test_a_column_without_answers_has_its_reasons() -> None:
    form = parse_form("fit: one_of(no,yes+)")
    answers = pd.DataFrame([(1, 1, 7, "al", 0), (1, 1, 7, "bo", 1)], columns=[*COLUMNS[:4], "answer"])
    codes = part_codes(form, ['{"fit":"no"}', '{"fit":"yes"}'])
    there, nothing = part_agreements(answers, form, codes, Agree(blocks="column"), {7: "seven", 8: "eight"})
    assert (there.of, nothing.of) == ("seven", "eight")
    assert nothing.agreement is not None
    assert all(one.value is None and one.undefined for one in nothing.agreement.pooled)


def test_a_question_that_was_not_asked_has_no_labels() -> None:
    """Three annotate two cells; `tone` is asked where the text is unkind, by two of them on the first cell alone."""
    form = parse_form("unkind: one_of(no,yes+); tone: one_of(dry,warm+) when unkind=yes")
    rows = [(1, 1, 7, "al", 0), (1, 1, 7, "bo", 1), (1, 1, 7, "cy", 2), (2, 2, 7, "al", 2), (2, 2, 7, "bo", 2)]
    answers = pd.DataFrame(rows, columns=[*COLUMNS[:4], "answer"])
    said = ('{"unkind":"yes","tone":"dry"}', '{"unkind":"yes","tone":"warm"}', '{"unkind":"no","tone":null}')
    unkind, tone = (one.agreement for one in part_agreements(answers, form, part_codes(form, said)))
    assert unkind is not None
    assert tone is not None
    assert (unkind.n_labels, unkind.n_overlapped) == (5, 2)
    assert (tone.n_labels, tone.n_pairs, tone.n_overlapped) == (2, 1, 1)
    assert tone.pooled[0].value == 0.0  # raw agreement


def test_what_is_kept_of_a_run_is_how_many_blocks_there_are_and_each_alpha(grid: Grid) -> None:
    run = agree.note_agreement(grid, Agree())
    assert list(run.counts) == [
        "blocks",
        *(f"types: {one}, Krippendorff's alpha, nominal" for one in ("facts", "humour")),
        "tone, Krippendorff's alpha, interval",
        "intervals",
    ]
    assert run.counts["blocks"] == 4
    assert agree.note_agreement(grid, Agree(blocks="column")).counts == {"blocks": 10}
    agree.note_agreement(grid, Agree())


def test_a_form_of_several_questions_needs_the_name_of_its_round(grid: Grid) -> None:
    with pytest.raises(InputError, match="round `answer` does not ask a single closed question; name"):
        grid.agreement()
    assert grid.desk.round_of_blocks(Agree()) == "answer"
    with pytest.raises(UnknownIdError, match="there is no round `nowhere` in this grid; its rounds: answer, later"):
        grid.agreement(round="nowhere")
    with pytest.raises(StageError, match="round `later` has no answers yet"):
        grid.agreement(round="later")


def test_the_round_that_counts_is_one_block_of_the_same_figures(at: At) -> None:
    grid = at("checked").grid()
    (block,) = grid.agreement(round="label")
    assert (block.part, block.of, block.agreement) == ("label", "", grid.agreement())
    assert grid.agreement().alpha == next(one for one in grid.agreement().pooled if one.name.endswith("nominal"))
    assert grid.desk.round_of_blocks(Agree()) is None
    assert grid.desk.round_of_blocks(Agree(blocks="row")) == "label"
    with pytest.raises(InputError, match="round `validate` checks decisions"):
        grid.agreement(round="validate")


def test_the_grid_is_what_is_measured_where_nothing_else_is_said() -> None:
    assert Agree(blocks="grid") == Agree()
    assert "blocks" not in compute_agreement(by_hand("types: facts"), VERDICT).as_dict()["options"]
    with pytest.raises(InputError, match="blocks is 'cell'; expected one of grid, column, row"):
        Agree(blocks="cell")  # type: ignore[arg-type]


def test_a_block_survives_json(grid: Grid) -> None:
    text, *_, tone = (one.as_dict() for one in grid.agreement(round="answer"))
    assert text == {
        "part": "text",
        "of": "",
        "undefined": "two people write different texts, which neither agree nor disagree",
    }
    assert (tone["part"], tone["n_labels"], tone["undefined"]) == ("tone", 34, None)
    assert isinstance(tone["pooled"][0]["value"], float)
    assert isinstance(Figure(**tone["pooled"][0]), Figure)


def test_the_scale_of_a_form_has_kappa_on_bins(grid: Grid) -> None:
    found = named(grid.agreement(Agree(bins=("1-2", "2.5-3.5", "4-5")), round="answer"))
    assert {name for (name, _), one in found.items() if one.agreement and one.agreement.bins} == {"tone"}
    tone = found["tone", ""].agreement
    assert tone is not None
    (subset,) = tone.on_bins
    low, middle, high = ((1, 2), (2.5, 3.5), (4, 5))
    both = [[1 + (cell % 8 + (who == "bo" and cell % 4 == 0)) / 2 for who in ("al", "bo")] for cell in range(1, 18)]
    ranges = (low, middle, high)
    table = [[sum(a <= i <= b and c <= j <= d for i, j in both) for c, d in ranges] for a, b in ranges]
    assert [list(row) for row in subset.table] == table
    assert subset.n == 17


def test_bins_that_a_form_has_no_scale_for_are_refused_unless_they_are_the_grid_s_own(tmp_path: Path) -> None:
    bins = Agree(bins=("1-3", "3.5-5"))
    first = RoundPlan("first", "fit: one_of(no,yes+)", "rater", answers=2)
    rounds = first, RoundPlan("rate", HALVES, "rater", answers=2, counts=True)
    plan = GridPlan("rate", SidePlan(names=REPLIES), SidePlan(names=CRITERIA), rounds)
    with closing(Study.create(tmp_path / "study.db", grids=[plan])) as study:
        grid = study.grid()
        grid.pair()
        study.add_people(["al", "bo"], Role.RATER)
        for name in ("first", "rate"):
            grid.assign_round(name)
            grid.simulate(Simulate(seed=1))
        with pytest.raises(InputError, match="bins are for numbers on a scale"):
            grid.agreement(bins, round="first")
        agree.note_agreement(grid, bins)
        assert grid.agreement(round="first")[0].agreement is not None
        assert grid.agreement().bins == ("1-3", "3.5-5")
        study.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.count("<caption>The same on bins") == 1
    assert "Bins 1-3, 3.5-5; unweighted." in page
    assert "mean kappa on bins" in page

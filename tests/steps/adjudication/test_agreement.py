"""Agreement: a block for each part of a form and each column or row, two people side by side, and label models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid, Monitor
from fcpair.params import Agree, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Figure, Role
from fcpair.stages.questions import parse_form
from fcpair.stages.questions.form import part_codes
from fcpair.stages.stats.agreement import Agreement, AgreementBlock, compute_agreement, part_agreements
from fcpair.steps.adjudication import agreement as agree
from fcpair.steps.base.context import note_stage_run
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import HS, At, record, with_grid

REPLIES = tuple(f"A mild reply about the weather, number {at}." for at in range(6))
CRITERIA = ("fluent", "specific", "respectful")
FORM = "text: text(); types: any_of(facts,humour); tone: scale(1,5,0.5)"
HALVES = "rate: scale(1,5,0.5,positive=4)"
COLUMNS = ["cell_id", "hs_id", "cn_id", "annotator", "code"]


def answer_on(cell: int, who: str) -> dict[str, Any]:
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
                give(desk, visitor, "skip" if task.cell_id == 18 else answer_on(task.cell_id, who), task.assignment_id)
        yield grid


def by_hand(part: str) -> pd.DataFrame:
    """The labels of a part, as one question's would be."""
    question, _, name = part.partition(": ")

    def code(cell: int, who: str) -> int:
        answer = answer_on(cell, who)[question]
        return int(name in answer) if name else int(2 * (answer - 1))

    rows = [
        (cell, (cell - 1) // 3, (cell - 1) % 3, who, code(cell, who)) for cell in range(1, 18) for who in ("al", "bo")
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def values(agreement: Agreement | None) -> dict[str, tuple[float | None, ...]]:
    assert agreement is not None
    figures = (*agreement.pooled, *agreement.summary, *(subset.kappa for subset in agreement.subsets))
    return {figure.name: (figure.value, figure.low, figure.high, figure.n) for figure in figures}


def named(blocks: tuple[AgreementBlock, ...]) -> dict[tuple[str, str], AgreementBlock]:
    return {(block.part, block.of): block for block in blocks}


def agreement_of(block: AgreementBlock) -> Agreement:
    assert block.agreement is not None
    return block.agreement


def test_each_part_has_the_agreement_of_one_question_and_a_text_says_why_it_has_none(grid: Grid) -> None:
    text, *parts = grid.agreement(round="answer")
    assert (text.part, text.agreement) == ("text", None)
    assert text.undefined == "two people write different texts, which neither agree nor disagree"
    assert [block.part for block in parts] == ["types: facts", "types: humour", "tone"]
    for block in parts:
        question = dict(parse_form(FORM).parts())[block.part]
        assert values(block.agreement) == values(compute_agreement(by_hand(block.part), question))
        assert (agreement_of(block).n_labels, agreement_of(block).n_overlapped) == (34, 17)
    facts, humour, tone = (agreement_of(block).alpha for block in parts)
    assert (facts.name, tone.name) == ("Krippendorff's alpha, nominal", "Krippendorff's alpha, interval")
    assert facts.value == 1
    assert humour.value is not None
    assert humour.value < 1
    as_data = text.as_dict()
    assert as_data == {"part": "text", "of": "", "undefined": text.undefined}
    as_data = parts[-1].as_dict()
    assert (as_data["part"], as_data["n_labels"], as_data["undefined"]) == ("tone", 34, None)
    assert isinstance(as_data["pooled"][0]["value"], float)
    assert isinstance(Figure(**as_data["pooled"][0]), Figure)


def test_each_column_is_named_and_its_intervals_are_for_new_rows(grid: Grid) -> None:
    blocks = named(grid.agreement(Agree(blocks="column", level=0.5), round="answer"))
    assert [of for part, of in blocks if part == "tone"] == list(CRITERIA)
    assert [part for part, of in blocks if not of] == ["text"]
    respectful = agreement_of(blocks["tone", "respectful"])
    assert respectful.n_overlapped == 5  # the last cell was skipped
    assert respectful.interval_scope == "new rows, the same annotators"
    raw = respectful.pooled[0]
    labels = by_hand("tone")
    agrees = labels[labels["cn_id"] == 2].groupby("hs_id")["code"].nunique() == 1
    share = agrees.mean()
    assert raw.value == pytest.approx(share)
    error = (share * (1 - share) / (len(agrees) - 1)) ** 0.5  # of a mean of independent rows
    assert raw.high is not None
    assert raw.high - share == pytest.approx(0.740697 * error, abs=1e-6)  # t with 4 degrees of freedom at 0.75
    assert "interval from 5 rows" in raw.note


def test_a_column_without_answers_has_its_reasons() -> None:
    form = parse_form("fit: one_of(no,yes+)")
    answers = pd.DataFrame([(1, 1, 7, "al", 0), (1, 1, 7, "bo", 1)], columns=[*COLUMNS[:4], "answer"])
    codes = part_codes(form, ['{"fit":"no"}', '{"fit":"yes"}'])
    seven, eight = part_agreements(answers, form, codes, Agree(blocks="column"), {7: "seven", 8: "eight"})
    assert (seven.of, eight.of) == ("seven", "eight")
    assert all(figure.value is None and figure.undefined for figure in agreement_of(eight).pooled)


def test_a_question_that_was_not_asked_has_no_labels() -> None:
    """Three annotate two cells; `tone` is asked where the text is unkind, by two of them on the first cell alone."""
    form = parse_form("unkind: one_of(no,yes+); tone: one_of(dry,warm+) when unkind=yes")
    rows = [(1, 1, 7, "al", 0), (1, 1, 7, "bo", 1), (1, 1, 7, "cy", 2), (2, 2, 7, "al", 2), (2, 2, 7, "bo", 2)]
    answers = pd.DataFrame(rows, columns=[*COLUMNS[:4], "answer"])
    given = ('{"unkind":"yes","tone":"dry"}', '{"unkind":"yes","tone":"warm"}', '{"unkind":"no","tone":null}')
    unkind, tone = map(agreement_of, part_agreements(answers, form, part_codes(form, given)))
    assert (unkind.n_labels, unkind.n_overlapped) == (5, 2)
    assert (tone.n_labels, tone.n_pairs, tone.n_overlapped) == (2, 1, 1)
    assert tone.pooled[0].value == 0.0  # raw agreement


def test_a_form_of_several_questions_needs_the_name_of_its_round(grid: Grid) -> None:
    with pytest.raises(InputError, match="round `answer` does not ask a single closed question; name"):
        grid.agreement()
    assert grid.desk.round_of_blocks(Agree()) == "answer"
    with pytest.raises(UnknownIdError, match="there is no round `nowhere` in this grid; its rounds: answer, later"):
        grid.agreement(round="nowhere")
    with pytest.raises(StageError, match="round `later` has no answers yet"):
        grid.agreement(round="later")
    with pytest.raises(InputError, match=r"round `answer` asks .*; a label model is for one closed question"):
        grid.aggregate(round="answer")
    with pytest.raises(StageError, match="round `later` has no answers yet"):
        grid.aggregate(round="later")


def test_the_round_that_counts_is_one_block_of_the_same_figures(at: At) -> None:
    grid = at("checked").grid()
    (block,) = grid.agreement(round="label")
    assert (block.part, block.of, block.agreement) == ("label", "", grid.agreement())
    assert grid.agreement().alpha == next(
        figure for figure in grid.agreement().pooled if figure.name.endswith("nominal")
    )
    assert grid.desk.round_of_blocks(Agree()) is None
    assert grid.desk.round_of_blocks(Agree(blocks="row")) == "label"
    with pytest.raises(InputError, match="round `validate` checks decisions"):
        grid.agreement(round="validate")


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


def test_two_people_are_compared_on_what_both_labelled_and_each_confusion_is_a_search(at: At) -> None:
    # Both labelled pairs 6, 7, 9, 11, 14, 21, 22 and 23; cleo dissents on 6, 9 and 21 (see `label_of`).
    grid = at("labelled").grid()
    both = grid.compare_people("ana", "cleo")
    assert (both.n, both.n_labels, both.raw_agreement) == (8, (14, 14), 5 / 8)
    assert both.table == ((2, 0, 1), (0, 0, 0), (2, 0, 3))
    assert both.kappa.value == pytest.approx((5 / 8 - 1 / 2) / (1 - 1 / 2))
    assert grid.compare_people("cleo", "ana").table == tuple(zip(*both.table, strict=True))
    searches = [
        grid.find_pairs(person="ana", answer=answer, other="cleo", other_answer=other).total
        for answer in both.classes
        for other in both.classes
    ]
    assert searches == [n for counts in both.table for n in counts]
    confused = grid.find_pairs(person="cleo", answer="not_appropriate", other="ana", other_answer="appropriate")
    assert confused.to_frame()["pair"].tolist() == [9, 21]
    with pytest.raises(InputError, match="name two people"):
        grid.compare_people("ana", "ana")
    with pytest.raises(UnknownIdError, match="nobody called `anna`"):
        grid.compare_people("ana", "anna")
    with pytest.raises(StageError, match="needs labels first"):
        at("dealt").grid().compare_people("ana", "cleo")


def test_the_most_disputed_texts_have_the_pairs_that_are_disputed(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("labelled"))
    labels = grid.labels().groupby("pair")["label"].agg(["nunique", "count"])
    disputed = labels.index[labels["nunique"] > 1].tolist()
    sides = Monitor(grid).disputed_texts()
    assert sorted(pair for text in sides["row"].texts for pair in text.disputed) == disputed
    assert sorted(pair for text in sides["column"].texts for pair in text.disputed) == disputed
    assert {text.text for text in sides["row"].texts} <= set(HS)
    n = {text.text: text.n for text in sides["row"].texts}
    shared = labels.index[labels["count"] > 1].tolist()
    assert n == {text: sum((pair - 1) // 6 == HS.index(text) for pair in shared) for text in n}
    record(study, tmp_path, [("cleo", pair, "not_sure") for pair in (6, 9, 21)], supersede=True)
    before = {pair for text in Monitor(grid).disputed_texts()["row"].texts for pair in text.disputed}
    assert {6, 9, 21} <= before
    grid.agreement()
    with study._store.write() as tx:
        note_stage_run(tx, Agree(indefinite="drop"), {})
    after = {pair for text in Monitor(grid).disputed_texts()["row"].texts for pair in text.disputed}
    assert not after & {6, 9, 21}  # where indefinite labels do not count, they dispute nothing


def test_agreement_is_measured_for_each_value_of_metadata(at: At) -> None:
    """The first two HS have the topic `wheels`, the third `hands`, and the fourth none."""
    study = at("labelled")
    with study._store.write() as tx:
        for number, topic in enumerate(("wheels", "wheels", "hands")):
            meta = f'{{"topic": "{topic}", "id": "{number}"}}'
            tx.exec_driver_sql("UPDATE text SET meta = ? WHERE body = ?", (meta, HS[number]))
    grid = study.grid()
    name = grid.desk.round_of_blocks(Agree(blocks="row", metadata="topic"))
    assert name
    blocks = grid.agreement(round=name, blocks="row", metadata="topic")
    assert [block.of for block in blocks] == ["(no value)", "hands", "wheels"]
    labels = grid.labels()
    row = (labels["pair"] - 1) // 6
    n_labels = [agreement_of(block).n_labels for block in blocks]
    assert n_labels == [int((row == 3).sum()), int((row == 2).sum()), int((row < 2).sum())]
    assert "HS" in agreement_of(blocks[2]).interval_scope  # of several rows, so that new ones are what it is about
    assert Monitor(grid).blocks("row", "topic") == blocks
    with pytest.raises(InputError, match="no text of the rows has metadata called `topik`; did you mean `topic`"):
        grid.agreement(round="label", blocks="row", metadata="topik")
    with pytest.raises(InputError, match=r"metadata is `topic`, but the figures are not by column or row"):
        grid.agreement(metadata="topic")
    columns = Monitor(grid).metadata_columns()
    assert columns == {"row": ("hs_topic", "id", "topic"), "column": ()}  # not offered: what has one value


def test_the_models_are_of_the_definite_labels_that_stand(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("labelled"))
    labels = grid.labels()
    definite = labels[labels["label"] != "not_sure"]
    models = grid.aggregate()
    assert (models.n_labels, models.n_pairs) == (len(definite), definite["pair"].nunique())
    assert models.n_left_out == labels["pair"].nunique() - models.n_pairs
    shares = definite.groupby("pair")["label"].value_counts(normalize=True).unstack(fill_value=0)
    frame = models["majority"].to_frame().set_index("pair")
    assert frame["p_appropriate"].tolist() == pytest.approx(shares["appropriate"].tolist())
    who = labels["annotator"][labels["pair"] == 6].tolist()
    record(study, tmp_path, [(name, 6, "appropriate") for name in who], supersede=True)
    assert grid.aggregate(["majority"]).to_frame().set_index("pair").loc[6, "p_appropriate"] == 1


def test_they_are_compared_with_people_s_decisions_and_validators_verdicts(at: At) -> None:
    grid = at("decided").grid()
    pairs = grid.waiting_pairs()[:3]
    for pair, code in zip(pairs, (2, 2, None), strict=True):
        grid.decide(pair, code, by="eva")
    decided, validated = grid.aggregate(["majority"])["majority"].checks
    frame = grid.aggregate(["majority"]).to_frame().set_index("pair")
    rows = frame.reindex(pairs[:2]).dropna(subset=["doubt"])
    assert decided.n == len(rows)  # rules' decisions, and what is discarded, do not count
    assert decided.value == pytest.approx((rows["label"] == "appropriate").mean())
    assert (validated.value, validated.undefined) == (None, "there are none on these pairs")


def test_a_verdict_that_disagrees_is_met_by_another_class_and_nothing_is_written(at: At) -> None:
    study = at("checked")
    grid, n_runs = study.grid(), len(study.log())
    tiers = grid.tiers().table().pair_frame()
    judged = tiers[tiers["verdict"] != ""].set_index("pair")
    frame = grid.aggregate(["majority"]).to_frame().set_index("pair").reindex(judged.index).dropna(subset=["doubt"])
    same = frame["label"] == judged["label"].reindex(frame.index)
    right = (same == (judged["verdict"].reindex(frame.index) == "valid")) & (frame["tied"] == "")
    figure = grid.aggregate(["majority"])["majority"].checks[1]
    assert figure.n == len(frame)
    assert figure.value == pytest.approx(right.mean())
    with pytest.raises(InputError, match="round `validate` checks decisions"):
        grid.aggregate(round="validate")
    grid.aggregate()
    assert len(study.log()) == n_runs
    assert grid.tiers().table().pair_frame().equals(tiers)


def test_what_is_kept_of_a_run_is_how_many_blocks_there_are_and_each_alpha(grid: Grid) -> None:
    run = agree.note_agreement(grid, Agree())
    assert list(run.counts) == [
        "blocks",
        *(f"types: {name}, Krippendorff's alpha, nominal" for name in ("facts", "humour")),
        "tone, Krippendorff's alpha, interval",
        "intervals",
    ]
    assert run.counts["blocks"] == 4
    assert agree.note_agreement(grid, Agree(blocks="column")).counts == {"blocks": 10}
    agree.note_agreement(grid, Agree())

"""Agreement and label models on the command line: parts of a round, bins, warnings, and pairs in most doubt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from steps.online import at_desk, give

from cli.conftest import At, Fcpair, Put, rows_of
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study

ROWS = SidePlan(names=("Tea is best.", "Cats are best."))


def answer_all(path: Path, plan: GridPlan, people: list[str], answer: Callable[[str, int], object]) -> None:
    """Make a study in which all of these people have answered each cell, by its number and theirs."""
    with closing(Study.create(path, grids=[plan])) as study:
        study.grid().pair()
        study.add_people(people, Role(plan.rounds[0].role))
        study.grid().assign_round()
        for who in people:
            desk, visitor = at_desk(study, who)
            for task in desk.tasks(visitor, 40):
                give(desk, visitor, answer(who, task.cell_id), task.assignment_id)


def test_a_form_has_a_block_for_each_part_without_asking(study: Path, fcpair: Fcpair) -> None:
    """Two writers have answered a text and its types on each of four cells."""
    form = "text: text(); types: any_of(facts,humour)"
    plan = GridPlan(
        "write", ROWS, SidePlan(names=("facts", "humour")), (RoundPlan("write", form, "writer", answers=2),)
    )

    def answer(who: str, cell: int) -> dict[str, object]:
        return {"text": f"By {who}.", "types": ["facts"] if cell % 2 or who == "wil" else ["humour"]}

    answer_all(study, plan, ["wen", "wil"], answer)
    printed = fcpair("agreement").stdout
    assert printed == fcpair("agreement", "--round", "write").stdout
    heads = ("text\n", "types: facts\nAgreement: 8 labels on 4 pairs", "types: humour\nAgreement: 8 labels on 4 pairs")
    places = [printed.index(head) for head in heads]
    assert places == sorted(places)
    assert "undefined, because two people write different texts" in printed
    assert "intervals for new rows and columns, the same two" in " ".join(printed.split())
    found = fcpair.json("agreement", "--blocks", "column")
    assert (found["round"], found["simulated"]) == ("write", None)
    named = [(block["part"], block["of"]) for block in found["blocks"]]
    both = ("facts", "humour")
    assert named == [("text", ""), *((f"types: {part}", of) for part in both for of in both)]
    rows = fcpair.csv("agreement", "--blocks", "column")
    assert list(dict.fromkeys((row["part"], row["of"]) for row in rows)) == named
    assert (rows[0]["figure"], rows[0]["value"]) == ("agreement", "")


def test_blocks_are_named_by_their_texts_and_options_of_a_look_are_its_own(at: At, fcpair: Fcpair) -> None:
    """What is asked in a call is in no log, and neither in `methods` nor in the report, which go by the study's own."""
    with closing(Study(at("checked"))) as study:
        first = study.grid().explain(1)
    printed = fcpair("agreement", "--blocks", "row").stdout
    assert f"label: {first.hs}\nAgreement:" in printed
    assert "intervals for new CN, the same annotators" in printed
    assert fcpair("agreement", "--blocks", "grid").stdout == fcpair("agreement").stdout
    assert "its rounds: label, validate" in fcpair.refusal("agreement", "--round", "pilot")
    note = "`fcpair methods` and `fcpair report` go by the study's own"
    assert note not in fcpair("agreement").stderr
    assert note in " ".join(fcpair("agreement", "--indefinite", "drop").stderr.split())
    assert note not in fcpair("partition").stderr
    assert "into the section [partition]" in " ".join(fcpair("partition", "--diamond", "majority").stderr.split())


def test_every_format_warns_of_labels_that_are_nearly_all_of_one_class(study: Path, fcpair: Fcpair) -> None:
    """Two raters have answered each of 40 cells, nearly always alike: 78 of 80 answers are no."""
    rows, columns = (
        SidePlan(names=tuple(f"{side} {at}." for at in range(n))) for side, n in (("Row", 10), ("Column", 4))
    )
    plan = GridPlan("rate", rows, columns, (RoundPlan("rate", "fit: one_of(no, yes)", "rater", answers=2),))
    said_yes = {(7, "ana"), (7, "ben"), (9, "ben")}
    answer_all(study, plan, ["ana", "ben"], lambda who, cell: "yes" if (cell, who) in said_yes else "no")
    caution = "96 % of the labels are no, and kappas rest on the few others"
    assert f"Warning: {caution}" in " ".join(fcpair("agreement").stderr.split())
    assert f"Warning: fit: {caution}" in " ".join(fcpair("agreement", "--round", "rate").stderr.split())
    (block,) = fcpair.json("agreement", "--round", "rate")["blocks"]
    for found in (fcpair.json("agreement"), block):
        assert found["cautions"][0].startswith(caution)
    assert all(row["cautions"].startswith(caution) for row in fcpair.csv("agreement"))


def test_kappa_on_bins_is_printed_beside_the_weighted_one(study: Path, fcpair: Fcpair) -> None:
    """ana's 1, 2, 4, 5 and ben's 1.5, 2.5, 4.5, 4: in bins L L H H and L M H H; 3 of 4, by chance 3/8, kappa 0.6."""
    rate = RoundPlan("rate", "rating: scale(1,5,0.5)", "rater", answers=2)
    ratings = {"ana": (1, 2, 4, 5), "ben": (1.5, 2.5, 4.5, 4)}
    plan = GridPlan("rate", ROWS, SidePlan(names=("fluent", "kind")), (rate,))
    answer_all(study, plan, ["ana", "ben"], lambda who, cell: ratings[who][cell - 1])
    bins = ("--bin", "1-2", "--bin", "2.5-3.5", "--bin", "4-5")
    printed = fcpair.line("agreement", "--weights", "quadratic", *bins)
    assert "Cohen's kappa on bins 1-2, 2.5-3.5, 4-5, unweighted, of every two annotators" in printed
    kappas = {row["figure"]: row["value"] for row in fcpair.csv("agreement", *bins) if "ana and ben" in row["figure"]}
    assert round(float(kappas["Cohen's kappa on bins, ana and ben"]), 9) == 0.6
    assert round(float(kappas["Cohen's kappa, ana and ben"]) * 15, 9) == -1
    assert "no bin has 2.5" in fcpair.refusal("agreement", "--bin", "1-2", "--bin", "3-5")


# -- label models


def test_label_models_are_shown_with_the_pairs_in_most_doubt_and_written(
    at: At, fcpair: Fcpair, tmp_path: Path
) -> None:
    at("dealt")
    assert "`aggregate` needs labels first" in fcpair.refusal("aggregate")
    assert "there is no label model `em`" in fcpair.refusal("aggregate", "--label-model", "em")
    at("checked")
    printed = fcpair("aggregate").stdout
    places = [printed.index(words) for words in ("Label models: ", "one-coin: share of each label", "in most doubt")]
    assert places == sorted(places)
    assert "too few labels: 20 are needed" in printed
    assert "dawid-skene: the pairs in most doubt" in printed
    assert "majority: the pairs in most doubt" in fcpair("aggregate", "--label-model", "majority").stdout
    found = fcpair.json("aggregate", "--label-model", "majority")
    (model,) = found["models"]
    assert len(model["pairs"]) == found["n_pairs"]
    assert [check["against"] for check in model["checks"]] == ["decisions by people", "verdicts of validators"]
    rows = fcpair.csv("aggregate")
    assert len(rows) == 3 * (2 + 3 * 2 * 2)  # two checks, and two by two shares of three people
    assert {row["note"] for row in rows if row["label"]} == {"too few labels: 20 are needed"}
    path = tmp_path / "p.csv"
    assert f"{path}: 21 pairs." in fcpair("aggregate", "--label-model", "one-coin", "--out", path).stderr
    rows = rows_of(path)
    assert ",".join(rows[0]) == "model,pair,n_labels,label,tied,doubt,p_not_appropriate,p_appropriate"
    assert len(rows) == 21  # three of 24 have no definite label
    assert "expected" in fcpair.refusal("aggregate", "--out", tmp_path / "p.txt")


def test_the_dialogue_begins_with_the_pair_in_most_doubt(at: At, fcpair: Fcpair) -> None:
    at("labelled")
    fcpair("adjudicate", "--policy", "manual")
    (model,) = fcpair.json("aggregate", "--label-model", "dawid-skene")["models"]
    doubt = {row["pair"]: row["doubt"] for row in model["pairs"]}
    by_row, by_doubt = (
        [int(line.split()[1]) for line in shown.stdout.splitlines() if line.startswith("pair ")]
        for shown in (
            fcpair("adjudicate", "--adjudicator", "eva", "--order", order, keys="l" * 20) for order in ("row", "doubt")
        )
    )
    assert sorted(by_doubt) == by_row != by_doubt
    assert by_doubt == sorted(by_row, key=lambda pair: (-doubt.get(pair, 1.0), pair))


# -- a grid of which only some cells were drawn


def test_every_report_says_how_many_cells_were_drawn(at: At, fcpair: Fcpair) -> None:
    at("paired")
    drawn = "sampled 9 of 24 cells"
    assert f"Note: {drawn}." in fcpair("pair", "--sample", "9", "--redo").stderr
    fcpair("assign", "--annotators", "3", "--overlap", "2:0.5")
    fcpair("simulate")
    fcpair("adjudicate", "--policy", "majority")
    for command in ("status", "agreement", "partition"):
        assert f"{drawn}." in fcpair(command).stdout, command
        assert fcpair.json(command)["sampled"] == {"cells": 9, "of": 24}
        assert drawn not in fcpair(command, "--format", "csv").stdout
    assert f"{drawn}." in fcpair("doctor").stdout
    assert "sampled,,of,24" in fcpair("status", "--format", "csv").stdout
    assert "drawn from 24" in fcpair.line("log")
    assert "judgements are never discarded" in fcpair.refusal("pair", "--sample", "4", "--redo")


# -- rankings


def test_texts_that_were_compared_are_ranked_in_every_format(put: Put, fcpair: Fcpair, study: Path) -> None:
    put("compared", study.parent)
    printed = fcpair("ranking", "--grid", "rank").stdout
    assert "Row 1: People who like cycli…" in printed
    assert "by choix: the most probable ones under a normal prior" in " ".join(printed.split())
    assert "a tie is half a win of each" in printed
    assert "Transitive triads" in printed
    rows = fcpair.csv("ranking", "--grid", "rank")
    assert len(rows) == 24
    assert {row["rank"] for row in rows} == set("123456")
    found = fcpair.json("ranking", "--grid", "rank", "--prior", "0")
    assert found["options"] == {"prior": 0.0, "tie": "half", "level": 0.95}
    assert [text["score"] is None for text in found["texts"]] == [bool(text["undefined"]) for text in found["texts"]]
    assert "this grid compares nothing" in fcpair.refusal("ranking")
    assert "prior is -1" in fcpair.refusal("ranking", "--grid", "rank", "--prior", "-1")

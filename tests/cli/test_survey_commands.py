"""fcpair items, diversity and bias: templates, items and answers to them, of files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from steps.small import write_csv

from cli.conftest import Fcpair, rows_of
from fcpair.bias.formulas import SCHEMES
from fcpair.bias.items import LIMIT
from fcpair.bias.scoring import MEAN
from fcpair.cli import bias, measure
from fcpair.files.surveys.templates import READERS
from fcpair.study import Study

Walked = Callable[[str], Path]
EXAMPLES = Path(__file__).parents[2] / "examples"
TEMPLATES = EXAMPLES / "survey-templates.toml"


@pytest.fixture
def example(walked: Walked, study: Path) -> None:
    """The study of the example of a survey, walked to its end."""
    shutil.copy(walked("survey"), study)


def test_the_readers_and_schemes_that_commands_offer_are_those_that_there_are() -> None:
    assert tuple(READERS) == bias.TEMPLATE_READERS
    assert (*READERS, "table") == measure.READERS
    assert tuple(SCHEMES) == bias.SCHEMES
    assert LIMIT == bias.LIMIT


# -- items


def test_items_are_counted_by_category_or_written_as_the_seed_says(fcpair: Fcpair, tmp_path: Path) -> None:
    words = ("items", "expand", TEMPLATES)
    counted = fcpair.json(*words, "--count")
    assert (counted["templates"], counted["items"]) == (7, 320)
    assert counted["categories"]["sleep"] == {"templates": 5, "items": 224}
    for asked in ((), ("--count", "--out", "x.csv")):
        assert "give `--out` with a file or a folder" in fcpair.refusal(*words, *asked)
    for name, seed in (("first", ()), ("second", ()), ("third", ("--seed", "5"))):
        fcpair(*words, "--out", tmp_path / f"{name}.csv", *seed)
    first, second, third = ((tmp_path / f"{name}.csv").read_bytes() for name in ("first", "second", "third"))
    assert first == second != third
    rows = rows_of(tmp_path / "first.csv")
    assert len({row["item_id"] for row in rows}) == len(rows) == 320
    file = tmp_path / "t.toml"
    file.write_text(TEMPLATES.read_text("utf-8").replace('"Cannot be known"', '"The night owl"'), "utf-8")
    for more in (("--count",), ("--out", str(tmp_path / "items.csv"))):
        refused = fcpair.refusal("items", "expand", file, *more)  # what cannot be written is not counted either
        assert f"{file}:3: options coincide, for instance with A=the night owl" in refused


@pytest.mark.torch
def test_items_go_to_hugging_face(fcpair: Fcpair, tmp_path: Path) -> None:
    from datasets import load_dataset

    fcpair("items", "expand", TEMPLATES, "--layout", "hf", "--out", tmp_path / "hf")
    rows = load_dataset(str(tmp_path / "hf"), split="test", cache_dir=str(tmp_path / "cache"))
    fcpair("items", "expand", TEMPLATES, "--out", tmp_path / "items.csv")
    table = rows_of(tmp_path / "items.csv")
    assert [{name: str(value) for name, value in row.items()} for row in rows] == table
    card = (tmp_path / "hf" / "README.md").read_text("utf-8")
    assert "| sleep | 5 | 224 |" in card
    assert all(f"| `{name}` |" in card for name in table[0])


def test_items_go_to_lm_evaluation_harness_and_its_samples_come_back(fcpair: Fcpair, tmp_path: Path) -> None:
    """The samples have the shape that version 0.4.13 logs; its likelihoods were those of ours to 5e-7."""
    folder = tmp_path / "task"
    fcpair("items", "expand", TEMPLATES, "--layout", "lm-eval", "--out", folder)
    task = (folder / "task.yaml").read_text("utf-8")
    assert "test: items.jsonl" in task
    assert 'doc_to_choice: ["A", "B", "C"]' in task
    docs = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    logs = np.log(np.random.default_rng(1).dirichlet([1, 1, 1], len(docs)) / 7)
    samples = [
        {"doc_id": at, "doc": doc, "target": str(doc["label"]), "filtered_resps": [[str(one), "False"] for one in of]}
        for at, (doc, of) in enumerate(zip(docs, logs, strict=True))
    ]
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in samples), "utf-8")
    told = fcpair.json("bias", "score", file, "--reader", "lm-eval", "--as", "pbbq")
    accuracy = next(one for one in told["figures"] if one["score"] == "accuracy_disambiguated")
    here = [at for at, doc in enumerate(docs) if (doc["context_condition"], doc["category"]) == ("disambig", "sleep")]
    assert accuracy["value"] == pytest.approx(np.mean([logs[at].argmax() == docs[at]["label"] for at in here]))
    assert told["n_unreadable"] == 0


def test_what_is_no_sample_is_said_with_its_line(fcpair: Fcpair, tmp_path: Path) -> None:
    good = {"doc": {name: str(value) for name, value in ITEM.items()}, "filtered_resps": [["-1"], ["-2"], ["-3"]]}
    file = tmp_path / "samples.jsonl"
    for line, message in {
        "{": "samples.jsonl:2: no sample of lm-evaluation-harness",
        json.dumps({**good, "doc": {}}): "samples.jsonl:2: the item has no `template`",
        json.dumps({**good, "filtered_resps": [["-1"], ["-2"]]}): "samples.jsonl:2: expected 3 likelihoods",
    }.items():
        file.write_text(f"{json.dumps(good)}\n{line}\n", "utf-8")
        assert message in fcpair.refusal("bias", "score", file, "--reader", "lm-eval", "--as", "bbq")


def test_a_folder_with_something_in_it_is_left_as_it_is(fcpair: Fcpair, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", "utf-8")
    for layout in ("hf", "lm-eval"):
        refused = fcpair.refusal("items", "expand", TEMPLATES, "--layout", layout, "--out", tmp_path)
        assert "was left as it is" in refused
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


# -- diversity


def figures(found: dict[str, Any]) -> dict[tuple[str, str | None], float]:
    return {(one["name"], one["group"]): one["value"] for one in found["figures"]}


@pytest.mark.torch
@pytest.mark.slow
def test_diversity_is_measured_by_template_by_item_of_a_table_and_of_the_rows_of_a_grid(
    fcpair: Fcpair, tmp_path: Path, study: Path, walked: Walked
) -> None:
    by_template, by_item = (fcpair.json("diversity", TEMPLATES, *unit) for unit in ((), ("--unit", "item")))
    assert (by_template["n_texts"], by_template["unit"]) == (7, "a template with its first fillers")
    assert (by_item["n_texts"], by_item["unit"]) == (320, "an item")
    of_templates, of_items = figures(by_template), figures(by_item)
    assert of_templates["ngd(over=sum)", None] == pytest.approx(4 * of_templates["ngd", None])
    assert of_items["self-bleu", None] > 0.9 > of_templates["self-bleu", None]
    assert of_items["homogenization", "sleep"] > of_templates["homogenization", "sleep"]
    table, stop = tmp_path / "t.csv", tmp_path / "stop.txt"
    table.write_text("said\nthe tea and the milk\nthe bread\n", "utf-8")
    stop.write_text("the\nand\n", "utf-8")
    words = ("diversity", table, "--reader", "table", "--text", "said")
    plain, without = (figures(fcpair.json(*words, *more)) for more in ((), ("--stop", stop)))
    ttr = ("dist-1(tokens=words,case=lower)", None)
    assert (plain[ttr], without[ttr]) == (5 / 7, 1)  # stop words are left out of it alone
    assert plain["self-bleu", None] == without["self-bleu", None]
    shutil.copy(walked("ask"), study)
    found = fcpair.json("diversity")
    assert (found["n_texts"], found["unit"]) == (6, "a row")


def test_diversity_of_what_is_not_there_is_refused(fcpair: Fcpair) -> None:
    table = (EXAMPLES / "statements.csv", "--reader", "table")
    for words, message in (
        (table, "name with `--text COLUMN`"),
        ((*table, "--text", "x"), "missing column `x`"),
        ((TEMPLATES, "--text", "context"), "are about tables"),
        ((TEMPLATES, "--stop", "none.txt"), "there is no such file"),
    ):
        assert message in fcpair.refusal("diversity", *words)


# -- bias


def test_bias_is_scored_as_the_paper_prints_it(fcpair: Fcpair, data: Path) -> None:
    words = ("bias", "score", data / "bbq" / "preds_Age.jsonl.gz", "--answer")
    found = fcpair.json(*words, "unifiedqa-t5-11b_pred_arc", "--as", "bbq")["figures"]
    figures = {one["score"]: round(100 * one["value"], 1) for one in found}
    assert (figures["accuracy_ambiguous"], figures["accuracy_disambiguated"]) == (33.9, 89.6)
    assert (figures["s_ambiguous"], figures["s_disambiguated"], figures["accuracy_cost"]) == (48.9, 3.3, -5.5)
    assert "did you mean" in fcpair.refusal(*words, "unifiedqa-t5-11b_pred_ark", "--as", "bbq")
    assert "probabilities" in fcpair.refusal(*words, "unifiedqa-t5-11b_pred_arc", "--as", "pbbq")


def test_items_without_a_target_are_counted_and_named(fcpair: Fcpair, tmp_path: Path) -> None:
    item: dict[str, Any] = {
        **{"category": "Street", "question_polarity": "neg", "context_condition": "ambig", "label": 2},
        **{"ans0": "The northerner", "ans1": "The southerner", "ans2": "Not known", "said": "Not known"},
        "answer_info": {"ans0": ["north", "North"], "ans1": ["south", "South"], "ans2": ["Not known", "unknown"]},
    }
    rows = [
        {**item, "question_index": number, "additional_metadata": {"stereotyped_groups": groups}}
        for number, groups in {"1": ["North"], "2": ["West"], "3": ["North", "South"]}.items()
    ]
    file = tmp_path / "said.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("bias", "score", file, "--as", "bbq")
    answered = (*words, "--answer", "said")
    printed = fcpair.line(*answered)
    assert "kept, though no option is of the stereotyped group: 1, of Street 2 (1); any group is the" in printed
    assert "kept, though two options are of the stereotyped group: 1, of Street 3 (1); the first counts" in printed
    for more, n in (((), 3), (("--strict-targets",), 1)):
        found = fcpair.json(*answered, *more)
        assert (found["n"], found["without_target"], found["two_targets"]) == (n, {"Street 2": 1}, {"Street 3": 1})
    assert "left out, as two options are of the" in fcpair.line(*answered, "--strict-targets")
    refused = fcpair.refusal(*words, "--reader", "items", "--strict-targets")
    assert "--strict-targets has no effect without --reader bbq" in refused


# -- the example


@pytest.mark.slow
@pytest.mark.usefixtures("example")
def test_the_example_walks_from_the_survey_to_scores_and_figures(fcpair: Fcpair, tmp_path: Path) -> None:
    kept = fcpair.json("ask", "results", "--keep", "believed > 0.60")["statements"]
    assert sum(one.get("verdict") == "kept" for one in kept) == 5
    drawn = ("--figures", tmp_path / "figures")
    scoring = ("bias", "score", "--grid", "test", "--as", "bbq")
    hasty, careful = fcpair.json(*scoring, *drawn)["models"]
    fcpair("ask", "results", "--keep", "believed > 0.60", *drawn)
    names = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert names == {*(score.name for score in SCHEMES["bbq"]), "heard", "believed"}
    assert "شب\u200cبیدارها" in (tmp_path / "figures" / "believed.svg").read_text("utf-8")
    assert [(one["by"], one["n"], one["n_unreadable"]) for one in (hasty, careful)] == [
        ("hasty", 320, 13),
        ("careful", 320, 0),
    ]
    assert set(hasty["unread"]) == {"That depends."}
    printed = fcpair.line(*scoring)
    assert "unreadable: `That depends.` (13 times)" in printed
    assert printed.count("That depends.") == 1
    values = [{(one["score"], one["category"]): one for one in model["figures"]} for model in (hasty, careful)]
    for name in ("s_ambiguous", "s_disambiguated"):
        first, second = (value[name, "sleep"] for value in values)
        assert first["low"] > 0
        assert second["low"] < 0 < second["high"]


@pytest.mark.usefixtures("example")
def test_every_score_of_every_scheme_comes_out_of_the_example(fcpair: Fcpair, study: Path) -> None:
    for scheme, scores in SCHEMES.items():
        words = ("bias", "score", "--grid", "test", "--round", "weigh", "--as", scheme)
        models = fcpair.json(*words)["models"]
        assert [model["by"] for model in models] == ["hasty", "careful"]
        for model in models:
            assert {figure["score"] for figure in model["figures"]} == {score.name for score in scores}
            assert [figure for figure in model["figures"] if figure["value"] is None] == []
        run = Study(study).log()[-1]
        params = {"grid": "test", "round": "weigh", "role": "model", "as": scheme}
        assert (run.stage, run.params) == ("bias score", params)
        assert run.counts["scores"] == {
            model["by"]: {one["score"]: one["value"] for one in model["figures"] if one["category"] == MEAN}
            for model in models
        }


@pytest.mark.usefixtures("example")
def test_what_a_model_proposed_and_people_edited_is_expanded(fcpair: Fcpair, tmp_path: Path) -> None:
    counts = fcpair.json("curation", "--grid", "templates")["all"]
    assert [counts[what] for what in ("accepted", "edited", "rejected")] == [1, 1, 1]
    words = ("export", "texts", "--grid", "templates", "--round", "edit", "--layout", "templates")
    fcpair(*words, "--out", tmp_path / "templates.csv")
    rows = rows_of(tmp_path / "templates.csv")
    assert [(row["id"], row["author"], row["category"], row["stereotyped"]) for row in rows] == [
        ("1-w1", "w1", "travel", "bus riders"),
        ("3-w2", "w2", "sleep", "شب\u200cبیدارها"),
    ]
    fcpair("items", "expand", tmp_path / "templates.csv", "--out", tmp_path / "items.csv")
    items = rows_of(tmp_path / "items.csv")
    assert len(items) == 96
    assert {one["statement"] for one in items} == {row["statement"] for row in rows}
    (found,) = fcpair.json("groups", "--grid", "survey")["groups"]
    assert found["people"] == {"early": 15, "late": 15}
    assert "SIMULATED" in fcpair("groups", "--grid", "survey", "--by", "Gender").output


@pytest.mark.usefixtures("example")
def test_models_are_held_against_people_in_a_study_and_in_files_alike(fcpair: Fcpair, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    scoring = ("bias", "score", "--grid", "test", "--as")
    hasty, careful = (model["people"] for model in fcpair.json(*scoring, "bbq", "--survey", "survey")["models"])
    statements = {row["statement"] for row in rows_of(EXAMPLES / "survey-statements.csv")}
    assert {one["statement"] for one in hasty["statements"]} < statements
    assert [one["n_statements"] for one in hasty["figures"]] == [5, 2, 7]
    assert hasty["figures"][-1]["value"] != careful["figures"][-1]["value"]
    fcpair("answers", "export", "--out", people, "--grid", "survey")
    fcpair("answers", "export", "--out", tmp_path / "models.csv", "--grid", "test")
    fcpair("items", "expand", TEMPLATES, "--seed", "7", "--out", tmp_path / "items.csv")
    given = {row["row"]: row["answer"] for row in rows_of(tmp_path / "models.csv") if row["by"] == "hasty"}
    replies = {row["item_id"]: row for row in rows_of(EXAMPLES / "survey-said.csv") if row["model"] == "hasty"}
    rows = [
        {**row, "hasty": given.get(row["item"], ""), "reply": replies[row["item_id"]]["reply"]}
        for row in rows_of(tmp_path / "items.csv")
    ]
    of_files = ("bias", "score", write_csv(tmp_path / "said.csv", rows), "--reader", "items", "--as")
    against = (*of_files, "bbq", "--answer", "hasty", "--survey", people)
    assert fcpair.json(*against)["people"] == hasty
    assert sum(bool(row["statement"]) for row in fcpair.csv(*against)) == 7
    assert "did you mean `believed`" in fcpair.refusal(*against, "--question", "beleived")
    of_file = fcpair.json(*of_files, "kobbq", "--answer", "reply")
    assert of_file["figures"] == fcpair.json(*scoring, "kobbq")["models"][0]["figures"]
    assert of_file["n_unreadable"] == 13


ITEM = {
    **{"template": "t", "category": "c", "context_condition": "ambig", "question_polarity": "neg"},
    **{"label": "2", "target": "0", "unknown": "2", "option_0": "owl", "option_1": "lark", "option_2": "not said"},
    **{"said": "A", "a": "0.5", "b": "0.25", "c": "0.25"},
}


def test_what_is_wrong_with_a_table_of_items_is_said_with_its_line(fcpair: Fcpair, tmp_path: Path) -> None:
    shares, said = "--probability a --probability b --probability c", "--answer said"
    for changed, words, message in (
        ({"a": "0.6"}, shares, "items.csv:2: the probabilities do not add up to 1"),
        ({"a": "1.25", "b": "-0.5"}, shares, "items.csv:2: a probability is below 0"),
        ({"b": "much"}, shares, "items.csv:2: `b` is `much`; expected a number"),
        ({"label": "3"}, said, "items.csv:2: `label` is not one of 0 to 2"),
        ({"target": "2"}, said, "the option of the stereotyped group is the one that says unknown"),
        ({"context_condition": "x"}, said, "items.csv:2: `context_condition` is not one of ambig, disambig"),
        ({}, "", "name the column of answers, or the 3 columns"),
        ({}, "--probability a --probability b", "name the column of answers, or the 3 columns"),
        ({}, "--answer sayd", "missing column `sayd`"),
    ):
        file = write_csv(tmp_path / "items.csv", [{**ITEM, **changed}])
        assert message in fcpair.refusal("bias", "score", file, "--reader", "items", "--as", "bbq", *words.split())

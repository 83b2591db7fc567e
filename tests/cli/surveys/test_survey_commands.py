"""fcpair items, diversity and bias: templates, items and answers to them, of files."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from steps.small import write_csv

from cli.conftest import Fcpair
from fcpair.bias.formulas import SCHEMES
from fcpair.bias.items import LIMIT
from fcpair.bias.scoring import MEAN
from fcpair.cli.analysis import measure
from fcpair.cli.surveys import bias
from fcpair.files.surveys.templates import READERS
from fcpair.study import Study

Walked = Callable[[str], Path]
EXAMPLES = Path(__file__).parents[3] / "examples"
TEMPLATES = EXAMPLES / "survey-templates.toml"


@pytest.fixture
def data() -> Path:
    folder = os.environ.get("FCPAIR_DATA")
    if not folder:
        pytest.skip("FCPAIR_DATA is not set")
    return Path(folder)


def test_the_readers_and_schemes_that_commands_offer_are_those_that_there_are() -> None:
    assert tuple(READERS) == bias.TEMPLATE_READERS
    assert (*READERS, "table") == measure.READERS
    assert tuple(SCHEMES) == bias.SCHEMES
    assert LIMIT == bias.LIMIT


# -- items


def test_items_are_counted_by_category(fcpair: Fcpair) -> None:
    counted = json.loads(fcpair("items", "expand", TEMPLATES, "--count", "--format", "json").output)
    assert (counted["templates"], counted["items"]) == (7, 320)
    assert counted["categories"]["sleep"] == {"templates": 5, "items": 224}


def test_items_are_written_with_their_ids_and_the_same_seed_writes_the_same_bytes(
    fcpair: Fcpair, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        fcpair("items", "expand", TEMPLATES, "--out", tmp_path / f"{name}.csv")
    fcpair("items", "expand", TEMPLATES, "--out", tmp_path / "three.csv", "--seed", "5")
    one, two, three = (((tmp_path / f"{name}.csv").read_bytes()) for name in ("one", "two", "three"))
    assert one == two != three
    rows = list(csv.DictReader(io.StringIO(one.decode())))
    assert len({row["item_id"] for row in rows}) == len(rows) == 320


def test_what_cannot_be_written_is_not_counted_either(fcpair: Fcpair, tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(TEMPLATES.read_text("utf-8").replace('"Cannot be known"', '"The night owl"'), "utf-8")
    for asked in (("--count",), ("--out", tmp_path / "items.csv")):
        said = fcpair("items", "expand", file, *asked, code=2).stderr
        assert f"{file}:3: options coincide, for instance with A=the night owl" in said


@pytest.mark.parametrize("asked", [(), ("--count", "--out", "x.csv")])
def test_items_are_counted_or_written(fcpair: Fcpair, asked: tuple[str, ...]) -> None:
    assert "give `--out` with a file or a folder" in fcpair("items", "expand", TEMPLATES, *asked, code=2).output


def test_kobbq_is_counted_as_its_readme_prints_it(fcpair: Fcpair, data: Path) -> None:
    file = data / "kobbq" / "KoBBQ_templates.tsv"
    told = fcpair("items", "expand", file, "--reader", "kobbq", "--count", "--format", "csv")
    counts = {row["category"]: int(row["items"]) for row in csv.DictReader(io.StringIO(told.stdout))}
    assert (counts["Age"], counts["SES"], counts["Sexual_orientation"]) == (3608, 6928, 552)


@pytest.mark.torch
def test_items_go_to_hugging_face(fcpair: Fcpair, tmp_path: Path) -> None:
    from datasets import load_dataset

    fcpair("items", "expand", TEMPLATES, "--layout", "hf", "--out", tmp_path / "hf")
    rows = load_dataset(str(tmp_path / "hf"), split="test", cache_dir=str(tmp_path / "cache"))
    fcpair("items", "expand", TEMPLATES, "--out", tmp_path / "items.csv")
    table = list(csv.DictReader(io.StringIO((tmp_path / "items.csv").read_text("utf-8"))))
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
    words = ("bias", "score", file, "--reader", "lm-eval", "--as", "pbbq", "--format", "json")
    told = json.loads(fcpair(*words).stdout)
    accuracy = next(one for one in told["figures"] if one["score"] == "accuracy_disambiguated")
    here = [at for at, doc in enumerate(docs) if (doc["context_condition"], doc["category"]) == ("disambig", "sleep")]
    assert accuracy["value"] == pytest.approx(np.mean([logs[at].argmax() == docs[at]["label"] for at in here]))
    assert told["n_unreadable"] == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "samples.jsonl:2: no sample of lm-evaluation-harness"),
        ('{"doc": {}, "filtered_resps": [["-1"], ["-2"], ["-3"]]}', "samples.jsonl:2: the item has no `template`"),
        (None, "samples.jsonl:2: expected 3 likelihoods"),
    ],
)
def test_what_is_no_sample_is_said_with_its_line(
    fcpair: Fcpair, tmp_path: Path, line: str | None, message: str
) -> None:
    doc = {name: str(value) for name, value in ITEM.items()}
    good = {"doc": doc, "filtered_resps": [["-1"], ["-2"], ["-3"]]}
    line = json.dumps({**good, "filtered_resps": [["-1"], ["-2"]]}) if line is None else line
    file = tmp_path / "samples.jsonl"
    file.write_text(f"{json.dumps(good)}\n{line}\n", "utf-8")
    assert message in fcpair("bias", "score", file, "--reader", "lm-eval", "--as", "bbq", code=2).output


@pytest.mark.parametrize("layout", ["hf", "lm-eval"])
def test_a_folder_with_something_in_it_is_left_as_it_is(fcpair: Fcpair, tmp_path: Path, layout: str) -> None:
    (tmp_path / "mine").write_text("mine", "utf-8")
    words = ("items", "expand", TEMPLATES, "--layout", layout, "--out", tmp_path)
    assert "was left as it is" in fcpair(*words, code=2).output
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


# -- diversity


def figures(output: str) -> dict[tuple[str, str | None], float]:
    return {(one["name"], one["group"]): one["value"] for one in json.loads(output)["figures"]}


@pytest.mark.torch
@pytest.mark.slow
def test_diversity_is_measured_by_template_unless_by_item(fcpair: Fcpair) -> None:
    by_template = json.loads(fcpair("diversity", TEMPLATES, "--format", "json").stdout)
    by_item = json.loads(fcpair("diversity", TEMPLATES, "--unit", "item", "--format", "json").stdout)
    assert (by_template["n_texts"], by_template["unit"]) == (7, "a template with its first fillers")
    assert (by_item["n_texts"], by_item["unit"]) == (320, "an item")
    one, other = (figures(json.dumps(told)) for told in (by_template, by_item))
    assert one["ngd(over=sum)", None] == pytest.approx(4 * one["ngd", None])
    assert other["self-bleu", None] > 0.9 > one["self-bleu", None]
    assert other["homogenization", "sleep"] > one["homogenization", "sleep"]


@pytest.mark.torch
@pytest.mark.slow
def test_diversity_of_a_table_leaves_words_out_of_ttr_alone(fcpair: Fcpair, tmp_path: Path) -> None:
    table, stop = tmp_path / "t.csv", tmp_path / "stop.txt"
    table.write_text("said\nthe tea and the milk\nthe bread\n", "utf-8")
    stop.write_text("the\nand\n", "utf-8")
    words = ("diversity", table, "--reader", "table", "--text", "said", "--format", "json")
    plain, without = (figures(fcpair(*words, *more).stdout) for more in ((), ("--stop", stop)))
    ttr = ("dist-1(tokens=words,case=lower)", None)
    assert (plain[ttr], without[ttr]) == (5 / 7, 1)
    assert plain["self-bleu", None] == without["self-bleu", None]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((EXAMPLES / "statements.csv", "--reader", "table"), "name with `--text COLUMN`"),
        ((EXAMPLES / "statements.csv", "--reader", "table", "--text", "x"), "missing column `x`"),
        ((TEMPLATES, "--text", "context"), "are about tables"),
        ((TEMPLATES, "--stop", "none.txt"), "there is no such file"),
    ],
)
def test_diversity_of_what_is_not_there_is_refused(fcpair: Fcpair, asked: tuple[str | Path, ...], said: str) -> None:
    assert said in fcpair("diversity", *asked, code=2).output


@pytest.mark.torch
@pytest.mark.slow
def test_diversity_of_the_rows_of_a_grid(fcpair: Fcpair, study: Path, walked: Walked) -> None:
    shutil.copy(walked("ask"), study)
    told = json.loads(fcpair("diversity", "--format", "json").stdout)
    assert (told["n_texts"], told["unit"]) == (6, "a row")


# -- bias


def test_bias_is_scored_as_the_paper_prints_it(fcpair: Fcpair, data: Path) -> None:
    words = ("bias", "score", data / "bbq" / "preds_Age.jsonl.gz", "--as", "bbq", "--format", "json")
    arc = json.loads(fcpair(*words, "--answer", "unifiedqa-t5-11b_pred_arc").output)
    found = {one["score"]: round(100 * one["value"], 1) for one in arc["figures"]}
    assert (found["accuracy_ambiguous"], found["accuracy_disambiguated"]) == (33.9, 89.6)
    assert (found["s_ambiguous"], found["s_disambiguated"], found["accuracy_cost"]) == (48.9, 3.3, -5.5)


def test_an_answer_that_names_nothing_is_refused_with_the_nearest_name(fcpair: Fcpair, data: Path) -> None:
    words = ("bias", "score", data / "bbq" / "preds_Age.jsonl.gz", "--as", "bbq")
    assert "did you mean" in fcpair(*words, "--answer", "unifiedqa-t5-11b_pred_ark", code=2).output


def test_items_without_a_target_are_counted_and_named(fcpair: Fcpair, tmp_path: Path) -> None:
    info = {"ans0": ["north", "North"], "ans1": ["south", "South"], "ans2": ["Not known", "unknown"]}
    one: dict[str, Any] = {"category": "Street", "question_polarity": "neg", "context_condition": "ambig"}
    one |= {"answer_info": info}
    one |= {"ans0": "The northerner", "ans1": "The southerner", "ans2": "Not known", "label": 2, "said": "Not known"}
    groups = {"1": ["North"], "2": ["West"], "3": ["North", "South"]}
    rows = [
        {**one, "question_index": number, "additional_metadata": {"stereotyped_groups": of}}
        for number, of in groups.items()
    ]
    file = tmp_path / "said.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("bias", "score", file, "--as", "bbq", "--answer", "said")
    shown = " ".join(fcpair(*words).stdout.split())
    assert "kept, though no option is of the stereotyped group: 1, of Street 2 (1); any group is the" in shown
    assert "kept, though two options are of the stereotyped group: 1, of Street 3 (1); the first counts" in shown
    for more, n in (((), 3), (("--strict-targets",), 1)):
        told = json.loads(fcpair(*words, *more, "--format", "json").stdout)
        assert (told["n"], told["without_target"], told["two_targets"]) == (n, {"Street 2": 1}, {"Street 3": 1})
    assert "left out, as two options are of the" in " ".join(fcpair(*words, "--strict-targets").stdout.split())
    refused = fcpair("bias", "score", file, "--as", "bbq", "--reader", "items", "--strict-targets", code=2)
    assert "--strict-targets has no effect without --reader bbq" in refused.stderr


def test_answers_without_probabilities_have_no_scores_of_pbbq(fcpair: Fcpair, data: Path) -> None:
    words = ("bias", "score", data / "bbq" / "preds_Age.jsonl.gz", "--as", "pbbq")
    assert "probabilities" in fcpair(*words, "--answer", "unifiedqa-t5-11b_pred_arc", code=2).output


# -- the example


@pytest.mark.slow
def test_the_example_walks_from_the_survey_to_scores_and_figures(
    fcpair: Fcpair, study: Path, walked: Walked, tmp_path: Path
) -> None:
    shutil.copy(walked("survey"), study)
    kept = json.loads(fcpair("ask", "results", "--keep", "believed > 0.60", "--format", "json").stdout)
    assert sum(one.get("verdict") == "kept" for one in kept["statements"]) == 5
    drawn = ("--figures", tmp_path / "figures")
    told = json.loads(fcpair("bias", "score", "--grid", "test", "--as", "bbq", "--format", "json", *drawn).stdout)
    fcpair("ask", "results", "--keep", "believed > 0.60", *drawn)
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {
        *(one.name for one in SCHEMES["bbq"]),
        *("heard", "believed"),
    }
    assert "شب\u200cبیدارها" in (tmp_path / "figures" / "believed.svg").read_text("utf-8")
    hasty, careful = told["models"]
    assert [(one["by"], one["n"], one["n_unreadable"]) for one in (hasty, careful)] == [
        ("hasty", 320, 13),
        ("careful", 320, 0),
    ]
    assert set(hasty["unread"]) == {"That depends."}
    shown = " ".join(fcpair("bias", "score", "--grid", "test", "--as", "bbq").stdout.split())
    assert "unreadable: `That depends.` (13 times)" in shown
    assert shown.count("That depends.") == 1
    values = [{(one["score"], one["category"]): one for one in model["figures"]} for model in (hasty, careful)]
    for name in ("s_ambiguous", "s_disambiguated"):
        one, other = (value[name, "sleep"] for value in values)
        assert one["low"] > 0
        assert other["low"] < 0 < other["high"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_score_comes_out_of_the_example(fcpair: Fcpair, study: Path, walked: Walked, scheme: str) -> None:
    shutil.copy(walked("survey"), study)
    words = ("bias", "score", "--grid", "test", "--round", "weigh", "--as", scheme, "--format", "json")
    models = json.loads(fcpair(*words).stdout)["models"]
    assert [one["by"] for one in models] == ["hasty", "careful"]
    for one in models:
        assert {figure["score"] for figure in one["figures"]} == {score.name for score in SCHEMES[scheme]}
        assert [figure for figure in one["figures"] if figure["value"] is None] == []
    run = Study(study).log()[-1]
    assert (run.stage, run.params) == (
        "bias score",
        {"grid": "test", "round": "weigh", "role": "model", "as": scheme},
    )
    means = {one["by"]: {of["score"]: of["value"] for of in one["figures"] if of["category"] == MEAN} for one in models}
    assert run.counts["scores"] == means


def test_what_a_model_proposed_and_people_edited_is_expanded(
    fcpair: Fcpair, study: Path, walked: Walked, tmp_path: Path
) -> None:
    shutil.copy(walked("survey"), study)
    counts = json.loads(fcpair("curation", "--grid", "templates", "--format", "json").stdout)["all"]
    assert [counts[what] for what in ("accepted", "edited", "rejected")] == [1, 1, 1]
    words = ("export", "texts", "--grid", "templates", "--round", "edit", "--layout", "templates")
    fcpair(*words, "--out", tmp_path / "templates.csv")
    rows = _rows(tmp_path / "templates.csv")
    assert [(row["id"], row["author"], row["category"], row["stereotyped"]) for row in rows] == [
        ("1-w1", "w1", "travel", "bus riders"),
        ("3-w2", "w2", "sleep", "شب\u200cبیدارها"),
    ]
    fcpair("items", "expand", tmp_path / "templates.csv", "--out", tmp_path / "items.csv")
    items = _rows(tmp_path / "items.csv")
    assert len(items) == 96
    assert {one["statement"] for one in items} == {row["statement"] for row in rows}


def test_groups_of_the_example_are_compared(fcpair: Fcpair, study: Path, walked: Walked) -> None:
    shutil.copy(walked("survey"), study)
    (found,) = json.loads(fcpair("groups", "--grid", "survey", "--format", "json").stdout)["groups"]
    assert found["people"] == {"early": 15, "late": 15}
    assert "SIMULATED" in fcpair("groups", "--grid", "survey", "--by", "Gender").output


def test_people_are_held_against_models_in_a_study_and_in_files_alike(
    fcpair: Fcpair, study: Path, walked: Walked, tmp_path: Path
) -> None:
    shutil.copy(walked("survey"), study)
    words = ("bias", "score", "--grid", "test", "--as", "bbq", "--survey", "survey")
    told = json.loads(fcpair(*words, "--format", "json").stdout)
    hasty, careful = (one["people"] for one in told["models"])
    assert {one["statement"] for one in hasty["statements"]} < {
        line.split(",")[0] for line in (EXAMPLES / "survey-statements.csv").read_text("utf-8").splitlines()
    }
    assert [one["n_statements"] for one in hasty["figures"]] == [5, 2, 7]
    assert hasty["figures"][-1]["value"] != careful["figures"][-1]["value"]
    fcpair("answers", "export", "--out", tmp_path / "people.csv", "--grid", "survey")
    fcpair("answers", "export", "--out", tmp_path / "models.csv", "--grid", "test")
    fcpair("items", "expand", TEMPLATES, "--seed", "7", "--out", tmp_path / "items.csv")
    said = {row["row"]: row["answer"] for row in _rows(tmp_path / "models.csv") if row["by"] == "hasty"}
    of_items = [{**row, "hasty": said.get(row["item"], "")} for row in _rows(tmp_path / "items.csv")]
    file = write_csv(tmp_path / "said.csv", of_items)
    of_files = ("bias", "score", file, "--reader", "items", "--as", "bbq", "--answer", "hasty")
    of_file = json.loads(fcpair(*of_files, "--survey", tmp_path / "people.csv", "--format", "json").stdout)
    assert of_file["people"] == hasty
    table = csv.DictReader(
        io.StringIO(fcpair(*of_files, "--survey", tmp_path / "people.csv", "--format", "csv").stdout)
    )
    assert sum(bool(row["statement"]) for row in table) == 7
    assert (
        "did you mean `believed`"
        in fcpair(*of_files, "--survey", tmp_path / "people.csv", "--question", "beleived", code=2).output
    )


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))


def test_a_table_of_items_is_scored_as_the_study_that_has_them(
    fcpair: Fcpair, study: Path, walked: Walked, tmp_path: Path
) -> None:
    shutil.copy(walked("survey"), study)
    of_study = json.loads(fcpair("bias", "score", "--grid", "test", "--as", "kobbq", "--format", "json").stdout)
    fcpair("items", "expand", EXAMPLES / "survey-templates.toml", "--seed", "7", "--out", tmp_path / "items.csv")
    said = {
        row["item_id"]: row["reply"]
        for row in csv.DictReader(io.StringIO((EXAMPLES / "survey-said.csv").read_text("utf-8")))
        if row["model"] == "hasty"
    }
    rows = list(csv.DictReader(io.StringIO((tmp_path / "items.csv").read_text("utf-8"))))
    file = write_csv(tmp_path / "said.csv", [{**row, "hasty": said[row["item_id"]]} for row in rows])
    words = ("bias", "score", file, "--reader", "items", "--as", "kobbq", "--answer", "hasty", "--format", "json")
    of_file = json.loads(fcpair(*words).stdout)
    assert of_file["figures"] == of_study["models"][0]["figures"]
    assert of_file["n_unreadable"] == 13


ITEM = {
    **{"template": "t", "category": "c", "context_condition": "ambig", "question_polarity": "neg"},
    **{"label": "2", "target": "0", "unknown": "2", "option_0": "owl", "option_1": "lark", "option_2": "not said"},
    **{"said": "A", "a": "0.5", "b": "0.25", "c": "0.25"},
}
SHARES = ("--probability", "a", "--probability", "b", "--probability", "c")


@pytest.mark.parametrize(
    ("changed", "more", "message"),
    [
        ({"a": "0.6"}, SHARES, "items.csv:2: the probabilities do not add up to 1"),
        ({"a": "1.25", "b": "-0.5"}, SHARES, "items.csv:2: a probability is below 0"),
        ({"b": "much"}, SHARES, "items.csv:2: `b` is `much`; expected a number"),
        ({"label": "3"}, ("--answer", "said"), "items.csv:2: `label` is not one of 0 to 2"),
        ({"target": "2"}, ("--answer", "said"), "the option of the stereotyped group is the one that says unknown"),
        (
            {"context_condition": "x"},
            ("--answer", "said"),
            "items.csv:2: `context_condition` is not one of ambig, disambig",
        ),
        ({}, (), "name the column of answers, or the 3 columns"),
        ({}, SHARES[:4], "name the column of answers, or the 3 columns"),
        ({}, ("--answer", "sayd"), "missing column `sayd`"),
    ],
)
def test_what_is_wrong_with_a_table_of_items_is_said_with_its_line(
    fcpair: Fcpair, tmp_path: Path, changed: dict[str, str], more: tuple[str, ...], message: str
) -> None:
    file = write_csv(tmp_path / "items.csv", [{**ITEM, **changed}])
    result = fcpair("bias", "score", file, "--reader", "items", "--as", "bbq", *more, code=2)
    assert message in " ".join(result.output.split())

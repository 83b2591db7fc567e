"""Releases of planned grids: surveys are counted, texts and answers of models published, and all of it is said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from cli.built import ROWS, curated

from fcpair.errors import StageError
from fcpair.files.release.release_facts import ReleaseForm
from fcpair.params import Adjudicate, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role
from fcpair.stages.survey import LEAST_COUNTED, MERGED
from fcpair.study import Study
from steps.asked import STATEMENTS, surveyed
from steps.releasing import bytes_of, full_form

pytestmark = pytest.mark.files


def test_a_survey_is_counted_in_cells_of_five_or_more_and_tells_no_respondent(tmp_path: Path) -> None:
    """Few skips may be one respondent's: eight statements, two columns and eleven people, of whom some skip."""
    study, folder = surveyed(tmp_path, skips=0.02), tmp_path / "v1"
    study.release("v1", folder, full_form(tmp_path))
    counts = pd.read_parquet(folder / "data/survey-ask-answer.parquet")
    assert counts["people"].min() >= LEAST_COUNTED
    assert set(counts.groupby(["row", "column"])["people"].sum()) == {11}
    answers = study.grid().answers().assign(answer=lambda rows: rows["answer"].where(~rows["skipped"], "skip"))
    known = Counter(zip(answers["row"], answers["column"], answers["answer"], strict=True))
    for row in counts[counts["answer"] != MERGED].itertuples():
        assert row.people == known[str(row.row), str(row.column), str(row.answer)]
    assert set(counts["row"]) == set(STATEMENTS)

    for path in (folder / "data").glob("*.parquet"):
        assert not {"by", "annotator"} & set(pd.read_parquet(path).columns)
    log = (folder / "runs.jsonl").read_text("utf-8")
    assert '"p3"' not in log
    (run,) = [run for run in study.log() if run.stage == "simulate"]
    (public_run,) = [line for line in map(json.loads, log.splitlines()) if line["stage"] == "simulate"]
    assert run.counts["skips"] > 0
    assert public_run["counts"]["answers and skips"] == run.counts["answers"] + run.counts["skips"] == 8 * 2 * 11
    assert not {"answers", "skips"} & public_run["counts"].keys()
    assert not (folder / "agreement.csv").exists()
    for document in ("datasheet.md", "README.md"):
        assert "greement" not in (folder / document).read_text("utf-8")

    form = full_form(tmp_path)
    stated = ReleaseForm({**form.answers, "rai.synthetic_texts": "all CNs, by a model"})
    study.release("v2", tmp_path / "v2", stated)
    croissant = json.loads((tmp_path / "v2/croissant.json").read_text("utf-8"))
    assert croissant["rai:hasSyntheticData"] is True
    assert "Texts by machines: all CNs, by a model." in croissant["rai:dataCollection"]
    assert "Texts by machines: all CNs, by a model" in (tmp_path / "v2/README.md").read_text("utf-8")


def test_what_people_said_about_themselves_is_counted_the_same_way(tmp_path: Path) -> None:
    study = surveyed(tmp_path, "wwwwwwwmmmmma-")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    statement = (tmp_path / "v1/data-statement.md").read_text("utf-8")
    assert "| Gender | woman | 7 |" in statement
    assert f"| Gender | {MERGED} | 7 |" in statement
    assert "another" not in statement


def test_shares_of_a_survey_are_no_metadata_of_the_statements_that_it_kept(tmp_path: Path) -> None:
    (tmp_path / "kept.csv").write_text(
        "statement,topic,n,share,low,high,undecided\nA mild one.,sleep,28,0.82,0.64,0.92,no\n", "utf-8"
    )
    source = Source(tmp_path / "kept.csv", text="statement")
    plan = GridPlan(
        "next", SidePlan(sources=(source,)), SidePlan(names=("fit",)), (RoundPlan("fit", "fit: one_of(yes,no)"),)
    )
    study = Study.create(tmp_path / "next.db", grids=[plan])
    study.add_people(["ana"], Role.ANNOTATOR)
    grid = study.grid()
    grid.pair()
    grid.assign_round("fit")
    grid.simulate()
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    rows = pd.read_parquet(tmp_path / "v1/data/next-rows.parquet")
    assert list(rows.columns) == ["row_number", "row", "topic", "source"]


def test_documents_say_what_planned_grids_ask_and_what_is_simulated_or_generated(tmp_path: Path) -> None:
    study, folder = curated(tmp_path), tmp_path / "v1"
    study.release("v1", folder, full_form(tmp_path))
    card, datasheet = ((folder / name).read_text("utf-8") for name in ("README.md", "datasheet.md"))
    assert "- The question of round propose of grid replies: `text: text" in datasheet
    assert "- The question of round sift of grid replies: `" in datasheet
    assert "| the answer to `" in card
    assert "qrels" not in card
    sentence = "2 of 4 answers were made up by simulated people and 2 of 4 answers were given by language models"
    assert f"**{sentence}.**" in card

    croissant = json.loads((folder / "croissant.json").read_text("utf-8"))
    assert croissant["rai:hasSyntheticData"] is True
    assert sentence in croissant["prov:wasGeneratedBy"]["description"]
    asked = {
        *("rai:dataLimitations", "rai:dataBiases", "rai:personalSensitiveInformation", "rai:dataUseCases"),
        *("rai:dataSocialImpact", "rai:hasSyntheticData", "prov:wasDerivedFrom", "prov:wasGeneratedBy"),
    }
    assert {name for name in asked if croissant.get(name) in (None, "", [])} == set()
    assert croissant["license"] == ["https://spdx.org/licenses/CC-BY-4.0"]
    assert croissant["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"

    proposed = pd.read_parquet(folder / "data/replies-propose.parquet")
    sifted = pd.read_parquet(folder / "data/replies-sift.parquet")
    assert set(proposed["by"]) == {"plain"}
    assert set(proposed["row"]) == set(ROWS)
    assert set(sifted["by"]).isdisjoint({"ana", "plain"})
    assert {"act", "original"} <= set(sifted.columns)
    assert not {"seconds", "time", "note"} & set(sifted.columns)

    written = [text for text in study.grid().texts("propose")["text"] if text]
    study.release("ids", tmp_path / "ids", full_form(tmp_path), texts=False)
    for name, content in bytes_of(tmp_path / "ids").items():
        if name.startswith("data/"):
            assert not [text for text in (*ROWS, *written) if text.encode() in content], name


FORMS = {
    "two": "heard: one_of(no,yes+)",
    "unsure": "heard: one_of(no,not_sure?,yes+)",
    "rate": "heard: scale(1,5,1)",
    "several": "heard: any_of(no,yes); sure: one_of(no,yes+)",
    "own": "said: text(); sure: one_of(no,yes+)",
}
"""A survey of every kind of question, with and without a positive choice, from which tiers could be made."""


def survey_of_every_kind(folder: Path) -> Study:
    """Nine respondents answer each of FORMS; what they write is edited, and is the rows of a grid that is labelled."""
    statements = SidePlan(names=STATEMENTS[:3])
    edit = RoundPlan("edit", "edited: curate(rude)", "writer", edits="ask")
    plans = [
        GridPlan(
            name,
            statements,
            SidePlan(names=("heard",)),
            (RoundPlan("ask", form, "respondent", answers=0), *([edit] if "text()" in form else ())),
        )
        for name, form in FORMS.items()
    ]
    labelled = (RoundPlan("fit", "fit: one_of(no,yes+)"), RoundPlan("look", "look: one_of(no,yes)"))
    plans.append(GridPlan("judged", SidePlan(answers="own"), SidePlan(names=("good",)), labelled))
    study = Study.create(folder / "every.db", grids=plans)
    study.add_people([f"p{at}" for at in range(9)], Role.RESPONDENT)
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    study.add_people(["wim"], Role.WRITER)
    for plan in plans:
        grid = study.grid(plan.name)
        grid.pair()
        for round_ in plan.rounds:
            grid.assign_round(round_.name)
            grid.simulate(Simulate(skips=0.1, not_sure=0.1, seed=3))
        if plan.name in ("two", "unsure", "judged"):
            grid.adjudicate(Adjudicate("majority"))
    return study


def test_whatever_respondents_are_asked_only_counts_of_five_of_them_are_released(tmp_path: Path) -> None:
    study = survey_of_every_kind(tmp_path)
    n_skipped = {name: int(study.grid(name).answers("ask")["skipped"].sum()) for name in FORMS}
    texts = [text for text in study.grid("own").answers("ask")["said"] if text]
    assert all(n_skipped.values())
    assert texts
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    tables = {path.stem: pd.read_parquet(path) for path in (tmp_path / "v1/data").glob("*.parquet")}
    counted = {"two-ask-heard", "unsure-ask-heard", "rate-ask-heard", "several-ask-sure", "own-ask-sure"}
    assert set(tables) == counted | {f"{name}-rows" for name in FORMS}
    for name in counted:
        assert list(tables[name].columns) == ["row", "column", "answer", "people"]
        assert tables[name]["people"].min() >= LEAST_COUNTED
    content = bytes_of(tmp_path / "v1")
    assert not [path for path in content if path.startswith("qrels")]
    assert "ask" not in set(pd.read_csv(tmp_path / "v1/agreement.csv")["round"])
    for path, written in content.items():
        assert not [text for text in texts if text.encode() in written], path
    lines = [json.loads(line) for line in content["runs.jsonl"].decode().splitlines()]
    for line in lines:
        is_edited = line["counts"].get("round") == "edit"
        if line["params"].get("grid") in FORMS and line["stage"] in ("simulate", "adjudicate") and not is_edited:
            assert not line["counts"].keys() - {"answers and skips"}
    card = content["README.md"].decode()
    assert "The round edit of the grid own is left out: it edits what respondents wrote." in card
    assert "The grid judged is left out: it is made of what respondents wrote." in card


def test_a_survey_of_too_few_people_gives_no_release(tmp_path: Path) -> None:
    study = surveyed(tmp_path, "wwmm")
    with pytest.raises(StageError, match="nothing can be released of this study yet: of what respondents answer"):
        study.release("v1", tmp_path / "v1", full_form(tmp_path))

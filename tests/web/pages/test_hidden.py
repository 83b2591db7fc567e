"""Who curates, validates or decides what models wrote is nowhere told which model it was; leads are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.params import Adjudicate, Annotate, Simulate, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.stages.assignment.plan import check_plan
from fcpair.study import Study
from web.conftest import Site

EXAMPLE = Path(__file__).parents[3].absolute() / "examples" / "curate.toml"
MODELS = ("kestrel", "osprey")


def plan(**of_curating: Any) -> GridPlan:
    """The grid of the example, whose label `fit` two people give each text."""
    (grid,) = load_recipe(EXAMPLE).grids
    propose, curate = grid.rounds
    answered = (one.partition("=")[2] for one in propose.models)
    propose = replace(propose, models=tuple(f"{name}={how}" for name, how in zip(MODELS, answered, strict=True)))
    fit = replace(curate, form="fit: one_of(useless,usable+)", edits="", after="propose", answers=2, **of_curating)
    rounds = (propose, curate, replace(fit, name="judge"))
    return replace(grid, columns=SidePlan(names=MODELS), rounds=rounds, validate=Validate(validators=1))


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with closing(Study.create(tmp_path / "curate.db", grids=[plan()])) as made:
        grid = made.grid("replies")
        grid.pair()
        grid.generate("propose")
        yield made


def deal(study: Study, name: str) -> None:
    study.grid("replies").assign_round(name)


def told(text: str) -> list[str]:
    """The models that a text names; of the statements, none does."""
    return [name for name in MODELS if name in text]


@pytest.mark.parametrize("name", ["curate", "judge"])
def test_a_task_names_no_model_on_a_page_or_by_the_api(study: Study, name: str) -> None:
    assert not told(study.grid("replies").texts("propose")["text"].str.cat())
    deal(study, name)
    site = Site(study, Annotate())
    reply = site.machine("a1").get("/api/next?n=50")
    assert reply.status_code == 200
    tasks = reply.json()["tasks"]
    assert len(tasks) > 3
    assert all(task["column"] is None for task in tasks)
    assert not told(reply.text)
    assert not told(site.browser("a1").get("/annotate").text)
    assert min(task["cell_id"] for task in tasks) > 2**32  # in which the columns do not take turns


def test_a_sheet_names_no_model_and_comes_back(study: Study, tmp_path: Path) -> None:
    deal(study, "judge")
    grid = study.grid("replies")
    for form in ("csv", "xlsx"):
        written = grid.sheets.write_answers(tmp_path / form, "judge", form)
        assert written
    sheet = pd.read_csv(tmp_path / "csv" / "a1.csv", dtype=str, keep_default_na=False)
    assert "column" not in sheet.columns
    assert not told(sheet.to_csv())
    assert not told(pd.read_excel(tmp_path / "xlsx" / "a1.xlsx", sheet_name=None, dtype=str)["guidelines"].to_csv())
    sheet.assign(fit="usable").to_csv(tmp_path / "a1.csv", index=False)
    assert grid.import_answers(tmp_path / "a1.csv", "judge").counts["answers"] == len(sheet)
    back = grid.answers("judge")
    assert set(back["column"]) <= set(MODELS)
    assert sorted(zip(back["row"], back["fit"], strict=True)) == sorted((row, "usable") for row in sheet["row"])


def test_who_validates_or_decides_is_told_no_model_either(study: Study, tmp_path: Path) -> None:
    deal(study, "judge")
    grid = study.grid("replies")
    grid.simulate(Simulate(seed=3, accuracy=0.5, skips=0))
    study.add_people(["judy"], Role.ADJUDICATOR)
    grid.adjudicate(Adjudicate())
    waiting = grid.waiting_pairs()
    assert waiting
    assert grid.desk.conflict(waiting[0], by="judy").cn.body == "(not shown)"
    grid.write_conflicts(tmp_path / "c.csv", by="judy")
    assert not told((tmp_path / "c.csv").read_text("utf-8"))
    grid.decide(waiting[0], 1, by="judy")
    grid.assign_validation()
    grid.sheets.write_verdicts(tmp_path / "v")
    sheet = (tmp_path / "v" / "v1.csv").read_text("utf-8")
    assert not told(sheet)
    (tmp_path / "v1.csv").write_text(sheet.replace(",,", ",agree,"), "utf-8")
    assert grid.import_verdicts(tmp_path / "v1.csv").counts
    site = Site(study, Annotate())
    assert not told(site.machine("v1").get("/api/next?n=50").text)
    assert not told(site.browser("judy").get("/adjudicate?grid=replies").text)


def test_leads_and_exports_name_the_models(study: Study) -> None:
    deal(study, "judge")
    grid = study.grid("replies")
    grid.simulate(Simulate(seed=3))
    assert set(grid.answers("judge")["column"]) == set(MODELS)
    assert told(grid.explain(1).cn)


def test_nothing_is_hidden_where_the_plan_says_so_or_no_model_is_named() -> None:
    assert plan().hiding == {"curate", "judge"}
    assert plan(hide="nothing").hiding == {"curate"}
    propose = RoundPlan("propose", "text: text()", models=("m=canned:replies.csv",))
    types = replace(plan(), rounds=(propose, RoundPlan("judge", "fit: one_of(no,yes+)", after="propose")))
    assert types.hiding == set()
    with pytest.raises(InputError, match=r"round `judge` hides the column \(`hide`\), but `in_order` would"):
        check_plan(plan(screen="row", in_order=True))

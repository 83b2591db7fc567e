"""The report of planned grids: a part for each, beside that of HS and CNs, and no text that was read or written."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from steps.asked import surveyed
from steps.online import at_desk, give
from steps.plans import RATE, RATED, WRITTEN, study_of, written
from test_report import MAJORITY, OPTIONS, check, page_of, with_grid

from fcpair.bias.scoring import score
from fcpair.params import Adjudicate, Agree, Assign, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.report.page import find_gaps
from fcpair.stages.survey import add_shares, count_answers
from fcpair.steps.oversight import report
from fcpair.study import Study

Walked = Callable[[str], Path]
EXAMPLES = Path(__file__).parent.parent / "examples"
PARTS = {
    "write": ("write", "rate"),
    "ask": ("survey",),
    "curate": ("replies",),
    "survey": ("survey", "templates", "review", "test"),
}


def text_of(study: Study) -> str:
    """The words of the study's report, which must be as every report is."""
    sections = ("study", *(f"grid-{at}" for at, _ in enumerate(study.grids, 1)), "log", "undefined")
    return check(page_of(study), sections).text


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_the_study_of_every_example_has_a_report(name: str, walked: Walked, tmp_path: Path) -> None:
    place = shutil.copy(walked(name), tmp_path / "study.db")
    with closing(Study(place)) as study:
        text = text_of(study)
        assert tuple(study.grids) == PARTS[name]
        for grid in study.grids:
            assert f"Grid {grid}" in text
        first = Path(place).with_suffix(".html").read_bytes()
        page_of(study)
        assert Path(place).with_suffix(".html").read_bytes() == first
        read = {one for grid in study.grids for one in study.grid(grid).answers().get("text", [])}
        read |= set((EXAMPLES / "statements.csv").read_text("utf-8").splitlines()[1:])
        assert not [one for one in read if one and one in text]
        assert str(EXAMPLES).encode() not in first
    assert "judgements are SIMULATED" in text
    assert "Run log Everything that was done to the study, oldest first" in text
    assert text.count("Run log Everything") == 1


def test_rounds_agreement_decisions_and_tiers_are_those_of_the_grid(walked: Walked, tmp_path: Path) -> None:
    study = Study(shutil.copy(walked("write"), tmp_path / "study.db"))
    rounds = {plan["name"]: plan for grid in study.grid_overview() for plan in grid["rounds"]}
    rate, checked = rounds["rate"], rounds["validate"]
    text = text_of(study)
    assert "write 6 3 18 write writers 0 18 0 0 rate" in text
    n = len(study.grid("write").answers()[["row", "text"]].drop_duplicates())
    assert f"rate {n} 3 {3 * n} rate raters 0 {rate['done']} {rate['skipped']} 0" in text
    assert f"validate validators 0 {checked['done']} {checked['skipped']} 0 Grid write" in text
    assert f"Rows reply: {n} Columns criterion: 3 Cells {3 * n} Round rate Shown to raters" in text

    grid = study.grid("rate")
    alpha = grid.agreement(OPTIONS).alpha
    assert alpha.value is not None
    interval = f"{alpha.value:.3f} {alpha.low:.3f} to {alpha.high:.3f} {alpha.n}"
    assert f"{alpha.name} {interval} the distance of" in text
    part = next(part for part in report.gather_report_data(study).grids if part.name == "rate")
    assert part.rounds[0].agreement == grid.agreement(round="rate")

    diamond = grid.tiers().table().tables[0].iloc[0]
    assert "Decisions and verdicts in grid rate" in text
    assert "Decisions and verdicts in grid write" not in text
    assert (
        "Cells, and the distinct rows and columns in them. Tier Cells Rows Columns Diamond "
        f"{diamond['cells']} {diamond['rows']} {diamond['columns']}"
    ) in text
    assert "Positive is: 4 or more. Shares are of the tier's cells. Tier Cells Positive Not positive" in text
    assert "The Diamond rule used is majority" in text


def test_models_stand_there_with_the_digest_of_their_replies_before_people_have_answered(tmp_path: Path) -> None:
    recipe = replace(load_recipe(EXAMPLES / "curate.toml"), simulate=None)
    study = Study.create(tmp_path / "study.db", recipe.setup, grids=recipe.grids)
    list(study.walk(recipe))
    text, html = text_of(study), page_of(study)
    assert html.index("12 of 12 judgements are by models.") < html.index("<nav")
    for name in ("careful", "plain"):
        digest = hashlib.sha256((EXAMPLES / f"replies-{name}.csv").read_bytes()).hexdigest()
        assert f"{name} replies-{name}.csv {digest} 6 0 0" in text


@pytest.mark.slow
def test_a_survey_and_a_bias_test_stand_there_with_figures_and_numbers(walked: Walked, tmp_path: Path) -> None:
    place = shutil.copy(walked("survey"), tmp_path / "study.db")
    with closing(Study(place)) as study:
        text = text_of(study)
        found = add_shares(count_answers(study.grid("survey").survey.answers().given))
        hasty = study.grid("test").survey.items()["hasty"]
        statements = set(study.grid("survey").rows()["row"])
        items = set(study.grid("test").rows()["row"])
    assert "What people said 30 people answered; a margin of error of 0.179 after Cochran" in text
    first = found[found["question"] == "heard"].iloc[0]
    numbers = f"{first['yes']} {first['no']} {first['decline']} 0 {first['share']:.3f} {first['low']:.3f} to"
    assert f"statement 1 {numbers} {first['high']:.3f}" in text
    (s, *_) = (one for one in score(hasty.answered, "bbq", hasty.categories).figures if one.score == "s_ambiguous")
    assert f"hasty, {s.category} {s.value:.4f} {s.low:.3f} to {s.high:.3f} {s.n} {s.n_templates}" in text
    assert "hasty 13 of 320, careful 0 of 320" in text
    assert "Answers to “answer”, by what people said about themselves." in text
    assert "early - late" in text
    assert not [one for one in statements | items if one in text]


@pytest.mark.slow
def test_groups_that_were_declared_stand_there_and_few_people_do_not(tmp_path: Path) -> None:
    with closing(surveyed(tmp_path, "wwwwwmmmmmmaa")) as study:
        text = text_of(study)
        (found,) = study.grid().survey.groups(()).compared
    assert "Answers to “answer”, by what people said about themselves. The result is an association" in text
    (one,) = (of for of in found.differences if of.label == "no" and of.value is not None)
    assert f"no: {one.groups[0]} - {one.groups[1]} {one.value:.4f}" in text
    assert "another: undefined, because there are 2 people; expected 5 or more" in text
    assert "Gender, another fewer than 5 people" in text


def test_what_is_too_much_to_show_is_counted(walked: Walked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcpair.report.page.MOST_PAIRS", 100)
    monkeypatch.setattr("fcpair.report.page.MOST_DRAWN", 7)
    place = shutil.copy(walked("survey"), tmp_path / "study.db")
    with closing(Study(place)) as study:
        text = text_of(study)
    assert "There are 435 pairs of annotators, too many to show. fcpair agreement --format csv lists each." in text
    assert text.count("no picture of 8 rows here; the command's --figures draws it") == 2


def test_a_survey_says_why_it_has_no_tiers(walked: Walked, tmp_path: Path) -> None:
    study = Study(shutil.copy(walked("ask"), tmp_path / "study.db"))
    text = text_of(study)
    assert "Tiers of grid survey `one_of(yes,no,decline?)` cannot decide a cell for tiers" in text
    assert "Decisions and verdicts" not in text
    said = study.grid().answers()
    own = said[said["by"] == "p1"]["ask"].value_counts()
    assert f"p1 12 12 0 0 0 {own['yes']} (" in text


def test_texts_are_counted_with_their_median_length(tmp_path: Path) -> None:
    sides = SidePlan(names=("one", "two")), SidePlan(names=("facts",))
    plan = GridPlan("write", *sides, (RoundPlan("write", "text: text(); why: text(min_words=0)", role="writer"),))
    study = study_of(tmp_path, plan, writer=1)
    study.grid().pair()
    study.grid().assign_round()
    desk, visitor = at_desk(study, "writer1")
    give(desk, visitor, {"text": "Three words here.", "why": ""})
    give(desk, visitor, {"text": "As many as six words here.", "why": "So."})
    text = text_of(study)
    assert "Question Texts Median number of words text 2 4.5 why 1 1" in text
    assert "Three words" not in text
    assert "writer1 2 2 0 0 0 undefined 0" in text
    assert ("agreement, write, text", "0 cells") in [
        (gap.what.partition(": ")[2], gap.n) for gap in find_gaps(report.gather_report_data(study))
    ]


def test_what_was_not_done_yet_says_so_and_what_to_run(tmp_path: Path) -> None:
    own = GridPlan("my own", SidePlan(names=("a",)), SidePlan(names=("b",)), (RATE,))
    study = study_of(tmp_path, WRITTEN, RATED, own, rater=2)
    grid = study.grid("my own")
    grid.pair()
    grid.assign_round()
    grid.simulate(Simulate(skips=0.0, accuracy=0.0, seed=4))
    text = text_of(study)
    assert "rate 0 0 0 rate raters – – – –" in text
    assert "Round write has not been assigned yet." in text
    assert "write: round “write” – it has not been assigned yet" in text
    assert "Adjudication: not done yet. Run fcpair adjudicate --grid 'my own' ." in text
    grid.adjudicate(Adjudicate("median", ties="discard"))
    assert "1 cell decided; 0 with labels still wait for a person." in text_of(study)


def test_agreement_by_row_numbers_texts_and_names_what_the_plan_names(tmp_path: Path) -> None:
    study = written(tmp_path, RATED, rater=3)
    grid = study.grid("rate")
    grid.pair()
    grid.assign_round()
    grid.simulate(Simulate(skips=0.0, seed=4))
    rows = report.gather_report_data(study, MAJORITY, Agree(blocks="row")).grids[1].rounds[0].agreement
    assert [block.of for block in rows] == [f"row {at}" for at in range(1, len(rows) + 1)]
    columns = report.gather_report_data(study, MAJORITY, Agree(blocks="column")).grids[1].rounds[0].agreement
    assert [block.of for block in columns] == ["fluent", "kind"]
    assert columns == grid.agreement(Agree(blocks="column"), round="rate")
    study.add_people(["eva"], Role.LEAD)
    grid.decide(2, None, by="eva")
    assert report.gather_report_data(study).log[-1].params == {"pair": 2, "grid": "rate", "by": "eva"}


def test_the_part_of_main_stays_as_it_is_beside_planned_grids(tmp_path: Path) -> None:
    study = with_grid(tmp_path)
    study.grid().assign(Assign(annotators=2))
    study.grid().simulate(Simulate())
    alone = page_of(study)
    study.add_grid(WRITTEN)
    study.add_people(["wen"], Role.WRITER)
    html = page_of(study)
    sections = ("grid", "agreement", "decisions", "tiers", "releases", "people")
    page = check(html, ("study", *sections, "grid-1", "log", "undefined"))
    of_main = re.compile(r'<section aria-labelledby="grid">.*?<h2 id="people">.*?</section>', re.DOTALL)
    assert of_main.findall(alone) == of_main.findall(html) != []
    assert "main 3 4 11 label annotators" in page.text
    assert "Progress of the study" in page.text
    assert "Grids and their rounds" not in alone

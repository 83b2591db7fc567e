"""Starting a survey in the browser: a table of statements, what is asked of each, and whom."""

from __future__ import annotations

import io
import shutil
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from fcpair.errors import StageError
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.start_draft import BegunDraft
from fcpair.study import Study
from web.test_start import CORPUS, Starting, alert, empty, lead, location, nobody_else

__all__ = ["empty", "lead", "nobody_else"]  # fixtures

STATEMENTS = Path(__file__).parents[2] / "examples" / "survey-statements.csv"
N_STATEMENTS = 8
SURVEY = {
    "questions": "Have you heard this said?\n\nDo you believe it?",
    **{"yes": "yes", "no": "no", "decline": "I would rather not say", "suggest": ""},
    **{"respondents": "4", "part": "", "seconds": "10", "seed": "7"},
}
RESPONDENTS = ["ann", "bob", "cem", "dee"]


def upload(lead: Starting) -> None:
    answer = lead.upload(STATEMENTS.read_bytes(), "statements.csv", kind="survey")
    assert answer.text == "/lead/start/table"


def take_steps(lead: Starting) -> None:
    upload(lead)
    assert location(lead.post("statements", act="save", statement="statement", title="Mild")) == "/lead/start/survey"
    assert location(lead.post("survey", **SURVEY)) == "/lead/start/people"
    assert location(lead.post("people", respondents="\n".join(RESPONDENTS))) == "/lead/start/guidelines"
    assert location(lead.post("guidelines", act="save", body="# Rules\n\nBe frank.")) == "/lead/start/begin"


def test_a_survey_is_built_of_a_table_of_statements_and_its_recipe_makes_the_same_elsewhere(
    lead: Starting, tmp_path: Path
) -> None:
    take_steps(lead)
    lead.build()
    study = lead.site.study
    assert location(lead.get("begin")) == "/lead"
    assert lead.client.get("/lead").status_code == 200
    assert study.grids == ["survey"]
    assert [one.name for one in study.people if one.role is Role.RESPONDENT] == RESPONDENTS
    assert (study.facts["title"], study.guidelines[1]) == ("Mild", "# Rules\n\nBe frank.")
    assert n_assigned(study) == dict.fromkeys(RESPONDENTS, 2 * N_STATEMENTS)
    assert [check.name for check in study.doctor(study.place).checks if check.found] == []
    (uploaded,) = (tmp_path / "uploads").glob("*.csv")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(uploaded, elsewhere / "table.csv")
    (elsewhere / "recipe.toml").write_text(study.recipe_text().replace(str(uploaded), "table.csv"), "utf-8")
    check_made_elsewhere(study, elsewhere / "recipe.toml")
    archive = lead.client.post("/lead/download/recipe", data={"csrf": lead.csrf})  # with the files that were uploaded
    assert archive.headers["content-disposition"] == 'attachment; filename="recipe.zip"'
    with zipfile.ZipFile(io.BytesIO(archive.content)) as files:
        files.extractall(elsewhere)
    shutil.rmtree(tmp_path / "uploads")
    check_made_elsewhere(study, elsewhere / "recipe" / "recipe.toml")


def check_made_elsewhere(study: Study, path: Path) -> None:
    """A recipe makes the same survey in another place."""
    recipe = load_recipe(path)
    with closing(Study.create(path.with_suffix(".db"), recipe.setup, grids=recipe.grids)) as again:
        again.add_people(RESPONDENTS, Role.RESPONDENT)
        list(again.walk(recipe))
        assert n_assigned(again) == n_assigned(study)
        assert again.guidelines[1] == study.guidelines[1]


def n_assigned(study: Study) -> dict[str, int]:
    return {row["name"]: row["open"] for row in study.workload() if row["role"] == Role.RESPONDENT}


def test_every_step_can_be_loaded_again_and_shows_what_was_kept(lead: Starting) -> None:
    take_steps(lead)
    page = lead.post("people", respondents="")
    assert (page.status_code, "There are no respondents" in alert(page)) == (422, True)
    expected = {"task": 'value="survey" checked', "statements": 'value="statement" selected', "people": "cem"}
    expected |= {"survey": "i would rather not say", "guidelines": "be frank.", "begin": "have you heard"}
    for step, words in expected.items():
        assert words in lead.get(step).text.lower(), step


def test_the_figures_follow_the_form_and_a_survey_that_cannot_be_is_refused(lead: Starting) -> None:
    upload(lead)
    lead.post("statements", act="save", statement="statement", title="")
    part = " ".join(lead.post("figures", **SURVEY).text.split())
    assert f"<dd>{N_STATEMENTS}</dd>" in part
    assert f"<dd>{4 * 2 * N_STATEMENTS}</dd>" in part
    assert f"{2 * N_STATEMENTS} answers, 0.0 hours" in part
    before = lead.site.study.start.draft()
    for field, value, words in (
        ("questions", " \n", "The survey asks nothing"),
        ("questions", "Heard?\nHeard?", "`Heard?`"),
        ("yes", "", "The answer for “yes” has no name"),
        ("no", "yes", "Two answers are called `yes`"),
        ("part", "5", "there are 4 respondents"),
        ("part", "some", "“People for each statement”: `some` is not a number"),
        ("respondents", "0", "Respondents is 0; expected a whole number from 1 to 10,000"),
    ):
        page = lead.post("survey", **{**SURVEY, field: value})
        assert (page.status_code, words in alert(page)) == (422, True), alert(page)
    assert lead.site.study.start.draft() == before


def test_rows_that_are_no_statements_are_named(lead: Starting) -> None:
    for table, words in {
        "statement\nA.\nA.\n": "mine.csv:3: this text is already in line 2",
        "statement,group\nA.,x\n,y\n": "mine.csv:3: the text is empty",
    }.items():
        lead.upload(table.encode(), "mine.csv", kind="survey")
        page = lead.post("statements", act="save", statement="statement", title="")
        assert page.status_code == 422
        assert words in alert(page)


def test_a_table_of_one_column_is_enough_for_a_survey_only(lead: Starting) -> None:
    assert lead.upload(b"statement\nA.\n", kind="pairs").status_code == 200
    assert location(lead.get("columns")) == "/lead/start/table"
    assert lead.upload(b"statement\nA.\n", kind="survey").status_code == 200
    assert lead.post("task", kind="poll").status_code == 422


def test_what_another_kind_of_study_has_settled_does_not_hold(lead: Starting) -> None:
    take_steps(lead)
    assert lead.upload(CORPUS.read_bytes()).status_code == 200
    assert location(lead.get("statements")) == "/lead/start/columns"
    assert location(lead.get("plan")) == "/lead/start/columns"
    assert location(lead.get("survey")) == "/lead/start/columns"
    lead.take_steps()
    assert location(lead.get("survey")) == "/lead/start/plan"
    lead.build()
    assert lead.site.study.grids == ["main"]


def test_a_build_that_was_killed_is_begun_again(lead: Starting) -> None:
    take_steps(lead)
    study = lead.site.study
    study.start.save(BegunDraft("lea"), by="lea", seen=lead.seen)
    building = study.start.build()
    next(building)
    del building  # as if its process had been killed
    assert study.grids == ["main"]
    assert "was not built to the end" in alert(lead.get("begin"))
    lead.build()
    assert n_assigned(study) == dict.fromkeys(RESPONDENTS, 2 * N_STATEMENTS)


def test_a_corpus_that_came_meanwhile_is_not_overwritten(lead: Starting) -> None:
    take_steps(lead)
    study = lead.site.study
    study.start.save(BegunDraft("lea"), by="lea", seen=lead.seen)
    study.import_corpus(CORPUS)
    with pytest.raises(StageError, match="has been started already"):
        next(study.start.build())
    assert (study.grids, study.facts["hs_name"]) == (["main"], "hate speech")

"""Starting any task in the browser: what people do, labels, own lists, and a recipe that was uploaded."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from fcpair.recipe import load_recipe
from fcpair.start_draft import BegunDraft, PlanDraft
from fcpair.study import Study
from web.test_start import COLUMNS, LABELS, PLAN, Starting, alert, empty, lead, location, nobody_else

__all__ = ["empty", "lead", "nobody_else"]  # fixtures

PAIRS = (
    b"id,hs,cn,topic\n1,Tea is slow.,Tea was drunk long before.,tea\n"
    b"2,Bikes are loud.,They hum.,bikes\n3,Naps are idle.,They help.,naps\n"
)
TEXTS = b"statement,topic\nTea is slow.,tea\nBikes are loud.,bikes\n"
TWO = {"label_0": "no", "meaning_0": "negative", "label_1": "yes", "meaning_1": "positive"}
FULL = {**PLAN, "twice": "0", "thrice": "0", "validators": "0"}
NAMES = {"annotators": "ann\nbob", "raters": "rae\nron", "writers": "wim\nwyn"}
TASKS: dict[str, tuple[dict[str, str], str, Any]] = {
    "pairs": ({**FULL, **TWO}, "ann", "yes"),
    "tags": ({"labels": "polite\nfactual", "annotators": "2", "answers": "2"}, "ann", ["polite"]),
    "write": ({"kinds": "facts\na joke", "writers": "2"}, "wim", "Tea was drunk long before that."),
    "curate": ({"reasons": "rude\nnot true", "min_words": "1"}, "ann", None),
    "rate": ({"criteria": "Is it kind?\nIs it true?", "answers": "2"}, "rae", 4),
}


def begin(lead: Starting, task: str, **plan: str) -> Response:
    """Take the steps of a task up to the plan, whose answer it returns."""
    texts_alone = task in ("write", "rate")
    assert lead.upload(TEXTS if texts_alone else PAIRS, "mine.csv", kind=task).status_code == 200
    if texts_alone:
        assert lead.post("statements", act="save", statement="statement", title="Mine").status_code == 303
    else:
        assert lead.post("columns", act="save", **COLUMNS).status_code == 303
    return lead.post("plan" if task == "pairs" else "asking", **plan)


def finish(lead: Starting) -> None:
    draft = lead.site.study.start.draft()
    needed = lead.site.study.start.suggested_people(draft)
    groups = {group: names for group, names in NAMES.items() if getattr(needed, group)}
    assert location(lead.post("people", **groups)) == "/lead/start/guidelines"
    assert location(lead.post("guidelines", act="later")) == "/lead/start/begin"


def make_elsewhere(study: Study, folder: Path) -> Study:
    """The study that `fcpair run` makes of the recipe of another, with the same people."""
    shutil.copytree(folder.parent / "uploads", folder)
    text = study.recipe_text().replace(str(folder.parent / "uploads"), ".")
    (folder / "recipe.toml").write_text(text, "utf-8")
    recipe = load_recipe(folder / "recipe.toml")
    again = Study.create(folder / "again.db", recipe.setup, grids=recipe.grids)
    for person in study.people:
        again.add_people([person.name], person.role)
    list(again.walk(recipe))
    return again


def shape(study: Study) -> list[Any]:
    """What a study asks, of whom, and how much."""
    work = [(row["name"], row["open"]) for row in study.workload()]
    text = study.recipe_text()
    return [study.grids, sorted(work), [line for line in text.splitlines() if "/" not in line and line[:1] != "#"]]


@pytest.mark.parametrize("kind", TASKS)
def test_a_task_is_built_and_its_first_person_answers_and_its_recipe_makes_the_same_elsewhere(
    lead: Starting, tmp_path: Path, kind: str
) -> None:
    plan, name, answer = TASKS[kind]
    assert location(begin(lead, kind, **plan)) == "/lead/start/people"
    finish(lead)
    shown = lead.get("begin").text
    lead.build()
    study = lead.site.study
    assert lead.client.get("/lead").status_code == 200, alert(lead.get("begin"))
    assert [check.name for check in study.doctor(study.place).checks if check.found] == []
    assert "&#34;" in shown
    with closing(make_elsewhere(study, tmp_path / "elsewhere")) as again:
        assert shape(again) == shape(study)
    answer_first(lead, name, answer)


def answer_first(lead: Starting, name: str, answer: Any) -> None:
    """The first task of somebody is there, and is answered."""
    client = lead.site.machine(name)
    (task,) = client.get("/api/next", params={"n": 1}).json()["tasks"]
    sent = {"request_id": lead.site.new_request(), "assignment_id": task["assignment_id"]}
    stored = client.post("/api/judgements", json={**sent, "answer": answer or task["original"]["body"]})
    assert stored.status_code == 200, stored.text


def test_the_recipe_of_another_study_is_taken_with_its_table(lead: Starting, tmp_path: Path) -> None:
    upload_recipe(lead, RECIPE, {"mine.csv": TEXTS})
    page = lead.get("recipe").text
    assert "recipe.toml" in page
    assert location(lead.post("recipe")) == "/lead/start/people"
    assert "r2" in lead.get("people").text
    assert "The recipe asks for 2" in alert(lead.post("people", raters="rae")).replace("the recipe", "The recipe")
    assert location(lead.post("people", raters=NAMES["raters"])) == "/lead/start/begin"
    assert "Is it kind?" in lead.get("begin").text
    lead.build()
    study = lead.site.study
    assert [study.grids, study.facts["title"]] == [["tone"], "Mild"]
    with closing(make_elsewhere(study, tmp_path / "elsewhere")) as again:
        assert shape(again) == shape(study)
    answer_first(lead, "rae", 4)


RECIPE = """[study]
title = "Mild"

[[grid]]
name = "tone"
rows = { file = "mine.csv", column = "statement" }
columns = { names = ["Is it kind?"] }

[[grid.round]]
name = "rate"
role = "rater"
people = 2
form = "scale(1,5,1)"
"""


def upload_recipe(lead: Starting, recipe: str, files: dict[str, bytes]) -> None:
    for name, content in {"recipe.toml": recipe.encode(), **files}.items():
        answer = lead.upload(content, name, kind="recipe")
        assert (answer.status_code, answer.text) == (200, "/lead/start/recipe")


WRONG_RECIPES = {
    "a key that is none": (
        RECIPE.replace("role =", "rolle ="),
        "recipe.toml:11: [[grid]] tone round rate: unknown key `rolle`",
    ),
    "a section that is none": (RECIPE + "[asign]\nannotators = 2\n", "unknown section `asign`"),
    "no TOML": (RECIPE + "oops\n", "line 14"),
    "a column that is none": (RECIPE.replace('column = "statement"', 'column = "text"'), "recipe.toml:6: mine.csv"),
    "a file that is not there": (
        RECIPE.replace("mine.csv", "yours.csv"),
        "recipe.toml:6: the recipe names `yours.csv`",
    ),
    "a variable of the server": (RECIPE.replace("Mild", "$HOME"), "recipe.toml:2: `$NAME` stands for a variable"),
    "a hidden variable": (RECIPE.replace("Mild", "\\u0024HOME"), "recipe.toml:2: `$NAME` stands for a variable"),
    "another machine": (RECIPE + '[grid.round.checks]\ngrammar = "http://elsewhere"\n', "to another machine"),
    "a file elsewhere": (RECIPE.replace("mine.csv", "../study.db"), "recipe.toml:6: the recipe names `study.db`"),
}


@pytest.mark.parametrize("wrong", WRONG_RECIPES)
def test_a_recipe_that_cannot_be_is_refused_with_its_line_and_can_be_replaced(lead: Starting, wrong: str) -> None:
    recipe, words = WRONG_RECIPES[wrong]
    upload_recipe(lead, recipe, {"mine.csv": TEXTS})
    for page in (lead.post("recipe"), lead.get("people")):
        assert (
            page.status_code,
            words in alert(page).replace("Recipe.toml", "recipe.toml").replace("`mine", "mine"),
        ) == (422, True), alert(page)
    upload_recipe(lead, RECIPE, {})
    assert location(lead.post("recipe")) == "/lead/start/people"


def test_a_file_of_a_recipe_is_taken_away_and_a_folder_is_none(lead: Starting) -> None:
    upload_recipe(lead, RECIPE, {"../../mine.csv": TEXTS})
    assert location(lead.post("recipe", drop="recipe.toml")) == "/lead/start/recipe"
    assert "there must be one recipe" in alert(lead.post("recipe")).replace("There", "there")
    draft = lead.site.study.start.draft().table
    assert draft is not None
    assert vars(draft)["files"] == ("mine.csv",)
    assert lead.upload(b"a", "..", kind="recipe").status_code == 422


WRONG_LABELS = {
    "the same key": ({**TWO, "label_0": "1 star", "label_1": "1 point"}, "begins with the number of another"),
    "the same name": ({**TWO, "label_0": "Yes"}, "Two are called"),
    "one label": ({"label_0": "yes", "meaning_0": "positive"}, "at least two labels"),
    "ten labels": ({f"label_{at}": f"label {'abcdefghij'[at]}" for at in range(10)}, "there are 10 labels"),
    "none positive": ({**TWO, "meaning_1": "negative"}, "at least one label must be positive"),
    "a number": ({**TWO, "label_0": "3"}, "`3` is a number"),
    "a reserved word": ({**TWO, "label_0": "skip"}, "reserved"),
    "an empty scale": ({"answer": "scale", "low": "5", "high": "1"}, "The scale goes from 5 to 1"),
}


@pytest.mark.parametrize("wrong", WRONG_LABELS)
def test_labels_that_cannot_be_are_refused_beside_their_field_and_are_not_lost(lead: Starting, wrong: str) -> None:
    begin(lead, "pairs", **FULL)
    before = lead.site.study.start.draft()
    labels, words = WRONG_LABELS[wrong]
    page = lead.post("plan", **{**FULL, **labels})
    assert (page.status_code, words.lower() in alert(page).lower()) == (422, True), alert(page)
    assert all(f'value="{name}"' in page.text for key, name in labels.items() if key.startswith("label"))
    assert lead.site.study.start.draft() == before


def test_labels_are_added_and_removed_without_script(lead: Starting) -> None:
    begin(lead, "pairs", **FULL)
    page = lead.post("plan", act="add", **FULL, **LABELS)
    assert page.text.count('name="label_') == 4
    part = lead.post("labels", act="drop-1", **LABELS)
    assert part.text.count('name="label_') == 2
    assert "unclear" not in part.text
    assert location(lead.post("plan", **{**FULL, **LABELS, "label_1": ""})) == "/lead/start/people"
    plan = lead.site.study.start.draft().plan
    assert isinstance(plan, PlanDraft)
    assert [label.name for label in plan.labels] == ["misses it", "answers it"]


def test_own_lists_strata_and_groups_are_in_the_recipe(lead: Starting, tmp_path: Path) -> None:
    lists = {"hs_list": "Tea is slow.\nNaps are idle.", "cn_list": "They hum.\nThey help."}
    page = begin(lead, "pairs", **{**FULL, "twice": "50"}, **TWO, **{**lists, "hs_list": "Tea is slow.\nTea is fast."})
    assert "line 2, `tea is fast.`, is no such text" in alert(page).lower()
    assert location(lead.post("plan", **{**FULL, "twice": "50"}, **TWO, **lists, order="hs")) == "/lead/start/people"
    assert "`zoe` is in a group" in alert(lead.post("people", **NAMES, annotator_groups="ann, zoe"))
    assert (
        location(lead.post("people", annotators=NAMES["annotators"], annotator_groups="ann, bob"))
        == "/lead/start/guidelines"
    )
    lead.post("guidelines", act="later")
    shown = lead.get("begin").text
    assert all(words in shown for words in ("hs_list = ", "cn_list = ", "annotator_groups = "))
    lead.build()
    study = lead.site.study
    assert sum(row["open"] for row in study.workload()) == 3 + 2  # of four, one is in the table; two are read twice
    with closing(make_elsewhere(study, tmp_path / "elsewhere")) as again:
        assert shape(again) == shape(study)


def test_another_task_keeps_the_table_and_takes_back_what_does_not_hold_for_it(lead: Starting) -> None:
    begin(lead, "pairs", **FULL, **TWO)
    assert location(lead.post("task", kind="tags")) == "/lead/start/table"
    draft = lead.site.study.start.draft()
    assert draft.table is not None
    assert (draft.columns, draft.plan) == (None, None)
    assert location(lead.post("task", kind="recipe")) == "/lead/start/recipe"
    assert lead.site.study.start.draft().table is None
    refused = lead.post("task", kind="paint")
    assert (refused.status_code, "There is no such task" in alert(refused)) == (422, True)


def test_the_figures_of_a_task_follow_its_form(lead: Starting) -> None:
    begin(lead, "write")
    part = " ".join(lead.post("figures", kinds="facts\na joke", writers="4", raters="2", criteria="kind").text.split())
    assert "<dd>2</dd>" in part
    assert "1 answer, 0.0 hours (4 in all)" in part
    assert "2 answers, 0.1 hours (4 in all)" in part
    assert "there are only 4" in lead.post("figures", writers="4", answers="5").text


ASKED = {
    "query,passage": ("Is this passage relevant to this query?", ["not relevant", "relevant"]),
    "hs,cn": (
        "Is this counter-narrative an appropriate reply to this hate speech?",
        ["not_appropriate", "appropriate"],
    ),
    "claim,rebuttal": ("Does this rebuttal fit this claim?", ["no", "yes"]),
}


@pytest.mark.parametrize("header", ASKED)
def test_pairs_are_asked_at_first_what_suits_the_names_of_the_texts(lead: Starting, header: str) -> None:
    lead.upload(f"{header}\nTea is slow.,It was drunk long before.\n".encode(), "mine.csv")
    page, (question, labels) = lead.get("columns").text, ASKED[header]
    names = dict(re.findall('name="([hc][sn]_name)"[^>]*value="([^"]*)"', page))
    lead.post("columns", act="save", title="", **dict(zip(("hs", "cn"), header.split(","), strict=True)), **names)
    page = lead.get("plan").text
    assert question in page
    assert all(f'value="{label}"' in page for label in labels)


def test_the_question_of_pairs_is_kept_and_one_that_is_too_long_is_refused_beside_its_field(lead: Starting) -> None:
    assert begin(lead, "pairs", **FULL, **TWO, question="a" * 1001).status_code == 422
    assert location(lead.post("plan", **FULL, **TWO, question="Does it answer?")) == "/lead/start/people"
    finish(lead)
    lead.build()
    lead.site.machine("ann")
    assert "Does it answer?" in lead.site.browser("ann").get("/annotate").text


def test_the_plan_says_which_tiers_stay_empty_and_who_decides(lead: Starting) -> None:
    begin(lead, "pairs", **FULL)
    plan = {**FULL, "annotators": "3", **TWO}
    assert "Without validators all tiers stay empty, Bronze too" in lead.post("figures", **plan).text
    plan |= {"validators": "1"}
    assert "Gold and Diamond stay empty" in lead.post("figures", **plan).text
    part = lead.post("figures", **{**plan, "twice": "50"}).text
    assert "3 with two labels or more into Gold and Diamond, too" in part
    assert "3 pairs can have labels that differ" in part


def test_a_text_and_the_reply_to_it_come_from_one_table(lead: Starting) -> None:
    lead.upload(b"query\nWhat is tea?\n", "queries.csv")
    lead.upload(b"passage\nA plant.\n", "passages.csv", second="yes")
    lead.post("task", kind="curate")
    assert lead.site.study.start.draft().table is None
    several = b"text,reply\nTea is slow.,It is old.\nTea is slow.,So what?\n"
    lead.upload(several, "mine.csv", kind="curate")
    assert "table of the second texts" not in lead.get("table").text
    assert "Only the first reply to each text is taken" in lead.get("columns").text


@pytest.mark.torch
def test_where_fewer_candidates_are_found_than_are_to_be_drawn_all_are_taken(lead: Starting) -> None:
    teas = [f"Tea {n} is {what}." for n, what in enumerate(("slow", "old", "weak", "dull"))]
    rows = [*((tea, f"{tea} So what?") for tea in teas), *((f"Bike {n}", f"Bike {n} is loud.") for n in range(6))]
    table = "hs,cn\n" + "".join(f"{hs},{cn}\n" for hs, cn in rows)
    lead.upload(table.encode(), "mine.csv")
    lead.post("columns", act="save", **COLUMNS)
    plan = {**FULL, **TWO, "kind": "retrieved", "hs": "1", "k": "2", "hs_list": "\n".join(teas[:3])}
    assert "at most 6" in alert(lead.post("plan", **{**plan, "candidates": "7"}))
    assert location(lead.post("plan", **{**plan, "candidates": "6"})) == "/lead/start/people"
    finish(lead)
    start = lead.site.study.start
    start.save(BegunDraft("lea"), by="lea", seen=lead.seen)
    (pair,) = (run for run in start.build() if run.stage == "pair")
    assert pair.counts["cn"] < 6
    assert "That is fewer than the 6 that were asked for" in lead.get("links").text
    assert "candidates = " not in lead.site.study.recipe_text()

"""Starting a study in the browser: each step is kept, safe to load again, and refused with a sentence."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from awaited import until
from httpx2 import Response

from fcpair.params import Annotate
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.start_draft import BegunDraft, PlanDraft
from fcpair.steps.oversight.study_start import StudyStart
from fcpair.study import Study
from fcpair.web.server.child_process import ProcessState
from web.conftest import Site, csrf_of

CORPUS = Path(__file__).parents[2] / "examples" / "corpus.csv"
COLUMNS = {
    **{"hs": "hs", "cn": "cn", "title": "Mild prejudices", "hs_name": "statement", "cn_name": "reply"},
}
PLAN = {
    **{"kind": "full", "hs": "", "k": "", "candidates": "", "seed": "7", "annotators": "2", "validators": "1"},
    **{"twice": "12.6", "thrice": "0", "seconds": "30"},
}
LABELS = {
    **{"label_0": "misses it", "label_1": "unclear", "label_2": "answers it"},
    **{"meaning_0": "negative", "meaning_1": "unsure", "meaning_2": "positive"},
}
PEOPLE = {"annotators": "ann\nbob", "adjudicators": "jo", "validators": "val"}


class Starting:
    """A lead who starts a study in a browser."""

    def __init__(self, site: Site, name: str = "lea") -> None:
        self.site, self.client = site, site.browser(name)
        self.csrf = csrf_of(self.client)

    @property
    def seen(self) -> int:
        return self.site.study.start.draft().version

    def upload(
        self, content: bytes, name: str = "corpus.csv", seen: int | None = None, kind: str = "pairs", second: str = ""
    ) -> Response:
        draft = self.site.study.start.draft()
        if seen is None and (draft.task is None or draft.kind != kind):
            assert self.post("task", kind=kind).status_code == 303
        query = {"name": name, "seen": str(self.seen if seen is None else seen), "second": second}
        headers = {"X-CSRF-Token": self.csrf}
        return self.client.post("/lead/start/table", params=query, content=content, headers=headers)

    def post(self, step: str, **values: str) -> Response:
        form = {"csrf": self.csrf, "seen": str(self.seen), **values}
        return self.client.post(f"/lead/start/{step}", data=form)

    def get(self, step: str) -> Response:
        return self.client.get(f"/lead/start/{step}")

    def take_steps(self) -> None:
        assert self.upload(CORPUS.read_bytes()).status_code == 200
        assert self.post("columns", act="save", **COLUMNS).status_code == 303
        assert self.post("plan", **PLAN, **LABELS).status_code == 303
        assert self.post("people", **PEOPLE).status_code == 303
        assert self.post("guidelines", act="save", body="# Rules\n\nBe kind.").status_code == 303

    def build(self) -> None:
        assert self.post("begin").status_code == 303
        until(lambda: not self.site.app.state.builder.state.is_running)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Site]:
    """A new study with one lead, as `fcpair serve` makes it."""
    study = Study.create(tmp_path / "study.db")
    site = EmptySite(study, Annotate())
    yield site
    site.app.state.builder.end()
    site.close()


class EmptySite(Site):
    """The site of a study in which nobody but leads takes part."""

    def __init__(self, study: Study, annotate: Annotate) -> None:
        study.add_people(["lea", "leo"], Role.LEAD)
        super().__init__(study, annotate)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tables are uploaded to, nothing can be written."""
    new_table = StudyStart.new_table

    def new_table_on_full_disk(start: StudyStart, name: str) -> Path:
        path = new_table(start, name)
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/full")
        return path

    monkeypatch.setattr(StudyStart, "new_table", new_table_on_full_disk)


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only leads take part at first."""
    monkeypatch.setattr("web.conftest.add_everybody", lambda study: None)


@pytest.fixture
def lead(empty: Site) -> Starting:
    return Starting(empty)


def alert(page: Response) -> str:
    found = re.search(r'role="alert">(.*?)</div>', page.text, re.DOTALL)
    assert found, page.text
    return " ".join(re.sub("<[^>]+>", "", re.sub("</?code>", "`", found[1])).split())


def location(response: Response) -> str:
    assert response.status_code == 303, response.text
    return response.headers["location"]


def test_the_first_page_leads_to_the_first_step_that_is_not_done_and_each_shows_what_was_kept(lead: Starting) -> None:
    assert location(lead.client.get("/lead")) == "/lead/start"
    assert location(lead.client.get("/lead/start")) == "/lead/start/task"
    for step in ("plan", "links"):
        assert location(lead.get(step)).startswith("/lead/start")
    lead.upload(CORPUS.read_bytes())
    assert location(lead.client.get("/lead/start")) == "/lead/start/columns"
    assert location(lead.get("people")) == "/lead/start/columns"
    lead.take_steps()
    expected = {"table": "corpus.csv", "columns": "Mild", "plan": 'value="12.6"', "people": "ann\nbob"}
    assert "answers it" in lead.get("plan").text
    for step, words in {
        "task": 'value="pairs" checked',
        **expected,
        "guidelines": "Be kind.",
        "begin": "[assign]",
    }.items():
        for _ in range(2):
            page = lead.get(step)
            assert page.status_code == 200
            assert words in page.text, step
    assert location(lead.client.get("/lead/start")) == "/lead/start/begin"


def test_an_uploaded_file_is_its_owner_s_alone_under_a_name_of_ours(lead: Starting, tmp_path: Path) -> None:
    unguarded = lead.client.post("/lead/start/table", params={"name": "a.csv"}, content=CORPUS.read_bytes())
    assert unguarded.status_code == 403
    assert not list(tmp_path.glob("uploads/*"))
    assert lead.upload(CORPUS.read_bytes(), "../../etc/my corpus.csv").text == "/lead/start/table"
    (path,) = (tmp_path / "uploads").iterdir()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert re.fullmatch(r"[0-9a-f]{16}\.csv", path.name)
    assert path.read_bytes() == CORPUS.read_bytes()
    assert "../../etc/my corpus.csv" in lead.get("table").text


NO_TABLES = (
    (b"", "corpus.csv", "the file is empty"),
    (b"\x89PNG\r\n\x1a\n\x00", "corpus.csv", "corpus.csv"),
    (b"hs,cn\n", "corpus.csv", "the file has no rows"),
    (b"hs,cn\na,b,c\n", "corpus.csv", "3 cells; expected 2"),
    (b"PK\x03\x04hs,cn", "corpus.csv", "a spreadsheet must be named .xlsx or .ods"),
    (b"not a workbook", "corpus.xlsx", "corpus.xlsx"),
    (b"hs,cn\na,b\n", "corpus.pdf", "choose a file that ends in .csv, .jsonl"),
    (b"hs,cn\na,b\n", "", "is not a table"),
)


def test_what_is_no_table_is_refused_and_not_kept(
    lead: Starting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, name, words in NO_TABLES:
        answer = lead.upload(content, name)
        assert (answer.status_code, words in answer.text) == (422, True), answer.text
        assert str(tmp_path) not in answer.text
    monkeypatch.setattr("fcpair.web.start.MOST_UPLOAD", 1024 * 1024)
    where: dict[str, Any] = {"params": {"name": "a.csv", "seen": "0"}, "headers": {"X-CSRF-Token": lead.csrf}}
    for large in (bytes(1024 * 1024 + 1), iter([bytes(1024 * 1024), b"1"])):
        answer = lead.client.post("/lead/start/table", content=large, **where)
        assert (answer.status_code, "more than 1 MB, which is the limit" in answer.text) == (422, True)
    for name in ("../study.db", "0123456789abcdef.csv", ""):  # no other file of the server can be taken for it
        answer = lead.client.post("/lead/start/keep", params={"file": name}, headers={"X-CSRF-Token": lead.csrf})
        assert (answer.status_code, "upload the table again" in answer.text) == (422, True)
    assert not list(tmp_path.glob("uploads/*"))
    assert lead.site.study.start.draft().table is None


def test_a_file_for_which_the_disk_has_no_room_is_refused_in_words(lead: Starting, full_disk: None) -> None:
    refused = lead.upload(CORPUS.read_bytes())
    assert (refused.status_code, refused.text[:38]) == (503, "the server's disk is full or read-only")
    assert list(StudyStart(lead.site.study).folder.iterdir()) == []


def test_the_rows_are_shown_with_their_numbers_and_conan_is_known_by_its_columns(lead: Starting) -> None:
    lead.upload(CORPUS.read_bytes())
    page = lead.get("columns").text
    assert "155 rows, 42 distinct" in page
    assert page.count('class="start-pair"') == 20
    assert 'dir="rtl"' in lead.post("columns", act="show", **{**COLUMNS, "language": "fa"}).text
    lead.upload(b"cn_id,hateSpeech,counterSpeech\nEN1,a,b\nIT1,c,d\n")
    page = lead.get("columns").text
    assert "the columns of CONAN" in page
    assert "1 row, 1 distinct" in page


def test_columns_that_cannot_be_read_are_named_with_their_lines(lead: Starting) -> None:
    lead.upload(b"hs,cn,other\na,b,c\n,d,e\nf,,g\n")
    page = lead.post("columns", act="save", **COLUMNS)
    assert page.status_code == 422
    assert "corpus.csv:3: the hs text is empty" in alert(page)
    assert "corpus.csv:4: the cn text is empty" in alert(page)
    assert "tick “rows with one text”" in alert(page)
    assert lead.post("columns", act="save", unpaired="yes", **COLUMNS).status_code == 303


def test_columns_and_words_that_cannot_be_are_refused(lead: Starting) -> None:
    lead.upload(CORPUS.read_bytes())
    for field, value, words in (
        ("cn", "hs", "need two different columns"),
        ("cn_name", "statement", "different names"),
        ("language", "xx", "no row in language"),
    ):
        page = lead.post("columns", act="save", **{**COLUMNS, field: value})
        assert (page.status_code, words in alert(page)) == (422, True), alert(page)
    same = lead.post("columns", act="save", **{**COLUMNS, "cn": "hs", "cn_name": "statement"})
    assert "need two different columns" in alert(same)  # not that the names are the same, which follow the columns
    assert lead.site.study.start.draft().columns is None


def test_a_second_table_without_the_columns_has_them_guessed_anew(lead: Starting) -> None:
    lead.take_steps()
    lead.upload(b"query,document\na,b\nc,d\n", "other.csv")
    page = lead.get("columns").text
    assert "does not have the columns that were chosen before" in page
    assert '<option value="query" selected' in page
    assert location(lead.get("people")) == "/lead/start/plan"


def test_the_figures_follow_the_form(lead: Starting) -> None:
    lead.upload(CORPUS.read_bytes())
    lead.post("columns", act="save", **COLUMNS)
    part = " ".join(lead.post("figures", **PLAN).text.split())
    assert "5,184 (42 × 127, less 150 that the table has)" in part
    assert "5,837 (4,531 pairs with 1 label, 653 pairs with 2 labels)" in part
    assert "2,919 labels, 24.3 hours" in part
    assert "5,184 pairs, 43.2 hours" in part
    for changes, words in (
        ({"annotators": "1"}, "there are 1 annotators"),
        ({"annotators": "many"}, "“Annotators”: <code>many</code> is not a number"),
        ({"kind": "retrieved", "hs": "43", "k": "2"}, "43 texts cannot be drawn; there are 42"),
        ({"kind": "retrieved", "hs": "4", "k": "2", "candidates": "900"}, "lower the number"),
        ({"twice": "200"}, "enter a percentage"),
        ({"kind": "nothing", "hs": "4", "k": "2"}, "Kind is"),
    ):
        assert words in lead.post("figures", **{**PLAN, **changes}).text, words
        refused = lead.post("plan", **{**PLAN, **changes})
        assert (refused.status_code, "What that amounts to" in refused.text) == (422, False)
    drawn = {**PLAN, "kind": "retrieved", "hs": "4", "k": "2", "candidates": "10"}
    part = lead.post("figures", **drawn).text
    assert all(words in part for words in ("at most 40 (4 × at most 10)", "at most 23 labels", "may find fewer"))


def test_the_plan_names_spellings_of_one_text_and_the_study_is_built_without_them(lead: Starting) -> None:
    """Two HS and two CNs are spellings of earlier ones; the table has none of the four pairs that stay but two."""
    rows = ["hs,cn", "Tea.,Water.", "“tea”.,WATER.", "Milk.,Juice.", "MILK.,wa\u200bter.", "Beer.,Wine."]
    lead.upload("\n".join(rows).encode())
    lead.post("columns", act="save", **COLUMNS)
    part = lead.post("figures", **PLAN).text
    assert "4 texts differ from earlier ones of their side only by case, spaces, quotes" in part
    assert "“One spelling of each text” under “More” leaves them out" in part
    plan = {**PLAN, "merge": "yes", "annotators": "1", "twice": "0"}
    assert "the first spelling alone is taken" in lead.post("figures", **plan).text
    assert lead.post("plan", **plan, **LABELS).status_code == 303
    assert lead.post("people", **{**PEOPLE, "annotators": "ann"}).status_code == 303
    assert lead.post("guidelines", act="save", body="").status_code == 303
    lead.build()
    run = next(run for run in lead.site.study.log() if run.stage == "pair")
    assert (run.counts["hs"], run.counts["cn"], run.counts["pairs"]) == (3, 3, 5)  # Milk. has a spelling of Water., too
    assert (run.params["merge"], run.counts["merged_hs"], run.counts["merged_cn"]) == (True, 2, 2)


def test_the_number_of_first_texts_that_is_offered_to_be_drawn_leaves_candidates(lead: Starting) -> None:
    lead.upload(CORPUS.read_bytes())
    lead.post("columns", act="save", **COLUMNS)
    for _ in range(2):  # before and after all with all was chosen
        page = lead.get("plan").text
        offered = re.search('name="hs" type="text" inputmode="numeric" value="([0-9]+)"', page)
        assert offered
        assert lead.post("figures", **{**PLAN, "kind": "retrieved", "hs": offered[1], "k": "2"}).text.count("at most")
        assert location(lead.post("plan", **PLAN)) == "/lead/start/people"


def wrong_fields(page: Response) -> list[str]:
    """The names of fields that are marked as wrong, with a sentence in the same item of a list."""
    items = re.findall("<li>(.*?)</li>", page.text, re.DOTALL)
    marked = [re.search('name="([a-z_0-9]+)"[^>]*aria-invalid', item) for item in items if "start-wrong" in item]
    assert page.text.count('aria-invalid="true"') == len(marked)
    return [field[1] for field in marked if field]


def test_labels_can_have_keys_and_colours_of_their_own(lead: Starting) -> None:
    assert lead.upload(CORPUS.read_bytes()).status_code == 200
    lead.post("columns", act="save", **COLUMNS)
    marks = {"key_0": "", "key_1": "", "key_2": "A", "colour_2": "green"}
    refused = lead.post("plan", **PLAN, **LABELS, **{**marks, "key_0": "a"})
    assert refused.status_code == 422
    assert "would belong to two answers" in alert(refused)
    assert wrong_fields(refused) == ["key_0", "key_2"]
    assert wrong_fields(lead.post("plan", **PLAN, **LABELS, **{**marks, "key_1": "u"})) == ["key_1"]
    shifted = lead.post("plan", **PLAN, **{**LABELS, "label_0": ""}, **{**marks, "key_1": "u"})
    assert wrong_fields(shifted) == ["key_1"]
    assert "`u` is one of the pages' own keys" in unescape(alert(shifted))
    assert 'name="key_0" class="start-key" value="a"' in refused.text
    assert lead.post("plan", **PLAN, **LABELS, **marks).status_code == 303
    assert lead.post("people", **PEOPLE).status_code == 303
    assert lead.post("guidelines", act="later").status_code == 303
    recipe = lead.site.study.start.recipe(lead.site.study.start.draft())
    assert recipe.words
    assert recipe.words.options == {"answers it": {"key": "a", "colour": "green"}}


def test_where_the_model_is_not_here_that_is_said_and_all_pairs_are_offered(
    lead: Starting, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"h{i},c{i}\n" for i in range(60))
    lead.upload(f"hs,cn\n{rows}".encode())
    monkeypatch.setattr("fcpair.models.model_files.is_on_this_machine", lambda: False)
    lead.post("columns", act="save", **COLUMNS)
    page = lead.get("plan").text
    assert "is not on this machine" in page
    assert 'value="full" checked' in page


def test_names_that_cannot_be_are_refused_and_the_number_of_others_goes_into_the_plan(lead: Starting) -> None:
    lead.take_steps()
    before = lead.site.study.start.draft()
    for field, names, words in (
        ("annotators", "ann\nann", "`ann` is named twice"),
        ("validators", "ann", "`ann` is named twice"),
        ("annotators", "ann\nAnn", "differ only in capitals"),
        ("annotators", "a/b", "cannot be a pseudonym"),
        ("adjudicators", "lea", "`lea` leads the study"),
        ("annotators", "", "There are no annotators"),
        ("annotators", "ann", "there are 1 annotators"),
    ):
        page = lead.post("people", **{**PEOPLE, field: names})
        assert (page.status_code, words in alert(page)) == (422, True), alert(page)
    assert lead.site.study.start.draft() == before
    assert lead.post("people", **{**PEOPLE, "annotators": "x, y, z"}).status_code == 303
    plan = lead.site.study.start.draft().plan
    assert isinstance(plan, PlanDraft)
    assert plan.annotators == 3


def test_the_second_of_two_leads_is_told_what_the_first_did(lead: Starting) -> None:
    lead.take_steps()
    other = Starting(lead.site, "leo")
    seen = lead.seen
    assert other.post("plan", seen=str(seen), **{**PLAN, "seed": "8"}).status_code == 303
    people = lead.post("people", seen=str(seen), **PEOPLE)
    guidelines = lead.post("guidelines", seen=str(seen), act="save", body="Mine.")
    for refused in (people, guidelines):
        assert refused.status_code == 409
        assert "The step “plan” was changed by leo since you opened this page" in alert(refused)
    assert "Mine." in guidelines.text  # what was typed is not lost
    assert lead.upload(CORPUS.read_bytes(), seen=seen).status_code == 409


def test_the_study_that_is_built_has_links_once_and_is_what_its_recipe_makes_elsewhere(
    lead: Starting, tmp_path: Path
) -> None:
    lead.take_steps()
    seen = lead.seen
    lead.build()
    study = lead.site.study
    assert location(lead.post("plan", seen=str(seen), **PLAN)) == "/lead"  # by a page from before the start
    assert location(lead.post("begin", seen=str(seen))) == "/lead"
    assert lead.upload(CORPUS.read_bytes(), seen=seen).status_code == 409
    assert location(lead.get("begin")) == "/lead"
    assert lead.get("progress").headers["HX-Redirect"] == "/lead/start/links"
    assert lead.client.get("/lead").status_code == 200
    roles = {"ann": "annotator", "bob": "annotator", "jo": "adjudicator", "val": "validator"}
    assert {person.name: person.role.value for person in study.people[2:]} == roles
    check_links(lead)
    assert study.facts["title"] == "Mild prejudices"
    assert study.guidelines[1] == "# Rules\n\nBe kind."
    assert [one.name for one in study.doctor(study.place).checks if one.found] == []
    (uploaded,) = (tmp_path / "uploads").glob("*.csv")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(uploaded, elsewhere / "table.csv")
    text = study.recipe_text().replace(str(uploaded), "table.csv")
    (elsewhere / "recipe.toml").write_text(text, "utf-8")
    recipe = load_recipe(elsewhere / "recipe.toml")
    with closing(Study.create(elsewhere / "study.db", recipe.setup)) as again:
        list(again.walk(recipe))
        assert shards(again) == shards(study)
        assert len(shards(study)) == 5837


def shards(study: Study) -> list[tuple[str, str, int, int]]:
    """Which HS and CN stand at which place before which annotator, whatever their names."""
    with closing(sqlite3.connect(study.place)) as connection:
        rows = connection.execute(
            "SELECT hs.digest, cn.digest, person.id, assignment.position FROM assignment "
            "JOIN cell ON cell.id = assignment.cell_id JOIN text hs ON hs.id = cell.row_id "
            "JOIN text cn ON cn.id = cell.column_id JOIN person ON person.id = assignment.person_id"
        ).fetchall()
    people = sorted({row[2] for row in rows})
    return sorted((hs, cn, people.index(person), position) for hs, cn, person, position in rows)


def check_links(lead: Starting) -> None:
    """Links are shown once, with codes, and let in."""
    ready = lead.get("links").text
    assert "5,184 pairs were made" in ready
    assert "5,837 labels were assigned" in ready
    assert "fewer than" not in ready
    assert '<a href="/lead/conflicts"' in ready
    shown = re.findall(r'<span class="badge" dir="auto">(\w+)</span>', ready)
    assert shown == ["leo", "ann", "bob", "jo", "val"]
    page = lead.post("links").text
    shown = re.findall(r'value="(http://\S+/join#\S+)" aria-label="The link of (\w+) ', page)
    links = {name: link for link, name in shown}
    assert set(links) == {"leo", "ann", "bob", "jo", "val"}
    assert re.findall(r'alt="QR code of the link of (\w+):', page) == [*links]
    visitor = lead.site.study.access.by_token(links["ann"].rpartition("#")[2])
    assert visitor
    assert visitor.name == "ann"
    assert "Everybody has an invite link already" in lead.get("links").text
    assert "/join#" not in lead.get("links").text


def contents(study: Study) -> list[str]:
    """All rows of the study but those of its log and its draft."""
    with closing(sqlite3.connect(study.place)) as connection:
        lines = connection.iterdump()
        return [line for line in lines if not re.match('INSERT INTO "(run|setting|sqlite_sequence|chain)"', line)]


def test_a_build_that_was_killed_has_left_nothing_and_is_done_again(lead: Starting) -> None:
    lead.take_steps()
    study = lead.site.study
    study.start.save(BegunDraft("lea"), by="lea", seen=lead.seen)
    before = contents(study)
    building = study.start.build()
    assert [next(building).stage for _ in range(5)] == ["init", "import", "select", "retrieve", "pair"]
    del building
    assert contents(study) == before
    assert "was not built to the end" in alert(lead.get("begin"))
    lead.build()
    assert lead.client.get("/lead").status_code == 200


def test_a_build_that_is_cancelled_leaves_study_and_draft_as_they_were(lead: Starting) -> None:
    lead.take_steps()
    study = lead.site.study
    before, draft = contents(study), study.start.draft()
    assert lead.post("begin").status_code == 303
    page = lead.get("begin").text
    for words in ("The study is being built", "left", "so far", ">Cancel</button>"):
        assert words in page
    assert location(lead.get("plan")) == "/lead/start/begin"  # no other step is due meanwhile
    assert location(lead.post("cancel")) == "/lead/start"
    assert contents(study) == before
    assert replace(study.start.draft(), version=draft.version) == draft
    page = lead.get("begin").text
    assert "You have cancelled it; nothing of it was kept" in page
    assert "lea has cancelled it; nothing of it was kept" in Starting(lead.site, "leo").get("begin").text
    assert 'role="alert"' not in page
    lead.build()
    assert location(lead.post("cancel")) == "/lead/start"  # too late: it is there, and stays
    assert location(lead.client.get("/lead/start")) == "/lead"
    assert "Answered" in lead.client.get("/lead").text


def test_the_example_is_made_in_an_empty_study_alone_and_says_that_it_is_simulated(lead: Starting) -> None:
    page = lead.get("task").text
    assert "Try it with an example" in page
    assert '<a href="/lead/conflicts"' not in page
    assert location(lead.post("example")) == "/lead/start/begin"
    assert "The example study is being made" in lead.get("begin").text
    until(lambda: not lead.site.app.state.builder.state.is_running)
    assert lead.get("progress").headers["HX-Redirect"] == "/lead"
    page = lead.client.get("/lead").text
    assert "Mild prejudices: an example study" in page
    assert "SIMULATED" in page
    before = {run.stage for run in lead.site.study.log() if run.by != "lea"}
    assert before == {"init", "people"}  # all else is the build's
    refused = lead.post("example")
    assert refused.status_code == 409
    assert "go on with it, or start fcpair in another folder" in refused.text
    assert '<a href="/lead/conflicts"' in refused.text  # as on every page of a study that is made


def test_the_example_is_not_made_where_somebody_has_begun_a_study(lead: Starting) -> None:
    assert lead.upload(CORPUS.read_bytes()).status_code == 200
    assert "Try it with an example" not in lead.get("task").text
    assert lead.post("example").status_code == 409
    assert not lead.site.app.state.builder.state.is_running


def test_what_is_done_of_a_long_act_is_weighed_by_its_steps_and_never_falls() -> None:
    state = ProcessState(True, begun_s=monotonic() - 10).after({"steps": (("a", 1.0), ("b", 3.0), ("a", 1.0))})
    assert (state.share, state.left_s) == (0, None)
    state = state.after({"part": "b"}).after({"done": 1, "total": 3})
    assert state.share == pytest.approx(2 / 5)
    assert state.left_s == pytest.approx(15, abs=0.5)
    state = state.after({"part": "of b"}).after({"done": 1, "total": 9})
    assert (state.at, state.part) == (1, "of b")
    assert state.share == pytest.approx(2 / 5)
    assert state.after({"part": "a"}).at == 2


def test_a_build_that_fails_leaves_nothing_and_can_be_repeated(lead: Starting, tmp_path: Path) -> None:
    lead.take_steps()
    (table,) = (tmp_path / "uploads").glob("*.csv")
    content = table.read_bytes()
    table.write_bytes(b"hs,cn\n")
    lead.build()
    assert not any(lead.site.study.status()["stages"].values())
    page = lead.get("begin")
    assert "the file has no rows" in alert(page)
    assert location(lead.client.get("/lead")) == "/lead/start"
    table.write_bytes(content)
    lead.build()
    assert lead.client.get("/lead").status_code == 200

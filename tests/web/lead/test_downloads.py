"""Downloads of the lead: what is offered, files that equal what the study writes, and refusals; a study's own tiers."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from steps.small import SELECTED

from fcpair.files.release.exports import EXPORTS
from fcpair.params import Export, Partition, Simulate
from fcpair.plans import Compare, GridPlan, RoundPlan, SidePlan
from fcpair.records import Tier
from fcpair.store.oversight import runs
from fcpair.study import Study
from fcpair.web.lead.files import CHOICES, DOWNLOADS, PERSONAL
from web.conftest import LookAt, Serve, Site, page_of, send, value_of, words_of

ALWAYS = {"report", "log", "recipe", "backup", "terms"}
OWN_TIERS = {"strict": {"labels": 2, "agreement": "unanimous", "within": "gold"}, "draft": {"verdict": "none"}}


def download(site: Site, name: str, **form: str) -> tuple[str, bytes]:
    answer = send(site.browser("lea"), f"/lead/download/{name}", **form)
    assert answer.status_code == 200, unescape(answer.text)
    header = re.fullmatch(r'attachment; filename="(.+)"', answer.headers["content-disposition"])
    assert header
    return header[1], answer.content


@pytest.mark.parametrize("published", [False, True])
def test_a_tier_is_what_the_study_releases(serve: Serve, tmp_path: Path, published: bool) -> None:
    site = serve("checked")
    for form in CHOICES["form"]:
        site.study.grid().release(Tier.SILVER, tmp_path / f"silver.{form}", published=published)
        columns = "fc-conan" if published else "fcpair"
        name, content = download(site, "partition", tier="silver", form=form, columns=columns)
        assert name == f"silver.{form}"
        assert content == (tmp_path / name).read_bytes()


def test_a_downloaded_tier_is_recorded_by_its_name_and_is_not_missing(serve: Serve) -> None:
    site = serve("checked")
    name, content = download(site, "partition", tier="silver", form="csv", columns="fcpair")
    run = site.study.log()[-1]
    assert (run.params["out"], run.counts["sha256"]) == (name, sha256(content).hexdigest())
    with site.study._store.read() as tx:
        (record,) = runs.releases(tx)
    assert (record["file"], record["path"], record["sha256"]) == (name, None, run.counts["sha256"])
    (check,) = (check for check in Study.doctor(site.study.place).checks if check.name == "releases")
    assert (check.found, check.note) == ((), "downloaded, so not here to be checked: 1")


def test_the_page_of_tiers_offers_each_that_has_a_pair(look_at: LookAt) -> None:
    offered = re.compile(r'action="/lead/download/partition">.*?name="tier" value="(\w+)"')
    for stage, tiers in (("decided", []), ("checked", ["diamond", "gold", "silver", "bronze"])):
        assert offered.findall(page_of(look_at(stage).browser("lea"), "/lead/tiers")) == tiers


LINES = re.compile(r'action="/lead/download/([\w-]+)".*?<span class="soft">([^<]*)</span>', re.DOTALL)
EVERYWHERE = {"report": "The whole study.", "backup": "The whole study.", "recipe": "With all that was changed since."}
OF_LARGEST = dict.fromkeys(("partition", *EXPORTS), "19 pairs in the largest tier.")
HELD = {
    "paired": {},
    "dealt": {"sheets": "42 open pairs.", "project": "42 open pairs."},
    "checked": {"labels": "42 rows.", "agreement": "Measured on 42 labels.", **OF_LARGEST},
}


@pytest.mark.parametrize("stage", HELD)
def test_what_is_offered_says_how_much_it_holds(look_at: LookAt, stage: str) -> None:
    site = look_at(stage)
    html = page_of(site.browser("lea"), "/lead/downloads")
    numbers = {"log": f"{len(site.study.log())} runs.", "terms": f"{len(site.study.people)} people."}
    assert dict(LINES.findall(html)) == HELD[stage] | EVERYWHERE | numbers


def test_each_tier_has_its_size_and_personal_data_is_marked(look_at: LookAt) -> None:
    html = page_of(look_at("checked").browser("lea"), "/lead/downloads")
    tiers = html[html.index('id="partition"') :].partition("</select>")[0]
    sizes = re.findall(r'<option value="\w+">(\w+ \(\d+ pairs?\))</option>', tiers)
    assert sizes == ["diamond (7 pairs)", "gold (9 pairs)", "silver (13 pairs)", "bronze (19 pairs)"]
    marked = re.findall(r'id="([\w-]+)">[\w ]+<span class="badge personal">', html)
    assert marked == [name for name in DOWNLOADS if name in PERSONAL and f'id="{name}"' in html]
    decided = page_of(look_at("decided").browser("lea"), "/lead/downloads")  # where no tier holds a pair
    assert "pairs in the largest tier" not in decided
    assert 'name="tier"' not in decided


def test_a_backup_is_the_study_and_what_people_agreed_to_and_said_is_a_table(serve: Serve, tmp_path: Path) -> None:
    site = serve("dealt")
    site.study.access.consent(site.visitor("ana").id, {"age": "30"})
    name, content = download(site, "backup")
    (tmp_path / name).write_bytes(content)
    Study.restore(tmp_path / name, tmp_path / "again.db")
    with closing(Study(tmp_path / "again.db")) as again:
        assert [person.name for person in again.people] == [person.name for person in site.study.people]
    header, *rows = download(site, "terms")[1].decode().splitlines()
    assert {"name", "role", "consented_at", "demographics"} <= {*header.split(",")}
    assert len(rows) == len(site.study.people)
    assert any('""age"": ""30""' in row for row in rows)


def test_a_sheet_of_one_person_and_a_project_of_a_tool_are_downloads(serve: Serve) -> None:
    site = serve("dealt")
    who = next(row["name"] for row in site.study.workload() if row["open"])
    name, content = download(site, "sheets", person=who, sheet="xlsx")
    assert (name, content[:2]) == (f"{who}.xlsx", b"PK")
    answer = send(site.browser("lea"), "/lead/download/sheets", person="vera")
    assert answer.status_code == 404
    assert "there are sheets of ana, ben, cleo" in words_of(answer.text)
    name, content = download(site, "project", tool="label-studio")
    assert name == "project.zip"
    files = files_of(content)
    assert {"project/README.md", "project/config.xml", f"project/{who}.json"} <= {*files}
    readme = files["project/README.md"].decode()
    assert f"--study {Path(site.study.address).name} " in readme
    assert "*Uploads* of the lead's pages takes the export back" in readme
    assert ".." not in readme


def files_in(folder: Path) -> dict[str, bytes]:
    inside = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder.parent).as_posix(): path.read_bytes() for path in inside}


def files_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}


def test_folders_and_files_are_what_the_study_exports(serve: Serve, tmp_path: Path) -> None:
    site = serve("checked")
    export = site.study.grid().export
    split = Export(test_share=0.5, seed=2)
    with_negatives = Export(test_share=0.5, seed=2, negatives=1)
    folders: dict[str, Callable[[], object]] = {
        "beir": lambda: export.beir(tmp_path / "silver-beir", Tier.SILVER),
        "hf": lambda: export.hf(tmp_path / "dataset"),
        "pairs": lambda: export.training("pairs", tmp_path / "silver-pairs", Tier.SILVER, split),
        "triplets": lambda: export.training("triplets", tmp_path / "silver-triplets", Tier.SILVER, with_negatives),
        "preferences": lambda: export.training(
            "preferences", tmp_path / "silver-preferences", Tier.SILVER, with_negatives
        ),
    }
    for name, write in folders.items():
        there = set(tmp_path.iterdir())
        write()
        (folder,) = (path for path in tmp_path.iterdir() if path.is_dir() and path not in there)
        zipped, content = download(site, name, tier="silver", test_share="0.5", seed="2", negatives="1")
        assert zipped == f"{folder.name}.zip"
        assert files_of(content) == files_in(folder)
    for binary in (False, True):
        export.qrels(tmp_path / "silver.qrels", Tier.SILVER, Export(pool="positive", binary=binary))
        form = {"binary": "true"} if binary else {}
        name, content = download(site, "qrels", tier="silver", pool="positive", **form)
        assert content == (tmp_path / name).read_bytes()
    rows = download(site, "labels")[1].decode().splitlines()
    assert len(rows) == 1 + len(site.study.grid().labels())
    site.study.report(tmp_path / "report.html")
    assert download(site, "report")[1] == (tmp_path / "report.html").read_bytes()


@pytest.mark.parametrize(("stage", "name"), [("dealt", "sheets"), ("checking", "validation-sheets")])
def test_sheets_are_those_that_the_study_writes(serve: Serve, tmp_path: Path, stage: str, name: str) -> None:
    site = serve(stage)
    sheets = site.study.grid().sheets
    write = sheets.write_labels if name == "sheets" else sheets.write_verdicts
    write(tmp_path / name)
    assert files_of(download(site, name)[1]) == files_in(tmp_path / name)


@pytest.mark.parametrize("stage", ["empty", "paired"])
def test_a_download_that_comes_too_early_says_so_and_names_no_place_of_the_server(serve: Serve, stage: str) -> None:
    browser = serve(stage).browser("lea")
    for name in DOWNLOADS:
        answer = send(browser, f"/lead/download/{name}")
        if name in ALWAYS:
            assert answer.status_code == 200, name
            continue
        assert answer.status_code == 409, name
        assert "<h1>The study is not at this stage</h1>" in answer.text
        assert "/tmp" not in answer.text


def test_a_download_of_an_empty_tier_or_of_what_is_not_offered_is_refused(look_at: LookAt) -> None:
    browser = look_at("decided").browser("lea")
    for name in ("partition", "qrels", "beir", "hf", "triplets", "pairs", "preferences", "corpus"):
        answer = send(browser, f"/lead/download/{name}", tier="gold")
        assert answer.status_code == 422
        tier = "bronze" if name == "hf" else "gold"
        assert f"{tier} is empty: no pair is in it yet, so nothing was written" in unescape(answer.text).lower()
        assert "<h1>The form asks for something that cannot be done</h1>" in answer.text
        assert "/tmp" not in answer.text
    browser = look_at("checked").browser("lea")
    for field, value in (
        *(("tier", "platinum"), ("form", "../../etc/passwd"), ("pool", "/etc/passwd")),
        *(("test_share", "nan"), ("test_share", "1"), ("seed", "-1"), ("seed", "x"), ("negatives", "0")),
    ):
        form = {"tier": "silver", "test_share": "0.5", field: value}
        assert send(browser, "/lead/download/triplets", **form).status_code == 422, (field, value)
    assert send(browser, "/lead/download/weather").status_code == 404


def test_a_study_s_own_tiers_are_shown_searched_downloaded_and_kept(serve: Serve) -> None:
    site = serve("checked")
    grid, browser = site.study.grid(), site.browser("lea")
    grid.save.partition(Partition(own_tiers=OWN_TIERS))
    for path in ("panel/tiers", "tiers", "downloads", "evaluation"):
        html = page_of(browser, f"/lead/{path}").lower()
        assert "strict" in html
        assert "draft" in html
    html = page_of(browser, f"/lead/pair/{int(grid.tier('strict')['pair'].iloc[0])}")
    assert '<span class="tier own">Strict</span>' in html
    assert "2 labels or more, all equal to the final one; valid; within gold" in html
    html = page_of(browser, "/lead/grid?tier=strict")
    assert '<option value="strict" selected' in html
    assert html.count("/lead/pair/") >= len(grid.tier("strict")) > 0
    rows = download(site, "partition", tier="draft")[1].decode().splitlines()
    assert len(rows) == 1 + len(grid.tier("draft"))
    for name in ("drafts", "../draft"):
        assert send(browser, "/lead/download/partition", tier=name).status_code == 422
    seen = value_of(page_of(browser, "/lead/tiers"), "seen")
    send(browser, "/lead/tiers", diamond="majority", seen=seen)
    assert grid.effective_options(Partition) == Partition("majority", own_tiers=OWN_TIERS)


def test_a_grid_of_comparisons_has_its_ranking_on_the_page_and_its_answers_as_a_download(serve: Serve) -> None:
    site = serve("paired")
    form = "best: one_of(A,B,C,D); worst: one_of(A,B,C,D) unlike best"
    choose = RoundPlan("choose", form, role="rater", people=3, answers=2)
    columns = SidePlan(compare=Compare(grid="main"))
    site.study.add_grid(GridPlan("rank", SidePlan(rows_of="main"), columns, (choose,)))
    grid = site.study.grid("rank")
    grid.pair()
    grid.assign_round()
    grid.simulate(Simulate(skips=0.0, seed=1))
    browser = site.browser("lea")
    panel = unescape(browser.get("/lead/panel/results", params={"grid": "rank"}).text)
    assert "Texts that were compared" in panel
    assert f"1. {SELECTED[0]}" in panel
    assert "Gwet's AC1" in panel
    assert panel.count("<details") >= 4
    page = browser.get("/lead/downloads", params={"grid": "rank"}).text
    assert "Preferences as given" in page
    assert "Preferences as given" not in browser.get("/lead/downloads", params={"grid": "main"}).text
    answer = send(browser, "/lead/download/comparisons?grid=rank")
    assert len(answer.text.splitlines()) == 48
    assert browser.get("/lead/grid", params={"grid": "rank"}).status_code == 200
    assert browser.get("/lead/agreement", params={"grid": "rank"}).status_code in (200, 404)

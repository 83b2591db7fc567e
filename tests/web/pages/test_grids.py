"""The pages of a lead and of adjudicators in a study with several grids: each is about the grid in its address."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html import unescape
from pathlib import Path
from threading import Barrier

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from steps.asked import surveyed

from fcpair.grid import Grid
from fcpair.params import Adjudicate, Annotate
from fcpair.records import Role
from fcpair.stages.survey import add_shares, count_answers
from fcpair.study import Study
from fcpair.web.current_grid import Grids
from web import grids
from web.conftest import LookAt, Site, hidden_of, page_of, post, send, words_of

NAMES = ("write", "taste", "tone")
PAGES = (
    *("/lead", "/lead/people", "/lead/agreement", "/lead/grid", "/lead/conflicts", "/lead/guidelines"),
    *("/lead/evaluation", "/lead/downloads", "/lead/answers", "/lead/uploads", "/lead/releases"),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grids.build(tmp_path_factory.mktemp("grids"))


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Iterator[Site]:
    with closing(Site(Study(shutil.copy(built, tmp_path / "study.db")), Annotate())) as served:
        yield served


@pytest.fixture
def planned(tmp_path: Path) -> Iterator[Site]:
    """The study as it is planned, with nothing done."""
    with closing(Site(Study.create(tmp_path / "new.db", grids=grids.plans()), Annotate())) as served:
        yield served


def addresses(html: str) -> set[str]:
    """Where the links, forms, requests and pictures of a page lead, but for those that are of no grid."""
    leading = re.findall(r'\b(?:href|action|hx-get|hx-post|src|srcset)="(/[^"]*)"', html)
    return {address for address in leading if re.match("/lead(?!/help/)|/adjudicate", address)}


GOT = {
    "/lead/conflicts": {"/lead/conflicts"},
    "/lead/grid": {"/lead/grid", "/lead/grid/act/decisions", "/lead/grid/act/labels"},
    "/lead/people": {"/lead/people/beside"},
    "/lead/agreement": {"/lead/people/beside", "/lead/agreement#by"},
}
"""The forms of a page that are got, which take the grid as a field."""


@pytest.mark.parametrize("name", NAMES)
def test_every_address_on_a_page_of_the_lead_names_its_grid(site: Site, name: str) -> None:
    browser = site.browser("lea")
    for path in PAGES:
        html = page_of(browser, f"{path}?grid={name}")
        to_others = {f"{page}?grid={other}" for other in NAMES for page in (path, "/lead")}
        form = GOT.get(path, set()) if 'name="grid"' in html else set()  # a form that is got takes it as a field
        leading = addresses(html) - to_others - form
        assert leading
        assert {address for address in leading if not re.search(rf"[?&]grid={name}(#\w+)?$", address)} == set()
    browser = site.browser("judy")
    for path in ("/adjudicate?grid=tone", "/adjudicate/decided?grid=tone"):
        leading = addresses(page_of(browser, path)) - {"/adjudicate?grid=taste"}
        assert leading
        assert {address for address in leading if not re.search(r"[?&]grid=tone$", address)} == set()


def test_an_address_without_a_grid_is_about_the_first_and_of_no_other_than_there_are(
    site: Site, lea: TestClient
) -> None:
    assert "<h1>Progress of write</h1>" in page_of(lea, "/lead")
    answer = lea.get("/lead?grid=smell")
    assert answer.status_code == 404
    assert "the grids of this study: write, taste, tone" in answer.text
    assert site.browser("judy").get("/adjudicate?grid=smell").status_code == 404


def test_the_overview_leads_to_each_grid_whose_rounds_go_by_their_names(lea: TestClient) -> None:
    html = page_of(lea, "/lead?grid=taste")
    nav = words_of(html[html.index('aria-label="Grids"') :].partition("</nav>")[0])
    assert "write (write: 0 open, 4 done)" in nav
    assert "tone (judge: 0 open, 8 done; validate: not assigned)" in nav
    panel = page_of(lea, "/lead/panel/progress?grid=write")
    assert "Round “write”, answered by writers" in panel
    assert "4 answers given, 0 open" in panel
    assert "Adjudicating" not in panel
    panel = page_of(lea, "/lead/panel/progress?grid=tone")
    assert "8 answers given, 0 open" in panel
    assert "4 wait for a person" in panel
    assert "Validating" in panel
    html = page_of(lea, "/lead/pair/1?grid=tone")
    assert "<h1>tone, pair 1: " in html
    assert "<h2>Statement</h2>" in html
    assert "<h2>Manner</h2>" in html
    html = page_of(lea, "/lead/pair/1?grid=write")
    assert grids.REPLY in html
    assert 'rel="next" href="/lead/pair/2?grid=write"' in html


def test_what_a_grid_has_no_use_for_is_not_offered_and_says_so(lea: TestClient) -> None:
    for name in ("tiers", "agreement", "flags"):
        assert lea.get(f"/lead/panel/{name}?grid=write").status_code == 404
        assert page_of(lea, f"/lead/panel/{name}?grid=tone")
    of_write, of_tone = (page_of(lea, f"/lead?grid={name}") for name in ("write", "tone"))
    for path in ("/lead/agreement", "/lead/conflicts", "/lead/evaluation"):
        assert f'href="{path}?grid=write"' not in of_write
        assert f'href="{path}?grid=tone"' in of_tone
        html = page_of(lea, f"{path}?grid=tone")
        assert f'href="{path}?grid=taste"' in html
        assert f'href="{path}?grid=write"' not in html
        assert "There is nothing to see here" in page_of(lea, f"{path}?grid=write")


def test_what_people_answered_is_counted_question_by_question_read_and_downloaded(lea: TestClient) -> None:
    panel = page_of(lea, "/lead/panel/labels?grid=write")
    assert "Round “write”, also" in panel
    assert "/lead/answers?round=write&grid=write" in panel
    html = page_of(lea, "/lead/answers?round=write&grid=write")
    assert '<th scope="col">Statement</th><th scope="col">Kind of reply</th>' in html
    assert html.count(grids.REPLY) == 4
    for name, round_, n in (("write", "write", 4), ("tone", "judge", 8)):
        assert f'<option value="{round_}">{round_} ({n} rows)</option>' in page_of(lea, f"/lead/downloads?grid={name}")
        table = pd.read_csv(io.StringIO(send(lea, f"/lead/download/answers?grid={name}", round=round_).text))
        assert len(table) == n


def test_only_what_a_grid_has_can_be_downloaded(lea: TestClient) -> None:
    """Nothing is offered that fails for want of what the grid never has."""
    for name in NAMES:
        for offered in re.findall(r"/lead/download/([\w-]+)", page_of(lea, f"/lead/downloads?grid={name}")):
            answer = send(lea, f"/lead/download/{offered}?grid={name}", tier="bronze")
            assert answer.status_code == 200, (offered, answer.text)


def test_an_act_in_one_tab_leaves_the_grid_of_the_other_alone(site: Site, lea: TestClient) -> None:
    """Tab A is at `taste`, tab B at `tone`, which is loaded last."""
    a, b = (
        page_of(lea, f"/lead/conflicts/policy?policy=majority&ties=discard&grid={name}") for name in ("taste", "tone")
    )
    form = a[a.index('id="preview"') :]
    action = re.search(r'action="([^"]+)"', form)
    assert action
    asked = send(lea, action[1], **hidden_of(form[: form.index("</form>")]))
    assert "Discard 4 pairs in taste?" in unescape(asked.text)
    confirmed = re.search(r'action="([^"]+)"', asked.text[asked.text.index("<h1>") :])
    assert confirmed
    done = post(lea, unescape(confirmed[1]), **hidden_of(asked.text))
    assert "Conflicts of taste" in done
    assert "The previous policy is then in force again: " in done
    assert site.study.grid("taste").policy == Adjudicate("majority", "discard")
    assert site.study.grid("tone").policy == Adjudicate("manual")
    assert len(site.study.grid("tone").waiting_pairs()) == 4
    assert "4 pairs would be discarded." in re.sub("<[^>]+>", "", b)


def test_a_planned_grid_is_filled_and_dealt_round_by_round(planned: Site) -> None:
    browser = planned.browser("lea")
    answer = planned.browser("judy").get("/adjudicate")
    assert answer.status_code == 409
    assert "here is nothing to decide in this study yet" in answer.text
    planned.study.add_people(["wren"], Role.WRITER)
    assert "Fill the grid" in page_of(browser, "/lead?grid=write")
    assert "Assign round “write”" in post(browser, "/lead/rounds/pair?grid=write")
    assert "4 open, 0 given" in post(browser, "/lead/rounds/assign?grid=write", round="write")
    assert "Fill the grid" in page_of(browser, "/lead?grid=tone")


def test_decisions_are_validated_where_the_grid_says_so(site: Site, lea: TestClient) -> None:
    tone = site.study.grid("tone")
    tone.adjudicate(Adjudicate("manual"))
    tone.decide(tone.waiting_pairs()[0], 1, by="jo")
    assert "Decisions of this grid are not validated" in page_of(lea, "/lead/conflicts/validation?grid=taste")
    assert "1 pair was assigned to" in post(lea, "/lead/conflicts/validate?grid=tone", pairs="")


def test_an_adjudicator_begins_where_something_waits_and_decides_in_the_grid_of_a_tab(site: Site) -> None:
    browser = site.browser("judy")
    html = page_of(browser, "/adjudicate")
    assert "<strong>taste</strong>: 4 wait" in html
    assert "4 wait in tone" in html
    assert '<h2 id="cn-name">flavour</h2>' in html
    a, _ = (page_of(browser, f"/adjudicate?grid={name}") for name in ("taste", "tone"))
    form = a[a.index('<form id="pair"') :]
    action = re.search(r'action="([^"]+)"', form)
    assert action
    answer = send(browser, action[1], **hidden_of(form[: form.index("</form>")]), outcome="yes")
    assert answer.headers["location"].endswith("grid=taste")
    assert [len(site.study.grid(name).waiting_pairs()) for name in ("taste", "tone")] == [3, 4]
    assert "1 decided by you" in page_of(browser, answer.headers["location"])
    assert "0 decided by you" in page_of(browser, "/adjudicate?grid=tone")
    assert "Thank you for today" in page_of(browser, "/thanks")
    site.study.grid("taste").adjudicate(Adjudicate("majority", "discard"))
    assert "<strong>tone</strong>: 4 wait" in page_of(browser, "/adjudicate")


def test_machines_are_told_the_grid_and_have_to_name_it(site: Site) -> None:
    judy = site.machine("judy")
    following = judy.get("/api/conflicts/next", params={"grid": "tone"}).json()
    assert following["grid"] == "tone"
    assert judy.get("/api/conflicts/next").json()["grid"] == "taste"
    sent = {"request_id": site.new_request(), "cell_id": following["case"]["cell_id"], "outcome": "yes"}
    refused = judy.post("/api/decisions", json=sent)
    assert refused.status_code == 422
    assert "choose one with `?grid=NAME`: write, taste, tone" in refused.json()["detail"]
    assert judy.post("/api/decisions", json=sent, params={"grid": "tone"}).status_code == 200
    assert len(site.study.grid("tone").waiting_pairs()) == 3


# Surveys and bias tests: what was found, with words and figures


@pytest.fixture
def survey(tmp_path: Path) -> Iterator[Site]:
    with closing(Site(surveyed(tmp_path), Annotate())) as served:
        yield served


def results(site: Site, query: str = "") -> str:
    return " ".join(page_of(site.browser("lea"), f"/lead/panel/results{query}").split())


@pytest.mark.slow
def test_a_survey_is_counted_in_words_with_figures_and_declared_groups_are_compared(survey: Site) -> None:
    counts = add_shares(count_answers(survey.study.grid().survey.answers().given))
    panel = results(survey)
    for row in counts.to_dict("records"):
        cells = [row["yes"], row["no"], row["decline"], row["skipped"], f"{row['share']:.3f}"]
        line = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        assert f">{row['statement']}</th>{line}" in panel
    pictures = re.findall(r'<div class="forest" role="img" aria-label="[^"]+ The table below has the numbers."', panel)
    assert len(pictures) == panel.count("<summary>In numbers</summary>") == 3  # two questions, and groups' differences
    (compared,) = survey.study.grid().survey.groups(()).compared
    (difference,) = (of for of in compared.differences if of.label == "no")
    assert f'no: {difference.groups[0]} - {difference.groups[1]}</th><td class="n">{difference.value:.4f}' in panel
    assert "never a cause" in panel
    assert "Results of surveys and comparisons" in page_of(survey.browser("lea"), "/lead")


def test_a_survey_has_no_tiers_and_a_study_of_labels_no_results(survey: Site, look_at: LookAt) -> None:
    html = page_of(survey.browser("lea"), "/lead")
    assert 'href="/lead/agreement"' in html
    assert 'href="/lead/conflicts"' not in html
    assert 'href="/lead/evaluation"' not in html
    assert 'id="tiers"' not in html
    browser = look_at("checked").browser("lea")
    assert "Results of surveys and comparisons" not in page_of(browser, "/lead")
    assert browser.get("/lead/panel/results").status_code == 404


def test_a_bias_test_is_scored_model_by_model(walked: Callable[[str], Path], tmp_path: Path) -> None:
    with closing(Site(Study(shutil.copy(walked("survey"), tmp_path / "study.db")), Annotate())) as site:
        panel = results(site, "?grid=test")
    assert "hasty 13 of 320, careful 0 of 320" in panel
    assert "careful, (mean over categories)" in panel


# The grid that a page is about


def test_what_only_pages_need_is_made_once_for_each_grid_even_for_two_requests_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(tmp_path / "study.db")
    served, both, grid = Grids(study), Barrier(2, timeout=20), study.grid

    def grid_of_both(name: str) -> Grid:
        both.wait()
        return grid(name)

    monkeypatch.setattr(study, "grid", grid_of_both)
    with ThreadPoolExecutor(2) as pool:
        first, second = [begun.result() for begun in [pool.submit(lambda: served.oldest) for _ in range(2)]]
    assert first is second
    assert [first.grid.grid.name] == study.grids
    assert served.oldest.monitor is served.oldest.monitor
    assert served.oldest.adjudication_queue is served.by_name(None).adjudication_queue

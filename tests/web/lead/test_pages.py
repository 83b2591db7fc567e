"""The lead's pages: each at every stage, what they say is next, their numbers, which agree, and their panels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from steps.online import admit, at_desk, give
from steps.scales import rated
from steps.small import STAGES, dump

from fcpair.params import Adjudicate, Annotate, Assign, Pair, Simulate
from fcpair.records import TIERS, Role
from fcpair.report.figures.colours import cividis, ink_on, to_hex
from fcpair.report.table_rows import KappaCell
from fcpair.study import Study
from fcpair.web.context import heat_class, mark_tiers, replace_commands
from fcpair.web.current_grid import EXAMPLES, LEAD_PAGES, CurrentGrid
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.lead import panels
from fcpair.web.lead.panels import PANELS, Panel
from fcpair.web.server.static_files import FOLDER
from web.conftest import INLINE, LookAt, Serve, Site, page_of, post, send, words_of

PAGES = {page.path: page.title for pages in LEAD_PAGES.values() for page in pages if page is not EXAMPLES}
PANELS_OF = {
    "/lead": ["glance", "progress", "tiers"],
    "/lead/agreement": ["agreement", "every_two", "labels", "disputed"],
    "/lead/grid": ["coverage"],
    "/lead/guidelines": ["flags"],
}
PANELS_OF |= {f"/lead/people?view={name}": [name] for name in ("labels", "with_others", "speed", "exposure")}  # tabs
ELSEWHERE = ("results", "pilots", "known_pairs")  # panels of grids that are planned, or have known pairs


def nav_of(html: str) -> list[tuple[str, str]]:
    """The links of the one navigation: address and words."""
    nav = html[html.index('<nav id="side"') :]
    return re.findall(r'<li><a href="([^"]+)"[^>]*>([^<]+)</a>', nav[: nav.index("</nav>")])


@pytest.mark.parametrize("stage", STAGES)
def test_every_page_is_there_at_every_stage_with_the_one_navigation(look_at: LookAt, stage: str) -> None:
    browser = look_at(stage).browser("lea")
    for path in PAGES:
        answer = browser.get(path)
        if (stage, path) == ("empty", "/lead"):  # where nothing is to be looked at, there is a study to be started
            assert (answer.status_code, answer.headers["location"]) == (303, "/lead/start")
            assert not INLINE.search(page_of(browser, "/lead/start/task"))
            continue
        html = page_of(browser, path)
        assert nav_of(html) == [*PAGES.items(), ("/settings", "Settings")]
        assert {*re.findall(r'<a href="([^"]+)"[^>]* aria-current="page"', html)} == {path}
        landmarks = re.findall(r'<nav\b[^>]*? aria-label(?:ledby)?="([^"]+)"', html)
        assert (landmarks[0], len(landmarks)) == ("Pages", html.count("<nav"))  # each of the others has its own name
        assert len({*landmarks}) == len(landmarks)
        words = re.sub(r"<[^>]+>", " ", html)
        assert not re.search("undefined(?! and left out)", words, re.IGNORECASE)  # kappas that a mean does without
        assert "fcpair serve" not in words  # which whoever reads the page need not be told


def test_what_is_about_one_thing_belongs_to_its_page(look_at: LookAt) -> None:
    browser = look_at("dealt").browser("lea")
    for path, page in {"/lead/pair/1": "/lead/grid", "/lead/people/ana/retire": "/lead/people"}.items():
        assert re.findall(r'<a href="([^"]+)"[^>]* aria-current="true"', page_of(browser, path)) == [page]


def test_only_the_panels_of_a_page_are_computed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def counted(name: str, panel: Panel) -> Panel:
        def count(here: CurrentGrid, language: Language) -> dict[str, Any]:
            computed.append(name)
            return panel.values(here, language)

        return panel._replace(values=count)

    monkeypatch.setattr(panels, "PANELS", {name: counted(name, panel) for name, panel in PANELS.items()})
    browser = serve("checked").browser("lea")
    for path in {**PAGES, **PANELS_OF}:
        computed.clear()
        html = page_of(browser, path)
        assert computed == [name for name in PANELS_OF.get(path, []) if not PANELS[name].folded]
        assert re.findall(r'<section id="(\w+)" class="lead-panel"', html) == PANELS_OF.get(path, [])


def test_a_panel_comes_again_only_when_it_has_changed(look_at: LookAt, site: Site) -> None:
    browser = look_at("checked").browser("lea")

    def seen(html: str) -> dict[str, str]:
        digest = re.search(r'data-digest="(\w+)"', html)
        assert digest
        return {"seen": digest[1]}

    for name in PANELS:
        if name not in ELSEWHERE:
            unchanged = seen(page_of(browser, f"/lead/panel/{name}"))
            assert browser.get(f"/lead/panel/{name}", params=unchanged).status_code == 204
    assert browser.get("/lead/panel/weather").status_code == 404
    browser = site.browser("lea")
    before = seen(page_of(browser, "/lead/panel/progress"))
    site.study.grid().simulate(Simulate(seed=1))
    assert browser.get("/lead/panel/progress", params=before).status_code == 200
    assert "SIMULATED" in page_of(browser, "/lead")


def test_the_agreement_panel_says_for_whom_its_intervals_speak_and_where_they_hold_less_often(look_at: LookAt) -> None:
    panel = " ".join(page_of(look_at("checked").browser("lea"), "/lead/panel/agreement").split())
    assert "CN differ strongly, and explain" in panel
    assert "in as few as 76 of 100 simulated studies like this." in panel
    assert "intervals for new HS and CN, the same annotators; those of two annotators for the same two." in panel


# What can be done now, and what the study is at


def offers_of(html: str) -> list[tuple[str, str]]:
    """What a page says that can be done now, each with its button."""
    offers = re.findall(r'<div class="lead-offer">\s*<p>(.*?)</p>(.*?)</div>', html, re.DOTALL)
    return [(text, words_of(rest)) for text, rest in offers]


@pytest.mark.parametrize(
    ("stage", "text", "button"),
    [
        ("imported", "The grid is not built yet. On the server: <code>fcpair select</code>.", ""),
        ("paired", "The pairs are not assigned yet.", "Assign the pairs to annotators"),
        ("dealt", "42 answers are open.", "Invite "),
        ("decided", "5 pairs wait for a person's decision.", "See the conflicts"),
        ("checked", "5 pairs wait for a person's decision.", "See the conflicts"),
    ],
)
def test_the_next_thing_comes_first_with_its_button(look_at: LookAt, stage: str, text: str, button: str) -> None:
    first = offers_of(page_of(look_at(stage).browser("lea"), "/lead"))[0]
    assert first[0] == text
    assert first[1].startswith(button)


def test_a_page_says_all_that_can_be_done_now(serve: Serve) -> None:
    site = serve("checking")
    html = page_of(site.browser("lea"), "/lead")
    n_waiting = len(site.study.grid().waiting_pairs())
    n_open = site.study.status()["rounds"]["validate"]["open"]
    assert offers_of(html) == [
        (f"{n_waiting} pairs wait for a person's decision.", "See the conflicts"),
        (f"{n_open} verdicts are open.", "Invite 2 validators"),
    ]
    assert '<p class="lead-stage">Adjudicating</p>' in html


def test_the_button_assigns_the_pairs_once_there_is_somebody(serve: Serve) -> None:
    site, without = serve("paired"), serve("paired")
    browser = site.browser("lea")
    assert "24 labels were assigned to " in post(browser, "/lead/rounds/assign", round="label")
    before = dump(site.study)
    answer = send(browser, "/lead/rounds/assign", round="label")
    assert answer.status_code == 409
    assert "was assigned after the page was loaded, so nothing was done" in answer.text
    assert dump(site.study) == before
    without.study.retire("ana")
    first = offers_of(page_of(without.browser("lea"), "/lead"))[0]
    assert first == ("The pairs are not assigned yet.", "Add annotators")


def tiles_of(html: str) -> dict[str, str]:
    """What the tiles say, by their names."""
    tiles = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", html[html.index("lead-tiles") :].partition("</dl>")[0])
    return {name: words_of(value) for name, value in tiles}


def test_the_tiles_say_what_the_study_is_at(look_at: LookAt) -> None:
    site = look_at("checked")
    tiles = tiles_of(page_of(site.browser("lea"), "/lead"))
    alpha = site.study.grid().agreement().alpha
    sizes = site.study.grid().tiers().table().tables[0]
    assert tiles["Answered"] == "42 of 42 100.0 %"
    assert tiles["Agreement"] == f"{alpha.value:.2f} {alpha.low:z.3f} to {alpha.high:z.3f}"
    assert tiles["Conflicts"] == str(len(site.study.grid().waiting_pairs()))
    for tier, n in zip(sizes["tier"], sizes["pairs"], strict=True):
        assert f"{tier.capitalize()} {n}" in tiles["Tiers now"]
    assert tiles["To be looked at"] == "0"


def test_what_is_not_known_yet_is_a_dash_with_its_reason(site: Site) -> None:
    html = page_of(site.browser("lea"), "/lead")
    tiles = tiles_of(html)
    assert tiles["Agreement"] == "– not known yet: there are no labels yet not yet"
    assert tiles["Tiers now"] == "– not known yet: there are no labels yet not yet"
    assert tiles["Hours left"].startswith("– not known yet: everybody has fewer than 5 intervals")
    assert tiles["Active now"] == "0"
    why = "there was no answer on the pages in the last 7 days"
    assert f'title="{why}" aria-hidden="true">–</span><span class="visually-hidden">none: {why}</span>' in html
    assert "No tiers yet: there are no labels." in html
    give(*at_desk(site.study, "ana"), "appropriate")
    assert "ana" in tiles_of(page_of(site.browser("lea"), "/lead"))["Active now"]


def test_times_are_marked_for_the_browser_and_said_to_be_utc(look_at: LookAt) -> None:
    site = look_at("checked")
    html = page_of(site.browser("lea"), "/lead")
    newest = site.study.log()[-1].at
    assert f'<time datetime="{newest}">{ENGLISH.moment(newest)}</time>' in html
    assert not re.search(r"UTC(?!\)?</)", re.sub(r"<th[^>]*>.*?</th>|<time.*?</time>", "", html[html.index("<main") :]))


def test_the_log_says_which_lead_did_it_and_of_a_command_nobody(site: Site) -> None:
    assert site.study.log()[-1].by is None
    browser = site.browser("lea")
    assert "by lea." in post(browser, "/lead/people/ben/retire")
    assert site.study.log()[-1].by == "lea"
    assert "<td>lea</td>" in page_of(browser, "/lead")


def test_a_late_joiner_is_told_of_to_the_lead_and_not_that_it_is_over(site: Site) -> None:
    site.study.add_people(["gina"], Role.ANNOTATOR)
    message = (
        "gina joined after the pairs were assigned and got none; <code>fcpair assign --more</code> gives an even share."
    )
    for path in ("/lead", "/lead/conflicts"):
        assert message in page_of(site.browser("lea"), path)
    html = page_of(site.browser("gina"), "/thanks")
    assert "There is nothing for you yet" in html
    assert "last pair" not in html


def test_the_lead_sees_that_only_some_cells_of_the_grid_were_drawn(serve: Serve) -> None:
    site = serve("paired")
    browser = site.browser("lea")
    assert "sampled" not in page_of(browser, "/lead")
    site.study.grid().pair(Pair(sample=9), redo=True)
    assert "sampled 9 of 24 cells." in page_of(browser, "/lead")
    assert "0 labels on 9 pairs" in page_of(browser, "/lead/panel/coverage")


def test_it_is_said_how_many_verdicts_wait_for_labels(serve: Serve) -> None:
    site = serve("checking")
    browser = site.browser("lea")
    assert "until all labels" not in page_of(browser, "/lead") + page_of(browser, "/lead/conflicts/validation")
    site.study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    n = site.study.status()["verdicts_not_due"]
    assert n > 1
    for path in ("/lead/panel/progress", "/lead/conflicts/validation"):
        assert f"({n} of them wait until all labels of their pairs are in)" in page_of(browser, path)
    assert f"{n} open verdicts wait until all labels of their pairs are in" in page_of(browser, "/lead")


def test_a_pair_is_explained(look_at: LookAt) -> None:
    site = look_at("checked")
    html = page_of(site.browser("lea"), "/lead/pair/1")
    story = site.study.grid().explain(1)
    assert story.cn in html
    assert all(row["person"] in html for row in story.answers)


def test_a_lead_s_pages_of_a_study_with_numbers_name_them(tmp_path: Path) -> None:
    site = Site(rated(tmp_path), Annotate())
    browser = site.browser("lea")
    site.study.grid().adjudicate(Adjudicate("median"))
    for name in PANELS:
        assert browser.get(f"/lead/panel/{name}").status_code == (404 if name in ELSEWHERE else 200), name
    assert " 4.5</th>" in page_of(browser, "/lead/panel/labels")
    assert "3.5" in page_of(browser, "/lead/pair/1")
    assert "Krippendorff's alpha, interval" in page_of(browser, "/lead/panel/agreement")
    site.close()


# Numbers: each part of each page says the same of the same thing


def panel(site: Site, name: str) -> str:
    return words_of(site.browser("lea").get(f"/lead/panel/{name}").text)


def cells(words: str, meaning: str) -> int:
    """How many cells of the map have a meaning; 0 where it is not in the legend."""
    count = re.search(rf"(?<!not ){re.escape(meaning)} ([\d,]+) [\d.]+ %", words)
    return int(count[1].replace(",", "")) if count else 0


def decide_some(study: Study) -> None:
    """A person decides two conflicts and discards a third; no policy has been applied."""
    grid = study.grid()
    for pair, code in zip(grid.waiting_pairs()[:3], (2, 0, None), strict=True):
        grid.decide(pair, code, by="judy")
    can_be_asked = [pair for pair in range(1, 25) if grid.desk.forecast_decision_requests([pair]).requested]
    grid.request_decisions(can_be_asked[:2])


STATES = [*((stage, False) for stage in STAGES[4:]), *((stage, True) for stage in ("labelled", "decided", "checked"))]


@pytest.mark.parametrize(("stage", "is_decided"), STATES)
def test_every_pair_is_counted_once_and_all_pages_say_the_same(
    serve: Serve, look_at: LookAt, stage: str, is_decided: bool
) -> None:
    site = serve(stage) if is_decided else look_at(stage)
    if is_decided:
        decide_some(site.study)
    pairs = site.study.status()["pairs"]
    waiting = pairs["wait_for_person"]
    assert sum(pairs.values()) == 24
    coverage = panel(site, "coverage")
    assert cells(coverage, "labelled, waits for a person") == waiting == len(site.study.grid().waiting_pairs())
    assert cells(coverage, "labelled, waits for a policy") == pairs["wait_for_policy"]
    assert cells(coverage, "discarded") == pairs["discarded"]
    assert cells(coverage, "decided, not validated") == pairs["no_verdict"]
    assert cells(coverage, "valid") == pairs["valid"]
    assert cells(coverage, "not valid") == pairs["not_valid"]
    if stage in ("paired", "dealt"):
        return
    progress = panel(site, "progress")
    assert re.search(rf"decided by people, {waiting} waits? for a person", progress) or "nothing waits" in progress
    assert (f"; {pairs['wait_for_policy']} more with labels" in progress) == bool(pairs["wait_for_policy"])
    assert re.search(rf"[ ;]{waiting} pairs? without a final label waits? for a person\.", panel(site, "tiers"))
    if waiting:
        lead = words_of(page_of(site.browser("lea"), "/lead"))
        assert re.search(rf" {waiting} pairs? waits? for a person's decision\.", lead)
        assert f" Conflicts {waiting} " in lead
    for path in PAGES:
        assert "fcpair serve" not in page_of(site.browser("lea"), path)


def test_what_a_person_has_decided_is_counted_beside_their_name_and_taken_back_for_nobody(serve: Serve) -> None:
    """judy labels nothing: her work is three decisions, on the page of people as under Progress."""
    site = serve("labelled")
    decide_some(site.study)
    assert "3 pairs decided by people" in panel(site, "progress")
    assert re.search(r"judy 3 3 ", panel(site, "progress"))
    people = words_of(page_of(site.browser("lea"), "/lead/people"))
    assert "Open Given Decided" in people
    waiting = len(site.study.grid().waiting_pairs())  # which is what adjudicators have open, all of them
    assert re.search(rf"judy adjudicator (no link )?{waiting} 0 3 ", people)
    assert f"Open {waiting} shared with all adjudicators" in words_of(page_of(site.browser("lea"), "/lead/people/judy"))
    discarded = next(pair for pair in range(1, 25) if site.study.grid().explain(pair).discarded)
    site.study.grid().take_back(discarded, by="judy")
    assert "2 pairs decided by people" in panel(site, "progress")


@pytest.mark.parametrize("stage", ["labelled", "decided", "checked"])
def test_a_pair_that_waits_for_a_second_look_is_counted_as_that(serve: Serve, stage: str) -> None:
    """judy decides two pairs, then somebody changes their label of the first."""
    site = serve(stage)
    grid = site.study.grid()
    first, second = grid.waiting_pairs()[:2]
    grid.decide(first, 2, by="judy")
    grid.decide(second, 0, by="judy")
    before = site.study.status()["pairs"]
    change_a_label(site.study, first)
    state, waiting = site.study.status(), len(grid.waiting_pairs())
    assert state["pairs"] == before
    assert (state["pairs"]["wait_for_person"], state["adjudications"]["second_look"]) == (waiting, 1)
    progress = panel(site, "progress")
    assert f"1 pair decided by people, {waiting + 1} wait for a person (1 of them for a second look" in progress
    assert re.search(r"judy 1 2 ", progress)
    assert f" {waiting} pairs without a final label wait for a person." in panel(site, "tiers")
    assert cells(panel(site, "coverage"), "labelled, waits for a person") == waiting
    browser = site.browser("lea")
    assert re.search(rf"judy adjudicator (no link )?{waiting + 1} 0 1 ", words_of(page_of(browser, "/lead/people")))
    for path in ("/lead", "/lead/conflicts", f"/lead/pair/{first}"):
        assert "for a second look" in page_of(browser, path)
    desk = words_of(page_of(site.browser("judy"), "/adjudicate"))
    assert f"{waiting + 1} wait · 2 decided by you" in desk
    assert "1 for a second look" in desk


def change_a_label(study: Study, pair: int) -> None:
    """Whoever labelled a pair first labels it otherwise, on the pages."""
    row = next(row for row in study.grid().labels().to_dict("records") if row["pair"] == pair)
    visitor, desk = admit(study, row["annotator"]), study.work_queue(Annotate())
    task = next(task for task in desk.answers(visitor, n=99) if task.cell_id == pair)
    give(desk, visitor, "appropriate" if row["label"] == "not_sure" else "not_sure", task.assignment_id)


# Words and colours


def test_time_spans_in_words() -> None:
    spans = {None: "–", 0: "0 s", 59.4: "59 s", 60: "1 min", 3599: "1 h 00 min", 7500: "2 h 05 min"}
    assert {seconds: ENGLISH.duration(seconds) for seconds in spans} == spans


def test_each_heat_has_the_colour_of_the_report_and_ink_that_stands_out() -> None:
    heats = {"-0.400": "heat-0", "0.000": "heat-0", "0.577": "heat-5", "0.999": "heat-9", "1.000": "heat-9"}
    assert {kappa: heat_class(KappaCell("kappa", kappa)) for kappa in heats} == heats
    sheet = (FOLDER / "lead.css").read_text("utf-8")
    for at in range(10):
        ground = cividis((at + 0.5) / 10)
        rule = re.search(rf"\.heat-{at} {{\s*--heat: (#\w+);\s*--heat-ink: (#\w+);", sheet)
        assert rule
        assert rule.groups() == (to_hex(ground), to_hex(ink_on(ground)))


def test_tiers_are_marked_in_the_colours_of_all_figures(look_at: LookAt) -> None:
    marks = dict(
        re.findall(r"\.tier\.(\w+)::before \{\s*background: (#\w+);", (FOLDER / "lead.css").read_text("utf-8"))
    )
    colours = {"diamond": "#b9f2ff", "gold": "#ffd700", "silver": "#c0c0c0", "bronze": "#cd7f32"}
    assert marks == {tier: colours[tier] for tier in TIERS}
    assert mark_tiers("Gold 3 <b>") == '<span class="tier gold">Gold</span> 3 &lt;b&gt;'
    assert mark_tiers("Goldfish") == "Goldfish"
    html = page_of(look_at("checked").browser("lea"), "/lead/tiers")
    for tier in TIERS:
        assert html.count(f'<span class="tier {tier}">{tier.capitalize()}</span>') >= 3, tier


def test_what_the_pages_do_is_not_looked_for_in_a_terminal() -> None:
    sentences = {
        "run `fcpair validate assign`": "go to “Assign pairs to validators” on Conflicts",
        "3; `fcpair validate assign --more --pairs 3`": "3; “Assign pairs to validators” on Conflicts",
        "`fcpair partition` shows every tier": "“Tiers as they would be now” on Progress shows every tier",
        "run `fcpair adjudicate`, or `fcpair serve`": "run `fcpair adjudicate`, or use these pages",
        "`fcpair assign --more` gives": "`fcpair assign --more` gives",
    }
    assert {sentence: replace_commands(sentence) for sentence in sentences} == sentences


def test_answers_too_fast_to_have_been_read_are_raised_under_progress(serve: Serve) -> None:
    site = serve("dealt")
    assert "sooner than" not in panel(site, "glance")
    ana, desk = admit(site.study, "ana"), site.study.work_queue(Annotate())
    for seconds in (0.2, 30.0):
        give(desk, ana, "appropriate", seconds=seconds)
    assert "Answers came sooner than their texts can be read: ana 1 of 2. Look at them" in panel(site, "glance")


def test_the_days_run_from_left_to_right_and_a_name_its_own_way(serve: Serve) -> None:
    site, names = serve("paired"), ["چکاد", "بهار", "رها", "مانی"]
    site.study.add_people(names, Role.ANNOTATOR)
    site.study.grid().assign()
    for name in names:
        give(site.study.work_queue(Annotate()), admit(site.study, name), "appropriate", seconds=0.2)
    words = panel(site, "glance")
    assert all(f"\u2068{name}\u2069 1 of 1" in words for name in names)
    assert re.search("Active now 4 (\u2068\\w+\u2069, ){2}\u2068\\w+\u2069 and 1 other", words)
    site.study.save_words(language="fa")
    html = site.browser("lea").get("/lead/panel/glance").text
    dates = re.findall(">([^<]+)</text>", html[html.index("days-names") :])
    assert dates
    assert all(re.fullmatch("\u2068[۰-۹]+ \\w+\u2069", day) for day in dates)


def test_what_no_policy_has_decided_and_nobody_checks_is_the_next_step(look_at: LookAt) -> None:
    site = look_at("labelled")
    n = site.study.status()["pairs"]["wait_for_policy"]
    first = f"{n} labelled pairs are not final, because no policy is applied yet. Choose the policy"
    assert panel(site, "glance").startswith(f"Adjudicating {first}")
    assert f"{n} pairs with labels wait for a policy and are not final." in words_of(
        page_of(site.browser("lea"), "/lead/conflicts")
    )
    site = look_at("decided")
    n = site.study.status()["pairs"]["no_verdict"]
    assert f"{n} decided pairs have no verdict yet." in panel(site, "glance")
    assert f"{n} decided pairs have no verdict; assign them to validators" in panel(site, "progress")

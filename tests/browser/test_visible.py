"""On a phone all that is judged is seen at once, large enough for a finger; what is too long scrolls, and says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short
from playwright.sync_api import FloatRect, Locator, Page, expect
from steps.small import labels_of, open_work, record

from browser import acts
from browser.hosts import PERSIAN, Host, Serve, build
from browser.layout import IS_WIDER
from browser.windows import CUT, PHONE, SMALL, TOUCH, Shown, Windows
from fcpair.grid import AdjudicationQueue
from fcpair.study import Study
from fcpair.work_records import DecisionRequest

LANDSCAPE = {"width": 667, "height": 375}
TOUCH_PX = 44
SMALL_PX = 24  # WCAG 2.2, 2.5.8, for what stands beside the texts that are judged
MIDDLING = (  # 111 and 155 letters, about the medians of CONAN's English texts
    "Everybody who drinks tea looks down on the rest of us, and whoever says that they do not has not listened well.",
    "I share a kitchen with four tea drinkers, and the only thing that they ever looked down on was the sugar bowl, "
    "because somebody had left a wet spoon in it.",
)
LONG = (  # 205 and 215 letters: of ten texts of CONAN, about one is longer
    "Cyclists think that the whole road was built for them alone, they ride two abreast through the middle of every "
    "village, and then they complain about the cars that have to wait behind them for half an hour.",
    "Two abreast they are passed more quickly than one behind the other, because the way back into the lane is half as "
    "long. Most of those whom I know have a car as well, and wait behind tractors without a word about it.",
)
ENDLESS = ("owl" * 400, " ".join(["Night owls sleep when others wake."] * 60))
FROM_THE_RIGHT = (
    "کسانی که چای را با قند می‌خورند هیچ‌وقت طعم واقعی چای را نمی‌فهمند. " * 2,
    "هل قابلت واحدا منهم من قبل؟ " * 5,
)
WHOLE = """(selector) => {
  const element = document.querySelector(selector), range = document.createRange();
  range.selectNodeContents(element);
  for (let one = element; one !== document.body; one = one.parentElement) {
    if (getComputedStyle(one).overflowY !== "visible" && one.scrollHeight > one.clientHeight + 1) return false;
  }
  return [...range.getClientRects()].filter((line) => line.width && line.height).every((line) => {
    const [x, y] = [(line.left + line.right) / 2, (line.top + line.bottom) / 2];
    const inside = line.top >= 0 && line.bottom <= innerHeight && line.left >= 0 && line.right <= innerWidth;
    return inside && element.contains(document.elementFromPoint(x, y));
  });
}"""
PUT = """(texts) => ["hs", "cn"].forEach((id, at) => {
  document.getElementById(id).textContent = texts[at];
  document.getElementById(id).dir = /[\\u0600-\\u06ff]/.test(texts[at]) ? "rtl" : "ltr";
})"""
OVERLAP = """() => {
  const parts = [".above", ".texts", ".note", ".answers", ".steps", ".below"].map((part) =>
    document.querySelector("#desk " + part).getBoundingClientRect());
  return parts.slice(1).some((part, at) => part.top < parts[at].bottom - 1 && part.left < parts[at].right - 1);
}"""
ANSWERS = "#desk .answers button"
JUDGED = {
    "ana": ("/annotate", "dealt", ("#hs", "#cn")),
    "vera": ("/validate", "checking", ("#hs", "#cn", "#label")),
    "judy": ("/adjudicate", "labelled", ("#hs", "#cn", ".labels")),
}
SCREENS = [SMALL, PHONE, {"width": 600, "height": 800}, {"width": 640, "height": 360}]
MEETS = """([one, other]) => {
  const lines = (selector) => {
    const element = document.querySelector(selector), range = document.createRange();
    range.selectNodeContents(element);
    return element.matches("button") ? [element.getBoundingClientRect()] : [...range.getClientRects()];
  };
  return lines(one).some((a) => lines(other).some((b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
}"""


def box(place: Locator) -> FloatRect:
    found = place.bounding_box()
    assert found
    return found


def look(shown: Shown, who: str, size: dict[str, int], texts: tuple[str, str]) -> Page:
    """The page on which somebody judges, on a phone of this size, with these two texts."""
    path, stage, _ = JUDGED[who]
    page = shown.page(shown.host(stage), who, size=size, **TOUCH)
    page.goto(path)
    acts.await_pair(page)
    page.evaluate(PUT, texts)
    return page


def sit(serve: Serve, windows: Windows, who: str, texts: tuple[str, str], **options: Any) -> Page:
    """The same page, in a study of its own."""
    path, stage, _ = JUDGED[who]
    page = windows.sit(serve(stage), who, path, **{**TOUCH, **options})
    page.evaluate(PUT, texts)
    return page


def assert_buttons_are_seen(page: Page) -> None:
    for button in page.locator(ANSWERS).all():
        expect(button).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("who", one_short(*JUDGED))
def test_all_that_is_judged_is_seen_at_once_and_what_is_too_long_scrolls_by_itself(shown: Shown, who: str) -> None:
    for size, texts in ((PHONE, MIDDLING), (PHONE, LONG), (SMALL, MIDDLING), (SMALL, FROM_THE_RIGHT)):
        if who != "ana" and texts is FROM_THE_RIGHT:
            continue
        page = look(shown, who, size, texts)
        assert [part for part in JUDGED[who][2] if not page.evaluate(WHOLE, part)] == []
        assert page.locator("[data-more]").count() == 0
        assert not page.evaluate(IS_WIDER)
        assert_buttons_are_seen(page)
    for size in (SMALL, PHONE):
        page = look(shown, who, size, ENDLESS)
        expect(page.locator(".text[data-more]")).to_have_count(2)
        assert not page.evaluate(IS_WIDER)
        assert_buttons_are_seen(page)
        for part in ("#hs", "#cn"):
            page.locator(part).evaluate("(text) => text.scrollTo(0, text.scrollHeight)")
        expect(page.locator("[data-more]")).to_have_count(0)
        assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize("who", one_short(*JUDGED))
def test_answers_are_of_one_size_and_letters_of_twice_the_size_cover_nothing(shown: Shown, who: str) -> None:
    for size in (PHONE, SMALL, LANDSCAPE, {"width": 640, "height": 400}):
        page = look(shown, who, size, MIDDLING)
        boxes = [box(button) for button in page.locator(ANSWERS).all()]
        for edge in (lambda it: it["width"], lambda it: it["height"]):
            assert max(map(edge, boxes)) - min(map(edge, boxes)) < 1
        assert min(it["height"] for it in boxes) >= TOUCH_PX
        small = [one for button in page.locator(".steps button").all() if (one := button.bounding_box())]
        assert all(min(it["width"], it["height"]) >= SMALL_PX for it in small)
        page.evaluate(PUT, LONG)
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert not page.evaluate(IS_WIDER)
        for part in ("#hs", "#cn", ".answers", ".steps"):
            page.locator(part).first.scroll_into_view_if_needed()
            expect(page.locator(part).first).to_be_in_viewport(ratio=0.9 if size["height"] > 600 else 0.3)
        assert not page.evaluate(OVERLAP)


def test_a_long_text_is_scrolled_by_the_keyboard_and_the_next_begins_at_its_beginning(
    serve: Serve, windows: Windows
) -> None:
    page = sit(serve, windows, "ana", ENDLESS)
    more = page.locator(".text[data-more]")
    expect(more).to_have_count(2)
    page.locator("#cn").focus()
    page.keyboard.press("End")
    expect(more).to_have_count(1)
    page.locator("[data-answer=skip]").tap()
    expect(page.locator("[data-more]")).to_have_count(0)
    assert page.locator("#cn").evaluate("(text) => text.scrollTop") == 0


def test_the_note_is_open_where_there_is_room_else_by_its_key_and_where_one_was_written(
    serve: Serve, windows: Windows
) -> None:
    page = sit(serve, windows, "ana", MIDDLING)
    note = page.locator("#note")
    expect(note).to_be_hidden()
    page.keyboard.press("n")
    expect(note).to_be_focused()
    page.keyboard.type("Which owls?")
    page.keyboard.press("Escape")
    acts.press(page, "1")
    expect(note).to_be_hidden()
    page.keyboard.press("u")
    expect(note).to_have_value("Which owls?")
    expect(note).to_be_visible()
    page = sit(serve, windows, "ana", MIDDLING, viewport={"width": 1280, "height": 800}, is_mobile=False)
    expect(page.locator("#note")).to_be_visible()
    expect(page.get_by_text("Note", exact=True)).to_be_hidden()


def test_whatever_is_pressed_is_large_enough_for_a_finger(desk: Host, windows: Windows) -> None:
    page = windows.sit(desk, "ana", **TOUCH)
    for path in ("/annotate", "/settings", "/thanks"):
        page.goto(path)
        expect(page).to_have_url(re.compile(path))
        for one in page.locator("main button:visible, main [role=button]:visible, main select:visible").all():
            small = one.evaluate("(it) => !!it.closest('.above, .steps')")
            assert box(one)["height"] >= (SMALL_PX if small else TOUCH_PX), one.inner_text()
            assert small or box(one)["width"] >= TOUCH_PX, one.inner_text()


def assert_answers_are_seen(page: Page) -> None:
    for part in (*page.locator(ANSWERS).all(), page.locator("#desk :is(.act, #case-sheet) > .steps")):
        expect(part).to_be_in_viewport(ratio=0.99)
    assert page.evaluate("scrollY") == 0


def look_again(study: Study, judy: int, folder: Path) -> None:
    """judy decides a pair, and then its labels change, so that it waits for a second look."""
    grid = study.grid()
    case = AdjudicationQueue(grid).next(judy)
    assert case is not None
    AdjudicationQueue(grid).decide(judy, DecisionRequest("request-first", case.cell_id, "not_appropriate"))
    labels = [(who, pair, "not_sure") for pair, who in labels_of(study, case.cell_id)]
    record(study, folder, [(*labels[0][:2], "appropriate"), *labels[1:]], supersede=True)


def test_the_name_of_a_pair_and_a_second_look_cover_nothing(serve: Serve, windows: Windows, tmp_path: Path) -> None:
    hidden, again = serve("labelled"), serve("labelled")
    hidden.hide_texts("judy")
    look_again(again.study, again.visitor("judy").id, tmp_path)
    page, second = (windows.show(served, "judy", "/adjudicate", **TOUCH) for served in (hidden, again))
    for size in SCREENS:
        acts.resize(page, size)
        page.goto("/adjudicate")
        expect(page.locator("#reveal")).to_be_in_viewport(ratio=1)
        expect(page.locator("#case-name")).to_be_in_viewport(ratio=1)
        for other in ("#reveal", "#hs-name"):
            assert not page.evaluate(MEETS, ["#case-name", other]), (size, other)
        acts.resize(second, size)
        second.goto("/adjudicate")
        expect(second.locator("#pair .notice")).to_contain_text("Its labels have changed since you decided")
        second.evaluate(PUT, MIDDLING)
        assert_answers_are_seen(second)
        assert not second.evaluate(MEETS, ["#case-name", "#pair .notice p"]), size


@pytest.mark.parametrize("size", one_short(*SCREENS), ids=str)
def test_undo_and_a_banner_leave_the_answers_on_the_first_screen(
    serve: Serve, windows: Windows, size: dict[str, int]
) -> None:
    page = sit(serve, windows, "vera", MIDDLING, viewport=size, forgive=CUT)
    acts.answer(page, "agree")
    acts.await_sent(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_be_visible()
    page.evaluate(PUT, MIDDLING)
    assert_answers_are_seen(page)
    acts.offline(page)
    acts.answer(page, "disagree")
    expect(page.locator("#banner-text")).to_have_text("Not sent yet: 1 answer is kept in this page.")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("disagree")
    page.evaluate(PUT, MIDDLING)
    assert_answers_are_seen(page)
    page.context.set_offline(False)


def direction_of(text: Locator) -> str:
    return str(text.evaluate("(text) => getComputedStyle(text).direction"))


def test_each_text_runs_its_own_way_and_the_answers_stay_in_their_order(
    serve: Serve, windows: Windows, tmp_path: Path
) -> None:
    """A Persian HS with an Arabic CN and three English ones, for one annotator."""
    arabic = "هل قابلت واحدا منهم من قبل؟"
    served = serve(build(tmp_path, [PERSIAN], 3, ["ana"], extra=[("Nobody reads.", arabic)]))
    number = open_work(served.study)[0][1]
    page = windows.sit(served, "ana")
    expect(page.locator("#hs")).to_have_text(PERSIAN)
    assert page.locator("#hs").get_attribute("dir") == direction_of(page.locator("#hs")) == "rtl"
    assert page.locator("#hs").get_attribute("lang") == "fa"
    assert direction_of(page.locator("#pair")) == "ltr"
    places = [box(button)["x"] for button in page.locator(".answers button").all()]
    assert places == sorted(places)
    assert len(set(places)) == 3
    found = {}
    for _ in range(4):
        acts.await_pair(page)
        direction = direction_of(page.locator("#cn"))
        ((_, cn, _),) = acts.answer(page, "appropriate")
        found[cn] = direction
    expect(page).to_have_url(re.compile("/thanks$"))
    assert found.pop(arabic) == "rtl"
    assert list(found.values()) == ["ltr"] * 3
    lead = windows.show(served, "lea", f"/lead/pair/{number}")
    assert direction_of(lead.locator(".words", has_text=PERSIAN)) == "rtl"

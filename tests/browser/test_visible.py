"""On a phone all that is judged is seen at once; what is too long for that scrolls by itself, and says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect
from steps.small import labels_of, record

from browser.axe import IS_WIDER
from browser.hosts import Host
from browser.shown import Shown
from browser.sitting import answer, await_pair, await_sent
from browser.test_connection import CUT
from browser.windows import PHONE, Windows
from fcpair.grid import AdjudicationQueue
from fcpair.study import Study
from fcpair.work_records import DecisionRequest

SMALL = {"width": 320, "height": 568}
LANDSCAPE = {"width": 667, "height": 375}
TOUCH: dict[str, Any] = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}
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
PERSIAN = ("کسانی که چای را با قند می‌خورند هیچ‌وقت طعم واقعی چای را نمی‌فهمند. " * 2, "هل قابلت واحدا منهم من قبل؟ " * 5)
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
Sit = Callable[..., Page]


@pytest.fixture
def sit(host: Callable[..., Host], files: dict[str, Path], windows: Windows) -> Sit:
    """Somebody at their page on a phone, with these two texts before them."""

    def sit(who: str, size: dict[str, int], texts: tuple[str, str], **options: Any) -> Page:
        path, stage, _ = JUDGED[who]
        served = host(files[stage])
        page = windows.open(served.url, served.token(who), viewport=size, **{**TOUCH, **options})
        page.goto(path)
        await_pair(page)
        page.evaluate(PUT, texts)
        return page

    return sit


@pytest.fixture
def look(shown: Shown, files: dict[str, Path]) -> Sit:
    """Look at the same page as others do, with these two texts, on a phone of this size."""

    def look(who: str, size: dict[str, int], texts: tuple[str, str]) -> Page:
        path, stage, _ = JUDGED[who]
        page = shown.page(shown.host(files[stage]), who, size=size, **TOUCH)
        page.goto(path)
        await_pair(page)
        page.evaluate(PUT, texts)
        return page

    return look


def seen(page: Page, who: str) -> dict[str, bool]:
    """Which parts of what somebody judges are wholly visible as the page is now."""
    return {part: page.evaluate(WHOLE, part) for part in JUDGED[who][2]}


@pytest.mark.parametrize("who", JUDGED)
@pytest.mark.parametrize(
    ("size", "texts"), [(PHONE, MIDDLING), (PHONE, LONG), (SMALL, MIDDLING)], ids=["middling", "long", "small"]
)
def test_all_that_is_judged_is_seen_at_once(look: Sit, who: str, size: dict[str, int], texts: tuple[str, str]) -> None:
    page = look(who, size, texts)
    assert all(seen(page, who).values()), seen(page, who)
    assert page.locator("[data-more]").count() == 0
    for button in page.locator(ANSWERS).all():
        expect(button).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("who", JUDGED)
@pytest.mark.parametrize("size", [PHONE, SMALL], ids=["375", "320"])
def test_what_is_too_long_scrolls_by_itself_and_says_so(look: Sit, who: str, size: dict[str, int]) -> None:
    page = look(who, size, ENDLESS)
    expect(page.locator(".text[data-more]")).to_have_count(2)
    assert not page.evaluate(IS_WIDER)
    for button in page.locator(ANSWERS).all():
        expect(button).to_be_in_viewport(ratio=1)
    for part in ("#hs", "#cn"):
        page.locator(part).evaluate("(text) => text.scrollTo(0, text.scrollHeight)")
    expect(page.locator("[data-more]")).to_have_count(0)
    assert page.evaluate("scrollY") == 0


def test_a_long_text_can_be_scrolled_by_the_keyboard(look: Sit) -> None:
    page = look("ana", PHONE, ENDLESS)
    expect(page.locator(".text[data-more]")).to_have_count(2)
    page.locator("#cn").focus()
    page.keyboard.press("End")
    expect(page.locator(".text[data-more]")).to_have_count(1)


def test_the_next_text_begins_at_its_beginning(sit: Sit) -> None:
    page = sit("ana", PHONE, ENDLESS)
    expect(page.locator(".text[data-more]")).to_have_count(2)
    page.locator("#cn").evaluate("(text) => text.scrollTo(0, text.scrollHeight)")
    page.wait_for_timeout(300)
    page.locator("[data-answer=skip]").tap()
    expect(page.locator("[data-more]")).to_have_count(0)
    assert page.locator("#cn").evaluate("(text) => text.scrollTop") == 0


@pytest.mark.parametrize("who", JUDGED)
@pytest.mark.parametrize("size", [PHONE, SMALL, LANDSCAPE], ids=["375", "320", "landscape"])
def test_answers_are_of_one_size(look: Sit, who: str, size: dict[str, int]) -> None:
    page = look(who, size, MIDDLING)
    boxes = [box for one in page.locator(ANSWERS).all() if (box := one.bounding_box())]
    for edge in ("width", "height"):
        assert max(box[edge] for box in boxes) - min(box[edge] for box in boxes) < 1
    assert min(box["height"] for box in boxes) >= 44
    small = [box for one in page.locator(".steps button").all() if (box := one.bounding_box())]
    assert all(min(box["width"], box["height"]) >= 24 for box in small)


def test_texts_from_right_to_left_fit_as_well(look: Sit) -> None:
    page = look("ana", SMALL, PERSIAN)
    assert all(seen(page, "ana").values())
    assert not page.evaluate(IS_WIDER)


@pytest.mark.parametrize("who", JUDGED)
@pytest.mark.parametrize("size", [PHONE, SMALL, LANDSCAPE, {"width": 640, "height": 400}])
def test_letters_of_twice_the_size_cover_nothing(look: Sit, who: str, size: dict[str, int]) -> None:
    page = look(who, size, LONG)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert not page.evaluate(IS_WIDER)
    for part in ("#hs", "#cn", ".answers", ".steps"):
        page.locator(part).first.scroll_into_view_if_needed()
        expect(page.locator(part).first).to_be_in_viewport(ratio=0.9 if size["height"] > 600 else 0.3)
    assert not page.evaluate(OVERLAP)


def test_the_note_is_unfolded_by_its_key_and_stays_open_on_a_note(sit: Sit) -> None:
    page = sit("ana", PHONE, MIDDLING)
    expect(page.locator("#note")).to_be_hidden()
    page.keyboard.press("n")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("Which owls?")
    page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    page.keyboard.press("1")
    expect(page.locator("#note")).to_be_hidden()
    page.keyboard.press("u")
    expect(page.locator("#note")).to_have_value("Which owls?")
    expect(page.locator("#note")).to_be_visible()


def test_the_note_is_open_where_there_is_room(sit: Sit) -> None:
    page = sit("ana", {"width": 1280, "height": 800}, MIDDLING, is_mobile=False)
    expect(page.locator("#note")).to_be_visible()
    expect(page.get_by_text("Note", exact=True)).to_be_hidden()


SCREENS = [
    {"width": 320, "height": 568},
    PHONE,
    {"width": 600, "height": 800},
    {"width": 640, "height": 360},
]
MEETS = """([one, other]) => {
  const lines = (selector) => {
    const element = document.querySelector(selector), range = document.createRange();
    range.selectNodeContents(element);
    return element.matches("button") ? [element.getBoundingClientRect()] : [...range.getClientRects()];
  };
  return lines(one).some((a) => lines(other).some((b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
}"""


def look_again(study: Study, folder: Path) -> None:
    """judy decides a pair, and then its labels change, so that it waits for a second look."""
    grid = study.grid()
    judy = next(one.id for one in study.people if one.name == "judy")
    case = AdjudicationQueue(grid).next(judy)
    assert case is not None
    AdjudicationQueue(grid).decide(judy, DecisionRequest("request-first", case.cell_id, "not_appropriate"))
    labels = [(who, pair, "not_sure") for pair, who in labels_of(study, case.cell_id)]
    record(study, folder, [(*labels[0][:2], "appropriate"), *labels[1:]], supersede=True)


def assert_answers_are_seen(page: Page) -> None:
    for part in (*page.locator(ANSWERS).all(), page.locator("#desk :is(.act, #docket) > .steps")):
        expect(part).to_be_in_viewport(ratio=0.99)
    assert page.evaluate("scrollY") == 0


def test_the_name_of_a_pair_lies_over_no_button(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["labelled"])
    token = served.token("judy")
    served.study.access.set_blurred(next(one.id for one in served.study.people if one.name == "judy"), True)
    page = windows.open(served.url, token, **TOUCH)
    for size in SCREENS:
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        page.goto("/adjudicate")
        expect(page.locator("#reveal")).to_be_in_viewport(ratio=1)
        expect(page.locator("#case-name")).to_be_in_viewport(ratio=1)
        for other in ("#reveal", "#hs-name"):
            assert not page.evaluate(MEETS, ["#case-name", other]), (size, other)


def test_a_second_look_leaves_the_decisions_on_the_first_screen(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, tmp_path: Path
) -> None:
    served = host(files["labelled"])
    token = served.token("judy")
    look_again(served.study, tmp_path)
    page = windows.open(served.url, token, **TOUCH)
    for size in SCREENS:
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        page.goto("/adjudicate")
        expect(page.locator("#pair .notice")).to_contain_text("Its labels have changed since you decided")
        page.evaluate(PUT, MIDDLING)
        assert_answers_are_seen(page)
        assert not page.evaluate(MEETS, ["#case-name", "#pair .notice p"]), size


@pytest.mark.parametrize("size", one_short(*SCREENS), ids=str)
def test_undo_and_a_banner_leave_the_answers_on_the_first_screen(sit: Sit, size: dict[str, int]) -> None:
    page = sit("vera", size, MIDDLING, forgive=CUT)
    answer(page, "agree")
    await_sent(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_be_visible()
    page.evaluate(PUT, MIDDLING)
    assert_answers_are_seen(page)
    page.context.set_offline(True)
    answer(page, "disagree")
    expect(page.locator("#banner-text")).to_have_text("Not sent yet: 1 answer is kept in this page.")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("disagree")
    page.evaluate(PUT, MIDDLING)
    assert_answers_are_seen(page)
    page.context.set_offline(False)

"""The desk asks any form: several labels, a scale for all cells of a row, a text, an edit; and keeps what was begun."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from steps import forms
from steps.online import admit, give
from steps.scales import rated
from steps.test_localising import ROWS, localised
from steps.writing import REPLIES, checked, dealt

from browser import acts
from browser.axe import violations
from browser.hosts import Host, Serve, query
from browser.layout import IS_WIDER
from browser.windows import CUT, Windows
from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.stages.answers.curation import characters_changed, words_changed
from fcpair.stages.questions import n_words, parse_question
from fcpair.study import Study

TEXT = "Most of them pay for the road like anybody else."
PERSIAN = "من هر روز چای را بی‌قند می‌خورم و راضی هستم."
SMALL = {"width": 360, "height": 640}
CURATE = "text: curate(off_topic,rude,min_words=4)"
DRAFTS = "() => Object.keys(localStorage).filter((key) => key.startsWith('fcpair-draft')).length"
VALUES = "(all) => all.map((one) => one.value)"
NOT_SENT = "Not sent yet: 1 answer is kept"
HALVES, WHOLE = "warmth: scale(1,5,0.5)", "warmth: scale(1,5,1)"
SCALES = ("scale(1,5,0.5)", "scale(0,10,1)", "scale(-2,2,0.5)", "scale(0,1,0.25)", "scale(-3,3,1)", "scale(0,100,10)")
TYPED = {"3": 3, "3.5": 3.5, "3.": 3.5, "35": 5, "3,5": 3.5, "5": 5}
ASK = """async (asked) => {
  const { ask } = await import("/static/questions.js");
  const question = ask(asked, { id: "tried", labelledby: "", row: {}, column: {}, original: null });
  document.getElementById("form").replaceChildren(question.element);
  document.getElementById("answers").replaceChildren();
  question.hearKeys?.(true);
  window.tried = question;
}"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of all forms, and two who rate on one screen a cell, and one who writes after a question."""
    made = forms.build(tmp_path_factory.mktemp("forms"))
    with closing(Study(made)) as study:
        study.add_people(["hal", "whit"], Role.RATER)
        study.add_people(["gwen"], Role.WRITER)
        study.add_people(["bea"], Role.RATER)
        forms.add_grid(study, "choose", ("A. One.\n\nB. Two.",))
        forms.add_round(study, "choose", "choose", "bea", "best: one_of(A,B,C); worst: one_of(A,B,C) unlike best")
        for who, form in (("hal", HALVES), ("whit", WHOLE)):
            forms.add_grid(study, who, ("warmth",), [f"Statement {at} is mild." for at in TYPED])
            forms.add_round(study, who, "rate", who, form)
        forms.add_round(study, "write", "gated", "gwen", forms.GATED)
    return made


@pytest.fixture
def served(path: Path, serve: Serve) -> Host:
    return serve(path)


@pytest.fixture
def sit(served: Host, windows: Windows) -> Callable[..., Page]:
    """Seats somebody at their desk."""
    return lambda who, **options: windows.sit(served, who, **options)


@pytest.fixture
def curating(served: Host) -> Host:
    """Wren has written on two cells, which is given to cleo, too."""
    wren = admit(served.study, "wren")
    for _ in range(2):
        give(served.study.work_queue(Annotate()), wren, {"text": TEXT, "types": []})
    served.study.add_people(["cleo"], Role.ANNOTATOR)
    forms.add_round(served.study, "write", "sift", "cleo", CURATE, edits="write")
    return served


def texts(served: Host) -> list[str]:
    """What was written in the study."""
    rows = query(served.study.place, "SELECT body FROM text JOIN answer ON answer.text_id = text.id ORDER BY answer.id")
    return [body for (body,) in rows]


# Labels and numbers


def test_several_labels_are_chosen_by_keys_sent_by_enter_and_changed_by_going_back(
    served: Host, sit: Callable[..., Page]
) -> None:
    page = sit("rob")
    expect(page.get_by_role("group", name="types")).to_contain_text("Choose 1 to 2.")
    acts.type_keys(page, "132")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Please choose at most 2; 3 are chosen.")
    page.keyboard.press("3")
    expect(page.locator("#form :checked")).to_have_count(2)
    page.keyboard.press("Enter")
    acts.await_sent(page)
    assert served.answers == [(1, {"types": ["facts", "humour"]})]
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(page.locator("#form :checked")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_contain_text("Your answer on this pair: as it is below.")
    expect(page.get_by_role("checkbox", name="facts")).to_be_checked()
    acts.press(page, "2")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#earlier")).to_be_hidden()
    acts.await_sent(page)
    assert served.answers[1:] == [(1, {"types": ["facts", "question"]})]
    page.locator("#blur-choice").check()
    page.locator("#hs-name").click()
    acts.press(page, "1", "Enter")  # which shows what is hidden before it is answered
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "false")
    acts.save_by_enter(page)
    assert served.answers[2:] == [(2, {"types": ["facts"]})]
    assert served.study.work_queue(Annotate()).progress(admit(served.study, "rob")).done == 2


def test_a_row_is_rated_by_keys_on_one_screen_and_saved_cell_by_cell(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("rae")
    expect(page.locator("#hs")).to_have_text(forms.ROWS[0])
    expect(page.locator("#form legend")).to_have_text(["fluent", "specific", "respectful"])
    acts.type_keys(page, "51.")
    page.get_by_role("group", name="respectful").get_by_text("3.5", exact=True).click()
    acts.save(page)
    assert served.answers == [(1, {"rating": 5}), (2, {"rating": 1.5}), (3, {"rating": 3.5})]
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(page.locator("#count")).to_have_text("3 answered, 6 open")
    page.keyboard.press("u")
    expect(page.locator("#hs")).to_have_text(forms.ROWS[0])
    expect(page.locator("#form :checked")).to_have_count(3)
    acts.reload(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_be_visible()
    assert page.locator("#form :checked").evaluate_all(VALUES) == ["5", "1.5", "3.5"]
    page.get_by_role("group", name="specific").get_by_text("4.5", exact=True).click()
    acts.rest(page)
    acts.save(page)
    assert served.answers[3:] == [(2, {"rating": 4.5})]
    expect(page.locator("#earlier")).to_be_hidden()
    page.wait_for_timeout(300)
    page.keyboard.press("1")  # a gap is not saved, and named
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="specific").get_by_role("alert")).to_have_text("An answer is missing here.")
    page.get_by_role("group", name="specific").get_by_text("skip").click()
    expect(page.get_by_role("alert")).to_have_count(1)  # of the last cell
    page.keyboard.press("4")
    acts.save(page)
    assert served.answers[4:] == [(4, {"rating": 1}), (5, None), (6, {"rating": 4})]
    page.keyboard.press("s")
    expect(page).to_have_url("/thanks")
    assert served.answers[7:] == [(7, None), (8, None), (9, None)]


def test_a_long_scale_is_a_field(served: Host, sit: Callable[..., Page]) -> None:
    served.study.add_people(["ruth"], Role.RATER)
    forms.add_grid(served.study, "long", ("warmth",), forms.ROWS[:1])
    forms.add_round(served.study, "long", "long", "ruth", "warmth: scale(0,100,0.5)")
    page = sit("ruth")
    field = page.get_by_role("spinbutton", name="warmth")
    field.fill("101")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Expected a number from 0 to 100 by 0.5.")
    field.fill("99.5")
    field.press("Enter")
    expect(page).to_have_url("/thanks")
    assert served.answers == [(1, {"warmth": 99.5})]


def test_every_number_is_typed_as_the_page_says(sit: Callable[..., Page]) -> None:
    page = sit("rae")
    for printed in SCALES:
        asked = parse_question(printed).as_json()
        for name, keys in zip(asked["choices"], asked["keys"], strict=True):
            for way in keys:
                page.evaluate(ASK, {"name": "tried", **asked})
                acts.type_keys(page, way)
                assert page.evaluate("window.tried.value") == float(name), (printed, way)


def test_a_half_can_follow_before_a_number_is_stored_but_a_digit_answers_at_once_where_nothing_can(
    served: Host, sit: Callable[..., Page]
) -> None:
    page = sit("hal")
    expect(page.locator("#answers .hint")).to_have_text("Type the number; Enter answers with it.")
    expect(page.locator('[data-answer="3.5"] kbd')).to_have_text("3.")
    assert violations(page) == []
    for at, (keys, number) in enumerate(TYPED.items(), start=1):
        acts.type_keys(page, keys)
        expect(page.locator(f'[data-answer="{number}"]')).to_be_focused()
        assert len(served.answers) == at - 1
        acts.save_by_enter(page)
        assert served.answers[at - 1 :] == [(at, {"warmth": number})]
    page = sit("whit")
    page.keyboard.press("5")
    acts.await_sent(page)
    assert served.answers[-1] == (1, {"warmth": 5})
    page = sit("rae")
    acts.type_keys(page, "3.42.5")
    acts.save_by_enter(page)
    assert served.answers[-3:] == [(1, {"rating": 3.5}), (2, {"rating": 4}), (3, {"rating": 2.5})]


def test_who_decides_types_a_half(tmp_path: Path, serve: Serve, windows: Windows) -> None:
    with closing(rated(tmp_path)) as study:
        study.add_people(["judy"], Role.ADJUDICATOR)
    served = serve(tmp_path / "study.db")
    page = windows.sit(served, "judy", "/adjudicate")
    case = page.locator("#case-name")
    first = case.inner_text()
    acts.type_keys(page, "3.")
    expect(case).to_have_text(first)
    page.keyboard.press("Enter")
    expect(case).not_to_have_text(first)
    acts.await_sent(page)
    (decided,) = AdjudicationQueue(served.study.grid()).decisions()
    assert decided.outcome == "3.5"


# A text


def test_words_are_counted_as_the_server_does_and_a_text_is_saved_from_the_keyboard(
    served: Host, sit: Callable[..., Page]
) -> None:
    page = sit("wren")
    acts.box(page).fill("Too few words.")
    expect(page.locator(".count")).to_have_text("3 words · 3 more needed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_have_text("3 more words are needed: at least 6.")
    expect(acts.box(page)).to_be_focused()
    expect(acts.box(page)).to_have_attribute("aria-invalid", "true")
    for text in (PERSIAN, TEXT, "\u00a0one\u2028two\ufeffthree\u200cfour  five", ""):
        acts.box(page).fill(text)
        expect(page.locator(".count")).to_contain_text(f"{n_words(text)} word")
    assert served.answers == []
    acts.tab_to(page, "#form textarea")
    page.keyboard.type(TEXT)
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    acts.tab_to(page, "#save")
    page.keyboard.press("Enter")
    acts.await_sent(page)
    assert served.answers == [(1, {"text": TEXT, "types": ["humour"]})]
    assert texts(served) == [TEXT]
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(acts.box(page)).to_have_attribute("dir", "rtl")
    acts.rest(page)
    acts.box(page).fill(PERSIAN)
    acts.box(page).press("Control+Enter")
    acts.await_sent(page)
    assert texts(served) == [TEXT, PERSIAN]


def test_what_is_begun_survives_a_reload_and_a_refusal_and_goes_when_it_is_saved_or_one_leaves(
    served: Host, sit: Callable[..., Page]
) -> None:
    page = sit("wren", forgive=("status of 422",))
    acts.box(page).fill(TEXT)
    page.get_by_text("facts").last.click()
    page.keyboard.press("n")
    page.keyboard.type("a note")
    acts.reload(page)
    expect(acts.box(page)).to_have_value(TEXT)
    context = page.context
    page.close()
    page = context.new_page()
    acts.enter(page)
    acts.rest(page)
    acts.refuse(page, "the text is about something else")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#banner-text")).to_have_text("The text is about something else.")
    acts.reload(page)
    expect(page.locator("#hs")).to_have_text(forms.ROWS[0])
    expect(acts.box(page)).to_have_value(TEXT)
    expect(page.get_by_role("checkbox", name="facts")).to_be_checked()
    expect(page.locator("#note")).to_have_value("a note")
    acts.rest(page)
    acts.save(page)
    assert served.answers == [(1, {"text": TEXT, "types": ["facts"]})]
    expect(acts.box(page)).to_have_value("")
    assert page.evaluate(DRAFTS) == 0
    acts.box(page).fill(TEXT)
    asked = page.get_by_role("dialog", name="Leave now?")
    page.get_by_role("button", name="Leave").click()
    expect(asked).to_contain_text("What you have begun and not saved will be deleted.")
    asked.get_by_role("button", name="Stay").click()
    expect(asked).to_be_hidden()
    assert page.evaluate(DRAFTS) == 1
    page.get_by_role("button", name="Leave").click()
    page.keyboard.press("l")
    page.wait_for_url("**/join")
    assert page.evaluate(DRAFTS) == 0


def test_a_text_is_begun_reloaded_and_saved_without_a_connection(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("wren", forgive=CUT)
    acts.await_kept(page)
    acts.offline(page)
    acts.box(page).fill(TEXT)
    acts.reload(page)
    expect(acts.box(page)).to_have_value(TEXT)
    acts.rest(page)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#banner-text")).to_contain_text(NOT_SENT)
    acts.box(page).fill(PERSIAN)
    acts.reload(page)
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(acts.box(page)).to_have_value(PERSIAN)
    acts.offline(page, cut=False)
    acts.await_sent(page)
    assert served.answers == [(1, {"text": TEXT, "types": []})]
    expect(acts.box(page)).to_have_value(PERSIAN)


def test_the_best_is_not_taken_as_the_worst_before_it_is_sent(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("bea")
    worst = page.get_by_role("group", name="worst")
    page.keyboard.press("2")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(worst.get_by_role("alert")).to_have_text("Please choose another answer than above.")
    assert served.answers == []
    page.keyboard.press("1")
    expect(worst.locator(".problem")).to_be_empty()
    acts.save_by_enter(page)
    assert served.answers == [(1, {"best": "B", "worst": "A"})]


def test_a_text_that_is_asked_for_where_it_is_called_for_is_not_put_away_by_a_key(
    served: Host, sit: Callable[..., Page]
) -> None:
    page = sit("gwen")

    def write() -> None:
        """Say that it is unkind, and write the text that is asked for then."""
        expect(acts.box(page)).to_be_hidden()
        page.keyboard.press("1")
        acts.box(page).fill(TEXT)
        page.keyboard.press("Escape")

    write()
    page.keyboard.press("2")  # which belongs to what follows the text
    expect(page.get_by_role("radio", name="yes")).to_be_checked()
    expect(acts.box(page)).to_have_value(TEXT)
    expect(page.get_by_role("checkbox", name="facts")).to_be_disabled()
    expect(page.locator(".option", has_text="facts").locator("kbd")).to_have_count(0)
    acts.save_by_enter(page)
    assert served.answers == [(1, {"unkind": "yes", "text": TEXT, "types": ["facts", "humour"]})]
    write()
    acts.tab_to(page, "#form input[value=yes]")
    page.keyboard.press("2")
    dialog = page.get_by_role("dialog", name="What you wrote")
    expect(dialog).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Enter")  # pressed without a look, as to save: the text stays
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("radio", name="yes")).to_be_checked()
    expect(acts.box(page)).to_have_value(TEXT)
    page.get_by_role("group", name="unkind").get_by_text("no", exact=True).click()
    page.keyboard.press("d")
    expect(acts.box(page)).to_be_hidden()
    expect(page.get_by_role("radio", name="no")).to_be_checked()
    acts.save_by_enter(page)
    assert served.answers[1:] == [(3, {"unkind": "no", "text": None, "types": None})]
    write()
    acts.type_keys(page, "sk")
    expect(acts.box(page)).to_have_value(TEXT)
    assert len(served.answers) == 2
    acts.type_keys(page, "sd")
    acts.await_sent(page)
    assert served.answers[2:] == [(5, None)]


def test_what_the_server_says_of_a_text_is_shown_beside_it_on_a_phone(
    serve: Serve, windows: Windows, tmp_path: Path
) -> None:
    german = "Warum sollte das denn ein Problem für irgendjemanden sein?"
    wordy = "My neighbour likes the the rain, and I like it too."
    with closing(dealt(tmp_path, checked(grammar="harper"), writer=3)) as study:
        served = serve(Path(study.place))
    page = windows.sit(served, "writer1", viewport=SMALL)
    page.keyboard.press("1")
    own = page.get_by_role("checkbox", name=page.locator("#cn").inner_text())
    expect(own).to_be_checked()
    expect(own).to_be_disabled()
    acts.box(page).fill(german)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="another language")).to_be_visible()
    expect(acts.box(page)).to_be_focused()
    assert violations(page) == []
    assert not page.evaluate(IS_WIDER)
    assert served.answers == []
    assert served.study.grid("write").refusals("write")["rule"].tolist() == ["language"]
    acts.reload(page)
    expect(acts.box(page)).to_have_value(german)
    acts.box(page).fill(REPLIES[1])
    acts.rest(page)
    given = page.locator("#cn").inner_text()
    acts.save(page)
    assert [answer for _, answer in served.answers] == [{"unkind": "yes", "text": REPLIES[1], "also": [given]}]
    page.keyboard.press("1")
    acts.box(page).fill(wordy)
    expect(page.locator(".remarks li").first).to_be_visible()  # which refuse nothing
    acts.save(page)
    assert len(served.study.grid("write").refusals("write")) == 1
    assert served.answers[1][1]["text"] == wordy


# An edit


def test_an_edit_begins_with_the_original_which_stays_in_sight(curating: Host, sit: Callable[..., Page]) -> None:
    page = sit("ana")
    original = page.get_by_role("region", name="As it was given")
    expect(original).to_contain_text(TEXT)
    expect(acts.box(page)).to_have_value(TEXT)
    expect(page.locator(".count")).to_contain_text("unchanged, which is an answer too")
    acts.save(page)
    acts.box(page).fill("Most of them pay for it.")
    expect(page.locator(".count")).to_have_text("6 words")
    expect(original).to_contain_text(TEXT)
    acts.save(page)
    assert [answer for _, answer in curating.answers[2:]] == [{"text": TEXT}, {"text": "Most of them pay for it."}]
    expect(page).to_have_url("/thanks")


def test_a_text_is_accepted_edited_and_rejected_from_the_keyboard(curating: Host, sit: Callable[..., Page]) -> None:
    page = sit("cleo")
    expect(page.get_by_role("region", name="As it was given")).to_contain_text(TEXT)
    expect(acts.box(page)).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("An answer is missing here.")
    page.keyboard.press("2")
    acts.tab_to(page, "#form textarea")
    edited = "Many of them pay for the road like anybody else, I think."
    page.keyboard.press("Control+a")
    page.keyboard.type(edited)
    changes = page.get_by_role("region", name="What you changed")
    said = f"{words_changed(TEXT, edited)} words and {characters_changed(TEXT, edited)} characters changed"
    expect(changes).to_contain_text(said)
    expect(changes.locator("del")).to_have_text(["removed: Most", "removed: else."])
    expect(changes.locator("ins")).to_have_text(["added: Many", "added: else, I think."])
    acts.reload(page)
    acts.rest(page)
    for key in "13":  # the page asks whether the edit is to be dropped
        page.keyboard.press(key)
        page.keyboard.press("k")
        expect(page.get_by_role("radio", name="Edit")).to_be_checked()
        expect(acts.box(page)).to_have_value(edited)
    acts.type_keys(page, "3d")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Please choose a reason.")
    acts.reload(page)
    expect(page.get_by_role("radio", name="Reject")).to_be_checked()
    page.keyboard.press("2")
    acts.save_by_enter(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page).to_have_url("/thanks")
    assert [answer for _, answer in curating.answers[2:]] == [{"text": {"reject": "rude"}}, {"text": TEXT}]
    assert curating.study.grid("write").answers("sift")["act"].tolist() == ["rejected", "accepted"]


def test_a_row_that_is_edited_is_shown_once_with_what_was_translated(
    tmp_path: Path, serve: Serve, windows: Windows
) -> None:
    served = serve(Path(localised(tmp_path).place))
    page = windows.sit(served, "wren")
    row, (first, *_) = page.locator("#hs").inner_text(), ROWS
    before = page.get_by_role("region", name="Before translation")
    expect(acts.box(page)).to_have_value(row)
    expect(acts.box(page)).to_have_attribute("dir", "rtl")
    expect(page.get_by_role("region", name="As it was given")).to_have_count(0)
    for _ in range(len(ROWS)):
        if page.locator("#hs").inner_text() == first["machine"]:
            expect(before.locator("p")).to_have_text(first["english"])
            expect(before.locator("p")).to_have_attribute("lang", "en")
            expect(before.locator("p")).to_have_attribute("dir", "ltr")
            assert violations(page) == []
        acts.save(page)
    expect(page).to_have_url("/thanks")
    assert sorted(answer["text"] for _, answer in served.answers) == sorted(one["machine"] for one in ROWS)


# How it looks


def assert_fits(page: Page) -> None:
    """Nothing beside the window, all that is pressed large enough for a finger, and nothing that axe-core finds."""
    assert not page.evaluate(IS_WIDER)
    for option in page.locator(".option:visible, #save").all():
        place = option.bounding_box()
        assert place
        assert min(place["width"], place["height"]) >= 44
        assert place["x"] + place["width"] <= SMALL["width"]
    assert violations(page) == []
    page.set_viewport_size({"width": SMALL["width"], "height": SMALL["height"]})


def test_every_form_fits_a_phone_of_360_px_and_axe_finds_nothing(curating: Host, sit: Callable[..., Page]) -> None:
    touch: dict[str, Any] = {"viewport": SMALL, "has_touch": True, "is_mobile": True}
    for who in ("rob", "rae", "wren", "ana"):
        page = sit(who, **touch)
        assert_fits(page)
        page.get_by_role("button", name="Save").click()
        assert violations(page) == []
    page = sit("cleo", **touch)
    for act in ("Accept", "Reject", "Edit"):
        page.get_by_text(act, exact=True).click()
        if act == "Edit":
            acts.box(page).fill(PERSIAN)
            changed = page.get_by_role("region", name="What you changed").locator("p").first
            expect(changed).to_have_attribute("dir", "rtl")
        assert_fits(page)


def test_markup_in_columns_choices_and_originals_is_text(served: Host, sit: Callable[..., Page]) -> None:
    odd = "<img src=x onerror='window.ran = 1'>"
    forms.add_grid(served.study, "odd", (odd,))
    forms.add_round(served.study, "odd", "odd", "rob", f'kind: any_of("{odd}",b)', screen="row")
    page = sit("rob")
    for _ in forms.ROWS:
        acts.answer(page, "skip")
    expect(page.locator("#form legend")).to_contain_text(odd)
    expect(page.locator("#form .options")).to_contain_text(odd)
    assert page.evaluate("() => [window.ran, document.querySelectorAll('main img').length]") == [None, 0]

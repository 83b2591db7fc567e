"""What changes while somebody's page is open: the label that they check, their role, how their pairs are assigned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from steps.small import labels_of, record, standing

from browser import acts
from browser.hosts import TERMS, Host, Serve
from browser.windows import REFUSED, Windows
from fcpair.params import Validate
from fcpair.records import Role, Verdict
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.work_records import Submission

OUTDATED = (
    "The label of this pair has changed since you answered “%s”. That answer no longer counts; please answer again."
)
CHANGED = "The label of this pair has changed since you saw it"
NOT_NEEDED = (
    "This pair is not assigned to you, or no longer is; somebody else has it now, and your answer was not needed."
)
PRESSED = "[data-answer][aria-pressed=true]"
LABELS, VERDICTS = ["not appropriate", "not sure", "appropriate"], ["agree", "disagree"]


@pytest.fixture
def served(serve: Serve) -> Host:
    """The small study, in which labels are being checked."""
    return serve("checking")


def sit(served: Host, windows: Windows) -> Page:
    return windows.sit(served, "vera", "/validate", forgive=("status of 422", r"Cache.add\(\) failed", *REFUSED))


def open_pairs(served: Host) -> list[int]:
    """The pairs that vera is to check, in the order in which she gets them."""
    return [task.cell_id for task in served.study.work_queue(TERMS).tasks(served.visitor("vera"), 50)]


def change_label(served: Host, cell_id: int, folder: Path) -> str:
    """Everybody who labelled a pair says something else now; the name of the new label."""
    _, code = standing(served.study)[cell_id]
    new = "appropriate" if code == 0 else "not_appropriate"
    record(served.study, folder, [(who, at, new) for at, who in labels_of(served.study, cell_id)], supersede=True)
    assert standing(served.study)[cell_id][1] == (2 if code == 0 else 0)
    return new


def verdicts(served: Host) -> dict[int, int]:
    with served.study._store.read() as tx:
        rows = judgements.current_verdicts(tx, "cell_id", "code")
    return dict(zip(rows["cell_id"].tolist(), rows["code"].tolist(), strict=True))


def undo_to(page: Page, expected: tuple[str, str, str]) -> None:
    page.keyboard.press("u")
    page.wait_for_function("(cn) => document.getElementById('cn').innerText === cn", arg=expected[1])


def assert_outdated(page: Page, said: str) -> None:
    expect(page.locator("#earlier")).to_have_text(OUTDATED % said, use_inner_text=True)


def test_undo_says_that_the_label_has_changed_and_presses_nothing_but_lets_a_skip_stand(
    served: Host, windows: Windows, tmp_path: Path
) -> None:
    page = sit(served, windows)
    skipped, first, second, *_ = open_pairs(served)
    given = acts.answer(page, "skip", "disagree", "agree")
    acts.await_sent(page)
    change_label(served, skipped, tmp_path)
    new = change_label(served, first, tmp_path)
    acts.reload(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_have_text(
        "Your answer on this pair: agree. A new answer replaces it.", use_inner_text=True
    )
    expect(page.locator(PRESSED)).to_have_attribute("data-answer", "agree")
    page.keyboard.press("u")
    assert_outdated(page, "disagree")
    assert acts.pair(page) == given[1][:2]
    expect(page.locator("#label")).to_have_text(new.replace("_", " "))
    expect(page.locator(PRESSED)).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("skip")
    expect(page.locator("#outdated")).to_be_hidden()
    page.keyboard.press("f")
    undo_to(page, given[2])
    undo_to(page, given[1])
    assert verdicts(served) == {second: Verdict.AGREE}
    acts.answer(page, "disagree")
    acts.await_sent(page)
    assert verdicts(served) == {first: Verdict.DISAGREE, second: Verdict.AGREE}
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("disagree")
    expect(page.locator("#outdated")).to_be_hidden()


def test_a_blind_answer_is_gone_back_to_blind_when_pairs_are_dealt_with_their_label_since(
    served: Host, windows: Windows
) -> None:
    served.study.grid().assign_validation(Validate(pairs=2, blind=True, seed=1), redo=True)
    page = sit(served, windows)
    blind = open_pairs(served)
    assert blind
    acts.answer(page, *["appropriate"] * len(blind))
    page.wait_for_url("**/thanks")
    desk = served.study.work_queue(TERMS)
    walt = served.visitor("walt")  # who answers the rest, so that no verdict is open
    while tasks := desk.tasks(walt):
        sent = Submission(f"walt-{tasks[0].cell_id}-pair", tasks[0].assignment_id, "appropriate")
        desk.submit(walt, replace(sent, decision_id=tasks[0].decision_id))
    served.study.grid().assign_validation(Validate(pairs=10, seed=1), more=True)
    page.goto(f"{served.url}/validate")
    acts.await_pair(page)
    expect(page.locator("#label-line")).to_be_visible()
    expect(page.locator("[data-answer]:visible")).to_have_count(3)
    acts.answer(page, "agree")
    acts.await_sent(page)
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("agree")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("appropriate")
    expect(page.locator("#label-line")).to_be_hidden()
    expect(page.locator("[data-answer]:visible")).to_have_count(4)
    expect(page.locator(PRESSED)).to_have_attribute("data-answer", "appropriate")
    acts.answer(page, "not_appropriate")
    acts.await_sent(page)
    expect(page.locator("#label-line")).to_be_visible()
    with served.study._store.read() as tx:
        own = judgements.current_answers(tx, rounds.validation(tx), "own_code")["own_code"].dropna()
    assert sorted(own) == sorted([0, *[2] * (len(own) - 1)])


def test_undo_leads_back_to_a_pair_whose_changed_answer_was_refused(
    served: Host, windows: Windows, tmp_path: Path
) -> None:
    page = sit(served, windows)
    pairs = open_pairs(served)
    given = acts.answer(page, "agree", "disagree", "agree")
    acts.await_sent(page)
    new = change_label(served, pairs[1], tmp_path)
    undo_to(page, given[2])
    undo_to(page, given[1])
    acts.answer(page, "agree")
    expect(page.locator("#banner-text")).to_contain_text(CHANGED)
    expect(page.locator("#earlier")).to_be_hidden()
    for back in given[::-1]:
        undo_to(page, back)
        assert acts.pair(page) == back[:2]
        if back == given[1]:
            assert_outdated(page, "disagree")
            expect(page.locator("#label")).to_have_text(new.replace("_", " "))
    page.keyboard.press("f")
    undo_to(page, given[2])
    page.keyboard.press("u")
    assert_outdated(page, "disagree")
    acts.answer(page, "disagree")
    acts.await_sent(page)
    assert verdicts(served) == {pairs[0]: Verdict.AGREE, pairs[1]: Verdict.DISAGREE, pairs[2]: Verdict.AGREE}


def test_unsent_answers_are_undone_without_a_connection_past_a_refused_one(
    served: Host, windows: Windows, tmp_path: Path
) -> None:
    page = sit(served, windows)
    pairs = open_pairs(served)
    given = acts.answer(page, "agree", "disagree")
    acts.await_sent(page)
    change_label(served, pairs[1], tmp_path)
    undo_to(page, given[1])
    acts.answer(page, "agree")
    expect(page.locator("#banner-text")).to_contain_text(CHANGED)
    acts.offline(page)
    given += acts.answer(page, "agree")
    for back in (given[2], given[0]):
        undo_to(page, back)
        assert acts.pair(page) == back[:2]
    page.context.set_offline(False)
    acts.await_sent(page)
    assert verdicts(served).keys() == {pairs[0], pairs[2]}


def offered(page: Page) -> list[str]:
    """The answers that can be given, but for a skip."""
    return [one.inner_text().split(maxsplit=1)[1] for one in page.locator(".answers button:visible").all()]


@pytest.mark.parametrize("blind", [True, False])
def test_pairs_that_are_dealt_anew_blind_or_not_are_asked_about_as_they_are_dealt(
    served: Host, windows: Windows, blind: bool
) -> None:
    served.study.grid().assign_validation(Validate(blind=not blind, seed=1), redo=True)
    page = sit(served, windows)
    before, now = (VERDICTS, LABELS) if blind else (LABELS, VERDICTS)
    assert offered(page) == before
    served.study.grid().assign_validation(Validate(blind=blind, seed=1), redo=True)
    acts.by_key(page, f'[data-answer="{"agree" if blind else "appropriate"}"]')
    expect(page.locator("#banner-text")).to_have_text(NOT_NEEDED)
    expect(page.locator(f".answers [data-answer={now[0].replace(' ', '_')}]")).to_be_visible()
    assert offered(page) == now
    page.locator("summary", has_text="Keys").click()
    assert page.locator("dl [data-of-form] dd").all_inner_texts() == now
    acts.answer(page, "appropriate" if blind else "agree")
    acts.await_sent(page)
    assert len(verdicts(served)) == 1


def test_who_has_another_role_by_now_is_told_and_led_there(served: Host, windows: Windows) -> None:
    page = sit(served, windows)
    served.study.hand_over("vera", None)
    served.study.change_role("vera", Role.ADJUDICATOR)
    acts.answer(page, "agree")
    banner = page.locator("#banner")
    expect(banner).to_contain_text("Your task has changed since this page was loaded, or somebody else has signed in")
    expect(banner).to_contain_text("One answer is kept in this browser")
    expect(banner).not_to_contain_text("not signed in")
    page.get_by_role("link", name="Go on").click()
    page.wait_for_url("**/adjudicate")

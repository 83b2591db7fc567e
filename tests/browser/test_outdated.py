"""A validator goes back to a verdict whose label has changed since: what counts is said, and asked for anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from steps.small import labels_of, record, standing

from browser.conftest import TERMS
from browser.hosts import Host
from browser.sitting import answer, await_pair, await_sent, enter, pair
from browser.test_connection import CUT
from browser.windows import Windows
from fcpair.params import Validate
from fcpair.records import Verdict
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.work_records import Submission

OUTDATED = (
    "The label of this pair has changed since you answered “%s”. That answer no longer counts; please answer again."
)
REFUSED = ("status of 409", *CUT)
PRESSED = "[data-answer][aria-pressed=true]"


@pytest.fixture
def served(host: Callable[..., Host], files: dict[str, Path]) -> Host:
    """The small study, in which labels are being checked."""
    return host(files["checking"])


def sit(served: Host, windows: Windows) -> Page:
    page = windows.open(served.url, served.token("vera"), forgive=REFUSED)
    page.on("dialog", lambda dialog: dialog.accept())
    enter(page, "/validate")
    return page


def open_pairs(served: Host) -> list[int]:
    """The pairs that vera is to check, in the order in which she gets them."""
    served.token("vera")
    vera = served.study.access.by_id(next(one.id for one in served.study.people if one.name == "vera"))
    assert vera is not None
    return [task.cell_id for task in served.study.work_queue(TERMS).tasks(vera, 50)]


def change_label(served: Host, cell_id: int, folder: Path) -> str:
    """Everybody who labelled a pair says something else now; the name of the new label."""
    _, code = standing(served.study)[cell_id]
    new = "appropriate" if code == 0 else "not_appropriate"
    record(served.study, folder, [(who, at, new) for at, who in labels_of(served.study, cell_id)], supersede=True)
    assert standing(served.study)[cell_id][1] == (2 if code == 0 else 0)
    return new


def verdicts(served: Host) -> dict[int, int]:
    """The verdicts that count, by pair."""
    with served.study._store.read() as tx:
        rows = judgements.current_verdicts(tx, "cell_id", "code")
    return dict(zip(rows["cell_id"].tolist(), rows["code"].tolist(), strict=True))


def give(page: Page, *answers: str) -> list[tuple[str, str]]:
    """Answer as many pairs; the texts of each."""
    given = []
    for name in answers:
        given.append(pair(page))
        answer(page, name)
    await_sent(page)
    return given


def undo_to(page: Page, expected: tuple[str, str]) -> None:
    page.keyboard.press("u")
    page.wait_for_function("(cn) => document.getElementById('cn').innerText === cn", arg=expected[1])


def test_undo_says_that_the_label_has_changed_and_presses_nothing(
    served: Host, windows: Windows, tmp_path: Path
) -> None:
    page = sit(served, windows)
    first, second, *_ = open_pairs(served)
    given = [pair(page)]
    answer(page, "disagree")
    given.append(pair(page))
    answer(page, "agree")
    await_sent(page)
    new = change_label(served, first, tmp_path)
    page.reload()
    await_pair(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_have_text(
        "Your answer on this pair: agree. A new answer replaces it.", use_inner_text=True
    )
    expect(page.locator(PRESSED)).to_have_attribute("data-answer", "agree")
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_have_text(OUTDATED % "disagree", use_inner_text=True)
    assert pair(page) == given[0]
    expect(page.locator("#label")).to_have_text(new.replace("_", " "))
    expect(page.locator(PRESSED)).to_have_count(0)
    assert verdicts(served) == {second: Verdict.AGREE}
    answer(page, "disagree")
    await_sent(page)
    assert verdicts(served) == {first: Verdict.DISAGREE, second: Verdict.AGREE}
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("disagree")
    expect(page.locator("#outdated")).to_be_hidden()


def test_in_a_blind_round_too_an_answer_that_does_not_count_is_asked_for_again(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, tmp_path: Path
) -> None:
    served = host(files["checking"])
    served.study.grid().assign_validation(Validate(blind=True, seed=1), redo=True)
    page = sit(served, windows)
    first = open_pairs(served)[0]
    answer(page, "appropriate")
    await_sent(page)
    assert verdicts(served).keys() == {first}
    change_label(served, first, tmp_path)
    assert verdicts(served) == {}
    page.reload()
    await_pair(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_have_text(OUTDATED % "appropriate", use_inner_text=True)
    expect(page.locator("#label-line")).to_be_hidden()
    expect(page.locator(PRESSED)).to_have_count(0)
    answer(page, "appropriate")
    await_sent(page)
    assert verdicts(served).keys() == {first}


def test_a_blind_answer_is_gone_back_to_blind_when_pairs_are_dealt_with_their_label_since(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["checking"])
    served.study.grid().assign_validation(Validate(pairs=2, blind=True, seed=1), redo=True)
    page = sit(served, windows)
    n_blind = len(open_pairs(served))
    assert n_blind
    for _ in range(n_blind):
        answer(page, "appropriate")
    page.wait_for_url("**/thanks")
    blind_to_others(served)
    served.study.grid().assign_validation(Validate(pairs=10, seed=1), more=True)
    page.goto(f"{served.url}/validate")
    await_pair(page)
    expect(page.locator("#label-line")).to_be_visible()
    expect(page.locator("[data-answer]:visible")).to_have_count(3)
    answer(page, "agree")
    await_sent(page)
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("agree")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("appropriate")
    expect(page.locator("#label-line")).to_be_hidden()
    expect(page.locator("[data-answer]:visible")).to_have_count(4)
    expect(page.locator(PRESSED)).to_have_attribute("data-answer", "appropriate")
    answer(page, "not_appropriate")
    await_sent(page)
    expect(page.locator("#label-line")).to_be_visible()
    with served.study._store.read() as tx:
        own = judgements.current_answers(tx, rounds.validation(tx), "own_code")["own_code"].dropna()
    assert sorted(own) == sorted([0, *[2] * (len(own) - 1)])


def blind_to_others(served: Host) -> None:
    """Answer what the other validator has, so that no verdict is open."""
    walt = served.study.access.by_token(served.token("walt"))
    assert walt is not None
    desk = served.study.work_queue(TERMS)
    while tasks := desk.tasks(walt):
        given = Submission(f"walt-{tasks[0].cell_id}-pair", tasks[0].assignment_id, "appropriate")
        desk.submit(walt, replace(given, decision_id=tasks[0].decision_id))


def test_a_skip_stands_whatever_the_label_is_by_now(served: Host, windows: Windows, tmp_path: Path) -> None:
    page = sit(served, windows)
    first = open_pairs(served)[0]
    answer(page, "skip")
    await_sent(page)
    change_label(served, first, tmp_path)
    page.reload()
    await_pair(page)
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("skip")
    expect(page.locator("#outdated")).to_be_hidden()


def test_undo_leads_back_to_a_pair_whose_changed_answer_was_refused(
    served: Host, windows: Windows, tmp_path: Path
) -> None:
    page = sit(served, windows)
    pairs = open_pairs(served)
    given = give(page, "agree", "disagree", "agree")
    new = change_label(served, pairs[1], tmp_path)
    undo_to(page, given[2])
    undo_to(page, given[1])
    answer(page, "agree")
    expect(page.locator("#banner-text")).to_contain_text("The label of this pair has changed since you saw it")
    expect(page.locator("#earlier")).to_be_hidden()
    seen = []
    for _ in given:
        shown = page.locator("#cn").inner_text()
        page.keyboard.press("u")
        page.wait_for_function("(cn) => document.getElementById('cn').innerText !== cn", arg=shown)
        seen.append(pair(page))
        if len(seen) == 2:
            expect(page.locator("#earlier")).to_have_text(OUTDATED % "disagree", use_inner_text=True)
            expect(page.locator("#label")).to_have_text(new.replace("_", " "))
    assert seen == given[::-1]
    page.keyboard.press("f")
    undo_to(page, given[2])
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_have_text(OUTDATED % "disagree", use_inner_text=True)
    answer(page, "disagree")
    await_sent(page)
    assert verdicts(served) == {pairs[0]: Verdict.AGREE, pairs[1]: Verdict.DISAGREE, pairs[2]: Verdict.AGREE}


def test_unsent_answers_are_undone_without_a_connection_past_a_refused_one(
    served: Host, windows: Windows, tmp_path: Path
) -> None:
    page = sit(served, windows)
    pairs = open_pairs(served)
    given = give(page, "agree", "disagree")
    change_label(served, pairs[1], tmp_path)
    undo_to(page, given[1])
    answer(page, "agree")
    expect(page.locator("#banner-text")).to_contain_text("The label of this pair has changed since you saw it")
    page.context.set_offline(True)
    given.append(pair(page))
    answer(page, "agree")
    for expected in (given[2], given[0]):
        undo_to(page, expected)
        assert pair(page) == expected
    page.context.set_offline(False)
    await_sent(page)
    assert verdicts(served).keys() == {pairs[0], pairs[2]}

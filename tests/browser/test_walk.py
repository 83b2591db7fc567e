"""A small study goes from its invite links to its tiers, all of it through the pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import one_short
from playwright.sync_api import Page, expect
from steps.small import open_work

from browser.hosts import Host
from browser.sitting import answer, await_pair, await_sent, by_key, by_mouse, consent, decide, pair
from browser.studies import ENGLISH, build
from browser.windows import Windows, come_in
from fcpair.cli import main
from fcpair.records import Role

NINE = ("ana", "ben", "cleo", "dora", "emil", "fay", "gus", "hana", "ivo")
VALIDATORS = ("vera", "walt")
NO, UNSURE, YES = "not_appropriate", "not_sure", "appropriate"
DISCARDED = "x"
HEIR = "whoever gets the pair that was skipped"
THANKS = re.compile("/thanks$")


@dataclass
class Plan:
    """What everybody is going to say, and what the tiers hold in the end; worked out without fcpair."""

    people: dict[int, list[str]]  # who labels each pair
    skipped: int = field(init=False)
    unsure: int = field(init=False)
    discarded: int = field(init=False)

    def __post_init__(self) -> None:
        self.skipped, self.unsure = sorted(pair for pair, people in self.people.items() if len(people) == 1)[:2]
        self.discarded = self.conflicts[-1]

    def label(self, pair: int, name: str) -> str:
        """What a person says: the truth, but for the second of a pair's people, who now and then differs.

        One pair is skipped by whom it was dealt to, and labelled by whoever gets it then; of one nobody is sure.
        """
        if pair == self.skipped and name in self.people[pair]:
            return "skip"
        if pair == self.unsure:
            return UNSURE
        truth, differs = (YES, NO) if pair % 3 == 0 else (NO, YES)
        is_second = name in self.people[pair][1:2]
        return {0: differs, 1: UNSURE}.get(pair % 4, truth) if is_second else truth

    def labels(self, pair: int) -> list[str]:
        """What is said of a pair in the end."""
        people = [HEIR] if pair == self.skipped else self.people[pair]
        return [self.label(pair, name) for name in people]

    @property
    def conflicts(self) -> list[int]:
        """Where people differ by more than somebody's not being sure."""
        definite = {pair: set(self.labels(pair)) - {UNSURE} for pair in self.people}
        return sorted(pair for pair, said in definite.items() if len(said) != 1)

    @property
    def final(self) -> dict[int, str]:
        """The adjudicator says yes to every conflict but one."""
        waits = set(self.conflicts)
        agreed = {pair: self.labels(pair)[0] for pair in self.people if pair not in waits}
        return agreed | dict.fromkeys(waits - {self.discarded}, YES)

    def verdict(self, pair: int) -> str:
        return "disagree" if pair % 7 == 0 else "agree"

    @property
    def tiers(self) -> dict[str, int]:
        """How many pairs each tier holds, best first."""
        silver = [pair for pair in self.final if self.verdict(pair) == "agree"]
        gold = [pair for pair in silver if len(self.labels(pair)) > 1]
        diamond = [pair for pair in gold if set(self.labels(pair)) == {self.final[pair]}]
        return {"diamond": len(diamond), "gold": len(gold), "silver": len(silver), "bronze": len(self.final)}


class Walk:
    """The study under way."""

    def __init__(self, served: Host, windows: Windows) -> None:
        self.served, self.windows = served, windows
        people: dict[int, list[str]] = {}
        for name, one in open_work(served.study):
            people.setdefault(one, []).append(name)
        self.plan = Plan({one: sorted(names) for one, names in people.items()})
        self.ids = {self._texts(one): one for one in people}

    def _texts(self, one: int) -> tuple[str, str]:
        told = self.served.study.grid().explain(one)
        return told.hs, told.cn

    def shown(self, page: Page) -> int:
        """The pair on the screen."""
        return self.ids[pair(page)]

    def label(self) -> None:
        """People come in by their links and take turns until nothing is left."""
        pages = {name: self._first_visit(name) for name in sorted({name for name, _ in open_work(self.served.study)})}
        while has_work := sorted({name for name, _ in open_work(self.served.study)}):
            for name in has_work:
                self._label_one(pages[name], name)
        for page in pages.values():
            expect(page).to_have_url(THANKS)
            page.context.close()

    def _label_one(self, page: Page, name: str) -> None:
        page.locator("#pair:visible, h1:has-text('Thank you')").first.wait_for()
        if THANKS.search(page.url):  # work that somebody else skipped has come since
            page.goto("/annotate")
        one = self.shown(page)
        answer(page, self.plan.label(one, name), by_mouse if one % 2 else by_key)
        await_sent(page)

    def _first_visit(self, name: str) -> Page:
        page = self.windows.open(self.served.url)
        token = invited(self.served, name) if name == NINE[0] else self.served.token(name, consent=False)
        come_in(page, token)
        consent(page)
        await_pair(page)
        return page

    def apply_the_policy(self, lead: Page) -> None:
        lead.goto("/lead/conflicts")
        lead.get_by_role("button", name="Apply the policy").click()
        expect(lead.locator("main").get_by_role("status")).to_contain_text("decided anew by the policy")

    def adjudicate(self) -> None:
        """Decide every conflict: yes, but for one."""
        page = self.windows.open(self.served.url, self.served.token("judy"))
        page.goto("/adjudicate")
        for left in range(len(self.plan.conflicts), 0, -1):
            expect(page.locator(".progress")).to_contain_text(f"{left} wait")
            one = int(page.locator("#case-name").inner_text().removeprefix("Pair "))
            assert sorted(page.locator("li strong").all_inner_texts()) == sorted(
                label.replace("_", " ") for label in self.plan.labels(one)
            )
            choice = f'[data-key="{DISCARDED}"]' if one == self.plan.discarded else f'[name=outcome][value="{YES}"]'
            decide(page, choice)
        expect(page.locator("#case-name")).to_have_text("Nothing is waiting for you")

    def deal_validation(self, lead: Page) -> None:
        lead.goto("/lead/conflicts")
        lead.get_by_role("button", name="Assign the pairs").click()
        expect(lead.locator("main").get_by_role("status")).to_contain_text("pairs were assigned to")

    def validate(self) -> None:
        """Both validators see the label that holds, and say whether it does."""
        assert {name for name, _ in open_work(self.served.study, checks=True)} == set(VALIDATORS)
        pages = {name: self.windows.open(self.served.url, self.served.token(name)) for name in VALIDATORS}
        for page in pages.values():
            page.goto("/validate")
        while has_work := {name for name, _ in open_work(self.served.study, checks=True)}:
            for name in sorted(has_work):
                self._check_one(pages[name])
        for page in pages.values():
            expect(page).to_have_url(THANKS)

    def _check_one(self, page: Page) -> None:
        one = self.shown(page)
        expect(page.locator("#label")).to_have_text(self.plan.final[one].replace("_", " "))
        answer(page, self.plan.verdict(one))
        await_sent(page)


def invited(served: Host, name: str) -> str:
    """The token of the link that the command line prints."""
    command = ["people", "invite", name, "--study", str(served.study.place), "--url", served.url]
    printed = CliRunner().invoke(main, command).stdout
    found = re.fullmatch(rf"{name}: {served.url}/join#(\S+)\n", printed)
    assert found, printed
    return found[1]


def shown_tiers(lead: Page) -> dict[str, int]:
    """The sizes of the tiers on the lead's page."""
    lead.goto("/lead")
    rows = lead.locator("#tiers table").first.locator("tbody tr").all()
    return {row.locator("th").inner_text().lower(): int(row.locator("td").first.inner_text()) for row in rows}


@pytest.mark.parametrize("shape", one_short((NINE[:3], 4), (NINE, 8)), ids=["three", "nine"])
def test_annotators_an_adjudicator_two_validators_and_a_lead(
    host: Callable[..., Host], tmp_path: Path, windows: Windows, shape: tuple[tuple[str, ...], int]
) -> None:
    people, n_cn = shape
    served = host(build(tmp_path, ENGLISH, n_cn, people, overlap={2: 0.3, 3: 0.3}))
    served.study.add_people(["walt"], Role.VALIDATOR)
    walk = Walk(served, windows)
    assert Counter(map(len, walk.plan.people.values())) == {1: 2 * n_cn, 2: 1.5 * n_cn, 3: 1.5 * n_cn}
    assert len(walk.plan.conflicts) > 3
    lead = windows.open(served.url, served.token("lea"))
    walk.label()
    walk.apply_the_policy(lead)
    walk.adjudicate()
    walk.deal_validation(lead)
    walk.validate()
    expected = walk.plan.tiers
    assert list(expected.values()) == sorted(set(expected.values()))
    assert shown_tiers(lead) == expected
    sizes = served.study.grid().tiers().table().tables[0]
    assert dict(zip(sizes["tier"], sizes["pairs"], strict=True)) == expected

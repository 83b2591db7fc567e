"""The lead's page on which examples for models are reviewed, without any script."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select
from steps.shown import CATS, CYCLING, GREEN_TEA, TEA, WRITE, put_examples, study_of

from fcpair.params import Annotate, Setup
from fcpair.store.database.tables import example_review
from fcpair.study import Study
from web.conftest import Site, add_everybody, csrf_of
from web.lead.test_lead import INLINE

PAGE = "/lead/examples?grid=replies"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = study_of(tmp_path_factory.mktemp("shown"))
    put_examples(study)
    study.close()
    return Path(study.place)


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Iterator[Site]:
    study = Study(shutil.copy(built, tmp_path / "study.db"))
    add_everybody(study)
    served = Site(study, Annotate())
    yield served
    served.close()


def page(browser: TestClient, path: str = PAGE) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    assert not INLINE.search(answer.text)
    return unescape(answer.text)


def numbers(html: str) -> list[str]:
    """The numbers of the examples on a page, in their order."""
    return re.findall(r'name="example" value="(\d+)"', html)


def say(browser: TestClient, example: str, used: str, row: str = "1", **besides: str) -> Response:
    """Press a button of an example."""
    sent = {"csrf": csrf_of(browser), "round": "propose", "row": row, "example": example, "used": used, **besides}
    return browser.post(PAGE, data=sent)


def test_a_row_comes_with_its_examples(site: Site) -> None:
    html = page(site.browser("lea"))
    assert "Row 1 of 2" in html
    assert "2 rows of 2 have examples that nobody has reviewed." in html
    for text in (TEA, CATS, CYCLING, f"{CATS} facts: not so.", "0.800", "Example 2: not reviewed"):
        assert text in html
    assert GREEN_TEA not in html
    assert len(numbers(html)) == 2


def test_what_is_said_holds_and_leads_to_what_nobody_reviewed(site: Site) -> None:
    browser = site.browser("lea")
    first, second = numbers(page(browser))
    answer = say(browser, first, "yes")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/lead/examples?round=propose&row=1&grid=replies#example-2"
    assert say(browser, second, "no").headers["location"].endswith("#row")
    html = page(browser, "/lead/examples?grid=replies&round=propose&row=1")
    assert "1 row of 2 has examples that nobody has reviewed." in html
    assert "Example 1: used" in html
    assert "Example 2: not used" in html
    assert "/lead/examples?round=propose&row=2&grid=replies" in html
    assert site.study.grid("replies").examples("propose")["used"].tolist() == ["yes", "no", "", ""]


def test_the_first_row_to_review_comes_unasked(site: Site) -> None:
    browser = site.browser("lea")
    for one in numbers(page(browser)):
        say(browser, one, "yes")
    html = page(browser)
    assert f'<p dir="ltr">{GREEN_TEA}</p>' in html
    for one in numbers(html):
        say(browser, one, "no", row="2")
    assert "The examples of all rows have been reviewed (2)." in page(browser)


def test_it_is_kept_who_said_it_and_what_was_said_before(site: Site) -> None:
    browser = site.browser("lea")
    first, _ = numbers(page(browser))
    say(browser, first, "yes")
    say(browser, first, "no")
    lea = next(one.id for one in site.study.people if one.name == "lea")
    with site.study.grid("replies")._store.read() as tx:
        rows = tx.execute(select(example_review.c.person_id, example_review.c.used).order_by(example_review.c.id))
        assert [tuple(row) for row in rows] == [(lea, True), (lea, False)]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"used": "perhaps"}, 422),
        ({"example": "999"}, 404),
        ({"example": "x"}, 404),
        ({"example": "9" * 40}, 404),
        ({"round": "other"}, 404),
        ({"csrf": "wrong"}, 403),
    ],
)
def test_what_is_no_word_on_an_example_is_refused(site: Site, sent: dict[str, str], status: int) -> None:
    browser = site.browser("lea")
    fitting = {"csrf": csrf_of(browser), "round": "propose", "row": "1", "example": "1", "used": "yes"}
    assert browser.post(PAGE, data=fitting | sent).status_code == status
    assert set(site.study.grid("replies").examples("propose")["used"]) == {""}


@pytest.mark.parametrize("row", ["0", "3", "-1", "x", "9" * 40])
def test_a_row_that_is_not_there_is_not_found(site: Site, row: str) -> None:
    assert site.browser("lea").get(f"{PAGE}&row={row}").status_code == 404


def test_who_hides_texts_opens_those_that_were_answered(site: Site) -> None:
    assert "<details><summary>Show it" not in page(site.browser("lea"))
    lea = next(one.id for one in site.study.people if one.name == "lea")
    site.study.access.set_blurred(lea, True)
    html = page(site.browser("lea"))
    for text in (TEA, CATS, CYCLING):
        assert f'<details><summary>Show it</summary><p dir="ltr">{text}</p></details>' in html
    assert f'<p dir="ltr">{CATS} facts: not so.</p>' in html.replace("</summary>" + f'<p dir="ltr">{CATS}</p>', "")


def test_a_grid_without_examples_says_where_there_are_some(site: Site) -> None:
    html = page(site.browser("lea"), "/lead/examples?grid=write")
    assert "No round of this grid has examples for models" in html
    assert 'href="/lead/examples?round=propose&grid=replies"' in html


def test_next_steps_lead_to_the_examples_of_a_round(site: Site) -> None:
    html = page(site.browser("lea"), "/lead?grid=replies")
    assert 'href="/lead/examples?round=propose&grid=replies"' in html
    assert "Models are to be shown examples in round “propose”, which somebody has to review." in html
    assert '<a role="button" href="/lead/examples?grid=replies">Review the examples</a>' in html


def test_before_any_are_found_the_page_says_how(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    add_everybody(study)
    served = Site(study, Annotate())
    html = page(served.browser("lea"))
    assert "fcpair examples find --grid replies --round propose" in html
    assert numbers(html) == []
    served.close()


def test_a_study_without_models_has_the_page_too(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[WRITE])
    add_everybody(study)
    served = Site(study, Annotate())
    assert "No round of this grid has examples" in page(served.browser("lea"), "/lead/examples")
    served.close()

"""The lead's page on which examples for models are reviewed, without any script."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from steps.shown import CATS, CYCLING, GREEN_TEA, TEA, put_examples, study_of

from fcpair.params import Annotate
from fcpair.study import Study
from web.conftest import Site, page_of, send

PAGE = "/lead/examples?grid=replies"
OF_ROUND = "/lead/examples?round=propose&grid=replies"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = study_of(tmp_path_factory.mktemp("shown"))
    put_examples(study)
    study.close()
    return Path(study.place)


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Iterator[Site]:
    served = Site(Study(shutil.copy(built, tmp_path / "study.db")), Annotate())
    yield served
    served.close()


def numbers(html: str) -> list[str]:
    """The numbers of the examples on a page, in their order."""
    return re.findall(r'name="example" value="(\d+)"', html)


def review(browser: TestClient, example: str, used: str, row: str = "1", **besides: str) -> Response:
    return send(browser, PAGE, **{"round": "propose", "row": row, "example": example, "used": used, **besides})


def test_row_by_row_the_examples_are_reviewed_until_all_are(site: Site, lea: TestClient) -> None:
    html = page_of(lea, "/lead?grid=replies")
    assert f'href="{OF_ROUND}"' in html
    assert "Models are to be shown examples in round “propose”, which somebody has to review." in html
    assert f'<a role="button" href="{PAGE}">Review the examples</a>' in html
    html = page_of(lea, PAGE)
    assert "Row 1 of 2" in html
    assert "2 rows of 2 have examples that nobody has reviewed." in html
    for text in (TEA, CATS, CYCLING, f"{CATS} facts: not so.", "0.800", "Example 2: not reviewed"):
        assert text in html
    assert GREEN_TEA not in html
    first, second = numbers(html)
    answer = review(lea, first, "yes")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/lead/examples?round=propose&row=1&grid=replies#example-2"
    assert review(lea, second, "no").headers["location"].endswith("#row")
    html = page_of(lea, "/lead/examples?grid=replies&round=propose&row=1")
    assert "1 row of 2 has examples that nobody has reviewed." in html
    assert "Example 1: used" in html
    assert "Example 2: not used" in html
    assert "/lead/examples?round=propose&row=2&grid=replies" in html
    assert site.study.grid("replies").examples.table("propose")["used"].tolist() == ["yes", "no", "", ""]
    html = page_of(lea, PAGE)  # the first row to review comes unasked
    assert f'<p dir="ltr">{GREEN_TEA}</p>' in html
    for number in numbers(html):
        review(lea, number, "no", row="2")
    assert "The examples of all rows have been reviewed (2)." in page_of(lea, PAGE)


def test_what_is_no_word_on_an_example_is_refused_and_no_other_row_is_there(site: Site, lea: TestClient) -> None:
    for field, value, status in (
        *(("used", "perhaps", 422), ("csrf", "wrong", 403), ("round", "other", 404)),
        *(("example", "999", 404), ("example", "x", 404), ("example", "9" * 40, 404)),
    ):
        fields = {"example": "1", "used": "yes", field: value}
        assert review(lea, **fields).status_code == status, (field, value)
    assert set(site.study.grid("replies").examples.table("propose")["used"]) == {""}
    for row in ("0", "3", "-1", "x", "9" * 40):
        assert lea.get(f"{PAGE}&row={row}").status_code == 404


def test_who_hides_texts_opens_those_that_were_answered(site: Site, lea: TestClient) -> None:
    assert "<details><summary>Show it" not in page_of(lea, PAGE)
    site.study.access.set_blurred(site.visitor("lea").id, True)
    html = page_of(lea, PAGE)
    for text in (TEA, CATS, CYCLING):
        assert f'<details><summary>Show it</summary><p dir="ltr">{text}</p></details>' in html
    assert f'<p dir="ltr">{CATS} facts: not so.</p>' in html.replace("</summary>" + f'<p dir="ltr">{CATS}</p>', "")


def test_where_there_are_no_examples_the_page_says_where_or_how(lea: TestClient, tmp_path: Path) -> None:
    html = page_of(lea, "/lead/examples?grid=write")
    assert "No round of this grid has examples for models" in html
    assert f'href="{OF_ROUND}"' in html
    (tmp_path / "before").mkdir()
    before = Site(study_of(tmp_path / "before"), Annotate())
    html = page_of(before.browser("lea"), PAGE)
    assert "fcpair examples find --grid replies --round propose" in html
    assert numbers(html) == []
    before.close()

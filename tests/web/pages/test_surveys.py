"""The lead's page of a survey, of a bias test and of groups: what was found, with words and figures."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from steps.asked import surveyed

from fcpair.params import Annotate
from fcpair.stages.surveys.survey import add_shares, count_answers
from fcpair.study import Study
from web.conftest import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(surveyed(tmp_path), Annotate())
    yield site
    site.close()


def panel(site: Site, name: str = "results", query: str = "") -> str:
    return html.unescape(" ".join(site.browser("lea").get(f"/lead/panel/{name}{query}").text.split()))


@pytest.mark.slow
def test_a_survey_is_counted_in_words_with_figures(site: Site) -> None:
    found = add_shares(count_answers(site.study.grid().survey_answers().given))
    shown = panel(site)
    for row in found.to_dict("records"):
        cells = [row["yes"], row["no"], row["decline"], row["skipped"], f"{row['share']:.3f}"]
        line = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        assert f">{row['statement']}</th>{line}" in shown
    pictures = re.findall(r'<div class="forest" role="img" aria-label="[^"]+ The table below has the numbers."', shown)
    assert len(pictures) == shown.count("<summary>In numbers</summary>") == 3  # two questions, and groups' differences
    assert "Results of surveys and comparisons" in site.browser("lea").get("/lead").text


@pytest.mark.slow
def test_groups_that_were_declared_are_compared_and_few_people_are_not_counted(site: Site) -> None:
    (one,) = site.study.grid().groups(()).compared
    shown = panel(site)
    (difference,) = (of for of in one.differences if of.label == "no")
    assert f'no: {difference.groups[0]} - {difference.groups[1]}</th><td class="n">{difference.value:.4f}' in shown
    assert "never a cause" in shown


def test_a_page_without_such_results_has_no_such_part(serve: Callable[..., Site]) -> None:
    labels = serve("checked")
    assert "Results of surveys and comparisons" not in labels.browser("lea").get("/lead").text
    assert labels.browser("lea").get("/lead/panel/results").status_code == 404


def test_a_survey_has_no_tiers_and_nothing_is_decided_in_it(site: Site) -> None:
    page = site.browser("lea").get("/lead").text
    assert 'href="/lead/agreement"' in page
    assert 'href="/lead/conflicts"' not in page
    assert 'href="/lead/evaluation"' not in page
    assert 'id="tiers"' not in page


def test_a_bias_test_is_scored_model_by_model(walked: Callable[[str], Path], tmp_path: Path) -> None:
    site = Site(Study(shutil.copy(walked("survey"), tmp_path / "study.db")), Annotate())
    shown = panel(site, query="?grid=test")
    assert "hasty 13 of 320, careful 0 of 320" in shown
    assert "careful, (mean over categories)" in shown
    site.close()

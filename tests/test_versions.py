"""A version says which schema a study has, and what is cited is what was released."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from click.testing import CliRunner

from fcpair import revisions
from fcpair.cli import main

CHECKOUT = Path(__file__).parents[1]
DATED = re.compile(r"^## (\d+\.\d+\.\d+) - (\S+)$", re.MULTILINE)


def own() -> str:
    """The version that this checkout says it is, installed or not."""
    config = configparser.ConfigParser()
    config.read(CHECKOUT / "setup.cfg")
    return config["metadata"]["version"]


def released() -> dict[str, str]:
    """The versions that the changelog dates, newest first, each with its date."""
    return dict(DATED.findall((CHECKOUT / "CHANGELOG.md").read_text("utf-8")))


def test_a_released_version_never_stands_for_another_schema() -> None:
    assert revisions.RELEASED.get(own(), revisions.HEAD) == revisions.HEAD


def test_a_version_that_is_not_released_says_that_it_is_in_development() -> None:
    assert own() in revisions.RELEASED or own().endswith(".dev0")


def test_every_release_has_its_schema_and_none_goes_back() -> None:
    assert list(revisions.RELEASED) == list(released())[::-1]
    assert sorted(revisions.RELEASED.values()) == list(revisions.RELEASED.values())
    assert {*revisions.RELEASED.values()} <= {*revisions.OLDER, revisions.HEAD}


def test_what_is_cited_is_this_version_and_the_day_of_its_release() -> None:
    cited = (CHECKOUT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.+)$", cited, re.MULTILINE) == [own()]
    assert re.findall(r"^date-released: (.+)$", cited, re.MULTILINE) == [
        date for version, date in released().items() if version == own()
    ]


def test_the_page_about_the_study_file_says_which_schema_each_release_has() -> None:
    page = (CHECKOUT / "docs" / "explanation" / "store.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (\d+\.\d+\.\d+) \| `(\d{4})` \|$", page, re.MULTILINE))
    assert rows == revisions.RELEASED
    assert f"(its schema is 0001, this one has {revisions.HEAD})" in page


def test_the_command_line_names_the_schema() -> None:
    assert f"(schema {revisions.HEAD})" in CliRunner().invoke(main, ["--version"]).output

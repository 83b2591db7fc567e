"""A version says which schema a study has, and what is cited is what was released."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from click.testing import CliRunner

from fcpair import revisions
from fcpair.cli import main

CHECKOUT = Path(__file__).parents[1]


def test_each_release_has_its_schema_and_none_goes_back() -> None:
    """The version that this checkout says it is, installed or not, and those that the changelog dates, newest first."""
    config = configparser.ConfigParser()
    config.read(CHECKOUT / "setup.cfg")
    own, dated = config["metadata"]["version"], r"^## (\d+\.\d+\.\d+) - (\S+)$"
    released = re.findall(dated, (CHECKOUT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert revisions.RELEASED.get(own, revisions.HEAD) == revisions.HEAD
    assert own in revisions.RELEASED or own.endswith(".dev0")
    assert list(revisions.RELEASED) == [version for version, _ in released][::-1]
    assert sorted(revisions.RELEASED.values()) == list(revisions.RELEASED.values())
    assert {*revisions.RELEASED.values()} <= {*revisions.OLDER, revisions.HEAD}
    cited = (CHECKOUT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.+)$", cited, re.MULTILINE) == [own]
    days = [date for version, date in released if version == own]
    assert re.findall(r"^date-released: (.+)$", cited, re.MULTILINE) == days
    page = (CHECKOUT / "docs" / "explanation" / "store.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (\d+\.\d+\.\d+) \| `(\d{4})` \|$", page, re.MULTILINE))
    assert rows == revisions.RELEASED
    assert f"(its schema is 0001, this one has {revisions.HEAD})" in page
    assert f"(schema {revisions.HEAD})" in CliRunner().invoke(main, ["--version"]).output

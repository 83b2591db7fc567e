"""`fcpair release`, `verify` and `diff` as they are typed: exit codes, what is printed, and bad input."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Fcpair
from fcpair.files.release.release_facts import template_text
from fcpair.study import Study

At = Callable[[str], Path]
FORM = Path(__file__).parents[3] / "examples" / "release.toml"


def test_the_template_is_printed_without_a_study(fcpair: Fcpair, here: Path) -> None:
    assert fcpair("release", "--template").stdout == template_text()


def test_a_release_is_made_and_verified_in_two_commands(at: At, fcpair: Fcpair, here: Path, study: Path) -> None:
    at("checked")
    made = json.loads(fcpair("release", "v1", "--out", "v1", "--form", FORM, "--format", "json").stdout)
    digest = made[0]["counts"]["digest"]
    assert f"digest: {digest}" in fcpair("verify", "v1").stdout
    found = json.loads(fcpair("verify", "v1", "--study", study, "--format", "json").stdout)
    assert (found[0]["sound"], found[0]["digest"], found[0]["differences"]) == (True, digest, [])


def test_verify_exits_with_1_and_says_what_it_found(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    fcpair("release", "v1", "--out", "v1", "--form", FORM)
    (here / "v1" / "README.md").unlink()
    (here / "v1" / "more").symlink_to(here)
    result = fcpair("verify", "v1", code=1)
    assert "v1: README.md is missing" in result.stderr
    assert "v1: more is a link, and no file" in result.stderr
    assert "not as it was written" in result.stdout


def test_verify_exits_with_1_where_the_study_gives_another_one(at: At, fcpair: Fcpair, here: Path, study: Path) -> None:
    at("checked")
    fcpair("release", "v1", "--out", "v1", "--form", FORM)
    fcpair("people", "add", "zoe")
    result = fcpair("verify", "v1", "--study", study, code=1)
    assert "v1: release.json would differ" in result.stderr
    assert "data/" not in result.stderr
    assert "but the study gives another one now" in result.stdout


def test_diff_prints_pairs_in_every_format(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    fcpair("release", "v1", "--out", "v1", "--form", FORM)
    (here / "r.toml").write_text('[partition]\ndiamond = "majority"\n')
    fcpair("run", here / "r.toml")
    fcpair("release", "v2", "--out", "v2", "--form", FORM)
    table = fcpair("diff", "v1", "v2").stdout
    rows = list(csv.DictReader(io.StringIO(fcpair("diff", "v1", "v2", "--format", "csv").stdout)))
    data = json.loads(fcpair("diff", "v1", "v2", "--format", "json").stdout)
    assert f"v1 to v2: 0 came, 0 went, {len(rows)} changed" in table
    assert "gold -> diamond" in table
    assert [int(row["pair"]) for row in rows] == [change["pair"] for change in data]
    assert all(row["because"].startswith("rule of diamond: ") for row in rows)


def test_diff_of_releases_that_differ_in_no_pair_is_a_line(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    for name in ("v1", "v2"):
        fcpair("release", name, "--out", name, "--form", FORM)
    assert fcpair("diff", "v1", "v2").stdout == "v1 to v2: 0 came, 0 went, 0 changed\n"
    assert json.loads(fcpair("diff", "v1", "v2", "--format", "json").stdout) == []
    (header,) = fcpair("diff", "v1", "v2", "--format", "csv").stdout.splitlines()
    assert header.startswith("grid,change,pair,")


def test_the_log_shortens_the_digest_of_a_release_as_errors_do(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    fcpair("release", "v1", "--out", "v1", "--form", FORM)
    digest = Study.verify("v1").digest
    assert f"digest: {digest[:16]}…" in fcpair("log").stdout


def test_texts_are_joined_by_a_script_that_needs_python_alone(at: At, fcpair: Fcpair, here: Path, study: Path) -> None:
    at("checked")
    fcpair("partition", "--tier", "gold", "--out", "gold.csv")
    fcpair("export", "corpus", "--out", "corpus.csv")
    fcpair("release", "v1", "--out", "v1", "--form", FORM, "--no-texts")
    script = [sys.executable, "-I", "-S", "v1/join_texts.py"]
    subprocess.run([*script, "corpus.csv", "--out", "joined"], check=True, capture_output=True)
    joined, known = read_rows(here / "joined" / "gold.csv"), read_rows(here / "gold.csv")
    assert [(row["hs"], row["cn"], row["label"]) for row in joined] == [
        (row["hs"], row["cn"], row["label"]) for row in known
    ]
    Path("other.csv").write_text("hs,cn\nnot,there\n")
    lacking = subprocess.run([*script, "other.csv", "--out", "lacking"], check=False, capture_output=True, text=True)
    assert lacking.returncode == 1
    distinct = {text for row in known for text in (row["hs"], row["cn"])}
    assert f"gold.csv: {len(distinct)} texts are missing" in lacking.stdout


def test_the_script_that_joins_texts_refuses_what_it_cannot_read_and_the_folder_that_it_reads(
    at: At, fcpair: Fcpair, here: Path, study: Path
) -> None:
    at("checked")
    fcpair("release", "v1", "--out", "v1", "--form", FORM, "--no-texts")
    Path("latin.csv").write_bytes("hs,cn\nné,é\n".encode("latin-1"))
    Path("long.csv").write_text("x" * 200_000)
    for arguments, code, words in (
        (("none.csv", "--out", "joined"), 2, "none.csv cannot be read as CSV in UTF-8"),
        (("latin.csv", "--out", "joined"), 2, "latin.csv cannot be read as CSV in UTF-8"),
        (("long.csv", "--out", "v1/data"), 2, "--out v1/data holds the release itself"),
        (("long.csv", "--out", "long.csv"), 2, "long.csv"),
        (("long.csv", "--out", "joined"), 1, ""),
    ):
        script = [sys.executable, "-I", "-S", "v1/join_texts.py", *arguments]
        ended = subprocess.run(script, check=False, capture_output=True, text=True)
        assert ended.returncode == code
        assert words in ended.stderr
        assert "Traceback" not in ended.stderr
    assert "as it was written" in fcpair("verify", "v1").stdout


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("release v1 --out v1", "release.toml: there is no such file"),
        ("release v/1 --out v1 --form {form}", "`v/1` cannot name a release"),
        ("release v1 --out none/v1 --form {form}", "there is no folder none; make it first"),
        ("release v1 --out v1 --form bad.toml", "`licence.labels` is `CC`; expected one id of https://spdx.org"),
        ("release v1 --out v1 --form part.toml", "release.toml lacks `description`"),
        ("verify none", "none: there is no such folder"),
        ("verify part.toml", "part.toml: is a file; name the folder of a release"),
        ("diff none none", "none: there is no such folder"),
        ("diff . .", ".: SHA256SUMS is missing"),
    ],
)
def test_bad_input_ends_with_2_and_leaves_nothing(
    at: At, fcpair: Fcpair, here: Path, command: str, message: str
) -> None:
    at("checked")
    (here / "bad.toml").write_text('[licence]\nlabels = "CC"\n')
    (here / "part.toml").write_text('title = "T"\n')
    before = sorted(here.iterdir())
    assert message in fcpair(*command.format(form=FORM).split(), code=2).stderr
    assert sorted(here.iterdir()) == before

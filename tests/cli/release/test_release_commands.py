"""`fcpair release`, `verify` and `diff` as they are typed: exit codes, what is printed, and bad input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli.conftest import At, Fcpair, rows_of
from fcpair.files.release.release_facts import template_text

FORM = Path(__file__).parents[3] / "examples" / "release.toml"


def test_a_release_is_made_and_verified_in_two_commands(at: At, fcpair: Fcpair, here: Path, study: Path) -> None:
    assert fcpair("release", "--template").stdout == template_text()  # without a study
    at("checked")
    (made,) = fcpair.json("release", "v1", "--out", "v1", "--form", FORM)
    digest = made["counts"]["digest"]
    assert f"digest: {digest}" in fcpair("verify", "v1").stdout
    assert f"digest: {digest[:16]}…" in fcpair("log").stdout  # in short, as in errors
    (found,) = fcpair.json("verify", "v1", "--study", study)
    assert (found["sound"], found["digest"], found["differences"]) == (True, digest, [])
    fcpair("people", "add", "zoe")
    result = fcpair("verify", "v1", "--study", study, code=1)
    assert "v1: release.json would differ" in result.stderr
    assert "data/" not in result.stderr
    assert "but the study gives another one now" in result.stdout
    (here / "v1" / "README.md").unlink()
    (here / "v1" / "more").symlink_to(here)
    result = fcpair("verify", "v1", code=1)
    assert "v1: README.md is missing" in result.stderr
    assert "v1: more is a link, and no file" in result.stderr
    assert "not as it was written" in result.stdout


def test_diff_prints_pairs_in_every_format_or_a_line_where_none_differs(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    for name in ("v1", "same"):
        fcpair("release", name, "--out", name, "--form", FORM)
    assert fcpair("diff", "v1", "same").stdout == "v1 to same: 0 came, 0 went, 0 changed\n"
    assert fcpair.json("diff", "v1", "same") == []
    (header,) = fcpair("diff", "v1", "same", "--format", "csv").stdout.splitlines()
    assert header.startswith("grid,change,pair,")
    (here / "r.toml").write_text('[partition]\ndiamond = "majority"\n')
    fcpair("run", here / "r.toml")
    fcpair("release", "v2", "--out", "v2", "--form", FORM)
    table, rows = fcpair("diff", "v1", "v2").stdout, fcpair.csv("diff", "v1", "v2")
    assert f"v1 to v2: 0 came, 0 went, {len(rows)} changed" in table
    assert "gold -> diamond" in table
    assert [int(row["pair"]) for row in rows] == [change["pair"] for change in fcpair.json("diff", "v1", "v2")]
    assert all(row["because"].startswith("rule of diamond: ") for row in rows)


def test_texts_are_joined_by_a_script_that_needs_python_alone(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    fcpair("partition", "--tier", "gold", "--out", "gold.csv")
    fcpair("export", "corpus", "--out", "corpus.csv")
    fcpair("release", "v1", "--out", "v1", "--form", FORM, "--no-texts")

    def join(*words: str) -> subprocess.CompletedProcess[str]:
        script = [sys.executable, "-I", "-S", "v1/join_texts.py", *words]
        return subprocess.run(script, check=False, capture_output=True, text=True)

    assert join("corpus.csv", "--out", "joined").returncode == 0
    joined, known = rows_of(here / "joined" / "gold.csv"), rows_of(here / "gold.csv")
    columns = ("hs", "cn", "label")
    assert [[row[name] for name in columns] for row in joined] == [[row[name] for name in columns] for row in known]
    Path("other.csv").write_text("hs,cn\nnot,there\n")
    lacking = join("other.csv", "--out", "lacking")
    assert lacking.returncode == 1
    distinct = {text for row in known for text in (row["hs"], row["cn"])}
    assert f"gold.csv: {len(distinct)} texts are missing" in lacking.stdout
    Path("latin.csv").write_bytes("hs,cn\nné,é\n".encode("latin-1"))
    Path("long.csv").write_text("x" * 200_000)
    for words, code, message in (
        ("none.csv --out joined", 2, "none.csv cannot be read as CSV in UTF-8"),
        ("latin.csv --out joined", 2, "latin.csv cannot be read as CSV in UTF-8"),
        ("long.csv --out v1/data", 2, "--out v1/data holds the release itself"),
        ("long.csv --out long.csv", 2, "long.csv"),
        ("long.csv --out joined", 1, ""),
    ):
        ended = join(*words.split())
        assert ended.returncode == code
        assert message in ended.stderr
        assert "Traceback" not in ended.stderr
    assert "as it was written" in fcpair("verify", "v1").stdout


def test_bad_input_ends_with_2_and_leaves_nothing(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    (here / "bad.toml").write_text('[licence]\nlabels = "CC"\n')
    (here / "part.toml").write_text('title = "T"\n')
    before = sorted(here.iterdir())
    for command, message in (
        ("release v1 --out v1", "release.toml: there is no such file"),
        (f"release v/1 --out v1 --form {FORM}", "a release needs a name, such as v1, of at most"),
        (f"release v1 --out none/v1 --form {FORM}", "there is no folder none; make it first"),
        ("release v1 --out v1 --form bad.toml", "`licence.labels` is `CC`; expected one id of https://spdx.org"),
        ("release v1 --out v1 --form part.toml", "release.toml lacks `description`"),
        ("verify none", "none: there is no such folder"),
        ("verify part.toml", "part.toml: is no zip file, or one that is damaged; name the folder"),
        ("diff none none", "none: there is no such folder"),
        ("diff . .", ".: SHA256SUMS is missing"),
    ):
        assert message in fcpair.refusal(*command.split())
        assert sorted(here.iterdir()) == before

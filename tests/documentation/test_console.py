"""What pages say that commands print is what they print; `python docs/console.py --renew PAGE` renews a page."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import console
import pytest

ROOT = Path(__file__).parents[2]
RUN = [page for page in map(console.read_page, console.PAGES) if page.commands]
MOST_NOT_RUN = 20
LONG = {  # 4.5 to 45 s each; in all runs are the pages that begin a study, FC-CONAN's, and all that are quicker
    "docs/explanation/store.md",
    "docs/howto/describing.md",
    "docs/howto/deploy.md",
    "docs/howto/doctor.md",
    "docs/howto/measuring.md",
    "docs/howto/tasks/raise-overlap.md",
    "docs/howto/tasks/sheets.md",
    "docs/reference/bias-tests.md",
    "docs/reference/errors.md",
    "docs/reference/grids.md",
    "docs/reference/printed/fc-conan.md",
    "docs/reference/stages/03-retrieve.md",
    "docs/reference/stages/05-assign.md",
    "docs/reference/stages/06-label.md",
    "docs/reference/stages/09-validate.md",
    "docs/reference/stages/11-report.md",
    "docs/reference/stages/12-evaluate.md",
    "docs/reference/stages/13-export.md",
    "docs/tutorials/crowdcounter.md",
    "docs/tutorials/nine-people.md",
    "docs/tutorials/own-system.md",
    "docs/tutorials/parscn.md",
    "docs/tutorials/pbbq.md",
}


def name(page: console.Page) -> str:
    return page.path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the studies that pages begin with, which all workers share."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    (folder / "studies").mkdir(exist_ok=True)
    return folder / "studies"


def each_page() -> list[Any]:
    """The pages as parameters; each may go to another worker."""
    return [
        pytest.param(
            page,
            id=name(page),
            marks=[pytest.mark.xdist_group(name(page)), pytest.mark.long if name(page) in LONG else pytest.mark.slow],
        )
        for page in RUN
    ]


@pytest.mark.parametrize("page", each_page())
def test_commands_print_what_the_page_says(page: console.Page, studies: Path, request: pytest.FixtureRequest) -> None:
    if page.needs_data:
        request.getfixturevalue("data")
    console.run_page(page, studies)
    differences = console.differences(page)
    assert not differences, f"`python docs/console.py --renew {name(page)}` renews it:\n{differences}"


def test_few_blocks_are_not_run_and_each_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = [(name(page), reason) for page in map(console.read_page, console.PAGES) for reason in page.not_run]
    with capsys.disabled():
        print(f"\n{len(reasons)} console blocks are not run")
        for page, reason in reasons:
            print(f"  {page}: {reason}")
    assert len(reasons) <= MOST_NOT_RUN
    assert all(reason for _, reason in reasons)


def test_the_long_pages_are_pages() -> None:
    assert {name(page) for page in RUN} >= LONG


def test_every_console_block_is_read() -> None:
    fences = {
        fence for page in console.PAGES for fence in re.findall(r"(?m)^ *`{3,} *console.*$", page.read_text("utf-8"))
    }
    assert fences == {"```console", "```console no-run"}


def page_of(tmp_path: Path, text: str) -> console.Page:
    path = tmp_path / "page.md"
    path.write_text(text, "utf-8")
    return console.read_page(path)


def run(page: console.Page) -> str:
    console.run_page(page)
    return console.differences(page)


def test_what_is_printed_otherwise_is_a_difference(tmp_path: Path) -> None:
    page = page_of(tmp_path, "```console\n$ echo one\none\n$ echo two\nthree\n```\n")
    assert run(page) == "$ echo two\n--- page\n+++ run\n@@ -1 +1 @@\n-three\n+two"


@pytest.mark.parametrize(
    "printed", ["a\n...\ne", "...\nd\ne", "a\nb\n...", "a\nb…\nc\nd\ne", "a\nb\nc\n...\nd\ne", "..."]
)
def test_lines_and_ends_of_lines_are_left_out(tmp_path: Path, printed: str) -> None:
    assert run(page_of(tmp_path, f"```console\n$ printf 'a\\nb\\nc\\nd\\ne\\n'\n{printed}\n```\n")) == ""


@pytest.mark.parametrize("printed", ["a\n...\nd", "b\n...", "a\n...\nb", "..."])
def test_what_stands_beside_them_must_be_printed(tmp_path: Path, printed: str) -> None:
    assert (run(page_of(tmp_path, f"```console\n$ printf 'a\\nc\\n'\n{printed}\n```\n")) == "") is (printed == "...")


def test_times_and_tokens_may_differ(tmp_path: Path) -> None:
    page = page_of(
        tmp_path,
        "```console\n$ echo 2026-01-02 03:04:05 http://x/join#abcdefghijklmnopqrstu\n"
        "2025-09-08 07:06:05 http://x/join#vwxyzabcdefghijklmnop\n```\n",
    )
    assert run(page) == ""


def test_a_page_runs_in_one_shell_with_hidden_commands_at_their_places(tmp_path: Path) -> None:
    page = page_of(
        tmp_path,
        "<!-- console: run\nexport WORD=one\n-->\n```console\n$ echo $WORD\none\n```\n\n"
        "<!-- console: run export WORD=two -->\n```console\n$ echo $WORD\ntwo\n```\n",
    )
    assert run(page) == ""


@pytest.mark.parametrize(
    "commands", ["ls nowhere", "\nls nowhere\ntrue\n", "\nexport A=1\nls nowhere | cat\nls nowhere\n"]
)
def test_a_hidden_command_that_fails_is_a_difference(tmp_path: Path, commands: str) -> None:
    assert "cannot access" in run(page_of(tmp_path, f"<!-- console: run {commands}-->\n"))


def test_what_a_hidden_command_unsets_stays_unset(tmp_path: Path) -> None:
    page = page_of(
        tmp_path,
        "<!-- console: run export WORD=one -->\n<!-- console: run unset WORD -->\n"
        "```console\n$ echo ${WORD-nothing}\nnothing\n```\n",
    )
    assert run(page) == ""


def test_a_cat_makes_the_file_that_it_shows(tmp_path: Path) -> None:
    assert run(page_of(tmp_path, "```console\n$ cat new.txt\nhere\n$ wc -l new.txt\n1 new.txt\n```\n")) == ""


def test_both_streams_are_read_in_their_order(tmp_path: Path) -> None:
    page = page_of(tmp_path, "```console\n$ fcpair status --study x.db; echo done\n...\ndone\n```\n")
    run(page)
    assert page.commands[0].printed[0].startswith("Error: there is no study at x.db")


def test_a_block_that_cannot_be_run_has_the_reason_above_it(tmp_path: Path) -> None:
    page = page_of(tmp_path, "<!-- console: no-run a server -->\n```console no-run\n$ fcpair serve\n```\n")
    assert (page.commands, page.not_run) == ([], ["a server"])


def test_renewing_keeps_what_is_left_out(tmp_path: Path) -> None:
    page = page_of(tmp_path, "# Page\n\n```console\n$ printf 'a\\nb\\nc\\nd 2\\n'\na\n...\nd 1\n```\n\nMore.\n")
    assert run(page)
    console.renew(page)
    assert page.path.read_text("utf-8") == (
        "# Page\n\n```console\n$ printf 'a\\nb\\nc\\nd 2\\n'\na\n...\nd 2\n```\n\nMore.\n"
    )


def test_renewing_leaves_what_is_right_to_the_byte(tmp_path: Path) -> None:
    text = "# Page\n\n<!-- console: run true -->\n```console\n$ echo 2026-01-02\n2025-01-02\n```\n"
    page = page_of(tmp_path, text)
    run(page)
    console.renew(page)
    assert page.path.read_text("utf-8") == text

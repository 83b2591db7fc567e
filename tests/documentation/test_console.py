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
    f"docs/{page}.md"
    for page in (
        *("explanation/store", "howto/describing", "howto/deploy", "howto/doctor", "howto/measuring"),
        *("howto/tasks/raise-overlap", "howto/tasks/sheets", "reference/bias-tests", "reference/errors"),
        *("howto/calibrating", "howto/planning", "howto/qualifying", "howto/rating", "howto/releases"),
        *("howto/tasks/backup", "howto/tasks/joined-late", "howto/tasks/two-lists", "howto/tasks/wrong-label"),
        *("reference/grids", "reference/printed/fc-conan", "reference/stages/03-retrieve"),
        *("reference/stages/05-assign", "reference/stages/06-label", "reference/stages/09-validate"),
        *("reference/stages/10-partition",),
        *("reference/stages/11-report", "reference/stages/12-evaluate", "reference/stages/13-export"),
        *("tutorials/crowdcounter", "tutorials/nine-people", "tutorials/own-system", "tutorials/parscn"),
        "tutorials/pbbq",
    )
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


def block(*lines: str) -> str:
    return "\n".join(["```console", *lines, "```\n"])


FIVE = "$ printf 'a\\nb\\nc\\nd\\ne\\n'"
TWO = "$ printf 'a\\nc\\n'"


@pytest.mark.parametrize(
    "text",
    [
        # Lines and ends of lines are left out.
        *(
            block(FIVE, printed)
            for printed in ("a\n...\ne", "...\nd\ne", "a\nb\n...", "a\nb…\nc\nd\ne", "a\nb\nc\n...\nd\ne", "...")
        ),
        block(TWO, "..."),
        # Times and tokens may differ.
        block(
            "$ echo 2026-01-02 03:04:05 http://x/join#abcdefghijklmnopqrstu",
            "2025-09-08 07:06:05 http://x/join#vwxyzabcdefghijklmnop",
        ),
        # A page runs in one shell, with hidden commands at their places; what one unsets stays unset.
        "<!-- console: run\nexport WORD=one\n-->\n"
        + block("$ echo $WORD", "one")
        + "\n<!-- console: run export WORD=two -->\n"
        + block("$ echo $WORD", "two"),
        "<!-- console: run export WORD=one -->\n<!-- console: run unset WORD -->\n"
        + block("$ echo ${WORD-nothing}", "nothing"),
        # A cat makes the file that it shows.
        block("$ cat new.txt", "here", "$ wc -l new.txt", "1 new.txt"),
    ],
)
def test_what_a_page_may_leave_out_or_do_unseen_is_no_difference(tmp_path: Path, text: str) -> None:
    assert run(page_of(tmp_path, text)) == ""


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        *((block(TWO, printed), "--- page") for printed in ("a\n...\nd", "b\n...", "a\n...\nb")),
        *(
            (f"<!-- console: run {commands}-->\n", "cannot access")
            for commands in ("ls nowhere", "\nls nowhere\ntrue\n", "\nexport A=1\nls nowhere | cat\nls nowhere\n")
        ),
    ],
)
def test_what_is_printed_otherwise_or_fails_unseen_is_a_difference(tmp_path: Path, text: str, difference: str) -> None:
    assert difference in run(page_of(tmp_path, text))
    page = page_of(tmp_path, block("$ echo one", "one", "$ echo two", "three"))
    assert run(page) == "$ echo two\n--- page\n+++ run\n@@ -1 +1 @@\n-three\n+two"


def test_both_streams_are_read_in_their_order(tmp_path: Path) -> None:
    page = page_of(tmp_path, "```console\n$ fcpair status --study x.db; echo done\n...\ndone\n```\n")
    run(page)
    assert page.commands[0].printed[0].startswith("Error: there is no study at x.db")


def test_a_block_that_cannot_be_run_has_the_reason_above_it(tmp_path: Path) -> None:
    page = page_of(tmp_path, "<!-- console: no-run a server -->\n```console no-run\n$ fcpair serve\n```\n")
    assert (page.commands, page.not_run) == ([], ["a server"])


def test_renewing_keeps_what_is_left_out_and_leaves_what_is_right_to_the_byte(tmp_path: Path) -> None:
    left = "# Page\n\n```console\n$ printf 'a\\nb\\nc\\nd 2\\n'\na\n...\nd {}\n```\n\nMore.\n"
    right = "# Page\n\n<!-- console: run true -->\n```console\n$ echo 2026-01-02\n2025-01-02\n```\n"
    for text, renewed in ((left.format(1), left.format(2)), (right, right)):
        page = page_of(tmp_path, text)
        assert bool(run(page)) is (text != renewed)
        console.renew(page)
        assert page.path.read_text("utf-8") == renewed

"""Runs the console blocks of a page, and compares what they print with what stands below each command.

`python docs/console.py PAGE ...` shows what differs, and with `--renew` writes what is printed into the page.

The lines of a page that begin with `$ ` are run from its top to its bottom, by one bash in a temporary folder with a
copy of `examples`. What is below a command is what it prints, on standard output and standard error. A line `...`
stands for any lines, and `…` at the end of a line for the rest of it. A `$ cat FILE` of a file that is not there makes
it. Comments of HTML in the page say the rest, each of them `<!-- console: WORD ... -->`:

- `run`: commands on the lines below, which are run at this place, and not shown; none may fail
- `needs=data`: the page needs the published data, in FCPAIR_DATA, and its tests are skipped without
- `no-run REASON`: stands above a block ```` ```console no-run ````, which cannot be run, and says why
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import SequenceMatcher, unified_diff
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
STUDIES = ROOT / "docs" / "_console" / "studies.sh"
MADE = (ROOT / "docs" / "project", ROOT / "docs" / "reference" / "commands")  # by docs/_ext
PAGES = [
    page
    for page in sorted([ROOT / "README.md", EXAMPLES / "README.md", *ROOT.glob("docs/**/*.md")])
    if page.parent not in MADE
]
BLOCK = re.compile(
    r"^(?P<fence>`{3,})console(?P<no_run> no-run)?\n(?P<text>.*?)^(?P=fence)$"
    r"|^<!-- console: (?P<word>[a-z-]+)(?P<said>.*?)-->$",
    re.DOTALL | re.MULTILINE,
)
PROMPT, ELIDED, REST = "$ ", "...", "…"
END = "\x1e"  # what bash prints when a command has ended
# Runs commands in the shell itself, and ends with the status of the last one that failed.
STRICT = "failed=0; set -E; trap 'failed=$?' ERR\n{}\ntrap - ERR; set +E; (exit $failed)"
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "LANG": "C.UTF-8",
    "PYTHONUNBUFFERED": "1",  # so that standard output and standard error come in their order
    "TZ": "UTC",
}
# What differs from run to run, and what stands in its place when outputs are compared.
NORMALISED = (
    (re.compile(r"\b20\d\d-[01]\d-[0-3]\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?)?"), "DATE"),
    (re.compile(r"(?<=join#)[\w-]{20,}"), "TOKEN"),
    (re.compile(r"(?<=fcpair )\d+\.\d+\.\d+(\.dev\d+)?|version \d+\.\d+\.\d+(\.dev\d+)?"), "VERSION"),
    (re.compile(r'"version": "[^"]+"'), '"version": "VERSION"'),
    (re.compile(r"(?<=decisions and texts: )[0-9a-f]{16}|^[0-9a-f]{64}$"), "DIGEST"),  # times are part of it
    (re.compile(r"(?<=the settings: )[0-9a-f]{16}|(?<=run log: )[0-9a-f]{16}|(?<=^digest: )[0-9a-f]{64}"), "DIGEST"),
    (re.compile(r"\bp[0-9a-f]{10}\b"), "PSEUDONYM"),  # of a release
)
# Lines that only slow machines print.
PROGRESS = re.compile(r"\w+: [\d,]+ of [\d,]+ are done; at this pace the others take .*")


@dataclass
class Command:
    """A command of a page, with what the page says that it prints; `hidden` ones print nothing in it."""

    text: str
    expected: list[str] = field(default_factory=list)
    hidden: bool = False
    printed: list[str] = field(default_factory=list)
    status: int = 0

    @property
    def differs(self) -> bool:
        """Whether it printed something else; of a hidden one, whether it failed."""
        return self.status != 0 if self.hidden else not is_as_said(self.expected, self.printed)


@dataclass
class Page:
    """A page with the commands of its blocks."""

    path: Path
    commands: list[Command]
    not_run: list[str]
    """Reasons of the blocks that cannot be run; empty where none is given."""
    words: set[str]

    @property
    def needs_data(self) -> bool:
        """Whether it needs the published data."""
        return "needs=data" in self.words


def read_page(path: Path) -> Page:
    """Read the blocks and comments of a page."""
    page = Page(path, [], [], set())
    reason = ""
    for found in BLOCK.finditer(path.read_text("utf-8")):
        if found["word"] == "run":
            page.commands.append(Command(found["said"].strip(), hidden=True))
        elif found["word"] == "no-run":
            reason = " ".join(found["said"].split())
            continue
        elif found["word"]:
            page.words.add(f"{found['word']}{found['said'].strip()}")
        elif found["no_run"]:
            page.not_run.append(reason)
        else:
            page.commands += read_block(found["text"])
        reason = ""
    return page


def read_block(text: str) -> Iterator[Command]:
    """The commands of a block, each with what is below it."""
    command: Command | None = None
    for line in text.split("\n")[:-1]:
        if line.startswith(PROMPT):
            if command:
                yield command
            command = Command(line.removeprefix(PROMPT))
        elif command and not command.expected and command.text.endswith("\\"):
            command.text += f"\n{line}"
        elif command:
            command.expected.append(line)
    if command:
        yield command


def write_block(commands: Sequence[Command]) -> str:
    """The text of a block, with what was printed in the place of what was not."""
    lines = []
    for command in commands:
        lines += [PROMPT + command.text, *(elided(command) if command.differs else command.expected)]
    return "".join(f"{line}\n" for line in lines)


def elided(command: Command) -> list[str]:
    """What a command printed, without the lines in the place of which the page has `...`."""
    kept = [at for at, line in enumerate(command.expected) if line != ELIDED]
    shapes = [shape(command.expected[at]) for at in kept]
    matcher = SequenceMatcher(None, shapes, [shape(line) for line in command.printed], autojunk=False)
    printed_at = {
        kept[block.a + step]: block.b + step for block in matcher.get_matching_blocks() for step in range(block.size)
    }
    lines = dict(enumerate(command.printed))
    for at in sorted(set(range(len(command.expected))) - set(kept)):
        start = max((place + 1 for line, place in printed_at.items() if line < at), default=0)
        end = min((place for line, place in printed_at.items() if line > at), default=len(command.printed))
        for place in range(start, end):
            lines.pop(place, None)
        if start < end:
            lines[start] = ELIDED
    for at, place in printed_at.items():
        if command.expected[at].endswith(REST) and place in lines:
            lines[place] = lines[place][: len(command.expected[at]) - 1] + REST
    return [lines[place] for place in sorted(lines)]


def shape(line: str) -> str:
    """A line without its numbers and its spaces, by which it is known again when these have changed."""
    return re.sub(r"[\d.,]+", "0", "".join(line.removesuffix(REST)[:40].split()))


def renew(page: Page) -> None:
    """Write what was printed into the page, where it was something else; what stood for any lines is written out."""
    commands = iter(command for command in page.commands if not command.hidden)

    def written(found: re.Match[str]) -> str:
        if found["word"] or found["no_run"]:
            return found[0]
        block = [next(commands) for _ in read_block(found["text"])]
        return f"{found['fence']}console\n{write_block(block)}{found['fence']}"

    page.path.write_text(BLOCK.sub(written, page.path.read_text("utf-8")), "utf-8")


def is_as_said(expected: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the printed lines are the expected ones, but for what differs from run to run."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == ELIDED else line_pattern(normalise(line)) + r"\n" for line in trimmed(expected)
    )
    text = "".join(f"{normalise(line)}\n" for line in trimmed(printed))
    return re.fullmatch(pattern, text) is not None


def line_pattern(line: str) -> str:
    """The pattern of a line, of which `…` at the end stands for the rest."""
    return re.escape(line.removesuffix(REST)) + (".*" if line.endswith(REST) else "")


def normalise(line: str) -> str:
    """A line without what differs from run to run, and without spaces at its end."""
    for pattern, substitute in NORMALISED:
        line = pattern.sub(substitute, line)
    return line.rstrip()


def trimmed(lines: Sequence[str]) -> list[str]:
    """Lines without empty ones at the end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def run_page(page: Page, studies: Path | None = None) -> None:
    """Run the commands of a page; each has what it printed afterwards.

    A folder `studies` keeps the studies that pages begin with, so that each is built once.
    """
    with tempfile.TemporaryDirectory(prefix="console-") as name:
        folder = Path(name) / "ada"
        shutil.copytree(EXAMPLES, folder / "examples")
        with shell(folder, studies or Path(name)) as bash:
            for command in page.commands:
                if makes_file(command, folder):
                    command.printed = command.expected
                else:
                    run(bash, command, str(folder))


def makes_file(command: Command, folder: Path) -> bool:
    """Write the file that a `cat` shows, unless it is there."""
    words = command.text.split()
    if command.hidden or len(words) != 2 or words[0] != "cat" or (folder / words[1]).exists():
        return False
    (folder / words[1]).write_text("".join(f"{line}\n" for line in command.expected), "utf-8")
    return True


@contextmanager
def shell(folder: Path, studies: Path) -> Iterator[subprocess.Popen[str]]:
    """A bash in a folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FCPAIR_", "COLUMNS"))}
    environment |= {name: os.environ[name] for name in ("FCPAIR_DATA", "FCPAIR_CACHE") if name in os.environ}
    environment |= {
        "HOME": str(folder),
        "CHECKOUT": str(ROOT),
        "STUDIES": str(studies),
        "XDG_CACHE_HOME": str(Path("~/.cache").expanduser()),
    }
    environment |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **ENVIRONMENT}
    arguments = ["bash", "--noprofile", "--norc"]
    with subprocess.Popen(
        arguments,
        cwd=folder,
        env=environment,
        text=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as bash:
        try:
            run(bash, Command(f". '{STUDIES}'"), "")
            yield bash
        finally:
            bash.kill()


def run(bash: subprocess.Popen[str], command: Command, folder: str) -> None:
    """Have a bash run a command, and keep what it prints."""
    assert bash.stdin
    assert bash.stdout
    text = STRICT.format(command.text) if command.hidden else command.text
    bash.stdin.write(f"{{ {text}\n}} < /dev/null\nprintf '%s%s\\n' '{END}' $?\n")
    bash.stdin.flush()
    for line in bash.stdout:
        before, is_end, status = line.partition(END)
        if (before.rstrip("\n") or not is_end) and not PROGRESS.fullmatch(before.rstrip("\n")):
            command.printed.append(before.rstrip("\n").replace(folder or END, "/home/ada"))
        if is_end:
            command.printed = trimmed(command.printed)
            command.status = int(status)
            return
    raise RuntimeError(f"bash has ended at `{command.text}`")


def differences(page: Page) -> str:
    """What the commands of a page printed otherwise than it says; empty where all is as it says."""
    return "\n".join(
        "\n".join([f"$ {command.text}", *unified_diff(command.expected, command.printed, "page", "run", lineterm="")])
        for command in page.commands
        if command.differs
    )


def main() -> int:
    """Run the pages that are named, all if none is; returns 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    parser.add_argument("--renew", action="store_true", help="write what is printed into the pages")
    options = parser.parse_args()
    n_different = 0
    with tempfile.TemporaryDirectory(prefix="studies-") as studies:
        for path in options.pages or PAGES:
            page = read_page(path)
            run_page(page, Path(studies))
            if text := differences(page):
                n_different += 1
                print(f"== {path}\n{text}")
                if options.renew:
                    renew(page)
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())

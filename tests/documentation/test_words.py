"""Phrases that read as translated do not come back: in messages, help, pages and documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fcpair"
# What is said instead stands beside each.
PHRASES = {
    r"\bwalk(s|ed|ing)? (a|the|through a) (whole )?(recipe|road)\b": "run",
    r"\bthe (whole )?road, in its order\b": "the stages",
    r"\bput(s|ting)? before (people|annotators|somebody|them)\b": "assign, show, ask",
    r"\bstands? (twice|in the corpus)\b": "is duplicated, occurs",
    r"\bsays? why it is undefined\b|\band say why\b": "with a reason",
    r"\bparted by\b": "separated by, split on",
    r"\bof the (draw|deal)\b": "random seed",
    r"\bdeal(s|ing)? (the )?(pairs|rounds?|further|them|work|anew|openly)\b": "assign",
    r"\b(was|were|been|be|are|is|not) dealt\b": "assigned",
    r"\bopen dealing\b": "open assignment",
    r"\bwhoever (asks|has|looks|runs|sends|tries|answers|wrote|comes)\b": "anybody who",
    r"\bnot a reproach\b|\bno idle fear\b": "a mismatch is not an accusation; this happens in practice",
    r"\b(is|are) all of it in small\b": "is a small version",
    r"\bfor want of\b": "for lack of",
    r"\bas few .{1,40} as suffice\b": "only as many as needed",
    r"\bdid not end well\b": "failed",
    r"\bleave(s|d)? (it |them |the key )?away\b": "omit",
    r"\bhas gone to others\b": "was reassigned",
    r"\bholds? printed figures against\b": "checks",
    r"\bwithout having been asked for\b": "unasked",
    r"\bwhat one (has|may|can|will|judges|is|answers|reads)\b": "what you",
    r"\banything else is a finding\b|\bis told as\b": "is reported as",
    r"\bthe process that looks\b|\b(two|first) looks are\b": "views",
    r"\bmetadata that stay\b": "their metadata were kept",
}


def messages(path: Path) -> Iterator[str]:
    """The strings of a module that users may read: all but docstrings of what is no command."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and not any(
            "command" in ast.dump(one) or "group" in ast.dump(one) for one in getattr(node, "decorator_list", ())
        )
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def read_by_users() -> dict[str, str]:
    """All that users read, by file, with every run of white space as one space."""
    prose = [ROOT / "README.md", *ROOT.glob("examples/*.md"), *ROOT.glob("docs/*/**/*.md"), *ROOT.glob("docs/*.md")]
    made = (ROOT / "docs" / "project", ROOT / "docs" / "reference" / "commands")
    texts = {path: path.read_text("utf-8") for path in prose if path.parent not in made}
    pages = [*PACKAGE.rglob("*.j2"), *(PACKAGE / "web" / "static").glob("*.js")]
    code = re.compile(r"{[%#].*?[%#]}|{{.*?}}|^\s*//.*?$", re.DOTALL | re.MULTILINE)
    texts |= {path: code.sub("", path.read_text("utf-8")) for path in pages}
    texts |= {path: "\n".join(messages(path)) for path in PACKAGE.rglob("*.py")}
    return {path.relative_to(ROOT).as_posix(): " ".join(text.split()) for path, text in texts.items()}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return read_by_users()


def test_messages_help_pages_and_documentation_are_read(texts: dict[str, str]) -> None:
    assert {"README.md", "fcpair/params.py", "fcpair/web/templates/base.html.j2"} <= set(texts)
    assert "random seed" in texts["fcpair/params.py"]
    assert "Grade the pairs" in texts["fcpair/cli/release/partition.py"]


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_does_not_come_back(texts: dict[str, str], phrase: str) -> None:
    found = [
        f"{name}: ...{text[max(0, at.start() - 40) : at.end() + 40]}..."
        for name, text in texts.items()
        for at in re.finditer(phrase, text, re.IGNORECASE)
    ]
    assert found == [], f"say: {PHRASES[phrase]}"


def test_the_design_names_each_colour_as_the_pages_have_it() -> None:
    style = (ROOT / "fcpair" / "web" / "static" / "fcpair.css").read_text("utf-8")
    page = (ROOT / "docs" / "explanation" / "design.md").read_text("utf-8")
    own = re.findall(r"^  (--[\w-]+): light-dark\((#\w+), (#\w+)\);$", style[: style.index("\n}\n")], re.MULTILINE)
    assert re.findall(r"^\| `(--[\w-]+)` \| `(#\w+)` \| `(#\w+)` \|", page, re.MULTILINE) == own

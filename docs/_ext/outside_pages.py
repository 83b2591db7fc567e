"""Pages of the repository that stand outside of docs: each is a page of the site, and links lead to it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from markdown_tables import write_if_new
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
FOLDER = "project"
PAGES = {
    "README.md": "readme",
    "examples/README.md": "examples",
    "benchmarks/README.md": "benchmarks",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
}
LINK = re.compile(r"(\]\()([^()\s#]+)((?:#[^()\s]*)?\))")
HEAD = """# The project

```{toctree}
:maxdepth: 1

"""


def with_links(text: str, source: Path, page: Path) -> str:
    """The text of `source` as that of `page`, with links to pages outside of docs leading to those of the site."""

    def follow(found: re.Match[str]) -> str:
        if re.match(r"[a-z]+:|/", found[2]):
            return found[0]
        target = Path(os.path.normpath(source.parent / found[2]))
        if target.is_relative_to(ROOT) and (name := PAGES.get(target.relative_to(ROOT).as_posix())):
            target = DOCS / FOLDER / f"{name}.md"
        elif target.is_dir() or target == source:
            return found[0]
        return f"{found[1]}{Path(os.path.relpath(target, page.parent)).as_posix()}{found[3]}"

    return LINK.sub(follow, text)


def write_pages(_app: Sphinx) -> None:
    """Write the pages, which git ignores."""
    folder = DOCS / FOLDER
    folder.mkdir(exist_ok=True)
    for path, name in PAGES.items():
        page = folder / f"{name}.md"
        write_if_new(page, with_links((ROOT / path).read_text("utf-8"), ROOT / path, page))
    write_if_new(folder / "index.md", HEAD + "\n".join(PAGES.values()) + "\n```\n")


def follow_links(app: Sphinx, docname: str, content: list[str]) -> None:
    """Have links of a page in docs lead to pages of the site."""
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md" and page.parent != DOCS / FOLDER:
        content[0] = with_links(content[0], page, page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", follow_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

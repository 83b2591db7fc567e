"""The documentation that the package ships, as HTML inside the lead's frame; and the terms that pages explain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from posixpath import dirname, join, normpath

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from fcpair.sentences import mark
from fcpair.values import shipped_folder

HELP = "/lead/help"
FOLDER = shipped_folder("_docs", "docs")
ROOMS = {  # folders of the documentation that are shipped (setup.cfg), and what a list of its pages calls them
    "howto": mark("How to"),
    "howto/tasks": mark("Small tasks"),
    "start": mark("First steps"),
    "explanation": mark("Explanations"),
    "reference": mark("Reference"),
    "reference/stages": mark("The stages"),
}
ABOUT = {  # by the beginning of an address, the page of the documentation about it; the longest counts
    "/lead": "howto/lead#the-live-page",
    "/lead/start": "howto/lead#from-an-empty-folder",
    "/lead/people": "howto/lead#links",
    "/lead/people/overlap": "explanation/overlap",
    "/lead/calibration": "howto/calibrating",
    "/lead/agreement": "explanation/agreement",
    "/lead/grid": "howto/lead#the-map-of-the-grid",
    "/lead/pair": "howto/lead#searching-the-grid",
    "/lead/conflicts": "howto/lead#adjudicating-and-validating",
    "/lead/labels": "howto/relabelling",
    "/lead/examples": "howto/examples",
    "/lead/guidelines": "howto/lead#guidelines",
    "/lead/words": "howto/wording",
    "/lead/terms": "howto/lead#words-and-terms",
    "/lead/evaluation": "howto/lead#evaluating",
    "/lead/acts": "howto/lead#evaluating",
    "/lead/generate": "howto/lead#asking-models",
    "/lead/imports": "howto/lead#withdrawing-an-import-forgetting-a-person",
    "/lead/downloads": "howto/lead#files",
    "/lead/releases": "howto/releases",
    "/lead/uploads": "howto/exchange",
    "/lead/tiers": "explanation/tiers",
    "/settings": "howto/languages",
}
EXPLAINED = (  # the terms of the glossary that pages explain
    *("Diamond", "Gold", "Silver", "Bronze", "policy", "candidate", "overlap", "kappa", "alpha", "verdict", "stratum"),
    *("tier", "agreement", "adjudication", "seed", "second look", "not sure", "doubt"),
)
_DIRECTIVE = re.compile(r"^(`{3,})\{[\w-]+\}.*?^\1\s*$", re.DOTALL | re.MULTILINE)
_GLOSSARY = re.compile(r"^```\{glossary\}\n(.*?)^```\s*$", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\S.*)\n((?:  .*\n?)+)", re.MULTILINE)
_TERM = re.compile(r"\{\w+\}`([^`<]*?)(?: <[^>]*>)?`")
_HIDDEN = re.compile(r"<!--.*?-->\n?|^\([\w-]+\)=\n", re.DOTALL | re.MULTILINE)


def help_address(path: str) -> str:
    """The address of the page of the documentation that is about another page."""
    beginnings = (about for about in ABOUT if path == about or path.startswith(f"{about}/"))
    return f"{HELP}/{ABOUT[max(beginnings, key=len, default='/lead')]}"


@dataclass(frozen=True)
class HelpPage:
    """A page of the documentation: its title, its text as HTML, and its sections, each with its anchor."""

    title: str
    body: Markup
    sections: tuple[tuple[str, str], ...]


def page_names(room: str) -> list[str]:
    """The pages of a folder, by name."""
    return sorted(f"{room}/{path.stem}" for path in (FOLDER / room).glob("*.md") if path.stem != "index")


@cache
def all_names() -> frozenset[str]:
    """The pages of all folders."""
    return frozenset(name for room in ROOMS for name in page_names(room))


def _source(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text("utf-8")


@cache
def title_of(name: str) -> str:
    """The title of a page."""
    return next((line[2:].strip() for line in _source(name).splitlines() if line.startswith("# ")), name)


@cache
def glossary() -> dict[str, str]:
    """The explanation of each term that pages explain, as plain text."""
    entries = (entry for block in _GLOSSARY.findall(_source("reference/glossary")) for entry in _ENTRY.findall(block))
    found = {name.strip(): " ".join(_TERM.sub(r"\1", text).replace("`", "").split()) for name, text in entries}
    return {name: found[name] for name in EXPLAINED}


@cache
def read_help(name: str) -> HelpPage:
    """A page as HTML: what only the site can make of it, and pictures, are left out; links lead to pages that are here.

    Its first heading is the title.
    """
    entries = _GLOSSARY.sub(lambda block: _ENTRY.sub(r"**\1:** \2\n", block[1]), _source(name))
    text = _TERM.sub(r"\1", _DIRECTIVE.sub("", _HIDDEN.sub("", entries)))
    parser = MarkdownIt("js-default", {"html": False, "linkify": False})
    tokens, sections, title = parser.parse(text), list[tuple[str, str]](), name
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            words = "".join(part.content for part in tokens[at + 1].children or () if part.type != "image")
            if token.tag == "h1":
                title, token.hidden, tokens[at + 2].hidden, tokens[at + 1].children = words, True, True, []
                continue
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
            token.attrSet("id", anchor)
            sections += [(anchor, words)] if token.tag == "h2" else []
        elif token.type == "inline":
            token.children = [*_link_inside(token.children or [], name)]
        elif style := token.attrs.pop("style", None):  # which the pages' security policy lets through nowhere
            token.attrSet("class", str(style).replace("text-align:", "align-"))
    html = str(parser.renderer.render(tokens, parser.options, {}))
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)
    return HelpPage(title, Markup(html.replace("<p></p>\n", "")), tuple(sections))


def _link_inside(tokens: list[Token], name: str) -> Iterator[Token]:
    """The tokens of a line with links to pages that are here, or to the web; of others their words; and no pictures."""
    is_kept = True
    for token in tokens:
        if token.type == "link_open":
            href, _, anchor = str(token.attrGet("href")).partition("#")
            page = normpath(join(dirname(name), href)).removesuffix(".md") if href else name
            is_kept = True
            if "://" in href:
                token.attrs |= {"target": "_blank", "rel": "noopener noreferrer"}
            elif page in all_names():
                token.attrSet("href", f"{HELP}/{page}" * bool(href) + f"#{anchor}" * bool(anchor))
            else:
                is_kept = False
        if token.type != "image" and (is_kept or token.type not in ("link_open", "link_close")):
            yield token
        is_kept = is_kept or token.type == "link_close"

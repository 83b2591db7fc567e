"""Markdown that a study brings (guidelines, introduction, thanks) as HTML that is safe to show."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

DEEPEST = 6
KEPT = 8  # texts; those that pages show again and again (1 MB of Markdown takes two seconds)
Environment = MutableMapping[str, Any]


@lru_cache(KEPT)
def render(body: str) -> Markup:
    """The text as HTML: CommonMark with tables, raw HTML shown as text, links only to harmless schemes."""
    return Markup(_parser().render(body))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False})
    parser.core.ruler.push("lower_headings", _lower_headings)
    parser.core.ruler.push("align_by_class", _align_by_class)
    parser.add_render_rule("link_open", _open_link)
    parser.add_render_rule("image", _show_image)
    return parser


def _lower_headings(state: StateCore) -> None:
    """Put every heading one level down: the page that shows the text has its own first-level heading."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + 1, DEEPEST)}"


def _align_by_class(state: StateCore) -> None:
    """Align the columns of tables by a class: the pages' security policy lets no `style` attribute through."""
    for token in state.tokens:
        if style := token.attrs.pop("style", None):
            token.attrSet("class", str(style).replace("text-align:", "align-"))


def _open_link(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Environment) -> str:
    """Open links in a tab of their own, so that nobody loses their place among the pairs."""
    tokens[at].attrSet("target", "_blank")
    tokens[at].attrSet("rel", "noopener noreferrer")
    return self.renderToken(tokens, at, options, env)


def _show_image(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Environment) -> str:
    """Show images that the text itself holds; of one that would be fetched from elsewhere, what it stands for."""
    if str(tokens[at].attrGet("src")).startswith("data:"):
        return self.image(tokens, at, options, env)
    return escapeHtml(self.renderInlineAsText(tokens[at].children, options, env))

"""Guidelines and terms in Markdown: harmless whatever is written."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from fcpair.web.pages.markdown import render


class Reader(HTMLParser):
    """The elements of a piece of HTML, with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


HARMLESS = re.compile("p|h[2-6]|[uo]l|li|em|strong|s|code|pre|blockquote|hr|br|a|img|table|thead|tbody|tr|t[hd]")
ALLOWED = {"href", "title", "target", "rel", "src", "alt", "class", "start"}
SCHEMES = re.compile(r"(javascript|vbscript|file|data):", re.IGNORECASE)
RAW = (
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick='x()'>b</b>", "<!-- hidden -->"),
    "<style>p {display: none}</style>",
)
RUNNING = (*("[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "<javascript:alert(1)>", "[a](data:text/html,x)"),)


def tags(body: str) -> list[str]:
    return [tag for tag, _ in Reader(render(body)).elements]


def test_raw_html_is_shown_as_text_and_no_link_runs_anything() -> None:
    for body in RAW:
        assert set(tags(body)) == {"p"}, body
    for link in RUNNING:
        assert "a" not in tags(link), link
    assert render("") == ""


def test_links_open_tabs_of_their_own_headings_are_below_the_page_s_and_tables_align_without_a_style() -> None:
    (_, link) = Reader(render("[a](https://example.org/?a=1&b=2)")).elements
    attributes = {"href": "https://example.org/?a=1&b=2", "target": "_blank", "rel": "noopener noreferrer"}
    assert link == ("a", attributes)
    assert tags("# One\n\nOld style\n===\n\n###### Six") == ["h2", "h2", "h6"]
    cells = [given for tag, given in Reader(render("| a | b |\n|:-:|--:|\n| 1 | 2 |")).elements if tag == "td"]
    assert cells == [{"class": "align-center"}, {"class": "align-right"}]


def test_an_image_from_elsewhere_is_never_fetched() -> None:
    assert render("![a <cat>](https://example.org/cat.png)") == "<p>a &lt;cat&gt;</p>\n"
    inline = Reader(render("![a](data:image/png;base64,AAAA)")).elements
    assert ("img", {"src": "data:image/png;base64,AAAA", "alt": "a"}) in inline


@given(st.text(alphabet=st.sampled_from("ab <>\"'&[](){}!#*_`|-:\\/=\njavscriptdt"), max_size=60))
def test_whatever_is_written_gives_harmless_elements_only(body: str) -> None:
    for tag, attributes in Reader(render(body)).elements:
        assert HARMLESS.fullmatch(tag)
        assert set(attributes) <= ALLOWED
        assert not SCHEMES.match(attributes.get("href") or "")


def test_what_every_page_shows_is_rendered_once() -> None:
    text = "A *long* text. " * 20_000
    first = render(text)
    begun = time.process_time()
    assert render(text) == first
    assert time.process_time() - begun < 0.01

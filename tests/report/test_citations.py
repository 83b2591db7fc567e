"""Text with citations, as Markdown and as LaTeX, and the references that it cites."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from fcpair.report import methods
from fcpair.report.methods import (
    BENCHMARKS,
    CITED_FIGURES,
    CITED_MEASURES,
    CITED_SYSTEMS,
    as_latex,
    bibtex,
    cited_keys,
    entries,
    escape_latex,
    reference_line,
)

TEMPLATE = Path(methods.__file__).with_name("methods.md.j2").read_text("utf-8")

KEYS = {
    *cited_keys([TEMPLATE, *BENCHMARKS.values()]),
    *CITED_FIGURES.values(),
    *CITED_SYSTEMS.values(),
    *CITED_MEASURES.values(),
}


def test_every_reference_is_cited_and_every_citation_has_one() -> None:
    assert set(entries()) == KEYS


def test_every_reference_has_what_a_bibliography_needs() -> None:
    for key, entry in entries().items():
        for name in ("author", "title", "year", "url|doi"):
            assert re.search(rf"\b(?:{name}) = \{{.+\}},", entry), key
        assert entry.count("{") == entry.count("}"), key
        assert not re.search(r'[{}\\"]', reference_line(key)), key


def test_citations_are_found_in_their_order_each_once() -> None:
    assert cited_keys(["B [@gwet2008; @cohen1960].", "A [@gwet2008] and [@fleiss1971]"]) == [
        "gwet2008",
        "cohen1960",
        "fleiss1971",
    ]
    assert bibtex(["gwet2008", "cohen1960"]).count("@article") == 2


def test_latex_has_citations_and_code_and_joins_no_signs_of_a_name() -> None:
    text = "Of 12 `a_b` & 5 %, kappa [@cohen1960; @gwet2008] was {x}."
    assert as_latex(text) == r"Of 12 \texttt{a\_b} \& 5 \%, kappa~\cite{cohen1960,gwet2008} was \{x\}."
    assert escape_latex("a--b---c ''d'' ,,e") == "a-{}-b-{}-{}-c '{}'d'{}' ,{},e"
    assert as_latex("``x`` and !`y") == r"\texttt{}x\texttt{} and !{}`y"
    assert escape_latex('"') == r"\symbol{34}"


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "P", "S", "Zs"))))
def test_no_sign_of_a_text_means_anything_to_latex(text: str) -> None:
    escaped = escape_latex(text)
    without_commands = re.sub(r"\\(text[a-z]+\{\}|symbol\{34\}|[&%$#_{}])|(?<=[-',?!`])\{\}(?=[-',`])", "", escaped)
    assert not re.search(r"[\\&%$#_{}~^<>|\"]", without_commands)

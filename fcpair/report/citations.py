"""Text with citations: rendered as Markdown or LaTeX, with the references that it cites.

In a text, `[@key]` cites a reference of `references.bib`, and what stands between backticks is code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

CITATION = re.compile(r" ?\[(@\w+(?:; @\w+)*)\]")
_ENTRY = re.compile(r"^@\w+\{(\w+),\n.*?^\}\n", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"(\w+) = \{((?:[^{}]|\{[^{}]*\})*)\}")
_CODE = re.compile(r"`([^`]*)`")
_ACCENT = re.compile(r"\{?\\\"(\w)\}?")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # \textquotedbl is not in every encoding of fonts
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)|(?<=`)(?=`)")
_UMLAUTS = {"a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}


@cache
def entries() -> dict[str, str]:
    """The references that can be cited, as BibTeX, by their keys."""
    text = (Path(__file__).parent / "references.bib").read_text("utf-8")
    return {match[1]: match[0] for match in _ENTRY.finditer(text)}


def cited_keys(texts: Iterable[str]) -> list[str]:
    """The keys that texts cite, each once, in their order."""
    citations = (key for text in texts for match in CITATION.finditer(text) for key in match[1].split("; "))
    return list(dict.fromkeys(key.removeprefix("@") for key in citations))


def bibtex(keys: Iterable[str]) -> str:
    """The references of these keys as a .bib file."""
    return "\n".join(entries()[key] for key in keys)


def reference_line(key: str) -> str:
    """A reference in a line of Markdown, with a link by its DOI, or by its address where it has none."""
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(entries()[key]):  # without the marks of LaTeX
        text = _ACCENT.sub(lambda match: _UMLAUTS[match[1]], value)
        fields[name] = text.replace(r"\&", "&").replace("{", "").replace("}", "")
    authors = fields["author"].replace(" and ", "; ")
    place = fields.get("journal") or fields["booktitle"]
    doi = fields.get("doi")
    link = f"[doi:{doi}](https://doi.org/{doi})" if doi else f"<{fields['url']}>"
    return f"{authors} ({fields['year']}). {fields['title']}. *{place}*. {link}"


def as_latex(text: str) -> str:
    """A text in LaTeX: signs that mean something there are escaped, citations are `\\cite`, code is `\\texttt`."""
    parts = []
    for at, part in enumerate(CITATION.split(text)):  # by turns what stands between citations, and what each cites
        if at % 2:
            parts.append(f"~\\cite{{{part.replace('@', '').replace('; ', ',')}}}")
        else:
            words = enumerate(map(escape_latex, _CODE.split(part)))
            parts += [f"\\texttt{{{word}}}" if is_code % 2 else word for is_code, word in words]
    return "".join(parts)


def escape_latex(text: str) -> str:
    """A text in LaTeX, every sign as it is written: two hyphens in a row are no dash."""
    return _LIGATURE.sub("{}", "".join(_LATEX.get(sign, sign) for sign in text))

"""Texts to tokens, in any script: what white space separates, or words."""

from __future__ import annotations

import unicodedata
from typing import Literal

Tokens = Literal["space", "words"]
Case = Literal["keep", "lower"]
_JOINERS = "'\u200c\u200d"  # an apostrophe, and what joins and parts the letters of a Persian word
_ENDS = ".!?…؟۔。！？।"


class _SignTable(dict[int, str]):
    """Replacement of each sign before words are separated: itself, or a space; looked up once for each sign."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        kept = sign.isalnum() or sign in _JOINERS or sign == "_" or unicodedata.category(sign)[0] == "M"
        self[code] = sign if kept else " "
        return self[code]


_SIGNS = _SignTable({ord("’"): "'"})


def split_tokens(text: str, tokens: Tokens = "words", case: Case = "lower") -> list[str]:
    """The tokens of a text.

    `space`: what white space separates, punctuation included. `words`: runs of letters, digits, underscores and the
    marks that belong to them; an apostrophe or a zero-width (non-)joiner between them belongs to the word.
    """
    text = text.lower() if case == "lower" else text
    if tokens == "space":
        return text.split()
    words = (word.strip(_JOINERS) for word in text.translate(_SIGNS).split())
    return [word for word in words if word]


def count_sentences(text: str) -> int:
    """Count the sentences of a text: each ends in a full stop, question mark or exclamation mark before a space.

    Only those with a word count, and what is left at the end counts without a sign.
    """
    n, words = 0, False
    for piece in text.split():
        words = words or bool(split_tokens(piece))
        if words and piece.rstrip("\"'”’)]»")[-1:] in _ENDS:
            n, words = n + 1, False
    return n + words

"""Folding spellings that readers of Persian and Arabic take for the same, beyond NFC: for telling texts apart only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

Folding = Literal["none", "arabic"]

# Letters that keyboards give in two forms, and signs that show how a word is drawn or read, and not which it is.
_LETTERS = str.maketrans(
    {
        **dict.fromkeys("\u064a\u0649\u06cc", "\u06cc"),  # yeh, alef maksura
        **dict.fromkeys("\u0643\u06a9", "\u06a9"),  # kaf
        **dict.fromkeys("\u0640\u200c\u200d\u200e\u200f\u00ad\ufeff", None),  # kashida, joiners, marks of direction
        **dict.fromkeys([*map(chr, range(0x064B, 0x0653)), "\u0654", "\u0655", "\u0670"], None),  # vowels and such
    }
)
_SPACES = re.compile(r"\s+")


def fold_letters(text: str) -> str:
    """The text with one form of yeh and of kaf, without kashida, joiners, marks of direction and vowel signs.

    A half-space (zero-width non-joiner) goes without leaving a space: with it and without it a word is the same word.
    Letters that carry a hamza of their own are other letters, and stay.
    """
    return unicodedata.normalize("NFC", text).translate(_LETTERS)


def fold_arabic(text: str) -> str:
    """Fold a text to what two Persian or Arabic spellings must share to be the same text.

    That is `fold_letters`, and runs of white space as one space, none at the ends. What is folded stays as it is when
    it is folded again, and of ASCII texts only spaces change.
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", fold_letters(text))).strip()


def fold_by(folding: Folding) -> Callable[[str], str]:
    """Function with which a study folds texts before they are told apart."""
    return fold_arabic if folding == "arabic" else str

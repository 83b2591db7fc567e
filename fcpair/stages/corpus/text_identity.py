"""Rules by which two spellings are the same: of a text, of a word in a file, of a number, and letters read alike."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from typing import Literal

NO_TEXT = re.compile("[\x00\ud800-\udfff]")  # a NUL, half a surrogate pair, a byte that was no UTF-8
_ZERO_DECIMALS = re.compile(r"^(\d+)[.,]0+$")
_WORD_JOINTS = re.compile(r"[\s_-]+")


def identity(text: str) -> str:
    """Form that two texts must share to be the same text: NFC, stripped."""
    return unicodedata.normalize("NFC", text).strip()


def digest(text: str) -> str:
    """SHA-256 of the identity of `text`, in hexadecimal."""
    return hashlib.sha256(identity(text).encode("utf-8", "surrogatepass")).hexdigest()


def escape_non_text(text: str) -> str:
    """A text as any database can keep it: what is no character is written out, as `\\u0000`."""
    return NO_TEXT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def fold_name(name: str) -> str:
    """Fold what does not tell names in files apart: capitals, and how words are joined (`Own label` is `own_label`)."""
    return _WORD_JOINTS.sub("_", name.strip().casefold())


def strip_zero_decimals(cell: str) -> str:
    """A number that other programs write as `2.0`, or `2,0`, as `2`; anything else as it is."""
    return _ZERO_DECIMALS.sub(r"\1", cell.strip())


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
    """The text with one form of yeh and of kaf, without kashida, joiners (a half-space leaves no space), marks of
    direction and vowel signs. Letters that carry a hamza of their own stay.
    """
    return unicodedata.normalize("NFC", text).translate(_LETTERS)


def fold_arabic(text: str) -> str:
    """Fold a text to what two Persian or Arabic spellings must share to be the same text: `fold_letters`, and runs of
    white space as one space, none at the ends. Folding again changes nothing.
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", fold_letters(text))).strip()


def fold_by(folding: Folding) -> Callable[[str], str]:
    """Function with which a study folds texts before they are told apart."""
    return fold_arabic if folding == "arabic" else str

"""When two spellings are the same: of a text, of a word in a file, of a number."""

from __future__ import annotations

import hashlib
import re
import unicodedata

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

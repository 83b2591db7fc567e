"""Which way a text runs."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Literal

RIGHT_TO_LEFT = ("R", "AL")  # Unicode's bidirectional classes: Hebrew and its kin, Arabic and its kin
LEFT_TO_RIGHT = ("L",)


@lru_cache(maxsize=4096)  # the texts of a study come again and again
def direction(text: str) -> Literal["ltr", "rtl"]:
    """The direction that most of the text's letters have; left to right when it has as many of both, or none.

    Browsers' own `dir="auto"` goes by the first letter alone, so that a Persian text which opens with a Latin name
    or a user's handle would run the wrong way.
    """
    classes = [unicodedata.bidirectional(character) for character in text]
    rightward = sum(kind in LEFT_TO_RIGHT for kind in classes)
    leftward = sum(kind in RIGHT_TO_LEFT for kind in classes)
    return "rtl" if leftward > rightward else "ltr"

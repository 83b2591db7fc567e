"""Texts to tokens, in any script: what white space separates, words and emoji, or single characters."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Tokens = Literal["space", "words", "char"]
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


# Emoji by Unicode 15.1, but for those that are text unless U+FE0F follows; and what makes one of several.
_PICTURE = (
    "[\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u2600-\u2604\u260e\u2611\u2614\u2615\u2618\u261d\u2620\u2622\u2623\u2626\u262a"
    "\u262e\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u267f\u2692-\u2697"
    "\u2699\u269b\u269c\u26a0\u26a1\u26a7\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8\u26ce\u26cf\u26d1\u26d3"
    "\u26d4\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d\u2721\u2728"
    "\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797\u27a1\u27b0\u27bf\u2b1b\u2b1c\u2b50"
    "\u2b55\U0001f000-\U0001f0ff\U0001f18e\U0001f191-\U0001f1e5\U0001f201-\U0001f2ff\U0001f300-\U0001f64f"
    "\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7ff\U0001f90c-\U0001faff]"
)
_PART = f"(?:{_PICTURE}|[\u00a9-\u3299](?=\ufe0f))[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_EMOJI = re.compile(f"([\U0001f1e6-\U0001f1ff]{{2}}|{_PART}(?:\u200d{_PART})*)")
_WITHOUT_SPACES = re.compile(  # Thai, Lao, Myanmar, Khmer, Kana, Han
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{2}"
)


def split_tokens(text: str, tokens: Tokens = "words", case: Case = "lower") -> list[str]:
    """The tokens of a text.

    `space`: what white space separates, punctuation included. `words`: runs of letters, digits, underscores and the
    marks that belong to them; an apostrophe or a zero-width (non-)joiner between them belongs to the word, and an emoji
    is a token. `char`: each character but white space, as sacrebleu has it, for scripts without spaces.
    """
    text = text.lower() if case == "lower" else text
    if tokens == "char":
        return [sign for sign in text if not sign.isspace()]
    if tokens == "space":
        return text.split()
    parts = enumerate(_EMOJI.split(text))
    return [token for at, part in parts for token in ([part.replace("\ufe0f", "")] if at % 2 else _split_words(part))]


def split_words(text: str) -> list[str]:
    """The words of a text in small letters, without its emoji."""
    return [word for part in _EMOJI.split(text.lower())[::2] for word in _split_words(part)]


def _split_words(text: str) -> list[str]:
    return [word for word in (word.strip(_JOINERS) for word in text.translate(_SIGNS).split()) if word]


def has_no_spaces(text: str) -> bool:
    """Return whether a text is in a script that puts no spaces between words, at least in part."""
    return _WITHOUT_SPACES.search(text) is not None


def count_sentences(text: str) -> int:
    """Count the sentences with a word: each ends in a full stop, question mark or exclamation mark before a space, the
    last one without.
    """
    n, words = 0, False
    for piece in text.split():
        words = words or bool(split_words(piece))
        if words and piece.rstrip("\"'”’)]»")[-1:] in _ENDS:
            n, words = n + 1, False
    return n + words

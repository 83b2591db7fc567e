"""The language of a text, by py3langid, offline."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from threading import Lock
from typing import Any

from fcpair.errors import InputError, require, suggest_name
from fcpair.stages.corpus.text_identity import fold_letters

SURE = 0.9
"""The probability above which another language counts. None of CrowdCounter's 3,435 English counter-narratives and none
of ParsCN's 1,100 Persian ones is taken for another language so.
"""
_lock = Lock()  # the identifier was not made for threads


@cache
def _identifier() -> Any:
    require("texts", "detecting the language of a text", "py3langid")
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def check_language(code: str) -> None:
    """Raise InputError, with the nearest one, for the code of a language that cannot be detected."""
    if code not in (codes := sorted(set(_identifier().labels))):
        raise InputError(f"`{code}` is not a language that can be detected; {suggest_name(code, codes)}")


def detect_language(text: str) -> tuple[str, float]:
    """The likeliest language of a text, as a code of two or three letters, and its probability, in [0, 1]. Arabic forms
    of yeh and kaf are read as the Persian ones: without that, 59 of ParsCN's 1,100 Persian counter-narratives would be
    of another language.
    """
    with _lock:
        code, probability = _identifier().classify(fold_letters(text))
    return str(code), float(probability)


def other_language(text: str, expected: str) -> tuple[str, float] | None:
    """The language that a text is in instead of the expected one, and its probability; None where none is sure."""
    code, probability = detect_language(text)
    return (code, probability) if code != expected and probability > SURE else None


def rule(expected: str) -> str:
    """The rule and its version, as refusals keep it."""
    return f"{expected}; another language above {SURE:g} by py3langid {version('py3langid')}"

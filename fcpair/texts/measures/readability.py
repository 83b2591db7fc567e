"""Readability of English texts: Flesch-Kincaid and Dale-Chall."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

from fcpair.errors import InputError, require
from fcpair.files.tables.tabular import check_file
from fcpair.texts.measures.base import ENGLISH, NO_TOKEN, Measure, TextTable, Values, fill_defined
from fcpair.texts.measures.tokens import count_sentences, split_words

_ENDINGS = ("'s", "s'", "s", "es", "d", "ed", "ing", "r", "er", "st", "est", "ly")
_NUMBER = re.compile(r"\d[\d_]*(?:st|nd|rd|th|s)?")
Formula = Callable[[list[str], int], float]  # from the words of a text and the number of its sentences to its figure
FEW, CONSTANT = 0.05, 3.6365  # above this share of unfamiliar words the constant is added


@dataclass(frozen=True)
class Readability(Measure):
    """A formula that was fitted on English texts."""

    def for_language(self, language: str | None) -> Measure:
        """Itself for English; raises InputError for any other language."""
        if language != ENGLISH:
            language_note = "no language was given" if language is None else f"the language is `{language}`"
            raise InputError(f"{self.short_name} was fitted on English texts; {language_note}, expected `{ENGLISH}`")
        return self

    def formula(self) -> Formula:
        """Formula that gives the figure of a text of at least one word."""
        raise NotImplementedError

    def score_each(self, table: TextTable) -> Values:
        """A grade for each text; undefined without a word."""
        words = [split_words(text) for text in table.texts]
        formula, pairs = self.formula(), zip(words, table.texts, strict=True)
        grades = [formula(one, count_sentences(text)) for one, text in pairs if one]
        return fill_defined(["" if of_text else NO_TOKEN for of_text in words], grades)


@dataclass(frozen=True)
class FleschKincaid(Readability):
    """The Flesch-Kincaid grade: 0.39 words per sentence + 11.8 syllables per word - 15.59.

    Kincaid et al. 1975, https://doi.org/10.21236/ADA006655. Syllables are the parts that pyphen's hyphenation (en_US)
    finds, at least one for a word; it does not part off single letters, so short words can have one too few. Below 0
    for very short texts, without an upper end.
    """

    word: ClassVar[str] = "fk"

    def formula(self) -> Formula:
        """The grade of a text."""
        require("texts", f"the measure `{self.word}`", "pyphen")
        from pyphen import Pyphen

        parts = Pyphen(lang="en_US")
        syllables = cache(lambda word: len(parts.positions(word)) + 1)

        def grade(words: list[str], n_sentences: int) -> float:
            return 0.39 * len(words) / n_sentences + 11.8 * sum(map(syllables, words)) / len(words) - 15.59

        return grade


@dataclass(frozen=True)
class DaleChall(Readability):
    """Dale-Chall: 15.79 x the share of unfamiliar words + 0.0496 words per sentence, + 3.6365 where that share is above
    5 %.

    Dale and Chall 1948, Educational Research Bulletin 27, pages 11-20 and 37-54. The list of some 3,000 familiar words
    is not fcpair's to give: `words` names a file of it, one word in a line. As its rules have it, numbers and regular
    endings (-s, -'s, -d, -ed, -ing, -r, -er, -st, -est, -ly, with a doubled consonant, a dropped e, or i for y) of a
    word in the list are familiar; names, which are too by its rules, count only if they are in the file.
    """

    word: ClassVar[str] = "dale-chall"
    words: Literal["none"] | Path = "none"

    def for_language(self, language: str | None) -> Measure:
        """Itself for English; raises InputError without a list of words."""
        if self.words == "none":
            raise InputError(
                "dale-chall needs the list of about 3,000 familiar words, which fcpair may not redistribute: "
                "dale-chall(words=FILE), one word in a line"
            )
        return super().for_language(language)

    def formula(self) -> Formula:
        """The score of a text."""
        path = Path(self.words)
        check_file(path)
        try:
            listed = {"".join(split_words(line)) for line in path.read_text("utf-8-sig").splitlines()} - {""}
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8; expected one word in a line") from None
        if not listed:
            raise InputError(f"{path}: there is no word; expected one in a line")
        is_familiar = cache(lambda word: bool(_NUMBER.fullmatch(word)) or not listed.isdisjoint(_base_forms(word)))

        def score(words: list[str], n_sentences: int) -> float:
            share = sum(not is_familiar(word) for word in words) / len(words)
            return 15.79 * share + 0.0496 * len(words) / n_sentences + CONSTANT * (share > FEW)

        return score


def _base_forms(word: str) -> set[str]:
    """A word, and what it could be a regular form of."""
    forms = {word}
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem in (word, ""):
            continue
        forms |= {stem, f"{stem}e"}
        if stem[-1] == "i":
            forms.add(f"{stem[:-1]}y")
        if len(stem) > 2 and stem[-1] == stem[-2]:
            forms.add(stem[:-1])
    return forms

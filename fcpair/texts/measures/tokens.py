"""Tokens of texts in any script, and measures made of them alone: variety, novelty, readability in English."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError, require
from fcpair.files.tables.tabular import check_file, read_table
from fcpair.lazy import scipy
from fcpair.texts.measures.base import (
    ENGLISH,
    NO_TOKEN,
    Measure,
    SetFigure,
    TextTable,
    Values,
    count_reasons,
    fill_defined,
)

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


LONGEST = 99
Ngrams = list[tuple[str, ...]]
ROWS = 1024  # texts that are compared with all others at once


@dataclass(frozen=True)
class BoundedMeasure(Measure):
    """A measure of n-grams of up to `n` tokens."""

    n: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LONGEST:
            raise InputError(f"n is {self.n}; expected a number from 1 to {LONGEST}")


@dataclass(frozen=True)
class NgramMeasure(BoundedMeasure):
    """A measure of the n-grams of a set, `n` tokens each; the number is part of the name: `dist-2`."""

    outside_brackets: ClassVar[tuple[str, ...]] = ("n",)
    n: int = 1
    tokens: Tokens = "space"
    case: Case = "keep"
    per_text: bool = False

    @property
    def head(self) -> str:
        """The word with the number of tokens."""
        return f"{self.word}-{self.n}"

    def score_counts(self, counts: Counter[tuple[str, ...]]) -> float:
        """The figure of n-grams, at least one, that are counted."""
        raise NotImplementedError

    def score_each(self, table: TextTable) -> Values:
        """The figure of each text's own n-grams."""
        scores = [self.score_counts(Counter(of_text)) for of_text in self._ngrams(table) if of_text]
        return fill_defined(self._undefined_reasons(table), scores)

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """The figure of all n-grams of the texts together; no n-gram reaches over the end of a text."""
        ngrams_by_text, why = self._ngrams(table), self._undefined_reasons(table)
        counts = Counter(ngram for row in rows for ngram in ngrams_by_text[row])
        left_out = count_reasons([why[row] for row in rows])
        n = len(rows) - sum(left_out.values())
        tokens = "a token" if self.n == 1 else f"{self.n} tokens"
        if not counts:
            return SetFigure(None, 0, left_out=left_out, undefined=f"no text has {tokens}")
        return SetFigure(self.score_counts(counts), n, left_out=left_out)

    def _ngrams(self, table: TextTable) -> list[Ngrams]:
        def split() -> list[Ngrams]:
            return [ngrams(split_tokens(text, self.tokens, self.case), self.n) for text in table.texts]

        return table.compute_once(("ngrams", self.n, self.tokens, self.case), split)

    def _undefined_reasons(self, table: TextTable) -> list[str]:
        short = NO_TOKEN if self.n == 1 else f"it has fewer than {self.n} tokens"
        return ["" if of_text else short for of_text in self._ngrams(table)]


@dataclass(frozen=True)
class Dist(NgramMeasure):
    """Distinct n-grams over all n-grams. Li et al. 2016, https://doi.org/10.18653/v1/N16-1014.

    Case is kept, as published figures have it. It falls as texts are added, so sets of different sizes do not compare.
    """

    word: ClassVar[str] = "dist"

    def score_counts(self, counts: Counter[tuple[str, ...]]) -> float:
        """Above 0, up to 1."""
        return len(counts) / counts.total()


@dataclass(frozen=True)
class Ent(NgramMeasure):
    """The Shannon entropy of the distribution of n-grams, in bits. Zhang et al. 2018, arXiv 1809.05972 (ENT-n).

    Tokens are lower-cased unless `case=keep`. It rises with the number of n-grams, up to log2 of that.
    """

    word: ClassVar[str] = "ent"
    case: Case = "lower"

    def score_counts(self, counts: Counter[tuple[str, ...]]) -> float:
        """0 where all n-grams are the same, up to log2 of their number."""
        n = counts.total()
        return max(0.0, log2(n) - sum(count * log2(count) for count in sorted(counts.values())) / n)


@dataclass(frozen=True)
class Ngd(BoundedMeasure):
    """N-gram diversity: distinct n-grams over all n-grams of a set, for each length from 1 to `n`, and their mean.

    Padmakumar and He 2023, arXiv 2309.05196 and Meister et al. 2023, https://doi.org/10.1162/tacl_a_00536 have it as
    the sum over lengths (`over=sum`), which is `n` times the mean, and put the texts together first: `join=true` does
    so, in the order in which they stand, and n-grams reach from one text into the next; else none does. Lengths of
    which there is no n-gram make it undefined.
    """

    word: ClassVar[str] = "ngd"
    per_text: ClassVar[bool] = False
    over: Literal["mean", "sum"] = "mean"
    tokens: Tokens = "words"
    case: Case = "lower"
    join: bool = False

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """Above 0, up to 1 for the mean and up to `n` for the sum."""
        texts, all_rows = table, rows
        if self.join:
            texts, all_rows = TextTable([" ".join(table.texts[row] for row in rows)]), np.array([0])
        of_lengths = [Dist(n, self.tokens, self.case).pool(texts, all_rows) for n in range(1, self.n + 1)]
        shares = [length.value for length in of_lengths if length.value is not None]
        words = Dist(1, self.tokens, self.case).pool(table, rows)
        if len(shares) < self.n and self.join:
            why = f"all texts together have fewer than {self.n} tokens"
            return SetFigure(None, 0, left_out=words.left_out, undefined=why)
        if len(shares) < self.n:
            return SetFigure(None, 0, left_out=of_lengths[-1].left_out, undefined=of_lengths[-1].undefined)
        total = sum(shares)
        return SetFigure(total if self.over == "sum" else total / self.n, words.n, left_out=words.left_out)

    def notes(self, table: TextTable) -> Iterator[str]:
        """Return whether n-grams cross from one text into the next."""
        if self.join:
            yield "n-grams cross from each text into the next, as the texts are put together in their order"
        else:
            yield "no n-gram crosses from one text into the next; join=true puts the texts together first"


@dataclass(frozen=True)
class SelfBleu(BoundedMeasure):
    """The BLEU of each text against all others of its set as references. Zhu et al. 2018, arXiv 1802.01886.

    Precisions of 1 to `n` tokens with equal weights; one without a match counts 0.1 / number of n-grams, the first
    smoothing of Chen and Cherry 2014, https://doi.org/10.3115/v1/W14-3346, as in the authors' program (nltk's
    `sentence_bleu` with `method1`). All references are read at once: of each n-gram only its two highest counts in any
    text are needed. High where texts repeat each other.
    """

    word: ClassVar[str] = "self-bleu"
    tokens: Tokens = "words"
    case: Case = "lower"

    def score_each(self, table: TextTable) -> Values:
        """From 0 to 1 for each text; undefined where no other text has a token."""
        tokens = [split_tokens(text, self.tokens, self.case) for text in table.texts]
        n_with_tokens, alone = sum(map(bool, tokens)), "no other text has a token"
        why = [(alone if n_with_tokens < 2 else "") if of_text else NO_TOKEN for of_text in tokens]
        return fill_defined(why, self._scores([of_text for of_text in tokens if of_text]) if n_with_tokens > 1 else [])

    def set_figure(self, table: TextTable, rows: Ints) -> SetFigure:
        """The mean over a set of texts, with the others of the set alone as references."""
        if len(rows) == len(table.texts):
            return super().set_figure(table, rows)
        return super().set_figure(TextTable([table.texts[row] for row in rows]), np.arange(len(rows)))

    def _scores(self, tokens: Sequence[list[str]]) -> Floats:
        lengths, logs = np.array([len(of_text) for of_text in tokens]), np.zeros(len(tokens))
        for n in range(1, self.n + 1):
            # the n-grams of each text that are in another one, each at most as often as there, and all that it has
            counts = [Counter(ngrams(of_text, n)) for of_text in tokens]
            most: dict[tuple[str, ...], tuple[int, int, int]] = {}
            for at, count in enumerate(counts):
                for ngram, times in count.items():
                    first, owner, second = most.get(ngram, (0, -1, 0))
                    most[ngram] = (times, at, first) if times > first else (first, owner, max(second, times))
            matched, whole = np.zeros(len(tokens)), np.array([count.total() for count in counts])
            for at, count in enumerate(counts):
                there = ((times, most[ngram]) for ngram, times in count.items())
                matched[at] = sum(min(times, one[2] if one[1] == at else one[0]) for times, one in there)
            if n == 1:
                none = matched == 0  # nltk gives such a text 0, whatever the smoothing
            logs += np.log(np.where(matched, matched, 0.1) / np.maximum(whole, 1)) / self.n
        # The length nearest to that of each text among the others, the shorter of two; its own if there it is again.
        distinct, place, n_each = np.unique(lengths, return_inverse=True, return_counts=True)
        padded = np.concatenate([[-np.inf], distinct, [np.inf]])
        below, above = padded[place], padded[place + 2]
        other = np.where(lengths - below <= above - lengths, below, above)
        short = np.maximum(0, np.where(n_each[place] > 1, lengths, other) / lengths - 1)
        return np.where(none, 0.0, np.exp(logs - short))


def ngrams(tokens: Sequence[str], n: int) -> Ngrams:
    """The runs of `n` tokens of a text."""
    return list(zip(*(tokens[at:] for at in range(n)), strict=False))


@dataclass(frozen=True)
class Novelty(Measure):
    """1 - the greatest Jaccard similarity of a text's distinct tokens with those of any text of a set, from 0 to 1.

    Wang and Wan 2018 (SentiGAN), https://doi.org/10.24963/ijcai.2018/618. The set is all references of the table, or a
    column of a file, such as what a model was trained on. A text that stands in the set itself has 0.
    """

    word: ClassVar[str] = "novelty"
    against: Literal["references"] | Path = "references"
    column: str = "text"
    tokens: Tokens = "words"
    case: Case = "lower"

    def check(self, table: TextTable) -> None:
        """Raise InputError if there is no set."""
        if self.against == "references" and table.references is None:
            raise InputError(
                f"{self.short_name} needs a set: columns of references, or novelty(against=FILE,column=NAME)"
            )

    def score_each(self, table: TextTable) -> Values:
        """From 0 to 1 for each text; undefined without a token, and where no text of the set has one."""
        other_texts = [reference for of in table.references or () for reference in of]
        if isinstance(self.against, Path):
            other_texts = read_table(self.against, [self.column], verbatim=True)[self.column].tolist()
        sides = (table.texts, other_texts)
        texts, all_others = ([frozenset(split_tokens(of, self.tokens, self.case)) for of in side] for side in sides)
        if not (others := [other for other in dict.fromkeys(all_others) if other]):
            return self.undefined_everywhere(table, "no text of the set has a token")
        why = ["" if token_set else NO_TOKEN for token_set in texts]
        return fill_defined(why, 1 - _max_similarity([token_set for token_set in texts if token_set], others))


def _max_similarity(texts: Sequence[frozenset[str]], others: Sequence[frozenset[str]]) -> Floats:
    at = {token: number for number, token in enumerate(sorted({token for text in (*texts, *others) for token in text}))}

    def incidence(sets: Sequence[frozenset[str]]) -> scipy.sparse.csr_array:
        starts = np.cumsum([0, *map(len, sets)])
        columns = np.array([at[token] for set_ in sets for token in set_], np.int64)
        return scipy.sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(sets), len(at)))

    whole, sizes = incidence(others).T.tocsc(), np.array(list(map(len, others)))
    similarities = np.zeros(len(texts))
    for start in range(0, len(texts), ROWS):
        block = texts[start : start + ROWS]
        shared = (incidence(block) @ whole).toarray()
        union = np.array(list(map(len, block)))[:, None] + sizes - shared
        similarities[start : start + ROWS] = (shared / union).max(axis=1)
    return similarities


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

        return lambda words, n: 0.39 * len(words) / n + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


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
    forms = {word}
    for ending in _ENDINGS:
        if (stem := word.removesuffix(ending)) in (word, ""):
            continue
        forms |= {stem, f"{stem}e"}
        if stem[-1] == "i":
            forms.add(f"{stem[:-1]}y")
        if len(stem) > 2 and stem[-1] == stem[-2]:
            forms.add(stem[:-1])
    return forms

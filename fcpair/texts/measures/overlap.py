"""How much of references stands in texts, token by token: BLEU, chrF, GLEU, METEOR, ROUGE-L."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, Literal
from warnings import catch_warnings
from weakref import finalize

import numpy as np

from fcpair.errors import InputError
from fcpair.texts.measures.base import TOLERANCE, Floats, Found, Rows, reasons
from fcpair.texts.measures.measured_texts import Table
from fcpair.texts.measures.references import Referenced, Refs, below_maximum
from fcpair.texts.measures.tokens import Case, Tokens, parted

ORDER = 4  # of the longest n-grams of BLEU
ENGLISH = "en"
NONE: Literal["none"] = "none"
Match = Literal["by-language", "exact", "exact+stem", "exact+stem+synonyms"]


@dataclass(frozen=True)
class BySacrebleu(Referenced):
    """A measure that sacrebleu computes, from 0 to 100: of all texts together, or `per_text`."""

    per_text: bool = False

    @property
    def too_short(self) -> str:
        """Why a set is undefined of which sacrebleu's figure is made up."""
        return "no text is long enough"

    def metric(self) -> Any:
        """The measure as sacrebleu has it."""
        raise NotImplementedError

    def whole(self, scored: Any) -> bool:
        """Whether what sacrebleu found for a set is a figure, and not made up for want of n-grams."""
        return True

    def has_token(self, table: Table, text: str) -> bool:
        """Whether anything but white space is in a text."""
        return bool(text.strip())

    def scores(self, table: Table, texts: Sequence[str], references: Refs) -> Floats:
        """From 0 to 100 for each text."""
        metric = self.metric()
        return np.array(
            [metric.sentence_score(text, list(of)).score for text, of in zip(texts, references, strict=True)]
        )

    def most(self, texts: Sequence[str]) -> Floats:
        """100 for each text."""
        return np.full(len(texts), 100.0)

    def pool(self, table: Table, rows: Rows) -> Found:
        """From 0 to 100 for a set; undefined where the texts are too short for it."""
        why = table.once(("why", self), lambda: self.compared(table)[2])
        there = [int(row) for row in rows if not why[row]]
        left_out = reasons([why[row] for row in rows])
        if not there:
            return Found(None, 0, left_out=left_out, undefined="no text has a figure")
        texts, kept = [table.texts[row] for row in there], table.references or ()
        scored = self._scored(texts, [[one for one in kept[row] if self.has_token(table, one)] for row in there])
        if not self.whole(scored):
            return Found(None, 0, left_out=left_out, undefined=self.too_short)
        return Found(float(scored.score), len(there), left_out=left_out)

    def unfit(self, table: Table) -> str:
        """Why it is not right for these texts: copies do not reach 100, of each text, or of all of them together.

        Texts that are too short for a figure are no reason: each set of them is undefined by itself.
        """
        if self.per_text:
            return super().unfit(table)
        copies = self.copied(table)
        scored = self._scored(copies, [[one] for one in copies]) if copies else None
        if scored is None or not self.whole(scored) or abs(scored.score - 100) <= TOLERANCE:
            return ""
        return below_maximum("all of them together", copies[0], scored.score, 100)

    def low(self, table: Table) -> dict[str, tuple[float, float]]:
        """Of each text, where there is a figure of each."""
        return super().low(table) if self.per_text else {}

    def notes(self, table: Table) -> Iterator[str]:
        """Sacrebleu's own signature."""
        metric = self.metric()
        metric.corpus_score(["a"], [["a"]])
        signature = str(metric.get_signature()).split("|", 1)[1]
        yield f"sacrebleu {signature}"

    def _scored(self, texts: Sequence[str], references: Refs) -> Any:
        streams = [list(stream) for stream in zip_longest(*references)]  # None where a text has fewer references
        return self.metric().corpus_score(list(texts), streams)


@dataclass(frozen=True)
class Bleu(BySacrebleu):
    """BLEU, from 0 to 100, by sacrebleu: corpus BLEU, or of each text with the orders that it has (`per_text`).

    Papineni et al. 2002, https://doi.org/10.3115/1073083.1073135; Post 2018, https://doi.org/10.18653/v1/W18-6319.
    """

    word: ClassVar[str] = "bleu"
    tokens: Literal["13a", "intl", "zh", "char"] = "13a"

    def metric(self) -> Any:
        """Sacrebleu's BLEU, with exponential smoothing."""
        from sacrebleu.metrics.bleu import BLEU

        return BLEU(tokenize=self.tokens, effective_order=self.per_text, force=True)

    def whole(self, scored: Any) -> bool:
        """Whether there is an n-gram of the longest order."""
        return bool(scored.totals[-1])

    @property
    def too_short(self) -> str:
        """That there is none, by the tokens that were asked for."""
        return f"no text has {ORDER} tokens (tokens={self.tokens})"


@dataclass(frozen=True)
class Chrf(BySacrebleu):
    """The F-score of character n-grams up to 6, beta 2, from 0 to 100, by sacrebleu.

    Popović 2015, https://doi.org/10.18653/v1/W15-3049.
    """

    word: ClassVar[str] = "chrf"

    def metric(self) -> Any:
        """Sacrebleu's chrF."""
        from sacrebleu.metrics.chrf import CHRF

        return CHRF()


@dataclass(frozen=True)
class OfTokens(Referenced):
    """A measure of each text by fcpair's own tokens."""

    tokens: Tokens = "words"

    def parts(self, text: str) -> list[str]:
        """The tokens of a text."""
        return parted(text, self.tokens)

    def has_token(self, table: Table, text: str) -> bool:
        """Whether a text has a token."""
        return bool(self.parts(text))


@dataclass(frozen=True)
class Gleu(OfTokens):
    """The lesser of precision and recall of all n-grams up to 4, from 0 to 1, by nltk; the best reference counts.

    Wu et al. 2016, arXiv 1609.08144, section 6. nltk takes tokens; a string would become its single signs.
    """

    word: ClassVar[str] = "gleu"
    case: Case = "lower"

    def parts(self, text: str) -> list[str]:
        """The tokens of a text, in the case that is asked for."""
        return parted(text, self.tokens, self.case)

    def scores(self, table: Table, texts: Sequence[str], references: Refs) -> Floats:
        """From 0 to 1 for each text."""
        from nltk.translate.gleu_score import sentence_gleu

        return _scored(self, sentence_gleu, texts, references)


@dataclass(frozen=True)
class Meteor(OfTokens):
    """METEOR with the parameters of 2007 (alpha 0.9, beta 3, gamma 0.5), by nltk; the best reference counts.

    Banerjee and Lavie 2005, https://aclanthology.org/W05-0909; Lavie and Agarwal 2007,
    https://aclanthology.org/W07-0734. What is matched follows the language: the same token, lower-cased, in any; the
    same Porter stem in English; synonyms where a folder with WordNet is given (nltk looks up the stems that are left,
    so it finds those that are words). The penalty leaves a copy of m tokens 1 - 0.5 / m^3.
    """

    word: ClassVar[str] = "meteor"
    match: Match = "by-language"
    wordnet: Literal["none"] | Path = NONE

    def spoken(self, language: str | None) -> Meteor:
        """With what is matched in that language; raises InputError for synonyms or stems of another than English."""
        english = language == ENGLISH
        if (self.wordnet != NONE or "stem" in self.match) and not english:
            raise InputError(f"{self.short}: stems and WordNet are English; say so with the language `{ENGLISH}`")
        if (self.match == "exact+stem+synonyms") != (self.wordnet != NONE) and self.match != "by-language":
            raise InputError(f"{self.short}: synonyms and a folder with WordNet need each other")
        if self.match != "by-language":
            return self
        in_english: Match = "exact+stem" if self.wordnet == NONE else "exact+stem+synonyms"
        return replace(self, match=in_english if english else "exact")

    def scores(self, table: Table, texts: Sequence[str], references: Refs) -> Floats:
        """From 0, without a match, to below 1 for each text."""
        from nltk.stem.porter import PorterStemmer
        from nltk.translate.meteor_score import meteor_score

        stemmer = PorterStemmer() if "stem" in self.match else _NoStems()
        wordnet = _NoSynonyms() if self.wordnet == NONE else table.once(("wordnet", self.wordnet), self._wordnet)

        def score(references: list[list[str]], tokens: list[str]) -> float:
            return float(meteor_score(references, tokens, stemmer=stemmer, wordnet=wordnet))

        return _scored(self, score, texts, references)

    def most(self, texts: Sequence[str]) -> Floats:
        """What a single run of matches leaves of 1."""
        return 1 - 0.5 / np.array([len(self.parts(text)) for text in texts], float) ** 3

    def _wordnet(self) -> Any:
        try:
            return open_wordnet(Path(self.wordnet))
        except Exception as error:  # nltk raises many kinds, assertions too; each only means: no WordNet
            raise InputError(f"{self.wordnet} cannot be read as a folder with WordNet ({error})") from None


class _NoStems:
    """Words as they are."""

    def stem(self, word: str) -> str:
        return word


class _NoSynonyms:
    """A WordNet without a word."""

    def synsets(self, _word: str) -> tuple[Any, ...]:
        return ()


@dataclass(frozen=True)
class RougeL(OfTokens):
    """The F-score of the longest common subsequence, from 0 to 1, by rouge-score; the best reference counts.

    Lin 2004, https://aclanthology.org/W04-1013, with beta 1. Tokens are fcpair's, lower-cased, without stems:
    rouge-score's own drop every letter but a to z.
    """

    word: ClassVar[str] = "rouge-l"

    def scores(self, table: Table, texts: Sequence[str], references: Refs) -> Floats:
        """From 0 to 1 for each text."""
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rougeL"], tokenizer=_Tokeniser(self.parts))
        return np.array(
            [scorer.score_multi(list(of), text)["rougeL"].fmeasure for text, of in zip(texts, references, strict=True)]
        )


@dataclass(frozen=True)
class _Tokeniser:
    """Our tokens for rouge-score."""

    tokenize: Callable[[str], list[str]]


def _scored(
    measure: OfTokens, score: Callable[[list[list[str]], list[str]], float], texts: Sequence[str], references: Refs
) -> Floats:
    """The score of the tokens of each text against those of its references."""
    pairs = zip(texts, references, strict=True)
    return np.array([score([measure.parts(one) for one in of], measure.parts(text)) for text, of in pairs], float)


def open_wordnet(folder: Path) -> Any:
    """A reader of the WordNet in a folder, wherever that is; what nltk raises says that there is none.

    nltk reads only below the folders of its data path, so this one is added to them. Its reader would also map what it
    reads to the WordNet that other languages were made for, and fail where that is not installed as nltk's own.
    """
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class OneLanguage(WordNetCorpusReader):  # type: ignore[misc]
        def map_wn(self, version: str = "wordnet") -> None:
            """Nothing: other languages are not asked for."""

    named = str(folder.resolve())
    if named not in nltk.data.path:
        nltk.data.path.append(named)
    with catch_warnings(action="ignore"):  # that there are no other languages
        reader = OneLanguage(named, None)
    finalize(reader, _close, reader._data_file_map)  # nltk keeps its files open, and never closes them
    reader.synsets("word")
    return reader


def _close(files: dict[str, Any]) -> None:
    for file in files.values():
        file.close()

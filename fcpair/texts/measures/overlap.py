"""Overlap of texts with references, token by token: BLEU, chrF, GLEU, METEOR, ROUGE-L."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Literal
from warnings import catch_warnings
from weakref import finalize

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError, require
from fcpair.texts.measures.base import (
    ENGLISH,
    TOLERANCE,
    ReferenceMeasure,
    Refs,
    SetFigure,
    TextTable,
    below_maximum,
    count_reasons,
)
from fcpair.texts.measures.tokens import Case, Tokens, split_tokens

ORDER = 4  # of the longest n-grams of BLEU
NONE: Literal["none"] = "none"
Match = Literal["by-language", "exact", "exact+stem", "exact+stem+synonyms"]


@dataclass(frozen=True)
class SacrebleuMeasure(ReferenceMeasure):
    """A measure that sacrebleu computes, from 0 to 100: of all texts together, or `per_text`."""

    per_text: bool = False

    def metric(self) -> Any:
        """The measure as sacrebleu has it."""
        raise NotImplementedError

    def undefined_reason(self, result: Any) -> str:
        """The reason why sacrebleu's result for a set is made up, for want of n-grams; empty where it is a figure."""
        return ""

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """From 0 to 100 for each text."""
        metric, pairs = self.metric(), zip(texts, references, strict=True)
        return np.array([metric.sentence_score(text, list(of)).score for text, of in pairs])

    def max_scores(self, texts: Sequence[str]) -> Floats:
        """100 for each text."""
        return np.full(len(texts), 100.0)

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """From 0 to 100 for a set; undefined where the texts are too short for it."""
        why = table.compute_once(("why", self), lambda: self.select_comparable(table)[2])
        kept_rows = [int(row) for row in rows if not why[row]]
        left_out = count_reasons([why[row] for row in rows])
        if not kept_rows:
            return SetFigure(None, 0, left_out=left_out, undefined="no text has a figure")
        references = [(table.references or ())[row] for row in kept_rows]
        usable = [[reference for reference in of if self.has_token(table, reference)] for of in references]
        result = self._score_corpus([table.texts[row] for row in kept_rows], usable)
        if reason := self.undefined_reason(result):
            return SetFigure(None, 0, left_out=left_out, undefined=reason)
        return SetFigure(float(result.score), len(kept_rows), left_out=left_out)

    def unfit_reason(self, table: TextTable) -> str:
        """The reason why it is not right for these texts: copies of each, or of all together, do not reach 100. Those
        too short for a figure are no reason.
        """
        if self.per_text:
            return super().unfit_reason(table)
        copies = self.comparable_texts(table)
        result = self._score_corpus(copies, [[copy] for copy in copies]) if copies else None
        if result is None or self.undefined_reason(result) or abs(result.score - 100) <= TOLERANCE:
            return ""
        return below_maximum("all of them together", copies[0], result.score, 100)

    def low_copies(self, table: TextTable) -> dict[str, tuple[float, float]]:
        """Of each text, if there is a figure of each."""
        return super().low_copies(table) if self.per_text else {}

    def notes(self, table: TextTable) -> Iterator[str]:
        """Sacrebleu's own signature."""
        metric = self.metric()
        metric.corpus_score(["a"], [["a"]])
        signature = str(metric.get_signature()).split("|", 1)[1]
        yield f"sacrebleu {signature}"

    def _score_corpus(self, texts: Sequence[str], references: Refs) -> Any:
        return self.metric().corpus_score(list(texts), [list(stream) for stream in zip_longest(*references)])


@dataclass(frozen=True)
class Bleu(SacrebleuMeasure):
    """BLEU, from 0 to 100, by sacrebleu: corpus BLEU, or of each text with the orders that it has (`per_text`).

    Papineni et al. 2002, https://doi.org/10.3115/1073083.1073135; Post 2018, https://doi.org/10.18653/v1/W18-6319.
    """

    word: ClassVar[str] = "bleu"
    tokens: Literal["13a", "intl", "zh", "char"] = "13a"

    def metric(self) -> Any:
        """Sacrebleu's BLEU, with exponential smoothing."""
        require("texts", f"the measure `{self.word}`", "sacrebleu")
        from sacrebleu.metrics.bleu import BLEU

        return BLEU(tokenize=self.tokens, effective_order=self.per_text, force=True)

    def undefined_reason(self, result: Any) -> str:
        """That there is no n-gram of the longest order, by the tokens that were asked for."""
        return "" if result.totals[-1] else f"no text has {ORDER} tokens (tokens={self.tokens})"


@dataclass(frozen=True)
class Chrf(SacrebleuMeasure):
    """The F-score of character n-grams up to 6, beta 2, from 0 to 100, by sacrebleu.

    Popović 2015, https://doi.org/10.18653/v1/W15-3049.
    """

    word: ClassVar[str] = "chrf"

    def metric(self) -> Any:
        """Sacrebleu's chrF."""
        require("texts", f"the measure `{self.word}`", "sacrebleu")
        from sacrebleu.metrics.chrf import CHRF

        return CHRF()


@dataclass(frozen=True)
class TokenMeasure(ReferenceMeasure):
    """A measure of each text by fcpair's own tokens."""

    tokens: Tokens = "words"

    def tokens_of(self, text: str) -> list[str]:
        """The tokens of a text, in the case that is asked for, if any is."""
        return split_tokens(text, self.tokens, getattr(self, "case", "lower"))

    def has_token(self, table: TextTable, text: str) -> bool:
        """Return whether a text has a token."""
        return bool(self.tokens_of(text))


@dataclass(frozen=True)
class Gleu(TokenMeasure):
    """The lesser of precision and recall of all n-grams up to 4, from 0 to 1, by nltk; the best reference counts.

    Wu et al. 2016, arXiv 1609.08144, section 6. nltk takes tokens; a string would become its single signs.
    """

    word: ClassVar[str] = "gleu"
    case: Case = "lower"

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """From 0 to 1 for each text."""
        require("texts", f"the measure `{self.word}`", "nltk")
        from nltk.translate.gleu_score import sentence_gleu

        return _score_texts(self, sentence_gleu, texts, references)


@dataclass(frozen=True)
class Meteor(TokenMeasure):
    """METEOR with the parameters of 2007 (alpha 0.9, beta 3, gamma 0.5), by nltk; the best reference counts.

    Banerjee and Lavie 2005, https://aclanthology.org/W05-0909; Lavie and Agarwal 2007,
    https://aclanthology.org/W07-0734. What is matched follows the language: the same token, lower-cased, in any; the
    same Porter stem in English; synonyms where a folder with WordNet is given (nltk looks up the stems that are left,
    so it finds those that are words). The penalty leaves a copy of m tokens 1 - 0.5 / m^3.
    """

    word: ClassVar[str] = "meteor"
    match: Match = "by-language"
    wordnet: Literal["none"] | Path = NONE

    def for_language(self, language: str | None) -> Meteor:
        """With what is matched in that language; raises InputError for synonyms or stems of another than English."""
        english = language == ENGLISH
        if (self.wordnet != NONE or "stem" in self.match) and not english:
            raise InputError(f"{self.short_name}: stems and WordNet are for English; set the language to `{ENGLISH}`")
        if (self.match == "exact+stem+synonyms") != (self.wordnet != NONE) and self.match != "by-language":
            raise InputError(f"{self.short_name}: synonyms and a folder with WordNet need each other")
        if self.match != "by-language":
            return self
        in_english: Match = "exact+stem" if self.wordnet == NONE else "exact+stem+synonyms"
        return replace(self, match=in_english if english else "exact")

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """From 0, without a match, to below 1 for each text."""
        require("texts", f"the measure `{self.word}`", "nltk")
        from nltk.stem.porter import PorterStemmer
        from nltk.translate.meteor_score import meteor_score

        stemmer = PorterStemmer() if "stem" in self.match else SimpleNamespace(stem=str)
        wordnet: Any = SimpleNamespace(synsets=lambda _word: ())
        if self.wordnet != NONE:
            wordnet = table.compute_once(("wordnet", self.wordnet), lambda: open_wordnet(Path(self.wordnet)))
        return _score_texts(self, partial(meteor_score, stemmer=stemmer, wordnet=wordnet), texts, references)

    def max_scores(self, texts: Sequence[str]) -> Floats:
        """Greatest possible score of each text: 1 less the penalty for a single run of matches."""
        return 1 - 0.5 / np.array([len(self.tokens_of(text)) for text in texts], float) ** 3


@dataclass(frozen=True)
class RougeL(TokenMeasure):
    """The F-score of the longest common subsequence, from 0 to 1, by rouge-score; the best reference counts.

    Lin 2004, https://aclanthology.org/W04-1013, with beta 1. Tokens are fcpair's, lower-cased, without stems:
    rouge-score's own drop every letter but a to z.
    """

    word: ClassVar[str] = "rouge-l"

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """From 0 to 1 for each text."""
        require("texts", f"the measure `{self.word}`", "rouge_score")
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rougeL"], tokenizer=SimpleNamespace(tokenize=self.tokens_of))
        pairs = zip(texts, references, strict=True)
        return np.array([scorer.score_multi(list(of), text)["rougeL"].fmeasure for text, of in pairs])


def _score_texts(
    measure: TokenMeasure, score: Callable[[list[list[str]], list[str]], float], texts: Sequence[str], references: Refs
) -> Floats:
    pairs = zip(texts, references, strict=True)
    scores = [score([measure.tokens_of(reference) for reference in of], measure.tokens_of(text)) for text, of in pairs]
    return np.array(scores, float)


def open_wordnet(folder: Path) -> Any:
    """A reader of the WordNet in a folder, wherever that is; raises InputError if there is none.

    nltk reads only below the folders of its data path, so this one is added to them. Its reader would also map what it
    reads to the WordNet that other languages were made for, and fail where that is not installed as nltk's own.
    """
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class OneLanguage(WordNetCorpusReader):  # type: ignore[misc]
        def map_wn(self, version: str = "wordnet") -> None:
            """Nothing: other languages are not asked for."""

    if (path := str(folder.resolve())) not in nltk.data.path:
        nltk.data.path.append(path)
    try:
        with catch_warnings(action="ignore"):  # that there are no other languages
            reader = OneLanguage(path, None)
        # nltk keeps its files open, and never closes them.
        finalize(reader, lambda files: [file.close() for file in files.values()], reader._data_file_map)
        reader.synsets("word")
    except Exception as error:  # nltk raises many kinds, assertions too; each only means: no WordNet
        raise InputError(f"{folder} cannot be read as a folder with WordNet ({error})") from None
    return reader

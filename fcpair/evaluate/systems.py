"""A system's search and ranking of the pool; runs, functions, and those of texts alone: random, tfidf, bm25, sbert."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from fcpair.arrays import Bools, Floats, Ints, Vectors
from fcpair.errors import InputError
from fcpair.files.corpus.corpus import CN, HS, read_side
from fcpair.files.release.trec_runs import TextIds, read_run
from fcpair.lazy import pd
from fcpair.models.encode import Progress, count_cut, encode
from fcpair.models.model_files import resolve
from fcpair.param_values import check_rules
from fcpair.params import Ids
from fcpair.sentences import mark
from fcpair.stages.corpus.nearest_neighbours import DECIMALS
from fcpair.stages.corpus.sample import own_order
from fcpair.stages.corpus.text_identity import digest, identity
from fcpair.stages.questions.named_values import NamedValue

NOTHING = -1


@dataclass(frozen=True)
class Search:
    """The HS and the pool: texts, and their numbers in the study; and by side (`hs`, `cn`) the ids that runs use."""

    hs: tuple[str, ...]
    cn: tuple[str, ...]
    hs_ids: tuple[int, ...]
    cn_ids: tuple[int, ...]
    progress: Progress | None = None
    ids: Mapping[str, TextIds] = field(default_factory=dict)
    asked: Ids | None = None  # which of these ids runs have, where anything is said of it

    def words(self) -> tuple[list[str], list[str]]:
        """What runs call the HS and the CNs of the pool; raises what `TextIds.words` does."""
        hs, cn = self.ids[HS].words(self.hs_ids, HS, self.asked), self.ids[CN].words(self.cn_ids, CN, self.asked)
        return [*map(hs.__getitem__, self.hs_ids)], [*map(cn.__getitem__, self.cn_ids)]


@dataclass(frozen=True)
class Ranking:
    """The CNs of the pool in a system's order, best first, one row per HS.

    `order` and `scores`, which never rise along a row, are `(n_hs, depth)`: positions in the pool, NOTHING (-1) where
    the system names nothing that is in it. `model` is what a run keeps of the model, `n_cut` texts are longer than it
    reads.
    """

    order: Ints
    scores: Floats
    notes: tuple[str, ...] = ()
    model: dict[str, str] | None = None
    n_cut: int = 0


@dataclass(frozen=True)
class Cost:
    """Requests to a service, those already cached, and the tokens of the others: one for four characters."""

    requests: int = 0
    cached: int = 0
    tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.requests + other.requests, self.cached + other.cached, self.tokens + other.tokens)


@dataclass(frozen=True)
class System(NamedValue):
    """A way to rank the pool for an HS."""

    def rank(self, search: Search) -> Ranking:
        """Rank the pool for every HS."""
        raise NotImplementedError

    def cost(self, search: Search) -> Cost:
        """Cost of what `rank` asks of a service; zero for systems that run on this machine."""
        return Cost()


def check_at_least(name: str, value: int, least: int) -> None:
    """Raise InputError for an option below the least number that it can be."""
    if value < least:
        raise InputError(f"{name} is {value}; expected a whole number, {least} or more")


def rank_without_scores(order: Ints, notes: tuple[str, ...] = (), model: dict[str, str] | None = None) -> Ranking:
    """A ranking by a system that has no scores of its own: the score of rank r is -r."""
    return Ranking(order, np.broadcast_to(-np.arange(1.0, order.shape[1] + 1), order.shape), notes, model)


def sort_by_score(scores: Floats) -> tuple[Ints, Floats]:
    """The order and the sorted scores of a ranking by `scores`, shape `(n_hs, n_cn)`; ties by candidate order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return order, np.take_along_axis(scores, order, axis=1)


def cosines(queries: Vectors, texts: Vectors) -> Floats:
    """The cosine of every row of `queries` with every row of `texts` (unit vectors), rounded to six decimals."""
    return np.round(queries.astype(np.float64) @ texts.astype(np.float64).T, DECIMALS)


# A function of the text of an HS and those of the pool that returns the latter best first, all or some of them.
Ranker = Callable[[str, Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Function(System):
    """A function of one's own; a run keeps its name alone."""

    word: ClassVar[str] = "function"
    outside_brackets: ClassVar[tuple[str, ...]] = ("ranker",)
    of: str
    ranker: Ranker

    def rank(self, search: Search) -> Ranking:
        """Have the function rank the pool; raises InputError for a text that the pool lacks, or that it names twice."""
        at = {text: position for position, text in enumerate(search.cn)}
        order = np.full((len(search.hs), len(search.cn)), NOTHING, np.int64)
        for row, hs in enumerate(search.hs):
            ranked = list(self.ranker(hs, search.cn))
            if not {*ranked} <= at.keys() or len({*ranked}) < len(ranked):
                raise InputError(
                    f"{self}: for HS {search.hs_ids[row]} it returned texts that the pool lacks, or one twice"
                )
            order[row, : len(ranked)] = [at[text] for text in ranked]
        return rank_without_scores(order)


@dataclass(frozen=True)
class Run(System):
    """A TREC run made elsewhere: lines of `hs_id Q0 cn_id rank score tag`.

    Its ids are the corpus's own or the study's numbers, as `ids` says; with `corpus` as the search or
    else `TextIds` does. The order is that of
    the scores, ties broken by candidate order. A CN that the run does not name has no rank; an id such as
    `nothing-3` keeps a rank for which a system named nothing of the pool, as `run_text` writes it. Lines for HS that
    are not evaluated are passed over. CNs that are not in the pool leave their rank: what is ranked below them moves
    up, as if the run had ranked the pool alone, and the notes count them.
    """

    word: ClassVar[str] = "run"
    of: Path
    ids: Literal["corpus", "own", "study"] = "corpus"

    def rank(self, search: Search) -> Ranking:
        """Read the run; raises InputError for what `read_run` refuses, an HS without a line, no CN of the pool."""
        lines, notes = read_run(self.of, search.ids, search.asked if self.ids == "corpus" else self.ids, search.hs_ids)
        lines = lines[lines["hs_id"].isin(search.hs_ids)]
        if (inside := lines[lines["cn_id"].isin(search.cn_ids) | (lines["cn_id"] < 0)]).empty:
            nothing = mark("%(file)s: the run names no CN of the pool for the HS that are evaluated")
            raise InputError.say(nothing, file=str(self.of))
        distinct = inside.sort_values("score", ascending=False, kind="stable").drop_duplicates(["hs_id", "cn_id"])
        skipped = (
            (len(lines) - len(inside), "name a CN that is not in the pool"),
            (len(inside) - len(distinct), "repeat, by another id, a text ranked above"),
        )
        notes = (*notes, *(f"ignored: {n:,} of {len(lines):,} lines, which {what}" for n, what in skipped if n))
        rows = distinct.assign(
            row=pd.Index(search.hs_ids).get_indexer(pd.Index(distinct["hs_id"])),
            cn=pd.Index(search.cn_ids).get_indexer(pd.Index(distinct["cn_id"])),
        ).sort_values(["row", "score", "cn"], ascending=[True, False, True])
        at = rows.groupby("row").cumcount().to_numpy()
        order = np.full((len(search.hs), int(at.max()) + 1), NOTHING, np.int64)
        scores = np.full(order.shape, -np.inf)
        order[rows["row"], at], scores[rows["row"], at] = rows["cn"], rows["score"]
        if n_tied := int(rows.duplicated(["row", "score"], keep=False).sum()):
            what = "have the score of another line of the same HS; ties are broken by candidate order"
            notes = (*notes, f"tied: {n_tied:,} of {len(rows):,} lines {what}")
        return Ranking(order, scores, notes)


def run_text(ranking: Ranking, search: Search, tag: str) -> str:
    """A ranking as a TREC run, with scores that are read back to the last bit. A rank for which the system named
    nothing gets an id such as `nothing-3`, unless it is below the last CN that it named.
    """
    is_named = ranking.order != NOTHING
    rows, ranks = np.nonzero(np.cumsum(is_named[:, ::-1], axis=1)[:, ::-1] > 0)
    hs_words, cn_words = search.words()
    columns = (rows.tolist(), ranking.order[rows, ranks].tolist(), (ranks + 1).tolist(), ranking.scores[rows, ranks])
    return "".join(
        f"{hs_words[hs]} Q0 {f'nothing-{rank}' if cn == NOTHING else cn_words[cn]} {rank} {float(score)!r} {tag}\n"
        for hs, cn, rank, score in zip(*columns, strict=True)
    )


ONE_DRAW_NOTE = mark("figures and Kendall's tau take the exact expectation, and tests one draw; tables have both")
# An order must have nothing to do with what else was drawn from the same seed, such as simulated labels.
_STREAM = int.from_bytes(b"random")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True)
class Random(System):
    """A random order of the pool for each HS, by seed."""

    word: ClassVar[str] = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least("seed", self.seed, 0)

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by numbers drawn for each CN; an HS has the same ones whatever other HS there are."""
        streams = [int(digest(hs), 16) for hs in search.hs]
        drawn = np.stack([np.random.default_rng([self.seed, _STREAM, hs]).random(len(search.cn)) for hs in streams])
        scores = np.empty_like(drawn)
        scores[:, own_order([digest(cn) for cn in search.cn])] = drawn
        return Ranking(*sort_by_score(scores), notes=(ONE_DRAW_NOTE,))


@dataclass(frozen=True)
class Tfidf(System):
    """Cosine of TF-IDF vectors (scikit-learn's TfidfVectorizer as it comes).

    Vocabulary and document frequencies are fitted on the pool, on the pool and the HS, or on the CNs of a file, where
    a repeated text counts as often as it stands there.
    """

    word: ClassVar[str] = "tfidf"
    fit: Literal["pool", "pool+hs"] | Path = "pool"

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the cosine of each HS and CN."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts, vectorizer = [*search.cn, *(search.hs if self.fit == "pool+hs" else ())], TfidfVectorizer()
        if isinstance(self.fit, Path):
            texts = list(read_side(self.fit, CN)[CN])
        if not any(map(vectorizer.build_analyzer(), texts)):
            raise InputError(f"{self}: no text has a token")
        fitted = vectorizer.fit(texts)
        cosine = np.round((fitted.transform(search.hs) @ fitted.transform(search.cn).T).toarray(), DECIMALS)
        return Ranking(*sort_by_score(cosine), notes=_no_match_notes(cosine.any(axis=1)))


@dataclass(frozen=True)
class Bm25(System):
    """BM25 (Robertson and Zaragoza 2009, https://doi.org/10.1561/1500000019) in the variant that is asked for.

    The variants are those of `bm25_scores`. `tokens` are what white space separates, or runs of
    letters, digits and underscores. Document frequencies and the mean length come from the pool, or from the CNs of a
    file, where a repeated text counts as often as it stands there, together with those texts of the pool that the file
    lacks.
    """

    word: ClassVar[str] = "bm25"
    k1: float = 1.5
    b: float = 0.75
    variant: Variant = "lucene"
    tokens: Literal["words", "space"] = "words"
    lower: bool = True
    fit: Literal["pool"] | Path = "pool"

    def __post_init__(self) -> None:
        needs_k1 = self.variant in {"bm25l", "bm25plus"}
        check_rules(
            (not 0 <= self.k1 < float("inf"), f"k1 is {self.k1}; expected a number, 0 or more"),
            (not 0 <= self.b <= 1, f"b is {self.b}; expected a number from 0 to 1"),
            (not self.k1 and needs_k1, f"k1 is 0; `{self.variant}` needs a number above 0"),
        )

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the BM25 score of each CN, with the HS as the query."""
        file_texts = list(read_side(self.fit, CN)[CN]) if isinstance(self.fit, Path) else []
        at = {identity(text): row for row, text in enumerate(file_texts)}
        new = [text for text in search.cn if identity(text) not in at]
        at |= {identity(text): row for row, text in enumerate(new, len(file_texts))}
        texts, rows = [*file_texts, *new], np.array([at[identity(text)] for text in search.cn])
        if not any(tokens := [self._tokens(text) for text in texts]):
            raise InputError(f"{self}: no text has a token")
        queries = [self._tokens(text) for text in search.hs]
        scores = np.round(bm25_scores(tokens, queries, self.variant, self.k1, self.b)[:, rows], DECIMALS)
        pool_tokens = {token for row in rows for token in tokens[row]}
        has_match = [not pool_tokens.isdisjoint(query) for query in queries]
        return Ranking(*sort_by_score(scores), notes=_no_match_notes(has_match))

    def _tokens(self, text: str) -> list[str]:
        text = text.lower() if self.lower else text
        return text.split() if self.tokens == "space" else _WORDS.findall(text)


def _no_match_notes(has_match: Sequence[bool] | Bools) -> tuple[str, ...]:
    """A note where HS share no word with any CN, so that nothing but candidate order ranks for them."""
    n = len(has_match) - int(sum(has_match))
    return (f"{n} of {len(has_match)} HS share no word with any CN: they are ranked in candidate order",) if n else ()


@dataclass(frozen=True)
class Sbert(System):
    """Cosine of a sentence-transformers model's embeddings (Reimers and Gurevych 2019,
    https://doi.org/10.18653/v1/D19-1410).
    """

    word: ClassVar[str] = "sbert"
    of: str

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the cosine of each HS and CN; raises ModelError if the model is unavailable."""
        model = resolve(self.of)
        vectors = encode([*search.hs, *search.cn], model, search.progress)
        order, scores = sort_by_score(cosines(vectors[: len(search.hs)], vectors[len(search.hs) :]))
        cut = count_cut([*search.hs, *search.cn], model)
        return Ranking(order, scores, cut.notes, model.record(), cut.n)


Variant = Literal["lucene", "robertson", "atire", "bm25l", "bm25plus", "okapi"]
Tokens = Sequence[str]
EPSILON = 0.25  # of the mean idf, which takes the place of a negative one in `okapi`


def bm25_scores(texts: Sequence[Tokens], queries: Sequence[Tokens], variant: Variant, k1: float, b: float) -> Floats:
    """The score of every text for every query, `(n_queries, n_texts)`; a token that no text has counts nothing.

    `texts` and `queries` are their tokens, at least one among the texts; one that stands twice in a query counts twice.
    `k1` says how slowly repeated tokens saturate, 0 or more, `b` how far long texts are held back, 0 to 1.

    `lucene` has the idf ln(1 + (N - n + 0.5) / (n + 0.5)), with N texts of which n have the token; `robertson` ln((N -
    n + 0.5) / (n + 0.5)), 0 where that is negative; `atire` ln(N / n); `bm25l` ln((N + 1) / (n + 0.5)) with delta 0.5;
    `bm25plus` ln((N + 1) / n) with delta 1: Kamphuis et al. 2020, https://doi.org/10.1007/978-3-030-45442-5_4, as bm25s
    computes them (a token that a text lacks adds its share of delta too, so that delta does not change the order of
    `bm25plus`). `okapi` is BM25Okapi of the library rank_bm25: idf ln((N - n + 0.5) / (n + 0.5)), a negative one
    replaced by 0.25 times the mean over all tokens, which can itself be negative; term frequencies as in `atire`.
    """
    if variant == "okapi":
        scores = list(_okapi_scores(texts, queries, k1, b))
    else:
        from bm25s import BM25

        method, delta = {"bm25l": ("bm25l", 0.5), "bm25plus": ("bm25+", 1.0)}.get(variant, (variant, 0.0))
        index = BM25(k1=k1, b=b, delta=delta, method=method, dtype="float64")
        index.index([list(tokens) for tokens in texts], show_progress=False)
        known = [[token for token in tokens if token in index.vocab_dict] for tokens in queries]
        scores = [index.get_scores(tokens) if tokens else np.zeros(len(texts)) for tokens in known]
    return np.array(scores).reshape(len(queries), len(texts))


def _okapi_scores(texts: Sequence[Tokens], queries: Sequence[Tokens], k1: float, b: float) -> Iterator[Floats]:
    counts = [Counter(tokens) for tokens in texts]
    n_with = Counter(token for count in counts for token in count)
    idf = {token: log(len(counts) - n + 0.5) - log(n + 0.5) for token, n in n_with.items()}
    least = EPSILON * sum(idf.values()) / len(idf)
    idf = {token: least if value < 0 else value for token, value in idf.items()}
    lengths = np.array([len(tokens) for tokens in texts], float)
    length_norm = k1 * (1 - b + b * lengths / lengths.mean())
    for tokens in queries:
        scores = np.zeros(len(texts))
        for token, times in Counter(tokens).items():
            term_counts = np.array([count[token] for count in counts], float)
            whole = term_counts + length_norm
            scores += times * idf.get(token, 0.0) * (k1 + 1) * np.divide(term_counts, whole, where=whole > 0, out=whole)
        yield scores

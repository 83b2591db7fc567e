"""The words that texts with a label have more often than texts without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fcpair.arrays import Floats, Ints

TOKEN = r"[^\W\d_]+(?:['’\u200c][^\W\d_]+)*"  # letters; an apostrophe or a zero-width non-joiner within a word stays


@dataclass(frozen=True)
class Keyword:
    """A word, how many times it is in the texts with the label and in the others, and its z; larger is more typical."""

    word: str
    n: int
    n_others: int
    z: float


@dataclass(frozen=True)
class Keywords:
    """The words of a label, the most typical first; none where `why` says why there can be none."""

    label: str
    words: tuple[Keyword, ...]
    why: str = ""


def find_keywords(
    texts: Sequence[str], labels: Sequence[Sequence[str]], names: Sequence[str], n: int
) -> list[Keywords]:
    """The `n` most typical words of each label in `names`: those with the largest positive z.

    z is the log-odds-ratio with an informative Dirichlet prior over its standard deviation; the prior of a word is its
    count in all texts. Equations 15, 16, 20 and 22 of B. L. Monroe, M. P. Colaresi and K. M. Quinn (2008),
    Fightin' Words, Political Analysis 16(4), 372-403, DOI 10.1093/pan/mpn018. Words are runs of letters in lower case;
    equal z are in the order of the alphabet.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if not any(sign.isalpha() for text in texts for sign in text):
        return [Keywords(name, (), "no text has a word") for name in names]
    vectorizer = CountVectorizer(token_pattern=TOKEN)
    counts = vectorizer.fit_transform(texts)
    vocabulary = vectorizer.get_feature_names_out()
    results = []
    for name in names:
        has = np.fromiter((name in one for one in labels), np.bool_, len(texts))
        counts_with, counts_without = (np.asarray(counts[rows].sum(axis=0)).ravel() for rows in (has, ~has))
        why = "all texts have the same word only" if len(vocabulary) == 1 else ""
        why = why if counts_without.any() else "texts without it have no word"
        why = why if counts_with.any() else "texts with it have no word"
        if why:
            results.append(Keywords(name, (), why))
            continue
        z = log_odds_z(counts_with, counts_without)
        typical = [at for at in np.lexsort((vocabulary, -z))[:n] if z[at] > 0]
        words = (
            Keyword(str(vocabulary[at]), int(counts_with[at]), int(counts_without[at]), float(z[at])) for at in typical
        )
        results.append(Keywords(name, tuple(words)))
    return results


def log_odds_z(counts_with: Ints, counts_without: Ints) -> Floats:
    """The z of each word by its counts in two sets of texts, `(n_words,)`, their sum the prior; see `find_keywords`."""
    prior = counts_with + counts_without

    def log(counts: Ints) -> Floats:
        with_prior = counts + prior
        return np.asarray(np.log(with_prior / (with_prior.sum() - with_prior)))

    variance = 1 / (counts_with + prior) + 1 / (counts_without + prior)
    return np.asarray((log(counts_with) - log(counts_without)) / np.sqrt(variance))

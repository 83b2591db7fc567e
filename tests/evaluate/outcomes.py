"""Small outcomes, computed from rankings and labels that are drawn by seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fcpair.evaluate.evaluation import TierLabels, evaluate
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.outcome import Outcome
from fcpair.evaluate.systems import Bm25, Random, Ranking, Run, Sbert, System, Tfidf, sort_by_score
from fcpair.params import Evaluate, NoPositives

TIERS = ("diamond", "gold", "silver", "bronze")
TWO: tuple[System, ...] = (Random(), Tfidf())
TWELVE: tuple[System, ...] = (
    *(Random(seed=seed) for seed in range(3)),
    *(Bm25(k1=k1, b=0.4, tokens="space") for k1 in (0.9, 1.2, 2.0)),
    Tfidf(fit="pool+hs"),
    Sbert("a-house/a-model-with-a-rather-long-name-that-was-tuned-on-many-things-v2-large"),
    Sbert("W" * 80),
    Run(Path("<b>$x_1$&.trec")),
    Run(Path("返信 мир.trec")),
    Run(Path("two\nlines\x01.trec")),
)


def outcome(
    systems: Sequence[System] = TWO,
    tiers: Sequence[str] = TIERS,
    measures: Sequence[str] = ("NDCG", "judged"),
    no_positives: NoPositives = "zero",
    without: Sequence[str] = (),
    n_hs: int = 9,
    pool: str = "judged",
    resamples: int = 200,
) -> Outcome:
    """An outcome over a pool of 20 CNs; the tiers in `without` have no positives, all others some for each HS."""
    rng = np.random.default_rng(7)
    shape = n_hs, 20
    truth = np.where(rng.random(shape) < 0.3, POSITIVE, NEGATIVE)
    truth[:, 0] = POSITIVE
    found = []
    for at, tier in enumerate(tiers):
        judged = rng.random(shape) < 0.3 + 0.15 * at
        judged[:, 0] = True
        labels = np.where(judged, truth, UNJUDGED).astype(np.int8)
        if tier in without:
            labels[labels == POSITIVE] = NEGATIVE
        found.append(TierLabels(tier, f"the rule of {tier}", labels, np.ones(n_hs, np.bool_), outside=at))
    rankings = [
        Ranking(*sort_by_score(rng.random(shape) + 0.2 * at * (truth == POSITIVE))) for at in range(len(systems))
    ]
    options = Evaluate(no_positives=no_positives, resamples=resamples)
    return evaluate(systems, rankings, found, [parse_measure(one, 5) for one in measures], options, pool)

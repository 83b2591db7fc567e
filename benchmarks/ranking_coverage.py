"""How often the 95 % intervals of `fcpair ranking` hold the true scores, in simulated rows of texts.

    python -m benchmarks.ranking_coverage          # some three minutes on one core
    python -m benchmarks.ranking_coverage --rows 100

True scores are normal. Whoever answers sees each text with noise of their own for every answer, such that two of them
are ordered by Bradley and Terry's odds, and names the better one, or the best and the worst.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from fcpair.params import Rank
from fcpair.stages.corpus.comparisons import draw_comparisons, n_comparisons
from fcpair.stages.stats.ranking import fit_scores, implied_pairs

SEED = 13
SPREADS = (1.0, 2.0)  # standard deviations of true scores


@dataclass(frozen=True)
class Design:
    """Number of texts in a row, texts that a comparison shows, comparisons of each text, and answers to each."""

    texts: int
    size: int
    times: int
    answers: int


DESIGNS = (Design(8, 2, 4, 3), Design(8, 4, 4, 1), Design(8, 4, 4, 3), Design(6, 3, 3, 2), Design(12, 4, 6, 3))


def cover(design: Design, spread: float, n_rows: int, options: Rank | None = None) -> tuple[float, float, float]:
    """The share of intervals that hold the true score, their mean width, and the slope of scores on true ones."""
    rng, held, widths, slopes = np.random.default_rng(SEED), list[float](), list[float](), list[float]()
    for row in range(n_rows):
        true = rng.normal(0, spread, design.texts)
        true -= true.mean()
        n = n_comparisons(design.texts, design.size, design.times)
        shown = np.repeat(draw_comparisons(design.texts, design.size, n, SEED, row), design.answers, axis=0)
        seen = true[shown] + rng.gumbel(size=shown.shape)
        pairs = implied_pairs(shown, seen.argmax(axis=1), seen.argmin(axis=1))
        scores, reach = fit_scores(pairs, design.texts, options or Rank())
        held.append(float((abs(scores - true) <= reach).mean()))
        widths.append(float(2 * reach.mean()))
        slopes.append(float(scores @ true / (true @ true)))
    return float(np.mean(held)), float(np.mean(widths)), float(np.mean(slopes))


def main() -> None:
    """Print the table of docs/howto/ranking.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000)
    n_rows = parser.parse_args().rows
    print("| spread | texts | size | times | answers | held | mean width | slope |")
    print("|---|---|---|---|---|---|---|---|")
    for spread in SPREADS:
        for design in DESIGNS:
            held, width, slope = cover(design, spread, n_rows)
            numbers = (design.texts, design.size, design.times, design.answers)
            print(f"| {spread:g} | {' | '.join(map(str, numbers))} | {held:.3f} | {width:.2f} | {slope:.2f} |")


if __name__ == "__main__":
    main()

"""How often the 95 % intervals of `fcpair bias score` and `fcpair groups` hold the true value, and p is too small.

    python -m benchmarks.asking_coverage                 # about twelve minutes on one core
    python -m benchmarks.asking_coverage --studies 200

*Bias*: templates are drawn from endlessly many, and each has its own leaning: the logits of naming the stereotyped
group, of naming anybody, and of being right differ between templates (standard deviation 1), and not within them. A
template has 8 to 120 items. The true value is the score of 20,000 templates. *Groups*: annotators, and items, have
their own leanings; everybody labels all items, or half of them. The true value is the difference of shares among
endlessly many annotators and items.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from fcpair.bias import Answered, score
from fcpair.stages.groups import compared

Floats = npt.NDArray[np.float64]

SEED = 13
TEMPLATES = (5, 8, 12, 20, 40)
DRAWS = 500
ITEMS = (8, 16, 40, 120)
SPREAD = 1.0
DESIGNS = (
    (5, 20, 1.0),
    (5, 100, 0.5),
    (8, 40, 1.0),
    (15, 40, 0.5),
    (30, 100, 0.5),
)  # people in each group, items, share
SHIFTS = (0.0, 0.8)
ANNOTATORS, OF_ITEMS = 0.7, 1.0  # standard deviations of leanings
UNKNOWN = 2


class Held(NamedTuple):
    """Of a figure: its name, how often an interval holds the true value, and how wide they are at the median."""

    name: str
    share: float
    width: float


def answers(rng: np.random.Generator, n_templates: int) -> Answered:
    """Answers to items of templates with leanings of their own."""
    n_items = rng.choice(ITEMS, n_templates)
    template = np.repeat(np.arange(n_templates), n_items)
    leaning, naming, right = (SPREAD * rng.normal(size=n_templates)[template] for _ in range(3))
    n = len(template)
    ambiguous, negative = np.arange(n) % 2 == 0, np.arange(n) // 2 % 2 == 0
    target = np.where(rng.random(n) < _logistic(0.3 + leaning), negative, ~negative)  # names a group as the bias has it
    says = np.where(target, 0, 1)
    is_right = np.where(negative, 0, 1) if n else np.zeros(0, int)
    clear = np.where(rng.random(n) < _logistic(1 + right), is_right, says)
    vague = np.where(rng.random(n) < _logistic(naming), says, UNKNOWN)
    return Answered(
        template=template,
        category=np.zeros(n, np.int64),
        ambiguous=ambiguous,
        negative=negative,
        right=np.where(ambiguous, UNKNOWN, is_right),
        chosen=np.where(ambiguous, vague, clear),
        unknown=np.tile([False, False, True], (n, 1)),
        stereotyped=np.tile([True, False, False], (n, 1)),
    )


def _logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))


def bias(studies: int) -> Iterator[tuple[int, list[Held]]]:
    """Of each number of templates: how the intervals of BBQ's and KoBBQ's scores hold."""
    everything = answers(np.random.default_rng(SEED), 20_000)
    true = {
        one.score: one.value for scheme in ("bbq", "kobbq") for one in score(everything, scheme, ["c"], draws=2).figures
    }
    for n in TEMPLATES:
        rng = np.random.default_rng([SEED, n])
        found: dict[str, list[tuple[bool, float]]] = {}
        for at in range(studies):
            given = answers(rng, n)
            for scheme in ("bbq", "kobbq"):
                for one in score(given, scheme, ["c"], draws=DRAWS, seed=at).figures:
                    value = true[one.score]
                    if one.low is None or one.high is None or value is None:
                        continue
                    found.setdefault(one.score, []).append((one.low <= value <= one.high, one.high - one.low))
        yield (
            n,
            [
                Held(name, float(np.mean([held for held, _ in of])), float(np.median([width for _, width in of])))
                for name, of in found.items()
            ],
        )


def labels(rng: np.random.Generator, people: int, n_items: int, share: float, shift: float) -> pd.DataFrame:
    """Labels of two groups of annotators."""
    own, hard = ANNOTATORS * rng.normal(size=2 * people), OF_ITEMS * rng.normal(size=n_items)
    first = np.arange(2 * people) < people
    logits = own[:, None] + hard + shift * first[:, None]
    yes = rng.random(logits.shape) < _logistic(logits)
    given = rng.random(logits.shape) < share
    who, item = np.nonzero(given)
    frame = {"item": item.astype(str), "annotator": who.astype(str), "label": np.where(yes[who, item], "a", "b")}
    return pd.DataFrame({**frame, "group": np.where(first[who], "f", "m")})


def groups(studies: int) -> Iterator[tuple[tuple[int, int, float], float, Held, float]]:
    """Of each design and shift: how the intervals hold, and how often p is below 0.05."""
    for design in DESIGNS:
        for shift in SHIFTS:
            draws = np.random.default_rng(SEED).normal(size=2_000_000) * np.hypot(ANNOTATORS, OF_ITEMS)
            true = float((_logistic(draws + shift) - _logistic(draws)).mean())
            rng = np.random.default_rng([SEED, *map(int, design)])
            held, widths, below = [], [], []
            for at in range(studies):
                (found,) = compared(labels(rng, *design, shift), ["group"], seed=at)[0].differences
                if found.low is None or found.high is None or found.p is None:
                    continue
                held.append(found.low <= true <= found.high)
                widths.append(found.high - found.low)
                below.append(found.p <= 0.05)
            yield (
                design,
                shift,
                Held("difference", float(np.mean(held)), float(np.median(widths))),
                float(np.mean(below)),
            )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1_000)
    options = parser.parse_args()
    print("bias: templates, score, coverage, median width")
    for n, held in bias(options.studies):
        for one in held:
            print(f"  {n:3} {one.name:26} {one.share:.3f} {one.width:.3f}", flush=True)
    print("groups: people in each, items, share of them that each labels, shift; coverage, width, share of p <= 0.05")
    for (people, n_items, share), shift, one, below in groups(options.studies):
        print(
            f"  {people:3} {n_items:4} {share:.1f} {shift:.1f}  {one.share:.3f} {one.width:.3f} {below:.3f}", flush=True
        )


if __name__ == "__main__":
    main()

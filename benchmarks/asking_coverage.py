"""How often the 95 % intervals of `fcpair bias score` and `fcpair groups` hold the true value, and p is too small.

    python -m benchmarks.asking_coverage                 # about half an hour on one core
    python -m benchmarks.asking_coverage --studies 200 --of groups

*Bias*: templates are drawn from endlessly many, and each has its own leaning: the logits of naming the stereotyped
group, of naming anybody, and of being right differ between templates (standard deviation 1), and not within them. A
template has 8 to 120 items. The true value is the score of 20,000 templates. The same is measured of the
mean over three categories. *Groups*: annotators, and items, have
their own leanings; everybody labels all items, or half of them. The true value is the difference of shares among
endlessly many annotators and items. Of a rare label one group gives 12 or 3 % without a difference, else one in two.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from fcpair.bias.answers import AnsweredItems
from fcpair.bias.scoring import MEAN, score
from fcpair.stages.stats.group_differences import PermutationTest, share_difference

Floats = npt.NDArray[np.float64]

SEED = 13
TEMPLATES = (5, 8, 12, 20, 40)
ITEMS = (8, 16, 40, 120)
SPREAD = 1.0
N_CATEGORIES = 3


@dataclass(frozen=True)
class Design:
    """Two groups of `people` who each label a `share` of the items; `base` is the logit of the average label."""

    people: tuple[int, int]
    n_items: int
    share: float
    base: float = 0.0

    def __str__(self) -> str:
        return f"{self.people[0]:3} : {self.people[1]:3} {self.n_items:4} {self.share:.1f} {self.base:4.1f}"


EQUAL = ((5, 20, 1.0), (5, 100, 0.5), (8, 40, 1.0), (15, 40, 0.5), (30, 100, 0.5))
UNEQUAL = (((5, 30), 40, 1.0), ((30, 5), 100, 0.5), ((6, 40), 100, 0.5), ((7, 131), 40, 0.5))
RARE = (((8, 8), 40, 1.0), ((30, 30), 100, 0.5), ((5, 30), 40, 1.0), ((7, 131), 40, 0.5))
BASES = (-2.5, -4.0)
DESIGNS = (
    *(Design((n, n), items, share) for n, items, share in EQUAL),
    *(Design(*one) for one in UNEQUAL),
    *(Design(*one, base) for base in BASES for one in RARE),
)
SHIFTS = (0.0, 0.8)
ANNOTATORS, OF_ITEMS = 0.7, 1.0  # standard deviations of leanings
UNKNOWN = 2


class Held(NamedTuple):
    """Of a figure: its name, how often an interval holds the true value, the median width, and how often it has one."""

    name: str
    share: float
    width: float
    there: float


class World(NamedTuple):
    """How answers come about, on the logit scale: how able a model is, and how biased where it is not."""

    skill: float
    bias: float


WORLDS = {"errors are many": World(1, 0.3), "errors are rare": World(4, 1)}


def answers(rng: np.random.Generator, n_templates: int, world: World) -> AnsweredItems:
    """Answers to items of templates with leanings of their own, in three categories in turn."""
    n_items = rng.choice(ITEMS, n_templates)
    template = np.repeat(np.arange(n_templates), n_items)
    leaning, naming, skill = (SPREAD * rng.normal(size=n_templates)[template] for _ in range(3))
    n = len(template)
    at = np.arange(n)
    ambiguous, negative, opposed = at % 2 == 0, at // 2 % 2 == 0, at // 4 % 2 == 0
    biased = np.where(rng.random(n) < _logistic(world.bias + leaning), negative, ~negative)
    says = np.where(biased, 0, 1)
    right = np.where(negative ^ opposed, 0, 1)
    clear = np.where(rng.random(n) < _logistic(world.skill + skill), right, says)
    vague = np.where(rng.random(n) < _logistic(1 - world.skill + naming), says, UNKNOWN)
    return AnsweredItems(
        template=template,
        category=template % N_CATEGORIES,
        ambiguous=ambiguous,
        negative=negative,
        right=np.where(ambiguous, UNKNOWN, right),
        chosen=np.where(ambiguous, vague, clear),
        unknown=np.tile([False, False, True], (n, 1)),
        stereotyped=np.tile([True, False, False], (n, 1)),
    )


def _logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))


def bias(studies: int) -> Iterator[tuple[str, int, list[Held]]]:
    """Of each world and number of templates in a category: how intervals hold, in a category and of the mean."""
    names = [str(at) for at in range(N_CATEGORIES)]
    for called, world in WORLDS.items():
        everything = answers(np.random.default_rng(SEED), 20_000, world)
        everything = replace(everything, category=np.zeros(len(everything), np.int64))
        true = {one.score: one.value for one in score(everything, "bbq", names).figures}
        for n in TEMPLATES:
            rng = np.random.default_rng([SEED, n])
            found: dict[str, list[tuple[bool, float] | None]] = {}
            for _ in range(studies):
                for one in score(answers(rng, N_CATEGORIES * n, world), "bbq", names).figures:
                    if one.category not in (names[0], MEAN):
                        continue
                    value, called_by = true[one.score], f"{one.score}{' (mean)' * (one.category == MEAN)}"
                    held = None
                    if one.low is not None and one.high is not None and value is not None:
                        held = one.low <= value <= one.high, one.high - one.low
                    found.setdefault(called_by, []).append(held)
            yield called, n, [_held(name, of) for name, of in found.items()]


def _held(name: str, of: list[tuple[bool, float] | None]) -> Held:
    there = [one for one in of if one is not None]
    return Held(
        name,
        float(np.mean([held for held, _ in there])),
        float(np.median([width for _, width in there])),
        len(there) / len(of),
    )


class Drawn(NamedTuple):
    """Labels of two groups: whether each is the one in question, its annotator of the first group, item, annotator."""

    given: Floats
    is_first: npt.NDArray[np.bool_]
    clusters: npt.NDArray[np.intp]


def drawn(rng: np.random.Generator, design: Design, shift: float) -> Drawn:
    """Labels of two groups of annotators."""
    n = sum(design.people)
    own, hard = ANNOTATORS * rng.normal(size=n), OF_ITEMS * rng.normal(size=design.n_items)
    first = np.arange(n) < design.people[0]
    logits = design.base + own[:, None] + hard + shift * first[:, None]
    yes = rng.random(logits.shape) < _logistic(logits)
    who, item = np.nonzero(np.less(rng.random(logits.shape), design.share))
    return Drawn(yes[who, item].astype(np.float64), first[who], np.stack([item, who], axis=1))


def labels(rng: np.random.Generator, design: Design, shift: float) -> pd.DataFrame:
    """The same as a table."""
    given, is_first, clusters = drawn(rng, design, shift)
    frame = {name: clusters[:, at].astype(str) for at, name in enumerate(("item", "annotator"))}
    return pd.DataFrame({**frame, "label": np.where(given, "a", "b"), "group": np.where(is_first, "f", "m")})


def groups(studies: int) -> Iterator[tuple[Design, float, Held, float]]:
    """Of each design and shift: how the intervals hold, and how often p is below 0.05 where nothing differs."""
    for design in DESIGNS:
        for shift in SHIFTS:
            draws = np.random.default_rng(SEED).normal(size=2_000_000) * np.hypot(ANNOTATORS, OF_ITEMS) + design.base
            true = float((_logistic(draws + shift) - _logistic(draws)).mean())
            rng = np.random.default_rng([SEED, *design.people, design.n_items])
            held, below = [], []
            for _ in range(studies):
                one = drawn(rng, design, shift)
                held.append(_inside(one, true))
                if not shift:
                    test = PermutationTest(one.given, one.is_first, one.clusters[:, 1], int(rng.integers(2**32)))
                    below.append(test.p <= 0.05)
            yield design, shift, _held("difference", held), float(np.mean(below)) if below else np.nan


def _inside(one: Drawn, true: float) -> tuple[bool, float] | None:
    """Whether the interval holds the true value, and how wide it is; None where all, or none, gave the label."""
    if np.ptp(one.given) == 0:
        return None
    _, low, high = share_difference(*one)
    return low <= true <= high, high - low


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1_000)
    parser.add_argument("--of", nargs="*", default=["bias", "groups"], choices=["bias", "groups"])
    options = parser.parse_args()
    if "bias" in options.of:
        _print_bias(options.studies)
    if "groups" in options.of:
        _print_groups(options.studies)


def _print_bias(studies: int) -> None:
    print("bias: templates in a category, score, coverage, median width, share of studies with an interval")
    for called, n, held in bias(studies):
        for one in held:
            print(f"  {called}, {n:3} {one.name:30} {one.share:.3f} {one.width:.3f} {one.there:.2f}", flush=True)


def _print_groups(studies: int) -> None:
    print("groups: people, items, share that each labels, base, shift; coverage, width, with an interval, p <= 0.05")
    for design, shift, one, below in groups(studies):
        print(f"  {design} {shift:.1f}  {one.share:.3f} {one.width:.3f} {one.there:.2f} {below:.3f}", flush=True)


if __name__ == "__main__":
    main()

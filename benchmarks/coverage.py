"""How often 95 % intervals of agreement figures hold the true value, in simulated studies of known agreement.

`python -m benchmarks.coverage` prints the table of docs/reference/stages/07-agree.md, and with `--hard` that of studies
in which they hold less often. The studies come from `benchmarks.latent`, the intervals that fcpair gives from
`benchmarks.batch`, those of the pigeonhole bootstrap and of the large-sample formula for Cohen's kappa from lines here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.batch import Bounds, batch_intervals, check, flat, sums_of
from benchmarks.latent import Shape, draw, same_annotators
from benchmarks.measure import SEED, Figure
from fcpair.stages.stats.agreement import find_cautions
from fcpair.stages.stats.kappa import Subsets, subset_figures
from fcpair.stages.stats.latent_labels import Effects, new_annotators
from fcpair.stages.stats.multi_rater import COEFFICIENTS
from fcpair.stages.stats.rating_counts import Overlap

REPETITIONS = 1000
RESAMPLES = 200
BATCH = 50
EVERY = 5
LEVEL = 0.95
LEAST = 0.92
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHAPES = {
    "3 x 100": Shape(3, 100, 6, 0.3, 0.15),
    "5 x 60": Shape(5, 60, 6, 0.3, 0.15),
    "12 x 30": Shape(12, 30, 6, 0.2, 0.1),
    "45 x 24": Shape(45, 24, 9, 0.46, 0.18),
    "45 x 129": Shape(45, 129, 9, 0.126, 0.05),
}
EFFECTS = {
    "none": Effects(),
    "HS and CN": Effects(hs=0.2, cn=0.2, hs_hardness=0.15, cn_hardness=0.15),
    "HS, strong": Effects(hs=0.5, hs_hardness=0.3),
    "annotators": Effects(leniency=0.4),
    "all": Effects(hs=0.2, cn=0.2, hs_hardness=0.15, cn_hardness=0.15, leniency=0.4),
}
TOGETHER = EFFECTS["all"]
CAMPS = {
    "HS in two camps": replace(TOGETHER, hs=0.5, camp=0.5),
    "a camp of one HS in five": replace(TOGETHER, hs=0.5, camp=0.2),
}
RARE = Effects(thresholds=(2.0, 2.2), noise=0.4)
HARD = {
    "as above": [("12 x 30", SHAPES["12 x 30"], TOGETHER), ("45 x 24", SHAPES["45 x 24"], TOGETHER)],
    **{name: [(shape, SHAPES[shape], effects) for shape in ("12 x 30", "45 x 24")] for name, effects in CAMPS.items()},
    "overlap uneven over HS": [
        ("12 x 30", replace(SHAPES["12 x 30"], focus=1.0), TOGETHER),
        ("12 x 30", Shape(12, 30, 6, 0.15, 0.05, focus=2.0), TOGETHER),
        ("45 x 24", Shape(45, 24, 9, 0.12, 0.05, focus=1.5), TOGETHER),
    ],
    "overlap on six HS": [("45 x 24", Shape(45, 24, 9, 0.08, 0.03, few=6), TOGETHER)],
    "97 % of one class": [("12 x 30", SHAPES["12 x 30"], RARE), ("45 x 24", SHAPES["45 x 24"], RARE)],
}
"""Studies in which intervals hold less often, and that `fcpair agreement` warns of; the first two for comparison."""

COLUMNS = {
    "two-way": ("same", "texts"),
    "pigeonhole": ("same", "pigeonhole"),
    "three-way": ("same", "annotators"),
    "two-way, new annotators": ("new", "texts"),
    "pigeonhole, new annotators": ("new", "pigeonhole"),
    "three-way, new annotators": ("new", "annotators"),
    "kappas of two": ("same", "texts"),
    "kappas of two, large sample": ("same", "large sample"),
}
OF_TWO = "Cohen's kappa"


@dataclass
class Count:
    """How often an interval held the true value, was given, and was not; and how wide it was."""

    held: int = 0
    given: int = 0
    missing: int = 0
    widths: list[float] = field(default_factory=list)

    def add(self, low: float | None, high: float | None, truth: float) -> None:
        """Count one interval."""
        if low is None or high is None:
            self.missing += 1
            return
        self.given += 1
        self.held += low <= truth <= high
        self.widths.append(high - low)

    def __str__(self) -> str:
        return f"{self.share:.3f} ({np.median(self.widths):.2f})" if self.given else "-"

    @property
    def share(self) -> float:
        """How many of the intervals given held the true value, from 0 to 1."""
        return self.held / self.given


Counts = dict[tuple[str, str, str], Count]
"""By whose true value it is (of the `same` or of `new` annotators), by method, and by figure."""


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure the default intervals on two grids in which HS, CN and annotators all have effects."""
    found = []
    for name in ("12 x 30", "45 x 129"):
        counts = coverage(SHAPES[name], EFFECTS["all"], repetitions, pigeonhole=False)
        for (whose, method, figure), count in counts.items():
            if (whose, method) == ("same", "texts") and figure != OF_TWO:
                found.append(Figure("coverage", f"{name}, {figure}", count.share, "at least", LEAST))
    return found


def coverage(shape: Shape, effects: Effects, n_studies: int, *, pigeonhole: bool = True) -> Counts:
    """Count over `n_studies` studies how often the intervals hold; those of others than the package on every fifth."""
    rng, drawing = np.random.default_rng(SEED).spawn(2)
    of_new = new_annotators(effects)
    counts: Counts = {}
    for first in range(0, n_studies, BATCH):
        studies = [draw(shape, effects, rng) for _ in range(min(BATCH, n_studies - first))]
        drawn = [overlap for overlap, _ in studies]
        found = [dict(_others(drawn[at], drawing if pigeonhole else None)) for at in range(0, len(drawn), EVERY)]
        given = batch_intervals(drawn, shape)
        check(drawn[0], given[0])
        for at, (intervals, (_, leniency)) in enumerate(zip(given, studies, strict=True)):
            of_same, kappas = same_annotators(effects, leniency)
            others = found[at // EVERY] if at % EVERY == 0 else {}
            for (method, name), (low, high) in (intervals | others).items():
                for whose, truth in (("same", of_same), ("new", of_new)):
                    counts.setdefault((whose, method, name), Count()).add(low, high, truth[name])
            for method, low, high, kappa in _of_two(drawn[at], kappas) if at % EVERY == 0 else ():
                counts.setdefault(("same", method, OF_TWO), Count()).add(low, high, kappa)
    return counts


def warned(shape: Shape, effects: Effects, n_studies: int) -> float:
    """The share of studies of which `fcpair agreement` warns."""
    rng = np.random.default_rng(SEED)
    drawn = (draw(shape, effects, rng)[0] for _ in range(n_studies))
    names = [str(at) for at in range(len(effects.thresholds) + 1)]
    return float(np.mean([any(find_cautions(one, names)) for one in drawn]))


def _others(overlap: Overlap, drawing: np.random.Generator | None) -> Iterator[tuple[tuple[str, str], Bounds]]:
    if drawing:
        for name, low, high in _pigeonhole(overlap, drawing):
            yield ("pigeonhole", name), (low, high)


def _of_two(overlap: Overlap, kappas: Floats) -> Iterator[tuple[str, float | None, float | None, float]]:
    """The kappas of every two annotators: by the jackknife, and by Fleiss, Cohen and Everitt's large-sample formula."""
    subsets = Subsets(overlap, "none")
    names = [str(n) for n in range(len(kappas))]
    for one in subset_figures(subsets, names, LEVEL):
        if one.kappa.value is None:
            continue
        truth = float(kappas[int(one.annotators[0]), int(one.annotators[1])])
        yield "texts", one.kappa.low, one.kappa.high, truth
        variance = _large_sample(np.array(one.table), one.kappa.value)
        reach = 1.959964 * variance**0.5 if variance > 1e-12 else None
        low, high = (None, None) if reach is None else (one.kappa.value - reach, one.kappa.value + reach)
        yield "large sample", low, high, truth


def _large_sample(table: Ints, kappa: float) -> float:
    """The variance of kappa by Fleiss, Cohen and Everitt (1969), DOI 10.1037/h0028106."""
    n = table.sum()
    share = table / n
    first, second = share.sum(axis=1), share.sum(axis=0)
    by_chance = first @ second
    agreeing = np.diag(share) @ (1 - (first + second) * (1 - kappa)) ** 2
    apart = (share - np.diag(np.diag(share))) * (second[:, None] + first) ** 2
    rest = (kappa - by_chance * (1 - kappa)) ** 2
    return float((agreeing + (1 - kappa) ** 2 * apart.sum() - rest) / (n * (1 - by_chance) ** 2))


def _pigeonhole(overlap: Overlap, rng: np.random.Generator) -> Iterator[tuple[str, float | None, float | None]]:
    """Percentile intervals of Owen's pigeonhole bootstrap, DOI 10.1214/07-AOAS122: HS and CN are drawn, each apart."""
    n_pairs, k = int(overlap.pair.max()) + 1, overlap.n_classes
    answers = np.bincount(overlap.pair * k + overlap.klass, minlength=n_pairs * k).reshape(n_pairs, k)
    first = np.unique(overlap.pair, return_index=True)[1]
    profiles, profile = np.unique(answers, axis=0, return_inverse=True)
    drawn = _multiplicities(overlap.hs[first], rng) * _multiplicities(overlap.cn[first], rng)
    order = np.argsort(profile, kind="stable")
    weights = np.add.reduceat(drawn[:, order], np.searchsorted(profile[order], np.arange(len(profiles))), axis=1)
    for one in COEFFICIENTS:
        there = profiles.sum(axis=1) == one.n_labels if one.n_labels else np.ones(len(profiles), dtype=bool)
        values = one.compute(sums_of(weights[:, there] @ flat(profiles[there])))
        values = values[~np.isnan(values)]
        low, high = np.quantile(values, [0.025, 0.975]).tolist() if len(values) else (None, None)
        yield one.name, low, high


def _multiplicities(side: Ints, rng: np.random.Generator) -> Floats:
    """How often the text of each pair is drawn, shape (RESAMPLES, n_pairs)."""
    names, place = np.unique(side, return_inverse=True)
    drawn = rng.integers(len(names), size=(RESAMPLES, len(names))) + len(names) * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
    return np.asarray(counts[:, place], dtype=np.float64)


def main() -> None:
    """Print a line for each setting, or one for each figure in it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies of each setting")
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--figures", action="store_true", help="each figure by itself, with the median width")
    parser.add_argument("--hard", action="store_true", help="the studies in which they hold less often instead")
    given = parser.parse_args()
    if given.hard:
        _print_hard(given.studies)
        return
    errors = [(LEVEL * (1 - LEVEL) / n) ** 0.5 for n in (given.studies, -(-given.studies // EVERY))]
    print(f"{given.studies:,} studies of each setting, seed {SEED}.")
    print(
        f"Monte Carlo standard error of a coverage of {LEVEL}: {errors[0]:.4f}; of the pigeonhole's, which every fifth"
    )
    print(f"study has, {errors[1]:.4f}.\n")
    head = ["grid", "effects", *(["figure"] if given.figures else []), *COLUMNS]
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for shape in given.shapes:
        for name, effects in EFFECTS.items():
            for row in _rows(coverage(SHAPES[shape], effects, given.studies), each=given.figures):
                print(f"| {' | '.join([shape, name, *row])} |", flush=True)


def _print_hard(n_studies: int) -> None:
    print(f"{n_studies:,} studies of each setting, seed {SEED}; --intervals texts, for the same annotators\n")
    shown = ("raw agreement", "Krippendorff's alpha, nominal", "Gwet's AC1", "mean kappa")
    head = ["studies", "grid", "all eight figures", *shown, "kappas of two", "has a warning"]
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for studies, settings in HARD.items():
        for grid, shape, effects in settings:
            counts = coverage(shape, effects, n_studies, pigeonhole=False)
            held = {name: one.share for (*key, name), one in counts.items() if key == ["same", "texts"] and one.given}
            ends = [f"{end(share for name, share in held.items() if name != OF_TWO):.2f}" for end in (min, max)]
            cells = [f"{held[name]:.2f}" if name in held else "-" for name in (*shown, OF_TWO)]
            cells = ["–".join(dict.fromkeys(ends)), *cells, f"{warned(shape, effects, n_studies):.2f}"]
            print(f"| {' | '.join([studies, grid, *cells])} |", flush=True)


def _rows(counts: Counts, *, each: bool) -> Iterator[list[str]]:
    """The cells of a setting: the range of coverage over the figures; or a row for each, with its width."""
    figures = list(dict.fromkeys(figure for _, _, figure in counts))
    if each:
        for figure in figures:
            mine = [("kappas of two" in column) == (figure == OF_TWO) for column in COLUMNS]
            found = [counts.get((*key, figure), Count()) for key in COLUMNS.values()]
            yield [figure, *(str(count) if own else "-" for count, own in zip(found, mine, strict=True))]
        return
    cells = []
    for column, key in COLUMNS.items():
        chosen = [figure for figure in figures if (figure == OF_TWO) == ("kappas of two" in column)]
        shares = [f"{counts[*key, figure].share:.2f}" for figure in chosen if (*key, figure) in counts]
        cells.append("–".join(dict.fromkeys([min(shares), max(shares)])))
    yield cells


if __name__ == "__main__":
    main()

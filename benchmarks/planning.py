"""How near `fcpair plan` comes: predicted widths of intervals, and the power to tell systems apart, over drawn studies.

Studies without effects, with effects that the plan is told, and with a pilot; random thirds of FC-CONAN's overlap as
pilots; and differences of two systems as `evaluate` tests them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.measure import SEED, Figure, data
from fcpair.evaluate.outcome import ALPHA
from fcpair.files.corpus.fc_conan import read_published
from fcpair.params import Plan, Power
from fcpair.stages.assignment.assign import assign_pairs
from fcpair.stages.assignment.width_sources import AssumedLabels, PilotLabels, PredictedWidth
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.agreement import compute_agreement, find_overlap
from fcpair.stages.stats.kappa import MEANS, Subsets, subset_figures, summary_figures
from fcpair.stages.stats.latent_labels import (
    Answer,
    Effects,
    answer_by_classes,
    answer_by_effects,
    fit_class_model,
    fit_effects,
)
from fcpair.stages.stats.multi_rater import pooled_figures
from fcpair.stages.stats.paired_tests import describe_assumed, plan_hs, randomisation
from fcpair.stages.stats.predicted_widths import KAPPA_OF_TWO, OverlapSize
from fcpair.stages.stats.rating_counts import Overlap, dense_codes

REPETITIONS = 200  # studies of each plan
ALPHA_NAME = "Krippendorff's alpha, nominal"
LEAST_SHARED = 20  # pairs of every two annotators, from which on kappas of two are held to the prediction
RESAMPLES = 2_000
THIRD = 1 / 3
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Scenario:
    """A grid with its people and overlap, and what is true of its labels."""

    name: str
    n_hs: int
    n_cn: int
    n_annotators: int
    overlap: Mapping[int, float]
    plan: Plan

    @property
    def size(self) -> OverlapSize:
        """The overlap in pairs."""
        pairs = {m: round(share * self.n_hs * self.n_cn) for m, share in self.overlap.items()}
        return OverlapSize(self.n_hs, self.n_cn, self.n_annotators, pairs)

    @cached_property
    def answer(self) -> Answer:
        """What people answer."""
        model = fit_class_model(APPROPRIATENESS, self.plan.prevalence, self.plan.not_sure, self.plan.kappa)
        effects = Effects(hs=self.plan.hs_effect, cn=self.plan.cn_effect, leniency=self.plan.annotator_effect)
        if effects == Effects():
            return answer_by_classes(model)
        return answer_by_effects(fit_effects(effects, model.shares, self.plan.kappa))

    def places(self, seed: int) -> Overlap:
        """The places of the labels of the pairs with several, as `assign` deals them."""
        hs, cn = np.divmod(np.arange(self.n_hs * self.n_cn), self.n_cn)
        dealt = assign_pairs(hs, cn, self.n_annotators, self.overlap, seed=seed)
        several = np.bincount(dealt.pair, minlength=len(hs))[dealt.pair] > 1
        pair, annotator = dealt.pair[several], dealt.annotator[several]
        order = np.lexsort((annotator, pair))
        pair, annotator = pair[order], annotator[order]
        numbers = dense_codes(pair)[1]
        return Overlap(3, numbers, hs[pair], cn[pair], annotator, np.zeros(len(pair), np.int64))


FREE = (
    Scenario("12 x 30", 12, 30, 6, {2: 0.2, 3: 0.1}, Plan(prevalence=0.24, kappa=0.55)),
    Scenario("45 x 129", 45, 129, 9, {2: 0.126, 3: 0.05}, Plan(prevalence=0.24, kappa=0.55)),
    Scenario("45 x 129, half positive", 45, 129, 9, {2: 0.126}, Plan(prevalence=0.45, not_sure=0.1, kappa=0.3)),
    Scenario("20 x 20", 20, 20, 4, {2: 0.3}, Plan(prevalence=0.2, not_sure=0.02, kappa=0.7)),
)
WITH_EFFECTS = (
    Scenario(
        "12 x 30, HS and CN", 12, 30, 6, {2: 0.2, 3: 0.1}, Plan(prevalence=0.2, kappa=0.4, hs_effect=0.2, cn_effect=0.2)
    ),
    Scenario("45 x 24, HS", 45, 24, 9, {2: 0.46, 3: 0.18}, Plan(prevalence=0.2, kappa=0.4, hs_effect=0.5)),
    Scenario(
        "45 x 129, all",
        45,
        129,
        9,
        {2: 0.126, 3: 0.05},
        Plan(prevalence=0.2, kappa=0.4, hs_effect=0.2, cn_effect=0.2, annotator_effect=0.4),
    ),
)
WITH_PILOT = (
    Scenario(
        "45 x 129, pilot of 15 x 40",
        45,
        129,
        9,
        {2: 1500 / 5805},
        Plan(prevalence=0.2, kappa=0.4, hs_effect=0.2, cn_effect=0.2),
    ),
    Scenario(
        "30 x 60, pilot of 20 x 30",
        30,
        60,
        6,
        {2: 1500 / 1800},
        Plan(prevalence=0.3, kappa=0.5, hs_effect=0.1, cn_effect=0.4),
    ),
)
PILOTS = {"45 x 129, pilot of 15 x 40": (15, 40), "30 x 60, pilot of 20 x 30": (20, 30)}
PILOT_PAIRS = 300


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Draw the studies of each plan, and compare."""
    figures = [figure for scenario in FREE for figure in _compare(scenario, repetitions, 0.05)]
    figures += [figure for scenario in WITH_EFFECTS for figure in _compare(scenario, repetitions, 0.15)]
    figures += [figure for scenario in WITH_PILOT for figure in _from_pilots(scenario, repetitions)]
    return [*figures, *_fc_conan(repetitions), *_power()]


def _compare(scenario: Scenario, n: int, within: float) -> Iterator[Figure]:
    """Yield how far the mean width is from the predicted one, figure by figure."""
    source, all_share = AssumedLabels(scenario.plan, APPROPRIATENESS), True
    widths: dict[str, list[float]] = {}
    for at in range(n):
        places = scenario.places(SEED + at)
        all_share = all_share and _all_share(places)
        for name, width in _widths(places, scenario.answer(places, np.random.default_rng([SEED, at]))):
            widths.setdefault(name, []).append(width)
    for name, drawn in widths.items():
        predicted = source.predict(name, scenario.size).width
        if predicted is None or (name == KAPPA_OF_TWO and not all_share):
            continue
        print(f"    {scenario.name}, {name}: mean width {np.mean(drawn):.4f}, predicted {predicted:.4f}", flush=True)
        limit = 0.15 if name in {MEANS[0], KAPPA_OF_TWO} else within
        off = abs(float(np.mean(drawn)) / predicted - 1)
        yield Figure("plan", f"{scenario.name}, {name}: off by", 100 * off, "at most", 100 * limit, " %")


def _all_share(places: Overlap) -> bool:
    """Whether every two annotators share as many pairs as a prediction is held to."""
    n_annotators, shared = int(places.annotator.max()) + 1, Subsets(places, "none").n
    return len(shared) == comb(n_annotators, 2) and int(shared.min()) >= LEAST_SHARED


def _widths(places: Overlap, klass: Ints) -> Iterator[tuple[str, float]]:
    """Yield the widths of the intervals that `agreement` prints, with the names of their figures."""
    overlap, subsets = replace(places, klass=klass), Subsets(replace(places, klass=klass), "none")
    names = [str(at) for at in range(int(places.annotator.max()) + 1)]
    mean = next(figure for figure in summary_figures(subsets, "texts", 0.95) if figure.name == MEANS[0])
    for figure in (*pooled_figures(overlap, "texts", 0.95), mean):
        if figure.low is not None and figure.high is not None and _is_planned(figure.name):
            yield figure.name, figure.high - figure.low
    for subset in subset_figures(subsets, names, 0.95):
        if subset.kappa.low is not None and subset.kappa.high is not None:
            yield KAPPA_OF_TWO, subset.kappa.high - subset.kappa.low


def _is_planned(name: str) -> bool:
    return name in {ALPHA_NAME, MEANS[0]} or name.startswith("Fleiss")


def _alpha_width(overlap: Overlap) -> float:
    """The width of the interval of alpha; NaN where it has none."""
    alpha = next(figure for figure in pooled_figures(overlap, "texts", 0.95) if figure.name == ALPHA_NAME)
    return np.nan if alpha.low is None or alpha.high is None else alpha.high - alpha.low


def _from_pilots(scenario: Scenario, n: int) -> Iterator[Figure]:
    """Yield how often the range of a pilot holds the width of a study on the same texts, and how far it reaches."""
    rows = []
    for at in range(n):
        rng = np.random.default_rng([SEED, at])
        pilot, study = _draw_with_pilot(scenario, scenario.places(SEED + at), rng)
        predicted = PilotLabels(scenario.plan, APPROPRIATENESS, pilot).predict(ALPHA_NAME, scenario.size)
        rows.append((_alpha_width(study), *_range(predicted)))
    yield from _range_figures(scenario.name, np.array(rows))


def _range(predicted: PredictedWidth) -> tuple[float, float, float]:
    return tuple(np.nan if width is None else width for width in (predicted.width, predicted.low, predicted.high))  # type: ignore[return-value]


def _range_figures(name: str, rows: Floats) -> Iterator[Figure]:
    width, middle, low, high = rows.T
    held, reach = float(np.mean((low <= width) & (width <= high))), float(np.max(high / low))
    ends = f"the median range ends at {np.median(high / low):.2f} x"
    print(f"    {name}: width {np.median(width):.3f}, predicted {np.median(middle):.3f}; {ends}", flush=True)
    yield Figure("plan", f"{name}: ranges that hold the width", held, "at least", 0.8)
    yield Figure("plan", f"{name}: end of the widest range over its begin", reach, "at most", 3.0, " x")


def _draw_with_pilot(scenario: Scenario, places: Overlap, rng: np.random.Generator) -> tuple[Overlap, Overlap]:
    """A pilot on a block of a grid and a study of all of it, on the same texts by the same people."""
    n_hs, n_cn = PILOTS[scenario.name]
    hs, cn = np.divmod(rng.permutation(n_hs * n_cn)[:PILOT_PAIRS], n_cn)
    n_pairs = int(places.pair.max()) + 1
    two = np.argsort(rng.random((PILOT_PAIRS, scenario.n_annotators)), axis=1)[:, :2]
    pair = np.repeat(np.arange(PILOT_PAIRS), 2)
    both = Overlap(
        3,
        np.concatenate([places.pair, pair + n_pairs]),
        np.concatenate([places.hs, hs[pair]]),
        np.concatenate([places.cn, cn[pair]]),
        np.concatenate([places.annotator, two.ravel()]),
        np.zeros(len(places.pair) + len(pair), np.int64),
    )
    klass = scenario.answer(both, rng)
    pilot = Overlap(3, pair, hs[pair], cn[pair], two.ravel(), klass[len(places.pair) :])
    return pilot, replace(places, klass=klass[: len(places.pair)])


def _fc_conan(n: int) -> Iterator[Figure]:
    """Yield what random thirds of FC-CONAN's overlap predict of the width that all of it has."""
    published = read_published(data() / "fc-conan" / "bronze_partition_df.csv")
    labels = published.labels.merge(published.pairs[["pair", "hs", "cn"]], on="pair")
    labels = labels.rename(columns={"pair": "cell_id", "person": "annotator"})
    labels = labels.assign(hs_id=labels["hs"].factorize()[0], cn_id=labels["cn"].factorize()[0])
    labels = labels[labels.duplicated("cell_id", keep=False)]
    alpha = next(figure for figure in compute_agreement(labels, APPROPRIATENESS).pooled if figure.name == ALPHA_NAME)
    width = (alpha.high or np.nan) - (alpha.low or np.nan)
    n_labels = np.bincount(labels.groupby("cell_id").size())
    n_hs, n_cn = (int(labels[name].nunique()) for name in ("hs_id", "cn_id"))
    size = OverlapSize(n_hs, n_cn, 9, {2: int(n_labels[2]), 3: int(n_labels[3])})
    rng, rows = np.random.default_rng(SEED), []
    cells = labels["cell_id"].unique()
    for _ in range(n):
        third = rng.choice(cells, round(len(cells) * THIRD), replace=False)
        pilot = find_overlap(labels[labels["cell_id"].isin(third)], APPROPRIATENESS)
        rows.append((width, *_range(PilotLabels(Plan(), APPROPRIATENESS, pilot).predict(ALPHA_NAME, size))))
    found = np.array(rows)
    off = abs(float(np.median(found[:, 1])) / width - 1)
    yield Figure("plan", "thirds of FC-CONAN: the median is off by", 100 * off, "at most", 10.0, " %")
    yield from _range_figures("thirds of FC-CONAN", found)


def _power() -> Iterator[Figure]:
    """Yield how far the share of studies that find a difference is from the power wished for."""
    for name, options, draw in (
        ("normal, power 0.8", Power(power=0.8, difference=0.05, sd=0.2), _draw_normal),
        ("normal, power 0.5, few HS", Power(power=0.5, difference=0.2, sd=0.25), _draw_normal),
        ("normal, power 0.9, 6 comparisons", Power(power=0.9, difference=0.05, sd=0.2, comparisons=6), _draw_normal),
        ("half of the HS alike, power 0.8", Power(power=0.8, difference=0.05, sd=0.2), _draw_half_alike),
    ):
        found = 100 * _share_found(options, draw)
        off = abs(found - 100 * options.power)
        yield Figure("plan", f"{name}: points from the power wished for", off, "at most", 5.0)


def _share_found(options: Power, draw: Callable[..., Floats]) -> float:
    """In which share of 2,000 drawn studies the test finds the difference with as many HS as the plan says."""
    sd = options.sd or np.nan
    n_hs = plan_hs(options, ALPHA, sd, describe_assumed(sd)).needed.hs
    rng = np.random.default_rng(SEED)
    p = randomisation(draw(rng, n_hs, options.difference, sd), RESAMPLES, SEED)
    return float(np.mean(p * options.comparisons < ALPHA))


def _draw_normal(rng: np.random.Generator, n_hs: int, difference: float, sd: float) -> Floats:
    return rng.normal(difference, sd, (n_hs, 2_000))


def _draw_half_alike(rng: np.random.Generator, n_hs: int, difference: float, sd: float) -> Floats:
    """Differences that are 0 for half of the HS, as where two systems rank alike, with this mean and deviation."""
    part = (2 * (sd**2 + difference**2) - (2 * difference) ** 2) ** 0.5
    return np.where(rng.random((n_hs, 2_000)) < 0.5, 0.0, rng.normal(2 * difference, part, (n_hs, 2_000)))

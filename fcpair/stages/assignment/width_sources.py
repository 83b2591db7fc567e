"""Sources of the widths of a plan: labels that are assumed, with or without effects, or those of a pilot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np

from fcpair.errors import InputError
from fcpair.params import Plan
from fcpair.records import Figure
from fcpair.stages.questions import Closed
from fcpair.stages.questions.form import numbers
from fcpair.stages.stats import latent_labels
from fcpair.stages.stats.kappa import MEANS, Subsets, subset_figures, summary_figures
from fcpair.stages.stats.multi_rater import ALPHA, COEFFICIENTS, Coefficient, coefficients_of, pooled_figure
from fcpair.stages.stats.predicted_widths import (
    KAPPA_OF_TWO,
    MOST_AT_ONCE,
    OverlapSize,
    Pilot,
    VarianceParts,
    draw_width,
    measure_pilot,
    place_labels,
)
from fcpair.stages.stats.rating_counts import Overlap

LEAST_SHARED = 12  # pairs of two annotators; on fewer, hardly any kappa has an interval
REFERENCE = 70  # HS and CN of the studies in which it is measured what a pair adds
N_REFERENCES = 20
FEW = "too few pairs have the labels that it is about"
PILOT_STEP = 1.05  # by which pilots are enlarged until the range is halved


@dataclass(frozen=True)
class PredictedWidth:
    """The width that the interval of a figure, whose value is expected to be `value`, has on an overlap: `low` and
    `high` are the range that a pilot leaves open, `floor` what endlessly many pairs of the same texts would leave.
    """

    name: str
    value: float | None
    width: float | None
    low: float | None = None
    high: float | None = None
    floor: float | None = None
    undefined: str | None = None

    @property
    def safe(self) -> float | None:
        """The width that a recommendation rests on: the high end of the range, or `width` if there is none."""
        return self.width if self.high is None else self.high


def planned_figures(question: Closed) -> dict[str, Coefficient]:
    """The coefficients whose widths are planned, by their names: the alpha of the question, and Fleiss' kappa."""
    all_coefficients = coefficients_of(question.distance, numbers(question, np.asarray(question.codes)))
    named = {coefficient.name: coefficient for coefficient in all_coefficients}
    alpha = named[ALPHA[question.distance]]
    return {alpha.name: alpha, **{name: of for name, of in named.items() if of.n_labels}}


class PilotSize(NamedTuple):
    """Size of a pilot: its pairs with several labels, and their HS and CN."""

    n_pairs: int
    n_hs: int
    n_cn: int


class AssumedLabels:
    """Labels whose shares and kappa are assumed (`model`); texts and annotators differ as far as effects say."""

    independence = (
        "pairs are taken to be independent, as they hardly ever are: the interval of FC-CONAN's alpha was three times "
        "as wide as such a plan has it; have a pilot labelled, or assume effects of HS and CN"
    )

    def __init__(self, plan: Plan, question: Closed) -> None:
        self._plan, self._coefficients = plan, planned_figures(question)
        self.alpha = next(iter(self._coefficients.values()))
        self.model = latent_labels.fit_class_model(question, plan.prevalence, plan.not_sure, plan.kappa)
        self._answer = latent_labels.answer_by_classes(self.model)
        self._effects: latent_labels.Effects | None = None
        if plan.hs_effect or plan.cn_effect or plan.annotator_effect:
            effects = latent_labels.Effects(hs=plan.hs_effect, cn=plan.cn_effect, leniency=plan.annotator_effect)
            self._effects = latent_labels.fit_effects(effects, self.model.shares, plan.kappa)
            self.model, self._answer = (
                latent_labels.class_model(self._effects),
                latent_labels.answer_by_effects(self._effects),
            )
        self._explained, self._of_pair = cache(self._draw_explained), cache(self._draw_of_pair)
        self.predict = cache(self._predict)
        self.basis = (
            f"assumed: {plan.prevalence:.1%} of labels positive, {plan.not_sure:.1%} not sure, kappa {plan.kappa:g}",
            f"assumed: HS explain {plan.hs_effect:.0%} and CN {plan.cn_effect:.0%} of the differences between pairs; "
            f"the leniency of annotators has a standard deviation of {plan.annotator_effect:g}",
        )

    def _predict(self, name: str, size: OverlapSize) -> PredictedWidth:
        """The width of a figure on an overlap, in drawn studies; beyond the labels of one study it falls as its
        variance does. Kappas of two are those of some people, every two of whom share as many pairs as any.
        """
        n_labels = self._coefficients[name].n_labels if name in self._coefficients else None
        n, few = size.n_pairs, "no drawn study has an interval: too few pairs"
        if n_labels:
            n, few = size.pairs.get(n_labels, 0), FEW
        elif name == KAPPA_OF_TWO:
            if (shared := round(size.shared)) < LEAST_SHARED:
                n, few = 0, f"two annotators share fewer than {LEAST_SHARED} pairs"
            else:
                most = min(n, MOST_AT_ONCE // 2) // shared
                n_people = max(m for m in range(2, size.n_annotators + 1) if comb(m, 2) <= max(most, 1))
                size = OverlapSize(size.n_hs, size.n_cn, n_people, {2: shared * comb(n_people, 2)})
        small, drawn = size.limit(MOST_AT_ONCE), None
        if n > 1:
            places = place_labels(small, len(self.model.shares))
            drawn = draw_width(places, self._answer, lambda overlap: self._measure(name, overlap))
        if drawn is None:
            return PredictedWidth(name, None, None, undefined=few)
        value, width = drawn.tolist()
        if small != size:
            parts = self.parts(name, size)
            width *= (parts.variance(size) / parts.variance(small)) ** 0.5
        return PredictedWidth(name, value, width, floor=self.floor(name, size))

    def _measure(self, name: str, overlap: Overlap) -> Iterable[Figure]:
        """The figures of this name, as `agreement` has them."""
        level = self._plan.level
        if name in self._coefficients:
            return [pooled_figure(overlap, "texts", level, self._coefficients[name])]
        subsets = Subsets(overlap, "none")
        if name == KAPPA_OF_TWO:
            return [of_two.kappa for of_two in subset_figures(subsets, [""] * (overlap.annotator.max() + 1), level)]
        return summary_figures(subsets, "texts", level)[:1]

    def floor(self, name: str, size: OverlapSize) -> float:
        """The width that endlessly many pairs of the same texts would leave, that of alpha for kappas of two."""
        coefficient = self._coefficients.get(name, self.alpha)
        return VarianceParts(0.0, *self._explained(coefficient)).floor_width(size, self._plan.level)

    def parts(self, name: str, size: OverlapSize) -> VarianceParts:
        """Share of a pair in the variance of a coefficient, in that of alpha for kappas of two and their mean."""
        coefficient = self._coefficients.get(name, self.alpha)
        by_labels = {m: n / size.n_pairs for m, n in size.pairs.items() if coefficient.n_labels in {None, m}}
        pair = self._of_pair(coefficient, tuple((m, round(share, 2)) for m, share in by_labels.items()))
        return VarianceParts(pair, *self._explained(coefficient))

    def _draw_explained(self, coefficient: Coefficient) -> tuple[float, float]:
        if not self._effects:
            return 0.0, 0.0
        hs, cn = latent_labels.explained_variances(self._effects, coefficient)
        return hs if self._plan.hs_effect else 0.0, cn if self._plan.cn_effect else 0.0

    def _draw_of_pair(self, coefficient: Coefficient, by_labels: tuple[tuple[int, float], ...]) -> float:
        """The mean in drawn studies of a grid with so many pairs that it is near what is expected."""
        pairs = {m: round(REFERENCE**2 * share) for m, share in by_labels}
        places = place_labels(OverlapSize(REFERENCE, REFERENCE, max(pairs), pairs), len(self.model.shares))
        rngs = (np.random.default_rng([0, at]) for at in range(N_REFERENCES))
        studies = (measure_pilot(replace(places, klass=self._answer(places, rng)), coefficient) for rng in rngs)
        return float(np.mean([study.of_pair * study.size.n_pairs for study in studies if isinstance(study, Pilot)]))


class PilotLabels:
    """Labels as those of a pilot. Other widths are those of alpha, scaled as in drawn studies of independent pairs."""

    independence = "HS and CN explain nothing in the pilot, so the likeliest width is that of independent pairs"

    def __init__(self, plan: Plan, question: Closed, pilot: Overlap) -> None:
        alpha = measure_pilot(pilot, next(iter(planned_figures(question).values())))
        if isinstance(alpha, str):
            raise InputError(f"the pilot tells no width: {alpha}; have several people label more of the same pairs")
        self._alpha, self._level = alpha, plan.level
        shares = np.bincount(pilot.klass, minlength=len(question.codes)) / len(pilot.klass)
        codes = np.asarray(question.codes)
        prevalence = float(shares[np.isin(codes, list(question.positive))].sum())
        not_sure = float(shares[~np.isin(codes, question.definite)].sum())
        nominal = next(coefficient for coefficient in COEFFICIENTS if coefficient.name == ALPHA["nominal"])
        measured = measure_pilot(pilot, nominal)
        lowest, highest = latent_labels.kappa_range(question, prevalence, not_sure)
        kappa = plan.kappa if isinstance(measured, str) else measured.value
        kappa = float(np.clip(kappa, max(lowest, 0.0), highest))
        like = replace(plan, prevalence=prevalence, not_sure=not_sure, kappa=kappa, pilot=None)
        like = replace(like, hs_effect=0.0, cn_effect=0.0, annotator_effect=0.0)
        self._independent = AssumedLabels(like, question)
        self.model = self._independent.model
        labels = (f"{choice.name} {share:.1%}" for choice, share in zip(question, self.model.shares, strict=True))
        self.basis = (
            f"from a pilot: {alpha.size.n_pairs} pairs with several labels, of {alpha.size.n_hs} HS and "
            f"{alpha.size.n_cn} CN, {alpha.name} {alpha.value:.3f}",
            f"variance of HS {alpha.of_hs / alpha.of_pair:.1f} times, of CN {alpha.of_cn / alpha.of_pair:.1f} "
            f"times that of independent pairs; labels: {', '.join(labels)}",
        )

    def predict(self, name: str, size: OverlapSize) -> PredictedWidth:
        """The width of the figure of this name on an overlap, and its range."""
        if size.n_pairs < 2 or min(map(len, size.pairs_of_texts)) < 2:
            return PredictedWidth(name, None, None, undefined=FEW)
        low, width, high = self._alpha.widths(size, self._per_pair(size), self._level).tolist()
        floor = self.floor(name, size)
        if name == self._alpha.name:
            return PredictedWidth(name, self._alpha.value, width, low, high, floor)
        drawn, alpha = (self._independent.predict(of, size) for of in (name, self._alpha.name))
        if drawn.width is None or alpha.width is None:
            return drawn
        factor = drawn.width / alpha.width
        return PredictedWidth(name, drawn.value, width * factor, low * factor, high * factor, floor)

    def floor(self, name: str, size: OverlapSize) -> float:
        """The floor of alpha, and of all other figures."""
        return self._alpha.floor_width(size, self._per_pair(size), self._level)

    def _per_pair(self, size: OverlapSize) -> float:
        """Share of a pair in the variance, as a multiple of that of a pilot's pair, which has fewer or more labels."""
        there, here = (self._independent.parts(self._alpha.name, of).pair for of in (size, self._alpha.size))
        return float(there / here)

    def find_halving(self, size: OverlapSize) -> PilotSize | None:
        """The least pilot within the grid, as dense as this one, that would halve the range of a width, if one does."""
        of_pilot, factor = self._alpha.size, 1.0
        goal = self._reach(self._alpha, size) / 2
        while of_pilot.n_hs * factor < size.n_hs or of_pilot.n_cn * factor < size.n_cn:
            factor *= PILOT_STEP
            n_hs, n_cn = (
                max(n_texts, min(round(n_texts * factor), most))
                for n_texts, most in ((of_pilot.n_hs, size.n_hs), (of_pilot.n_cn, size.n_cn))
            )
            larger = self._alpha.enlarge(n_hs, n_cn)
            if self._reach(larger, size) <= goal:
                return PilotSize(larger.size.n_pairs, n_hs, n_cn)
        return None

    def _reach(self, pilot: Pilot, size: OverlapSize) -> float:
        """Ends of the range of a width."""
        if size.n_pairs < 2 or min(map(len, size.pairs_of_texts)) < 2:
            return 0.0
        low, _, high = pilot.widths(size, self._per_pair(size), self._level).tolist()
        return float(high - low)


WidthSource = AssumedLabels | PilotLabels


def figure_names(question: Closed) -> tuple[str, ...]:
    """Names of all figures of a plan: alpha, Fleiss' kappa, the mean kappa and the kappas of two."""
    return (*planned_figures(question), MEANS[0], KAPPA_OF_TWO)

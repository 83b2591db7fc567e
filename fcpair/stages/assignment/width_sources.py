"""Sources of the widths of a plan: labels that are assumed, with or without effects, or those of a pilot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from fcpair.errors import InputError
from fcpair.params import Plan
from fcpair.stages.questions import Closed
from fcpair.stages.questions.answer_arrays import numbers
from fcpair.stages.stats.kappa import MEANS
from fcpair.stages.stats.label_profiles import ClassModel, fit_class_model, kappa_range
from fcpair.stages.stats.latent_labels import Effects, class_model, fit_effects, side_shares
from fcpair.stages.stats.multi_rater import ALPHA, Coefficient, coefficients_of
from fcpair.stages.stats.pilot_variances import PilotVariance, measure_pilot
from fcpair.stages.stats.predicted_widths import (
    KAPPA_OF_TWO,
    LEAST_SHARED,
    FigureVariance,
    OverlapSize,
    SideShares,
    coefficient_variance,
    floor_width,
    high_width,
    kappa_variance,
    low_width,
    mean_width,
)
from fcpair.stages.stats.rating_counts import Overlap
from fcpair.stages.stats.simulated_means import (
    MOST_AT_ONCE,
    Answer,
    answer_by_classes,
    answer_by_effects,
    simulate_mean_kappa,
)

NO_EFFECTS = SideShares()
PILOT_STEP = 1.05  # by which pilots are enlarged until the range is halved
FEW = "too few pairs have the labels that it is about"


@dataclass(frozen=True)
class PredictedWidth:
    """The width that the interval of a figure is expected to have on an overlap.

    `value` is what the figure is expected to be, `low` and `high` the range of the width that a pilot leaves open
    (None where it is assumed), `floor` the width that endlessly many pairs of the same texts would leave. `width` is
    None exactly where `undefined` says why.
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
        """The width that a recommendation rests on: the high end of the range, or `width` where there is none."""
        return self.width if self.high is None else self.high


class WidthSource(Protocol):
    """Where widths come from."""

    independence: str
    """Caution where neither HS nor CN explain anything."""

    @property
    def model(self) -> ClassModel:
        """Shares and agreement of the labels."""

    @property
    def basis(self) -> tuple[str, ...]:
        """What the widths rest on, a sentence each."""

    def predict(self, name: str, size: OverlapSize) -> PredictedWidth:
        """The width of the figure of this name on an overlap."""

    def floor(self, name: str, size: OverlapSize) -> float:
        """The width that endlessly many pairs of the same texts would leave; 0 where nothing says so."""


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
    """Labels whose shares and kappa are assumed; texts and annotators differ as far as effects say."""

    independence = (
        "pairs are taken to be independent, as they hardly ever are: the interval of FC-CONAN's alpha was three times "
        "as wide as such a plan has it; have a pilot labelled, or assume effects of HS and CN"
    )

    def __init__(self, plan: Plan, question: Closed) -> None:
        self._plan, self._coefficients = plan, planned_figures(question)
        classes = fit_class_model(question, plan.prevalence, plan.not_sure, plan.kappa)
        self._effects = _fit_effects(plan, classes)
        self.model = class_model(self._effects) if self._effects else classes

    @property
    def basis(self) -> tuple[str, ...]:
        """What is assumed."""
        plan = self._plan
        return (
            f"assumed: {plan.prevalence:.1%} of labels positive, {plan.not_sure:.1%} not sure, kappa {plan.kappa:g}",
            f"assumed: HS explain {plan.hs_effect:.0%} and CN {plan.cn_effect:.0%} of the differences between pairs; "
            f"the leniency of annotators has a standard deviation of {plan.annotator_effect:g}",
        )

    def predict(self, name: str, size: OverlapSize) -> PredictedWidth:
        """The width of a figure, as `WidthSource` has it."""
        if name == MEANS[0]:
            return self._simulate(size)
        return _predicted(name, self._variance(name, size), self._plan.level)

    def floor(self, name: str, size: OverlapSize) -> float:
        """The floor of a figure, as `WidthSource` has it; that of the mean kappa is that of alpha."""
        own_name = _alpha_of(self._coefficients).name if name == MEANS[0] else name
        return _floor(self._variance(own_name, size), self._plan.level)

    def _variance(self, name: str, size: OverlapSize) -> FigureVariance | None:
        if name == KAPPA_OF_TWO:
            return kappa_variance(self.model, size, self._shares(_alpha_of(self._coefficients), size))
        coefficient = self._coefficients[name]
        return coefficient_variance(coefficient, self.model, size, self._shares(coefficient, size))

    def _shares(self, coefficient: Coefficient, size: OverlapSize) -> SideShares:
        if self._effects is None:
            return NO_EFFECTS
        pairs = {m: n for m, n in size.pairs.items() if n and coefficient.n_labels in {None, m}}
        return side_shares(self._effects, coefficient, pairs) if pairs else NO_EFFECTS

    def _simulate(self, size: OverlapSize) -> PredictedWidth:
        """The width in drawn studies; beyond the labels of one study it falls as that of alpha."""
        small = size.limit(MOST_AT_ONCE)
        answer = answer_by_effects(self._effects) if self._effects else answer_by_classes(self.model)
        drawn = _drawn_mean(small, answer, len(self.model.shares), self._plan.level)
        of_small, alpha = (self.predict(_alpha_of(self._coefficients).name, of) for of in (small, size))
        if drawn.width is None or of_small.width is None or alpha.width is None:
            return drawn
        return replace(drawn, width=drawn.width * alpha.width / of_small.width, floor=alpha.floor)


class PilotLabels:
    """Labels as those of a pilot, with what its HS and CN explain."""

    independence = "HS and CN explain nothing in the pilot, so the likeliest width is that of independent pairs"

    def __init__(self, plan: Plan, question: Closed, pilot: Overlap) -> None:
        self._plan, self._coefficients, self._pilot = plan, planned_figures(question), pilot
        self._question = question
        alpha = self._measured(_alpha_of(self._coefficients))
        if isinstance(alpha, str):
            raise InputError(f"the pilot tells no width: {alpha}; have several people label more of the same pairs")
        self._alpha = alpha
        self.model = _fit_pilot(question, pilot, plan)

    @cached_property
    def _measured(self) -> Any:
        return cache(lambda coefficient: measure_pilot(self._pilot, coefficient))

    @property
    def basis(self) -> tuple[str, ...]:
        """The pilot in numbers."""
        alpha = self._alpha
        shares = (f"{choice.name} {share:.1%}" for choice, share in zip(self._question, self.model.shares, strict=True))
        return (
            f"from a pilot: {alpha.n} pairs with several labels, of {alpha.hs.n_texts} HS and {alpha.cn.n_texts} CN, "
            f"{alpha.coefficient.name} {alpha.value:.3f}",
            f"variance of HS {alpha.hs.variance / alpha.pair:.1f} times, of CN {alpha.cn.variance / alpha.pair:.1f} "
            f"times that of independent pairs; labels: {', '.join(shares)}",
        )

    def predict(self, name: str, size: OverlapSize) -> PredictedWidth:
        """The width of a figure and its range, as `WidthSource` has it."""
        if name == MEANS[0]:
            return self._mean_kappa(size)
        measured = self._measured_for(name)
        if isinstance(measured, str):
            return PredictedWidth(name, None, None, undefined=f"the pilot tells nothing of it: {measured}")
        low, middle, high = (self._variance(name, pilot, size) for pilot in measured.ends())
        predicted = _predicted(name, middle, self._plan.level)
        if predicted.width is None or low is None or high is None:
            return predicted
        level = self._plan.level
        ends = min(low_width(low, level), predicted.width), max(high_width(high, level), predicted.width)
        return replace(predicted, low=ends[0], high=ends[1])

    def floor(self, name: str, size: OverlapSize) -> float:
        """The floor of a figure, as `WidthSource` has it; that of the mean kappa is that of alpha."""
        own_name = self._alpha.coefficient.name if name == MEANS[0] else name
        measured = self._measured_for(own_name)
        return 0.0 if isinstance(measured, str) else _floor(self._variance(own_name, measured, size), self._plan.level)

    def _measured_for(self, name: str) -> PilotVariance | str:
        """What the pilot shows of a figure, or why it shows nothing."""
        measured: PilotVariance | str = (
            self._alpha if name == KAPPA_OF_TWO else self._measured(self._coefficients[name])
        )
        return measured

    def find_halving(self, name: str, size: OverlapSize) -> PilotSize | None:
        """The least pilot within the grid that would halve the range of a width; None where none does.

        It is as dense as this one, on more HS and CN.
        """
        measured = self._alpha if name in {KAPPA_OF_TWO, MEANS[0]} else self._measured(self._coefficients[name])
        if isinstance(measured, str) or not (reach := self._reach(name, measured, size)):
            return None
        factor, goal = 1.0, reach / 2
        while measured.hs.n_texts * factor < size.n_hs or measured.cn.n_texts * factor < size.n_cn:
            factor *= PILOT_STEP
            n_hs, n_cn = (
                max(side.n_texts, min(round(side.n_texts * factor), most))
                for side, most in ((measured.hs, size.n_hs), (measured.cn, size.n_cn))
            )
            larger = measured.enlarge(n_hs, n_cn)
            if self._reach(name, larger, size) <= goal:
                return PilotSize(larger.n, n_hs, n_cn)
        return None

    def _reach(self, name: str, pilot: PilotVariance, size: OverlapSize) -> float:
        """How far the range of a width reaches; 0 where it has none."""
        low, _, high = (self._variance(name, end, size) for end in pilot.ends())
        if low is None or high is None or min(low.df, high.df) < 1:
            return 0.0
        return high_width(high, self._plan.level) - low_width(low, self._plan.level)

    def _variance(self, name: str, pilot: PilotVariance, size: OverlapSize) -> FigureVariance | None:
        if name == KAPPA_OF_TWO:
            return kappa_variance(self.model, size, pilot.shares)
        return pilot.expect(self.model, size)

    def _mean_kappa(self, size: OverlapSize) -> PredictedWidth:
        """The widths of alpha, by as much wider as the mean kappa is in drawn studies of independent pairs."""
        alpha = self.predict(self._alpha.coefficient.name, size)
        small = size.limit(MOST_AT_ONCE)
        independent = coefficient_variance(self._alpha.coefficient, self.model, small, NO_EFFECTS)
        drawn = _drawn_mean(small, answer_by_classes(self.model), len(self.model.shares), self._plan.level)
        if drawn.width is None or alpha.width is None or independent is None:
            return drawn
        factor = drawn.width / mean_width(independent, self._plan.level)
        width, low, high = (None if part is None else part * factor for part in (alpha.width, alpha.low, alpha.high))
        return PredictedWidth(MEANS[0], drawn.value, width, low, high, alpha.floor)


def _fit_effects(plan: Plan, classes: ClassModel) -> Effects | None:
    """The model in which HS, CN and annotators have effects; its classes are those of the question, in order."""
    if not (plan.hs_effect or plan.cn_effect or plan.annotator_effect):
        return None
    effects = Effects(hs=plan.hs_effect, cn=plan.cn_effect, leniency=plan.annotator_effect)
    return fit_effects(effects, classes.shares, plan.kappa)


def _drawn_mean(size: OverlapSize, answer: Answer, n_classes: int, level: float) -> PredictedWidth:
    """The mean kappa and the mean width of its interval in drawn studies."""
    drawn = simulate_mean_kappa(size, answer, n_classes, level)
    if not len(drawn):
        return PredictedWidth(MEANS[0], None, None, undefined="no drawn study has an interval: too few pairs")
    value, width = drawn.mean(axis=0).tolist()
    return PredictedWidth(MEANS[0], value, width)


def _alpha_of(coefficients: dict[str, Coefficient]) -> Coefficient:
    return next(iter(coefficients.values()))


def _fit_pilot(question: Closed, pilot: Overlap, plan: Plan) -> ClassModel:
    """The class model with the shares of a pilot's labels, and its alpha as kappa, as near as the model comes to it."""
    shares = np.bincount(pilot.klass, minlength=len(question.codes)) / len(pilot.klass)
    codes = np.asarray(question.codes)
    prevalence = float(shares[np.isin(codes, list(question.positive))].sum())
    not_sure = float(shares[~np.isin(codes, question.definite)].sum())
    nominal = next(one for one in coefficients_of("nominal", np.zeros(0)) if one.name == ALPHA["nominal"])
    measured = measure_pilot(pilot, nominal)
    lowest, highest = kappa_range(question, prevalence, not_sure)
    kappa = plan.kappa if isinstance(measured, str) else measured.value
    return fit_class_model(question, prevalence, not_sure, float(np.clip(kappa, lowest, highest)))


def _predicted(name: str, variance: FigureVariance | None, level: float) -> PredictedWidth:
    if variance is None or variance.df < 1:
        few = f"two annotators share fewer than {LEAST_SHARED} pairs" if name == KAPPA_OF_TWO else FEW
        return PredictedWidth(name, None, None, undefined=few)
    return PredictedWidth(name, variance.value, mean_width(variance, level), floor=floor_width(variance, level))


def _floor(variance: FigureVariance | None, level: float) -> float:
    return 0.0 if variance is None or variance.df < 1 else floor_width(variance, level)


def figure_names(question: Closed) -> tuple[str, ...]:
    """Names of all figures of a plan: alpha, Fleiss' kappa, the mean kappa and the kappas of two."""
    return (*planned_figures(question), MEANS[0], KAPPA_OF_TWO)

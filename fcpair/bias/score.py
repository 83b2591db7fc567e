"""Scores of bias tests with intervals: for each category, and over categories their mean, signed and absolute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fcpair.bias.answered import Answered, Bools, Floats
from fcpair.bias.counts import Counts, counted
from fcpair.bias.scores import SCHEMES, Score
from fcpair.errors import InputError, nearest

DRAWS = 2_000
LEVEL = 0.95
LEAST_TEMPLATES = 5
METHOD = "Bayesian bootstrap over templates"
MEAN, MEAN_ABSOLUTE = "(mean over categories)", "(mean of absolute values)"


@dataclass(frozen=True)
class BiasFigure:
    """A score of a category, or over categories, with what it rests on.

    `value` is None exactly where `undefined` says why. `low` and `high` bound the interval at 95 %, both None where
    `note` says why there is none. It rests on the `n` answers that can be read, about items of `n_templates` templates;
    `n_unreadable` are left out.
    """

    score: str
    category: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    n_unreadable: int
    n_templates: int
    undefined: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Scored:
    """The figures of a scheme, and how many answers they rest on: `n`, of which `n_unreadable` name no option."""

    scheme: str
    n: int
    n_unreadable: int
    figures: tuple[BiasFigure, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it, with the formulas and their sources."""
        formulas = {one.name: {"formula": one.formula, "source": one.source} for one in SCHEMES[self.scheme]}
        method = {"interval": METHOD, "level": LEVEL}
        return {**asdict(self), "figures": [asdict(one) for one in self.figures], "scores": formulas, **method}


def score(answered: Answered, scheme: str, categories: Sequence[str], *, draws: int = DRAWS, seed: int = 13) -> Scored:
    """Score answers as a benchmark does.

    Args:
        answered: the answers; its `category` numbers `categories`.
        scheme: `bbq`, `kobbq`, `cbbq` or `pbbq`.
        categories: their names.
        draws: how often templates are weighted anew for the intervals. Templates get random weights, Dirichlet(1, ...,
            1): D. Rubin (1981), The Bayesian bootstrap, DOI 10.1214/aos/1176345338. With fewer than five templates
            there is no interval.
        seed: of the weights.

    Raises:
        InputError: no answer, no such scheme, or one that needs probabilities where there are none.
    """
    if scheme not in SCHEMES:
        raise InputError(f"there is no scheme `{scheme}`; {nearest(scheme, SCHEMES)}")
    if not len(answered):
        raise InputError("there are no answers to score")
    if scheme == "pbbq" and answered.probabilities is None:
        raise InputError("the scores of PBBQ are made of probabilities of the options, and these answers have none")
    figures = tuple(_figures(answered, SCHEMES[scheme], categories, draws, seed))
    return Scored(scheme, len(answered), int((~answered.readable).sum()), figures)


def _figures(
    answered: Answered, scores: Sequence[Score], categories: Sequence[str], draws: int, seed: int
) -> Iterator[BiasFigure]:
    n_numbers = int(answered.template.max()) + 1
    templates, unit = np.unique(answered.category * n_numbers + answered.template, return_inverse=True)
    counts = counted(answered, unit, len(templates))
    of = templates // n_numbers
    rng = np.random.default_rng(seed)
    of_category = {one: _Of(counts, of == one, draws, rng) for one in np.unique(of).tolist()}
    for one in scores:
        found = {at: of.figure(one, categories[at]) for at, of in of_category.items()}
        yield from found.values()
        if len(found) > 1:
            yield from _over(one, list(found.values()), [of.replicates(one) for of in of_category.values()])


class _Of:
    """The counts of one category: of all its templates, and with templates weighted at random."""

    def __init__(self, counts: Counts, here: Bools, draws: int, rng: np.random.Generator) -> None:
        mine = {name: values[here] for name, values in counts.items()}
        self._n_templates = int(np.count_nonzero(here))
        self._sums = {name: values.sum() for name, values in mine.items()}
        weights = rng.standard_gamma(1.0, (draws, self._n_templates))
        self._drawn = {name: weights @ values for name, values in mine.items()}

    def figure(self, one: Score, category: str) -> BiasFigure:
        value, (n, n_unreadable) = float(one.of(self._sums)), self._counts(one, "n", "unreadable")
        rests_on = (n, n_unreadable, self._n_templates)
        if np.isnan(value):
            return BiasFigure(one.name, category, None, None, None, *rests_on, one.why_not)
        low, high, note = _interval(self.replicates(one), self._n_templates)
        return BiasFigure(one.name, category, value, low, high, *rests_on, note=note)

    def _counts(self, one: Score, *names: str) -> list[int]:
        return [int(self._sums[f"{one.context}.{name}"]) for name in names]

    def replicates(self, one: Score) -> Floats:
        """The score with templates weighted at random, `(draws,)`; all nan with too few of them."""
        found = one.of(self._drawn)
        return found if self._n_templates >= LEAST_TEMPLATES else np.full_like(found, np.nan)


def _over(one: Score, found: Sequence[BiasFigure], replicates: Sequence[Floats]) -> Iterator[BiasFigure]:
    """The mean over categories, and of a score that has a direction that of absolute values, which does not hide it."""
    rests_on = (sum(of.n for of in found), sum(of.n_unreadable for of in found), sum(of.n_templates for of in found))
    if missing := [of.category for of in found if of.value is None]:
        why = f"it is undefined in {', '.join(missing)}"
        yield BiasFigure(one.name, MEAN, None, None, None, *rests_on, why)
        return
    values = np.array([of.value for of in found])
    low, high, note = _interval(np.mean(replicates, axis=0), rests_on[-1])
    yield BiasFigure(one.name, MEAN, float(values.mean()), low, high, *rests_on, note=note)
    if one.is_bias:
        note = "no interval, as chance alone makes absolute values larger"
        yield BiasFigure(one.name, MEAN_ABSOLUTE, float(abs(values).mean()), None, None, *rests_on, note=note)


def _interval(replicates: Floats, n_templates: int) -> tuple[float | None, float | None, str]:
    if np.isnan(replicates).any():
        few = n_templates < LEAST_TEMPLATES
        why = f"with fewer than {LEAST_TEMPLATES} templates" if few else "where a category, or a draw, has none"
        return None, None, f"no interval {why}"
    low, high = np.quantile(replicates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high), ""

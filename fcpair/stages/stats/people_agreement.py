"""Agreement of people: two of them side by side, each of them with all others, and the two that agree most or least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fcpair.notebook import Result, frame_of
from fcpair.params import Agree
from fcpair.records import Figure
from fcpair.stages.questions import Closed
from fcpair.stages.stats.agreement import compute_agreement
from fcpair.stages.stats.jackknife_intervals import HS_AND_CN, Sides
from fcpair.stages.stats.kappa import SubsetAgreement

if TYPE_CHECKING:
    import pandas as pd

NONE_SHARED = "there is no pair that both have labelled"
NO_KAPPA = "kappa is undefined with each of the others"


@dataclass(frozen=True, repr=False)
class PeopleComparison(Result):
    """Labels of two people on the `n` pairs that both labelled.

    `table` counts these pairs: rows are the first person's class, columns the other's, in the order of `classes`.
    `n_labels` are all labels of each; with `not_sure="drop"` in `options`, indefinite ones are in none of the counts.
    `raw_agreement` (0 to 1) is None without a shared pair; `kappa` says what its interval rests on, or why there is no
    value.
    """

    people: tuple[str, str]
    options: Agree
    classes: tuple[str, ...]
    n_labels: tuple[int, int]
    n: int
    raw_agreement: float | None
    table: tuple[tuple[int, ...], ...]
    kappa: Figure
    new_texts: str

    def to_frame(self) -> pd.DataFrame:
        """The table, long: the class of each of the two, under their names, and `n`, the number of pairs."""
        first, other = self.people
        rows: list[dict[str, Any]] = [
            {first: one, other: two, "n": n}
            for one, counts in zip(self.classes, self.table, strict=True)
            for two, n in zip(self.classes, counts, strict=True)
        ]
        return frame_of(rows, (first, other, "n"))

    def _summary(self) -> str:
        kappa = self.kappa.undefined if self.kappa.value is None else f"{self.kappa.value:.3f}"
        return f"{' and '.join(self.people)}, {self.n:,} shared pairs; {self.kappa.name} {kappa}"


def compare_labels(
    labels: pd.DataFrame,
    people: tuple[str, str],
    question: Closed,
    options: Agree | None = None,
    sides: Sides = HS_AND_CN,
) -> PeopleComparison:
    """Compare the labels of two `people`; `labels` are theirs alone, as `compute_agreement` takes them."""
    measured = compute_agreement(labels, question, options, sides)
    counted = labels.loc[labels["code"].isin([one.code for one in question if one.name in measured.classes])]
    n_labels = (int((counted["annotator"] == people[0]).sum()), int((counted["annotator"] == people[1]).sum()))
    common = (people, measured.options, measured.classes, n_labels)
    if not measured.subsets:
        empty = ((0,) * len(measured.classes),) * len(measured.classes)
        undefined = Figure("Cohen's kappa", None, 0, undefined=NONE_SHARED)
        return PeopleComparison(*common, 0, None, empty, undefined, sides.new_texts)
    (subset,) = measured.subsets
    table = subset.table if subset.annotators == people else tuple(zip(*subset.table, strict=True))
    return PeopleComparison(*common, subset.n, subset.raw_agreement, table, subset.kappa, sides.new_texts)


@dataclass(frozen=True)
class PersonAgreement:
    """Agreement of one person with the `n_others` with whom they share pairs.

    `n` are the comparisons: each of their labels with each other label on its pair; `raw_agreement` (0 to 1) is the
    share of them that are alike. `kappa` is the mean of the kappas with each other person, weighted by shared pairs,
    over those that are defined. `farthest` is the subset with the lowest kappa; None where none is defined.
    """

    name: str
    n_others: int
    n: int
    raw_agreement: float
    kappa: Figure
    farthest: SubsetAgreement | None


def agreement_with_others(subsets: Sequence[SubsetAgreement]) -> tuple[PersonAgreement, ...]:
    """Agreement of each person who shares a pair with somebody, by name."""
    subsets_by_name: dict[str, list[SubsetAgreement]] = {}
    for subset in subsets:
        for name in subset.annotators:
            subsets_by_name.setdefault(name, []).append(subset)
    return tuple(_person_agreement(name, subsets_by_name[name]) for name in sorted(subsets_by_name))


def _person_agreement(name: str, subsets: Sequence[SubsetAgreement]) -> PersonAgreement:
    n = sum(subset.n for subset in subsets)
    alike = sum(subset.raw_agreement * subset.n for subset in subsets)
    farthest = extreme_subsets(subsets, 1)[0]
    return PersonAgreement(name, len(subsets), n, alike / n, _mean_kappa(subsets), farthest[0] if farthest else None)


def _mean_kappa(subsets: Sequence[SubsetAgreement]) -> Figure:
    weighted = [(subset.kappa.value, subset.n) for subset in subsets if subset.kappa.value is not None]
    n = sum(weight for _, weight in weighted)
    if not weighted:
        return Figure("mean kappa weighted by n", None, 0, undefined=NO_KAPPA)
    return Figure("mean kappa weighted by n", sum(kappa * weight for kappa, weight in weighted) / n, n)


def extreme_subsets(
    subsets: Sequence[SubsetAgreement], most: int
) -> tuple[list[SubsetAgreement], list[SubsetAgreement]]:
    """The subsets with the lowest and with the highest kappa, at most so many of each and none in both.

    The lowest begin with the lowest, the highest with the highest; an undefined kappa is in neither. Where two are
    equal, the one with more pairs counts as lower and as higher.
    """
    kappas = [(subset.kappa.value, subset) for subset in subsets if subset.kappa.value is not None]
    lowest = [subset for _, subset in sorted(kappas, key=lambda row: (row[0], -row[1].n, row[1].annotators))][:most]
    rest = [row for row in kappas if row[1] not in lowest]
    highest = [subset for _, subset in sorted(rest, key=lambda row: (-row[0], -row[1].n, row[1].annotators))][:most]
    return lowest, highest

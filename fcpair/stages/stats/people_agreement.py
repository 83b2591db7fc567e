"""Agreement of people, two by two and each with all others, and the texts on which they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fcpair.arrays import Ints
from fcpair.lazy import pd
from fcpair.notebook import Result
from fcpair.params import Agree
from fcpair.records import Figure
from fcpair.sentences import mark
from fcpair.stages.questions import Closed
from fcpair.stages.stats.agreement import compute_agreement
from fcpair.stages.stats.jackknife_intervals import HS_AND_CN, Sides
from fcpair.stages.stats.kappa import COHENS_KAPPA, MEANS, SubsetAgreement


@dataclass(frozen=True, repr=False)
class PeopleComparison(Result):
    """Labels of two people on the `n` pairs that both labelled.

    `table` counts these: rows are the first person's class, columns the other's, in the order of `classes`. `n_labels`
    are all labels of each. `raw_agreement` (0 to 1) is None without a shared pair.
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

    def rows(self) -> Iterator[dict[str, Any]]:
        """The table, long: the class of each of the two, under their names, and `n`, the number of pairs."""
        first, other = self.people
        for class_, counts in zip(self.classes, self.table, strict=True):
            for two, n in zip(self.classes, counts, strict=True):
                yield {first: class_, other: two, "n": n}

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
    counted = labels.loc[labels["code"].isin([choice.code for choice in question if choice.name in measured.classes])]
    n_labels = (int((counted["annotator"] == people[0]).sum()), int((counted["annotator"] == people[1]).sum()))
    common = (people, measured.options, measured.classes, n_labels)
    if not measured.subsets:
        empty = ((0,) * len(measured.classes),) * len(measured.classes)
        undefined = Figure(COHENS_KAPPA, None, 0, undefined=mark("there is no pair that both have labelled"))
        return PeopleComparison(*common, 0, None, empty, undefined, sides.new_texts)
    (subset,) = measured.subsets
    table = subset.table if subset.annotators == people else tuple(zip(*subset.table, strict=True))
    return PeopleComparison(*common, subset.n, subset.raw_agreement, table, subset.kappa, sides.new_texts)


@dataclass(frozen=True)
class PersonAgreement:
    """Agreement of one person with the `n_others` with whom they share pairs.

    `n` are the comparisons, each of their labels with each other on its pair, of which the share `raw_agreement` are
    alike. `kappa` is the mean with each other person, weighted by shared pairs; with `farthest` it is lowest.
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
    people = []
    for name, own in sorted(subsets_by_name.items()):
        n, alike = sum(subset.n for subset in own), sum(subset.raw_agreement * subset.n for subset in own)
        weighted = [(subset.kappa.value, subset.n) for subset in own if subset.kappa.value is not None]
        n_defined = sum(weight for _, weight in weighted)
        kappa = Figure(MEANS[1], None, 0, undefined=mark("kappa is undefined with each of the others"))
        if weighted:
            kappa = Figure(MEANS[1], sum(kappa * weight for kappa, weight in weighted) / n_defined, n_defined)
        farthest = next(iter(extreme_subsets(own, 1)[0]), None)
        people.append(PersonAgreement(name, len(own), n, alike / n, kappa, farthest))
    return tuple(people)


def extreme_subsets(
    subsets: Sequence[SubsetAgreement], most: int
) -> tuple[list[SubsetAgreement], list[SubsetAgreement]]:
    """The subsets with the lowest and with the highest kappa, those first, at most so many of each and none in both. An
    undefined kappa is in neither. Where two are equal, the one with more pairs counts as lower and as higher.
    """
    kappas = [(subset.kappa.value, subset) for subset in subsets if subset.kappa.value is not None]
    lowest = [subset for _, subset in sorted(kappas, key=lambda row: (row[0], -row[1].n, row[1].annotators))][:most]
    rest = [row for row in kappas if row[1] not in lowest]
    highest = [subset for _, subset in sorted(rest, key=lambda row: (-row[0], -row[1].n, row[1].annotators))][:most]
    return lowest, highest


@dataclass(frozen=True)
class TextDispute:
    """A text of which `disputed` pairs, by id, have labels that differ, of `n` that have two labels or more."""

    text_id: int
    n: int
    disputed: tuple[int, ...]


def most_disputed(labels: Mapping[str, Ints], by: str, most: int) -> tuple[list[TextDispute], int]:
    """The texts of one side with most disputed pairs, whose labels are not all alike, and how many texts have any.

    `labels` has one entry for each label that counts: `cell_id`, `hs_id`, `cn_id` and `code`. Of equal numbers of
    disputed pairs the higher share comes first, then the lower id.
    """
    cell_id, first, inverse, n_labels = np.unique(
        labels["cell_id"], return_index=True, return_inverse=True, return_counts=True
    )
    lowest, highest = np.full(len(cell_id), np.iinfo(np.int64).max), np.full(len(cell_id), -1)
    np.minimum.at(lowest, inverse, labels["code"])
    np.maximum.at(highest, inverse, labels["code"])
    shared, disputed = n_labels > 1, lowest != highest
    text_ids, place = np.unique(labels["hs_id" if by == "row" else "cn_id"][first], return_inverse=True)
    n_shared = np.bincount(place[shared], minlength=len(text_ids))
    n_disputed = np.bincount(place[disputed], minlength=len(text_ids))
    share = n_disputed / np.maximum(n_shared, 1)
    order = [at for at in np.lexsort((text_ids, -share, -n_disputed)).tolist() if n_disputed[at]]
    cells = (tuple(cell_id[disputed & (place == at)].tolist()) for at in order[:most])
    disputes = zip(text_ids[order].tolist(), n_shared[order].tolist(), cells, strict=False)
    return [TextDispute(*dispute) for dispute in disputes], len(order)

"""The intervals of many studies at once: fcpair's own sums, replicates and bounds, without a loop over studies.

The studies are put side by side in one overlap, their HS, CNs, pairs and annotators numbered on, so that no cluster
belongs to two of them. `check` compares the intervals with those that fcpair gives for a study alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.latent import Shape
from fcpair.records import Figure
from fcpair.stages.stats.jackknife_intervals import CLUSTERS, Cluster, Spread, add_bounds
from fcpair.stages.stats.kappa import FEWEST_OTHERS_EACH, MEANS, Subsets, mean_terms, n_others, summary_figures
from fcpair.stages.stats.multi_rater import COEFFICIENTS, pooled_figures
from fcpair.stages.stats.rating_counts import LeftOutSums, Overlap, Sums, dense_codes, moments, ratio, sums_by

LEVEL = 0.95
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bounds = tuple[float | None, float | None]
Spreads = dict[Cluster, list[Spread]]


@dataclass(frozen=True)
class Sizes:
    """How many numbers each study takes in the overlap of all."""

    n_studies: int
    hs: int
    cn: int
    pair: int
    annotator: int

    def study(self, cluster: Cluster, code: Ints, label_hs: Ints) -> Ints:
        """The study to which clusters of a kind belong, by their codes."""
        people = self.annotator * self.n_studies
        return {
            Cluster.HS: lambda: code // self.hs,
            Cluster.CN: lambda: code // self.cn,
            Cluster.PAIR: lambda: code // self.pair,
            Cluster.ANNOTATOR: lambda: code // self.annotator,
            Cluster.HS_ANNOTATOR: lambda: code // people // self.hs,
            Cluster.CN_ANNOTATOR: lambda: code // people // self.cn,
            Cluster.LABEL: lambda: label_hs[code] // self.hs,
        }[cluster]()


def batch_intervals(studies: list[Overlap], shape: Shape) -> list[dict[tuple[str, str], Bounds]]:
    """The bounds of each figure of each study, by what the interval is for (`texts`, `annotators`) and its name."""
    n_pairs = int(studies[0].pair.max()) + 1
    found: list[dict[tuple[str, str], Bounds]] = [{} for _ in studies]
    for name, lowest, values, spreads, variances in figures_of(studies, shape):
        for at, value in enumerate(values.tolist()):
            if np.isnan(value):
                continue
            for reach, clusters in CLUSTERS.items():
                own = {cluster: spreads[cluster][at] for cluster in clusters}
                figure = add_bounds(Figure(name, value, n_pairs), own, LEVEL, lowest, variance_at=variances[at])
                found[at][reach, name] = figure.low, figure.high
    return found


def check(study: Overlap, found: dict[tuple[str, str], Bounds]) -> None:
    """Raise ValueError where the bounds `found` for a study are not those that fcpair gives for it."""
    subsets = Subsets(study, "none")
    for reach in CLUSTERS:
        for figure in (*pooled_figures(study, reach, LEVEL), *summary_figures(subsets, reach, LEVEL)):
            given = np.array([figure.low, figure.high], dtype=np.float64)
            here = np.array(found.get((reach, figure.name), (None, None)), dtype=np.float64)
            if not np.allclose(here, given, atol=1e-8, equal_nan=True):
                raise ValueError(f"{figure.name}: {here} here, {given} by fcpair")


def _side_by_side(studies: list[Overlap], sizes: Sizes) -> Overlap:
    def joined(name: str) -> Ints:
        columns = [getattr(one, name) + at * getattr(sizes, name) for at, one in enumerate(studies)]
        return np.concatenate(columns)

    klass = np.concatenate([one.klass for one in studies])
    return Overlap(studies[0].n_classes, joined("pair"), joined("hs"), joined("cn"), joined("annotator"), klass)


Found = tuple[str, float, Floats, Spreads, list[Callable[[float], float] | None]]


def figures_of(studies: list[Overlap], shape: Shape) -> Iterator[Found]:
    """Each figure: its name, the lowest that it can be, and in each study its value, its spreads and variances."""
    sizes = Sizes(len(studies), shape.n_hs, shape.n_cn, int(studies[0].pair.max()) + 1, shape.n_annotators)
    overlap = _side_by_side(studies, sizes)
    yield from (*_pooled(overlap, sizes), *_means(overlap, sizes))


def _pooled(overlap: Overlap, sizes: Sizes) -> Iterator[Found]:
    for n_labels in (None, 2, 3):
        part = LeftOutSums(overlap, n_labels)
        hs, names = _removed(part, Cluster.HS), dense_codes(part.label.hs)[0]
        total = np.zeros((sizes.n_studies, hs.shape[1]))
        np.add.at(total, names // sizes.hs, hs)
        rows = {cluster: _rows(part, cluster, total, sizes) for cluster in Cluster}
        for one in COEFFICIENTS:
            if one.n_labels == n_labels:
                values = {c: one.compute(sums_of(left)) for c, (left, _, _) in rows.items()}
                spreads = {c: spreads_of(values[c], *rows[c][1:], sizes.n_studies) for c in rows}
                lowest = -1.0 if one.corrects_chance else 0.0
                sums = sums_of(total)
                n_pairs = np.array([0, 0, *part.pairs_by_n_labels[2:] // sizes.n_studies])
                variances = [one.variance_at(labels, n_pairs) for labels in sums.labels]
                yield one.name, lowest, one.compute(sums), spreads, variances


def flat(profiles: Ints) -> Floats:
    """`moments` with the coincidence matrix beside them, which few classes can have for each of many sums."""
    n_labels = profiles.sum(axis=1)
    counts = np.where((n_labels >= 2)[:, None], profiles, 0)
    matrix = counts[:, :, None] * (counts[:, None, :] - np.eye(profiles.shape[1]))
    square = matrix / np.maximum(n_labels - 1, 1)[:, None, None]
    return np.column_stack([moments(profiles), square.reshape(len(profiles), profiles.shape[1] ** 2)])


def sums_of(flat: Floats) -> Sums:
    """The sums of what `flat` gives, or sums of it."""
    k = round((flat.shape[-1] - 2) ** 0.5) - 1  # 3 + 2 k + k squared columns
    matrix = flat[..., 3 + 2 * k :].reshape(*flat.shape[:-1], k, k)
    return Sums.from_moments(
        flat[..., : 3 + 2 * k], lambda values: np.einsum("...i,...ij,...j->...", values, matrix, values)
    )


def _removed(part: LeftOutSums, cluster: Cluster) -> Floats:
    """What goes with each cluster, or with each kind where clusters are alike."""
    code, change = part.members(cluster)
    kinds, kind = dense_codes(change)
    before, after = part.changes(cluster, kinds)
    gone = flat(before) - flat(after)
    return gone if cluster in {Cluster.PAIR, Cluster.LABEL} else sums_by(code, kind, gone)


def _rows(part: LeftOutSums, cluster: Cluster, total: Floats, sizes: Sizes) -> tuple[Floats, Ints, Ints]:
    """The sums of a study without each cluster, the study, and for how many clusters they stand."""
    code, kind = part.members(cluster)
    removed = _removed(part, cluster)
    if cluster in {Cluster.PAIR, Cluster.LABEL}:
        kinds = dense_codes(kind)[1]
        key, times = np.unique(sizes.study(cluster, code, part.label.hs) * len(removed) + kinds, return_counts=True)
        study, row = np.divmod(key, len(removed))
        return total[study] - removed[row], study, times
    study = sizes.study(cluster, dense_codes(code)[0], part.label.hs)
    return total[study] - removed, study, np.ones(len(study), dtype=np.int64)


def _means(overlap: Overlap, sizes: Sizes) -> Iterator[Found]:
    subsets = Subsets(overlap, "none")
    each = mean_terms(subsets.kappas, subsets.n)
    of_study = subsets.annotators[:, 0] // sizes.annotator
    total, used = np.zeros((sizes.n_studies, 4)), np.zeros((sizes.n_studies, overlap.n_classes), np.int64)
    np.add.at(total, of_study, each)
    np.add.at(used, of_study, subsets.used)
    is_carried = n_others(used) >= FEWEST_OTHERS_EACH * np.bincount(of_study, minlength=sizes.n_studies)
    rows: dict[Cluster, tuple[Floats, Ints]] = {}
    for cluster in Cluster:
        study = sizes.study(cluster, dense_codes(subsets.members(cluster)[0])[0], overlap.hs)
        rows[cluster] = total[study] - (each.sum(axis=0) - subsets.sums_without(cluster)), study
    for name, at in zip(MEANS, (0, 2), strict=True):
        spreads = {
            cluster: spreads_of(ratio(left[:, at], left[:, at + 1]), study, np.ones_like(study), sizes.n_studies)
            for cluster, (left, study) in rows.items()
        }
        values = np.where(is_carried, ratio(total[:, at], total[:, at + 1]), np.nan)
        yield name, -1.0, values, spreads, [None] * sizes.n_studies


def spreads_of(replicates: Floats, study: Ints, times: Ints, n_studies: int) -> list[Spread]:
    """`fcpair.stages.stats.jackknife_intervals.jackknife_spread` of each study."""
    n = np.bincount(study, times, minlength=n_studies)
    safe = np.maximum(n, 1)
    mean = np.bincount(study, times * replicates, minlength=n_studies) / safe
    squares = np.bincount(study, times * (replicates - mean[study]) ** 2, minlength=n_studies)
    variance = (n - 1) / safe * squares
    return [Spread(*one) for one in zip(variance.tolist(), n.astype(int).tolist(), strict=True)]

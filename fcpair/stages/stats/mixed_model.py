"""A mixed model of labels: odds of groups of annotators over each other, with annotators and items drawn at random."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import require
from fcpair.stages.stats.intervals import Z

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MixedModel:
    """A fitted model of all groups: the log-odds of each less those of the first, `(k,)`, and their covariance.

    `note` says what is odd about the fit.
    """

    log_odds: Floats
    covariance: Floats
    note: str = ""

    def odds(self, group: int, other_group: int) -> tuple[float, float, float]:
        """The odds ratio of a group over another, and its Wald bounds at 95 %."""
        value = self.log_odds[group] - self.log_odds[other_group]
        variance = (
            self.covariance[group, group]
            + self.covariance[other_group, other_group]
            - 2 * self.covariance[group, other_group]
        )
        low, middle, high = np.exp(value + Z * np.sqrt(variance) * np.array([-1, 0, 1])).tolist()
        return middle, low, high


def check_installed() -> None:
    """Raise MissingExtraError unless what fits mixed models is there."""
    require("mixed", "a mixed model", "mixedlm")


def fit_mixed(is_label: Floats, group: NDArray[np.intp], clusters: NDArray[np.intp]) -> MixedModel | None:
    """One model of a label in all groups; None where the fit did not converge.

    A logistic model with crossed random intercepts of items and annotators, by Laplace's approximation: Baayen,
    Davidson and Bates (2008), DOI 10.1016/j.jml.2007.12.005. Unlike the clustered regression, whose odds are of the
    average annotator and item together, these are of one annotator on one item, and so further from 1.

    Args:
        is_label: whether a label is the one in question, `(n,)`, 0 or 1.
        group: the group of its annotator, `(n,)`, from 0 to k - 1, each of them there.
        clusters: the numbers of item and annotator, `(n, 2)`.
    """
    import pandas as pd
    from mixedlm import glmer

    names = [f"group{at}" for at in range(1, group.max() + 1)]
    frame = pd.DataFrame({name: (group == at).astype(np.float64) for at, name in enumerate(names, 1)})
    frame["item"], frame["annotator"] = (clusters[:, at].astype(str) for at in (0, 1))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        fitted = glmer(f"given ~ {' + '.join(names)} + (1|item) + (1|annotator)", frame.assign(given=is_label))
    k = len(names) + 1
    log_odds, covariance = np.zeros(k), np.zeros((k, k))
    log_odds[1:], covariance[1:, 1:] = [fitted.fixef()[name] for name in names], fitted.vcov()[1:, 1:]
    if not fitted.converged or not (np.isfinite(log_odds).all() and np.isfinite(covariance).all()):
        return None
    note = "the mixed model has no variance left for items or annotators" if fitted.isSingular() else ""
    return MixedModel(log_odds, covariance, note)

"""A mixed model of labels: odds of one group of annotators over another, with annotators and items drawn at random."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError

Z = 1.959963984540054  # of a normal distribution, at 0.975


def check_installed() -> None:
    """Raise InputError unless what fits mixed models is there."""
    if find_spec("mixedlm") is None:
        raise InputError("mixed models need the extra `mixed`; install it with `pip install 'fcpair[mixed]'`")


def mixed_odds(
    given: NDArray[np.float64], is_first: NDArray[np.bool_], clusters: NDArray[np.intp]
) -> tuple[tuple[float, float, float] | None, str]:
    """The odds ratio of a label, of the first group over the other, and Wald bounds at 95 %; or why there are none.

    A logistic model with crossed random intercepts of items and annotators, by Laplace's approximation: Baayen,
    Davidson and Bates (2008), DOI 10.1016/j.jml.2007.12.005. Unlike the clustered regression, whose odds are of the
    average annotator and item together, these are of one annotator on one item, and so further from 1.

    Args:
        given: whether a label is the one in question, `(n,)`, 0 or 1.
        is_first: whether its annotator is of the first group, `(n,)`.
        clusters: the numbers of item and annotator, `(n, 2)`.
    """
    import pandas as pd
    from mixedlm import glmer

    frame = pd.DataFrame({"given": given, "first": is_first.astype(np.float64)})
    frame["item"], frame["annotator"] = (clusters[:, at].astype(str) for at in (0, 1))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        fitted = glmer("given ~ first + (1|item) + (1|annotator)", frame)
    value, error = float(fitted.fixef()["first"]), float(np.sqrt(fitted.vcov()[1, 1]))
    if not fitted.converged or not np.isfinite([value, error]).all():
        return None, "no mixed model, as the fit did not converge"
    low, middle, high = np.exp([value - Z * error, value, value + Z * error]).tolist()
    return (middle, low, high), "the mixed model has no variance left for items or annotators" * fitted.isSingular()

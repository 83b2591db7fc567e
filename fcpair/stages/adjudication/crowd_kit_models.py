"""Label models by crowd-kit, which the extra `models` brings: GLAD and MACE."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from fcpair.errors import require
from fcpair.stages.adjudication.label_models import LabelFit, LabelTable

if TYPE_CHECKING:
    import pandas as pd


def glad(labels: LabelTable) -> LabelFit:
    """GLAD: each annotator has an ability and each pair a difficulty.

    Whitehill, Wu, Bergsma, Movellan and Ruvolo (2009), Advances in Neural Information Processing Systems 22, 2035-2043.
    crowd-kit's, with its defaults; it stops after two steps or more, and does not say whether it has converged.
    """
    require("models", "the label model `glad`", "crowdkit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from crowdkit.aggregation import GLAD

        return _to_fit(labels, GLAD().fit_predict_proba(_table(labels)))


def mace(labels: LabelTable, seed: int = 0) -> LabelFit:
    """MACE: each annotator either knows the class or spams, with labels of a distribution of their own.

    Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), https://aclanthology.org/N13-1132. crowd-kit's, variational, with
    its defaults but for the restarts, which all begin with the same numbers there: `seed` draws them, once, over
    annotators in an order of their own, by their labels.
    """
    require("models", "the label model `mace`", "crowdkit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from crowdkit.aggregation import MACE

        return _to_fit(labels, MACE(n_restarts=1, random_state=seed).fit_predict_proba(_table(labels)))


def _table(labels: LabelTable) -> pd.DataFrame:
    """The labels for crowd-kit, which numbers annotators and classes as they come: by annotators' own labels here."""
    import pandas as pd

    table = pd.DataFrame({"task": labels.pair, "worker": labels.annotator, "label": labels.klass})
    table = table.sort_values("task", kind="stable")
    labels_of = {who: list(zip(part["task"], part["label"], strict=True)) for who, part in table.groupby("worker")}
    place = {who: at for at, who in enumerate(sorted(labels_of, key=labels_of.__getitem__))}
    return table.assign(worker=table["worker"].map(place)).sort_values(["worker", "task"])


def _to_fit(labels: LabelTable, probability: pd.DataFrame) -> LabelFit:
    """The fit with pairs and classes in their order: crowd-kit has the classes in that of their appearance."""
    ordered = probability.reindex(index=range(labels.n_pairs), columns=range(labels.n_classes))
    return LabelFit(ordered.to_numpy(dtype=float))

"""Labels, and what crowd-kit 1.4.2 makes of them, kept in `crowd_kit.json` for where it is not installed.

`PYTHONPATH=tests python -m stages.adjudication.crowd_kit_figures` makes the file again.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fcpair.arrays import Floats
from fcpair.stages.adjudication.aggregate import LabelTable

FIGURES = Path(__file__).with_name("crowd_kit.json")
STEPS = (1, 4, 30)


def drawn_labels() -> LabelTable:
    """Two or three labels of three classes on each of 90 pairs, by six people of different accuracy."""
    rng = np.random.default_rng(13)
    true = rng.choice(3, 90, p=[0.6, 0.15, 0.25])
    rows = sorted((pair, by) for pair in range(90) for by in rng.choice(6, 2 + (pair % 3 == 0), replace=False).tolist())
    pair, by = np.array(rows).T
    is_right = rng.random(len(pair)) < np.array([0.95, 0.9, 0.85, 0.8, 0.7, 0.55])[by]
    klass = np.where(is_right, true[pair], (true[pair] + rng.integers(1, 3, len(pair))) % 3)
    return LabelTable(pair, by, klass)


def crowd_kit_probabilities(labels: LabelTable, model: str, **options: Any) -> Floats:
    """The probabilities by a model of crowd-kit, classes in their order."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import crowdkit.aggregation

        table = pd.DataFrame({"task": labels.pair, "worker": labels.annotator, "label": labels.klass})
        fitted = getattr(crowdkit.aggregation, model)(**options).fit(table)
    probability: Floats = fitted.probas_.sort_index()[list(range(labels.n_classes))].to_numpy(np.float64)
    return np.round(probability, 10)


def figures() -> dict[str, Any]:
    """The probabilities by each model, after so many steps where it takes steps."""
    labels = drawn_labels()
    of_steps = {
        f"{model} {n}": crowd_kit_probabilities(labels, model, n_iter=n, tol=-1.0).tolist()
        for model in ("DawidSkene", "OneCoinDawidSkene")
        for n in STEPS
    }
    return of_steps | {model: crowd_kit_probabilities(labels, model).tolist() for model in ("GLAD", "MACE")}


if __name__ == "__main__":
    FIGURES.write_text(json.dumps(figures()).replace("]], ", "]],\n") + "\n", "utf-8")

"""The four tiers by `Grid.partition`, from 1,000,000 judgements on 700,000 pairs, in a fresh process."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import SEED, Figure, alternate, column, job, show

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from fcpair.store import Tx

REPETITIONS = 5
N_HS, N_CN = 700, 1_000
PAIRS_BY_LABELS = {1: 450_000, 2: 200_000, 3: 50_000}
N_ANNOTATORS, N_VALIDATORS = 60, 8
ACCURACY, AGREEMENT = 0.85, 0.9


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Build the study once, derive its tiers again and again; `folder` takes some 600 MB for a while."""
    study = folder / "study.db"
    made = job("benchmarks.tiers:prepare", study)
    print(f"  {made['labels']:,} labels, {made['decisions']:,} adjudications, {made['verdicts']:,} verdicts")
    found = alternate({"tiers": partial(job, "benchmarks.tiers:derive", study)}, repetitions)["tiers"]
    different = sum(one["tiers"] != made["tiers"] for one in found)
    print(f"  tiers: {found[0]['tiers']}")
    seconds, peak = show("time", column(found), " s"), show("peak memory", column(found, "peak_mb"), " MB")
    return [
        Figure("tiers", "judgements", made["labels"], "exactly", 1_000_000),
        Figure("tiers", "runs whose tiers are not those drawn", different, "exactly", 0),
        Figure("tiers", "time", seconds, "at most", 10.0, " s"),
        Figure("tiers", "peak memory", peak, "at most", 1_500.0, " MB"),
    ]


def derive(path: str) -> dict[str, Any]:
    """Job: open the study and derive its tiers."""
    start = time.perf_counter()
    from fcpair import Study
    from fcpair.params import Partition
    from fcpair.records import Tier

    pairs = Study(path).grid().tiers(Partition()).table().pairs
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "tiers": {tier.label: int((pairs["tier"] >= tier).sum()) for tier in Tier}}


def prepare(path: str) -> dict[str, Any]:
    """Job: draw the judgements and put them into a study by the store's own functions."""
    import numpy as np

    from fcpair import Study
    from fcpair.records import Role
    from fcpair.store import Store

    rng = np.random.default_rng(SEED)
    study = Study.create(path)
    annotators = study.add_people([f"a{n}" for n in range(N_ANNOTATORS)], Role.ANNOTATOR)
    validators = study.add_people([f"v{n}" for n in range(N_VALIDATORS)], Role.VALIDATOR)
    truth = rng.choice([0, 2], N_HS * N_CN, p=[0.6, 0.4])
    labels = _labels(rng, truth, [one.id for one in annotators])
    agrees = (rng.random(len(truth)) < AGREEMENT).astype(int)
    with Store.open(Path(path)).write(bulk=True) as tx:
        _add_grid(tx)
        _add_labels(tx, labels)
        _add_verdicts(tx, truth, agrees, [one.id for one in validators])
    tiers = _expected(labels, truth, agrees == 1)
    return {"labels": len(labels), "decisions": len(truth), "verdicts": len(agrees), "tiers": tiers}


def _labels(rng: np.random.Generator, truth: NDArray[np.int64], people: list[int]) -> pd.DataFrame:
    """Draw `cell_id`, `person_id`, `code`: each pair's labels are by different people, most of them right."""
    import numpy as np
    import pandas as pd

    n_labels = rng.permutation(np.repeat(list(PAIRS_BY_LABELS), list(PAIRS_BY_LABELS.values())))
    pair = np.repeat(np.arange(len(truth)), n_labels)
    nth = np.concatenate([np.arange(n) for n in n_labels])
    person = np.asarray(people)[(rng.integers(len(people), size=len(truth))[pair] + nth) % len(people)]
    code = np.where(rng.random(len(pair)) < ACCURACY, truth[pair], rng.integers(3, size=len(pair)))
    drawn = pd.DataFrame({"cell_id": pair + 1, "person_id": person, "code": code})
    return drawn.sample(frac=1, random_state=rng).reset_index(drop=True)


def _add_grid(tx: Tx) -> None:
    import numpy as np
    import pandas as pd

    from fcpair.store.corpus import cells, texts

    ids_of: dict[str, list[int]] = {}
    for kind, n in (("hs", N_HS), ("cn", N_CN)):
        none: dict[str, str] = {}
        rows = ((f"{kind}{at}", f"text {at} of {kind}", "en", none) for at in range(n))
        ids_of[kind] = list(texts.add_texts(tx, kind, rows).values())
    ids = np.arange(1, N_HS * N_CN + 1)
    cells.add(
        tx, pd.DataFrame({"id": ids, "hs_id": np.repeat(ids_of["hs"], N_CN), "cn_id": np.tile(ids_of["cn"], N_HS)})
    )


def _add_labels(tx: Tx, labels: pd.DataFrame) -> None:

    from fcpair.store.assignment import rounds

    _add_answers(tx, labels[["cell_id", "person_id"]], labels[["code"]], rounds.primary(tx))


def _add_verdicts(tx: Tx, truth: NDArray[np.int64], agrees: NDArray[np.int64], people: list[int]) -> None:
    """Add a final label of every pair, and one validator's verdict on it."""
    import numpy as np
    import pandas as pd

    from fcpair.store import adjudications
    from fcpair.store.assignment import rounds

    cell_id = np.arange(1, len(truth) + 1)
    adjudications.add_adjudications(tx, pd.DataFrame({"cell_id": cell_id, "rule": "majority", "code": truth}))
    standing = adjudications.current_adjudications(tx)
    given = pd.DataFrame({"cell_id": cell_id, "person_id": np.resize(people, len(cell_id))})
    verdicts = pd.DataFrame({"code": agrees, "adjudication_id": standing["id"]})
    _add_answers(tx, given, verdicts, rounds.validation(tx))


def _add_answers(tx: Tx, given: pd.DataFrame, answers: pd.DataFrame, round_: Any) -> None:
    """Give out pairs in a round, and record an answer on each."""
    from fcpair.records import Origin, Status
    from fcpair.store.answers import judgements
    from fcpair.store.assignment import assignments

    position = given.groupby("person_id").cumcount() + 1
    assignments.add_assignments(tx, given.assign(position=position, status=Status.DONE.value), round_)
    ids = assignments.assignments(tx, round_)["id"]
    judgements.add_judgements(tx, answers.assign(assignment_id=ids, skipped=False, note=""), Origin.IMPORTED)


def _expected(labels: pd.DataFrame, truth: NDArray[np.int64], valid: NDArray[np.bool_]) -> dict[str, int]:
    """How many pairs each tier must have, counted from what was drawn."""
    n_labels = labels.groupby("cell_id")["code"].size().to_numpy()
    right = labels["code"].to_numpy() == truth[labels["cell_id"].to_numpy() - 1]
    unanimous = labels.assign(right=right).groupby("cell_id")["right"].all().to_numpy()
    gold = valid & (n_labels >= 2)
    return {
        "bronze": len(truth),
        "silver": int(valid.sum()),
        "gold": int(gold.sum()),
        "diamond": int((gold & unanimous).sum()),
    }

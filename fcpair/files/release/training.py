"""Training sets from a tier, split so that no HS stands on both sides; and the corpus less what a tier holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.files.corpus.corpus import CN, HS, OWN_COLUMNS
from fcpair.lazy import pd
from fcpair.params import Export
from fcpair.stages.corpus.sample import draw_positions, own_order

Kind = Literal["triplets", "pairs", "preferences"]
COLUMNS: dict[Kind, tuple[str, str, str]] = {
    "triplets": ("anchor", "positive", "negative"),
    "pairs": ("sentence1", "sentence2", "label"),
    "preferences": ("prompt", "chosen", "rejected"),
}


@dataclass(frozen=True)
class TrainingSets:
    """The two sides of a training set, both with the three columns that COLUMNS has for its kind.

    `counts`: `train` and `test` (rows), `train_hs` and `test_hs`, and for triplets and preferences how many HS of
    the tier gave no row, `hs_without_positive` and `hs_without_negative`.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    counts: dict[str, int]


def training_sets(kind: Kind, pairs: pd.DataFrame, bodies: pd.Series[str], options: Export) -> TrainingSets:
    """Make a training set, and split it by HS.

    The same pairs, share and seed put an HS on the same side in every kind.

    Args:
        kind: triplets and preferences set an appropriate CN beside one that was judged not appropriate for the same
            HS; pairs are the judged pairs, with the label 1 or 0.
        pairs: of a tier: `hs_id`, `cn_id`, `appropriate`.
        bodies: the texts, by id.
        options: how many `negatives`, the `test_share`, rounded to whole HS, and the `seed` of both draws.

    Raises:
        InputError: a side is empty.
    """
    if kind == "pairs":
        rows = pairs[["hs_id", "cn_id"]].assign(label=pairs["appropriate"].astype("int64"))
    else:
        rows = draw_negatives(pairs, bodies, options.negatives, options.seed)
    if rows.empty:
        raise InputError(f"no HS has both an appropriate and a not appropriate CN, so there are no {kind}")
    test_hs = draw_test_hs(pairs["hs_id"], bodies, options.test_share, options.seed)
    is_test = rows["hs_id"].isin(test_hs).to_numpy()
    if is_test.all() or not is_test.any():
        side = "train" if is_test.all() else "test"
        raise InputError(
            f"no {kind} fall on the {side} side at --test-share {options.test_share}; change it, or the --seed"
        )
    table = rows.set_axis(list(COLUMNS[kind]), axis="columns")
    texts = COLUMNS[kind][: 2 if kind == "pairs" else 3]
    table = table.assign(**{name: table[name].map(bodies) for name in texts})
    counts = {"train": int((~is_test).sum()), "test": int(is_test.sum())}
    counts |= {"train_hs": rows["hs_id"][~is_test].nunique(), "test_hs": rows["hs_id"][is_test].nunique()}
    if kind != "pairs":
        by_hs = pairs.groupby("hs_id")["appropriate"]
        counts |= {"hs_without_positive": int((~by_hs.any()).sum()), "hs_without_negative": int(by_hs.all().sum())}
    return TrainingSets(table[~is_test].reset_index(drop=True), table[is_test].reset_index(drop=True), counts)


def draw_test_hs(hs_ids: pd.Series[int], bodies: pd.Series[str], share: float, seed: int) -> Ints:
    """Draw the HS of the test side.

    Args:
        hs_ids: repeated or not, in any order.
        bodies: the texts, by id; the draw rests on them, not on the ids.
        share: of the distinct HS; above 0 and below 1.
        seed: of the draw.

    Returns:
        Their ids, ascending.

    Raises:
        InputError: one of the sides would have no HS.
    """
    distinct_hs = np.unique(hs_ids.to_numpy(np.int64))
    n = round(share * len(distinct_hs))
    if len(distinct_hs) < 2:
        raise InputError(f"{len(distinct_hs)} HS cannot be split into two sides; name a tier that has two or more")
    if not 0 < n < len(distinct_hs):
        side, other = ("test", "larger") if n <= 0 else ("train", "smaller")
        raise InputError(
            f"--test-share {share} of {len(distinct_hs)} HS leaves the {side} side empty; name a {other} one "
            f"({1 / len(distinct_hs):.3g} is one HS)"
        )
    return np.asarray(distinct_hs[draw_positions(own_order(bodies[distinct_hs]), n, seed, "HS")])


def draw_negatives(pairs: pd.DataFrame, bodies: pd.Series[str], n: int, seed: int) -> pd.DataFrame:
    """Draw judged negatives of the same HS for each appropriate pair, without replacement.

    Args:
        pairs: `hs_id`, `cn_id`, `appropriate`.
        bodies: the texts, by id; the draw rests on them, not on the ids.
        n: how many for each appropriate pair, 1 or more; all of them where there are fewer.
        seed: of the draw.

    Returns:
        `hs_id`, `positive`, `negative` (ids of CNs), in the order of the appropriate pairs.
    """
    pairs = pairs.assign(place=np.arange(len(pairs)))
    by_text = pairs.iloc[own_order(pairs["hs_id"].map(bodies), pairs["cn_id"].map(bodies))]
    by_text = by_text.assign(hs=pd.factorize(by_text["hs_id"])[0])
    positive, negative = (by_text[by_text["appropriate"] == is_one] for is_one in (True, False))
    first = np.searchsorted(negative["hs"], positive["hs"], "left")
    n_negatives = np.searchsorted(negative["hs"], positive["hs"], "right") - first
    drawn = draw_for_sizes(n_negatives, n, np.random.default_rng([seed, 1]))
    row, _ = np.nonzero(drawn >= 0)
    ends = positive.iloc[row], negative.iloc[(first[:, np.newaxis] + drawn)[drawn >= 0]]
    order = np.lexsort([one["place"] for one in ends[::-1]])
    columns = {"hs_id": ends[0]["hs_id"], "positive": ends[0]["cn_id"], "negative": ends[1]["cn_id"]}
    return pd.DataFrame({name: column.to_numpy()[order] for name, column in columns.items()})


def draw_for_sizes(sizes: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Draw `n` of `0 .. size - 1` for each of many sizes, without replacement; all of them where there are fewer.

    Robert Floyd's way, a step for all sizes at once, so that its cost does not grow with them: J. Bentley and
    R. Floyd (1987), A sample of brilliance, CACM 30(9), 754-757, DOI 10.1145/30401.315746.

    Returns:
        Shape `(n_sizes, up to n)`, each row ascending, with -1 before it where there are fewer than `n`.
    """
    takes = np.minimum(sizes, n)
    drawn = np.full((len(sizes), int(takes.max(initial=0))), -1, np.int64)
    for step in range(drawn.shape[1]):
        last = np.maximum(sizes - takes + step, 0)
        drawn_value = rng.integers(0, last, endpoint=True)
        is_taken = (drawn == drawn_value[:, np.newaxis]).any(axis=1)
        drawn[:, step] = np.where(step < takes, np.where(is_taken, last, drawn_value), -1)
    return np.sort(drawn, axis=1)


def remaining_rows(rows: pd.DataFrame, hs_ids: Collection[int], cn_ids: Collection[int]) -> pd.DataFrame:
    """The rows of the corpus without some HS and some CNs.

    Args:
        rows: `hs_id`, `cn_id`, `hs`, `cn`, `language`, `meta`, one row per row of the corpus, in its order.
        hs_ids: every row with one of these HS goes.
        cn_ids: and every row with one of these CNs.

    Returns:
        `hs`, `cn`, `hs_id` and `cn_id` (the study's, unless the corpus has such a column of its own), one column
        per item of the rows' metadata (empty where a row has none) and, where any is known, `language`. The two ids
        tell `fcpair import` that the file is fcpair's, so that guarded cells are read back as they were.
    """
    rows_left = rows[~rows["hs_id"].isin(hs_ids) & ~rows["cn_id"].isin(cn_ids)]
    names = list(dict.fromkeys(name for item in rows["meta"] for name in item))
    columns = {side: rows_left[side] for side in (HS, CN)}
    columns |= {name: rows_left[name] for name in OWN_COLUMNS if name not in names}
    columns |= {name: pd.Series([item.get(name, "") for item in rows_left["meta"]], rows_left.index) for name in names}
    if rows["language"].fillna("").any():
        columns["language"] = rows_left["language"].fillna("")
    return pd.DataFrame(columns).reset_index(drop=True)

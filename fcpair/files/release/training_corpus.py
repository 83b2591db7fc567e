"""The corpus less what a tier holds, for training on what is not tested."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from fcpair.files.corpus.corpus import CN, HS, OWN_COLUMNS

if TYPE_CHECKING:
    import pandas as pd


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
    import pandas as pd

    rows_left = rows[~rows["hs_id"].isin(hs_ids) & ~rows["cn_id"].isin(cn_ids)]
    names = list(dict.fromkeys(name for item in rows["meta"] for name in item))
    columns = {side: rows_left[side] for side in (HS, CN)}
    columns |= {name: rows_left[name] for name in OWN_COLUMNS if name not in names}
    columns |= {name: pd.Series([item.get(name, "") for item in rows_left["meta"]], rows_left.index) for name in names}
    if rows["language"].fillna("").any():
        columns["language"] = rows_left["language"].fillna("")
    return pd.DataFrame(columns).reset_index(drop=True)

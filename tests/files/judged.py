"""Five judged pairs of two HS, written out by hand, and the texts of both sides."""

from __future__ import annotations

import pandas as pd

PAIRS = pd.DataFrame(
    {
        "cell_id": [9, 3, 4, 7, 8],
        "hs_id": [2, 1, 1, 2, 2],
        "cn_id": [12, 11, 12, 10, 11],
        "final": [2, 2, 0, 2, 0],
        "tier": [1, 4, 4, 3, 2],
    }
)
BODIES = pd.Series({1: "tea is for cowards", 2: "cats lie", 10: "ten", 11: "نه", 12: "twelve", 13: "thirteen"})

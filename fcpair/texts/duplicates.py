"""Texts that are in a table more than once: those that come again and again, and copies by the same writer.

Two texts are the same by `identity`: NFC, stripped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.stages.corpus.text_identity import identity

if TYPE_CHECKING:
    import pandas as pd

OFTEN = 10  # a text that comes more than so many times: CrowdCounter's check looked at these


def often_repeated(texts: pd.Series[str]) -> pd.Series[int]:
    """How many times each text comes that comes more than `OFTEN` times, the most frequent first."""
    counts = texts.map(identity).value_counts(sort=False)
    often = counts[counts > OFTEN]
    return often.iloc[sorted(range(len(often)), key=lambda at: (-int(often.iloc[at]), str(often.index[at])))]


def own_copies(texts: pd.Series[str], by: pd.Series[str]) -> pd.Series[bool]:
    """Which texts their writer had given before, earlier in the table."""
    import pandas as pd

    return pd.DataFrame({"by": by, "text": texts.map(identity)}).duplicated()

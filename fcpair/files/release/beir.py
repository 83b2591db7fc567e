"""A BEIR folder: the pool as corpus, the HS as queries, and the grades as qrels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

HEADER = ("query-id", "corpus-id", "score")


def beir_files(graded: pd.DataFrame, bodies: pd.Series[str], pool: Sequence[int]) -> dict[str, pd.DataFrame | str]:
    """Build the contents of each file of the folder.

    Args:
        graded: `hs_id`, `cn_id`, `grade`, as `qrels.grades` returns them.
        bodies: the texts, by id.
        pool: the ids of CNs, in the order in which they are to stand.

    Returns:
        `corpus.jsonl` (`_id`, `title`, which is empty, `text`), `queries.jsonl` (`_id`, `text`; the HS that have a
        grade), both as frames, and `qrels/test.tsv` as text.
    """
    corpus, queries = _texts(bodies, list(pool)), _texts(bodies, graded["hs_id"].drop_duplicates().tolist())
    corpus.insert(1, "title", "")
    qrels = graded.set_axis(list(HEADER), axis="columns").to_csv(sep="\t", index=False, lineterminator="\n")
    return {"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels}


def _texts(bodies: pd.Series[str], ids: list[int]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({"_id": [str(one) for one in ids], "text": bodies.loc[ids].to_numpy()})

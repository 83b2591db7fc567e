"""The pool: the CNs that a system ranks for every HS."""

from __future__ import annotations

from pathlib import Path

from fcpair.errors import InputError
from fcpair.evaluate.ranking import POOLS
from fcpair.files.corpus.corpus import CN
from fcpair.records import Tier
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.steps.base.text_lists import listed
from fcpair.steps.release.partition import Tiers
from fcpair.store import Tx
from fcpair.store.corpus import sides


def pool_ids(tx: Tx, tiers: Tiers, pool: str) -> list[int]:
    """The ids of the CNs in the pool, in candidate order.

    Args:
        tx: of the study.
        tiers: as `tiers_of` derives them.
        pool: a name in `POOLS`, or a file that lists CNs.

    Raises:
        InputError: an empty pool, no such file, a text that is not in the study, a CN that is not in the grid.
    """
    there = sides.texts(tx, "column", drawn=True)
    wanted = _named(tiers, pool, there) if pool in POOLS else _from_file(tx, pool, set(there))
    return [cn for cn in there if cn in wanted]


def _named(tiers: Tiers, pool: str, there: list[int]) -> set[int]:
    bronze = tiers.pairs[tiers.pairs["tier"] >= Tier.BRONZE]
    if pool == "positive":
        bronze = bronze[bronze["final"].isin(tiers.question.positive)]
    wanted = set(there) if pool == "all" else set(bronze["cn_id"].tolist())
    if not wanted:
        raise InputError(f"the pool `{pool}` ({POOLS[pool]}) is empty; `fcpair partition` shows every tier")
    return wanted


def _from_file(tx: Tx, pool: str, grid: set[int]) -> set[int]:
    path = Path(pool)
    if not path.is_file():
        raise InputError(f"--pool {pool}: expected {', '.join(POOLS)}, or a file that lists CNs")
    if NO_TEXT.search(pool):
        raise InputError(f"--pool {pool}: the name is not UTF-8 and cannot be noted; rename the file")
    ids = listed(tx, CN, path)
    outside = sum(cn not in grid for cn in ids)
    if outside:
        raise InputError(f"{path}: {outside} of {len(ids)} CNs are in the corpus but not in the grid of the study")
    return set(ids)

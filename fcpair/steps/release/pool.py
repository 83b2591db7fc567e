"""The pool: the CNs that a system ranks for every HS."""

from __future__ import annotations

from pathlib import Path

from fcpair.errors import InputError, suggest_name
from fcpair.evaluate.ranking import POOLS
from fcpair.files.corpus.corpus import CN
from fcpair.records import Tier
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.steps.base.text_lists import find_listed_texts
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
    column_ids = sides.text_ids(tx, "column", drawn=True)
    pool_cns = _named_pool(tiers, pool, column_ids) if pool in POOLS else _listed_pool(tx, pool, set(column_ids))
    return [cn for cn in column_ids if cn in pool_cns]


def _named_pool(tiers: Tiers, pool: str, column_ids: list[int]) -> set[int]:
    bronze = tiers.in_tier(Tier.BRONZE)
    if pool == "positive":
        bronze = bronze[bronze["final"].isin(tiers.question.positive)]
    pool_cns = set(column_ids) if pool == "all" else set(bronze["cn_id"].tolist())
    if not pool_cns:
        raise InputError(f"the pool `{pool}` ({POOLS[pool]}) is empty; `fcpair partition` shows every tier")
    return pool_cns


def _listed_pool(tx: Tx, pool: str, grid_cns: set[int]) -> set[int]:
    path = Path(pool)
    if not path.is_file():
        if path.suffix or path.name != pool:
            raise InputError(f"--pool {pool}: there is no such file; expected {', '.join(POOLS)}, or a file of CNs")
        raise InputError(f"--pool {pool}: {suggest_name(pool, POOLS, 'expected')}, or a file that lists CNs")
    if NO_TEXT.search(pool):
        raise InputError(f"--pool {pool}: the name is not UTF-8 and cannot be recorded; rename the file")
    ids = find_listed_texts(tx, CN, path)
    n_outside = sum(cn not in grid_cns for cn in ids)
    if n_outside:
        raise InputError(f"{path}: {n_outside} of {len(ids)} CNs are in the corpus but not in the grid of the study")
    return set(ids)

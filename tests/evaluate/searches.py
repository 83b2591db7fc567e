"""A small search: three HS and a pool of six CNs, with ids that are not their positions."""

from __future__ import annotations

from fcpair.evaluate.systems import Ranking, Search

HS = ("Night owls are lazy.", "Cyclists own no road.", "Gardeners waste\nwater.")
CN = tuple(f"reply {letter}" for letter in "abcdef")
HS_IDS, CN_IDS = (3, 12, 14), (101, 102, 103, 104, 105, 106)
SEARCH = Search(HS, CN, HS_IDS, CN_IDS)


def ids(ranking: Ranking) -> list[list[int]]:
    """The ids of the CNs at each rank; 0 where there is nothing."""
    return [[CN_IDS[at] if at >= 0 else 0 for at in row] for row in ranking.order.tolist()]

"""A tier by its name, wherever a tier is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError
from fcpair.grid import Grid
from fcpair.params import Export
from fcpair.records import Tier
from fcpair.study import Study

At = Callable[[str], Study]
CALLS: dict[str, Callable[[Grid, Any, Path], object]] = {
    "tier": lambda grid, tier, _: grid.tier(tier),
    "head": lambda grid, tier, _: grid.tiers().head(tier, 3),
    "release": lambda grid, tier, folder: grid.release(tier, folder / "r.csv"),
    "qrels": lambda grid, tier, folder: grid.export.qrels(folder / "q", tier),
    "beir": lambda grid, tier, folder: grid.export.beir(folder / "b", tier),
    "training": lambda grid, tier, folder: grid.export.training("pairs", folder / "t", tier, Export(test_share=0.5)),
    "corpus": lambda grid, tier, folder: grid.export.corpus(folder / "c.csv", tier),
}


@pytest.mark.parametrize("name", ["gold", "Gold", " GOLD "])
def test_a_name_is_the_tier(at: At, name: str) -> None:
    grid = at("checked").grid()
    assert grid.tier(name).equals(grid.tier(Tier.GOLD))


@pytest.mark.parametrize("call", CALLS)
def test_every_call_takes_a_name(at: At, tmp_path: Path, call: str) -> None:
    CALLS[call](at("checked").grid(), "bronze", tmp_path)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("glod", "there is no tier `glod`; did you mean `gold`?"),
        ("best", "there is no tier `best`; expected diamond, gold, silver, bronze"),
        (3.5, "there is no tier `3.5`"),
    ],
)
def test_another_name_is_refused_with_the_nearest(at: At, tmp_path: Path, call: str, name: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        CALLS[call](at("checked").grid(), name, tmp_path)
    assert said in str(caught.value)

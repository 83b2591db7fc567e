"""Recipes by which the small study could have been made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fcpair.params import Assign, Import, Pair, Select, Setup
from fcpair.recipe import Recipe
from steps.small import SELECTED, write_corpus, write_csv


def small_recipe(folder: Path, **sections: Any) -> Recipe:
    """From the corpus, which is written in a folder, to the pairs that are assigned, and with further sections."""
    made: dict[str, Any] = {
        "setup": Setup(title="Small"),
        "import_": Import(write_corpus(folder / "corpus.csv"), only_language="en"),
        "select": Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])),
        "pair": Pair(),
        "assign": Assign(overlap={2: 0.25, 3: 0.25}, seed=1),
    }
    return Recipe(**{**made, **sections})

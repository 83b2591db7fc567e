"""Texts of two published studies, and models that are made in a moment."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from models.tiny_cross import save_tiny


@pytest.fixture(scope="session")
def crowdcounter(data: Path) -> list[str]:
    """All counter-narratives of CrowdCounter, in the order of its file."""
    posts = json.loads((data / "crowdcounter" / "Final_Dataset.json").read_text("utf-8"))
    return [one["counterspeech"] for post in posts.values() for one in post["counterspeech_post"].values()]


@pytest.fixture(scope="session")
def parscn(data: Path) -> list[str]:
    """All counter-narratives of ParsCN, in the order of its file."""
    with (data / "parscn" / "ParsCN-Dataset.csv").open(encoding="utf-8-sig", newline="") as file:
        return [row["Counter_Narrative"] for row in csv.DictReader(file)]


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an encoder of one layer that knows letters, and nothing else."""
    return save_tiny(tmp_path_factory.mktemp("encoder"), head=False).folder

"""What commands print of a grid of which only some cells were drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Fcpair

SAID = "sampled 9 of 24 cells"


@pytest.fixture
def drawn(at: Callable[[str], Path], fcpair: Fcpair) -> Fcpair:
    """The command line on a study of nine cells that simulated people have labelled."""
    at("paired")
    assert f"Note: {SAID}." in fcpair("pair", "--sample", "9", "--redo").stderr
    fcpair("assign", "--annotators", "3", "--overlap", "2:0.5")
    fcpair("simulate")
    fcpair("adjudicate", "--policy", "majority")
    return fcpair


def test_every_report_says_how_many_cells_were_drawn(drawn: Fcpair) -> None:
    for command in ("status", "agreement", "partition", "doctor"):
        assert f"{SAID}." in drawn(command).stdout, command
    for command in ("status", "agreement", "partition"):
        assert json.loads(drawn(command, "--format", "json").stdout)["sampled"] == {"cells": 9, "of": 24}
        assert SAID not in drawn(command, "--format", "csv").stdout
    assert "sampled,,of,24" in drawn("status", "--format", "csv").stdout
    assert "drawn from 24" in " ".join(drawn("log").stdout.split())


def test_a_sample_that_cannot_be_drawn_is_refused(drawn: Fcpair) -> None:
    assert "judgements are never discarded" in drawn("pair", "--sample", "4", "--redo", code=2).stderr

"""The options that commands share: of which grid they speak."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cli.conftest import Fcpair


def test_a_grid_that_is_named_is_the_one_that_is_meant_without_a_name(
    at: Callable[[str], Path], fcpair: Fcpair
) -> None:
    at("checked")
    assert fcpair("partition", "--grid", "main").stdout == fcpair("partition").stdout


def test_a_grid_that_is_not_there_is_refused_with_those_that_are(at: Callable[[str], Path], fcpair: Fcpair) -> None:
    at("checked")
    for command in (("labels", "export", "--out", "l.csv"), ("explain", "1"), ("pair", "--redo")):
        said = fcpair(*command, "--grid", "other", code=2).stderr
        assert said == "Error: there is no grid `other`; the grids of this study: main\n"

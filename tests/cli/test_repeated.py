"""An option that is given twice is refused, unless it takes several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Fcpair


@pytest.mark.parametrize(
    "args",
    [
        ("partition", "--tier", "gold", "--tier", "silver"),
        ("describe", "t.csv", "--labels", "types", "--labels=targets"),
        ("people", "add", "eva", "--role", "annotator", "--role", "validator"),
        ("select", "--hs", "2", "--seed", "1", "--seed", "1"),
        ("retrieve", "--redo", "--redo"),
    ],
)
def test_an_option_that_takes_one_value_is_refused_where_it_is_given_twice(
    at: Callable[[str], Path], fcpair: Fcpair, args: tuple[str, ...]
) -> None:
    at("checked")
    option = next(one.partition("=")[0] for one in reversed(args) if one.startswith("--"))
    assert f"{option} is given twice; it takes one value, so give it once" in fcpair(*args, code=2).stderr


def test_an_option_that_takes_several_is_taken_as_often_as_it_is_given(
    at: Callable[[str], Path], fcpair: Fcpair
) -> None:
    at("checked")
    said = fcpair("evaluate", "--system", "tfidf", "--system", "random", "--format", "csv").stdout
    assert "tfidf" in said
    assert "random" in said

"""What a command prints is of one moment: it is read in one transaction, which ends before anything is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

from cli.conftest import Fcpair
from fcpair.stages.adjudication import partition

At = Callable[[str], Path]
LOOKS = [
    *(("status",), ("grids",), ("log",), ("people", "list"), ("explain", "1"), ("partition",)),
    *(("partition", "--tier", "gold"), ("partition", "--diamond", "majority", "--format", "csv")),
]


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Those that were begun, and for each whether something had been printed before."""
    begun: list[bool] = []
    n_open, printed = 0, list[str]()

    def begin(_conn: Connection) -> None:
        nonlocal n_open
        n_open += 1
        begun.append(bool(printed))

    def end(_conn: Connection) -> None:
        nonlocal n_open
        n_open = 0

    def echo(text: str, **named: Any) -> None:
        assert not n_open, "printed while others may have to wait"
        printed.append(text)
        usual(text, **named)

    usual = click.echo
    monkeypatch.setattr(click, "echo", echo)
    listeners = (("begin", begin), ("commit", end), ("rollback", end))
    for name, listener in listeners:
        event.listen(Engine, name, listener)
    yield begun
    for name, listener in listeners:
        event.remove(Engine, name, listener)


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_a_look_is_one_transaction(at: At, fcpair: Fcpair, transactions: list[bool], words: tuple[str, ...]) -> None:
    at("checked")
    transactions.clear()
    fcpair(*words)
    assert transactions == [False]


def test_the_pairs_of_a_tier_are_printed_without_the_tables_of_all(
    at: At, fcpair: Fcpair, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("checked")
    whole = fcpair("partition", "--tier", "bronze", "--format", "csv").stdout
    monkeypatch.setattr(partition, "tier_table_rows", None)
    monkeypatch.setattr(partition, "verdict_table_rows", None)
    assert fcpair("partition", "--tier", "bronze", "--format", "csv").stdout == whole

"""What stands between a round and its models: the one place for which examples they may be shown, and when."""

from __future__ import annotations

from shlex import quote

from fcpair.errors import StageError
from fcpair.records import Example, Round
from fcpair.stages.answers.examples import lay_out
from fcpair.steps.base.context import find_grid
from fcpair.store import Tx
from fcpair.store.answers import examples
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids


def source_of(tx: Tx, of: Round) -> Round:
    """The round in which the examples of a round were written: the one that counts in the grid that they are of."""
    with grids.about(tx, find_grid(tx, of.options.examples).id):
        return rounds.counting(tx)


def of_round(tx: Tx, of: Round) -> list[Example]:
    """The examples of a round, row by row, the nearest first; none where they were not found yet."""
    return examples.listed(tx, of, source_of(tx, of))


def missing(tx: Tx, of: Round, on: str = "") -> str | None:
    """What has to be done before models of a round can be shown its examples; None where nothing has, or it has none.

    `on` is the option by which commands are given the grid.
    """
    return _missing(tx, of, of_round(tx, of), on) if of.options.examples else None


def _missing(tx: Tx, of: Round, there: list[Example], on: str) -> str | None:
    options = f"{on} --round {quote(of.name)}".strip()
    if not there:
        return f"round `{of.name}` has no examples yet; run `fcpair examples find {options}`"
    aside = examples.set_aside(tx, of, source_of(tx, of))
    if n := sum(one.id in aside for one in may_be_shown(there)):
        what = "1 example, whose text was" if n == 1 else f"{n:,} examples, whose texts were"
        return (
            f"round `{of.name}` has {what} taken back or replaced in grid `{of.options.examples}` since; review what "
            f"is not to be used, or run `fcpair examples find {options} --redo`"
        )
    if of.options.reviewed and (n := len({one.row_id for one in there if one.used is None})):
        what = "1 row has" if n == 1 else f"{n:,} rows have"
        return (
            f"round `{of.name}`: {what} examples that nobody has reviewed; `fcpair serve`, where a lead does so, or "
            f"`fcpair examples sheet FILE {options}`"
        )
    return None


def may_be_shown(there: list[Example]) -> list[Example]:
    """The examples but those that a person did not let be used."""
    return [one for one in there if one.used is not False]


def given_to_models(tx: Tx, grid: str, of: Round) -> dict[int, str]:
    """The examples of each row of a round as a prompt has them, by the id of the row; nothing where it has none.

    Raises:
        StageError: they were not found or not reviewed, or the text of one does not stand any more.
    """
    if not of.options.examples:
        return {}
    there = of_round(tx, of)
    if said := _missing(tx, of, there, f"--grid {quote(grid)}"):
        raise StageError(said)
    found: dict[int, list[tuple[str, str, str]]] = {}
    for one in may_be_shown(there):
        found.setdefault(one.row_id, []).append((one.hs, one.cn, one.type))
    return {row: lay_out(some) for row, some in found.items()}

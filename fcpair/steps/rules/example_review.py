"""Gate between a round and its models: the one place that decides which examples they may be shown, and when."""

from __future__ import annotations

from shlex import quote

from fcpair.errors import StageError
from fcpair.records import Example, Round
from fcpair.stages.answers.examples import format_examples
from fcpair.steps.base.context import find_grid
from fcpair.store import Tx
from fcpair.store.answers import examples
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids


def source_round(tx: Tx, round_: Round) -> Round:
    """The round in which the examples of a round were written: the one that counts in the grid that they are of."""
    with grids.on_grid(tx, find_grid(tx, round_.options.examples).id):
        return rounds.primary(tx)


def examples_of_round(tx: Tx, round_: Round) -> list[Example]:
    """The examples of a round, row by row, the nearest first; none where they were not found yet."""
    return examples.list_examples(tx, round_, source_round(tx, round_))


def blocking_message(tx: Tx, round_: Round, grid_option: str = "") -> str | None:
    """Say what must be done before models of a round can see its examples; None where nothing must, or it has none.

    `grid_option` is the option by which commands are given the grid.
    """
    return (
        _blocking_message(tx, round_, examples_of_round(tx, round_), grid_option) if round_.options.examples else None
    )


def _blocking_message(tx: Tx, round_: Round, round_examples: list[Example], grid_option: str) -> str | None:
    options = f"{grid_option} --round {quote(round_.name)}".strip()
    if not round_examples:
        return f"round `{round_.name}` has no examples yet; run `fcpair examples find {options}`"
    set_aside_ids = examples.ids_without_current_text(tx, round_, source_round(tx, round_))
    if n := sum(example.id in set_aside_ids for example in usable_examples(round_examples)):
        subject = "1 example, whose text was" if n == 1 else f"{n:,} examples, whose texts were"
        return (
            f"round `{round_.name}` has {subject} taken back or replaced in grid `{round_.options.examples}` "
            "since; review what "
            f"is not to be used, or run `fcpair examples find {options} --redo`"
        )
    if round_.options.reviewed and (n := len({example.row_id for example in round_examples if example.used is None})):
        subject = "1 row has" if n == 1 else f"{n:,} rows have"
        return (
            f"round `{round_.name}`: {subject} examples that nobody has reviewed; `fcpair serve`, where a lead "
            "does so, or "
            f"`fcpair examples sheet FILE {options}`"
        )
    return None


def usable_examples(round_examples: list[Example]) -> list[Example]:
    """The examples but those that a person did not let be used."""
    return [one for one in round_examples if one.used is not False]


def prompt_examples(tx: Tx, grid: str, round_: Round) -> dict[int, str]:
    """The examples of each row of a round as a prompt has them, by the id of the row; nothing where it has none.

    Raises:
        StageError: they were not found or not reviewed, or the text of one does not stand any more.
    """
    if not round_.options.examples:
        return {}
    round_examples = examples_of_round(tx, round_)
    if message := _blocking_message(tx, round_, round_examples, f"--grid {quote(grid)}"):
        raise StageError(message)
    examples_by_row: dict[int, list[tuple[str, str, str]]] = {}
    for example in usable_examples(round_examples):
        examples_by_row.setdefault(example.row_id, []).append((example.hs, example.cn, example.type))
    return {row: format_examples(some) for row, some in examples_by_row.items()}

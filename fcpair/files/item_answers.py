"""Tables of items with an answer in each row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fcpair.bias.answered import Answers
from fcpair.bias.items import COLUMNS, OPTIONS, answers_to_items
from fcpair.errors import Finding, InputError, reject
from fcpair.files.tabular import LINE, place_of, read_table


def read_item_answers(paths: Sequence[Path], answer: str | None, shares: Sequence[str] = ()) -> Answers:
    """Read answers to items as `items expand` writes them, from one table or several.

    Args:
        paths: the tables; each has the columns of `bias.items.COLUMNS`.
        answer: the column of what was said; None where `shares` are given.
        shares: the columns of the probabilities of the three options; a row without any has no answer.

    Raises:
        InputError: a column that is missing, probabilities that are no numbers, and what `answers_to_items` refuses.
    """
    if len(shares) not in (0, len(OPTIONS)) or bool(shares) == bool(answer):
        raise InputError(f"name the column of answers, or the {len(OPTIONS)} columns of probabilities of the options")
    tables = [read_table(path, [*COLUMNS, *filter(None, (answer,)), *shares], verbatim=True) for path in paths]
    for table in tables:
        reject(place_of(table), list(_no_numbers(table, shares)))
    table = pd.concat(tables, ignore_index=True)
    place = ", ".join(map(str, paths))
    found = np.stack([pd.to_numeric(table[name], errors="coerce") for name in shares], axis=1) if shares else None
    said = table[answer].tolist() if answer else table[shares[0]].tolist()
    return answers_to_items(table, said, found, place, table[LINE].tolist())


def _no_numbers(table: pd.DataFrame, shares: Sequence[str]) -> list[Finding]:
    return [
        Finding(place_of(table), int(line), f"`{name}` is `{cell}`; expected a number, or nothing")
        for name in shares
        for cell, line, value in zip(table[name], table[LINE], pd.to_numeric(table[name], errors="coerce"), strict=True)
        if cell.strip() and np.isnan(value)
    ]

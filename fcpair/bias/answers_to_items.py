"""Answers to items as templates are expanded into them: a table with an item and its answer in each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fcpair.bias.answers import TIED, UNREADABLE, AnsweredItems, Answers, Bools, Floats, Ints
from fcpair.errors import Finding, reject
from fcpair.stages.answers.option_probabilities import TOLERANCE, read_choice

if TYPE_CHECKING:
    import pandas as pd

LETTERS = ("A", "B", "C")
OPTIONS = tuple(f"option_{at}" for at in range(len(LETTERS)))
NUMBER_COLUMNS = ("label", "target", "unknown")
_CONTEXTS, _POLARITIES = {"ambig": True, "disambig": False}, {"neg": True, "nonneg": False}
COLUMNS = ("template", "category", "context_condition", "question_polarity", *NUMBER_COLUMNS, *OPTIONS)
"""What a table must have of each item; all of it stands in what `items.expand` makes."""
STATEMENT = "statement"
"""What it may have beside: the statement of a survey that the item's template is about."""


def answers_to_items(
    items: pd.DataFrame, replies: Sequence[str], probabilities: Floats | None, place: str, lines: Sequence[int]
) -> Answers:
    """Answers to items, as arrays.

    An answer is read by `option_probabilities.read_choice`: a letter, or the text of an option; with probabilities it
    is the likeliest option, TIED where several are, and cannot be read where probabilities are not known.

    Args:
        items: the columns COLUMNS, and perhaps STATEMENT, all strings, `(n,)` rows.
        replies: what was said to each; with probabilities it is not looked at.
        probabilities: of the options, `(n, 3)`, NaN where they are not known; None where none are.
        place: what findings call the table.
        lines: by which findings name rows.

    Raises:
        InputError: all that is wrong, with lines: a context or polarity that is unknown, a number that is no option, an
            option that is both the stereotyped and the unknown one, probabilities that do not add up to 1.
    """
    import pandas as pd

    numbers = {name: pd.to_numeric(items[name], errors="coerce").to_numpy() for name in NUMBER_COLUMNS}
    reject(place, list(_findings(items, numbers, probabilities, place, lines)))
    label, target, unknown = (numbers[name].astype(np.int64) for name in NUMBER_COLUMNS)
    chosen = _read_options(items, replies) if probabilities is None else _likeliest_options(probabilities)
    category, categories = pd.factorize(items["category"].to_numpy(dtype=object))
    template, _ = pd.factorize(items["template"].to_numpy(dtype=object))
    answered = AnsweredItems(
        template=template,
        category=category,
        ambiguous=items["context_condition"].map(_CONTEXTS).to_numpy(bool),
        negative=items["question_polarity"].map(_POLARITIES).to_numpy(bool),
        right=label,
        chosen=chosen,
        unknown=_one_hot(unknown),
        stereotyped=_one_hot(target),
        probabilities=probabilities if probabilities is None else np.nan_to_num(probabilities),
    )
    unread = [reply for reply, at in zip(replies, chosen.tolist(), strict=True) if at == UNREADABLE]
    statements = tuple(items[STATEMENT].fillna("")) if STATEMENT in items else ()
    return Answers(answered, tuple(map(str, categories)), tuple(unread), statements)


def _findings(
    items: pd.DataFrame, numbers: dict[str, Floats], shares: Floats | None, place: str, lines: Sequence[int]
) -> Iterator[Finding]:
    rows_by_problem: dict[str, Bools] = {
        f"`{name}` is not one of {', '.join(valid)}": ~items[name].isin(list(valid)).to_numpy()
        for name, valid in {"context_condition": _CONTEXTS, "question_polarity": _POLARITIES}.items()
    }
    for name, values in numbers.items():
        rows_by_problem[f"`{name}` is not one of 0 to {len(LETTERS) - 1}"] = ~np.isin(values, range(len(LETTERS)))
    same = np.asarray(numbers["target"] == numbers["unknown"])
    rows_by_problem["the option of the stereotyped group is the one that says unknown"] = same
    if shares is not None:
        valid: Bools = np.asarray(~np.isnan(shares).any(axis=1))
        sums = np.where(valid[:, None], shares, 1 / len(LETTERS)).sum(axis=1)
        rows_by_problem["the probabilities do not add up to 1"] = abs(sums - 1) > TOLERANCE
        rows_by_problem["a probability is below 0"] = np.where(valid[:, None], shares, 0).min(axis=1) < 0
    problems = [(lines[row], what) for what, rows in rows_by_problem.items() for row in np.flatnonzero(rows).tolist()]
    yield from (Finding(place, line, what) for line, what in sorted(problems))


def _read_options(items: pd.DataFrame, replies: Sequence[str]) -> Ints:
    """The option that each answer names; what is the same is read once."""
    rows = list(zip(replies, *(items[name] for name in OPTIONS), strict=True))
    name_by_row = {row: read_choice(row[0], LETTERS, row[1:]) for row in dict.fromkeys(rows)}
    return np.array(
        [UNREADABLE if (name := name_by_row[row]) is None else LETTERS.index(name) for row in rows], np.int64
    )


def _likeliest_options(shares: Floats) -> Ints:
    """The option with the highest probability; TIED where several have it, unreadable where none are known."""
    filled = np.nan_to_num(shares, nan=-1.0)
    most = filled.max(axis=1)
    is_one = (filled == most[:, None]).sum(axis=1) == 1
    return np.select([most < 0, is_one], [UNREADABLE, filled.argmax(axis=1)], TIED)


def _one_hot(at: Ints) -> Bools:
    return np.asarray(at[:, None] == np.arange(len(LETTERS)))

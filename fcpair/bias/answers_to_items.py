"""Answers to items as templates are expanded into them: a table with an item and its answer in each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fcpair.bias.answers import TIED, UNREADABLE, Answered, Answers, Bools, Floats, Ints
from fcpair.errors import Finding, reject
from fcpair.stages.answers.option_probabilities import TOLERANCE, written

if TYPE_CHECKING:
    import pandas as pd

LETTERS = ("A", "B", "C")
OPTIONS = tuple(f"option_{at}" for at in range(len(LETTERS)))
NUMBERED = ("label", "target", "unknown")
_CONTEXTS, _POLARITIES = {"ambig": True, "disambig": False}, {"neg": True, "nonneg": False}
COLUMNS = ("template", "category", "context_condition", "question_polarity", *NUMBERED, *OPTIONS)
"""What a table must have of each item; all of it stands in what `items.expand` makes."""
STATEMENT = "statement"
"""What it may have beside: the statement of a survey that the item's template is about."""


def answers_to_items(
    items: pd.DataFrame, said: Sequence[str], probabilities: Floats | None, place: str, lines: Sequence[int]
) -> Answers:
    """Answers to items, as arrays.

    An answer is read by `stages.said.written`: a letter, or the text of an option; with probabilities it is the
    likeliest option, TIED where several are, and cannot be read where probabilities are not known.

    Args:
        items: the columns COLUMNS, and perhaps STATEMENT, all strings, `(n,)` rows.
        said: what was said to each; with probabilities it is not looked at.
        probabilities: of the options, `(n, 3)`, NaN where they are not known; None where none are.
        place: what findings call the table.
        lines: by which findings name rows.

    Raises:
        InputError: all that is wrong, with lines: a context or polarity that is unknown, a number that is no option, an
            option that is both the stereotyped and the unknown one, probabilities that do not add up to 1.
    """
    import pandas as pd

    numbers = {name: pd.to_numeric(items[name], errors="coerce").to_numpy() for name in NUMBERED}
    reject(place, list(_findings(items, numbers, probabilities, place, lines)))
    label, target, unknown = (numbers[name].astype(np.int64) for name in NUMBERED)
    chosen = _read(items, said) if probabilities is None else _likeliest(probabilities)
    category, categories = pd.factorize(items["category"].to_numpy(dtype=object))
    template, _ = pd.factorize(items["template"].to_numpy(dtype=object))
    answered = Answered(
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
    unread = [one for one, at in zip(said, chosen.tolist(), strict=True) if at == UNREADABLE]
    statements = tuple(items[STATEMENT].fillna("")) if STATEMENT in items else ()
    return Answers(answered, tuple(map(str, categories)), tuple(unread), statements)


def _findings(
    items: pd.DataFrame, numbers: dict[str, Floats], shares: Floats | None, place: str, lines: Sequence[int]
) -> Iterator[Finding]:
    wrong: dict[str, Bools] = {
        f"`{name}` is none of {', '.join(known)}": ~items[name].isin(list(known)).to_numpy()
        for name, known in {"context_condition": _CONTEXTS, "question_polarity": _POLARITIES}.items()
    }
    for name, values in numbers.items():
        wrong[f"`{name}` is none of 0 to {len(LETTERS) - 1}"] = ~np.isin(values, range(len(LETTERS)))
    same = np.asarray(numbers["target"] == numbers["unknown"])
    wrong["the option of the stereotyped group is the one that says unknown"] = same
    if shares is not None:
        known: Bools = np.asarray(~np.isnan(shares).any(axis=1))
        sums = np.where(known[:, None], shares, 1 / len(LETTERS)).sum(axis=1)
        wrong["the probabilities do not add up to 1"] = abs(sums - 1) > TOLERANCE
        wrong["a probability is below 0"] = np.where(known[:, None], shares, 0).min(axis=1) < 0
    found = [(lines[row], what) for what, rows in wrong.items() for row in np.flatnonzero(rows).tolist()]
    yield from (Finding(place, line, what) for line, what in sorted(found))


def _read(items: pd.DataFrame, said: Sequence[str]) -> Ints:
    """The option that each answer names; what is the same is read once."""
    asked = list(zip(said, *(items[name] for name in OPTIONS), strict=True))
    read = {one: written(one[0], LETTERS, one[1:]) for one in dict.fromkeys(asked)}
    return np.array([UNREADABLE if (name := read[one]) is None else LETTERS.index(name) for one in asked], np.int64)


def _likeliest(shares: Floats) -> Ints:
    """The option with the highest probability; TIED where several have it, unreadable where none are known."""
    known = np.nan_to_num(shares, nan=-1.0)
    most = known.max(axis=1)
    is_one = (known == most[:, None]).sum(axis=1) == 1
    return np.select([most < 0, is_one], [UNREADABLE, known.argmax(axis=1)], TIED)


def _one_hot(at: Ints) -> Bools:
    return np.asarray(at[:, None] == np.arange(len(LETTERS)))

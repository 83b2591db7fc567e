"""Items of templates: every filling, in both contexts, with both questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcpair.bias.items.item_options import coinciding_options
from fcpair.bias.items.template import Blank, Template, Text
from fcpair.errors import Finding, reject

FOUR = (("ambig", "neg"), ("ambig", "nonneg"), ("disambig", "neg"), ("disambig", "nonneg"))
PER_FILLING = len(FOUR)
COLUMNS = (
    *("item_id", "template", "version", "category", "context_condition", "question_polarity"),
    *(
        "context",
        "question",
        "option_0",
        "option_1",
        "option_2",
        "label",
        "target",
        "unknown",
        "fillers",
        "item",
        "statement",
    ),
)
LIMIT = 100_000  # items of one template
LETTERS = "ABC"  # by which options are named where an item is asked
N_OPTIONS = 3
_TEMPLATE_COLUMNS = {"template": "id", "version": "version", "category": "category", "statement": "statement"}

Strings = NDArray[np.object_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Items:
    """A row for each item with the columns COLUMNS, and what is wrong with some of them.

    `label` is the number of the right option, `target` that of the stereotyped group's, `unknown` that of the one which
    says that it cannot be known. `fillers` has what is put in the slots, as `slot=filler`, parted by a semicolon, and
    `item` is what is asked: context, question, and the options, each on a line and behind its letter. `statement` is
    the statement of a survey that the template was made of, empty where that is not said.
    """

    frame: pd.DataFrame
    findings: tuple[Finding, ...]


def n_items(template: Template) -> int:
    """Number of items that a template expands to."""
    return PER_FILLING * template.n_fillings


def n_templates(templates: Sequence[Template]) -> Counter[str]:
    """Count the templates of each category, all versions of one counted once."""
    return Counter(one.category for one in first_versions(templates))


def first_versions(templates: Sequence[Template]) -> list[Template]:
    """The first version of each template."""
    return list({(one.category, one.id): one for one in reversed(templates)}.values())[::-1]


def expand(templates: Sequence[Template], place: str, seed: int = 13, limit: int = LIMIT) -> Items:
    """Make all items of templates that have no `faults`.

    Items are in the order of their templates, then of the fillings (the last slot changes first), the ambiguous context
    before the other, and the negative question before the other. The options of a filling are in an order drawn by
    `seed`, so that no place is better than another; its four items share the order. An item's id is made of template,
    version and the numbers of its fillers, context and question.

    Args:
        templates: the templates, in any order.
        place: what findings call their file.
        seed: of the orders of options; the order of the templates changes none of them.
        limit: how many items may be made of one template.

    Returns:
        The items; `findings` names templates some of whose options coincide.

    Raises:
        InputError: all templates that would make more items than `limit`; none is made then.
    """
    reject(place, list(_oversized(templates, place, limit)))
    rng = np.random.default_rng(seed)
    order = sorted(
        range(len(templates)), key=lambda at: (templates[at].category, templates[at].id, templates[at].version)
    )
    expanded = {at: _expand_template(templates[at], rng) for at in order}
    frame = pd.DataFrame(
        {name: np.concatenate([expanded[at][name] for at in range(len(templates))]) for name in COLUMNS}
    )
    return Items(frame, tuple(coinciding_options(templates, place)))


def _oversized(templates: Sequence[Template], place: str, limit: int) -> Iterator[Finding]:
    for template in templates:
        if (n := n_items(template)) > limit:
            name = " ".join(filter(None, (f"`{template.id}`", template.version)))
            yield Finding(
                place,
                template.line,
                f"template {name} makes {n:,} items, but a template may make at most {limit:,}; give its slots fewer "
                "fillers, or `fcpair items expand` a higher `--limit`",
            )


def _expand_template(template: Template, rng: np.random.Generator) -> dict[str, Strings | Ints]:
    """The columns of a template's items."""
    sizes = [len(fillers) for fillers in template.fillers.values()]
    n = template.n_fillings
    numbers = _filler_numbers(sizes, n)
    at = dict(zip(template.fillers, numbers, strict=True))
    filled = {name: _fill_text(text, at, n) for name, text in template.all_texts.items()}
    clear = _single_spaced(filled["ambiguous"] + " " + filled["disambiguating"])
    unknown = np.array(template.unknown, dtype=object)[np.arange(n) % len(template.unknown)]
    places = rng.permuted(np.tile(np.arange(N_OPTIONS), (n, 1)), axis=1)  # of the culprit, the other and unknown
    options = np.empty((n, N_OPTIONS), dtype=object)
    np.put_along_axis(options, places, np.stack([filled["culprit"], filled["other"], unknown], axis=1), axis=1)
    culprit, other, not_known = places.T
    ids = _ids(template, numbers, n)
    columns: dict[str, list[Strings | Ints]] = {
        "item_id": [ids + f"-{context}-{polarity}" for context, polarity in FOUR],
        "context": [filled["ambiguous"], filled["ambiguous"], clear, clear],
        "question": [filled["negative"], filled["non_negative"]] * 2,
        "label": [not_known, not_known, culprit, other],
        "target": [culprit if template.target is template.culprit else other] * PER_FILLING,
        "unknown": [not_known] * PER_FILLING,
        "fillers": [_filler_texts(template, numbers, n)] * PER_FILLING,
        **{f"option_{i}": [options[:, i]] * PER_FILLING for i in range(N_OPTIONS)},
    }
    alternating = {name: np.stack(four, axis=1).ravel() for name, four in columns.items()}
    of_four = np.tile(np.array(FOUR, dtype=object), (n, 1))
    same = {
        name: np.full(PER_FILLING * n, getattr(template, of), dtype=object) for name, of in _TEMPLATE_COLUMNS.items()
    }
    alternating["item"] = _question_texts(alternating)
    return {**alternating, **same, "context_condition": of_four[:, 0], "question_polarity": of_four[:, 1]}


def _filler_numbers(sizes: Sequence[int], n: int) -> Ints:
    """Which filler each slot has in each filling, `(n_slots, n)`; the last changes first."""
    each = np.array([prod(sizes[at + 1 :]) for at in range(len(sizes))], np.int64)[:, None]
    return np.asarray(np.arange(n) // each % np.array(sizes, np.int64)[:, None])


def _question_texts(columns: Mapping[str, NDArray[Any]]) -> Strings:
    """Context and question, and the options on lines of their own, each behind its letter."""
    questions: Strings = columns["context"].astype(object) + "\n" + columns["question"].astype(object)
    for i, letter in enumerate(LETTERS):
        questions = questions + f"\n{letter}. " + columns[f"option_{i}"].astype(object)
    return questions


def _fill_text(text: Text, at: dict[str, Ints], n: int) -> Strings:
    """The text in each filling, `(n,)`."""
    filled: Strings = np.full(n, "", dtype=object)
    for part in text:
        filled = filled + (np.array(part.forms, dtype=object)[at[part.slot]] if isinstance(part, Blank) else part)
    return _single_spaced(filled)


def _single_spaced(texts: Strings) -> Strings:
    """The texts with single spaces."""
    return np.array([" ".join(text.split()) for text in texts], dtype=object)


def _ids(template: Template, numbers: Ints, n: int) -> Strings:
    """Common part of the ids of a filling's items, `(n,)`."""
    ids: Strings = np.full(n, "-".join(filter(None, (template.id, template.version))), dtype=object)
    for row in numbers:
        ids = ids + "-" + (row + 1).astype(str).astype(object)
    return ids


def _filler_texts(template: Template, numbers: Ints, n: int) -> Strings:
    texts: Strings = np.full(n, "", dtype=object)
    for i, ((slot, fillers), row) in enumerate(zip(template.fillers.items(), numbers, strict=True)):
        texts = texts + ("; " * bool(i) + f"{slot}=") + np.array(fillers, dtype=object)[row]
    return texts

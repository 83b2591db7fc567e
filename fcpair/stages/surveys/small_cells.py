"""Counts of people in cells that are large enough to be published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from fcpair.stages.questions import SKIP, Closed
from fcpair.stages.questions.form import Form

LEAST_PEOPLE = 5
MERGED = "(answers of fewer than five people, together)"
Counts = dict[str, int]


def merge_small_cells(counts: Mapping[str, int], *, merged: Collection[str] = ()) -> Counts:
    """The counts in cells of five people or more, whose sum stays.

    Smaller cells and those that are to be `merged` are taken together, with the next smallest one where they are still
    too few or only one; nothing remains of fewer than five people in all. So no count can be had from the others.
    """
    kept = {answer: n for answer, n in counts.items() if n}
    n_merged = 0
    smallest_first = sorted(kept.items(), key=lambda item: (item[0] not in merged, item[1], item[0]))
    for n_before, (answer, n) in enumerate(smallest_first):
        is_large = n >= LEAST_PEOPLE and answer not in merged
        if is_large and (not n_before or (n_merged >= LEAST_PEOPLE and n_before > 1)):
            break
        n_merged += kept.pop(answer)
    return kept | {MERGED: n_merged} if n_merged >= LEAST_PEOPLE else kept


def count_respondents(form: Form, answers: Sequence[Mapping[str, str] | None]) -> dict[str, Counts]:
    """How many people gave each answer to each closed question of a form on one cell, none from another's counts.

    The counts of one question must not give away those of another. So skips, which all of them share, are taken
    together with other answers in all if they are in one; and a question that depends on an earlier one is counted,
    among those whom it was put to, only where they are a published count of the earlier one.

    Args:
        answers: those of each person by the names of the questions, as files have them; None for a skip.
    """
    conditions = dict(form.conditions)
    closed = [name for name, question in form.questions if isinstance(question, Closed)]
    always_asked = {
        name: Counter(SKIP if answer is None else answer[name] for answer in answers)
        for name in closed
        if name not in conditions
    }
    published = {name: merge_small_cells(counts) for name, counts in always_asked.items()}
    if any(SKIP in counts and SKIP not in published[name] for name, counts in always_asked.items()):
        published = {name: merge_small_cells(counts, merged=(SKIP,)) for name, counts in always_asked.items()}
    for name in (name for name in closed if name in conditions):
        when = conditions[name]
        if set(when.answers) <= published.get(when.question, {}).keys():
            asked = (answer for answer in answers if answer and answer[when.question] in when.answers)
            published[name] = merge_small_cells(Counter(answer[name] for answer in asked))
    return published

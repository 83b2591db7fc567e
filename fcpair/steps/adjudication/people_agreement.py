"""People and texts that do not agree: two people side by side, and the texts whose labels differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fcpair.errors import InputError
from fcpair.params import Agree
from fcpair.stages.stats.people_agreement import PeopleComparison, compare_labels
from fcpair.stages.stats.text_disputes import most_disputed
from fcpair.steps.adjudication.agreement import sides_of
from fcpair.steps.base.context import GridContext, effective_options, need_labels, scheme_of
from fcpair.steps.people.people import find_person
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.corpus import sides
from fcpair.store.corpus.grids import to_public_number

MOST_TEXTS = 10


def compare_people(grid: GridContext, person: str, other: str) -> PeopleComparison:
    """Compare the current labels of two people on the pairs that both labelled, by the grid's own options.

    Raises:
        StageError: nobody has labelled anything yet.
        UnknownIdError: there is nobody of one of the names.
        InputError: both are the same person; or the answers that count are no labels.
    """
    if person == other:
        raise InputError(f"`{person}` cannot be compared with themselves; name two people")
    with grid._store.read() as tx:
        need_labels(tx, "agreement")
        ids = [find_person(tx, name).id for name in (person, other)]
        labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code", person_ids=ids)
        return compare_labels(labels, (person, other), scheme_of(tx), effective_options(tx, Agree, {}), sides_of(tx))


@dataclass(frozen=True)
class DisputedText:
    """A text of the grid, `disputed` pairs of which have labels that differ, of `n` that have two labels or more."""

    text: str
    n: int
    disputed: tuple[int, ...]


@dataclass(frozen=True)
class DisputedTexts:
    """The texts of one side with most disputed pairs, of `n_texts` that have any."""

    texts: tuple[DisputedText, ...]
    n_texts: int


def load_disputed_texts(tx: Tx) -> dict[sides.Axis, DisputedTexts]:
    """The most disputed rows and columns; indefinite labels count or not, by the grid's own options of agreement."""
    labels = judgements.label_arrays(tx, "cell_id", "hs_id", "cn_id", "code")
    if effective_options(tx, Agree, {}).not_sure == "drop":
        is_definite = np.isin(labels["code"], [choice.code for choice in scheme_of(tx) if choice.definite])
        labels = {name: column[is_definite] for name, column in labels.items()}
    found: dict[sides.Axis, DisputedTexts] = {}
    for axis, _ in sides.AXES:
        disputes, n_texts = most_disputed(labels, axis, MOST_TEXTS)
        bodies = dict(sides.bodies(tx, axis))
        texts = (
            DisputedText(bodies[one.text_id], one.n, tuple(map(to_public_number, one.disputed))) for one in disputes
        )
        found[axis] = DisputedTexts(tuple(texts), n_texts)
    return found

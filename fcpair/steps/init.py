"""Making a study: what it is, its first grid, and the rounds of that."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from fcpair.files.corpus import CN, HS
from fcpair.params import MAIN, Setup
from fcpair.records import Role
from fcpair.stages.question import Closed, Form
from fcpair.stages.question.labels import VERDICT, read_labels
from fcpair.store import Tx, grids, rounds, runs

LABEL, VALIDATE, BLIND = "label", "validate", "validate blind"


def fill(tx: Tx, setup: Setup, guidelines: str, *, main: bool = True) -> None:
    """Write the first rows of a study, and the grid `main` unless it is to have others."""
    runs.add_study(tx, setup.title, guidelines)
    if main:
        add_grid(tx, MAIN, setup)


def add_grid(tx: Tx, name: str, setup: Setup) -> None:
    """Add a grid of HS x CN, to be labelled, and validated with the label in sight or without."""
    grid_id = grids.add(tx, name, (HS, setup.hs_name), (CN, setup.cn_name))
    question = read_labels(setup.scheme)
    add = partial(add_round, tx, grid_id)
    label = add(LABEL, Role.ANNOTATOR, Form((("label", question),)), counts=True)
    add(VALIDATE, Role.VALIDATOR, Form((("verdict", VERDICT),)), checks=label)
    add(BLIND, Role.VALIDATOR, Form((("own_label", question),)), checks=label, blind=True)


def add_round(tx: Tx, grid_id: int, name: str, role: Role, form: Form, **what: Any) -> int:
    """Add a round of a grid, as `rounds.add` takes it, with the answers that its form can have; returns its id."""
    return rounds.add(tx, grid_id, name, role, str(form), _answers(form), **what)


def _answers(form: Form) -> Iterator[rounds.Answer]:
    """The answers that a form can have, where it is one closed question."""
    if len(form.questions) == 1 and isinstance(question := form.questions[0][1], Closed):
        for code in question.codes:
            given = {form.questions[0][0]: code}
            yield rounds.Answer(hashlib.sha256(form.key(given).encode()).hexdigest(), form.store(given), code)

"""Making a study: what it is, its first grid, and the rounds of that."""

from __future__ import annotations

from functools import partial
from typing import Any

from fcpair.files.corpus.corpus import CN, HS
from fcpair.params import MAIN, Setup
from fcpair.records import Role
from fcpair.round_options import RoundOptions
from fcpair.stages.assignment.plan import VALIDATION_ROUND
from fcpair.stages.questions import Closed, Form
from fcpair.stages.questions.labels import VERDICT, read_labels
from fcpair.steps.base.answer_values import closed_question, to_stored
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs

LABEL, BLIND = "label", f"{VALIDATION_ROUND} blind"


def fill_study(tx: Tx, setup: Setup, guidelines: str, *, main: bool = True) -> None:
    """Write the first rows of a study, and the grid `main` unless it is to have others."""
    runs.add_study(tx, setup.title, guidelines)
    if main:
        add_grid(tx, MAIN, setup)


def add_grid(tx: Tx, name: str, setup: Setup) -> None:
    """Add a grid of HS x CN, to be labelled, and validated with the label in sight or without."""
    _add_rounds(tx, grids.add(tx, name, (HS, setup.hs_name), (CN, setup.cn_name)), setup)


def change_setup(tx: Tx, setup: Setup) -> None:
    """Let the title, the names of the sides and the scheme be those of `setup`, in a study without a corpus."""
    runs.rename_study(tx, setup.title)
    grids.change(tx, row_name=setup.hs_name, column_name=setup.cn_name)
    rounds.remove_all(tx)
    _add_rounds(tx, grids.current_grid_id(tx), setup)


def _add_rounds(tx: Tx, grid_id: int, setup: Setup) -> None:
    question = read_labels(setup.scheme)
    label = add_round(tx, grid_id, LABEL, Role.ANNOTATOR, Form((("label", question),)), counts=True)
    add_checks(tx, grid_id, label, question)


def add_checks(
    tx: Tx, grid_id: int, checked_round_id: int, question: Closed, options: RoundOptions | None = None
) -> None:
    """Add the round that checks what was decided on the answers of another, which asks `question`, blind or not."""
    add = partial(add_round, tx, grid_id, role=Role.VALIDATOR, checks=checked_round_id, options=options)
    add(VALIDATION_ROUND, form=Form((("verdict", VERDICT),)))
    add(BLIND, form=Form((("own_label", question),)), blind=True)


def add_round(tx: Tx, grid_id: int, name: str, role: Role, form: Form, **round_options: Any) -> int:
    """Add a round of a grid, as `rounds.add` takes it, with the answers that its form can have; returns its id."""
    question = closed_question(form)
    possible = (to_stored(form, {form.questions[0][0]: code}) for code in (question.codes if question else ()))
    return rounds.add(tx, grid_id, name, role, str(form), possible, **round_options)

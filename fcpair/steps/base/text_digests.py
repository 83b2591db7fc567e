"""By what a study knows a text: the digest of its identity, folded further where the study says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from fcpair.params import Setup
from fcpair.records import RunRecord
from fcpair.stages.corpus.text_identity import Folding, digest, fold_arabic
from fcpair.store import Tx
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings

FOLDING = "folding"
Digest = Callable[[str], str]


def save_folding(tx: Tx, setup: Setup, run: RunRecord) -> None:
    """Note how a new study folds its texts, for good."""
    with grids.on_first_grid(tx):
        settings.save_settings(tx, Setup.stage, {FOLDING: setup.folding}, run.id)


def folding(tx: Tx) -> Folding:
    """Folding that the study applies to texts before it tells them apart; `none` in studies before 0.8."""
    with grids.on_first_grid(tx):
        return cast(Folding, settings.of_stage(tx, Setup.stage).get(FOLDING, "none"))


def digester(tx: Tx) -> Digest:
    """Function that gives the digest by which the study recognises a text."""
    return folded_digest if folding(tx) == "arabic" else digest


def folded_digest(text: str) -> str:
    """The digest of a text that is folded."""
    return digest(fold_arabic(text))

"""What every step stands on: the label scheme, the note of its run, and the order of the stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import version
from typing import Any, TypeVar

from fcpair.errors import StageError, UnknownIdError
from fcpair.label import parse_scheme
from fcpair.params import as_params
from fcpair.records import RunRecord, Scheme
from fcpair.store import Tx, decisions, grids, progress, runs

Options = TypeVar("Options")
LARGEST_ID = 2**63 - 1  # what a database can be asked for
MADE = {
    "import": "source pairs",
    "select": "selected HS",
    "retrieve": "candidates",
    "pair": "pairs",
    "assign": "assignments",
}


def scheme_of(tx: Tx) -> Scheme:
    """The label scheme of the study's grid."""
    return parse_scheme(grids.grid_scheme(tx))


def own(tx: Tx, cls: type[Options], given: Mapping[str, Any]) -> Options:
    """The study's own options of a kind, as its recipe has them, with those in `given` in their place."""
    names = {item.name for item in fields(cls)}  # type: ignore[arg-type]
    kept = [run.params for run in runs.runs(tx, cls.stage) if set(run.params) == names]  # type: ignore[attr-defined]
    return cls(**{**(kept[-1] if kept else {}), **given})


def is_own(tx: Tx, options: Any) -> bool:
    """Whether these options are noted as the study's own."""
    params = as_params(options)
    kept = [run.params for run in runs.runs(tx, options.stage) if set(run.params) == set(params)]
    return bool(kept) and kept[-1] == params


def note(tx: Tx, options: Any, counts: dict[str, Any], model: dict[str, str] | None = None) -> RunRecord:
    """Note the run of a stage with the parameters in `options`."""
    return note_run(tx, options.stage, as_params(options), counts, model)


def note_run(
    tx: Tx,
    stage: str,
    params: dict[str, Any],
    counts: dict[str, Any],
    model: dict[str, str] | None = None,
    outcome: dict[str, Any] | None = None,
) -> RunRecord:
    """Note the run of a stage; `outcome` is all that it found, where that is more than counts."""
    return runs.add_run(tx, stage, params, counts, version("fcpair"), model, outcome)


def check_building(tx: Tx, stage: str, *, redo: bool) -> None:
    """Raise StageError when a building stage may not run now.

    That is: the stage before has not been done; this one has been and `redo` is not asked; or redoing it would
    discard judgements.
    """
    built = progress.built(tx)
    at = progress.BUILDING.index(stage)
    missing = [name for name in progress.BUILDING[:at] if not built[name]]
    if missing and not (at and built[progress.BUILDING[at - 1]]):
        raise StageError(f"`{stage}` needs `{missing[0]}` first; run `fcpair {missing[0]}`")
    discarded = ", ".join(f"{built[name]:,} {MADE[name]}" for name in progress.BUILDING[at:] if built[name])
    if discarded and (n := decisions.n_judgements(tx)):
        raise StageError(
            f"`{stage}` cannot be done again: {n:,} judgements rest on what is there ({discarded}), and judgements are "
            "never discarded; `fcpair init --study OTHER` makes a new study"
        )
    if discarded and not redo:
        raise StageError(f"`{stage}` has been done; `--redo` would discard {discarded}")


def begin_building(tx: Tx, stage: str, *, redo: bool) -> None:
    """Make way for a building stage: check it as `check_building` does, and forget what is to be made anew."""
    check_building(tx, stage, redo=redo)
    progress.clear_from(tx, stage)


def need_labels(tx: Tx, stage: str) -> None:
    """Raise StageError unless the study has judgements."""
    if not decisions.n_judgements(tx):
        raise StageError(f"`{stage}` needs labels first; run `fcpair labels import` or `fcpair simulate`")


def _numbered(first: int | None, last: int | None) -> str:
    return "the grid is empty" if first is None else f"the pairs of the grid are numbered from {first} to {last}"


def texts_of(tx: Tx, pair_id: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two texts of a pair, HS first; raises UnknownIdError when the grid has no such pair."""
    found = grids.texts_of_pair(tx, pair_id) if abs(pair_id) <= LARGEST_ID else None
    if found is None:
        raise UnknownIdError(f"there is no pair {pair_id}; {_numbered(*grids.number_range(tx))}")
    return found

"""Known pairs of a grid: setting them from a table, which says of each the right answer and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fcpair.errors import Finding, InputError, StageError, reject
from fcpair.files.answers.known_items import read_known_pairs
from fcpair.known_pairs import PARAMS, Controls, KnownOptions, KnownPair, Qualification
from fcpair.records import Known, Round, RunRecord
from fcpair.stages.questions import Closed
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import GridContext, StudyContext, note_stage_run, options_as_done
from fcpair.steps.base.keywords import REQUIRED, takes_params
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.assignment import known_work, rounds
from fcpair.store.corpus import cells, grids, sides
from fcpair.store.oversight import build_progress, settings

KNOWN_PAIRS = "known_pairs"  # the settings that hold the pairs, by their use
NOWHERE = -1  # the id of no text
_OTHER_USE = {Known.QUALIFICATION: Known.CONTROLS, Known.CONTROLS: Known.QUALIFICATION}


@takes_params
def save_qualification(
    grid: GridContext,
    options: Qualification = REQUIRED,
    *,
    file: str | Path = REQUIRED,
    pass_mark: float = 0.75,
    pairs: int | None = None,
    seed: int = 0,
) -> RunRecord:
    """Set the known pairs that everybody answers before their shard; `assign` gives each person those that are not in
    it.

    Raises:
        InputError: all that is wrong with the table, such as a pair that is not in the grid or has two answers, or a
            pair that is a control; more `pairs` than it has.
        StageError: the grid has no pairs yet, they have been assigned, or its round is not one for known pairs.
    """
    return _save(grid, options)


@takes_params
def save_controls(
    grid: GridContext, options: Controls = REQUIRED, *, file: str | Path = REQUIRED, rate: float = 0.05, seed: int = 0
) -> RunRecord:
    """Set the known pairs that `assign` puts among the others of each shard; raises what `save_qualification` does."""
    return _save(grid, options)


def _save(grid: GridContext, options: KnownOptions) -> RunRecord:
    with grid._store.write() as tx:
        question = _check_settable(tx)
        known_pairs = _read_pairs(tx, options, question)
        if isinstance(options, Qualification) and (options.pairs or 0) > len(known_pairs):
            raise InputError(
                f"`pairs` is {options.pairs:,}, but {options.file} has {len(known_pairs):,} pairs; lower it, or add "
                "known pairs"
            )
        run = note_stage_run(tx, options, {"pairs": len(known_pairs)})
        settings.save_settings(tx, KNOWN_PAIRS, {options.stage: [list(one) for one in known_pairs]}, run.id)
        return run


def _check_settable(tx: Tx) -> Closed:
    """Return the question of the round that counts; raises StageError where known pairs cannot be set for it now."""
    n_built = build_progress.n_built(tx)
    if not n_built["pair"]:
        raise StageError("the grid has no pairs yet; run `fcpair pair`, then set those that are known")
    if n_built["assign"]:  # a calibration may come before or after
        raise StageError(
            "pairs have been assigned already, and known pairs are set before that; `fcpair pair --redo` takes the "
            "assignment back as long as nobody has answered"
        )
    round_ = rounds.primary(tx)
    question = closed_question(form_of(round_.form))
    if question is None or not _shows_single_pairs(round_):
        raise StageError(
            f"round `{round_.name}` cannot have known pairs; they are for rounds in which people answer one closed "
            "question on one pair after the other, without batches, an earlier round or one pair of each row"
        )
    return question


def _shows_single_pairs(round_: Round) -> bool:
    options = round_.options
    differs = options.shows_whole_rows or options.rests_on or options.batch or options.once_per_row
    return not (differs or options.models or options.keeps_sources_together)


def _read_pairs(tx: Tx, options: KnownOptions, question: Closed) -> list[KnownPair]:
    """The pairs of a table, which are all of the grid; raises InputError with everything that is wrong."""
    explained = isinstance(options, Qualification)
    items, lines = read_known_pairs(options.file, [choice.name for choice in question], explained=explained)
    row_ids, column_ids = (_ids_by_mention(tx, axis) for axis in cells.AXES)
    digest = digester(tx)

    def find_id(ids: Mapping[str, int], mention: str) -> int:
        return ids.get(digest(mention), ids.get(mention, NOWHERE))

    only_column = next(iter(column_ids.values())) if len(set(column_ids.values())) == 1 else NOWHERE
    known_pairs = [
        KnownPair(
            find_id(row_ids, item.row),
            find_id(column_ids, item.column) if item.column else only_column,
            item.answer,
            item.explanation,
        )
        for item in items
    ]
    reject(options.file, list(_findings(tx, options, known_pairs, lines)))
    return known_pairs


def _ids_by_mention(tx: Tx, axis: sides.Axis) -> dict[str, int]:
    """The texts of a side by what a table may call them: their digest, or their id in digits."""
    digest, drawn = digester(tx), set(sides.text_ids(tx, axis, drawn=True))
    bodies = [(text_id, body) for text_id, body in sides.bodies(tx, axis) if text_id in drawn]
    return {str(text_id): text_id for text_id, _ in bodies} | {digest(body): text_id for text_id, body in bodies}


def _findings(
    tx: Tx, options: KnownOptions, known_pairs: Sequence[KnownPair], lines: Sequence[int]
) -> Iterator[Finding]:
    place, first_lines = str(options.file), dict[tuple[int, int], int]()
    use = Known(options.stage)
    in_grid = known_work.cell_ids(tx, [one[:2] for one in known_pairs])
    used_otherwise = {one[:2] for one in known_pairs_of(tx, _OTHER_USE[use])}
    for pair, line in zip((one[:2] for one in known_pairs), lines, strict=True):
        if pair not in in_grid:
            yield Finding(place, line, "this pair is not in the grid, so nobody can be asked it")
        elif first_lines.setdefault(pair, line) != line:
            yield Finding(place, line, f"this pair has a known answer in line {first_lines[pair]} already")
        elif pair in used_otherwise:
            yield Finding(place, line, f"this pair is among those of [{_OTHER_USE[use]}] already; use each for one")


def known_pairs_of(tx: Tx, use: Known) -> list[KnownPair]:
    """The known pairs of the grid for a use; empty where none were set."""
    return [KnownPair(*saved) for saved in settings.of_stage(tx, KNOWN_PAIRS).get(use, [])]


def has_control_pairs(study: StudyContext) -> bool:
    """Whether any grid of the study has control pairs, of which consent says that there are some."""
    with study._store.read() as tx:
        return any(known_pairs_of(tx, Known.CONTROLS) for _ in grids.for_each_grid(tx))


def known_options(tx: Tx, use: Known) -> Any:
    """The options with which known pairs were set for a use."""
    return options_as_done(tx, PARAMS[use])


def has_known_pairs(tx: Tx) -> bool:
    """Whether the grid has known pairs for any use."""
    return any(known_pairs_of(tx, use) for use in Known)

"""Dealing pairs to annotators, and the sheets on which they answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import InputError, StageError
from fcpair.label import VERDICTS, answer_words
from fcpair.params import Annotate, Assign, apart, as_params
from fcpair.records import Person, Role, Round, RunRecord, Status
from fcpair.sheets import Blank, Form, write_sheet
from fcpair.steps import access, eligible, staff
from fcpair.steps.ground import begin_building, keep, note, note_run, scheme_of
from fcpair.steps.sheets import to_fill_in, why_kept
from fcpair.store import Store, grids, work

if TYPE_CHECKING:
    import pandas as pd

SHEET_COLUMNS = ("annotator", "position", "pair", "hs_id", "cn_id", "hs", "cn", "label", "note")


def assign(store: Store, options: Assign, *, redo: bool = False) -> RunRecord:
    """Deal the grid to annotators in overlapping shards."""
    import numpy as np
    import pandas as pd

    from fcpair.assign import deal, overlap_counts, shard_order

    with store.write() as tx:
        begin_building(tx, "assign", redo=redo)
        annotators = staff.active(tx, Role.ANNOTATOR, options.annotators)
        pairs = grids.pairs(tx)
        hs, cn = pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy()
        groups = _groups(options.groups, annotators)
        dealt = deal(hs, cn, len(annotators), options.overlap, groups, seed=options.seed)
        ids = np.array([one.id for one in annotators])
        assignments = pd.DataFrame(
            {
                "pair_id": pairs["pair_id"].to_numpy()[dealt.pair],
                "person_id": ids[dealt.annotator],
                "position": shard_order(dealt.annotator, hs[dealt.pair], options.seed, options.order),
                "status": Status.OPEN.value,
            }
        )
        work.add_assignments(tx, assignments, Round.LABEL)
        if access.withdraw_opted_out(tx, ids.tolist()):
            staff.refill(tx, options.seed)
        loads = np.bincount(dealt.annotator, minlength=len(annotators))
        labels = {str(n): count for n, count in overlap_counts(len(pairs), options.overlap).items() if count}
        counts = {
            "annotators": len(annotators),
            "assignments": len(assignments),
            "load_min": int(loads.min()),
            "load_max": int(loads.max()),
            "pairs_by_labels": labels,
        }
        run = note_run(tx, options.stage, as_params(options), counts)
        keep(tx, replace(options, annotators=len(annotators)), run)
        return run


def note_annotate(store: Store, options: Annotate) -> RunRecord:
    """Make this what the people who answer in the browser are told and asked."""
    with store.write() as tx:
        return note(tx, options, {"questions": len(options.demographics)})


def _groups(groups: tuple[tuple[str, ...], ...], annotators: list[Person]) -> list[tuple[int, ...]]:
    at = {one.name: i for i, one in enumerate(annotators)}
    unknown = [name for group in groups for name in group if name not in at]
    if unknown:
        apart(unknown, at)
        raise InputError(f"`{unknown[0]}` in a group is no active annotator; there are {', '.join(at)}")
    return [tuple(at[name] for name in group) for group in groups]


def write_sheets(store: Store, folder: str | Path, form: Form = "csv") -> dict[str, int]:
    """Write each annotator's open shard as a sheet to be filled in; returns the rows of each file.

    A file that holds answers or notes, or is no such sheet, is kept, and not in what is returned.
    """
    access.Access(store).spare()
    with store.read() as tx:
        blank = to_fill_in(tx, "label", answer_words(scheme_of(tx)))
        rows = work.open_work(tx, Round.LABEL).rename(columns={"pair_id": "pair"})
        assigned = not work.counts(tx).empty
    if rows.empty:
        raise StageError("no label is open" if assigned else "no pairs have been dealt; run `fcpair assign`")
    return _write_by_person(rows.assign(label="", note="")[list(SHEET_COLUMNS)], Round.LABEL, folder, form, blank)


def write_validation_sheets(store: Store, folder: str | Path, form: Form = "csv") -> dict[str, int]:
    """Write each validator's open pairs as a sheet to be filled in; returns the rows of each file.

    The column `label` holds the adjudicated label; a blind round has `own_label` to be filled in, and no label. Where
    open pairs are of both kinds, those of the present one come first, and the others when these are done. A file that
    holds answers or notes, or is no such sheet, is kept, and not in what is returned.
    """
    from fcpair.steps.check import is_blind, label_names

    access.Access(store).spare()
    with store.read() as tx:
        rows = work.open_work(tx, Round.VALIDATE).rename(columns={"pair_id": "pair", "annotator": "validator"})
        if rows.empty:
            dealt = not work.assignments(tx, Round.VALIDATE).empty
            raise StageError(f"no verdict is open; `fcpair validate assign{' --more' * dealt}` deals pairs")
        rows = rows[~rows["pair"].isin(eligible.not_due_to_check(tx, rows["pair"].tolist()))]
        if rows.empty:
            raise StageError("no verdict is due: all that are open wait until all labels of their pairs are in")
        columns = ["validator", "position", "pair", "hs", "cn"]
        blind = is_blind(tx) if (rows["blind"] == is_blind(tx)).any() else not is_blind(tx)
        rows = rows[rows["blind"] == blind].copy()
        if blind:
            scheme, answer = scheme_of(tx), "own_label"
            sheets = rows.assign(own_label="", note="")[[*columns, "own_label", "note"]]
        else:
            scheme, answer = VERDICTS, "verdict"
            rows["label"] = rows["pair"].map(label_names(tx))
            sheets = rows.assign(verdict="", note="")[[*columns, "label", "verdict", "note"]]
        blank = to_fill_in(tx, answer, answer_words(scheme))
    return _write_by_person(sheets, Round.VALIDATE, folder, form, blank)


def _write_by_person(rows: pd.DataFrame, round_: Round, folder: str | Path, form: Form, blank: Blank) -> dict[str, int]:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, shard in rows.groupby(staff.ROLE_IN[round_].value, sort=False):
        path = folder / f"{name}.{form}"
        if not (path.exists() and why_kept(path, round_)):
            write_sheet(shard, path, blank)
            written[str(name)] = len(shard)
    return written

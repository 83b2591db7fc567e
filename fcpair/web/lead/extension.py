"""The lead's page on which a grid takes further HS and CNs: what would be added is shown first."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Response

from fcpair.errors import InputError, StageError, at_fault
from fcpair.lazy import pd
from fcpair.params import Extend
from fcpair.records import RunRecord
from fcpair.web.current_grid import GRID
from fcpair.web.form import Text, Ticked, fields, parse_number
from fcpair.web.visits import REFUSALS, LeadVisit, Visit

router = APIRouter(include_in_schema=False)
EXTEND = f"{GRID.path}/extend"
RUN_COLUMNS = ("hs_id", "Q0", "cn_id", "rank", "score", "tag")
LINES = ("hs_list", "cn_list", "run")  # fields with a text, or what a run says, on each line


@router.get(EXTEND)
def show(visit: LeadVisit, run: int = 0) -> Response:
    """Show the blocks of the grid, and the form by which it takes more."""
    return _show(visit, {}, run)


def _show(visit: Visit, typed: dict[str, str], run: int = 0, would: RunRecord | None = None) -> Response:
    here, measured = visit.here, None
    with suppress(StageError):  # while there are no labels
        measured = None if here.is_planned else here.grid.blocks()
    values = {"typed": typed, "would": would, "measured": measured, "size": here.monitor.size()}
    return visit.lead_page("lead_extend.html.j2", GRID, run, **values)


@router.post(EXTEND)
def extend(visit: LeadVisit, confirmed: Text = "", new_texts: Ticked = False) -> Response:
    """Add what was typed, once what that brings has been shown and confirmed."""
    typed, grid = fields(visit.request), visit.here.grid
    try:
        # What was typed: a number of HS to draw, texts line by line, and the lines of a run.
        number, seed = (parse_number(typed.get(name, "")) for name in ("hs", "seed"))
        if typed.get("hs", "").strip() and not number:
            with at_fault("hs"):
                raise InputError.say("`%(text)s` is not a number; enter a whole number, 1 or more", text=typed["hs"])
        lines_of = {name: [line.strip() for line in typed.get(name, "").splitlines() if line.strip()] for name in LINES}
        tables: dict[str, Any] = {side: pd.DataFrame({side: lines_of[f"{side}_list"]}) for side in ("hs", "cn")}
        hs_list, cn_list = (table if len(table) else None for table in tables.values())
        lines = [line.split() for line in lines_of["run"]]
        for at, cells in enumerate(lines, 1):
            if len(cells) != len(RUN_COLUMNS):
                with at_fault("run"):
                    raise InputError.say(
                        "line %(line)s of the run has %(n)s columns; expected six, as in `q1 Q0 d7 1 0.93 bm25`",
                        line=at,
                        n=len(cells),
                    )
        run: Any = pd.DataFrame(lines, columns=RUN_COLUMNS)[["hs_id", "cn_id", "rank", "score"]]
        options = Extend(
            hs=number,
            hs_list=hs_list,
            cn_list=cn_list,
            runs=(run,) if lines else (),
            new_texts=new_texts and bool(lines_of["hs_list"] or lines_of["cn_list"]),
            seed=seed or 0,
        )
        would = grid.extend(options, dry_run=True)
    except REFUSALS as refusal:
        return _show(visit.refused(refusal), typed)
    if confirmed != str(would.counts["pairs"]):
        return _show(visit, typed, would=would)
    return visit.act(lambda: grid.extend(options), EXTEND)

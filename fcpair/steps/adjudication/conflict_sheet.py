"""A sheet of the conflicts that wait for an adjudicator, for those who decide without a browser or a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcpair.errors import InputError, StageError
from fcpair.files.answers.sheets import SHEET_FORMATS, write_sheet
from fcpair.params import CaseRanking
from fcpair.stages.questions.labels import decision_words
from fcpair.steps.adjudication.adjudicate import as_lines, shown_answers
from fcpair.steps.adjudication.doubts import rank_cases
from fcpair.steps.answers.sheets import label_blank
from fcpair.steps.base.context import GridContext, scheme_of
from fcpair.steps.rules import permissions
from fcpair.store import Tx
from fcpair.store.corpus.grids import to_public_number

if TYPE_CHECKING:
    import pandas as pd


def write_conflicts(grid: GridContext, path: str | Path, *, by: str, order: CaseRanking = "row") -> int:
    """Write the pairs that wait and that `by` may decide as a sheet to be filled in; returns how many they are.

    It has `adjudicator`, `pair`, `hs`, `cn`, `labels` (all of the pair's with their notes, without names), and `label`
    and `note` to be filled in. `import_outcomes` reads it back. The pairs are in the order of rows, or of `doubt`.

    Raises:
        InputError: something is at `path`, its suffix is none of .csv and .xlsx, or `by` is no adjudicator; or there
            is no doubt by which to order, as `Grid.agenda` says.
        StageError: no pair waits for this person.
    """
    path = Path(path)
    _check_target(path)
    with grid._store.read() as tx:
        pair_ids = rank_cases(tx, permissions.agenda(tx, permissions.find_decider(tx, by)).pairs, order)
        if not pair_ids:
            raise StageError(f"no pair that {by} may decide is waiting; `fcpair status` shows what is open")
        rows = _sheet_rows(tx, pair_ids, by)
        blank = label_blank(tx, "label", decision_words(scheme_of(tx)))
    write_sheet(rows, path, blank)
    return len(rows)


def _check_target(path: Path) -> None:
    if path.suffix not in {f".{form}" for form in SHEET_FORMATS}:
        raise InputError(f"{path}: expected a name that ends in {' or '.join(f'.{form}' for form in SHEET_FORMATS)}")
    if path.exists():
        raise InputError(f"{path} already exists and may contain decisions; name another file")


def _sheet_rows(tx: Tx, cell_ids: Sequence[int], by: str) -> pd.DataFrame:
    import pandas as pd

    answers_by_pair = shown_answers(tx, cell_ids)
    return pd.DataFrame([_sheet_row(tx, cell_id, by, answers_by_pair.get(cell_id, ())) for cell_id in cell_ids])


def _sheet_row(tx: Tx, cell_id: int, by: str, answers: Sequence[tuple[str, str]]) -> dict[str, Any]:
    hs, cn = permissions.texts_to_judge(tx, cell_id)
    texts = {"hs": hs["body"], "cn": cn["body"], "labels": as_lines(answers)}
    return {"adjudicator": by, "pair": to_public_number(cell_id), **texts, "label": "", "note": ""}

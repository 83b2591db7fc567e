"""Labels and verdicts from files, and labels to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import InputError
from fcpair.files.answers.answer_files import Incoming, read_answers
from fcpair.files.tables.tabular import read_table
from fcpair.records import RunRecord
from fcpair.stages.questions import NO_CODE, SKIP, Closed
from fcpair.stages.questions.labels import label_reader
from fcpair.steps.answers import answer_import
from fcpair.steps.assignment import validate
from fcpair.steps.base.context import OnGrid, scheme_of
from fcpair.steps.rules import permissions
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import number_of

if TYPE_CHECKING:
    import pandas as pd

OWN, VERDICT = "own_label", "verdict"


def import_labels(grid: OnGrid, path: str | Path, *, supersede: bool = False) -> RunRecord:
    """Record the labels of a file: filled-in sheets, or a long table made elsewhere.

    `supersede` lets a different label replace an earlier one as the current one.
    """
    with grid.store.write() as tx:
        given = read_answers(path, label_reader(scheme_of(tx)), person="annotator", answer="label")
        round_ = rounds.counting(tx)
        answer_import.place(tx, given, round_)
        answer_import.compare(tx, given, round_, supersede=supersede)
        return answer_import.enter(tx, given, round_, supersede=supersede)


def import_verdicts(grid: OnGrid, path: str | Path, *, supersede: bool = False) -> RunRecord:
    """Record the verdicts of a file: filled-in sheets, or a long table made elsewhere.

    `supersede` lets a different verdict replace an earlier one as the current one.
    """
    with grid.store.write() as tx:
        blind = _is_blind(tx, path)
        read_word = label_reader(scheme_of(tx)) if blind else validate.read_verdict
        answer, shown = (OWN, "") if blind else (VERDICT, "label")
        given = read_answers(path, read_word, person="validator", answer=answer, shown=shown)
        round_ = rounds.checking(tx)
        answer_import.place(tx, given, round_)
        _check_kind(tx, given, blind=blind)
        given.rows = validate.with_decisions(tx, given.rows, blind=blind)
        answer_import.compare(tx, given, round_, supersede=supersede)
        _refuse_what_is_not_due(tx, given)
        _refuse_what_is_about_another_label(tx, given)
        return answer_import.enter(tx, given, round_, supersede=supersede)


def _is_blind(tx: Tx, path: str | Path) -> bool:
    """Whether a file is to hold labels of the validators' own: as was dealt; its columns say it where both were."""
    kinds = assignments.kinds(tx) or {validate.is_blind(tx)}
    return kinds.pop() if len(kinds) == 1 else OWN in read_table(path).columns


def _check_kind(tx: Tx, given: Incoming, *, blind: bool) -> None:
    """Add a finding where a pair was dealt blind and the file has verdicts, or the other way round."""
    dealt = assignments.assignments(tx, rounds.checking(tx)).set_index("id")["blind"]
    rows = given.rows
    other = (rows["assignment_id"].map(dealt) == (not blind)).to_numpy()
    was, column = ("with its label in sight", VERDICT) if blind else ("blind", OWN)
    messages = (f"pair {pair} was dealt {was}; give `{column}` in a file of its own" for pair in rows["pair"])
    given.complain(other, messages, cause=f"these pairs were dealt {was}; give `{column}` in a file of their own")


def _refuse_what_is_not_due(tx: Tx, given: Incoming) -> None:
    """Add a finding where somebody has still to label the pair of a new verdict."""
    rows = given.rows
    why = permissions.not_due_to_check(tx, rows["cell_id"][rows["cell_id"] != answer_import.NOBODY].tolist())
    early = (rows["cell_id"].isin(why) & rows["is_new"]).to_numpy() & ~given.faulty
    messages = (str(why.get(pair, "")) for pair in rows["cell_id"].tolist())
    cause = "these pairs are still being labelled; they can be checked when all their labels are in"
    given.complain(early, messages, cause=cause)


def _refuse_what_is_about_another_label(tx: Tx, given: Incoming) -> None:
    """Add a finding where the pair of a new verdict has another label than the sheet shows, or none."""
    rows = given.rows
    now, question = rows["cell_id"].map(validate.label_names(tx)).fillna(""), scheme_of(tx)
    shown = rows["shown"].map(lambda cell: _as_named(question, str(cell)))
    is_new = (rows["is_new"] & (rows["code"] != NO_CODE)).to_numpy() & ~given.faulty
    other = ((shown != "") & (shown != now)).to_numpy() & is_new
    hint = f"since this sheet was written; leave its `{VERDICT}` empty, and give it on a new sheet"
    messages = (f"the label of pair {pair} has changed {hint}" for pair in rows["pair"])
    given.complain(other, messages, cause=f"the labels of these pairs have changed {hint}")
    none = (now == "").to_numpy() & is_new & ~other
    said = "no adjudicated label, so there is nothing to check"
    messages = (f"pair {pair} has {said}" for pair in rows["pair"])
    given.complain(none, messages, cause=f"these pairs have {said}")


def _as_named(question: Closed, cell: str) -> str:
    """The name of the label that a cell shows, which another program may have written in its own way."""
    try:
        return question.name(question.read(cell)) if cell else ""
    except InputError:
        return cell


def export_labels(grid: OnGrid) -> pd.DataFrame:
    """Every annotator's current answer of each pair, skips included.

    Columns: `pair`, `hs_id`, `cn_id`, `annotator`, `label`, `seconds`, `time`, `note`, `origin`.
    """
    with grid.store.read() as tx:
        names = {choice.code: choice.name for choice in scheme_of(tx)}
        answers = judgements.all_answers(tx, rounds.counting(tx))
        sides = cells.by_id(tx, answers["cell_id"]).set_index("cell_id")
    label = answers["code"].astype("Int64").map(names).astype(object)
    answers["label"] = label.where(answers["skipped"] == 0, SKIP)
    answers = answers.join(sides, on="cell_id").assign(pair=number_of(answers["cell_id"]), time=answers["at"])
    columns = ["pair", "hs_id", "cn_id", "annotator", "label", "seconds", "time", "note", "origin"]
    return answers[columns]

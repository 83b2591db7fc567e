"""Labels and verdicts from files, and labels to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import InputError
from fcpair.files.answers.answer_files import PAIR_COLUMNS, ImportedAnswers, read_answers
from fcpair.files.tables.tabular import read_table
from fcpair.records import RunRecord
from fcpair.stages.questions import NO_CODE, SKIP, Closed
from fcpair.stages.questions.labels import label_reader
from fcpair.steps.answers import answer_import, file_cells
from fcpair.steps.assignment import validate
from fcpair.steps.base.context import GridContext, scheme_of
from fcpair.steps.rules import permissions
from fcpair.steps.rules.wording import sheet_headings
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import to_public_number

if TYPE_CHECKING:
    import pandas as pd

OWN_LABEL, VERDICT = "own_label", "verdict"


def import_labels(grid: GridContext, path: str | Path, *, supersede: bool = False) -> RunRecord:
    """Record the labels of a file: filled-in sheets, or a long table made elsewhere.

    `supersede` lets a different label replace an earlier one as the current one.
    """
    with grid._store.write() as tx:
        incoming = read_answers(
            path,
            label_reader(scheme_of(tx)),
            person="annotator",
            answer="label",
            headings=sheet_headings(tx, PAIR_COLUMNS),
        )
        round_ = rounds.with_known_pairs(tx, rounds.primary(tx))
        answer_import.identify_rows(tx, incoming, round_)
        answer_import.compare_answers(tx, incoming, round_, supersede=supersede)
        return answer_import.record_answers(tx, incoming, round_, supersede=supersede)


def import_verdicts(grid: GridContext, path: str | Path, *, supersede: bool = False) -> RunRecord:
    """Record the verdicts of a file: filled-in sheets, or a long table made elsewhere.

    `supersede` lets a different verdict replace an earlier one as the current one.
    """
    with grid._store.write() as tx:
        blind = _is_blind(tx, path)
        read_word = label_reader(scheme_of(tx)) if blind else validate.read_verdict
        answer, shown = (OWN_LABEL, "") if blind else (VERDICT, "label")
        incoming = read_answers(
            path,
            read_word,
            person="validator",
            answer=answer,
            shown=shown,
            headings=sheet_headings(tx, PAIR_COLUMNS),
        )
        round_ = rounds.validation(tx)
        answer_import.identify_rows(tx, incoming, round_)
        _check_blindness(tx, incoming, blind=blind)
        incoming.rows = validate.with_decisions(tx, incoming.rows, blind=blind)
        answer_import.compare_answers(tx, incoming, round_, supersede=supersede)
        _refuse_not_due(tx, incoming)
        _refuse_other_label(tx, incoming)
        return answer_import.record_answers(tx, incoming, round_, supersede=supersede)


def _is_blind(tx: Tx, path: str | Path) -> bool:
    """Whether a file is to hold labels of the validators' own: as was dealt; its columns say it where both were."""
    kinds = assignments.blind_kinds(tx) or {validate.is_blind(tx)}
    return kinds.pop() if len(kinds) == 1 else OWN_LABEL in read_table(path).columns


def _check_blindness(tx: Tx, incoming: ImportedAnswers, *, blind: bool) -> None:
    """Add a finding where a pair was dealt blind and the file has verdicts, or the other way round."""
    is_blind_by_id = assignments.assignments(tx, rounds.validation(tx)).set_index("id")["blind"]
    rows = incoming.rows
    has_other_kind = (rows["assignment_id"].map(is_blind_by_id) == (not blind)).to_numpy()
    kind, column = ("with its label shown", VERDICT) if blind else ("blind", OWN_LABEL)
    messages = (f"pair {pair} was assigned {kind}; give `{column}` in a separate file" for pair in rows["pair"])
    incoming.add_findings(
        has_other_kind, messages, cause=f"these pairs were assigned {kind}; give `{column}` in a separate file"
    )


def _refuse_not_due(tx: Tx, incoming: ImportedAnswers) -> None:
    """Add a finding where somebody has still to label the pair of a new verdict."""
    rows = incoming.rows
    reasons = permissions.not_due_reasons(tx, rows["cell_id"][rows["cell_id"] != file_cells.NOBODY].tolist())
    is_early = (rows["cell_id"].isin(reasons) & rows["is_new"]).to_numpy() & ~incoming.has_finding
    messages = (str(reasons.get(pair, "")) for pair in rows["cell_id"].tolist())
    cause = "these pairs are still being labelled; they can be checked when all their labels are in"
    incoming.add_findings(is_early, messages, cause=cause)


def _refuse_other_label(tx: Tx, incoming: ImportedAnswers) -> None:
    """Add a finding where the pair of a new verdict has another label than the sheet shows, or none."""
    rows = incoming.rows
    current_labels, question = rows["cell_id"].map(validate.label_names(tx)).fillna(""), scheme_of(tx)
    shown_labels = rows["shown"].map(lambda cell: _label_name(question, str(cell)))
    is_new = (rows["is_new"] & (rows["code"] != NO_CODE)).to_numpy() & ~incoming.has_finding
    has_other_label = ((shown_labels != "") & (shown_labels != current_labels)).to_numpy() & is_new
    hint = f"since this sheet was written; leave its `{VERDICT}` empty, and give it on a new sheet"
    messages = (f"the label of pair {pair} has changed {hint}" for pair in rows["pair"])
    incoming.add_findings(has_other_label, messages, cause=f"the labels of these pairs have changed {hint}")
    has_no_label = (current_labels == "").to_numpy() & is_new & ~has_other_label
    clause = "no adjudicated label, so there is nothing to check"
    messages = (f"pair {pair} has {clause}" for pair in rows["pair"])
    incoming.add_findings(has_no_label, messages, cause=f"these pairs have {clause}")


def _label_name(question: Closed, cell: str) -> str:
    """The name of the label that a cell shows, which another program may have written in its own way."""
    try:
        return question.name(question.read(cell)) if cell else ""
    except InputError:
        return cell


def export_labels(grid: GridContext, *, known: bool = False) -> pd.DataFrame:
    """Every annotator's current answer of each pair, skips included.

    Columns: `pair`, `hs_id`, `cn_id`, `annotator`, `label`, `seconds`, `time`, `note`, `origin`. With `known`, answers
    to known pairs come behind the others, marked in a column `known`: qualification or controls.
    """
    import pandas as pd

    with grid._store.read() as tx:
        names = {choice.code: choice.name for choice in scheme_of(tx)}
        answer_rounds = [rounds.primary(tx), *(rounds.of_known_pairs(tx, rounds.primary(tx)) if known else [])]
        answers = pd.concat(
            [judgements.all_answers(tx, one).assign(known=one.options.known) for one in answer_rounds],
            ignore_index=True,
        )
        sides = cells.by_id(tx, answers["cell_id"]).set_index("cell_id")
    label = answers["code"].astype("Int64").map(names).astype(object)
    answers["label"] = label.where(answers["skipped"] == 0, SKIP)
    answers = answers.join(sides, on="cell_id").assign(pair=to_public_number(answers["cell_id"]), time=answers["at"])
    columns = ["pair", "hs_id", "cn_id", "annotator", "label", "seconds", "time", "note", "origin"]
    return answers[[*columns, "known"] if known else columns]

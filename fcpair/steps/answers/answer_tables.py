"""Answers of a round as a table with a column for each question, out of a study and into it; decisions out of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import CELL_COLUMNS, PAIR_COLUMNS, CellColumns, ImportedAnswers, read_forms
from fcpair.files.corpus.corpus import with_own_ids
from fcpair.files.tables.tabular import Source, read_table
from fcpair.lazy import pd
from fcpair.params import Ids
from fcpair.records import Known, Role, Round, RunRecord
from fcpair.sentences import join, mark, say
from fcpair.stages.answers.curation import TextChange
from fcpair.stages.assignment.plan import CHANGE_COLUMNS
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.stages.questions import IRRECONCILABLE, Form, text_question
from fcpair.steps.answers import answer_import, curation
from fcpair.steps.answers.answer_import import ANSWERED_AT
from fcpair.steps.base.answer_values import answer_numbers, form_of, to_client
from fcpair.steps.base.calibration_state import is_closed
from fcpair.steps.base.context import GridContext, is_planned, need_cells, need_labels, scheme_of
from fcpair.steps.rules import text_checks, wording
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import authorship, judgements, refused_texts
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids, sides

EXTRA_COLUMNS = ("seconds", "time", "note", "origin")
ORIGINAL = "original"  # the column of a sheet that shows a text to be edited


def export_answers(
    grid: GridContext, round: str | None = None, *, known: bool = False, ids: Ids | None = None
) -> pd.DataFrame:
    """Everybody's current answer in a round, by cell and person; without a name, in the round that counts.

    Columns: `cell` (its number in the grid), `row` and `column` (their texts), `by`, `skipped` (bool), one for each
    question (as people read the answer; empty for a skip), `seconds`, `time`, `note`, `origin`, and `answered_at`
    if any came later than it was given (empty where it came at once). Where the rows are what was written, also
    `answered` (the text that the row answers), `written_as` (the column that it was written for) and `source` (the
    name of a model, or `people`; of an edited text that of the original); and `source` and `group`, where the metadata
    of the rows, or of what they answer, have them. Of a round of models also `marks`.

    A round that edits has four more behind the questions: `original` (the text that was given), `act` (`accepted`,
    `edited` or `rejected`), `words_changed` and `characters_changed` (Levenshtein distances; missing for what was
    rejected). They come of comparing with the text as it is now, and are empty for a skip, or where it was taken back.

    With `known`, answers to known pairs come behind the others, marked in a column `known`: qualification or controls.
    `ids` is as for `Grid.tier`. Raises UnknownIdError for no such round.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        if not known:
            return answers_table(tx, round_, ids)
        answer_rounds = (round_, *rounds.of_known_pairs(tx, round_))
        tables = [answers_table(tx, answered, ids).assign(known=answered.options.known) for answered in answer_rounds]
        return pd.concat(tables, ignore_index=True)


def export_texts(grid: GridContext, round: str | None = None) -> pd.DataFrame:
    """Export what was written or answered in a round, as `export_answers` does but without skips, for looking at texts.

    Behind `row` is `row_number`, from 1, since several rows may have the same words. The column of a text that was
    rejected is empty. Raises UnknownIdError for no such round.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        table = answers_table(tx, round_)
        pairs = cells.by_id(tx, grids.cell_range(tx).first + table["cell"])
        row_number = cells.places_of(tx, pairs) // cells.shape(tx)[1] + 1
    row_numbers = pd.Series(row_number, grids.to_public_number(pairs["cell_id"]))
    table.insert(list(table.columns).index("row") + 1, "row_number", table["cell"].map(row_numbers))
    table = table[~table["skipped"]].reset_index(drop=True)
    if edits := form_of(round_.form).edited_question:
        table.loc[table["act"] == text_question.REJECTED, edits[0]] = ""
    return table


def export_refusals(grid: GridContext, round: str | None = None) -> pd.DataFrame:
    """Export what checks refused of texts sent in a round, oldest first; without a name, in the round that counts.

    Columns: `cell`, `by`, `rule`, `version` (of the rule), `score` (a number of words, a probability or a similarity;
    NaN where a rule has none), `text` (empty unless its writer lets it be kept), `time`. Raises UnknownIdError for no
    such round.
    """
    with grid._store.read() as tx:
        rows = refused_texts.table(tx, rounds.by_name(tx, round))
    rows.insert(0, "cell", grids.to_public_number(rows.pop("cell_id")))
    return rows


def export_replies(grid: GridContext, round: str) -> pd.DataFrame:
    """Every reply that models ever gave in a round, verbatim, oldest first; what was asked again has several.

    Columns: `cell`, `by`, `run` (its number), `reply`, `marks` (separated by semicolons). Raises UnknownIdError for no
    such round.
    """
    with grid._store.read() as tx:
        return replies_table(tx, rounds.by_name(tx, round))


def replies_table(tx: Tx, round_: Round) -> pd.DataFrame:
    """Every reply of models in a round, as `export_replies` has it."""
    rows = refused_texts.reply_table(tx, round_)
    rows.insert(0, "cell", grids.to_public_number(rows.pop("cell_id")))
    return rows.assign(marks=["; ".join(marks) for marks in rows["marks"]])


def answers_table(tx: Tx, round_: Round, ids: Ids | None = None) -> pd.DataFrame:
    """Everybody's current answer in a round, as `export_answers` has it."""
    forms = [form_of(rounds.form(tx, form_id)) for form_id in round_.ids]
    answers = judgements.current_answers(
        tx, round_, "cell_id", "annotator", "value", "skipped", "seconds", "note", "origin", "at", ANSWERED_AT
    )
    bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
    located = answers.join(cells.by_id(tx, answers["cell_id"]).set_index("cell_id"), on="cell_id")
    # a round that checks has another form where it is blind
    form_by_names = {frozenset(name for name, _ in form.questions): form for form in reversed(forms)}
    form_by_value = {value: form_by_names[frozenset(json.loads(value))] for value in answers["value"].dropna().unique()}
    answers_by_value = {value: form.names(form.load(value)) for value, form in form_by_value.items()}
    questions = dict.fromkeys(name for form in forms for name, _ in form.questions)
    columns: dict[str, Any] = {
        "cell": grids.to_public_number(answers["cell_id"]),
        "row": located["hs_id"].map(bodies),
        "column": located["cn_id"].map(bodies),
    }
    answered: dict[str, Any] = {
        name: [answers_by_value.get(value, {}).get(name, "") for value in answers["value"]] for name in questions
    }
    if round_.role is Role.MODEL and (marks_by_answer := refused_texts.reply_marks(tx, round_)):
        pairs = zip(answers["cell_id"], answers["annotator"], strict=True)
        answered["marks"] = ["; ".join(marks_by_answer.get(pair, ())) for pair in pairs]
    about_rows = _row_columns(tx, located["hs_id"].tolist())
    columns |= {name: values for name, values in about_rows.items() if name not in answered}
    columns |= {"by": answers["annotator"], "skipped": answers["skipped"], **answered}
    if round_.options.edits:
        originals, form = authorship.originals(tx, round_), form_of(round_.form)
        changes = [change or TextChange(None) for change in curation.text_changes(form, answers, originals)]
        columns[ORIGINAL] = [originals.get(cell, "") for cell in answers["cell_id"]]
        distances = ([getattr(change, name) for change in changes] for name in ("words", "characters"))
        counts = (pd.Series(values, index=answers.index, dtype="Int64") for values in distances)
        acts = [str(change.act or "") for change in changes]
        columns |= dict(zip(CHANGE_COLUMNS, (acts, *counts), strict=True))
    answers = answers.rename(columns={"at": "time"})
    late = [name for name in answer_import.late_column(answers) if name not in columns]  # as a question may be called
    columns |= {name: answers[name] for name in (*EXTRA_COLUMNS, *late)}
    table, texts = pd.DataFrame(columns, index=answers.index), cells.texts_of_grid(tx)
    return with_own_ids(table, texts, CELL_COLUMNS.sides, numbers=located, ids=ids)


def _row_columns(tx: Tx, row_ids: list[int]) -> dict[str, list[str]]:
    """Facts about the text of each row, beside the text, by column; columns that are empty are left out."""
    meta = cells.texts_of_grid(tx).set_index("text_id")["meta"]
    origins = authorship.origins_of(tx, sorted(set(row_ids))) if rounds.WRITTEN in grids.side_kinds(tx) else {}
    columns = defaultdict[str, list[str]](list)
    for row_id in row_ids:
        origin, about = origins.get(row_id), meta[row_id]
        columns["answered"].append(origin.answered if origin else "")
        columns["written_as"].append(origin.written_as if origin else "")
        columns["source"].append(origin.source if origin else str(about.get("source", "")))
        columns["group"].append(str({**(origin.meta if origin else {}), **about}.get("group", "")))
    return {name: values for name, values in columns.items() if any(values)}


def round_for_files(tx: Tx, grid: str, name: str | None) -> Round:
    """The round, without a name the one that counts, whose answers people can give in a file; else StageError."""
    round_ = rounds.by_name(tx, name)
    if round_.role is Role.MODEL:
        raise StageError.say(
            "round `%(round)s` is answered by models; `fcpair generate %(round)s --grid %(grid)s` asks them",
            round=round_.name,
            grid=grid,
        )
    if round_.checks is not None:
        raise StageError.say("verdicts have their own files; see `fcpair validate sheets` and `fcpair validate import`")
    return round_


def cells_not_due(tx: Tx, round_: Round, cell_ids: Iterable[int]) -> set[int]:
    """Those of these cells that have no answer in the round on which this one rests, or no text, and so wait for it."""
    return set(cell_ids) - authorship.cells_answered_before(tx, round_) if round_.options.rests_on else set()


def import_answers(grid: GridContext, path: Source, round: str | None = None, *, supersede: bool = False) -> RunRecord:
    """Record the answers of a file or a frame in a round, the one that counts if none is named: filled-in sheets, or a
    long table as `export_answers` has it.

    `supersede` lets a different answer replace an earlier one as the current one. Raises UnknownIdError for no such
    round, StageError for one that models answer or that checks what was decided.
    """
    with grid._store.read() as tx:
        round_ = round_for_files(tx, grid.grid.name, round)
        form = form_of(round_.form)
        headings = wording.sheet_headings(tx, CELL_COLUMNS)
        incoming = read_forms(path, form, shown=ORIGINAL if round_.options.edits else "", headings=headings)
        names = [name for name, _ in form.questions]
        column_texts = {fold_name(text) for _, text in sides.bodies(tx, "column")} - {*map(fold_name, names)}
        lost = [name for name in incoming.filled if fold_name(name) in column_texts]
        if incoming.rows.empty and lost:
            hint = say("lost; put the column of the grid in `column`, and answer in `%(name)s`", name=names[0])
            message = mark(
                "%(file)s: column `%(name)s` is called like a column of the grid, and its cells would be %(hint)s"
            )
            raise InputError.say(message, file=incoming.place, name=lost[0], hint=hint)
    return record_forms(grid, round_, incoming, supersede=supersede)


def record_forms(
    grid: GridContext,
    round_: Round,
    incoming: ImportedAnswers,
    *,
    supersede: bool,
    check: Callable[[Tx, ImportedAnswers], None] = lambda _tx, _incoming: None,
    **run_params: str,
) -> RunRecord:
    """Record answers to the form of a round, with `run_params` noted of the run; `check` adds errors to them, or leaves
    some out, when cells and answers are known. Raises InputError with everything that is wrong.
    """
    form = form_of(round_.form)
    new_texts = (form.text(answer) for answer in incoming.rows["answer"] if answer is not None)
    with grid._store.read() as tx:
        compared_texts = text_checks.texts_to_compare(tx, round_)
    text_checks.encode_texts(round_, [*compared_texts, *(text for text in new_texts if text)])
    with grid._store.write() as tx:
        if is_closed(tx, round_):
            message = mark("the discussion has begun, so the answers of round `%(round)s` stand")
            if round_.options.again:
                message = mark("round `%(round)s` takes no answers now: the discussion has not begun, or is over")
            raise StageError.say(message, round=round_.name)
        round_ = rounds.with_known_pairs(tx, round_)
        answer_import.identify_rows(tx, incoming, round_)
        incoming.rows["answer_id"] = answer_numbers(
            tx, round_, form, incoming.rows["answer"].tolist(), incoming.rows["cell_id"].tolist()
        )
        for control_round in rounds.of_known_pairs(tx, round_, Known.CONTROLS):  # which has answers of its own
            own_ids, rows = rounds.answer_ids(tx, control_round.id), incoming.rows
            own_id_by_id = {id_: own_ids[code] for code, id_ in rounds.answer_ids(tx, round_.id).items()}
            is_control = rows["assignment_id"].isin(assignments.assignments(tx, control_round)["id"])
            is_control &= rows["answer_id"].isin(own_id_by_id)
            rows.loc[is_control, "answer_id"] = rows.loc[is_control, "answer_id"].map(own_id_by_id)
        if (earlier := incoming.earlier) is not None:  # whose cells are those of the rows that came later
            later = incoming.rows.loc[earlier["later_row"]]
            numbers = answer_numbers(tx, round_, form, earlier["answer"].tolist(), later["cell_id"].tolist())
            incoming.earlier = earlier.assign(assignment_id=later["assignment_id"].to_numpy(), answer_id=numbers)
        check(tx, incoming)
        answer_import.compare_answers(tx, incoming, round_, supersede=supersede)
        rows, originals = incoming.rows, authorship.originals(tx, round_)
        is_new = rows["is_new"].to_numpy() & ~incoming.has_finding
        is_early = rows["cell_id"].isin(cells_not_due(tx, round_, rows["cell_id"].tolist())).to_numpy() & is_new
        message = mark("cell %(pair)s has no answer in round `%(round)s` yet")
        incoming.refuse(is_early, message, round=round_.options.rests_on)
        letters, shown = answer_import.letters, [*zip(rows["cell_id"], rows["shown"], strict=True)]
        differs = [bool(text) and letters(text) != letters(originals.get(cell, "")) for cell, text in shown]
        is_other = np.array(differs, np.bool_) & is_new & ~is_early
        hint = say("or a spreadsheet program changed it; leave its row empty, and edit it on a new sheet")
        message = mark("the text of cell %(pair)s has changed since this sheet was written, %(hint)s: %(change)s")
        changes = [answer_import.describe_change(ORIGINAL, originals.get(cell, ""), text) for cell, text in shown]
        incoming.refuse(is_other, message, hint=hint, change=changes)
        _refuse_by_text_checks(tx, incoming, round_, form)
        return answer_import.record_answers(
            tx, incoming, round_, supersede=supersede, grid=grid.grid.name, round=round_.name, **run_params
        )


def _refuse_by_text_checks(tx: Tx, incoming: ImportedAnswers, round_: Round, form: Form) -> None:
    """Add an error where the checks of the round refuse a new text, as online; a writer's own are compared in order."""
    if not text_checks.is_checked(round_):
        return
    rows, refusals = incoming.rows, np.full(len(incoming.rows), "", object)
    earlier_texts = defaultdict[int, list[str]](list)
    for index in np.flatnonzero(rows["is_new"].to_numpy() & ~incoming.has_finding).tolist():
        answer, person_id = rows["answer"].iloc[index], int(rows["person_id"].iloc[index])
        if answer is None or not (text := form.text(answer)):
            continue
        own, often = text_checks.comparison_texts(tx, round_, person_id, int(rows["assignment_id"].iloc[index]))
        comparison = [*own, *earlier_texts[person_id]], often
        remarks = text_checks.check_answer(round_, to_client(form.store(answer)), comparison, warns=False)
        refusals[index] = join(remark.sentence for remark in remarks if remark.refuses)
        earlier_texts[person_id].append(text)
    incoming.refuse(refusals != "", mark("cell %(pair)s: %(why)s"), why=refusals.tolist())


DECISION, LABEL, LABELS = "decision", "label", "labels"
# What a decision is, by which rule, by whom, how many answers the cell has, how many of them are the same, and a note.
DECISION_COLUMNS = (DECISION, "rule", "adjudicator", "answers", "agree", "note")


def decisions_table(tx: Tx, name: str, ids: Ids | None = None) -> pd.DataFrame:
    """The decisions that stand in the grid that a transaction is about, by cell.

    Columns: `pair`, `hs`, `cn`, or of a planned grid `cell`, `row`, `column` and whatever is known of the row; then
    those of `DECISION_COLUMNS`. What was discarded is `irreconcilable`; `adjudicator` is empty where nobody is named;
    skips are no answers. Raises StageError where the answers are no labels, or nothing has been decided.
    """
    need_labels(tx, "export decisions")
    decisions = adjudications.current_adjudications(tx, standing=True)
    if decisions.empty:
        raise StageError.say("nothing has been decided yet; run `fcpair adjudicate`")
    layout = CELL_COLUMNS if is_planned(tx) else PAIR_COLUMNS
    located = cells.by_id(tx, decisions["cell_id"]).set_index("cell_id").loc[decisions["cell_id"]]
    bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
    table = decisions[[]].assign(**{layout.number: grids.to_public_number(decisions["cell_id"])})
    for column, side in zip(layout.sides, ("hs_id", "cn_id"), strict=True):
        table[column] = located[side].map(bodies).to_numpy()
    row_metadata = decisions[[]]
    if layout is CELL_COLUMNS:  # by the id of each row's text, without what is called like a column of a decision
        reserved = {layout.number, *layout.sides, LABELS, *DECISION_COLUMNS, ROW, ROW_NUMBER}
        rows = rows_table(tx, name).drop(columns=[*reserved], errors="ignore")
        rows.index = sides.text_ids(tx, "row", drawn=True)
        row_metadata = rows.loc[located["hs_id"]].reset_index(drop=True)
    question, names = scheme_of(tx), {person.id: person.name for person in people.people(tx)}
    answers = judgements.current_labels(tx, "cell_id", "code")
    is_same = answers["code"] == answers["cell_id"].map(decisions.set_index("cell_id")["code"])
    columns = (
        decisions["code"].map(question.name, na_action="ignore").fillna(IRRECONCILABLE),
        decisions["rule"],
        decisions["person_id"].map(names).fillna(""),
        *(
            decisions["cell_id"].map(part["cell_id"].value_counts()).fillna(0).astype("int64")
            for part in (answers, answers[is_same])
        ),
        decisions["note"].fillna(""),
    )
    table = with_own_ids(table, cells.texts_of_grid(tx), layout.sides, numbers=located, ids=ids)
    return table.join(row_metadata).join(decisions[[]].assign(**dict(zip(DECISION_COLUMNS, columns, strict=True))))


def layout_of(tx: Tx, path: Source) -> tuple[CellColumns, str]:
    """Layout of a file of decisions: how it names its cells, and the column with what was decided."""
    cell_columns = [CELL_COLUMNS.number, *CELL_COLUMNS.sides]
    header = read_table(path, optional=[PAIR_COLUMNS.number, *cell_columns, DECISION]).columns
    by_cell = is_planned(tx) and PAIR_COLUMNS.number not in header and not {*header}.isdisjoint(cell_columns)
    return (CELL_COLUMNS if by_cell else PAIR_COLUMNS), DECISION if DECISION in header else LABEL


ROW, ROW_NUMBER, LANGUAGE = "row", "row_number", "language"


def export_rows(grid: GridContext) -> pd.DataFrame:
    """The rows of a grid in their order: `row_number` (from 1), `row` (the text), and a column for each metadata key.

    All are strings but the number, empty where a text has nothing under a key. `language` follows the text where that
    of any row is known. Raises StageError where the grid has no cells yet.
    """
    with grid._store.read() as tx:
        return rows_table(tx, grid.grid.name)


def rows_table(tx: Tx, name: str) -> pd.DataFrame:
    """The rows of the grid that a transaction is about, as `export_rows` has them."""
    need_cells(tx, name)
    text_ids = sides.text_ids(tx, "row", drawn=True)
    texts = cells.texts_of_grid(tx).set_index("text_id").loc[text_ids]
    keys = dict.fromkeys(key for meta in texts["meta"] for key in meta if key not in {ROW, ROW_NUMBER, LANGUAGE})
    columns = {ROW_NUMBER: range(1, len(text_ids) + 1), ROW: texts["body"].to_list()}
    if any(languages := texts["language"].fillna("").to_list()):
        columns[LANGUAGE] = languages
    return pd.DataFrame(columns | {key: [str(meta.get(key, "")) for meta in texts["meta"]] for key in keys})

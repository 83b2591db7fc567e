"""Recording the answers of a file: each is tied to its cell, its person and its assignment, and held against what is
there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import StageError
from fcpair.files.answers.answer_files import Incoming
from fcpair.files.corpus.corpus import CN, HS
from fcpair.params import Assign
from fcpair.records import Origin, Round, RunRecord, Status
from fcpair.stages.answers.sorted_columns import is_ascending, is_sorted
from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.questions import NO_CODE
from fcpair.steps.assignment import leases
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import begin_run, has_own, is_planned, lease_min, opaque
from fcpair.steps.base.text_digests import digester
from fcpair.steps.people import reassignment
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, vacant_slots
from fcpair.store.assignment.distinct_answers import WRITTEN
from fcpair.store.corpus import cells, grids, texts
from fcpair.store.corpus.grids import id_of, number_of
from fcpair.store.oversight import build_progress, runs, settings
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

SUPERSEDE = "--supersede takes this as the newer answer"
FROM_FILES = "from_files"  # the settings that say which rounds of a planned grid are answered in files, undealt
NOBODY = -1  # stands for a person or an assignment that there is not


def place(tx: Tx, given: Incoming, round_: Round) -> None:
    """Add `cell_id`, `person_id` and `assignment_id` to each row, and findings where one is not there."""
    locate(tx, given)
    _add_people(tx, given, round_)
    _add_assignments(tx, given, round_)


def enter(tx: Tx, given: Incoming, round_: Round, *, supersede: bool, **about: str) -> RunRecord:
    """Record what is new of the answers; raises InputError with every finding when there is one."""
    answers = given.accepted()
    new = answers[answers["is_new"]]
    params = {**about, "path": given.path, "supersede": supersede}
    run_id = begin_run(tx, f"{round_.name} import", params)
    if given.brings_work and is_planned(tx):
        settings.put(tx, FROM_FILES, {round_.name: True}, run_id)
    for origin, rows in new.groupby("origin"):
        save_answers(tx, rows, Origin(str(origin)), run_id)
    skips = int((new[_said(new)] == NO_CODE).sum())
    counts: dict[str, Any] = {"answers": len(new) - skips, "skips": skips, "already_there": len(answers) - len(new)}
    counts |= reassignment.refill(tx, seed=0) if skips else {}
    if round_.counts and closed_question(form_of(round_.form)):
        counts |= rule_decisions.settle(tx, new["cell_id"].unique().tolist())
    return replace(runs.end_run(tx, run_id, counts), notes=sorted_apart(given))


def sorted_apart(given: Incoming) -> tuple[str, ...]:
    """A sentence on each column of a person's answers that seems to have been sorted apart from its rows.

    That is where the answers are sorted, and the rows are still in the order of their cells, or in that in which they
    were dealt.
    """
    rows = given.rows.reset_index(drop=True)
    orders = [rows[name] for name in ("pair", "position") if name in rows.columns]
    found = []
    for name, own in rows.groupby("person", sort=False):
        if any(is_ascending(order[own.index].tolist()) for order in orders):
            columns = [column for column, cells in given.said.items() if is_sorted([cells[at] for at in own.index])]
            found += [_note_of(column, str(name), len(own), f"{given.of.number}s") for column in columns]
    return tuple(found)


def _note_of(column: str, name: str, n: int, cells: str) -> str:
    told = sorted_alone(f"`{column}` of {name}" if name else f"`{column}`", n, cells)
    return f"{told}. Compare some with their texts; a corrected file is taken in with --supersede"


def sorted_alone(column: str, n: int, what: str) -> str:
    """What is said of a column of `n` answers that is sorted while its rows are not."""
    told = f"column {column} is sorted, and its rows are not"
    return f"{told}: if it was sorted alone, its {n:,} answers are beside other {what}"


def _said(rows: pd.DataFrame) -> str:
    """The column that says what was answered: its code, or its id."""
    return "code" if "code" in rows.columns else "answer_id"


def locate(tx: Tx, given: Incoming) -> None:
    """Add `cell_id` to each row, and a finding where the pair is not in the grid or has other texts there."""
    import pandas as pd

    if not build_progress.built(tx)["pair"]:
        raise StageError("the study has no pairs yet; run `fcpair pair`")
    rows, cell = given.rows.assign(pair=given.rows["pair"].map(opaque(tx).reveal_cell)), given.of.number
    kinds = dict(zip((HS, CN), grids.kinds(tx), strict=True))
    digest = digester(tx)
    sides = rows[[*kinds]].apply(lambda side: side.map(digest).map(_ids(tx, kinds[str(side.name)])))
    if given.by_text:
        keyed = cells.of_rows(tx, sides["hs"].dropna().astype(int)).set_index(["hs_id", "cn_id"])["cell_id"]
        cell_id = keyed.reindex(pd.MultiIndex.from_frame(sides)).to_numpy()
        names = [f"`{_short(hs)}` x `{_short(cn)}`" for hs, cn in zip(rows["hs"], rows["cn"], strict=True)]
    else:
        ids = id_of(tx, rows["pair"])
        known = cells.by_id(tx, ids).set_index("cell_id")
        cell_id = ids.where(ids.isin(known.index)).to_numpy()
        names = rows["pair"].astype(str).tolist()
        _compare_texts(tx, given, sides, ids, known)
    outside = pd.isna(cell_id)
    unreadable = (rows["pair"] == NO_CODE).to_numpy() & (rows["hs"] == "").to_numpy()
    by_words = given.by_text and WRITTEN in kinds.values()
    or_twice = ", or its words answer several texts; give the number of the cell" if by_words else ""
    messages = (f"{cell} {name} is not in the grid{or_twice}" for name in names)
    given.complain(outside & ~unreadable, messages, cause=f"these {cell}s are not in the grid")
    ids = pd.Series(cell_id).fillna(NOBODY).astype("int64")
    given.rows = rows.assign(cell_id=ids, pair=number_of(ids).where(ids != NOBODY, rows["pair"]))


def _ids(tx: Tx, kind: str) -> dict[str, int]:
    """The id of every text of one kind by what a file says of it; of what was written, those of the grid.

    Words that answer several texts are several texts, which their words alone do not tell apart: none of them is there.
    """
    if kind != WRITTEN:
        return texts.text_ids(tx, kind)
    own = cells.texts_of_grid(tx)
    own = own[own["kind"] == kind]
    said = own["body"].map(digester(tx))
    alone = ~said.duplicated(keep=False)
    return dict(zip(said[alone], own["text_id"][alone], strict=True))


def letters(text: str) -> str:
    """What is left of a text in any program: some change how lines end, and what is not printed."""
    return "".join(sign for sign in identity(text) if sign.isprintable() and not sign.isspace())


def _compare_texts(tx: Tx, given: Incoming, sides: pd.DataFrame, ids: pd.Series[int], known: pd.DataFrame) -> None:
    """Add a finding where the text beside a number is not that pair's: the sheet is another study's, or disordered."""
    rows = given.rows
    other = np.zeros(len(rows), np.bool_)
    for side, kind in zip((HS, CN), grids.kinds(tx), strict=True):
        expected = ids.map(known[f"{side}_id"])
        differs = (rows[side] != "") & expected.notna() & (sides[side] != expected)
        if differs.any():
            own = texts.texts_of(tx, kind).set_index("id")["body"].map(letters)
            differs &= rows[side].map(letters) != expected.map(own)
        other |= differs.to_numpy()
    said = "other texts in this study; is the sheet another study's?"
    messages = (f"{given.of.number} {number} has {said}" for number in rows["pair"])
    given.complain(other, messages, cause=f"these {given.of.number}s have {said}")


def _short(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _add_people(tx: Tx, given: Incoming, round_: Round) -> None:
    """Add `person_id` to each row, and a finding where nobody has that name.

    Somebody may have changed roles since the pairs were dealt; where nothing was dealt, the role says who may answer.
    """
    role = round_.role
    known = {one.name: one.id for one in people.people(tx, role if _is_undealt(tx, round_) else None)}
    person = given.rows["person"]
    unknown = (~person.isin(known) & (person != "")).to_numpy()
    given.complain(unknown, (f"no {role} is called `{name}`; {_there(name, known)}" for name in person))
    given.rows = given.rows.assign(person_id=person.map(known).fillna(NOBODY).astype("int64"))


def _there(name: str, known: Iterable[str]) -> str:
    """Who there is; somebody whose name differs in capitals alone is meant."""
    alike = [one for one in known if one.casefold() == name.casefold()]
    return f"did you mean `{alike[0]}`?" if alike else f"there are {', '.join(known) or 'none'}"


def _add_assignments(tx: Tx, given: Incoming, round_: Round) -> None:
    """Add `assignment_id` to each row, and a finding where the pair was not dealt to that person.

    Answers to a study in which nothing was dealt bring their own assignments. Else `position` is where it was dealt.
    """
    rows = given.rows
    named = ((rows["cell_id"] != NOBODY) & (rows["person_id"] != NOBODY)).to_numpy()
    given.brings_work = _is_undealt(tx, round_)
    if given.brings_work:
        _refuse_the_barred(tx, given, named, round_)
        _add_undealt(tx, rows[named], round_)
    elif lease_min(tx, round_) is not None:
        _take_free(tx, rows[named], round_)
    dealt = assignments.assignments(tx, round_)[["id", "cell_id", "person_id", "position"]]
    found = rows.merge(dealt, on=["cell_id", "person_id"], how="left")
    stray = named & found["id"].isna().to_numpy()
    pairs = zip(rows["pair"], rows["person"], strict=True)
    messages = (f"{given.of.number} {pair} was not dealt to {name}" for pair, name in pairs)
    given.complain(stray, messages, cause=f"these {given.of.number}s were not dealt to the person named")
    given.rows = rows.assign(assignment_id=found["id"].fillna(NOBODY).astype("int64"))
    if not given.brings_work and lease_min(tx, round_) is None:  # else they stand in the order of the file
        given.rows["position"] = found["position"]


def _refuse_the_barred(tx: Tx, given: Incoming, named: NDArray[np.bool_], round_: Round) -> None:
    """Add a finding where somebody may not answer a cell that was dealt to nobody."""
    rows, cell = given.rows, given.of.number
    checked = named & permissions.has_checked(tx, rows["cell_id"], rows["person_id"])
    pairs = list(zip(rows["pair"], rows["person"], strict=True))
    messages = (f"{name} validates or decided {cell} {pair}, so cannot label it" for pair, name in pairs)
    given.complain(checked, messages, cause=f"who validates or decided a {cell} cannot label it")
    if not is_planned(tx):
        return
    barred = np.zeros(len(rows), np.bool_)
    barred[named] = _barred(tx, rows[named], round_)
    why = "who made a row, wrote or answered it before, or has not passed the pilot, does not answer it"
    messages = (f"{name} may not answer {cell} {pair}: {why}" for pair, name in pairs)
    given.complain(barred & ~checked, messages, cause=why)


def _barred(tx: Tx, rows: pd.DataFrame, round_: Round) -> NDArray[np.bool_]:
    """Whether each person may not be given that cell, shape `(n_rows,)`."""
    ids, column = np.unique(rows["person_id"].to_numpy(np.int64), return_inverse=True)
    heirs = [vacant_slots.Heir(one, 0, ()) for one in ids.tolist()]
    found = reassignment.barred(tx, rows["cell_id"].to_numpy(np.int64), heirs, round_, first=True)
    return np.asarray(found[np.arange(len(rows)), column])


def _take_free(tx: Tx, rows: pd.DataFrame, round_: Round) -> None:
    """Give people the free slots that a file says they answered in."""
    own = rows[["cell_id", "person_id"]].drop_duplicates()
    there = assignments.assignments(tx, round_).set_index(["cell_id", "person_id"]).index
    new = own[~own.set_index(["cell_id", "person_id"]).index.isin(there)]
    leases.take_named(tx, round_, new["cell_id"].to_numpy(np.int64), new["person_id"].to_numpy(np.int64))


def _is_undealt(tx: Tx, round_: Round) -> bool:
    """Whether answers bring their own work: nothing was dealt in the round, or only what files had brought."""
    if not is_planned(tx):
        return round_.counts and not has_own(tx, Assign)
    if lease_min(tx, round_) is not None:
        return False
    return round_.name in settings.of_stage(tx, FROM_FILES) or not assignments.by_status(tx, round_)


def _add_undealt(tx: Tx, rows: pd.DataFrame, round_: Round) -> None:
    own = rows[["cell_id", "person_id"]].drop_duplicates()
    there = assignments.assignments(tx, round_).set_index(["cell_id", "person_id"]).index
    own = own[~own.set_index(["cell_id", "person_id"]).index.isin(there)].assign(status=Status.OPEN.value)
    last = own["person_id"].map(assignments.last_positions(tx, round_, own["person_id"].tolist()))
    last = last.fillna(0).astype("int64")
    own["position"] = last + own.groupby("person_id").cumcount() + 1
    assignments.add_assignments(tx, own, round_)


def compare(tx: Tx, given: Incoming, round_: Round, *, supersede: bool) -> None:
    """Add `is_new` to each row, and a finding where another answer is there that it may not supersede.

    Where an answer comes from belongs to it. A person's answer takes the place of an equal simulated one unasked, as it
    overrides nobody; the reverse is an answer that differs.
    """
    rows = given.rows
    there = judgements.current_codes(tx, round_).set_index("assignment_id")
    answered = rows["assignment_id"].isin(there.index).to_numpy()
    other = answered & _differ(rows, there)
    was_simulated = (rows["assignment_id"].map(there["origin"]) == Origin.SIMULATED.value).to_numpy()
    is_simulated = (rows["origin"] == Origin.SIMULATED.value).to_numpy()
    made_up = answered & ~other & ~was_simulated & is_simulated
    if not supersede:
        pairs, cell = list(zip(rows["person"], rows["pair"], strict=True)), given.of.number
        otherwise = (f"{name} has answered {cell} {pair} otherwise already; {SUPERSEDE}" for name, pair in pairs)
        cause = f"these {cell}s have been answered otherwise already; {SUPERSEDE}"
        given.complain(other & ~given.faulty, otherwise, cause=cause)
        said = "already, and what the file says is simulated"
        made = (f"{one} has answered {cell} {at} {said}; {SUPERSEDE}" for one, at in pairs)
        given.complain(made_up & ~given.faulty, made, cause=f"these {cell}s have been answered {said}; {SUPERSEDE}")
    new = ~answered | other | (answered & (was_simulated != is_simulated))
    if supersede and round_.checks:  # the same word about a label that has changed is a new verdict
        about_the_label_now = rows["assignment_id"].isin(judgements.current_verdicts(tx)["assignment_id"])
        new |= (~about_the_label_now & (rows["code"] != NO_CODE)).to_numpy()
    given.rows = rows.assign(is_new=new)


def _differ(rows: pd.DataFrame, there: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each row says something else than the answer that is `there`, where one is; shape `(n_rows,)`."""
    found = np.zeros(len(rows), np.bool_)
    for name in {"code", "own_code", "answer_id"} & set(rows.columns):
        old = rows["assignment_id"].map(there[name].astype("Int64")).fillna(NO_CODE).to_numpy()
        found |= old != rows[name].fillna(NO_CODE).to_numpy()
    return found


def save_answers(tx: Tx, answers: pd.DataFrame, origin: Origin, run_id: int) -> None:
    """Add a run's judgements (`assignment_id`, `code` or `answer_id`, -1 for a skip, `note`, ...) and note that their
    work is done.
    """
    said = _said(answers)
    skipped = answers[said] == NO_CODE
    kept = [name for name in ("own_code", "adjudication_id", "seconds", "at") if name in answers.columns]
    rows = answers[["assignment_id", "note", *kept]].assign(skipped=skipped, run_id=run_id)
    rows[said] = answers[said].astype("Int64").mask(skipped)
    lapsed = assignments.lapsed(tx, answers["assignment_id"][~skipped].tolist())
    judgements.add_judgements(tx, rows, origin)
    for one in lapsed:  # now, so that whoever took a slot over and answers in the same file keeps it
        vacant_slots.reclaim(tx, one)

"""Rounds that edit the row's own text, such as a machine's translation: what is shown, kept, and what goes along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.tables.tabular import LINE, read_table, write_table
from fcpair.params import Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role
from fcpair.stages.assignment.plan import check_plan
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.online import at_desk, give
from steps.plans import WRITTEN, side, with_round
from steps.small import write_csv

ROWS = [
    {"machine": "چای نوشیدن عجیب است.", "english": "Drinking tea is odd.", "topic": "tea"},
    {"machine": "گربه‌ها سرد هستند.", "english": "Cats are cold.", "topic": "cats"},
    {"machine": "باران کسل‌کننده است.", "english": "", "topic": "rain"},
]
MENDED = "کسانی که چای می‌نوشند عجیب هستند."
EDIT = RoundPlan("mend", "text: edit(min_words=2)", role="writer", edits="row")
REPLY = GridPlan(
    "reply", SidePlan(answers="localise"), SidePlan(names=("facts",)), (RoundPlan("reply", "text: text()"),)
)
RATE = GridPlan(
    "rate",
    SidePlan(answers="reply"),
    SidePlan(names=("kind",)),
    (RoundPlan("rate", "scale: scale(1,5,1)", role="rater"),),
)


def localised(folder: Path, *rounds: RoundPlan, first: str = "mend") -> Study:
    """A study in which machine translations are to be mended, with replies to them in the next grid."""
    source = Source(
        write_csv(folder / "translated.csv", ROWS),
        "machine",
        name="translated",
        group="topic",
        language="fa",
        original="english",
        original_language="en",
    )
    rows, columns = SidePlan(sources=(source,)), SidePlan(names=("localised",))
    plans = [GridPlan("localise", rows, columns, rounds or (EDIT,)), REPLY, RATE]
    study = Study.create(folder / "study.db", Setup(title="Localised", folding="arabic"), grids=plans)
    study.add_people(["wren"], Role.WRITER)
    if first != "mend":
        study.add_people(["ana"], Role.ANNOTATOR)
    study.grid("localise").pair()
    study.grid("localise").assign_round(first)
    return study


def mend(study: Study) -> None:
    """Have the first text mended, and all others left as they are."""
    desk, wren = at_desk(study, "wren")
    for task in desk.tasks(wren, 9):
        first = task.row.body == ROWS[0]["machine"]
        give(desk, wren, MENDED if first else task.row.body, task.assignment_id)


def test_the_row_is_what_is_edited_beside_what_it_was_translated_from(tmp_path: Path) -> None:
    desk, wren = at_desk(localised(tmp_path), "wren")
    tasks = {task.row.body: task for task in desk.tasks(wren, 9)}
    first, last = (tasks[ROWS[at]["machine"]] for at in (0, 2))
    assert first.original is not None
    assert (first.original.body, first.original.language) == (ROWS[0]["machine"], "fa")
    assert first.untranslated is not None
    assert (first.untranslated.body, first.untranslated.language) == ("Drinking tea is odd.", "en")
    assert last.original is not None
    assert last.untranslated is None


@pytest.mark.server
def test_a_mended_text_is_in_the_next_side_with_its_metadata_and_replies_are_known_by_it(tmp_path: Path) -> None:
    study = localised(tmp_path)
    mend(study)
    replied = study.grid("reply")
    replied.pair()
    mended = [MENDED, ROWS[1]["machine"], ROWS[2]["machine"]]
    assert side(study, "reply", "row") == mended
    assert side(study, "localise", "row") == [row["machine"] for row in ROWS]
    with study._store.read() as tx:
        meta = texts.texts_of(tx, "answer").set_index("body")["meta"]
    about = {"source": "translated", "original": "Drinking tea is odd.", "original_language": "en", "group": "tea"}
    assert meta[MENDED] == about
    study.add_people(["ana"], Role.ANNOTATOR)
    replied.assign_round("reply")
    desk, ana = at_desk(study, "ana")
    tasks = desk.tasks(ana, 9)
    assert [task.answered for task in tasks] == [None] * 3
    for at, task in enumerate(tasks):
        give(desk, ana, f"A calm reply, the {at + 1}.", task.assignment_id)
    answers = replied.answers()
    assert dict(zip(answers["row"], answers["group"], strict=True))[MENDED] == "tea"
    assert set(answers["source"]) == {"translated"}
    study.grid("rate").pair()
    study.add_people(["rob"], Role.RATER)
    study.grid("rate").assign_round("rate")
    desk, rob = at_desk(study, "rob")
    for task in desk.tasks(rob, 9):
        assert task.answered is not None
        give(desk, rob, 4, task.assignment_id)
    rated = study.grid("rate").answers()
    assert set(rated["answered"]) == {*mended}
    assert set(rated["group"]) == {"tea", "cats", "rain"}


@pytest.mark.server
def test_what_was_done_with_rows_is_counted_and_a_second_editor_has_what_the_first_wrote(tmp_path: Path) -> None:
    second = RoundPlan("polish", "text: edit(min_words=2)", role="annotator", edits="mend")
    study = localised(tmp_path, EDIT, second)
    mend(study)
    grid = study.grid("localise")
    curated = grid.curation("mend")
    (source,) = curated.sources
    assert (curated.edits, source.source, source.n, source.accepted, source.edited) == ("row", "translated", 3, 2, 1)
    answers = grid.answers("mend").set_index("row")
    assert answers["act"].to_dict() == {row["machine"]: "edited" if row is ROWS[0] else "accepted" for row in ROWS}
    assert answers["original"].tolist() == answers.index.tolist()
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign_round("polish")
    desk, ana = at_desk(study, "ana")
    task = next(task for task in desk.tasks(ana, 9) if task.row.body == ROWS[0]["machine"])
    assert task.original is not None
    assert task.original.body == MENDED
    assert task.untranslated is not None
    give(desk, ana, "چای نوشیدن کمی عجیب است.", task.assignment_id)
    with study._store.read() as tx:
        meta = texts.texts_of(tx, "answer").set_index("body")["meta"]
    assert meta["چای نوشیدن کمی عجیب است."]["group"] == "tea"


@pytest.mark.server
def test_a_sheet_has_the_row_as_the_text_to_be_edited_and_is_taken_in(tmp_path: Path) -> None:
    study = localised(tmp_path)
    grid = study.grid("localise")
    grid.sheets.write_answers(tmp_path / "sheets", "mend")
    sheet = read_table(tmp_path / "sheets" / "wren.csv").drop(columns=LINE)
    assert sheet["original"].tolist() == sheet["row"].tolist()
    assert set(sheet["row"]) == {row["machine"] for row in ROWS}
    write_table(sheet.assign(text=MENDED), tmp_path / "wren.csv")
    grid.import_answers(tmp_path / "wren.csv", "mend")
    assert set(grid.answers("mend")["text"]) == {MENDED}
    study.grid("reply").pair()
    assert side(study, "reply", "row") == [MENDED] * 3, "the same words for two rows are two texts"


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (lambda: with_round(WRITTEN, edits="row"), r"round `write` edits `row`; ask `edit\(...\)`"),
        (lambda: with_round(WRITTEN, form="text: edit()"), "`edits` the round whose text is edited, or `row`"),
        (
            lambda: replace(WRITTEN, rounds=(replace(EDIT, name="row"),)),
            '`edits = "row"` edits the text of the row; give round `row` another name',
        ),
        (
            lambda: with_round(WRITTEN, form="text: edit()", edits="row", after="later"),
            "`after` of round `write` names `later`, which is not an earlier round",
        ),
    ],
)
def test_a_round_that_cannot_edit_rows_is_refused(plan: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check_plan(plan())  # type: ignore[operator]

"""Examples that models are shown: found in an earlier grid, reviewed by people, and put into the prompt."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from servers import Places

from fcpair.arrays import Vectors
from fcpair.errors import ConflictError, InputError, StageError, UnknownIdError
from fcpair.files.tables.tabular import write_table
from fcpair.models import encode
from fcpair.models.encode import Progress
from fcpair.models.model_files import Model
from fcpair.models.service import Prompt
from fcpair.params import Setup, Simulate
from fcpair.plans import RoundPlan
from fcpair.recipe import Recipe
from fcpair.records import Role
from fcpair.stages.assignment.plan import check_plans
from fcpair.store.answers import examples as store
from fcpair.store.assignment import rounds
from fcpair.study import Grid, Study
from steps.online import at_desk, give
from steps.shown import ASK, CATS, CYCLING, GREEN_TEA, PROMPT, ROWS, TEA, WRITE, WRITTEN, asking, study_of

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def before_finding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study whose grid `replies` has no examples yet, to be copied."""
    with study_of(tmp_path_factory.mktemp("before")) as study:
        return Path(study.place)


@pytest.fixture(scope="module")
def after_finding(before_finding: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("after") / before_finding.name
    with Study(shutil.copy(before_finding, path)) as study:
        study.grid("replies").examples.find("propose")
    return path


@pytest.fixture
def grid(before_finding: Path, tmp_path: Path) -> Grid:
    return Study(shutil.copy(before_finding, tmp_path / before_finding.name)).grid("replies")


@pytest.fixture
def found(tmp_path: Path, request: pytest.FixtureRequest) -> Grid:
    """The grid `replies` once its examples are found; on a server they are found for each test."""
    if Places.now is not None:
        grid = study_of(tmp_path).grid("replies")
        grid.examples.find("propose")
        return grid
    made: Path = request.getfixturevalue("after_finding")
    return Study(shutil.copy(made, tmp_path / made.name)).grid("replies")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The prompts that a service was sent, which answers each alike."""
    sent: list[str] = []

    def ask(prompt: Prompt, *_: object) -> str:
        sent.append(prompt.body["messages"][0]["content"])
        return "Let us be kind."

    monkeypatch.setattr("fcpair.models.service.query_and_cache", ask)
    return sent


def sheet(grid: Grid, path: Path, **used: str) -> Path:
    """The sheet of a grid's examples with `used` filled in everywhere, or of the HS that begin so."""
    frame = grid.examples.table("propose")
    frame["used"] = [next((said for hs, said in used.items() if text.startswith(hs)), "yes") for text in frame["hs"]]
    write_table(frame, path)
    return path


def review_row(grid: Grid, *, used: bool) -> None:
    row = grid.desk.row_to_review("propose")
    assert row is not None
    person = study_with(grid).people[0].id
    for example in row.examples:
        grid.desk.review_example("propose", example.id, used=used, by=person)


def study_with(grid: Grid) -> Study:
    return Study._of(grid._store)


def test_each_row_gets_the_nearest_of_the_others_by_the_text_of_their_first_cell_and_never_itself(
    found: Grid, tmp_path: Path
) -> None:
    table = found.examples.table("propose")
    assert table.columns.tolist() == ["row", "rank", "hs", "cn", "type", "score", "used"]
    assert table["row"].tolist() == [TEA, TEA, GREEN_TEA, GREEN_TEA]
    assert table["rank"].tolist() == [1, 2, 1, 2]
    assert TEA not in table["hs"][table["row"] == TEA].tolist()
    assert table["hs"][table["row"] == GREEN_TEA].tolist()[0] == TEA
    assert (table.groupby("row", sort=False)["score"].diff().dropna() <= 0).all()
    assert set(table["used"]) == {""}
    assert table["cn"].tolist() == [f"{hs} facts: not so." for hs in table["hs"]]
    assert set(table["type"]) == {"facts"}
    with study_with(found).grid("write")._store.read() as tx:
        written = store.current_texts(tx, rounds.by_name(tx, "write"))
    assert [text.hs for text in written] == list(WRITTEN)
    found.pair(redo=True)  # cells that are made anew forget their examples
    assert found.examples.table("propose").empty
    run = found.examples.find("propose")
    assert run.counts == {"round": "propose", "rows": 2, "examples": 4, "reviewed_before": 0}
    assert run.model is not None
    assert run.model["name"] == "all-MiniLM-L6-v2"


def test_what_is_found_already_is_found_again_only_if_asked_and_keeps_its_reviews(found: Grid, tmp_path: Path) -> None:
    with pytest.raises(StageError, match="already has 4 examples"):
        found.examples.find("propose")
    found.examples.review("propose", sheet(found, tmp_path / "sheet.csv", Cats="no"))
    before = found.examples.table("propose")
    assert found.examples.find("propose", redo=True).counts["reviewed_before"] == 4
    pd.testing.assert_frame_equal(found.examples.table("propose"), before)


@pytest.mark.server
def test_where_there_are_no_examples_yet_it_is_said_why(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[WRITE, asking()])
    grid = study.grid("replies")
    with pytest.raises(StageError, match="has no cells yet; run `fcpair pair --grid replies`"):
        grid.examples.find("propose")
    grid.pair()
    with pytest.raises(StageError, match="round `write` of grid `write` comes first"):
        grid.examples.find("propose")
    (tmp_path / "written").mkdir()
    study = study_of(tmp_path / "written")
    grid = study.grid("write")
    for act in (grid.examples.find, grid.examples.table, grid.desk.row_to_review):
        with pytest.raises(StageError, match="round `write` of grid `write` has no examples"):
            act("write")
    grid = study.grid("replies")
    assert grid.desk.row_to_review("propose") is None
    row = {"row": TEA, "rank": 1, "hs": CATS, "cn": "Not so.", "type": "facts", "score": 0.5, "used": "yes"}
    write_table(pd.DataFrame([row]), tmp_path / "sheet.csv")
    with pytest.raises(StageError, match="has no examples yet"):
        grid.examples.review("propose", tmp_path / "sheet.csv")
    with pytest.raises(StageError, match="no examples yet; run `fcpair examples find --grid replies --round propose`"):
        grid.generate("propose")


def test_examples_are_found_whatever_changes_elsewhere_meanwhile_but_not_where_texts_change(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, (desk, wren) = encode.encode, at_desk(study_with(grid), "wren")
    first = next(task for task in desk.answers(wren, n=50) if task.column and task.column.body == "facts")
    study_with(grid).add_people(["lea"], Role.LEAD)
    meanwhile: list[Callable[[], object]] = [
        lambda: give(desk, wren, "Let us say it otherwise.", first.assignment_id),
        lambda: study_with(grid).edit_guidelines("Be kind.", by="lea"),
    ]

    def encode_meanwhile(texts: list[str], model: Model, progress: Progress | None = None) -> Vectors:
        meanwhile[0]()
        return really(texts, model, progress)

    monkeypatch.setattr(encode, "encode", encode_meanwhile)
    with pytest.raises(ConflictError, match="the study changed while"):
        grid.examples.find("propose")
    assert grid.examples.table("propose").empty
    del meanwhile[0]
    grid.examples.find("propose")
    assert not grid.examples.table("propose").empty


@pytest.mark.server
def test_a_sheet_says_which_are_used_and_the_newest_word_counts(found: Grid, tmp_path: Path) -> None:
    write_table(found.examples.table("propose"), path := tmp_path / "blank.csv")
    with pytest.raises(InputError, match="`used` is empty in every row"):
        found.examples.review("propose", path)
    path = sheet(found, tmp_path / "sheet.csv", Cats="No", Cyclists="")
    run = found.examples.review("propose", path)
    table = found.examples.table("propose")
    assert {(hs, used) for hs, used in zip(table["hs"], table["used"], strict=True)} <= {
        *((CATS, "no"), (CYCLING, ""), (TEA, "yes"))
    }
    assert run.counts["not_used"] == (table["hs"] == CATS).sum() > 0
    assert run.counts["rows_to_review"] == table[table["hs"] == CYCLING]["row"].nunique() > 0
    found.examples.review("propose", path := sheet(found, tmp_path / "all.csv"))
    assert set(found.examples.table("propose")["used"]) == {"yes"}
    counts = found.examples.review("propose", path).counts
    assert (counts["used"], counts["already_there"], counts["rows_to_review"]) == (0, 4, 0)
    found.examples.review("propose", sheet(found, tmp_path / "no.csv", Cats="no", Tea="no", Cyclists="no"))
    assert set(found.examples.table("propose")["used"]) == {"no"}


def test_all_that_is_wrong_with_a_sheet_is_said_with_its_lines(found: Grid, tmp_path: Path) -> None:
    table = found.examples.table("propose").assign(used=["maybe", "yes", "yes", ""])
    table.loc[1, "cn"] = "Another reply."
    twice = pd.concat([table, table.loc[[2]].assign(used="no")])
    write_table(twice, path := tmp_path / "sheet.csv")
    with pytest.raises(InputError) as raised:
        found.examples.review("propose", path)
    assert [(finding.line, finding.message.partition(";")[0]) for finding in raised.value.findings] == [
        (2, "`used` is `maybe`"),
        (3, "there is no such example in this round"),
        (6, "line 4 has the opposite for the same example"),
    ]
    assert set(found.examples.table("propose")["used"]) == {""}


def test_models_are_shown_the_used_ones_in_order(found: Grid, asked: list[str], tmp_path: Path) -> None:
    found.examples.review("propose", sheet(found, tmp_path / "sheet.csv", Tea="no"))
    assert found.generate("propose").counts["answers"] == 2
    table = found.examples.table("propose").query("used == 'yes'")
    for row, prompt in zip(ROWS, asked, strict=True):
        own = table[table["row"] == row]
        shown = "\n\n".join(
            f"Hate speech: {hs}\nCounter-narrative: {cn}\nType: facts"
            for hs, cn in zip(own["hs"], own["cn"], strict=True)
        )
        assert prompt == f"Examples:\n{shown}\nAnswer: {row}"
    assert TEA not in asked[1].split("Answer:")[0].replace(GREEN_TEA, "")


def test_models_wait_while_a_row_has_examples_that_nobody_reviewed(found: Grid, asked: list[str]) -> None:
    with pytest.raises(
        StageError, match="round `propose`: 2 rows have examples that nobody has reviewed; `fcpair serve`"
    ):
        found.generate("propose")
    with pytest.raises(StageError, match="2 rows have examples that nobody"):
        found.desk.estimate_generation("propose")
    review_row(found, used=False)
    with pytest.raises(StageError, match="1 row has examples that nobody"):
        found.generate("propose")
    assert asked == []


def test_without_review_all_but_the_refused_ones_are_shown(tmp_path: Path, asked: list[str]) -> None:
    grid = study_of(tmp_path, reviewed=False).grid("replies")
    grid.examples.find("propose")
    first = grid.desk.row_to_review("propose")
    assert first is not None
    with pytest.raises(UnknownIdError, match="no row 3 with examples"):
        grid.desk.row_to_review("propose", 3)
    with pytest.raises(UnknownIdError, match="round `propose` has no such example"):
        grid.desk.review_example("propose", 999, used=True, by=1)
    grid.desk.review_example("propose", first.examples[0].id, used=False, by=1)
    assert grid.generate("propose").counts["answers"] == 2
    assert first.examples[0].cn not in asked[0]
    assert first.examples[1].cn in asked[0]


def test_a_text_that_was_taken_back_is_not_shown(found: Grid, asked: list[str], tmp_path: Path) -> None:
    found.examples.review("propose", sheet(found, tmp_path / "sheet.csv"))
    study = study_with(found)
    study.add_people(["ada"], Role.WRITER)
    study.dismiss("wren")
    with pytest.raises(StageError, match="4 examples, whose texts were taken back or replaced in grid `write` since"):
        found.generate("propose")
    found.examples.review("propose", sheet(found, tmp_path / "none.csv", Cats="no", Tea="no", Cyclists="no"))
    found.generate("propose")
    assert asked == [f"Examples:\n\nAnswer: {row}" for row in ROWS]


def test_examples_by_which_models_answered_stay(found: Grid, asked: list[str], tmp_path: Path) -> None:
    found.examples.review("propose", sheet(found, tmp_path / "sheet.csv"))
    run = found.generate("propose")
    assert len(asked) == 2
    with pytest.raises(StageError, match="2 cells have answers of models that were shown"):
        found.examples.find("propose", redo=True)
    found.withdraw(run.id)
    assert found.examples.find("propose", redo=True).counts["reviewed_before"] == 4


@pytest.mark.server
def test_the_walk_finds_examples_stops_for_the_review_and_goes_on(tmp_path: Path, asked: list[str]) -> None:
    write = replace(WRITE, rounds=(replace(WRITE.rounds[0], people=2),))
    recipe = Recipe(setup=Setup(title="t"), simulate=Simulate(skips=0), grids=(write, asking()))
    study = Study.create(tmp_path / "study.db", recipe.setup, grids=recipe.grids)
    assert [run.stage for run in study.walk(recipe)] == ["pair", "assign", "simulate", "pair", "examples"]
    assert "round `propose`: 2 rows have examples that nobody has reviewed" in study.status()["next"]
    grid = study.grid("replies")
    grid.examples.review("propose", sheet(grid, tmp_path / "sheet.csv"))
    assert study.status()["next"] == "run `fcpair generate --grid replies --round propose`"
    assert list(study.walk(recipe)) == []  # a service is asked by hand
    assert asked == []
    assert grid.generate("propose").counts["answers"] == len(asked) == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"examples": "wirte"},
            "round `propose` has examples of `wirte`, which is not an earlier grid; did you mean `write`?",
        ),
        ({"examples": "replies"}, "is not an earlier grid; earlier are write, judge"),
        ({"examples": "judge"}, "but the main round of that grid asks for no text"),
        ({"prompt": "Answer: {row}"}, r"the prompt of round `propose` has no placeholder `\{examples\}`"),
        ({"n_examples": 0}, "n_examples is 0; expected 1 or more"),
        ({"models": (), "prompt": ""}, "`examples` are for models"),
        ({"examples": ""}, "`n_examples` applies to `examples`; name the grid"),
    ],
)
def test_a_plan_of_examples_that_cannot_be_is_refused(changed: dict[str, object], said: str) -> None:
    judge = replace(WRITE, name="judge", rounds=(RoundPlan("judge", "label: one_of(no,yes+)"),))
    with pytest.raises(InputError, match=said):
        check_plans([WRITE, judge, asking(**changed)], {})
    plain = RoundPlan("propose", "text: text()", models=ASK.models, prompt=PROMPT)
    with pytest.raises(InputError, match=r"has a placeholder `\{examples\}`, but nothing fills it"):
        check_plans([WRITE, replace(asking(), rounds=(plain,))], {})

"""A grid of comparisons: what is compared, how it is answered at every door, ranked, exported and kept."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Monitor
from fcpair.params import Annotate, Simulate
from fcpair.plans import Compare, GridPlan, RoundPlan, SidePlan
from fcpair.recipe import as_toml, load_recipe
from fcpair.store.answers import authorship
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.database.tables import text
from fcpair.study import Study
from steps.online import at_desk, column_of, give
from steps.plans import WRITTEN, dealt, written, wrote
from steps.small import SELECTED, At, assert_refused, write_csv

BEST_WORST = "best: one_of(A,B,C,D); worst: one_of(A,B,C,D) unlike best"
CHOOSE = RoundPlan("choose", BEST_WORST, role="rater", answers=2, people=3, seed=2)
PLAN = GridPlan(
    "rank", SidePlan(rows_of="main"), SidePlan(compare=Compare(grid="main", seed=5)), (CHOOSE,), "row", "comparison"
)
PAIRS = RoundPlan("which", "which: one_of(A,B,tie)", role="rater", answers=2, people=3, seed=2)


def comparing(round_: RoundPlan = CHOOSE, **changed: Any) -> GridPlan:
    """The plan with other options of what is compared."""
    compare = Compare(**{"grid": "main", "seed": 5, **changed})
    return replace(PLAN, rows=SidePlan(rows_of=compare.grid), columns=SidePlan(compare=compare), rounds=(round_,))


def compared(study: Study, name: str = "rank") -> tuple[Any, Any, dict[int, str]]:
    """The comparisons of a grid, the ids of the texts that they show, and the texts."""
    with study.grid(name)._store.read() as tx:
        located, shown = cells.compared_texts(tx)
        words: dict[Any, str] = texts.by_id(tx, [*located["hs_id"], *shown.ravel()])["body"].to_dict()
        return located, shown, words


@pytest.fixture
def answered(at: At) -> Study:
    """Comparisons of the six candidates of each of four HS, answered by simulated people."""
    study = at("paired")
    study.add_grid(PLAN)
    grid = study.grid("rank")
    grid.pair()
    grid.assign_round()
    grid.simulate(Simulate(skips=0.0, seed=4))
    return study


@pytest.mark.server
def test_each_text_of_a_row_is_in_as_many_comparisons_which_show_texts_of_one_row_alone(at: At) -> None:
    study = at("labelled")
    study.add_grid(PLAN)
    run = study.grid("rank").pair()
    assert run.counts["cells"] == 24, "six texts in four comparisons each, four a comparison: six for each HS"
    assert str(run.told) == "grid `rank` was made: 24 cells of 4 rows and 24 columns; 24 texts are compared"
    located, shown, words = compared(study)
    with study.grid()._store.read() as tx:
        main = cells.cells(tx)
    for row_id, of_row in main.groupby("hs_id"):
        counts = Counter(shown[located["hs_id"] == row_id].ravel().tolist())
        assert counts == dict.fromkeys(of_row["cn_id"], 4)
    with study.grid("rank")._store.read() as tx:
        assert [words[row] for row in sides.text_ids(tx, "row")] == list(SELECTED)
        first, *_ = sides.values(tx, "column", "body")
        numbers = cells.cells(tx)["cell_id"] - 2**32
    assert first == "\n\n".join(f"{letter}. {words[of]}" for letter, of in zip("ABCD", shown[0].tolist(), strict=True))
    assert numbers.tolist() == list(range(1, 25)), "a comparison has its place as its number"
    assert Study.doctor(study.place).is_sound


@pytest.mark.parametrize(
    ("changed", "n"),
    [
        ({"size": 2}, 48),
        ({"size": 3}, 32),
        ({"most": 4}, 16),
        ({"per_row": 2}, 8),
        ({"times": 1}, 8),
        ({"size": 6}, 16),
    ],
)
def test_there_are_as_many_comparisons_as_is_asked(at: At, changed: dict[str, int], n: int) -> None:
    study = at("labelled")
    size = changed.get("size", 4)
    letters = ",".join("ABCDEF"[:size])
    best_worst = f"best: one_of({letters}); worst: one_of({letters}) unlike best"
    study.add_grid(comparing(PAIRS if size == 2 else replace(CHOOSE, form=best_worst), **changed))
    assert study.grid("rank").pair().counts["cells"] == n


def test_two_texts_of_a_row_are_compared_again_and_again_in_either_order(at: At) -> None:
    study = at("labelled")
    study.add_grid(comparing(PAIRS, most=2, size=2))
    assert study.grid("rank").pair().counts["cells"] == 16
    located, shown, _ = compared(study)
    for row_id in located["hs_id"].unique():
        orders = Counter(map(tuple, shown[located["hs_id"] == row_id].tolist()))
        assert sorted(orders.values()) == [2, 2]


def test_pairs_of_a_tier_of_a_label_and_of_a_list_are_compared(at: At, tmp_path: Path) -> None:
    study = at("checked")
    tiers = study.grid().tiers().table().pairs
    bronze = tiers[tiers["tier"] > 0]
    study.add_grid(comparing(PAIRS, size=2, tier="bronze", labels=["not_appropriate"]))
    run = study.grid("rank").pair()
    located, shown, _ = compared(study)
    expected = {(row.hs_id, row.cn_id) for row in bronze[bronze["final"] == 0].itertuples()}
    n_by_row = Counter(hs for hs, _ in expected)
    found = {(hs, cn) for hs, ids in zip(located["hs_id"], shown.tolist(), strict=True) for cn in ids}
    assert found == {(hs, cn) for hs, cn in expected if n_by_row[hs] > 1}
    assert run.notes == () or "with fewer than 2 texts to compare" in run.notes[0]
    numbers = write_csv(tmp_path / "pairs.csv", [{"pair": number} for number in (1, 2, 3, 7, 8, 13)])
    study.add_grid(replace(comparing(PAIRS, size=2, pairs_file=numbers), name="listed"))
    run = study.grid("listed").pair()
    assert run.notes == ("left out, with fewer than 2 texts to compare: 2 rows (3, 4) of grid `main`",), (
        "six pairs a row: three of the first, two of the second, one of the third"
    )
    assert run.counts["rows"] == 2
    located, shown, _ = compared(study, "listed")
    assert [len(np.unique(shown[located["hs_id"] == row])) for row in located["hs_id"].unique()] == [3, 2]


@pytest.mark.server
def test_what_was_written_for_a_row_is_compared_and_nobody_ranks_what_they_wrote(tmp_path: Path) -> None:
    plan = comparing(PAIRS, grid="write", size=2)
    study = written(tmp_path, plan, first=replace(WRITTEN, rounds=(replace(WRITTEN.rounds[0], once_per_row=False),)))
    grid = study.grid("rank")
    assert grid.pair().counts["compared"] == 12, "three texts for each of four statements"
    _, shown, words = compared(study)
    own = wrote(study)
    with study.grid("rank")._store.read() as tx:
        ids = {person.name: person.id for person in study.people}
        found = authorship.writers_of_cells(tx, cells.cells(tx)["cell_id"].tolist(), list(ids.values()))
    first = cells_first(study)
    expected = {
        (first + at, ids[name])
        for at, of in enumerate(shown.tolist())
        for name, bodies in own.items()
        if bodies & {words[text] for text in of}
    }
    assert {*map(tuple, found.tolist())} == expected
    assert expected


def cells_first(study: Study) -> int:
    """The id of the first cell of the grid `rank`."""
    with study.grid("rank")._store.read() as tx:
        return int(cells.cells(tx)["cell_id"].min())


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"grid": "other"}, InputError, "takes texts of `other`, which is not an earlier grid"),
    ({"size": 7}, InputError, "size is 7; expected a whole number from 2 to 6"),
    ({"size": 1}, InputError, "size is 1; expected"),
    ({"most": 3}, InputError, "`most` is 3, and a comparison shows 4 texts"),
    ({"times": 2, "per_row": 3}, InputError, "`times` .*has no effect beside `per_row`"),
    ({"size": 3}, InputError, "it compares 3 texts, so it asks for two of them"),
]


@pytest.mark.parametrize(("changed", "error", "match"), REFUSED)
def test_a_plan_that_cannot_be_is_refused(at: At, changed: dict[str, Any], error: type[Exception], match: str) -> None:
    study = at("labelled")
    assert_refused(study, lambda: study.add_grid(comparing(**changed)), error, match)


def test_rows_that_are_not_those_of_the_compared_grid_are_refused() -> None:
    with pytest.raises(InputError, match=r'compares texts of the rows of another; .*rows = \{rows_of = "main"\}'):
        replace(PLAN, rows=SidePlan(names=("a", "b")))
    with pytest.raises(InputError, match="the rows of grid `rank` cannot be comparisons"):
        replace(PLAN, rows=SidePlan(compare=Compare(grid="main")))


@pytest.mark.parametrize(
    ("changed", "error", "match"),
    [
        ({"per_row": 1}, InputError, r"`per_row` is 1, and 4 rows \(1, 2, 3, 4\) need more comparisons, up to 2"),
        ({"labels": ["nonsense"]}, InputError, "unknown label `nonsense`"),
        ({"tier": "platinum"}, InputError, "there is no tier `platinum`|platinum"),
        ({"pairs_file": "no"}, InputError, "no such file"),
        ({"tier": "diamond"}, InputError, "no row of grid `main` has 4 texts to compare"),
    ],
)
def test_comparisons_that_cannot_be_drawn_leave_the_study_as_it_was(
    at: At, tmp_path: Path, changed: dict[str, Any], error: type[Exception], match: str
) -> None:
    study = at("labelled")
    if "pairs_file" in changed:
        changed = {"pairs_file": write_csv(tmp_path / "pairs.csv", [{"pair": 99}, {"pair": 1}])}
        match = "grid `main` has no pair 99; list pairs that it has"
    study.add_grid(comparing(**changed))
    assert_refused(study, study.grid("rank").pair, error, match)


def test_comparisons_are_not_compared_again(answered: Study) -> None:
    columns = SidePlan(compare=Compare(grid="rank", size=2))
    again = replace(PLAN, name="again", rows=SidePlan(rows_of="rank"), columns=columns, rounds=(PAIRS,))
    answered.add_grid(again)
    message = "grid `rank` has comparisons, which cannot be compared again"
    assert_refused(answered, answered.grid("again").pair, InputError, message)


def test_a_grid_without_cells_or_labels_has_nothing_to_compare(at: At) -> None:
    study = at("selected")
    study.add_grid(PLAN)
    assert_refused(study, study.grid("rank").pair, StageError, "grid `main` has no cells yet")
    study = at("paired")
    study.add_grid(comparing(tier="gold"))
    assert_refused(study, study.grid("rank").pair, StageError, "needs labels first")


@pytest.mark.server
def test_a_person_answers_at_the_desk_and_not_with_the_best_as_the_worst(at: At) -> None:
    study = at("labelled")
    study.add_grid(PLAN)
    grid = study.grid("rank")
    grid.pair()
    grid.assign_round()
    name = study.people[-1].name
    desk, visitor = at_desk(study, name)
    task, *_ = desk.tasks(visitor)
    assert column_of(task).startswith("A. ")
    assert task.answered is None, "the row is shown once"
    with pytest.raises(InputError, match="worst: `B` is the answer to best already; choose another one"):
        give(desk, visitor, {"best": "B", "worst": "B"}, task.assignment_id)
    give(desk, visitor, {"best": "B", "worst": "D"}, task.assignment_id)
    ((_, row),) = grid.answers().iterrows()
    assert (row["best"], row["worst"]) == ("B", "D")


def test_files_are_read_by_number_and_by_text_and_refused_with_their_line(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    study.add_grid(PLAN)
    grid = study.grid("rank")
    grid.pair()
    grid.assign_round()
    given = dealt(study, "rank", "choose")
    first = given.sort_values("position").iloc[0]
    number = int(first["cell_id"] - cells_first(study) + 1)
    wrong = write_csv(tmp_path / "w.csv", [{"cell": number, "by": first["person"], "best": "A", "worst": "A"}])
    match = "w.csv:2: worst: `A` is the answer to best already"
    assert_refused(study, lambda: grid.import_answers(wrong), InputError, match)
    texts_ = {"row": first["row"], "column": first["column"]}
    right = write_csv(tmp_path / "r.csv", [{**texts_, "by": first["person"], "best": "A", "worst": "C"}])
    assert grid.import_answers(right).counts["answers"] == 1
    assert grid.ranking().n_answers == 1


@pytest.mark.server
def test_texts_are_ranked_row_by_row_as_good_as_they_were_simulated(answered: Study) -> None:
    found = answered.grid("rank").ranking()
    assert (found.n_answers, found.n_comparisons, found.n_people, found.size) == (48, 24, 3, 4)
    frame = found.to_frame()
    assert frame.groupby("row")["score"].sum().abs().max() < 1e-4
    assert frame.groupby("row")["rank"].min().tolist() == [1, 1, 1, 1]
    assert ((frame["low"] < frame["score"]) & (frame["score"] < frame["high"])).all()
    _, shown, words = compared(answered)
    merit = dict(zip(np.unique(shown).tolist(), np.random.default_rng([4, 8]).normal(size=6), strict=True))
    best = frame.loc[frame["rank"] == 1, "text"]
    assert set(best) == {words[max(merit, key=lambda of: merit[of])]}, "people see the same best text in every row"
    assert found.agreement is not None
    assert found.transitive.n > 0


def test_ranking_says_what_it_cannot_do(at: At, answered: Study) -> None:
    with pytest.raises(StageError, match="this grid compares nothing"):
        answered.grid().ranking()
    with pytest.raises(UnknownIdError):
        answered.grid("rank").ranking(round="nothing")
    with pytest.raises(StageError, match="whose answers are not labels"):
        answered.grid("rank").tiers().table()


def test_without_answers_nothing_is_ranked(at: At) -> None:
    study = at("labelled")
    study.add_grid(PLAN)
    study.grid("rank").pair()
    with pytest.raises(StageError, match="round `choose` has no answers yet"):
        study.grid("rank").ranking()


@pytest.mark.server
def test_preferences_are_written_as_they_were_given(answered: Study, tmp_path: Path) -> None:
    grid, path = answered.grid("rank"), tmp_path / "preferences.jsonl"
    run = grid.export.comparisons(path)
    assert run.counts["preferences"] == 48
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    _, shown, _ = compared(answered)
    table = grid.answers()
    assert [line["by"] for line in lines] == table["by"].tolist()
    for line, best, worst in zip(lines, table["best"], table["worst"], strict=True):
        options = {option["letter"]: option for option in line["options"]}
        assert [option["id"] for option in line["options"]] == shown[line["comparison"] - 1].tolist()
        assert (line["chosen"], line["rejected"]) == (options[best]["text"], options[worst]["text"])
        assert line["answer"] == {"best": best, "worst": worst}
        assert line["prompt"] == line["row"]["text"] in SELECTED
        assert not line["tie"]
    with pytest.raises(StageError, match="this grid compares nothing"):
        answered.grid().export.comparisons(path)
    with pytest.raises(InputError, match=r"ends in \.jsonl"):
        grid.export.comparisons(tmp_path / "preferences.csv")


def test_a_tie_has_nothing_chosen(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    study.add_grid(comparing(PAIRS, size=2))
    grid = study.grid("rank")
    grid.pair()
    grid.assign_round()
    first = dealt(study, "rank", "which").iloc[0]
    number = int(first["cell_id"] - cells_first(study) + 1)
    answers = write_csv(tmp_path / "a.csv", [{"cell": number, "by": first["person"], "which": "tie"}])
    grid.import_answers(answers)
    grid.export.comparisons(tmp_path / "p.jsonl")
    (line,) = map(json.loads, (tmp_path / "p.jsonl").read_text("utf-8").splitlines())
    assert (line["chosen"], line["rejected"], line["tie"]) == (None, None, True)
    assert [of.wins for of in grid.ranking().texts if of.n] == [0.5, 0.5]
    assert {of.undefined for of in grid.ranking(tie="left-out").texts if of.n} != {None}


@pytest.mark.server
def test_who_opted_out_of_a_topic_is_given_no_comparison_with_it_on_either_side(at: At) -> None:
    study = at("paired")
    with study.grid()._store.write() as tx:
        spared = int(cells.cells(tx)["cn_id"].iloc[0])
        tx.execute(update(text).where(text.c.id == spared).values(meta={"topic": "war; peace"}))
    study.add_grid(PLAN)
    grid = study.grid("rank")
    grid.pair()
    grid.assign_round()
    name = study.people[-1].name
    at_desk(study, name, Annotate(opt_out="topic"))
    person = next(one for one in study.people if one.name == name)
    study.access.opt_out(person.id, "topic", ["war"])
    _, shown, _ = compared(study)
    first, given = cells_first(study), dealt(study, "rank", "choose")
    open_ = given[(given["person"] == name) & (given["status"] == "open")]["cell_id"] - first
    assert len(open_)
    assert all(spared not in shown[at] for at in open_)
    assert any(spared in ids for ids in shown)


def test_a_recipe_says_it_all_and_the_study_gives_it_back(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    recipe = load_recipe(examples / "ranking.toml")
    assert recipe.grids[0].columns.compare == Compare(
        grid="main", labels=("appropriate",), most=8, size=4, times=4, seed=13
    )
    written_ = tmp_path / "again.toml"
    written_.write_text(as_toml(recipe), "utf-8")
    assert load_recipe(written_).grids == recipe.grids


def test_a_recipe_waits_until_what_is_compared_has_its_labels(at: At) -> None:
    study = at("dealt")
    study.add_grid(comparing(labels=["appropriate"], size=2, round_=PAIRS))
    (step,) = Monitor(study.grid("rank")).headlines().steps
    assert step.act == "wait"


def test_report_methods_and_release_have_what_was_compared(answered: Study, tmp_path: Path) -> None:
    page = answered.report(tmp_path / "report.html").read_text("utf-8")
    assert "Texts that were compared" in page
    assert "48 answers to comparisons of 4 texts each" in page
    text = answered.methods().text()
    assert "24 comparisons of 4 texts each of one row" in text
    assert "standard deviation 2" in text
    assert {"bradley1952", "finn1992", "maystre2015"} <= {*answered.methods().keys}
    assert answered.grid("rank").agreement(round="choose")[0].agreement is not None


def test_the_lead_sees_the_ranking_and_no_map(answered: Study) -> None:
    monitor = Monitor(answered.grid("rank"))
    assert monitor.may_have_surveys()
    (section,) = monitor.survey_sections()
    assert [sheet.title for sheet in section.sheets] == [f"{at}. {hs}" for at, hs in enumerate(SELECTED, 1)]
    assert all(sheet.picture is not None and len(sheet.rows) == 6 for sheet in section.sheets)
    assert monitor.cell_map() is None

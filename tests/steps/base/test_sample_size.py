"""A grid of which only some cells are drawn: which they are, what the doctor says, and the whole road after it."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from servers import Database, execute

from fcpair.errors import InputError, RecipeError, StageError, UnknownIdError
from fcpair.params import (
    Adjudicate,
    Assign,
    Evaluate,
    Export,
    Import,
    Pair,
    Retrieve,
    Select,
    Setup,
    Simulate,
    Validate,
)
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe
from fcpair.records import Role, SampleSize, Tier
from fcpair.store.corpus import cells
from fcpair.study import Study
from steps.oversight.test_doctor import change, findings
from steps.small import ANNOTATORS, CNS, SELECTED, At, assert_refused, set_candidates, write_corpus, write_csv

SAMPLE = Pair(sample=13, seed=1)
OTHERS = CNS[:6]  # of the 24 cells that they make with the four HS, six stand in the corpus


@pytest.fixture
def drawn(at: At) -> Study:
    """A study of which 13 of 18 cells were drawn."""
    study = at("selected")
    set_candidates(study, OTHERS)
    study.grid().pair(SAMPLE)
    return study


def pairs_of(study: Study) -> dict[int, tuple[int, int]]:
    with study._store.read() as tx:
        there = cells.cells(tx)
    return dict(zip(there["cell_id"].tolist(), zip(there["hs_id"], there["cn_id"], strict=True), strict=True))


def recipe(folder: Path, sample: int | None) -> Recipe:
    listed = write_csv(folder / "cn.csv", [{"cn": cn} for cn in OTHERS])
    return Recipe(
        Setup(title="Small"),
        import_=Import(write_corpus(folder / "corpus.csv"), only_language="en"),
        select=Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])),
        retrieve=Retrieve(cn_list=listed),
        pair=Pair(sample=sample, seed=1),
        assign=Assign(annotators=3, overlap={2: 0.5}, seed=1),
        simulate=Simulate(positive=0.6, seed=1),
        adjudicate=Adjudicate("majority", "discard"),
        validate=Validate(validators=2, seed=1),
    )


@pytest.mark.server
def test_cells_are_drawn_by_the_seed_evenly_over_both_sides_and_none_is_of_the_corpus(drawn: Study) -> None:
    grid, there = drawn.grid(), pairs_of(drawn)
    with drawn._store.read() as tx:
        known = set(zip(*(ids.tolist() for ids in cells.corpus_pairs(tx).values()), strict=True))
    assert (len(set(there.values())), len(known)) == (13, 6)
    assert not known & set(there.values())
    assert grid.sample_size == SampleSize(13, 18)
    run = grid.pair(SAMPLE, redo=True)
    assert pairs_of(drawn) == there
    assert run.notes[0] == "sampled 13 of 18 cells"
    assert (run.counts["pairs"], run.counts["of"], run.counts["in_corpus"]) == (13, 18, 6)
    assert run.counts["cn_max"] - run.counts["cn_min"] <= 1
    health = Study.doctor(drawn.place)
    assert health.is_sound
    assert [check.note for check in health.checks if check.name == "pairs"] == ["sampled 13 of 18 cells"]
    missing = min(set(range(1, 25)) - set(there))
    with pytest.raises(UnknownIdError, match=r"numbered from \d+ to \d+; sampled 13 of 18 cells"):
        grid.explain(missing)


@pytest.mark.server
def test_a_cell_has_the_number_of_its_place_in_the_whole_grid(drawn: Study) -> None:
    there = pairs_of(drawn)
    drawn.grid().pair(Pair(keep_known=True), redo=True)
    whole = pairs_of(drawn)
    assert len(whole) == 24
    assert there == {number: whole[number] for number in there}
    drawn.grid().pair(Pair(sample=18), redo=True)
    all_cells = pairs_of(drawn)
    drawn.grid().pair(Pair(), redo=True)
    assert pairs_of(drawn) == all_cells


def test_a_grid_is_drawn_from_the_candidates_that_are_drawn_and_no_more_once_it_is_built_anew(drawn: Study) -> None:
    grid = drawn.grid()
    grid.pair(Pair(candidates=3, keep_known=True, sample=8, seed=2), redo=True)
    assert grid.sample_size == SampleSize(8, 12)
    assert len({cn for _, cn in pairs_of(drawn).values()}) == 3
    assert findings(drawn.place) == {}
    grid.select(Select(hs=3, seed=1), redo=True)
    assert grid.sample_size is None
    set_candidates(drawn, OTHERS)
    grid.pair(Pair())
    assert grid.sample_size is None
    assert findings(drawn.place) == {}


def test_a_grid_is_drawn_once_unless_it_is_asked_for_again_and_no_more_cells_than_there_are(drawn: Study) -> None:
    grid = drawn.grid()
    assert_refused(drawn, lambda: grid.pair(Pair(sample=19), redo=True), InputError, "there are 18")
    assert_refused(drawn, lambda: grid.pair(Pair(sample=9)), StageError, "`--redo` would discard 13 pairs")
    with pytest.raises(InputError, match="sample is 0; expected a whole number, 1 or more"):
        Pair(sample=0)
    rate = RoundPlan("rate", "good: scale(1,5,1)")
    drawn.add_grid(GridPlan("rate", SidePlan(names=("a", "b")), SidePlan(names=("c", "d")), rounds=(rate,)))
    with pytest.raises(InputError, match="planned, so nothing is drawn"):
        drawn.grid("rate").pair(Pair(sample=2))
    drawn.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    grid.assign(Assign(seed=1))
    grid.pair(Pair(sample=9), redo=True)
    assert grid.sample_size == SampleSize(9, 18)
    assert drawn.status()["stages"]["assign"] == 0


@pytest.mark.files
def test_the_doctor_finds_cells_that_are_missing_or_elsewhere(drawn: Study) -> None:
    assert max(pairs_of(drawn)) < 24
    first, last = ("(SELECT min(id) FROM cell)", "(SELECT max(id) FROM cell)")
    changes = {
        f"DELETE FROM cell WHERE id = {last}": "12 pairs, where 13 were drawn",
        f"UPDATE cell SET column_id = (SELECT max(column_id) FROM cell) WHERE id = {first}": "place",
        f"UPDATE cell SET id = 24 WHERE id = {last}": "place",
        "UPDATE setting SET value = '14' WHERE key = 'pair.sample'": "13 pairs, where 14 were drawn",
    }
    for statement, finding in changes.items():
        change(drawn.place, statement)
        assert any(finding in message for message in findings(drawn.place)["pairs"])
        drawn.grid().pair(SAMPLE, redo=True)
        assert findings(drawn.place) == {}


def _exchange(study: Study, number: int) -> None:
    """Put the cell of another place in place of the last one."""
    query = "SELECT text_id FROM side WHERE axis = ? AND drawn ORDER BY position"
    rows, columns = ([row[0] for row in execute(study.place, query, axis)] for axis in ("row", "column"))
    row, column = rows[(number - 1) // len(columns)], columns[(number - 1) % len(columns)]
    values = f"id = {number}, row_id = {row}, column_id = {column}"
    change(study.place, f"UPDATE cell SET {values} WHERE id = (SELECT max(id) FROM cell)")


@pytest.mark.files
def test_the_doctor_finds_cells_that_were_not_drawn_and_cells_of_the_corpus(drawn: Study) -> None:
    with drawn._store.read() as tx:
        known = (cells.places_of(tx, cells.corpus_pairs(tx)) + 1).tolist()
    undrawn = next(number for number in range(1, 25) if number not in pairs_of(drawn) and number not in known)
    _exchange(drawn, undrawn)
    assert findings(drawn.place)["pairs"] == ("the pairs of the grid are not those that were drawn",)
    drawn.grid().pair(SAMPLE, redo=True)
    _exchange(drawn, known[0])
    assert findings(drawn.place)["pairs"] == (f"pair {known[0]} is in the corpus",)


@pytest.fixture
def few_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_CELLS", 20)


@pytest.mark.files
@pytest.mark.usefixtures("few_numbers")
def test_cells_are_numbered_one_after_the_other_where_places_have_no_numbers(drawn: Study) -> None:
    there = pairs_of(drawn)
    assert list(there) == list(range(1, 14))
    assert list(there.values()) == sorted(there.values())
    assert findings(drawn.place) == {}
    change(drawn.place, "DELETE FROM cell WHERE id = 5")
    assert findings(drawn.place)["pairs"] == ("the grid has 12 pairs, where 13 were drawn",)


@pytest.mark.usefixtures("few_numbers")
def test_a_whole_grid_without_a_number_for_each_cell_is_refused(at: At) -> None:
    study = at("selected")
    set_candidates(study, OTHERS)
    assert_refused(study, lambda: study.grid().pair(), InputError, r"4 x 6 = 24 cells, and can have 20; .*--sample N")


@pytest.fixture(scope="module")
def walked_to_its_end(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    with database(), closing(Study.create(folder / "study.db", Setup(title="Small"))) as study:
        list(study.walk(recipe(folder, 13)))
        return Path(study.place)


@pytest.fixture
def finished(walked_to_its_end: Path) -> Study:
    """A study of 13 drawn cells that simulated people have done from end to end; nobody changes it."""
    return Study(walked_to_its_end)


@pytest.mark.slow
def test_every_drawn_cell_is_dealt_answered_decided_and_checked(finished: Study) -> None:
    state = finished.status()
    assert state["rounds"]["label"]["open"] == state["rounds"]["validate"]["open"] == 0
    assert sum(state["pairs"].values()) == 13
    assert state["pairs"]["no_label"] == 0
    assert state["sampled"] == {"cells": 13, "of": 18}
    assert state["notes"][0] == "sampled 13 of 18 cells"
    loads = next(run.counts for run in finished.log() if run.stage == "assign")
    assert loads["load_max"] - loads["load_min"] <= 1
    assert findings(finished.place) == {}


@pytest.mark.server
def test_figures_rest_on_the_drawn_cells_alone_and_the_others_are_unjudged_in_an_evaluation(finished: Study) -> None:
    grid = finished.grid()
    assert grid.agreement().n_pairs == 13
    in_tiers = grid.tiers().table().pairs["cell_id"]
    assert len(in_tiers) == 13
    assert set(in_tiers) <= set(pairs_of(finished))
    assert grid.explain(min(pairs_of(finished))).checks
    outcome = grid.evaluate(Evaluate(systems=("random",), pool="all", tiers=("bronze",), resamples=100))
    tier = outcome.tiers[0]
    assert tier.cells == tier.hs * len(OTHERS)
    assert tier.judged < tier.cells
    assert outcome.sampled == SampleSize(13, 18)
    data = json.loads(json.dumps(outcome.as_data()))
    assert data["sampled"] == {"cells": 13, "of": 18}
    assert type(outcome).from_data(data).sampled == outcome.sampled
    judged = {score.measure: score.score for score in outcome.scores if score.measure.startswith("judged")}
    assert all(value is not None and value < 1 for value in judged.values())


@pytest.mark.server
@pytest.mark.slow
def test_report_and_card_say_that_cells_were_drawn(finished: Study, tmp_path: Path) -> None:
    text = finished.report(tmp_path / "report.html").read_text("utf-8")
    assert "sampled 13 of 18 cells" in text
    finished.grid().export.hf(tmp_path / "hf")
    assert "sampled 13 of 18 cells." in (tmp_path / "hf" / "README.md").read_text("utf-8")
    finished.grid().export.qrels(tmp_path / "x.qrels", Tier.BRONZE, Export(pool="all"))


def test_a_recipe_that_draws_other_cells_is_refused(finished: Study, tmp_path: Path) -> None:
    for sample, said in ((12, "12"), (None, "-")):
        walk = finished.walk(recipe(tmp_path, sample))
        assert_refused(finished, partial(list, walk), RecipeError, rf"pair +sample +{said} +13")
    assert not list(finished.walk(recipe(tmp_path, 13)))


def test_a_draw_that_cannot_be_even_says_why(tmp_path: Path) -> None:
    """The first HS stands with five of six CNs in the corpus, so it has one cell left, and the second has five."""
    pairs = [{"hs": "a", "cn": f"c{at}"} for at in range(1, 6)] + [{"hs": "b", "cn": "c6"}]
    study = Study.create(tmp_path / "study.db", Setup(title="Uneven"))
    study.import_corpus(Import(write_csv(tmp_path / "corpus.csv", pairs)))
    grid = study.grid()
    grid.select(Select(hs=2))
    set_candidates(study, [f"c{at}" for at in range(1, 7)])
    run = grid.pair(Pair(sample=4, seed=1))
    assert run.notes == (
        "sampled 4 of 6 cells",
        "each HS has 1 to 3 cells, because so much of the grid is in the corpus that no draw is more even",
    )

"""A grid that takes more: what is there stays, and what comes is as if it had been there from the beginning."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import Database, execute

from fcpair.errors import InputError, StageError
from fcpair.params import Assign, Evaluate, Extend, Import, Pair, Setup
from fcpair.records import Role
from fcpair.steps.assignment import assign
from fcpair.store.corpus import cells
from fcpair.study import Study
from steps.small import (
    ANNOTATORS,
    CNS,
    HS,
    SHARED,
    At,
    assert_refused,
    labels_of,
    open_work,
    set_candidates,
    who_had,
    with_grid,
    write_csv,
)

NEW_HS = HS[4:]


def all_cells(study: Study) -> list[tuple[int, int, int]]:
    with study._store.read() as tx:
        return [*cells.cells(tx).itertuples(index=False, name=None)]


def assignment_rows(study: Study) -> list[Any]:
    return execute(study.place, "SELECT id, cell_id, person_id, position, status FROM assignment ORDER BY id")


def assert_sound(study: Study) -> None:
    assert [check.name for check in Study.doctor(study.place).checks if check.found] == []


def test_new_hs_are_crossed_with_all_cns_and_what_is_there_stays(at: At, tmp_path: Path) -> None:
    """24 pairs of 4 HS and 6 CNs; each of two more HS brings 6, of which the corpus has 3."""
    study, grid = with_grid(at("checked"))
    before, work, labels = all_cells(study), assignment_rows(study), labels_of(study)
    tier = grid.tier("bronze")
    run = grid.extend(hs_list=write_csv(tmp_path / "hs.csv", [{"hs": hs} for hs in NEW_HS]))
    assert run.counts == {"pairs": 6, "new_hs": 2, "new_cns": 0, "left_out": 6, "new_labels": 12}
    assert all_cells(study)[:24] == before
    assert [number for number, _, _ in all_cells(study)[24:]] == [28, 29, 30, 31, 32, 33]
    assert assignment_rows(study)[: len(work)] == work
    assert labels_of(study) == labels
    pd.testing.assert_frame_equal(grid.tier("bronze"), tier)
    assert_sound(study)


def test_the_overlap_holds_over_old_and_new_together_and_loads_are_level(at: At) -> None:
    """A quarter of 30 pairs has two labels and a quarter three: 8 each, 6 of which were there."""
    study, grid = with_grid(at("dealt"))
    before = who_had(study)
    grid.extend(hs=2)
    given_now = who_had(study)
    assert Counter(map(len, given_now.values())) == {1: 14, 2: 8, 3: 8}
    assert {pair: given_now[pair] for pair in before} == before
    loads = Counter(who for who, _ in open_work(study))
    assert max(loads.values()) - min(loads.values()) <= 1


def test_new_cns_come_behind_the_old_pairs_and_before_new_hs(at: At) -> None:
    """Two CNs more with 4 HS: 8 pairs, less what the corpus pairs; then 2 HS more with 8 CNs."""
    study, grid = with_grid(at("dealt"))
    grid.extend(hs=2, cn_list=pd.DataFrame({"cn": [SHARED, CNS[0]]}))
    found = pd.DataFrame(all_cells(study), columns=["cell_id", "hs_id", "cn_id"])
    new = found[found["cell_id"] > 24]
    assert new["hs_id"].is_monotonic_increasing
    with study._store.read() as tx:
        assert cells.load_blocks(tx).shapes == ((4, 6), (6, 8))
        numbers, block = cells.load_blocks(tx).find(cells.places_of(tx, found))
    assert numbers.tolist() == found["cell_id"].tolist()
    assert Counter(block.tolist()) == {1: 24, 2: len(new)}
    assert_sound(study)


def test_pairs_of_the_corpus_stay_out_unless_they_were_kept(at: At) -> None:
    """The first two and the fifth HS have the shared CN in the corpus."""
    study, grid = with_grid(at("dealt"))
    assert grid.extend(cn_list=pd.DataFrame({"cn": [SHARED]})).counts["left_out"] == 2
    assert len(all_cells(study)) == 24 + 2
    kept, grid = with_grid(at("retrieved"))
    grid.pair(Pair(keep_known=True))
    counts = grid.extend(cn_list=pd.DataFrame({"cn": [SHARED]})).counts
    assert (counts["pairs"], counts["in_corpus"]) == (4, 2)
    assert_sound(kept)


def test_texts_that_the_study_lacks_come_in_only_where_that_is_said(at: At) -> None:
    study, grid = with_grid(at("dealt"))
    new = pd.DataFrame({"hs": ["Whoever whistles in the morning is up to something."], "hs_id": ["w1"]})
    assert_refused(study, partial(grid.extend, hs_list=new), InputError, "not in the study")
    grid.extend(hs_list=new, new_texts=True)
    assert len(all_cells(study)) == 30
    assert_sound(study)


def test_a_run_brings_the_cns_in_that_its_measures_read(at: At, tmp_path: Path) -> None:
    """`NDCG@2` reads two ranks: of the third nothing is needed, and what is in the grid is not brought in again."""
    study, grid = with_grid(at("checked"))
    with study._store.read() as tx:
        from fcpair.store.corpus import sides, texts

        hs, columns = sides.text_ids(tx, "row")[0], sides.text_ids(tx, "column")
        others = [id_ for id_ in texts.texts_of(tx, "cn")["id"].tolist() if id_ not in columns]
    path = tmp_path / "new.trec"
    ranked = [columns[0], others[0], others[1]]
    path.write_text("".join(f"{hs} Q0 {cn} {rank} {1 / rank} x\n" for rank, cn in enumerate(ranked, 1)))
    grid.evaluate(Evaluate(("tfidf",), measures=("NDCG@2",), tiers=("bronze",)))
    assert grid.extend(runs=[path], depth=2).counts["new_cns"] == 1
    with study._store.read() as tx:
        assert sides.neighbours_of(tx, others[0])["run"].tolist() == ["new.trec"]
    assert grid.extend(runs=[path]).counts["new_cns"] == 1
    assert_refused(study, partial(grid.extend, runs=[path], depth=3), InputError, "nothing to add")


def test_a_drawn_grid_takes_the_share_that_it_has(at: At) -> None:
    study, grid = with_grid(at("retrieved"))
    grid.pair(Pair(sample=12, seed=1))
    grid.extend(hs=2)
    assert grid.sample_size is not None
    assert (grid.sample_size.cells, grid.sample_size.of) == (15, 30)
    assert_sound(study)
    assert_refused(study, partial(grid.extend, hs=2, seed=9, sample=900), InputError, "cannot be drawn")


def test_with_open_assignment_the_new_pairs_are_open_to_whoever_asks(at: At) -> None:
    study, grid = with_grid(at("paired"))
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    grid.assign(Assign(open=True, overlap={2: 0.5}))
    free = execute(study.place, "SELECT count(*) FROM slot")[0][0]
    assert grid.extend(hs=2).counts["free"] == 9
    assert execute(study.place, "SELECT count(*) FROM slot")[0][0] == free + 9


def test_what_cannot_be_added_is_refused_and_nothing_changes(at: At) -> None:
    study, grid = with_grid(at("dealt"))
    refusals: list[tuple[Any, type[Exception], str]] = [
        (partial(grid.extend, hs_list=pd.DataFrame({"hs": [HS[0], HS[5]]})), InputError, "1 of 2 texts are in"),
        (partial(grid.extend, hs=3), InputError, "3 further HS cannot be drawn; there are 2"),
        (partial(grid.extend, hs=1, sample=3), InputError, "omit `sample`"),
        (grid.extend, InputError, "say what the grid is to take"),
        (partial(Extend, hs=1, depth=3), InputError, "depth"),
    ]
    for call, error, match in refusals:
        assert_refused(study, call, error, match)
    grid.extend(hs=1)
    assert_refused(study, partial(grid.extend, hs=1), InputError, "the last extension was the same")
    for name in ANNOTATORS:
        study.retire(name)
    assert_refused(study, partial(grid.extend, hs=1, seed=2), StageError, "no annotator is left")


def test_a_grid_without_pairs_has_nothing_to_extend(at: At) -> None:
    study, grid = with_grid(at("retrieved"))
    assert_refused(study, partial(grid.extend, hs=1), StageError, "has no cells yet")


def test_an_extension_that_is_interrupted_leaves_the_study_as_it_was(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    study, grid = with_grid(at("dealt"))

    def interrupt(*_: object) -> None:
        raise RuntimeError("now")

    monkeypatch.setattr(assign, "_write_plan", interrupt)
    assert_refused(study, partial(grid.extend, hs=2), RuntimeError, "now")
    assert_sound(study)


def test_making_the_grid_anew_forgets_its_blocks(at: At) -> None:
    study, grid = with_grid(at("paired"))
    grid.extend(hs=2)
    grid.pair(redo=True)
    with study._store.read() as tx:
        assert cells.load_blocks(tx).shapes == ((6, 6),)
    assert_sound(study)


@st.composite
def growths(draw: st.DrawFn) -> tuple[tuple[int, int], tuple[int, int], int]:
    """The shape of a grid, the larger one that it grows to, and a seed for its labels."""
    rows, columns, n_columns = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 3))
    n_rows = draw(st.integers(0 if n_columns else 1, 3))
    return (rows, columns), (rows + n_rows, columns + n_columns), draw(st.integers(0, 99))


TEXTS = pd.DataFrame({"hs": [f"HS {at}" for at in range(8)], "cn": [f"CN {at}" for at in range(8)]})


def build(path: Path, shape: tuple[int, int], grown: tuple[int, int], seed: int) -> Study:
    """A study of so many HS and CNs, extended to `grown`, in which everybody labels every pair, as drawn by its texts;
    what is in the corpus is HS n with CN n.
    """
    study = Study.create(path, Setup())
    study.import_corpus(TEXTS)
    grid, listed = study.grid(), TEXTS.iloc[::-1].reset_index(drop=True)
    grid.select(hs_list=listed[["hs"]].head(shape[0]))
    set_candidates(study, TEXTS["cn"].head(shape[1]))
    grid.pair()
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    grid.assign(Assign(overlap={3: 1.0}))
    if grown != shape:
        hs, cns = listed[["hs"]].iloc[shape[0] : grown[0]], TEXTS[["cn"]].iloc[shape[1] : grown[1]]
        grid.extend(hs_list=hs if len(hs) else None, cn_list=cns if len(cns) else None)
    drawn = np.random.default_rng(seed).integers(3, size=(8, 8, 3))
    bodies = dict(execute(study.place, "SELECT id, body FROM text"))
    rows = [
        {"hs": hs, "cn": cn, "annotator": who, "label": str(drawn[int(hs[3:]), int(cn[3:]), at])}
        for hs, cn in ((bodies[hs], bodies[cn]) for _, hs, cn in all_cells(study))
        for at, who in enumerate(ANNOTATORS)
    ]
    grid.import_labels(pd.DataFrame(rows))
    grid.adjudicate(policy="majority", ties="discard")
    return study


def figures_of(study: Study) -> Any:
    """All that users see of labels, but for the numbers of pairs."""
    grid = study.grid()
    tiers, state = grid.tiers().table(), study.status()
    graded = tiers.pair_frame()[["hs_id", "cn_id", "n_labels", "label", "verdict", "tier"]]
    agreement = grid.agreement()
    figures = [
        (figure.name, figure.n, figure.undefined, *(x and round(x, 9) for x in (figure.value, figure.low, figure.high)))
        for figure in (*agreement.pooled, *agreement.summary, *(of.kappa for of in agreement.subsets))
    ]
    pairs = sorted(graded.itertuples(index=False, name=None), key=str)
    return figures, pairs, tiers.sizes, state["pairs"], state["adjudications"]


def assert_like_whole(folder: Path, old: tuple[int, int], new: tuple[int, int], seed: int) -> None:
    grown, whole = build(folder / "grown.db", old, new, seed), build(folder / "whole.db", new, new, seed)
    assert figures_of(grown) == figures_of(whole)
    assert_sound(grown)
    grown.close()
    whole.close()


@given(growths())
def test_an_extended_study_has_the_figures_of_one_that_had_all_pairs_from_the_beginning(
    tmp_path_factory: pytest.TempPathFactory, growth: Any
) -> None:
    assert_like_whole(tmp_path_factory.mktemp("growing"), *growth)


@pytest.mark.long
@pytest.mark.server
def test_many_extended_studies_have_the_figures_of_whole_ones(
    database: Database, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """200 in files, and 50 in databases of a server, which take longer to make (200 of these were like whole ones)."""
    for seed in range(200 if "sqlite" in request.node.name else 50):
        rng = np.random.default_rng(seed)
        old, more = rng.integers(1, 5, 2), rng.integers(0, 4, 2)
        more[0] += not more.any()
        new = tuple((old + more).tolist())
        with database(lasting=False):
            assert_like_whole(tmp_path_factory.mktemp("growing"), tuple(old.tolist()), new, seed)


@pytest.mark.slow
def test_the_grid_of_fc_conan_grows_from_45_to_50_hs(data: Path, tmp_path: Path) -> None:
    """45 HS by 129 CNs of CONAN, nine people: 5,805 cells as before, 5 x 129 = 645 new, and loads level over both."""
    published = pd.read_csv(data / "fc-conan" / "bronze_partition_df.csv")
    hs, cns = published["hate speech"].drop_duplicates(), published["counternarrative"].drop_duplicates()[:129]
    study = Study.create(tmp_path / "study.db")
    study.import_corpus(Import(data / "conan" / "CONAN.csv", "conan", only_language="en"))
    grid = study.grid()
    grid.select(hs_list=pd.DataFrame({"hs": hs}))
    grid.retrieve(cn_list=pd.DataFrame({"cn": cns}))
    grid.pair(keep_known=True)
    study.add_people([f"annotator-{at}" for at in range(1, 10)], Role.ANNOTATOR)
    grid.assign(overlap={2: 0.126, 3: 0.05}, seed=13)
    before, work = all_cells(study), assignment_rows(study)
    grid.simulate(skips=0.0, seed=13)
    labels, tier = labels_of(study), grid.tier("bronze")
    run = grid.extend(hs=5, seed=14)
    assert (len(before), run.counts["pairs"], run.counts["new_hs"]) == (5805, 645, 5)
    assert all_cells(study)[:5805] == before
    assert [number for number, _, _ in all_cells(study)] == list(range(1, 6451))
    assert [row[:4] for row in assignment_rows(study)[: len(work)]] == [row[:4] for row in work]
    assert labels_of(study) == labels
    pd.testing.assert_frame_equal(grid.tier("bronze"), tier)
    n_labels = Counter(len(had) for had in who_had(study).values())
    assert n_labels == {
        1: 6450 - round(6450 * 0.126) - round(6450 * 0.05),
        2: round(6450 * 0.126),
        3: round(6450 * 0.05),
    }
    loads = Counter(row[2] for row in assignment_rows(study))
    assert max(loads.values()) - min(loads.values()) <= 5
    assert_sound(study)

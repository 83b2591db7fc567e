"""Near-duplicates before they cost a row: what `pair` says of spellings, and what becomes of them with --merge."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.models import encode, model_files
from fcpair.models.model_files import Model
from fcpair.params import Pair
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.stages.corpus.spellings import fold_spelling
from fcpair.store.corpus import cells, sides
from fcpair.study import Study
from steps.releasing import full_form
from steps.small import assert_refused, check, open_work, record, with_grid, write_csv

PAIRS = [  # two spellings of the first HS, three of the second CN; `Why not?` is answered by a spelling alone
    ("They never stop.", "They do.", "h1", "c1"),
    ("“they never  stop.”", "At red lights!", "h2", "c2"),
    ("Why not?", "AT RED\u00a0LIGHTS!", "h3", "c3"),
    ('"They never stop."', "at red\u200b lights!", "h4", "c4"),
    ("Who says so?", "I do.", "h5", "c5"),
]
CORPUS = pd.DataFrame(PAIRS, columns=["hs", "cn", "hs_id", "cn_id"])
SAID = "differ only by case, spaces, quotes, invisible signs or Unicode form"


def retrieved(folder: Path, corpus: pd.DataFrame = CORPUS, name: str = "s") -> Study:
    """A study of all texts of a corpus, before they are crossed."""
    study, grid = with_grid(Study.create(folder / f"{name}.db"))
    study.import_corpus(corpus)
    grid.select(hs=corpus["hs"].nunique())
    grid.retrieve(every_cn=True)
    return study


def bodies(study: Study) -> tuple[list[str], list[str]]:
    with study._store.read() as tx:
        row, column = (sides.values(tx, axis, "body", drawn=True) for axis in cells.AXES)
    return row, column


def test_pair_names_spellings_and_leaves_all_texts_in(tmp_path: Path) -> None:
    study = retrieved(tmp_path)
    run = study.grid().pair()
    assert run.counts["pairs"] == 5 * 5 - 5
    assert run.notes == (
        f"3 HS in 1 group {SAID} (hs_id h1 = h2 = h4); `fcpair pair --redo --merge` keeps the first of each",
        f"3 CN in 1 group {SAID} (cn_id c2 = c3 = c4); `fcpair pair --redo --merge` keeps the first of each",
    )
    assert "merge" not in run.params
    assert retrieved(tmp_path, CORPUS.drop(index=[1, 2, 3]), "plain").grid().pair().notes == ()


@pytest.mark.server
def test_merging_keeps_the_first_and_no_known_pair_of_a_spelling(tmp_path: Path) -> None:
    """3 HS x 3 CNs less four known pairs: h1 with c1, and by their spellings h1 and h3 with c2; h5 with c5."""
    study, grid = with_grid(retrieved(tmp_path))
    run = grid.pair(merge=True)
    assert (run.counts["hs"], run.counts["cn"], run.counts["pairs"], run.counts["in_corpus"]) == (3, 3, 5, 4)
    assert (run.counts["merged_hs"], run.counts["merged_cn"]) == (2, 2)
    assert run.told.endswith("2 HS are spellings of others; 2 CNs are spellings of others")
    assert run.notes[0] == f"3 HS in 1 group {SAID} (hs_id h1 = h2 = h4); the first of each was kept"
    assert bodies(study) == (["They never stop.", "Why not?", "Who says so?"], ["They do.", "At red lights!", "I do."])
    assert study.doctor(study.place).is_sound
    study.report(tmp_path / "report.html")
    assert "were left out (2 hate-speech messages, 2 counter-narratives)" in study.methods().sections[0].text
    assert "merge = true" in study.recipe_text()
    again = grid.pair(redo=True)
    assert again.counts["pairs"] == 20
    assert len(bodies(study)[0]) == 5
    assert grid.pair(Pair(candidates=2, merge=True), redo=True).counts["cn"] == 2


def test_runs_lists_and_answers_find_the_kept_text_by_a_spelling(tmp_path: Path) -> None:
    study, grid = with_grid(retrieved(tmp_path))
    grid.pair(merge=True, keep_known=True)
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign()
    labels = [("ana", pair, "appropriate" if pair == 2 else "not_appropriate") for _, pair in open_work(study)]
    record(study, tmp_path, [label for label in labels if label[1] != 1])
    first = pd.DataFrame([{"hs": PAIRS[3][0], "cn": PAIRS[0][1], "annotator": "ana", "label": "not_appropriate"}])
    assert grid.import_labels(first).counts["answers"] == 1
    grid.adjudicate(policy="majority")
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation()
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    lines = [f"{hs} Q0 {cn} 1 1 x" for hs, cn in (("h4", "c3"), ("h3", "c5"), ("h5", "c1"))]
    (tmp_path / "r.trec").write_text("\n".join(lines), "utf-8")
    words = {"tiers": ["bronze"], "measures": ["MRR"], "no_positives": "leave_out"}
    (score,) = grid.evaluate(systems=[f"run:{tmp_path}/r.trec"], **words).scores  # type: ignore[arg-type]
    assert score.score == 1
    (tmp_path / "n.trec").write_text("2 Q0 8 1 1 x\n3 Q0 10 1 1 x\n5 Q0 6 1 1 x\n", "utf-8")
    numbered = grid.evaluate(systems=[f"run:{tmp_path}/n.trec"], ids="study", **words)  # type: ignore[arg-type]
    assert numbered.scores[0].score == 1
    pool = write_csv(tmp_path / "p.csv", [{"cn_id": "c4"}])
    sha256 = grid.export.qrels(tmp_path / "q", "bronze", pool=str(pool)).counts["sha256"]
    assert (tmp_path / "q").read_text("utf-8").splitlines() == ["h1 0 c2 2", "h3 0 c2 0", "h5 0 c2 0"]
    pool = write_csv(tmp_path / "t.csv", [{"cn": PAIRS[3][1]}])
    assert grid.export.qrels(tmp_path / "t", "bronze", pool=str(pool)).counts["sha256"] == sha256
    tier = grid.tier("bronze")
    assert tier["cn.spellings"].tolist()[:3] == ["", "AT RED\u00a0LIGHTS! | at red\u200b lights!", ""]
    assert grid.explain(2).hs_metadata["spellings"] == '“they never  stop.” | "They never stop."'
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    card = (tmp_path / "v1/README.md").read_text("utf-8")
    assert "Grid main: other spellings were merged into 2 of its texts (4)" in card
    assert Study.verify(tmp_path / "v1", study).is_sound


def test_close_texts_are_named_and_merged_by_the_cosine_of_the_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cosines of neighbours on a circle: with 18 degrees between them 0.951, with 36 degrees 0.809."""

    def encoded(texts: list[str], _model: Model, _progress: object = None) -> NDArray[np.float32]:
        angles = np.radians([18.0 * int(text.split()[-1]) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    monkeypatch.setattr(model_files, "resolve", lambda name, **_: Model(name, "nowhere", "test", "ab" * 32, "cd" * 32))
    monkeypatch.setattr(encode, "encode", encoded)
    corpus = pd.DataFrame({"hs": ["a 0", "b 9"], "cn": ["c 0", "d 1"]})
    corpus = pd.concat([corpus, pd.DataFrame({"hs": ["a 0", "b 9"], "cn": ["e 2", "f 6"]})])
    study, grid = with_grid(retrieved(tmp_path, corpus))
    assert grid.pair().notes == ()
    (note,) = grid.pair(similar=0.95, redo=True).notes
    assert "2 CN in 1 group" in note
    assert f"{SAID}, or have a cosine of 0.95 or more (cn_id 3 = 4); `fcpair pair" in note
    run = grid.pair(similar=0.95, merge=True, redo=True)
    assert (run.counts["cn"], run.counts["merged_cn"]) == (3, 1)  # `e 2` is close to `d 1`, which was merged itself
    assert bodies(study)[1] == ["c 0", "e 2", "f 6"]
    assert "whose embeddings have a cosine of 0.95 or more, were left out" in study.methods().sections[0].text


@pytest.mark.server
def test_an_extension_merges_spellings_of_what_is_there_as_the_grid_did(tmp_path: Path) -> None:
    """Three HS and three CNs; of two CNs that are added, one is the fourth spelling of the second, which stays one."""
    study, grid = with_grid(retrieved(tmp_path))
    grid.pair(merge=True)
    run = grid.extend(cn_list=pd.DataFrame({"cn": ["AT RED LIGHTS !", "Never."]}), new_texts=True)
    assert (run.counts["pairs"], run.counts["new_cns"]) == (3, 1)
    assert "1 of the new texts are spellings of others in the grid" in run.notes[0]
    assert bodies(study)[1] == ["They do.", "At red lights!", "I do.", "Never."]
    with study._store.read() as tx:
        assert len(sides.spellings(tx)) == 5
    assert not any(check.found for check in Study.doctor(study.place).checks)


def test_a_plain_pair_loads_no_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "resolve", lambda *_, **__: pytest.fail("a model was looked for"))
    retrieved(tmp_path).grid().pair(merge=True)


def test_what_cannot_be_merged_is_refused(tmp_path: Path) -> None:
    study, grid = with_grid(retrieved(tmp_path))
    for similar in (0, -0.5, 1.01):
        with pytest.raises(InputError, match=r"similar is .*; expected a cosine above 0, at most 1"):
            Pair(similar=similar)
    alike = CORPUS.iloc[[0, 1, 3]].assign(cn=["I do.", "i do.", "I  DO."], cn_id=["c1", "c2", "c3"])
    other, one = with_grid(retrieved(tmp_path, alike, "alike"))
    assert_refused(other, partial(one.pair, merge=True), InputError, r"--merge leaves 1 of 3 HS, .* or omit --merge")
    assert_refused(study, partial(grid.pair, merge=True, candidates=4), InputError, "4 candidates")
    plan = GridPlan(
        "tag", SidePlan(names=("a", "A")), SidePlan(names=("b", "c")), (RoundPlan("tag", "label: one_of(yes+,no)"),)
    )
    planned = Study.create(tmp_path / "planned.db", grids=[plan])
    act = partial(planned.grid("tag").pair, merge=True)
    assert_refused(planned, act, InputError, "the sides of grid `tag` are planned, so nothing is drawn; omit")


def test_a_recipe_merges(tmp_path: Path) -> None:
    CORPUS.to_csv(tmp_path / "c.csv", index=False)
    (tmp_path / "r.toml").write_text(
        '[import]\npath = "c.csv"\n[select]\nhs = 5\n[retrieve]\nevery_cn = true\n[pair]\nmerge = true\n', "utf-8"
    )
    study = Study.create(tmp_path / "s.db")
    with pytest.raises(InputError, match="no section"):
        for run in study.walk(load_recipe(tmp_path / "r.toml")):
            last = run
    assert (last.stage, last.counts["merged_hs"]) == ("pair", 2)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("aAbBcCdD"), st.sampled_from(["x", "X", " x'", "y", "Y", "z"])), min_size=3))
def test_a_merged_grid_has_no_two_texts_of_one_fold_and_no_known_pair(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    """And merging again what was merged changes nothing."""
    corpus = pd.DataFrame(pairs, columns=["hs", "cn"])
    folds = {(fold_spelling(hs), fold_spelling(cn)) for hs, cn in pairs}
    n_hs, n_cn = (len({of[at] for of in folds}) for at in (0, 1))
    study, grid = with_grid(retrieved(tmp_path_factory.mktemp("merged"), corpus))
    if min(n_hs, n_cn) == 1:
        return
    run = grid.pair(merge=True)
    rows, columns = bodies(study)
    assert (len({*map(fold_spelling, rows)}), len({*map(fold_spelling, columns)})) == (len(rows), len(columns))
    assert (len(rows), len(columns)) == (n_hs, n_cn)
    with study._store.read() as tx:
        merged, texts = sides.spellings(tx), dict(sides.bodies(tx, "row") + sides.bodies(tx, "column"))
        drawn = {axis: {*sides.text_ids(tx, axis, drawn=True)} for axis in cells.AXES}
        there = {(texts[hs], texts[cn]) for hs, cn in cells.cells(tx)[["hs_id", "cn_id"]].to_numpy().tolist()}
    assert {*texts} == {*merged} | drawn["row"] | drawn["column"]
    assert not {*merged} & (drawn["row"] | drawn["column"])
    assert all(fold_spelling(texts[of]) == fold_spelling(texts[by]) for of, by in merged.items())
    assert {(fold_spelling(hs), fold_spelling(cn)) for hs, cn in there}.isdisjoint(folds)
    assert len(there) == n_hs * n_cn - len(folds) == run.counts["pairs"]
    assert grid.pair(merge=True, redo=True).counts == run.counts

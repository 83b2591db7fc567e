"""From a corpus to dealt pairs: the order of the stages, what a second call says, and what `redo` discards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fcpair.errors import FcpairError, InputError, StageError, StudyError
from fcpair.grid import Grid
from fcpair.models import encode, model_files
from fcpair.models.model_files import Model
from fcpair.params import (
    Adjudicate,
    Agree,
    Assign,
    Import,
    Pair,
    Partition,
    Retrieve,
    Select,
    Setup,
    Simulate,
    Validate,
)
from fcpair.records import Role, Tier
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.oversight import build_progress
from fcpair.study import Study
from steps.small import (
    ANNOTATORS,
    CNS,
    HS,
    At,
    assert_refused,
    open_work,
    with_grid,
    write_corpus,
    write_csv,
)


def row_in(folder: Path, **columns: str) -> Path:
    return write_csv(folder / "given.csv", [columns])


BUILDING: dict[str, Callable[[Study, Path, bool], object]] = {
    "import": lambda study, folder, redo: study.import_corpus(Import(write_corpus(folder / "c.csv")), redo=redo),
    "select": lambda study, folder, redo: study.grid().select(Select(hs=3, seed=1), redo=redo),
    "retrieve": lambda study, folder, redo: study.grid().retrieve(Retrieve(k=2), redo=redo),
    "pair": lambda study, folder, redo: study.grid().pair(Pair(candidates=4), redo=redo),
    "assign": lambda study, folder, redo: study.grid().assign(Assign(annotators=3), redo=redo),
}


MADE = {
    "import": ("imported", 21, "21 corpus rows"),
    "select": ("selected", 4, "4 selected HS"),
    "retrieve": ("retrieved", 6, "6 candidates"),
    "pair": ("paired", 24, "24 pairs"),
    "assign": ("dealt", 42, "42 assignments"),
}
"""How the study is called after a stage, how many things that makes, and what doing it again would discard."""


@pytest.fixture
def fake_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors on a circle, in the order of the texts: the neighbours of a text are those beside it."""

    def encoded(texts: list[str], _model: Model, _progress: object = None) -> NDArray[np.float32]:
        angles = np.linspace(0, np.pi, len(texts))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    monkeypatch.setattr(model_files, "resolve", lambda name, **_: Model(name, "nowhere", "test", "ab" * 32, "cd" * 32))
    monkeypatch.setattr(encode, "encode", encoded)


def built(study: Study) -> dict[str, int]:
    with study._store.read() as tx:
        return build_progress.n_built(tx)


TOO_EARLY: dict[str, list[tuple[Callable[[Grid, Path], object], str]]] = {
    "empty": [
        (lambda grid, _: grid.select(Select(hs=1)), "fcpair import"),
        (lambda grid, _: grid.retrieve(Retrieve()), "fcpair import"),
        (lambda grid, _: grid.pair(Pair()), "fcpair import"),
        (lambda grid, _: grid.assign(Assign(annotators=2)), "fcpair import"),
        (lambda grid, folder: grid.import_labels(row_in(folder, pair="1", annotator="a", label="0")), "fcpair pair"),
    ],
    "imported": [(lambda grid, _: grid.retrieve(Retrieve()), "fcpair select")],
    "selected": [(lambda grid, _: grid.pair(Pair()), "fcpair retrieve")],
    "retrieved": [(lambda grid, _: grid.assign(Assign(annotators=2)), "fcpair pair")],
    "paired": [
        (lambda grid, folder: grid.sheets.write_labels(folder), "fcpair assign"),
        (lambda grid, _: grid.simulate(Simulate()), "fcpair assign"),
        (lambda grid, _: grid.assign(Assign()), "fcpair people add NAME --role annotator"),
    ],
    "dealt": [
        (lambda grid, _: grid.agreement(Agree()), "fcpair labels import"),
        (lambda grid, _: grid.adjudicate(Adjudicate()), "fcpair labels import"),
        (lambda grid, _: grid.desk.adjudicate_dry_run(Adjudicate()), "fcpair labels import"),
        (lambda grid, folder: grid.import_outcomes(row_in(folder, pair="1", label="0")), "fcpair labels import"),
        (lambda grid, _: grid.tiers(Partition()).table(), "fcpair labels import"),
        (lambda grid, folder: grid.release(Tier.GOLD, folder / "g.csv"), "fcpair labels import"),
    ],
    "labelled": [
        (lambda grid, _: grid.assign_validation(Validate(validators=2)), "fcpair adjudicate"),
        (lambda grid, folder: grid.sheets.write_labels(folder / "sheets"), "no label is open"),
    ],
    "decided": [
        (lambda grid, folder: grid.sheets.write_verdicts(folder), "fcpair validate assign"),
        (
            lambda grid, folder: grid.import_verdicts(row_in(folder, pair="1", validator="v", verdict="agree")),
            "no validator is called `v`|not dealt|fcpair validate assign",
        ),
        (lambda grid, _: grid.assign_validation(Validate()), "people add NAME --role validator"),
    ],
}


@pytest.mark.parametrize("stage", TOO_EARLY)
def test_a_stage_called_too_early_names_the_command_to_run(at: At, tmp_path: Path, stage: str) -> None:
    study = at(stage)
    for call, command in TOO_EARLY[stage]:
        assert_refused(study, partial(call, study.grid(), tmp_path), FcpairError, command)
    if stage == "dealt":
        assert study.grid().waiting_pairs() == []


@pytest.mark.usefixtures("fake_encoder")
@pytest.mark.parametrize("name", list(BUILDING))
def test_a_second_call_says_what_redo_would_discard_and_redo_discards_it(at: At, tmp_path: Path, name: str) -> None:
    earlier = list(BUILDING)[: list(BUILDING).index(name)]
    later = list(BUILDING)[len(earlier) + 1 :]
    stage, _, discarded = MADE[name]
    study = at(stage)
    message = f"`{name}` has been done; `--redo` would discard {discarded}$"
    assert_refused(study, lambda: BUILDING[name](study, tmp_path, False), StageError, message)

    study = at("dealt")
    with pytest.raises(StageError) as caught:
        BUILDING[name](study, tmp_path, False)
    assert [step for step in BUILDING if MADE[step][2] in str(caught.value)] == [name, *later]
    BUILDING[name](study, tmp_path, True)
    now = built(study)
    assert {step: now[step] for step in earlier} == {step: MADE[step][1] for step in earlier}
    assert now[name] > 0
    assert [now[step] for step in later] == [0] * len(later)
    if name == "assign":
        assert [person.name for person in study.people] == list(ANNOTATORS)


@pytest.mark.usefixtures("fake_encoder")
def test_nothing_that_judgements_rest_on_is_ever_redone(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    message = r"42 judgements rest on its results.*never discarded; `fcpair init --study OTHER`"
    for stage in BUILDING.values():
        for redo in (False, True):
            assert_refused(study, partial(stage, study, tmp_path, redo), StageError, message)


def test_redo_of_a_stage_that_was_not_done_just_does_it_and_one_that_fails_keeps_what_was_there(at: At) -> None:
    study = at("imported")
    study.grid().select(Select(hs=2), redo=True)
    assert built(study)["select"] == 2
    too_many = Select(hs=99)
    refusal = "99 HS cannot be drawn; there are 6"
    assert_refused(study, lambda: study.grid().select(too_many, redo=True), InputError, refusal)


def test_a_study_is_made_with_what_it_was_given_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"g\.md cannot be read"):
        Study.create(tmp_path / "s.db", Setup(guidelines=tmp_path / "g.md"))
    with pytest.raises(InputError, match="cannot decide a cell for tiers"):
        Study.create(tmp_path / "s.db", Setup(scheme="text()"))
    assert not list(tmp_path.iterdir())
    (tmp_path / "g.md").write_text("# Be kind\n", "utf-8")
    Study.create(tmp_path / "s.db", Setup(title="T é", guidelines=tmp_path / "g.md", hs_name="claim"))
    facts = Study(tmp_path / "s.db").facts
    assert (facts["title"], facts["guidelines"], facts["hs_name"]) == ("T é", "# Be kind\n", "claim")


def test_every_stage_leaves_a_run_with_its_parameters_and_counts(at: At) -> None:
    runs = at("dealt").log()
    assert [run.stage for run in runs] == ["init", "import", "select", "pair", "people", "assign"]
    assert runs[1].counts == {"rows": 21, "hs": 6, "cn": 19, "other_languages": 0}
    assert runs[-1].params["seed"] == 1
    assert runs[-1].params["overlap"] == {"2": 0.25, "3": 0.25}
    assert all(run.version for run in runs)


def test_selected_hs_are_in_the_order_of_the_list_whose_one_column_may_have_any_name(at: At, tmp_path: Path) -> None:
    study = at("imported")
    listed = write_csv(tmp_path / "l.csv", [{"hateSpeech": f"  {hs} "} for hs in (HS[4], HS[0], HS[2])])
    assert study.grid().select(Select(hs_list=listed)).counts == {"hs": 3, "source_cns": 10}
    with study._store.read() as tx:
        assert sides.text_ids(tx, "row") == [5, 1, 3]


def test_a_selection_that_cannot_be_is_refused(at: At, tmp_path: Path) -> None:
    study = at("imported")
    rows = [{"hs": HS[0]}, {"hs": "Nobody said this."}, {"hs": HS[0]}, {"hs": "Nor this."}]
    listed = write_csv(tmp_path / "l.csv", rows)
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        (
            {"hs_list": listed},
            r"2 things are wrong[\s\S]*:3: this HS is not in the study \(2 lines: 3, 5\)\n.*:4: .*already in line 2",
        ),
        ({}, "--hs N.*--hs-list FILE"),
        ({"hs": 2, "hs_list": Path("x.csv")}, "--hs N.*--hs-list FILE"),
        ({"hs": 2, "stratify": "mood"}, "no HS has metadata `mood`; there is hs_topic"),
    )
    for options, message in refused:
        assert_refused(study, lambda: study.grid().select(Select(**options)), InputError, message)  # noqa: B023


@pytest.mark.server
@pytest.mark.usefixtures("fake_encoder")
def test_retrieval_brings_in_neighbours_that_are_no_source_cns_and_keeps_the_model(at: At) -> None:
    study = at("selected")
    run = study.grid().retrieve(Retrieve(k=4))
    with study._store.read() as tx:
        sources, candidates = sides.source_cns(tx), sides.text_ids(tx, "column")
        brought = [sides.neighbours_of(tx, cn) for cn in candidates]
    assert set(candidates).isdisjoint(sources)
    assert all(len(found) and set(found["source_id"]) <= set(sources) for found in brought)
    assert run.counts["candidates"] == len(candidates) > 0
    assert run.model is not None
    assert run.model.items() >= {"name": "all-MiniLM-L6-v2", "source": "test", "sha256": "ab" * 32}.items()


@pytest.mark.server
@pytest.mark.parametrize(
    ("language", "model", "warned"),
    [("de", "all-MiniLM-L6-v2", True), ("en", "all-MiniLM-L6-v2", False), ("de", "my-multilingual", False)],
)
@pytest.mark.usefixtures("fake_encoder")
def test_retrieval_says_when_the_model_does_not_know_the_language(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, language: str, model: str, warned: bool
) -> None:
    study = Study.create(tmp_path / "other.db")
    corpus = write_corpus(tmp_path / "corpus.csv")
    corpus.write_bytes(corpus.read_bytes().replace(b",en\r\n", f",{language}\r\n".encode()))
    study.import_corpus(Import(corpus, only_language=language))
    study.grid().select(Select(hs=2))
    study.grid().retrieve(Retrieve(k=4, model=model))
    warning = "was trained on English only, but most of the corpus is in the language `de`"
    assert (warning in caplog.text) == warned
    assert ("--model paraphrase-multilingual-MiniLM-L12-v2" in caplog.text) == warned


def test_candidates_can_be_listed_and_then_nothing_is_encoded(at: At, tmp_path: Path) -> None:
    """One of the three is a source CN: it stays, but not beside the HS that the corpus pairs it with."""
    study, grid = with_grid(at("selected"))
    unknown = write_csv(tmp_path / "unknown.csv", [{"cn": "Nobody has written this."}])
    refusal = "this CN is not in the study"
    assert_refused(study, lambda: grid.retrieve(Retrieve(cn_list=unknown)), InputError, refusal)
    chosen = [CNS[14], CNS[0], CNS[12]]
    run = grid.retrieve(Retrieve(cn_list=write_csv(tmp_path / "candidates.csv", [{"cn": cn} for cn in chosen])))
    assert run.counts == {"candidates": 3}
    made = grid.pair(Pair())
    assert (made.counts["pairs"], made.counts["in_corpus"]) == (11, 1)
    with study._store.read() as tx:
        pairs = set(map(tuple, cells.cells(tx)[["hs_id", "cn_id"]].to_numpy().tolist()))
        corpus = set(zip(*(ids.tolist() for ids in cells.corpus_pairs(tx).values()), strict=True))
        bodies = dict(zip(*(texts.texts_of(tx, "cn")[name].tolist() for name in ("id", "body")), strict=True))
        assert [bodies[cn] for cn in sides.text_ids(tx, "column")] == chosen
    assert (len(pairs), len(corpus)) == (11, 1)
    assert pairs.isdisjoint(corpus)


def test_every_cn_of_the_corpus_can_be_a_candidate_and_known_pairs_stay_out(at: At) -> None:
    """Four HS with all 19 CNs: three CNs of each are in the corpus, and the shared one beside two of them: 14."""
    study = at("selected")
    assert study.grid().retrieve(every_cn=True).counts == {"candidates": 19}
    counts = study.grid().pair().counts
    assert (counts["hs"], counts["cn"], counts["pairs"], counts["in_corpus"]) == (4, 19, 62, 14)


@pytest.mark.server
@pytest.mark.usefixtures("fake_encoder")
def test_no_candidate_left_is_an_error_that_says_what_to_do(at: At) -> None:
    study = at("imported")
    study.grid().select(Select(hs=6))
    refusal = "no candidates; raise --k or select fewer HS"
    assert_refused(study, lambda: study.grid().retrieve(Retrieve(k=1)), InputError, refusal)


def test_candidates_are_drawn_by_their_seed_and_no_more_than_there_are(at: At) -> None:
    drawn = []
    for seed in (5, 5, 6):
        study = at("retrieved")
        for n, refusal in ((0, "1 or more"), (-1, "1 or more"), (7, "7 candidates cannot be drawn; .* 6")):
            assert_refused(study, lambda: study.grid().pair(Pair(candidates=n)), InputError, refusal)  # noqa: B023
        study.grid().pair(Pair(candidates=3, seed=seed))
        with study._store.read() as tx:
            drawn.append(sides.text_ids(tx, "column", drawn=True))
    assert drawn[0] == drawn[1] != drawn[2]


def test_annotators_get_numbered_pseudonyms_when_there_are_none(at: At) -> None:
    study = at("paired")
    study.grid().assign(Assign(annotators=10))
    assert [one.name for one in study.people][::9] == ["a01", "a10"]


def test_annotators_that_cannot_be_are_refused(at: At) -> None:
    study = at("dealt")
    message = "4 annotators were asked for, but the study has 3 active ones"
    assert_refused(study, lambda: study.grid().assign(Assign(annotators=4), redo=True), InputError, message)
    for group in (("ana", "nobody"), ("ana", "ana"), ("ana",)):
        options = Assign(overlap={2: 0.5}, annotator_groups=(group,))
        assert_refused(study, partial(study.grid().assign, options, redo=True), InputError, "group")
    study = at("paired")
    for n in (0, -2):
        message = "expected a whole number from 1 to 10,000"
        assert_refused(study, lambda: study.grid().assign(Assign(annotators=n)), InputError, message)  # noqa: B023
    study.add_people(["a2"], Role.LEAD)
    message = "`a2` is taken by somebody in another role"
    assert_refused(study, lambda: study.grid().assign(Assign(annotators=3)), InputError, message)


def test_overlapping_pairs_go_to_the_named_groups(at: At) -> None:
    study = at("paired")
    study.add_people([*ANNOTATORS, "dora"], Role.ANNOTATOR)
    study.grid().assign(Assign(overlap={2: 0.5}, annotator_groups=(("ana", "ben"), ("cleo", "dora")), seed=3))
    by_pair: dict[int, set[str]] = {}
    for name, pair in open_work(study):
        by_pair.setdefault(pair, set()).add(name)
    doubles = [names for names in by_pair.values() if len(names) == 2]
    assert len(doubles) == 12
    assert {frozenset(names) for names in doubles} == {frozenset({"ana", "ben"}), frozenset({"cleo", "dora"})}


def test_texts_that_the_model_cuts_are_counted_in_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the real model's tokenizer; only its vectors are not needed here."""
    monkeypatch.setattr(encode, "encode", lambda bodies, *_: np.eye(len(bodies), dtype=np.float32))
    study = Study.create(tmp_path / "long.db")
    long = ["bread " * 700 + ending for ending in ("tea", "war")]
    study.import_corpus(
        write_csv(tmp_path / "c.csv", [{"hs": "a", "cn": "b"}, *({"hs": "c", "cn": cn} for cn in long)])
    )
    study.grid().select(hs=1, seed=1)
    run = study.grid().retrieve(k=2)
    assert run.notes == ("2 of 3 texts are longer than all-MiniLM-L6-v2 reads (256 tokens); their ends were cut",)
    assert study.log()[-1].counts["cut_texts"] == 2

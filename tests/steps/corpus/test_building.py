"""From a corpus to dealt pairs: the order of the stages, what a second call says, and what `redo` discards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from servers import execute

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
    SHARED,
    assert_refused,
    open_work,
    set_candidates,
    write_corpus,
    write_csv,
)

At = Callable[[str], Study]
Call = Callable[[Grid, Path], object]


def csv_file(folder: Path, **columns: str) -> Path:
    return write_csv(folder / "given.csv", [columns])


BUILDING: dict[str, Callable[[Study, Path, bool], object]] = {
    "import": lambda study, folder, redo: study.import_corpus(Import(write_corpus(folder / "c.csv")), redo=redo),
    "select": lambda study, folder, redo: study.grid().select(Select(hs=3, seed=1), redo=redo),
    "retrieve": lambda study, folder, redo: study.grid().retrieve(Retrieve(k=2), redo=redo),
    "pair": lambda study, folder, redo: study.grid().pair(Pair(candidates=4), redo=redo),
    "assign": lambda study, folder, redo: study.grid().assign(Assign(annotators=3), redo=redo),
}
DONE = dict(zip(BUILDING, ("imported", "selected", "retrieved", "paired", "dealt"), strict=True))
MADE = {"import": 21, "select": 4, "retrieve": 6, "pair": 24, "assign": 42}
WORDS = {
    "import": "21 corpus rows",
    "select": "4 selected HS",
    "retrieve": "6 candidates",
    "pair": "24 pairs",
    "assign": "42 assignments",
}


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


# -- the order of the road


@pytest.mark.parametrize(
    ("stage", "call", "command"),
    [
        ("empty", lambda grid, folder: grid.select(Select(hs=1)), "fcpair import"),
        ("empty", lambda grid, folder: grid.retrieve(Retrieve()), "fcpair import"),
        ("imported", lambda grid, folder: grid.retrieve(Retrieve()), "fcpair select"),
        ("empty", lambda grid, folder: grid.pair(Pair()), "fcpair import"),
        ("selected", lambda grid, folder: grid.pair(Pair()), "fcpair retrieve"),
        ("empty", lambda grid, folder: grid.assign(Assign(annotators=2)), "fcpair import"),
        ("retrieved", lambda grid, folder: grid.assign(Assign(annotators=2)), "fcpair pair"),
        ("paired", lambda grid, folder: grid.sheets.write_labels(folder), "fcpair assign"),
        ("paired", lambda grid, folder: grid.simulate(Simulate()), "fcpair assign"),
        (
            "empty",
            lambda grid, folder: grid.import_labels(csv_file(folder, pair="1", annotator="a", label="0")),
            "fcpair pair",
        ),
        ("dealt", lambda grid, folder: grid.agreement(Agree()), "fcpair labels import"),
        ("dealt", lambda grid, folder: grid.adjudicate(Adjudicate()), "fcpair labels import"),
        ("dealt", lambda grid, folder: grid.desk.adjudicate_dry_run(Adjudicate()), "fcpair labels import"),
        (
            "dealt",
            lambda grid, folder: grid.import_outcomes(csv_file(folder, pair="1", label="0")),
            "fcpair labels import",
        ),
        ("dealt", lambda grid, folder: grid.tiers(Partition()).table(), "fcpair labels import"),
        ("dealt", lambda grid, folder: grid.release(Tier.GOLD, folder / "g.csv"), "fcpair labels import"),
        ("labelled", lambda grid, folder: grid.assign_validation(Validate(validators=2)), "fcpair adjudicate"),
        ("decided", lambda grid, folder: grid.sheets.write_verdicts(folder), "fcpair validate assign"),
        (
            "decided",
            lambda grid, folder: grid.import_verdicts(csv_file(folder, pair="1", validator="v", verdict="agree")),
            "no validator is called `v`|not dealt|fcpair validate assign",
        ),
        ("paired", lambda grid, folder: grid.assign(Assign()), "fcpair people add NAME --role annotator"),
        ("decided", lambda grid, folder: grid.assign_validation(Validate()), "people add NAME --role validator"),
    ],
)
def test_a_stage_called_too_early_names_the_command_to_run(
    at: At, tmp_path: Path, stage: str, call: Call, command: str
) -> None:
    study = at(stage)
    assert_refused(study, lambda: call(study.grid(), tmp_path), FcpairError, command)


def test_waiting_pairs_of_an_unlabelled_study_are_none(at: At) -> None:
    assert at("dealt").grid().waiting_pairs() == []


@pytest.mark.usefixtures("fake_encoder")
@pytest.mark.parametrize("name", list(BUILDING))
def test_a_second_call_says_what_is_there_and_what_redo_would_discard(at: At, tmp_path: Path, name: str) -> None:
    study = at(DONE[name])
    message = f"`{name}` has been done; `--redo` would discard {WORDS[name]}$"
    assert_refused(study, lambda: BUILDING[name](study, tmp_path, False), StageError, message)


@pytest.mark.usefixtures("fake_encoder")
@pytest.mark.parametrize("name", list(BUILDING))
def test_redo_would_discard_all_that_was_built_on_it(at: At, tmp_path: Path, name: str) -> None:
    study = at("dealt")
    with pytest.raises(StageError) as caught:
        BUILDING[name](study, tmp_path, False)
    for one in BUILDING:
        assert (WORDS[one] in str(caught.value)) is (list(BUILDING).index(one) >= list(BUILDING).index(name))


@pytest.mark.usefixtures("fake_encoder")
@pytest.mark.parametrize("name", list(BUILDING))
def test_redo_makes_the_stage_anew_and_forgets_the_later_ones(at: At, tmp_path: Path, name: str) -> None:
    study = at("dealt")
    BUILDING[name](study, tmp_path, True)
    before = list(BUILDING).index(name)
    for at_, stage in enumerate(BUILDING):
        if at_ < before:
            assert built(study)[stage] == MADE[stage]
        elif at_ > before:
            assert built(study)[stage] == 0
        else:
            assert built(study)[stage] > 0


@pytest.mark.usefixtures("fake_encoder")
@pytest.mark.parametrize("redo", [False, True])
@pytest.mark.parametrize("name", list(BUILDING))
def test_nothing_that_judgements_rest_on_is_ever_redone(at: At, tmp_path: Path, name: str, redo: bool) -> None:
    study = at("labelled")
    message = r"42 judgements rest on its results.*never discarded; `fcpair init --study OTHER`"
    assert_refused(study, lambda: BUILDING[name](study, tmp_path, redo), StageError, message)


def test_redo_of_a_stage_that_was_not_done_just_does_it(at: At) -> None:
    study = at("imported")
    study.grid().select(Select(hs=2), redo=True)
    assert built(study)["select"] == 2


def test_a_redo_that_fails_keeps_what_was_there(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    assert_refused(
        study, lambda: study.grid().select(Select(hs=99), redo=True), InputError, "99 HS cannot be drawn; there are 6"
    )


def test_every_cn_of_the_corpus_can_be_a_candidate_and_known_pairs_stay_out(at: At) -> None:
    study = at("selected")
    with study._store.read() as tx:
        n_cn = len(texts.texts_of(tx, "cn"))
    assert study.grid().retrieve(every_cn=True).counts == {"candidates": n_cn}
    counts = study.grid().pair().counts
    assert counts["cn"] == n_cn
    assert counts["pairs"] == counts["hs"] * n_cn - counts["in_corpus"]
    assert counts["in_corpus"] > 0


def test_people_stay_when_pairs_are_dealt_anew(at: At) -> None:
    study = at("dealt")
    study.grid().assign(Assign(annotators=3, seed=9), redo=True)
    assert [one.name for one in study.people] == list(ANNOTATORS)


# -- what each stage makes


def test_a_study_is_made_with_what_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "g.md").write_text("# Be kind\n", "utf-8")
    Study.create(tmp_path / "s.db", Setup(title="T é", guidelines=tmp_path / "g.md", hs_name="claim"))
    facts = Study(tmp_path / "s.db").facts
    assert (facts["title"], facts["guidelines"], facts["hs_name"]) == ("T é", "# Be kind\n", "claim")


def test_guidelines_that_are_not_there_leave_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"g\.md cannot be read"):
        Study.create(tmp_path / "s.db", Setup(guidelines=tmp_path / "g.md"))
    assert not (tmp_path / "s.db").exists()


def test_a_scheme_that_no_labels_can_answer_leaves_no_study(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot decide a cell for tiers"):
        Study.create(tmp_path / "study.db", Setup(scheme="text()"))
    assert not list(tmp_path.iterdir())


def test_an_import_counts_rows_and_distinct_texts(at: At) -> None:
    run = at("imported").log()[-1]
    assert run.counts == {"rows": 21, "hs": 6, "cn": 19, "other_languages": 0}


@pytest.mark.parametrize("table", ["text", "source_pair"])
def test_a_broken_corpus_leaves_the_study_empty(at: At, tmp_path: Path, table: str) -> None:
    study = at("empty")
    broken = write_csv(tmp_path / "b.csv", [{"hs": "a", "cn": "b"}, {"hs": "c", "cn": " "}, {"hs": "", "cn": "d"}])
    assert_refused(
        study, lambda: study.import_corpus(Import(broken)), InputError, r"2 things are wrong[\s\S]*b\.csv:3[\s\S]*:4"
    )
    assert execute(study.place, f"SELECT count(*) FROM {table}") == [(0,)]


def test_selected_hs_are_in_the_order_of_the_list(at: At, tmp_path: Path) -> None:
    study = at("imported")
    listed = [HS[4], HS[0], HS[2]]
    study.grid().select(Select(hs_list=write_csv(tmp_path / "l.csv", [{"hs": hs} for hs in listed])))
    with study._store.read() as tx:
        assert sides.text_ids(tx, "row") == [5, 1, 3]


def test_a_list_may_have_one_column_of_any_name(at: At, tmp_path: Path) -> None:
    study = at("imported")
    run = study.grid().select(Select(hs_list=write_csv(tmp_path / "l.csv", [{"hateSpeech": f"  {HS[1]} "}])))
    assert run.counts == {"hs": 1, "source_cns": 4}


def test_every_finding_of_a_list_is_told_at_once(at: At, tmp_path: Path) -> None:
    study = at("imported")
    rows = [{"hs": HS[0]}, {"hs": "Nobody said this."}, {"hs": HS[0]}, {"hs": "Nor this."}]
    listed = write_csv(tmp_path / "l.csv", rows)
    said = r"2 things are wrong[\s\S]*:3: this HS is not in the study \(2 lines: 3, 5\)\n.*:4: .*already in line 2"
    assert_refused(study, lambda: study.grid().select(Select(hs_list=listed)), InputError, said)


@pytest.mark.parametrize("options", [{}, {"hs": 2, "hs_list": Path("x.csv")}])
def test_hs_are_either_drawn_or_listed(at: At, options: dict[str, Any]) -> None:
    study = at("imported")
    assert_refused(study, lambda: study.grid().select(Select(**options)), InputError, "--hs N.*--hs-list FILE")


def test_a_use_case_takes_its_own_params_and_nothing_else(at: At) -> None:
    study = at("imported")
    grid: Any = study.grid()
    for call in (grid.select, grid.retrieve, grid.assign, grid.adjudicate, grid.simulate, grid.tiers, grid.pair):
        assert_refused(study, partial(call, 45), InputError, r"options is 45; expected \w+\(\.\.\.\) of fcpair.params")
    assert_refused(study, partial(grid.select, options=Pair()), InputError, r"expected Select\(\.\.\.\)")


def test_stratify_needs_metadata_that_is_there(at: At) -> None:
    study = at("imported")
    options = Select(hs=2, stratify="mood")
    assert_refused(
        study, lambda: study.grid().select(options), InputError, "no HS has metadata `mood`; there is hs_topic"
    )


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
    grid = study.grid()
    corpus = write_corpus(tmp_path / "corpus.csv")
    corpus.write_text(
        corpus.read_text("utf-8").replace(",en\n", f",{language}\n").replace(",en\r", f",{language}\r"), "utf-8"
    )
    study.import_corpus(Import(corpus, only_language=language))
    grid.select(Select(hs=2))
    grid.retrieve(Retrieve(k=4, model=model))
    said = "was trained on English only, but most of the corpus is in the language `de`" in caplog.text
    assert said == warned
    assert ("--model paraphrase-multilingual-MiniLM-L12-v2" in caplog.text) == warned


def test_candidates_can_be_listed_and_then_nothing_is_encoded(at: At, tmp_path: Path) -> None:
    """One of the three is a source CN: it stays, but not beside the HS that the corpus pairs it with."""
    study = at("selected")
    grid = study.grid()
    chosen = [CNS[14], CNS[0], CNS[12]]
    run = grid.retrieve(Retrieve(cn_list=write_csv(tmp_path / "candidates.csv", [{"cn": cn} for cn in chosen])))
    assert run.counts == {"candidates": 3}
    made = grid.pair(Pair())
    assert (made.counts["pairs"], made.counts["in_corpus"]) == (11, 1)
    with study._store.read() as tx:
        bodies = dict(zip(*(texts.texts_of(tx, "cn")[name].tolist() for name in ("id", "body")), strict=True))
        assert [bodies[cn] for cn in sides.text_ids(tx, "column")] == chosen


@pytest.mark.slow
def test_pairs_of_the_corpus_are_kept_when_asked_for(at: At, tmp_path: Path) -> None:
    """Four HS with all 19 CNs: three CNs of each stand in the corpus, and the shared one beside two of them: 14."""
    study = at("selected")
    grid = study.grid()
    grid.retrieve(Retrieve(cn_list=write_csv(tmp_path / "all.csv", [{"cn": cn} for cn in (*CNS, SHARED)])))
    left_out = grid.pair(Pair()).counts
    kept = grid.pair(Pair(keep_known=True), redo=True).counts
    assert (left_out["pairs"], left_out["in_corpus"]) == (62, 14)
    assert (kept["pairs"], kept["in_corpus"]) == (76, 14)
    assert grid.effective_options(Pair).keep_known
    study.report(tmp_path / "report.html")
    assert "in the corpus already, so not in the grid" not in (tmp_path / "report.html").read_text("utf-8")


def test_a_candidate_that_is_not_in_the_study_is_refused(at: At, tmp_path: Path) -> None:
    study = at("selected")
    listed = write_csv(tmp_path / "candidates.csv", [{"cn": "Nobody has written this."}])
    assert_refused(
        study, lambda: study.grid().retrieve(Retrieve(cn_list=listed)), InputError, "this CN is not in the study"
    )


@pytest.mark.server
@pytest.mark.usefixtures("fake_encoder")
def test_no_candidate_left_is_an_error_that_says_what_to_do(at: At) -> None:
    study = at("imported")
    grid = study.grid()
    grid.select(Select(hs=6))
    assert_refused(
        study, lambda: grid.retrieve(Retrieve(k=1)), InputError, "no candidates; raise --k or select fewer HS"
    )


@pytest.mark.parametrize(
    ("n", "said"), [(0, "1 or more"), (-1, "1 or more"), (7, "7 candidates cannot be drawn; .* 6")]
)
def test_candidates_that_are_not_there_cannot_be_drawn(at: At, n: int, said: str) -> None:
    study = at("retrieved")
    assert_refused(study, lambda: study.grid().pair(Pair(candidates=n)), InputError, said)


def test_the_same_seed_draws_the_same_candidates(at: At) -> None:
    drawn = []
    for seed in (5, 5, 6):
        study = at("retrieved")
        study.grid().pair(Pair(candidates=3, seed=seed))
        with study._store.read() as tx:
            drawn.append(sides.text_ids(tx, "column", drawn=True))
    assert drawn[0] == drawn[1] != drawn[2]


def test_pairs_of_the_corpus_stay_out_of_the_grid(at: At) -> None:
    study = at("selected")
    set_candidates(study, [SHARED, *CNS[12:14], CNS[0]])
    run = study.grid().pair(Pair())
    with study._store.read() as tx:
        pairs = set(map(tuple, cells.cells(tx)[["hs_id", "cn_id"]].to_numpy().tolist()))
        corpus = set(zip(*(ids.tolist() for ids in cells.corpus_pairs(tx).values()), strict=True))
    assert (run.counts["pairs"], run.counts["in_corpus"]) == (13, 3)
    assert len(corpus) == 3
    assert pairs.isdisjoint(corpus)


def test_annotators_get_numbered_pseudonyms_when_there_are_none(at: At) -> None:
    study = at("paired")
    study.grid().assign(Assign(annotators=10))
    assert [one.name for one in study.people][::9] == ["a01", "a10"]


def test_a_number_of_annotators_must_be_theirs(at: At) -> None:
    study = at("dealt")
    message = "4 annotators were asked for, but the study has 3 active ones"
    assert_refused(study, lambda: study.grid().assign(Assign(annotators=4), redo=True), InputError, message)


@pytest.mark.parametrize("n", [0, -2])
def test_at_least_one_annotator_is_needed(at: At, n: int) -> None:
    study = at("paired")
    assert_refused(
        study, lambda: study.grid().assign(Assign(annotators=n)), InputError, "expected a whole number from 1 to 10,000"
    )


def test_a_numbered_pseudonym_that_somebody_else_has_is_refused(at: At) -> None:
    study = at("paired")
    study.add_people(["a2"], Role.LEAD)
    assert_refused(
        study,
        lambda: study.grid().assign(Assign(annotators=3)),
        InputError,
        "`a2` is taken by somebody in another role",
    )


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


@pytest.mark.parametrize("group", [("ana", "nobody"), ("ana", "ana"), ("ana",)])
def test_a_group_that_cannot_be_is_refused(at: At, group: tuple[str, ...]) -> None:
    study = at("dealt")
    options = Assign(overlap={2: 0.5}, annotator_groups=(group,))
    assert_refused(study, lambda: study.grid().assign(options, redo=True), InputError, "group")


def test_sheets_hold_each_shard_in_its_order_and_no_label(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    written = study.grid().sheets.write_labels(tmp_path / "deep" / "sheets")
    assert written == {"ana": 14, "ben": 14, "cleo": 14}
    lines = (tmp_path / "deep" / "sheets" / "ben.csv").read_text("utf-8").splitlines()
    assert lines[0] == "annotator,position,pair,hs_id,cn_id,hs,cn,label,note"
    assert [line.split(",")[1] for line in lines[1:]] == [str(n) for n in range(1, 15)]
    assert all(line.endswith(",,") for line in lines[1:])


def test_sheets_of_a_finished_round_are_refused(at: At, tmp_path: Path) -> None:
    with pytest.raises(StageError, match="no label is open"):
        at("labelled").grid().sheets.write_labels(tmp_path / "sheets")


def test_every_stage_leaves_a_run_with_its_parameters(at: At) -> None:
    runs = at("dealt").log()
    assert [run.stage for run in runs] == ["init", "import", "select", "pair", "people", "assign"]
    assert runs[-1].params["seed"] == 1
    assert runs[-1].params["overlap"] == {"2": 0.25, "3": 0.25}
    assert all(run.version for run in runs)


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

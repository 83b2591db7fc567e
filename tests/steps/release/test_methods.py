"""The methods section of a paper: each number in it is one of the log's."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fcpair.bias.scoring import MEAN
from fcpair.errors import InputError
from fcpair.params import MAIN, Agree, Assign, Partition
from fcpair.records import RunRecord
from fcpair.report.citations import CITATION, plain_text
from fcpair.report.methods import write_sections
from fcpair.steps.adjudication.agreement import note_agreement
from fcpair.study import Study
from steps.calibrated import calibrated
from steps.people.known import controls, qualification
from steps.publication.releasing import full_form
from steps.release.test_own_tiers import TIERS

At = Callable[[str], Study]
Walked = Callable[[str], Path]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def logged_numbers(value: Any) -> Iterator[float]:
    """Every number in the log, as its JSON has it: by itself, in a text, or as a key."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from logged_numbers(key)
            yield from logged_numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from logged_numbers(item)
    elif isinstance(value, str):
        yield from (float(number.replace(",", "")) for number in NUMBER.findall(value) if number.strip(","))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield abs(float(value))  # the sign is no part of a number in a text


def unlogged(study: Study) -> list[str]:
    """The numbers in the methods that are none of the log's, rounded as they are."""
    log = json.loads(json.dumps([vars(run) for run in study.log()], default=str))
    numbers = set(logged_numbers(log))
    missing = []
    for section in study.methods().sections:
        for written in NUMBER.findall(plain_text(section.text)):
            decimals = len(written.partition(".")[2])
            value = float(written.replace(",", ""))
            if not any(abs(value - round(number, decimals)) < 10**-9 for number in numbers):
                missing.append(f"{section.heading}: {written}")
    return missing


@pytest.fixture
def study(at: At) -> Study:
    """The small study, checked, with agreement, tiers of its own and an evaluation."""
    study = at("checked")
    grid = study.grid()
    note_agreement(grid, Agree())
    grid.save_partition(Partition("majority", own_tiers=TIERS))
    grid.evaluate(systems=["tfidf", "bm25"], tiers=["bronze", "draft"], measures=["NDCG", "MRR"], resamples=200)
    return study


def test_a_release_is_cited_once_with_what_is_in_it_and_its_digest(study: Study, tmp_path: Path) -> None:
    form = full_form(tmp_path)
    study.release("v1", tmp_path / "v1", form)
    run = study.release("v1", tmp_path / "again", form)
    study.release("ids", tmp_path / "ids", form, texts=False)
    *_, (heading, text), _software = study.methods().sections
    assert heading == "Release"
    sizes = run.counts["pairs"]
    assert text.count("released as `v1`, with") == 1
    assert f"{sizes['bronze']} pairs in `bronze`" in text
    assert f" and {sizes['draft']} pairs in `draft`; its digest is `{run.counts['digest']}`" in text
    assert "released as `ids` without its texts, with" in text
    assert unlogged(study) == []


def test_what_came_before_the_work_that_counts_is_in_it(at: At, tmp_path: Path) -> None:
    study = at("paired")
    grid = study.grid()
    grid.save_qualification(qualification(study, tmp_path, pairs=2))
    grid.save_controls(controls(study, tmp_path))
    calibrated(study)
    ((_, text), _software) = study.methods().sections
    assert "were to qualify on 2 of 12 pairs with known answers (seed 0); whoever had less than 0.75 of their" in text
    assert "a share of 0.1 were to be control pairs, drawn from 12 with known answers (seed 0)" in text
    assert "a first batch of 4 pairs (seed 2) was assigned to 3 annotators, all of it to each" in text
    assert "They differed on 2 of these, which they discussed" in text
    assert "They then gave 6 answers once more; neither answer counts" in text
    assert unlogged(study) == []


def test_each_number_is_one_of_the_log(study: Study) -> None:
    assert unlogged(study) == []


def test_it_says_what_was_done_stage_by_stage(study: Study) -> None:
    text = study.methods().markdown
    for words in (
        "The corpus had",
        "distinct hate-speech messages",
        "hate-speech messages were chosen from a list",
        "pairs, all of which were to be judged",
        "annotators as",
        "Agreement was measured before adjudication",
        "For validation",
        "for which at least two labels, and more than half, equal the final one",
        "The study's own tier `draft` holds",
        "[@robertson2009]",
    ):
        assert words in text, words


def test_what_was_imported_is_counted_until_it_is_withdrawn(study: Study) -> None:
    grid, imported = study.grid(), [run for run in study.log() if run.stage == "label import"]
    assert len(imported) == 1
    n = imported[0].counts["answers"]
    assert f"From a file, {n} answers of the round `label` were imported." in study.methods().sections[0].text
    grid.withdraw_labels(imported[0].id)
    assert "answers of the round `label` were imported" not in study.methods().sections[0].text
    assert "answers of the round `validate` were imported" in study.methods().sections[0].text
    assert unlogged(study) == []


def test_the_files_of_a_round_are_one_sentence_with_the_number_of_each() -> None:
    """Two sheets with 9 and 1 answers, one with 1 verdict, and a published file with decisions and verdicts."""

    def brought(run_id: int, stage: str, **counts: int) -> RunRecord:
        return RunRecord(run_id, f"{stage} import", {}, counts, "1", "2026-11-26T00:00:00Z")

    log = [
        brought(1, "label", answers=9),
        brought(2, "label", answers=0),
        brought(3, "validate", answers=1),
        brought(4, "label", answers=1),
    ]
    sentences = (
        "From files, 9 and 1 answers of the round `label` were imported. "
        "From a file, 1 answer of the round `validate` was imported."
    )
    assert write_sections(log)[0].text == sentences
    published = [brought(1, "label", labels=4_897, pairs=3_997, adjudications=3_997, verdicts=3_996)]
    assert write_sections(published)[0].text == (
        "From a file, 4,897 answers of the round `label` were imported. "
        "With them came 3,997 final labels and 3,996 verdicts on them."
    )


def test_an_undefined_figure_says_why_and_others_have_an_interval(study: Study) -> None:
    (run,) = [run for run in study.log() if run.stage == "agreement"]
    text = study.methods().markdown
    for name, value in run.counts.items():
        kind, _, detail = name.partition(", ")
        shown = f"{kind} ({detail})" if detail else kind
        if value is None:
            assert re.search(
                rf"{re.escape(shown)}(?: \[@\w+\])? was undefined, because {run.counts['undefined'][name]}", text
            )
    assert re.search(r"Gwet's AC1 \[@gwet2008\] was -?\d\.\d{3} \(-?\d\.\d{3} to -?\d\.\d{3}\)\.", text)


def test_latex_and_markdown_cite_the_same_and_the_bib_has_it(study: Study) -> None:
    methods = study.methods()
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", methods.latex) for key in keys.split(",")}
    assert cited == set(methods.keys) == set(re.findall(r"^@\w+\{(\w+),", methods.bib, re.MULTILINE))
    assert not CITATION.search(methods.latex)
    plain = re.sub(r"\\(text\w+|cite|paragraph)\{|\\[&%$#_{}]|[{}]", "", methods.latex)
    assert not re.search(r"[\\&%$#_^`<>|]", plain.replace("~", ""))


@pytest.mark.parametrize(
    ("plan", "demands"),
    [
        (
            {"answers": ["yes", "no"], "verdict": "any"},
            "the final label `yes` or `no`, and any number of labels, and a v",
        ),
        ({"agreement": "majority", "verdict": "none"}, "a final label, and labels of which at least two and more than"),
        ({"labels": 3, "agreement": "majority"}, "a final label, and at least 3 labels, of which at least two and mo"),
        (
            {"counted": "definite", "agreement": "unanimous"},
            "any number of definite labels, all of which equal the fin",
        ),
    ],
)
def test_the_rule_of_an_own_tier_is_told_in_words(study: Study, plan: dict[str, Any], demands: str) -> None:
    log = with_counts(study.log(), "partition", {"own_tiers": {"mine": plan}}, mine=1)
    assert demands in write_sections(log)[0].text


def test_own_tiers_are_named_as_the_recipe_writes_them(study: Study, tmp_path: Path) -> None:
    study.grid().release("draft", tmp_path / "draft.csv")
    text = study.methods().sections[0].text
    assert "scored on the tiers Bronze and `draft` by" in text
    assert "The tier `draft` was written to a file with" in text
    assert "those with a final label, and at least 2 labels, all of which equal the final one, and the valid" in text
    assert re.search(r"`draft` holds \d+ pairs: those with a final label, and any number of labels\. ", text)
    assert unlogged(study) == []


def test_whoever_was_dismissed_is_counted_without_a_name(study: Study) -> None:
    run = study.dismiss("ana", reason="Too quick to have read the pairs.")
    text = study.methods().sections[0].text
    assert f"One person was dismissed; {run.counts['set_aside']} answers of theirs were set aside" in text
    assert "ana" not in re.findall(r"\w+", text)
    assert "Too quick" not in text
    assert unlogged(study) == []


def test_nothing_is_said_of_a_retrieval_that_was_not(at: At) -> None:
    log = at("paired").log()
    (_, text), _software = write_sections(log)
    assert "served for retrieval" not in text
    (selection,) = [run for run in log if run.stage == "select"]
    counts = {"source_cns": 5, "neighbours": 4, "candidates": 3}
    params = {"k": 2, "model": "m", "count_duplicates": True}
    retrieval = replace(selection, stage="retrieve", params=params, counts=counts)
    (_, text), _software = write_sections([*log, retrieval])
    assert "served for retrieval alone. For each of them, the 2 nearest" in text
    assert "of the model `m`, counted over the rows of the corpus, which" in text
    assert "which gave 4 neighbours" in text


def test_a_draft_is_no_release(study: Study, tmp_path: Path) -> None:
    form = full_form(tmp_path)
    study.release("v0", tmp_path / "v0", form, draft=True)
    assert "Release" not in [section.heading for section in study.methods().sections]
    study.release("v1", tmp_path / "v1", form)
    *_, (heading, text), _software = study.methods().sections
    assert heading == "Release"
    assert "`v1`" in text
    assert "`v0`" not in text


def with_counts(log: list[RunRecord], stage: str, params: dict[str, Any], **counts: Any) -> list[RunRecord]:
    """The log with other parameters and counts of a stage."""
    return [
        replace(run, params=run.params | params, counts=run.counts | counts) if run.stage == stage else run
        for run in log
    ]


@pytest.mark.parametrize(
    ("keep_known", "counts", "sentence"),
    [
        (False, {"in_corpus": 0}, "made 24 pairs, all of which were to be judged. "),
        (False, {"in_corpus": 2}, "made 24 pairs, all of which were to be judged, leaving out 2 pairs that the corpus"),
        (True, {"in_corpus": 1}, "made 24 pairs, all of which were to be judged, including 1 pair that the corpus"),
        (
            False,
            {"in_corpus": 2, "of": 40},
            "counter-narratives make, leaving out 2 pairs that the corpus already had, 24 were drawn at random to be "
            "judged (seed 5)",
        ),
    ],
)
def test_pairs_of_the_corpus_and_a_sample_are_told_as_they_were(
    study: Study, keep_known: bool, counts: dict[str, int], sentence: str
) -> None:
    params = {"keep_known": keep_known, "seed": 5}
    (_, text), _software = write_sections(with_counts(study.log(), "pair", params, pairs=24, **counts))
    assert sentence in text


def test_pairs_that_were_open_to_all_are_told_as_such(at: At) -> None:
    study = at("paired")
    study.grid().assign(Assign(open=True, overlap={2: 0.5}, seed=3))
    (_, text), _software = study.methods().sections
    assert "Pairs were given on request to whoever came, for 36 labels in all (seed 3): 12 pairs to 1 person" in text
    assert unlogged(study) == []


def test_nothing_is_drawn_where_a_selection_takes_all(study: Study) -> None:
    log = with_counts(study.log(), "select", {"list": None}, hs=6)
    assert "All 6 hate-speech messages were selected." in write_sections(log)[0].text
    log = with_counts(study.log(), "select", {"list": None}, hs=5)
    assert "Of these, 5 hate-speech messages were drawn at random" in write_sections(log)[0].text


@pytest.mark.parametrize(
    ("params", "counts", "sentence"),
    [
        ({"list": "cns.csv"}, {}, "As candidates, 3 counter-narratives were taken from a list."),
        ({"every_cn": True}, {}, "were taken from the corpus: all that it has."),
        ({"depth": 10}, {"runs": {"bm25": 2, "e5": 3}}, "were taken from the first 10 ranks of `bm25` and `e5`."),
    ],
)
def test_candidates_come_from_where_they_came(
    study: Study, params: dict[str, Any], counts: dict[str, Any], sentence: str
) -> None:
    log = study.log()
    selection = next(run for run in log if run.stage == "select")
    retrieval = replace(selection, stage="retrieve", params=params, counts={"candidates": 3, **counts})
    assert sentence in write_sections([*log, retrieval])[0].text


def test_one_system_is_compared_with_none_and_a_file_is_in_no_folder(study: Study) -> None:
    systems = ["tfidf(fit=/home/ana/my/train.csv)"]
    (_, text), _software = write_sections(with_counts(study.log(), "evaluate", {"systems": systems}, systems=1))
    assert "with 1 system (`tfidf(fit=train.csv)` [@sparckjones1972]), which ranked a pool" in text
    assert "Bayesian bootstrap [@rubin1981] with 200 resamples (seed 0)" in text
    assert "smucker2007" not in text
    two = study.methods().sections[0].text
    assert ", each of which ranked a pool" in two
    assert "paired randomisation tests [@smucker2007], both with 200 resamples" in two
    assert "`MRR` [@voorhees1999]" in two


@pytest.mark.parametrize(
    ("system", "as_told"),
    [
        ("sbert:sentence-transformers/all-MiniLM-L6-v2", "sbert:sentence-transformers/all-MiniLM-L6-v2"),
        ("run:/data/runs/a.trec", "run:a.trec"),
        ("run:runs/a.trec", "run:runs/a.trec"),
        ('bm25(k1=1,fit="/my, data/x.csv")', 'bm25(k1=1,fit="x.csv")'),
        (r"bm25(fit=C:\data\x.csv)", "bm25(fit=x.csv)"),
        ("embed(url=https://host/v1,model=m)", "embed(url=https://host/v1,model=m)"),
    ],
)
def test_a_system_is_named_without_folders_of_a_machine(study: Study, system: str, as_told: str) -> None:
    log = with_counts(study.log(), "evaluate", {"systems": [system]}, systems=1)
    assert f"(`{as_told}`" in write_sections(log)[0].text


def test_answers_that_do_not_count_for_agreement_are_told(study: Study) -> None:
    sentence = "Answers that were not definite were left out."
    assert sentence not in study.methods().sections[0].text
    note_agreement(study.grid(), Agree(not_sure="drop"))
    assert sentence in study.methods().sections[0].text
    assert unlogged(study) == []


def test_labels_that_no_rule_decides_are_left_to_people(study: Study) -> None:
    waiting = {"waiting": 7, "no_majority": 0}
    log = with_counts(study.log(), "adjudicate", {"policy": "majority", "ties": "wait"}, **waiting)
    assert "what the rule could not decide was left to a person (7 pairs)" in write_sections(log)[0].text
    log = with_counts(log, "adjudicate", {}, waiting=0)
    assert "what the rule could not decide" not in write_sections(log)[0].text
    log = with_counts(study.log(), "adjudicate", {"policy": "manual"}, **waiting)
    assert "Labels stood where none differed; all other pairs were left to people." in write_sections(log)[0].text


def test_a_study_that_was_just_made_has_nothing_but_the_software(at: At) -> None:
    assert [section.heading for section in at("empty").methods().sections] == ["Software"]


def test_it_changes_nothing_and_replaces_what_it_wrote(study: Study, tmp_path: Path) -> None:
    n_runs = len(study.log())
    for _ in range(2):
        written = study.methods().write(tmp_path / "paper", "latex")
    assert [path.name for path in written] == ["methods.tex", "methods.bib"]
    assert written[0].read_text("utf-8") == study.methods().latex
    assert len(study.log()) == n_runs
    with pytest.raises(InputError, match=r"methods\.tex: there is a file of that name; expected a folder"):
        study.methods().write(written[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["write", "ask", "curate", "survey", "localise", "overlap", "printers"])
def test_each_number_of_every_example_is_one_of_the_log(name: str, walked: Walked) -> None:
    study = Study.open(walked(name))
    assert unlogged(study) == []
    headings = [section.heading for section in study.methods().sections]
    named = ["Corpus, grid and labels" if grid == MAIN else f"Grid {grid}" for grid in study.grids]
    assert headings == [*named, "Software"]


@pytest.mark.slow
def test_bias_that_was_scored_is_cited_with_the_figures_of_each_model(walked: Walked, tmp_path: Path) -> None:
    study = Study.open(shutil.copy(walked("survey"), tmp_path / "study.db"))
    grid = study.grid("test")
    scored = grid.score_bias("bbq", survey="survey", smooth=0.01)
    text = _paragraph(study, "Grid test")
    assert "of the round `answer` was scored by the definitions of BBQ [@parrish2022], on 640 answers (13 of" in text
    for model, one in scored.scores.items():
        mean = next(of for of in one.figures if (of.score, of.category) == ("s_ambiguous", MEAN))
        assert mean.value is not None
        assert re.search(rf"For `{model}`, [^;]*`s_ambiguous` was {mean.value:.3f}", text)
    divergence = scored.divergences["hasty"].figures[-1].value
    assert f"diverged by {divergence:.3f} nats (`hasty`) and" in text
    assert "[@kullback1951] in the mean over statements, with 0.01 added to both shares of a model." in text
    assert "jackknife" not in text  # with so few templates there is no interval
    grid.score_bias("pbbq", "weigh")
    assert "PBBQ [@farsi2025]" in _paragraph(study, "Grid test")
    assert unlogged(study) == []


def _paragraph(study: Study, heading: str) -> str:
    return next(section.text for section in study.methods().sections if section.heading == heading)


def test_an_interval_of_bias_is_told_and_people_who_answered_items_are_not(study: Study) -> None:
    log = study.log()
    params = {"round": "test", "role": "model", "as": "kobbq"}
    counts = {
        "models": 1,
        "answers": 1,
        "unreadable": 0,
        "categories": 1,
        "scores": {"ana": {"diff_bias_ambiguous": 0.25, "diff_bias_disambiguated": None}},
        "intervals": {"ana": {"diff_bias_ambiguous": [0.125, 0.5]}},
    }
    run = replace(log[-1], stage="bias score", params=params, counts=counts)
    text = write_sections([*log, run])[0].text
    assert "by the definitions of KoBBQ [@jin2024], on 1 answer, in 1 category. For `ana`, `diff_bias_amb" in text
    assert "was 0.250 (0.125 to 0.500) and `diff_bias_disambiguated` was undefined. Intervals rest on the jack" in text
    by_people = replace(run, params={**params, "role": "annotator"})
    text = write_sections([*log, by_people])[0].text
    assert "KoBBQ [@jin2024]" in text
    assert "`ana`" not in text

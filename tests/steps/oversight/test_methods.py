"""The methods section of a paper: what it says of what was done, and from where it has each number."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import Database, copy_study

from fcpair.bias.scoring import MEAN
from fcpair.errors import FcpairError, InputError, UnknownIdError
from fcpair.params import MAIN, Adjudicate, Agree, Assign, Evaluate, Partition, Validate
from fcpair.records import RunRecord
from fcpair.report.methods import CITATION, GridState, Section, write_sections
from fcpair.steps.adjudication.agreement import note_agreement
from fcpair.steps.oversight.methods import _load_state
from fcpair.steps.oversight.status import overview
from fcpair.steps.release.evaluate import note_evaluation
from fcpair.store.corpus import grids
from fcpair.study import Study
from steps.asked import surveyed
from steps.calibrated import calibrated
from steps.oversight.test_methods_counts import numbers_counted
from steps.people.known import controls, qualification
from steps.release.test_tiers import TIERS
from steps.releasing import full_form
from steps.small import NAMES, At, labels_of, open_work, record, with_grid

Walked = Callable[[str], Path]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def numbers_in(value: Any) -> Iterator[float]:
    """Every number in plain values: by itself, in a text, or as a key."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers_in(key)
            yield from numbers_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, str):
        yield from (float(number.replace(",", "")) for number in NUMBER.findall(value) if number.strip(","))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield abs(float(value))  # the sign is no part of a number in a text


def unfounded(study: Study) -> list[str]:
    """The numbers in the methods that neither the log has, nor what commands print of the study, rounded as they are.

    What the tables count is recounted by `test_methods_counts`.
    """
    log = json.loads(json.dumps([vars(run) for run in study.log()], default=str))
    numbers = {*numbers_in(log), *numbers_in(study.status()), *numbers_in(overview(study))}
    if MAIN in study.grids:
        with suppress(FcpairError):
            numbers |= {*numbers_in(study.grid(MAIN).agreement().as_dict())}
        numbers |= {float(number) for values in numbers_counted(study).values() for number in numbers_in(values)}
    missing = []
    for section in study.methods().sections:
        for written in NUMBER.findall(CITATION.sub("", section.text)):
            decimals = len(written.partition(".")[2])
            value = float(written.replace(",", ""))
            if not any(abs(value - round(number, decimals)) < 10**-9 for number in numbers):
                missing.append(f"{section.heading}: {written}")
    return missing


def states_of(study: Study) -> dict[str, GridState]:
    """The state of each grid, as `write_methods` has it."""
    with study._store.read() as tx:
        return {key.name: _load_state(tx) for key in grids.for_each_grid(tx)}


def sections_of(study: Study, log: list[RunRecord]) -> list[Section]:
    """The sections of the study with another log, the last evaluation in it."""
    evaluation = next((run for run in reversed(log) if run.stage == "evaluate"), None)
    return write_sections(log, states_of(study), evaluation)


def with_counts(log: list[RunRecord], stage: str, params: dict[str, Any], **counts: Any) -> list[RunRecord]:
    """The log with other parameters and counts of a stage."""
    return [
        replace(run, params=run.params | params, counts=run.counts | counts) if run.stage == stage else run
        for run in log
    ]


@pytest.fixture(scope="module")
def evaluated(database: Database, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small study, checked, with agreement, tiers of its own and an evaluation."""
    with database():
        study = Study(copy_study(files["checked"], tmp_path_factory.mktemp("evaluated") / "study.db"))
        grid = study.grid()
        note_agreement(grid, Agree())
        grid.save.partition(Partition("majority", own_tiers=TIERS))
        grid.evaluate(systems=["tfidf", "bm25"], tiers=["bronze", "draft"], measures=["NDCG", "MRR"], resamples=200)
        study.close()
    return Path(study.place)


@pytest.fixture
def study(evaluated: Path, tmp_path: Path) -> Study:
    """A copy of the study that was evaluated."""
    return Study(copy_study(evaluated, tmp_path / "study.db"))


def test_it_says_what_was_done_stage_by_stage_with_numbers_of_the_log_or_of_what_commands_print(study: Study) -> None:
    assert unfounded(study) == []
    methods = study.methods()
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
        assert words in methods.markdown, words
    (run,) = [run for run in study.log() if run.stage == "agreement"]
    for name, value in run.counts.items():  # an undefined figure says why, and others have an interval
        kind, _, detail = name.partition(", ")
        shown = f"{kind} ({detail})" if detail else kind
        if value is None:
            reason = run.counts["undefined"][name]
            assert re.search(rf"{re.escape(shown)}(?: \[@\w+\])? was undefined, because {reason}", methods.markdown)
    interval = r"Gwet's AC1 \[@gwet2008\] was -?\d\.\d{3} \(-?\d\.\d{3} to -?\d\.\d{3}\)\."
    assert re.search(interval, methods.markdown)

    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", methods.latex) for key in keys.split(",")}
    assert cited == set(methods.keys) == set(re.findall(r"^@\w+\{(\w+),", methods.bib, re.MULTILINE))
    assert not CITATION.search(methods.latex)
    plain = re.sub(r"\\(text\w+|cite|paragraph)\{|\\[&%$#_{}]|[{}]", "", methods.latex)
    assert not re.search(r"[\\&%$#_^`<>|]", plain.replace("~", ""))


def test_it_is_written_in_the_markup_of_its_name_and_changes_nothing_else(study: Study, tmp_path: Path, at: At) -> None:
    n_runs, methods = len(study.log()), study.methods()
    for _ in range(2):
        written = study.methods().write(tmp_path / "paper", "latex")
    assert [path.name for path in written] == ["methods.tex", "methods.bib"]
    assert written[0].read_text("utf-8") == methods.latex
    assert [path.name for path in methods.write(tmp_path / "new" / "m.tex")] == ["m.tex", "m.bib"]
    assert (tmp_path / "new" / "m.tex").read_text("utf-8") == methods.latex
    assert methods.write(tmp_path / "text.md")[0].read_text("utf-8") == methods.markdown
    (tmp_path / "x.tex").mkdir()
    for out, form, message in (
        ("m.md", "latex", "a .md file holds markdown, not latex"),
        ("x.tex", None, "there is a folder of that name; expected a file"),
        ("text.bib", None, "there is a file of that name; expected a folder"),
    ):
        with pytest.raises(InputError, match=message):
            methods.write(tmp_path / out, form)  # type: ignore[arg-type]
    assert len(study.log()) == n_runs
    assert [section.heading for section in at("empty").methods().sections] == ["Software"]


def test_a_release_but_no_draft_is_cited_once_with_what_is_in_it_and_its_digest(study: Study, tmp_path: Path) -> None:
    form = full_form(tmp_path)
    study.release("v0", tmp_path / "v0", form, draft=True)
    assert "Release" not in [section.heading for section in study.methods().sections]
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
    assert "`v0`" not in text
    assert unfounded(study) == []


def test_what_came_before_the_work_that_counts_is_in_it(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("paired"))
    grid.save.qualification(qualification(study, tmp_path, known_pairs=2))
    grid.save.controls(controls(study, tmp_path))
    calibrated(study)
    ((_, text), _software) = study.methods().sections
    assert "were to qualify on 2 of 12 pairs with known answers (seed 0); whoever had less than 0.75 of their" in text
    assert "a share of 0.1 were to be control pairs, drawn from 12 with known answers (seed 0)" in text
    assert "a first batch of 4 pairs (seed 2) was assigned to 3 annotators, all of it to each" in text
    assert "They differed on 2 of these, which they discussed" in text
    assert "They then gave 6 answers once more; neither answer counts" in text
    assert unfounded(study) == []


def test_what_software_answered_before_the_work_that_counts_is_said(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("paired"))
    grid.save.qualification(qualification(study, tmp_path, known_pairs=2))
    grid.assign(Assign(annotators=3))
    grid.simulate(seed=5, skips=0.0)
    record(study, tmp_path, [(who, pair, "appropriate") for pair, who in labels_of(study)], supersede=True)
    text = study.methods().sections[0].text
    assert (
        "In the round `qualification`, answers were simulated: software, and not people, gave 6 answers (seed 5)."
        in text
    )
    assert "In the round `label`, answers were simulated" not in text  # nothing of that stands
    assert unfounded(study) == []


def test_figures_whose_intervals_invert_a_test_are_named() -> None:
    cases: dict[tuple[str, ...], str | None] = {
        ("Gwet's AC1",): None,
        ("Gwet's AC1", "Krippendorff's alpha, nominal"): "Krippendorff's alpha",
        (
            "Fleiss' kappa, 2 labels",
            "Fleiss' kappa, 3 labels",
            "answer, Krippendorff's alpha, ordinal",
        ): "Fleiss' kappa and Krippendorff's alpha",
    }
    log = [RunRecord(1, "import", {}, {}, "1", "2026-11-26T00:00:00Z")]
    for with_intervals, tested in cases.items():
        figures = dict.fromkeys((*with_intervals, "Fleiss' kappa, 4 labels"), 0.5)
        intervals = {name: [0.25, 0.75] for name in with_intervals}
        counts = {"labels": 8, "pairs": 4, "overlapped": 4, **figures, "intervals": intervals}
        sentence = write_sections(log, {MAIN: GridState(agreement=counts)})[0].text.rpartition(". ")[2]
        expected = f"Those of {tested} also hold each true value" if tested else "Intervals, at a confidence level"
        assert sentence.startswith(expected)


def test_the_rule_of_an_own_tier_is_told_in_words_and_with_its_own_name(study: Study, tmp_path: Path) -> None:
    log, main = study.log(), states_of(study)[MAIN]
    demands: tuple[tuple[dict[str, Any], str], ...] = (
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
    )
    for plan, words in demands:
        state = replace(main, rules=Partition(own_tiers={"mine": plan}), tiers={**main.tiers, "mine": 1})
        assert words in write_sections(log, {MAIN: state})[0].text
    study.grid().release("draft", tmp_path / "draft.csv")
    text = study.methods().sections[0].text
    assert "scored on the tiers Bronze and `draft` by" in text
    assert "The tier `draft` was written to a file with" in text
    assert "those with a final label, and at least 2 labels, all of which equal the final one, and the valid" in text
    assert re.search(r"`draft` holds \d+ pairs: those with a final label, and any number of labels\. ", text)
    assert unfounded(study) == []


def test_whoever_was_dismissed_is_counted_without_a_name(study: Study) -> None:
    run = study.dismiss("ana", reason="Too quick to have read the pairs.")
    text = study.methods().sections[0].text
    assert f"One person was dismissed; {run.counts['set_aside']} answers of theirs were set aside" in text
    assert "ana" not in re.findall(r"\w+", text)
    assert "Too quick" not in text
    assert unfounded(study) == []


def test_candidates_come_from_where_they_came(at: At) -> None:
    study = at("paired")
    log = study.log()
    (_, text), _software = sections_of(study, log)
    assert "served for retrieval" not in text
    (selection,) = [run for run in log if run.stage == "select"]
    by_model = {"k": 2, "model": "m", "count_duplicates": True}
    cases: tuple[tuple[dict[str, Any], dict[str, Any], tuple[str, ...]], ...] = (
        (
            by_model,
            {"source_cns": 5, "neighbours": 4},
            (
                "served for retrieval alone. For each of them, the 2 nearest",
                "of the model `m`, counted over the rows of the corpus, which",
                "which gave 4 neighbours",
            ),
        ),
        ({"cn_list": "cns.csv"}, {}, ("As candidates, 3 counter-narratives were taken from a list.",)),
        ({"every_cn": True}, {}, ("were taken from the corpus: all that it has.",)),
        ({"depth": 10}, {"runs": {"bm25": 2, "e5": 3}}, ("were taken from the first 10 ranks of `bm25` and `e5`.",)),
    )
    for params, counts, sentences in cases:
        retrieval = replace(selection, stage="retrieve", params=params, counts={"candidates": 3, **counts})
        (_, text), _software = sections_of(study, [*log, retrieval])
        assert all(sentence in text for sentence in sentences)


def test_the_selection_pairs_of_the_corpus_and_a_sample_are_told_as_they_were(study: Study) -> None:
    judged = "made 24 pairs, all of which were to be judged"
    cases: tuple[tuple[bool, dict[str, int], str], ...] = (
        (False, {"in_corpus": 0}, f"{judged}. "),
        (False, {"in_corpus": 2}, f"{judged}, leaving out 2 pairs that the corpus"),
        (True, {"in_corpus": 1}, f"{judged}, including 1 pair that the corpus"),
        (
            False,
            {"in_corpus": 2, "of": 40},
            "counter-narratives make, leaving out 2 pairs that the corpus already had, 24 were drawn at random to be "
            "judged (seed 5)",
        ),
    )
    for keep_known, counts, sentence in cases:
        params = {"keep_known": keep_known, "seed": 5}
        (_, text), _software = sections_of(study, with_counts(study.log(), "pair", params, pairs=24, **counts))
        assert sentence in text
    for n, sentence in (
        (6, "All 6 hate-speech messages were selected."),
        (5, "Of these, 5 hate-speech messages were drawn at random"),
    ):
        log = with_counts(study.log(), "select", {"hs_list": None}, hs=n)
        assert sentence in sections_of(study, log)[0].text


def test_systems_are_named_without_folders_of_a_machine_and_one_is_compared_with_none(study: Study) -> None:
    told_as = {
        "sbert:sentence-transformers/all-MiniLM-L6-v2": "sbert:sentence-transformers/all-MiniLM-L6-v2",
        "run:/data/runs/a.trec": "run:a.trec",
        "run:runs/a.trec": "run:runs/a.trec",
        'bm25(k1=1,fit="/my, data/x.csv")': 'bm25(k1=1,fit="x.csv")',
        r"bm25(fit=C:\data\x.csv)": "bm25(fit=x.csv)",
        "embed(url=https://host/v1,model=m)": "embed(url=https://host/v1,model=m)",
        "tfidf(fit=/home/ana/my/train.csv)": "tfidf(fit=train.csv)",
    }
    for system, name in told_as.items():
        text = sections_of(study, with_counts(study.log(), "evaluate", {"systems": [system]}, systems=1))[0].text
        assert f"(`{name}`" in text
    assert "with 1 system (`tfidf(fit=train.csv)` [@sparckjones1972]), which ranked a pool" in text
    assert "Bayesian bootstrap [@rubin1981] with 200 resamples (seed 0)" in text
    assert "smucker2007" not in text
    two = study.methods().sections[0].text
    assert ", each of which ranked a pool" in two
    assert "paired randomisation tests [@smucker2007], both with 200 resamples" in two
    assert "`MRR` [@voorhees1999]" in two


def test_each_way_to_a_final_label_is_counted_with_its_policy(study: Study) -> None:
    def text_of(policy: Adjudicate, **outcomes: int) -> str:
        state = replace(states_of(study)[MAIN], policy=policy, outcomes=outcomes)
        return write_sections(study.log(), {MAIN: state})[0].text

    text = text_of(Adjudicate("majority"), one_label=5, unanimous=1, majority=2, person=3, irreconcilable=1, waiting=7)
    assert "by the policy `majority`; what it could not decide was left to a person. Of 19 pairs with a label" in text
    assert "5 had one label, which stood, 1 had definite labels that agree, 2 got the label of the majority" in text
    assert "3 got a label from people, 1 was discarded by people as irreconcilable and 7 wait for a decision" in text
    text = text_of(Adjudicate("median", "discard"), no_median=1, waiting=0)
    assert "was discarded. Of 1 pair with a label or a decision, 1 was discarded, as there was no median. " in text
    assert "Labels stood where none differed; all other pairs were left to people." in text_of(Adjudicate())


def test_a_batch_that_was_added_is_told_with_the_first(at: At, tmp_path: Path) -> None:
    """42 labels by the seed 1, then three more by the seed 7; 19 pairs to validate by 1, then another by 4."""
    study, grid = with_grid(at("checking"))
    grid.assign(Assign(seed=7), more=True, pairs=[7, 8, 10, 12])
    work = open_work(study)
    record(study, tmp_path, [(who, pair, "appropriate") for who, pair in work])
    grid.assign_validation(Validate(seed=4), more=True)
    text = study.methods().sections[0].text
    n = 42 + len(work)
    assert f"assigned to 3 annotators as {n} assignments (2 steps, seeds 1 and 7), 15 to each" in text
    assert f"In the round `label`, {n} answers were given in 2 files." in text
    assert "(2 steps, seeds 1 and 4)" in text[text.index("For validation") :]
    assert unfounded(study) == []


def test_no_figure_is_about_a_number_of_labels_that_no_pair_has(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("paired"))
    grid.assign(Assign(annotators=3, overlap={2: 0.5}))
    assert "Agreement" not in study.methods().markdown
    work = open_work(study)
    single = [(who, pair) for who, pair in work if [other for _, other in work].count(pair) == 1]
    record(study, tmp_path, [(who, pair, "appropriate") for who, pair in single])
    assert "Agreement was not measured, as none of the pairs had two answers." in study.methods().markdown
    record(study, tmp_path, [(who, pair, NAMES[pair % 3]) for who, pair in open_work(study)])
    text = study.methods().markdown
    assert "Fleiss' kappa (2 labels)" in text
    assert "3 labels" not in text


def test_who_qualified_is_counted_without_names() -> None:
    state = GridState(standings={"passed": 3, "let on": 1, "waits": 1, "open": 2})
    run = RunRecord(1, "qualification", {"pass_mark": 0.8, "seed": 0}, {"pairs": 12}, "1", "2026-11-26T00:00:00Z")
    text = write_sections([run], {MAIN: state})[0].text
    assert (
        "Of 7 people who were given them, 3 passed, 1 was let on by the lead, 1 waits for a decision by the lead and 2 "
        "have not finished."
    ) in text


def test_an_exploratory_evaluation_does_not_replace_the_main_one(study: Study) -> None:
    """The main one goes by the study's own tiers; one by other rules is described where it is named, with its rule."""
    grid = study.grid()
    main = study.log()[-1]
    grid.tiers(diamond="unanimous").evaluate(systems=["bm25"], tiers=["diamond"], resamples=200)
    exploratory = study.log()[-1]
    methods = study.methods()
    assert "with 2 systems (`tfidf` [@sparckjones1972] and `bm25` [@robertson2009])" in methods.markdown
    assert methods.notes == (
        f"run {main.id} is the evaluation that is described, the newest by its rules of tiers; `--evaluation RUN` "
        f"takes another ({exploratory.id})",
    )
    named = study.methods(evaluation=exploratory.id)
    assert "with 1 system (`bm25` [@robertson2009])" in named.markdown
    assert "There, Diamond held pairs by another rule: 2 labels or more, all equal to the final one; valid." in (
        named.markdown
    )
    assert named.notes == ()
    with pytest.raises(UnknownIdError, match=f"run 1 is no evaluation .* one of: {exploratory.id}, {main.id}"):
        study.methods(evaluation=1)
    grid.save.partition(Partition("unanimous", own_tiers=TIERS))
    assert study.methods().markdown.count("with 1 system") == 1
    grid.save.partition(Partition(own_tiers={"gold2": {"labels": 2, "within": "gold"}}))
    assert study.methods().markdown.count("with 1 system") == 1  # no tier of that evaluation has another rule


def test_the_evaluation_of_the_recipe_is_the_main_one_and_says_when_answers_are_newer(study: Study) -> None:
    grid = study.grid()
    options = Evaluate(("tfidf",), tiers=("bronze",), measures=("NDCG",), resamples=200)
    noted = note_evaluation(grid, options)
    grid.evaluate(systems=["bm25"], tiers=["bronze"], measures=["NDCG"], resamples=200)
    assert "with 1 system (`tfidf`" in study.methods().markdown
    grid.decide(grid.waiting_pairs()[0], None, by="ada")
    assert study.methods().notes[-1] == (
        f"run {noted.id} evaluated before the newest answers or decisions; rerun it when all are in"
    )


def test_where_no_evaluation_is_by_the_rules_of_now_none_is_described(study: Study) -> None:
    number = study.log()[-1].id
    study.grid().save.partition(Partition("majority", own_tiers={"draft": {"labels": 3}}))
    methods = study.methods()
    assert "Retrieval was evaluated" not in methods.markdown
    assert methods.notes == (
        f"no evaluation is described, as the runs {number} went by other rules of tiers than the study's; "
        "`--evaluation RUN` describes one of them",
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["write", "ask", "curate", "survey", "localise", "overlap", "printers"])
def test_each_number_of_every_example_is_of_the_log_or_of_what_commands_print(name: str, walked: Walked) -> None:
    study = Study(walked(name))
    assert unfounded(study) == []
    headings = [section.heading for section in study.methods().sections]
    named = ["Corpus, grid and labels" if grid == MAIN else f"Grid {grid}" for grid in study.grids]
    assert headings == [*named, "Software"]


@pytest.mark.slow
def test_bias_that_was_scored_is_cited_with_the_figures_of_each_model(walked: Walked, tmp_path: Path) -> None:
    study = Study(shutil.copy(walked("survey"), tmp_path / "study.db"))
    grid = study.grid("test")
    scored = grid.survey.score_bias("bbq", survey="survey", smooth=0.01)
    text = _paragraph(study, "Grid test")
    assert "of the round `answer` was scored by the definitions of BBQ [@parrish2022], on 640 answers (13 of" in text
    for model, score in scored.scores.items():
        mean = next(of for of in score.figures if (of.score, of.category) == ("s_ambiguous", MEAN))
        assert mean.value is not None
        assert re.search(rf"For `{model}`, [^;]*`s_ambiguous` was {mean.value:.3f}", text)
    divergence = scored.divergences["hasty"].figures[-1].value
    assert f"diverged by {divergence:.3f} nats (`hasty`) and" in text
    assert "[@kullback1951] in the mean over statements, with 0.01 added to both shares of a model." in text
    assert "jackknife" not in text  # with so few templates there is no interval
    grid.survey.score_bias("pbbq", "weigh")
    assert "PBBQ [@farsi2025]" in _paragraph(study, "Grid test")
    assert unfounded(study) == []


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
    text = sections_of(study, [*log, run])[0].text
    assert "by the definitions of KoBBQ [@jin2024], on 1 answer, in 1 category. For `ana`, `diff_bias_amb" in text
    assert "was 0.250 (0.125 to 0.500) and `diff_bias_disambiguated` was undefined. Intervals rest on the jack" in text
    by_people = replace(run, params={**params, "role": "annotator"})
    text = sections_of(study, [*log, by_people])[0].text
    assert "KoBBQ [@jin2024]" in text
    assert "`ana`" not in text


def test_pairs_that_were_open_to_all_are_told_as_such(at: At) -> None:
    study = at("paired")
    study.grid().assign(Assign(open=True, overlap={2: 0.5}, seed=3))
    (_, text), _software = study.methods().sections
    assert "Pairs were given on request to whoever came, for 36 labels in all (seed 3): 12 pairs to 1 person" in text
    assert unfounded(study) == []


def test_answers_that_do_not_count_for_agreement_are_told(study: Study) -> None:
    sentence = "Answers that were not definite were left out."
    assert sentence not in study.methods().sections[0].text
    note_agreement(study.grid(), Agree(indefinite="drop"))
    assert sentence in study.methods().sections[0].text
    assert unfounded(study) == []


def test_skips_of_respondents_are_not_counted(tmp_path: Path) -> None:
    """A few may be one respondent's."""
    study = surveyed(tmp_path, skips=0.3)
    (round_,) = overview(study)[0]["rounds"]
    assert round_["skipped"] > 0
    (state,) = next(iter(states_of(study).values())).rounds
    assert state.n_skipped == 0
    assert not any(source.skipped for source in state.sources)

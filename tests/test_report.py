"""The report: at every stage of a study, complete in itself, the same bytes each time, and nothing unescaped."""

from __future__ import annotations

import csv
import os
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from evaluate.outcomes import TIERS, TWO, outcome

from fcpair import Study
from fcpair.errors import InputError
from fcpair.evaluate.outcome import NO_HS, Outcome
from fcpair.evaluate.systems import Run, Sbert
from fcpair.files.corpus.fc_conan import COLUMNS
from fcpair.params import Adjudicate, Agree, Assign, Partition, Setup, Simulate, Validate
from fcpair.records import Role, RunRecord, Tier
from fcpair.report import formatting
from fcpair.report.data import (
    DISCARDED,
    HOLE,
    IN_CORPUS,
    IN_GRID,
    OTHER,
    POSITIVE,
    UNDECIDED,
    GridMap,
    MainPart,
)
from fcpair.report.figures import colours, grid_map
from fcpair.report.page import score_picture, strip_folders
from fcpair.report.table_rows import log_lines
from fcpair.stages.corpus.text_identity import digest
from fcpair.steps.oversight import report
from fcpair.store.corpus import cells as stored_cells
from fcpair.store.corpus import sides, texts
from fcpair.store.oversight import runs

OPTIONS = Agree(level=0.9)
MAJORITY = Partition("majority")
VOID = {"meta", "img", "source", "br"}
SECTIONS = ("study", "grid", "agreement", "decisions", "tiers", "releases", "people", "log", "undefined")
EVALUATED = (*SECTIONS[:6], "evaluation", *SECTIONS[6:])
DATA = os.environ.get("FCPAIR_DATA")


def write_published(path: Path, rows: list[tuple[int, int, int, int, int, str]]) -> Path:
    """A partition file; a row is index, HS number, CN number, final label, verdict, and labels such as `2 2 0`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for index, hs, cn, final, verdict, labels in rows:
            answers = [*labels.split(), "", "", ""][:3]
            writer.writerow([index, f"message {hs}", f"reply {cn}", final, verdict, *[""] * 7, *answers])
    return path


def published(folder: Path, rows: list[tuple[int, int, int, int, int, str]]) -> Study:
    study = Study.create(folder / "p.db", Setup(title="Published"))
    study.grid().import_published(write_published(folder / "published.csv", rows))
    return study


SMALL = [
    (0, 1, 1, 1, 1, "2 2 2"),
    (1, 1, 2, 0, 1, "0 0"),
    (2, 1, 3, 1, 1, "2 0 2"),
    (3, 2, 1, 0, 0, ""),
    (4, 2, 2, 1, 1, ""),
]


def with_grid(folder: Path, setup: Setup | None = None, n_hs: int = 3, n_cn: int = 4) -> Study:
    """A study with a grid of its own in which HS 1 x CN 1 stands in the corpus, made without an encoder."""
    study = Study.create(folder / "s.db", setup or Setup(title="Small"))
    with study._store.write() as tx:
        ids = [
            list(
                texts.add_texts(tx, kind, ((digest(f"{kind} {i}"), f"{kind} {i}", "en", {}) for i in range(n))).values()
            )
            for kind, n in (("hs", n_hs), ("cn", n_cn))
        ]
        texts.add_source_pairs(tx, [(ids[0][0], ids[1][0], {})])
        sides.set_texts(tx, "row", ids[0])
        sides.set_texts(tx, "column", ids[1])
        stored_cells.fill(tx)
    return study


def page_of(study: Study, partition: Partition | None = None) -> str:
    path = Path(study.place).with_suffix(".html")
    study.report(path, partition, OPTIONS)
    return path.read_text("utf-8")


def main_of(study: Study) -> MainPart:
    """What the report gathers about the grid of HS and CNs."""
    main = report.gather_report_data(study, MAJORITY, OPTIONS).main
    assert main is not None
    return main


class Page(HTMLParser):
    """The elements of a page, its words, and every address in it; raises where tags are not balanced."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.seen.append((tag, dict(attrs)))
        self.words += " "
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.words += " "

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def text(self) -> str:
        return " ".join(self.words.split())

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.seen if tag in tags]


def check(html: str, sections: tuple[str, ...] = SECTIONS) -> Page:
    """What must hold of every report."""
    page = Page(html)
    ids = [attrs["id"] for _, attrs in page.seen if "id" in attrs]
    assert tuple(ids) == sections
    for _, attrs in page.seen:
        assert not any(name.startswith("on") for name in attrs)
        for name in ("src", "srcset", "href", "data", "action"):
            assert (attrs.get(name) or "#").startswith(("#", "data:image/png;base64,"))
    assert not page.all("script", "link", "iframe", "object", "embed", "form")
    assert all("alt" in attrs for attrs in page.all("img"))
    assert all("scope" in attrs for attrs in page.all("th"))
    assert len(page.all("table")) == len(page.all("caption"))
    levels = [int(tag[1]) for tag, _ in page.seen if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert "@import" not in html
    assert "url(" not in html
    return page


def test_a_new_study_has_a_report_that_says_what_to_run(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.db")
    with pytest.raises(InputError, match="there is no folder"):
        study.report(tmp_path / "none" / "report.html")
    text = check(page_of(study)).text
    assert "Untitled study" in text
    for command in ("import", "select", "retrieve", "pair", "assign", "labels import FILE", "adjudicate"):
        assert f"not done yet: run fcpair {command}" in text
    assert "The grid: not done yet. Run fcpair pair ." in text
    assert "the maps of the grid 0 pairs the study has no grid yet" in text
    assert "agreement 0 labels it rests on labels, and there are none yet" in text


@pytest.mark.slow
def test_every_stage_has_a_report(tmp_path: Path) -> None:
    study = with_grid(tmp_path)
    grid = study.grid()
    assert "11 pairs" in check(page_of(study)).text
    grid.assign(Assign(annotators=3, overlap={2: 0.4, 3: 0.3}))
    assert re.search(r"label not done yet: run fcpair labels import FILE \(\d+ open\)", check(page_of(study)).text)
    grid.simulate(Simulate())
    labelled = check(page_of(study)).text
    assert "Adjudication: not done yet. Run fcpair adjudicate ." in labelled
    assert "labelled, waits for a policy" in labelled
    grid.adjudicate(Adjudicate("majority"))
    assert "Validation: not done yet. Run fcpair validate assign ." in check(page_of(study)).text
    grid.assign_validation(Validate(validators=2))
    assert "validate not done yet: run fcpair validate import FILE" in check(page_of(study)).text
    grid.simulate(Simulate(skips=0, accuracy=1))
    assert "Validators have given a verdict on" in check(page_of(study)).text
    grid.release(Tier.BRONZE, tmp_path / "bronze.csv")
    text = check(page_of(study)).text
    assert "bronze.csv" in text
    assert str(tmp_path) not in text
    assert "not done yet" not in text


def test_a_report_has_tiers_and_agreement_no_text_and_the_same_bytes_twice(tmp_path: Path) -> None:
    study = published(tmp_path, SMALL)
    before = study.log()
    one, two = tmp_path / "1.html", tmp_path / "2.html"
    assert study.report(one, MAJORITY, OPTIONS) == one
    Study(study.place).report(two, MAJORITY, OPTIONS)
    assert one.read_bytes() == two.read_bytes()
    assert study.log() == before
    html = one.read_text("utf-8")
    text = check(html).text
    assert "message 1" not in html
    assert "reply 1" not in html
    assert html.index("Content note.") < html.index("<h2")
    assert "evaluat" not in text.lower()
    assert "#evaluation" not in html

    assert "The Diamond rule used is majority" in text
    assert "2 labels or more, at least two and more than half equal to the final one; valid" in text
    assert (
        "Table 1. Size of the tiers Pairs, and the distinct HS and CN in them. Tier Pairs HS CN Diamond 3 1 3" in text
    )
    assert "Gold 3 1 3 Silver 4 2 3 Bronze 5 2 3" in text
    assert "Diamond 3 2 1 66.7 % Gold 3 2 1 66.7 % Silver 4 3 1 75.0 % Bronze 5 3 2 60.0 %" in text
    assert "Diamond 3 2 1 0 Gold 3 2 1 0 Silver 4 2 1 1 Bronze 5 2 1 2" in text
    assert "Diamond 2 1 1 50.0 %" in check(page_of(study, Partition("unanimous"))).text

    agreement = study.grid().agreement(OPTIONS)
    kappa = agreement.subsets[0].kappa
    assert kappa.value is not None
    assert f"annotator-1, annotator-2 3 0.667 {kappa.value:.3f}" in text
    assert f"annotator-1 {kappa.value:.3f} n 3" in text
    assert "7 labels" not in text
    assert f"{agreement.n_labels} labels on 5 pairs, of which 3 have two labels or more" in text
    assert "Weights of Cohen's kappa none" in text
    assert "Confidence level 90 % Intervals are for new HS and CN, the same annotators; those of two" in text


def test_agreement_is_warned_of_where_intervals_hold_less_often(tmp_path: Path) -> None:
    """Every label of eleven pairs but one is the same."""
    rows = [(at, 1, at, 1, 1, "2 2 0" if at == 11 else "2 2 2") for at in range(1, 12)]
    study = published(tmp_path, rows)
    (caution,) = study.grid().agreement(OPTIONS).cautions
    assert caution.startswith("97 % of the labels are appropriate, and kappas rest on the few others")
    assert f"{caution}." in check(page_of(study)).text


def test_undefined_figures_say_why_in_place_and_in_the_list(tmp_path: Path) -> None:
    study = published(tmp_path, [(0, 1, 1, 1, 0, "2 2"), (1, 1, 2, 1, 0, "2 2")])
    text = check(page_of(study)).text
    why = "both used the same single class, so agreement by chance would be complete"
    assert f"annotator-1, annotator-2 2 1.000 undefined, because {why}" in text
    assert f"Cohen's kappa, annotator-1 and annotator-2 2 pairs {why}" in text
    assert "share of positive pairs, Diamond 0 pairs the tier is empty" in text
    assert "undefined, because the tier is empty" in text
    assert "median seconds per answer, annotator-1 0 of 2 timed no answer has a known time" in text
    found = study.grid().agreement(OPTIONS)
    for figure in (figure for figure in (*found.pooled, *found.summary) if figure.undefined):
        assert f"{figure.name} {formatting.counted(figure.n, 'pair')} {figure.undefined}" in text


def test_simulated_people_are_announced_and_nobody_can_put_markup_into_it(tmp_path: Path) -> None:
    evil = "<script>alert('$x_1$')</script>\"&"
    study = with_grid(tmp_path, Setup(title=evil, hs_name=evil, cn_name="返信 <b>"))
    study.add_people(["<script>$x_1$", "<table>&"], Role.ANNOTATOR)
    study.grid().assign(Assign(overlap={2: 1.0}))
    assert "SIMULATED" not in page_of(study)
    study.grid().simulate(Simulate())
    html = page_of(study)
    text = check(html).text
    assert html.index("judgements are SIMULATED") < html.index("<nav")
    assert '<p class="banner"' in html
    assert "<script" not in html
    assert evil in text
    assert "<script>$x_1$, <table>& 11" in text
    assert "返信 <b>" in text


def test_a_person_s_row_counts_load_answers_times_and_notes(tmp_path: Path) -> None:
    study = with_grid(tmp_path)
    grid = study.grid()
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign(Assign())
    grid.sheets.write_labels(tmp_path / "sheets")
    sheet = tmp_path / "sheets" / "ana.csv"
    whole = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    answers = ["appropriate", "appropriate", "not_sure", "skip"]
    whole.head(4).assign(label=answers, note=["a note", "", "", ""]).to_csv(sheet, index=False)
    grid.import_labels(sheet)
    ana = main_of(study).annotators[0]
    assert (ana.assigned, ana.done, ana.open, ana.skipped, ana.notes) == (11, 3, 7, 1, 1)
    assert ana.answers == (0, 1, 2)
    assert ana.median_s is None
    assert "ana 11 3 7 1 0 0 (0.0 %) 1 (33.3 %) 2 (66.7 %) undefined 1" in check(page_of(study)).text
    whole.assign(label="skip").to_csv(sheet, index=False)
    grid.import_labels(sheet, supersede=True)
    text = check(page_of(study)).text
    assert "ana 11 0 0 11 0" in text
    assert "shares of answers, ana 0 labels they have given no label yet" in text


def test_the_map_tells_corpus_pairs_from_holes(tmp_path: Path) -> None:
    own = main_of(with_grid(tmp_path)).grid
    assert own is not None
    assert own.place.tolist() == [[IN_CORPUS, *[IN_GRID] * 3], *[[IN_GRID] * 4] * 2]
    taken = main_of(published(tmp_path, SMALL)).grid
    assert taken is not None
    assert taken.place.tolist() == [[IN_GRID] * 3, [IN_GRID, IN_GRID, HOLE]]
    assert taken.labels.tolist() == [[3, 2, 3], [1, 1, 0]]
    assert taken.decision.tolist() == [[POSITIVE, OTHER, POSITIVE], [OTHER, POSITIVE, UNDECIDED]]


def test_decisions_by_hand_leave_no_run_and_stand_in_the_map_and_in_the_log_of_the_report(tmp_path: Path) -> None:
    study = published(tmp_path, SMALL)
    study.add_people(["eva"], Role.LEAD)
    n_runs = len(study.log())
    study.grid().decide(0, None, by="eva")
    study.grid().decide(2, 2, by="eva")
    study.grid().take_back(1, by="eva")
    assert len(study.log()) == n_runs
    grid = main_of(study).grid
    assert grid is not None
    assert grid.decision[0].tolist() == [DISCARDED, UNDECIDED, POSITIVE]
    assert "discarded 1" in check(page_of(study)).text
    lines = log_lines(report.gather_report_data(study, MAJORITY, OPTIONS).log)
    assert [line.parameters for line in lines[-2:]] == [[("2 decisions", "by eva")], [("pair", "1"), ("by", "eva")]]
    assert lines[-1].done == "1 was reopened"


def test_a_decision_that_an_older_fcpair_noted_as_a_run_is_told_once(tmp_path: Path) -> None:
    study = published(tmp_path, SMALL)
    study.add_people(["eva"], Role.LEAD)
    study.grid().decide(0, None, by="eva")
    with study._store.write() as tx:
        runs.add_run(tx, "adjudicate", {"pair": 0, "by": "eva"}, {"person": 1}, "0.6.0", None)
    assert study.log()[-1].params == {"pair": 0, "by": "eva"}
    lines = log_lines(report.gather_report_data(study, MAJORITY, OPTIONS).log)
    assert [line.n for line in lines if ("pair", "0") in line.parameters] == [1]


def evaluated(study: Study, found: Outcome) -> str:
    """The report of a study in which `fcpair evaluate` found this."""
    with study._store.write() as tx:
        runs.add_run(tx, "evaluate", {"systems": [one.name for one in found.systems]}, {}, "0", None, found.as_data())
    return page_of(study)


@pytest.mark.slow
def test_the_newest_evaluation_stands_in_the_report_with_pictures_for_light_and_dark_pages(tmp_path: Path) -> None:
    study = published(tmp_path, SMALL)
    evaluated(study, outcome(TWO[:1]))
    newest = outcome(pool="positive")
    html = evaluated(study, newest)
    page = check(html, EVALUATED)
    assert html.index('href="#releases"') < html.index('href="#evaluation"') < html.index('href="#people"')
    assert "Pool positive Measures NDCG@5, judged@5" in page.text
    tier = newest.tiers[0]
    share = formatting.share(tier.judged, 180)
    assert f"Diamond the rule of diamond 9 20 {tier.judged} {share} {tier.positive} 0 0" in page.text
    assert "tfidf tfidf(fit=pool) – –" in page.text
    assert "later step" not in page.text
    pictures = [image for image in page.all("img") if " of random, tfidf on " in (image["alt"] or "")]
    assert [str(image["alt"]).split()[0] for image in pictures] == ["NDCG@5", "judged@5"]
    drawn = [score_picture(strip_folders(newest), measure) for measure in newest.measures]
    assert all(image.light != image.dark for image in drawn)
    assert [image["src"] for image in pictures] == [image.light for image in drawn]


def test_scores_stand_with_interval_readings_and_bounds(tmp_path: Path) -> None:
    found = outcome()
    text = check(evaluated(published(tmp_path, SMALL), found), EVALUATED).text
    score = next(one for one in found.scores if (one.tier, one.system, one.measure) == ("gold", "tfidf", "NDCG@5"))
    assert f"Scores on Gold Means over HS, from 0 to 1; {found.tiers[1].judged} of 180 pairs judged." in text
    row = (
        f"tfidf NDCG@5 9 {score.score:.4f} {score.low:.3f} to {score.high:.3f} "
        f"{score.left_out:.4f} {score.right:.4f} {score.lowest:.3f} to {score.highest:.3f}"
    )
    assert row in text
    exact = next(one for one in found.scores if one.expected and (one.tier, one.measure) == ("gold", "NDCG@5"))
    assert f"random, expectation NDCG@5 9 {exact.score:.4f} – {exact.left_out:.4f}" in text
    assert "random, one draw NDCG@5 9" in text
    judged = next(one for one in found.scores if (one.tier, one.system, one.measure) == ("gold", "tfidf", "judged@5"))
    assert f"judged@5 9 {judged.score:.4f} {judged.low:.3f} to {judged.high:.3f} – – –" in text


@pytest.mark.slow
def test_spread_and_concordance_over_tiers_stand_in_it(tmp_path: Path) -> None:
    found = outcome(measures=("HitRatio", "MRR", "NDCG", "MAP"))
    text = check(evaluated(published(tmp_path, SMALL), found), EVALUATED).text
    average = next(row for row in found.spreads if (row.system, row.measure) == ("tfidf", "average"))
    assert f"average 4 {average.mean:.4f} {average.minimum:.4f} {average.maximum:.4f} {average.cv:.3f}" in text
    taus = [one.tau for one in found.concordances if (one.one, one.other) == ("diamond", "bronze")]
    assert f"Diamond, Bronze {' '.join(formatting.decimal(tau, 2) for tau in taus)}" in text


def test_only_significant_differences_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    found = outcome((*TWO, Sbert("a"), Sbert("b")), TIERS[2:], n_hs=20, resamples=1000)
    text = check(evaluated(published(tmp_path, SMALL), found), EVALUATED).text
    significant = [test for test in found.comparisons if test.p_holm < 0.05]
    assert 0 < len(significant) < len(found.comparisons)
    assert f"{len(significant)} of {len(found.comparisons)} differences between two systems have p < 0.05" in text
    for test in significant:
        assert f"{test.one} {test.other} 20 {test.difference:+.4f} {test.p_holm:.4f}" in text


@pytest.mark.slow
def test_an_evaluation_says_that_later_steps_changed_what_it_rests_on(tmp_path: Path) -> None:
    study = published(tmp_path, SMALL)
    grid = study.grid()
    study.add_people(["eva"], Role.LEAD)
    evaluated(study, outcome())
    grid.release(Tier.BRONZE, tmp_path / "bronze.csv")
    assert "later step" not in check(page_of(study), EVALUATED).text
    grid.decide(0, None, by="eva")
    assert "These figures were made before 1 later step that" in check(page_of(study), EVALUATED).text
    grid.take_back(1, by="eva")
    text = check(page_of(study), EVALUATED).text
    assert "These figures were made before 2 later steps that may have changed labels" in text
    assert "Run fcpair evaluate to compute them again." in text
    assert "later step" not in check(evaluated(study, outcome()), EVALUATED).text


@pytest.mark.slow
def test_undefined_scores_say_why_in_place_and_once_in_the_list(tmp_path: Path) -> None:
    study = published(tmp_path, SMALL)
    text = check(evaluated(study, outcome(without=("diamond",), no_positives="leave_out")), EVALUATED).text
    assert f"random, one draw NDCG@5 0 undefined, because {NO_HS}" in text
    assert text.count(f"scores on Diamond 0 HS {NO_HS}") == 1
    assert f"spread over tiers, NDCG@5: random, tfidf 4 tiers {NO_HS}" in text
    assert f"NDCG@5 4 undefined, because {NO_HS}" in text
    assert f"Kendall's tau of Diamond and Gold, NDCG@5 2 systems {NO_HS}" in text
    text = check(evaluated(study, outcome(TWO[1:], without=("diamond", "gold", "silver", "bronze"))), EVALUATED).text
    why = "the mean is 0, so there is no coefficient of variation"
    assert f"NDCG@5 4 0.0000 0.0000 0.0000 undefined, because {why}" in text
    assert f"coefficient of variation over tiers, NDCG@5: tfidf 4 tiers {why}" in text
    text = check(evaluated(study, outcome(n_hs=1)), EVALUATED).text
    why = "1 HS gives no interval; it takes 5 or more"
    assert re.search(rf"tfidf NDCG@5 1 \d\.\d{{4}} undefined, because {why} \d\.\d{{4}}", text)
    assert f"intervals of scores on Diamond 1 HS {why}" in text
    text = check(evaluated(study, outcome(TWO[:1], ("gold",))), EVALUATED).text
    for comparison in ("Spread of the score", "Kendall's tau", "Differences between systems"):
        assert comparison not in text


def test_names_of_systems_are_escaped_lose_their_folders_and_are_told_apart(tmp_path: Path) -> None:
    systems = (Run(Path("<b>$x$.trec")), Run(Path("/home/me/one/a.trec")), Run(Path("/home/me/two/a.trec")))
    html = evaluated(
        published(tmp_path, SMALL), outcome((*systems, Sbert("/home/me/models/<i>")), pool="/home/me/pool.csv")
    )
    text = check(html, EVALUATED).text
    assert "<b>" not in html
    assert "run:<b>$x$.trec" in text
    assert "sbert:<i>" in text
    assert "run:a.trec(ids=corpus) (2)" in text
    assert "Pool pool.csv" in text
    assert "/home/me" not in html
    stripped = strip_folders(outcome((*systems[1:], Run(Path("b.trec")))))
    names = ["run:a.trec(ids=corpus) (1)", "run:a.trec(ids=corpus) (2)", "run:b.trec"]
    assert [system.short for system in stripped.systems] == names
    assert list(dict.fromkeys(score.system for score in stripped.scores)) == names
    assert (stripped.comparisons[0].one, stripped.comparisons[0].other) == (names[0], names[1])


def test_names_of_files_lose_their_folders() -> None:
    for name, shown in {
        "run:/home/me/a.trec": "run:a.trec",
        "run:/home/by=me/a.trec": "run:a.trec",
        'run:"/a.trec"(ids=corpus)': 'run:"a.trec"(ids=corpus)',
        "tfidf(fit=/texts.csv)": "tfidf(fit=texts.csv)",
        'run:"/home/me/a, b/c.trec"': 'run:"c.trec"',
        'run:"C:\\\\data\\\\a.trec"': 'run:"a.trec"',
        "tfidf(fit=/data/texts.csv)": "tfidf(fit=texts.csv)",
        "rerank(first=run:/x/a.trec,then=cross:/y/z,depth=20)": "rerank(first=run:a.trec,then=cross:z,depth=20)",
        "sbert:a-house/a-model": "sbert:a-house/a-model",
        "bm25(k1=1.2)": "bm25(k1=1.2)",
        "embed:https://a.org/v1/m": "embed:https://a.org/v1/m",
        "C:\\data\\a.csv": "a.csv",
        "/data/a.csv": "a.csv",
        "/home/x=y:z/a.csv": "a.csv",
    }.items():
        assert formatting.file_name(name) == shown
    logged = {"path": "/home/me/corpus.csv", "out": "C:\\data\\gold.csv", "hs": None, "overlap": {"2": 0.1}, "b": True}
    shown_settings = [("path", "corpus.csv"), ("out", "gold.csv"), ("overlap", "2: 0.1"), ("b", "yes")]
    assert formatting.settings(logged) == shown_settings
    plan = {"rows": {"file": "/home/me/hs.csv", "names": []}, "rounds": [{"models": ["mine=canned:/home/me/x.csv"]}]}
    assert formatting.settings(plan) == [("rows", "file: hs.csv"), ("rounds", "models: mine=canned:x.csv")]


def a_map(n_hs: int, n_cn: int) -> GridMap:
    rng = np.random.default_rng(1)
    place = rng.choice(np.array([IN_GRID, IN_CORPUS, HOLE], np.int8), (n_hs, n_cn), p=[0.9, 0.05, 0.05])
    labels = np.where(place == IN_GRID, rng.integers(0, 4, (n_hs, n_cn)), 0).astype(np.int16)
    decision = np.where(labels > 0, rng.integers(0, 4, (n_hs, n_cn)), UNDECIDED).astype(np.int8)
    return GridMap(place, labels, decision)


def test_every_cell_is_in_one_class_and_many_labels_share_the_last() -> None:
    grid = a_map(20, 30)
    for classed in (grid_map.coverage(grid), grid_map.decisions(grid)):
        assert sum(cells.n for cells in classed.classes) == 600
        assert classed.classes[-1].n == int((grid.place == HOLE).sum())
    by_labels = [cells.n for cells in grid_map.coverage(grid).classes[1:4]]
    assert by_labels == [int((grid.labels == n).sum()) for n in (1, 2, 3)]
    many = GridMap(np.zeros((1, 2), np.int8), np.array([[9, 12]], np.int16), np.zeros((1, 2), np.int8))
    assert [(cells.meaning, cells.n) for cells in grid_map.coverage(many).classes if cells.n] == [
        ("9 labels or more", 2)
    ]


def test_a_block_shows_the_mean_of_its_cells_or_why_there_is_none() -> None:
    grid = a_map(grid_map.MOST_ROWS + 1, grid_map.MOST_COLUMNS * 2)
    blocked = grid_map.coverage_blocks(grid)
    assert (blocked.rows, blocked.columns) == (2, 2)
    inside = grid.place[:2, :2] == IN_GRID
    assert blocked.mean[0, 0] == pytest.approx(grid.labels[:2, :2][inside].mean())
    last = grid.decision[-1, -2:]
    definite = np.isin(last, [POSITIVE, OTHER]).sum()
    assert definite
    share = (last == POSITIVE).sum() / definite
    assert grid_map.decision_blocks(grid).mean[-1, -1] == pytest.approx(share)

    place = np.full((grid_map.MOST_ROWS * 2, 2), IN_GRID, np.int8)
    place[:2] = HOLE
    labels = np.zeros(place.shape, np.int16)
    labels[4, 0] = 1
    blocked = grid_map.decision_blocks(GridMap(place, labels, np.zeros(place.shape, np.int8)))
    assert np.isnan(blocked.mean).all()
    assert [blocked.looks[index] for index in blocked.index[:3, 0]] == ["hole", "nothing", "waiting"]


def test_a_map_fits_the_page_and_a_large_grid_is_drawn_in_blocks_and_says_so(tmp_path: Path) -> None:
    for shape in ((1, 1), (1, 280), (160, 1), (45, 129), (160, 280)):
        px = grid_map.cell_pixels(shape)
        assert px >= 5
        assert shape[1] * px <= grid_map.WIDEST
        assert shape[0] * px <= grid_map.TALLEST
    assert grid_map.tick_numbers(4, 10) == [1, 2, 3, 4]
    assert grid_map.tick_numbers(45, 10) == [1, 5, 10, 15, 20, 25, 30, 35, 40, 45]
    assert grid_map.tick_numbers(5000, 10)[:3] == [1, 500, 1000]
    text = check(page_of(with_grid(tmp_path, n_hs=grid_map.MOST_ROWS + 1, n_cn=5))).text
    assert "One square is a block of 2 HS × 1 CN" in text
    assert "All 805 cells of 161 HS × 5 CN" in text


def test_looks_differ_in_grey_or_in_pattern_and_numbers_stand_out_on_every_colour() -> None:
    looks = ("positive", "other", "discarded", "waiting", "nothing", "corpus", "hole")
    for theme in colours.THEMES:
        tiles = {look: colours.paint_tile(look, 10, theme).mean(axis=2) for look in looks}
        marked = {look: bool(np.ptp(tile) > 1) for look, tile in tiles.items()}
        plain = sorted(float(tile.mean()) for look, tile in tiles.items() if not marked[look])
        assert min(np.diff(plain)) > 25
        assert {look for look in looks if marked[look]} == {"discarded", "waiting", "corpus", "hole"}
    for at in (0.0, 0.3, 0.45, 0.5, 0.6, 1.0):
        ground = colours.cividis(at)
        light, dark = sorted((colours._luminance(ground), colours._luminance(colours.ink_on(ground))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_decisions_by_one_person_in_a_row_are_one_line_of_the_log() -> None:
    def run(stage: str, **params: object) -> RunRecord:
        return RunRecord(1, stage, params, {"person": 1}, "0", "2025-03-01T12:00:00.000+00:00")

    decided = (*(run("adjudicate", pair=pair, by="eva") for pair in (1, 2, 3)), run("adjudicate", pair=4, by="leo"))
    lines = log_lines((run("init"), *decided))
    assert [line.n for line in lines] == [1, 3, 1]
    assert lines[1].parameters == [("3 decisions", "by eva")]
    assert lines[1].done == "3 stand by a person's decision"


def test_a_share_never_looks_like_none_or_all_when_it_is_not() -> None:
    parts = {(1, 3): "33.3 %", (0, 3): "0.0 %", (1, 9999): "< 0.1 %", (9998, 9999): "> 99.9 %", (3, 3): "100.0 %"}
    assert {part: formatting.share(*part) for part in (*parts, (0, 0))} == {**parts, (0, 0): "–"}


@pytest.mark.slow
@pytest.mark.skipif(DATA is None, reason="FCPAIR_DATA does not name the folder with the published FC-CONAN files")
def test_the_published_figures_stand_in_the_report_of_the_published_labels(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "p.db")
    study.grid().import_published(Path(DATA or "") / "fc-conan" / "bronze_partition_df.csv")
    text = check(page_of(study, MAJORITY)).text
    assert "Diamond 551 45 24 Gold 663 45 24 Silver 3,580 45 130 Bronze 3,997 45 130" in text
    assert "Diamond 551 195 356 0 Gold 663 195 468 0 Silver 3,580 195 468 2,917 Bronze 3,997 199 502 3,296" in text
    assert "Diamond 551 35 516" in text
    assert "annotator-1, annotator-2 701 0.792 0.377" in text
    assert "Diamond 530" in check(page_of(study, Partition("unanimous"))).text

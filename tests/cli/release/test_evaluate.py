"""`fcpair evaluate` on the small study."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from steps.small import dump

from cli.conftest import Fcpair

At = Callable[[str], Path]
FAST = ("--resamples", "100", "--cutoff", "3", "--pool", "all")


def test_each_tier_has_a_table_and_the_tiers_a_summary(fcpair: Fcpair, at: At) -> None:
    at("checked")
    printed = fcpair("evaluate", "--system", "tfidf", "--system", "random", *FAST).stdout
    for tier in ("diamond (", "gold (", "silver (", "bronze ("):
        assert tier in printed
    assert "Over 4 tiers" in printed
    assert "random, expectation" in printed
    assert "random, one draw" in printed
    assert "\n  random\n" not in printed
    assert "Kendall's tau" in printed


def test_the_tables_fit_a_terminal(fcpair: Fcpair, at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    at("checked")
    monkeypatch.setenv("COLUMNS", "80")
    printed = fcpair("evaluate", "--system", "tfidf", "--system", "bm25(k1=1.2)", *FAST).stdout
    assert max(map(len, printed.splitlines())) <= 80
    assert "  NDCG@3        " in printed  # on one line, beside its figures


def test_the_names_of_many_measures_stay_in_one_line(fcpair: Fcpair, at: At) -> None:
    at("checked")
    names = ("HitRatio", "MRR", "NDCG", "MAP", "MAP(by=all)", "RBP", "Accuracy", "F1")
    measures = [word for name in names for word in ("--measure", name)]
    printed = fcpair("evaluate", "--system", "tfidf", "--system", "bm25", *measures, *FAST).stdout
    heads = [line for line in printed.splitlines() if line.split()[:1] == ["tiers"]]
    assert [head.split()[1:] for head in heads] == [
        ["HitRatio@3", "MRR@3", "NDCG@3", "MAP@3", "MAP(by=all)@3"],
        ["RBP(p=0.8)", "Accuracy@3", "F1@3"],
    ]
    assert max(map(len, heads)) <= 80


def test_what_the_figures_rest_on_is_printed(fcpair: Fcpair, at: At) -> None:
    at("checked")
    printed = " ".join(fcpair("evaluate", "--system", "tfidf", "--tier", "bronze", *FAST).stdout.split())
    assert "4 HS x 6 CNs of the pool `all`; 19 of 24 pairs judged" in printed
    assert "HS without an appropriate CN (each scores 0)" in printed
    assert "Bayesian bootstrap over HS (100 resamples)" in printed
    assert "undefined, because 4 HS give no interval; it takes 5 or more." in printed


def test_where_no_test_can_be_significant_the_command_says_what_it_would_take(fcpair: Fcpair, at: At) -> None:
    """Four HS have 16 ways of signs: 2 / 16, times the one pair of systems."""
    at("checked")
    words = ("evaluate", "--system", "tfidf", "--system", "bm25", "--tier", "bronze", *FAST)
    said = " ".join(fcpair(*words).stderr.split())
    assert "Warning: no test on bronze can reach p < 0.05: the least p of 4 HS is 2 / 16, and Holm's" in said
    assert "it takes 6 HS, however often it is resampled." in said
    assert len(json.loads(fcpair(*words, "--format", "json").stdout)["cautions"]) == 1


def test_the_family_of_the_correction_is_named_below_the_differences(fcpair: Fcpair, at: At) -> None:
    at("checked")
    systems = [word for name in ("tfidf", "bm25", "random") for word in ("--system", name)]
    printed = " ".join(fcpair("evaluate", *systems, *FAST).stdout.split())
    assert "corrected after Holm, for each tier and measure apart, over all 3 pairs of systems." in printed


def test_json_holds_everything(fcpair: Fcpair, at: At) -> None:
    at("checked")
    data = json.loads(fcpair("evaluate", "--system", "tfidf", "--system", "bm25", *FAST, "--format", "json").stdout)
    assert [one["name"] for one in data["systems"]] == [
        "tfidf(fit=pool)",
        "bm25(k1=1.5,b=0.75,variant=lucene,tokens=words,lower=true,fit=pool)",
    ]
    assert {"score", "low", "high", "left_out", "right", "lowest", "highest", "n"} <= set(data["scores"][0])
    assert (data["diamond"], data["simulated"], len(data["comparisons"])) == ("unanimous", None, 16)


@pytest.mark.slow
def test_json_and_figures_say_that_answers_were_made_up(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("dealt")
    fcpair("simulate", "--seed", "1", "--skips", "0")
    fcpair("adjudicate", "--policy", "majority")
    fcpair("validate", "assign", "--validators", "2")
    fcpair("simulate", "--seed", "1", "--skips", "0")
    words = ("--system", "tfidf", "--tier", "bronze", *FAST, "--figures", tmp_path, "--format", "json")
    assert "SIMULATED" in json.loads(fcpair("evaluate", *words).stdout)["simulated"]
    assert "SIMULATED" in (tmp_path / "NDCG@3.svg").read_text("utf-8")


def test_csv_has_a_row_for_each_tier_system_and_measure(fcpair: Fcpair, at: At) -> None:
    at("checked")
    printed = fcpair("evaluate", "--system", "tfidf", "--measure", "MRR", *FAST, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["tier"], row["measure"]) for row in rows] == [
        (tier, "MRR@3") for tier in ("diamond", "gold", "silver", "bronze")
    ]


def test_the_study_s_own_options_are_used_where_none_is_given(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checked")
    recipe = tmp_path / "r.toml"
    recipe.write_text('[evaluate]\nsystems = ["bm25"]\npool = "all"\ncutoff = 2\nresamples = 100\n', "utf-8")
    fcpair("adjudicate", "--policy", "majority", "--ties", "discard")
    fcpair("run", recipe)
    data = json.loads(fcpair("evaluate", "--cutoff", "3", "--format", "json").stdout)
    assert ([one["short"] for one in data["systems"]], data["measures"][0]) == (["bm25"], "HitRatio@3")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--system", "bm52"), "did you mean `bm25`"),
        (("--system", "bm25(k2=1)"), "there is no option `k2`; known are k1, b"),
        (("--system", "run:none.trec"), "none.trec: there is no such file"),
        (("--system", "tfidf(fit=none.csv)"), "none.csv: there is no such file"),
        (("--system", "sbert:no-such-model"), "the model `no-such-model` is not available"),
        (("--system", "tfidf", "--measure", "nDCG"), "did you mean `NDCG`"),
        (("--system", "tfidf", "--tier", "platinum"), "there is no tier `platinum`"),
        ((), "name at least one"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(fcpair: Fcpair, at: At, words: tuple[str, ...], said: str) -> None:
    path = at("checked")
    before = dump(path)
    assert said in fcpair("evaluate", *words, *FAST, code=2).stderr
    assert dump(path) == before


def test_figures_and_runs_are_written(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checked")
    folders = ("--figures", tmp_path / "figures", "--runs", tmp_path / "runs")
    fcpair("evaluate", "--system", "tfidf", "--measure", "MRR", *FAST, *folders)
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["MRR@3.pdf", "MRR@3.png", "MRR@3.svg"]
    assert (tmp_path / "runs" / "tfidf.trec").read_text("utf-8").count("\n") == 24


def test_a_file_in_the_place_of_a_folder_is_refused(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checked")
    (tmp_path / "runs").write_text("", "utf-8")
    assert "runs" in fcpair("evaluate", "--system", "tfidf", *FAST, "--runs", tmp_path / "runs", code=2).stderr


def test_a_dry_run_asks_nothing_and_notes_nothing(fcpair: Fcpair, at: At) -> None:
    path = at("checked")
    before = dump(path)
    printed = fcpair("evaluate", "--system", "tfidf", "--system", "llm:any", *FAST, "--dry-run", "--format", "json")
    tfidf, llm = json.loads(printed.stdout)
    assert (tfidf["requests"], llm["requests"], llm["cached"]) == (0, 4, 0)
    assert llm["tokens"] > 100
    assert dump(path) == before

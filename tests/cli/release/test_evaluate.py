"""`fcpair evaluate` on the small study."""

from __future__ import annotations

from pathlib import Path

import pytest
from steps.small import dump

from cli.conftest import At, Fcpair

FAST = ("--resamples", "100", "--cutoff", "3", "--pool", "all")


def evaluate(fcpair: Fcpair, *systems: str | Path) -> str:
    """What is printed of these systems, and of these options."""
    return fcpair("evaluate", *systems, *FAST).stdout


def systems(*names: str) -> list[str]:
    return [word for name in names for word in ("--system", name)]


def test_tables_of_the_tiers_and_their_summary_fit_a_terminal(
    fcpair: Fcpair, at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("checked")
    monkeypatch.setenv("COLUMNS", "80")
    printed = evaluate(fcpair, *systems("tfidf", "random", "bm25(k1=1.2)"))
    for tier in ("diamond (", "gold (", "silver (", "bronze ("):
        assert tier in printed
    assert "Over 4 tiers" in printed
    assert "random, expectation" in printed
    assert "random, one draw" in printed
    assert "\n  random\n" not in printed
    assert "Kendall's tau" in printed
    assert "corrected after Holm, for each tier and measure apart, over all 3 pairs of systems." in " ".join(
        printed.split()
    )
    assert max(map(len, printed.splitlines())) <= 80
    assert "  NDCG@3        " in printed  # on one line, beside its figures
    names = ("HitRatio", "MRR", "NDCG", "MAP", "MAP(by=all)", "RBP", "Accuracy", "F1")
    measures = [word for name in names for word in ("--measure", name)]
    printed = evaluate(fcpair, *systems("tfidf", "bm25"), *measures)
    heads = [line for line in printed.splitlines() if line.split()[:1] == ["tiers"]]
    assert [head.split()[1:] for head in heads] == [
        ["HitRatio@3", "MRR@3", "NDCG@3", "MAP@3", "MAP(by=all)@3"],
        ["RBP(p=0.8)", "Accuracy@3", "F1@3"],
    ]
    assert max(map(len, heads)) <= 80


def test_it_is_said_what_figures_rest_on_and_where_no_test_can_be_significant(fcpair: Fcpair, at: At) -> None:
    """Four HS have 16 ways of signs: 2 / 16, times the one pair of systems."""
    at("checked")
    printed = " ".join(evaluate(fcpair, "--system", "tfidf", "--tier", "bronze").split())
    assert "4 HS x 6 CNs of the pool `all`; 19 of 24 pairs judged" in printed
    assert "HS without an appropriate CN (each scores 0)" in printed
    assert "Bayesian bootstrap over HS (100 resamples)" in printed
    assert "undefined, because 4 HS give no interval; it takes 5 or more." in printed
    words = ("evaluate", *systems("tfidf", "bm25"), "--tier", "bronze", *FAST)
    warning = " ".join(fcpair(*words).stderr.split())
    assert "Warning: no test on bronze can reach p < 0.05: the least p of 4 HS is 2 / 16, and Holm's" in warning
    assert "it takes 6 HS, however often it is resampled." in warning
    assert len(fcpair.json(*words)["cautions"]) == 1


def test_json_holds_everything_and_csv_has_a_row_for_each_tier_system_and_measure(fcpair: Fcpair, at: At) -> None:
    at("checked")
    found = fcpair.json("evaluate", *systems("tfidf", "bm25"), *FAST)
    assert [system["name"] for system in found["systems"]] == [
        "tfidf(fit=pool)",
        "bm25(k1=1.5,b=0.75,variant=lucene,tokens=words,lower=true,fit=pool)",
    ]
    assert {"score", "low", "high", "left_out", "right", "lowest", "highest", "n"} <= set(found["scores"][0])
    assert (found["diamond"], found["simulated"], len(found["comparisons"])) == ("unanimous", None, 16)
    rows = fcpair.csv("evaluate", "--system", "tfidf", "--measure", "MRR", *FAST)
    tiers = ("diamond", "gold", "silver", "bronze")
    assert [(row["tier"], row["measure"]) for row in rows] == [(tier, "MRR@3") for tier in tiers]


@pytest.mark.slow
def test_json_and_figures_say_that_answers_were_made_up(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("dealt")
    fcpair("simulate", "--seed", "1", "--skips", "0")
    fcpair("adjudicate", "--policy", "majority")
    fcpair("validate", "assign", "--validators", "2")
    fcpair("simulate", "--seed", "1", "--skips", "0")
    words = ("--system", "tfidf", "--tier", "bronze", *FAST, "--figures", tmp_path)
    assert "SIMULATED" in fcpair.json("evaluate", *words)["simulated"]
    assert "SIMULATED" in (tmp_path / "NDCG@3.svg").read_text("utf-8")


def test_the_study_s_own_options_are_used_where_none_is_given(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checked")
    recipe = tmp_path / "r.toml"
    recipe.write_text('[evaluate]\nsystems = ["bm25"]\npool = "all"\ncutoff = 2\nresamples = 100\n', "utf-8")
    fcpair("adjudicate", "--policy", "majority", "--ties", "discard")
    fcpair("run", recipe)
    found = fcpair.json("evaluate", "--cutoff", "3")
    assert ([one["short"] for one in found["systems"]], found["measures"][0]) == (["bm25"], "HitRatio@3")


def test_bad_input_changes_nothing_and_a_dry_run_notes_nothing(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path = at("checked")
    before = dump(path)
    (tmp_path / "file").write_text("", "utf-8")
    for words, message in (
        ("--system bm52", "did you mean `bm25`"),
        ("--system bm25(k2=1)", "there is no option `k2`; known are k1, b"),
        ("--system run:none.trec", "none.trec: there is no such file"),
        ("--system tfidf(fit=none.csv)", "none.csv: there is no such file"),
        ("--system sbert:no-such-model", "the model `no-such-model` is not available"),
        ("--system tfidf --measure nDCG", "did you mean `NDCG`"),
        ("--system tfidf --tier platinum", "there is no tier `platinum`"),
        ("", "name at least one"),
        (f"--system tfidf --runs {tmp_path / 'file'}", str(tmp_path / "file")),
    ):
        assert message in fcpair.refusal("evaluate", *words.split(), *FAST)
        assert dump(path) == before
    tfidf, llm = fcpair.json("evaluate", *systems("tfidf", "llm:any"), *FAST, "--dry-run")
    assert (tfidf["requests"], llm["requests"], llm["cached"]) == (0, 4, 0)
    assert llm["tokens"] > 100
    assert dump(path) == before


def test_figures_and_runs_are_written(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checked")
    evaluate(
        fcpair,
        *("--system", "tfidf", "--measure", "MRR", "--figures", tmp_path / "figures", "--runs", tmp_path / "runs"),
    )
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["MRR@3.pdf", "MRR@3.png", "MRR@3.svg"]
    assert (tmp_path / "runs" / "tfidf.trec").read_text("utf-8").count("\n") == 24

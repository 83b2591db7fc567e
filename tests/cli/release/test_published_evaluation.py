"""FC-CONAN's retrieval figures on its published labels, exactly as the lines are written for users."""

from __future__ import annotations

import json
import shlex
import statistics
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from fcpair.cli import main
from fcpair.files.corpus.fc_conan import CN_TEXT

pytestmark = [pytest.mark.torch, pytest.mark.slow]

RECIPE = Path(__file__).parents[3] / "examples" / "fc-conan-evaluate.toml"
LINES = """
fcpair evaluate --diamond majority --system sbert:all-MiniLM-L6-v2 --system tfidf --system bm25 --system random --pool positive --cutoff 10
fcpair evaluate --system "bm25(variant=okapi,tokens=space,lower=false)" --pool positive --format json
fcpair evaluate --system "tfidf(fit=train.csv)" --pool positive --format json --runs runs/ --figures figures/
fcpair evaluate --system run:runs/mine.trec --pool positive --tier gold
fcpair export qrels --tier silver --out silver.qrels
"""  # noqa: E501 - lines are given whole
TIERS = ["diamond", "gold", "silver", "bronze"]


def fcpair(*words: str | Path) -> Result:
    runner = CliRunner(env={"FCPAIR_STUDY": "published.db", "COLUMNS": "100"})
    result = runner.invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def published(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A study with the published labels, in the working folder."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("published")
        patch.chdir(folder)
        Path("train.csv").symlink_to(data / "fc-conan" / "recommender" / "conan_not_in_bronze_train_df.csv")
        fcpair("init")
        fcpair("labels", "import", data / "fc-conan" / "bronze_partition_df.csv", "--reader", "fc-conan")
        yield folder


@pytest.fixture(scope="module")
def printed(published: Path) -> dict[str, str]:
    """What each of the lines printed; the run that somebody else made is ours under another name."""
    outputs = {}
    for line in LINES.strip().splitlines():
        if "mine.trec" in line:
            Path("runs/mine.trec").write_bytes(Path("runs/tfidf_fit=train.csv.trec").read_bytes())
        outputs[line] = fcpair(*shlex.split(line)[1:]).stdout
    return outputs


@pytest.fixture(scope="module")
def evaluated(published: Path) -> dict[str, Any]:
    """What the recipe in examples/ gives."""
    fcpair("run", RECIPE)
    found: dict[str, Any] = json.loads(fcpair("evaluate", "--format", "json").stdout)
    return found


def average(data: dict[str, Any], system: str, *, expected: bool = False) -> dict[str, Any]:
    (row,) = (
        row
        for row in data["spreads"]
        if (row["system"], row["measure"], row["expected"]) == (system, "average", expected)
    )
    return row  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("system", "figures"),
    [
        ("sbert:all-MiniLM-L6-v2", (0.3270, 0.1766, 0.4804, 39.200)),
        ("tfidf(fit=conan_not_in_bronze_train_df.csv)", (0.2203, 0.0703, 0.4024, 63.275)),
        ("bm25(variant=okapi,tokens=space,lower=false)", (0.1819, 0.0296, 0.3810, 81.650)),
    ],
)
def test_published_figures_are_reproduced_to_every_digit(
    evaluated: dict[str, Any], system: str, figures: tuple[float, ...]
) -> None:
    row = average(evaluated, system)
    assert (row["mean"], row["minimum"], row["maximum"], row["cv"]) == figures


def test_bm25_with_the_k1_of_the_paper_s_text_is_another_row(published: Path) -> None:
    system = "bm25(k1=1.2,variant=okapi,tokens=space,lower=false)"
    words = ("evaluate", "--diamond", "majority", "--pool", "positive", "--format", "json", "--system", system)
    row = average(json.loads(fcpair(*words).stdout), system)
    assert (row["mean"], row["minimum"], row["maximum"], row["cv"]) == (0.1839, 0.0296, 0.3846, 81.525)


def test_random_runs_lie_around_their_expectation(published: Path) -> None:
    """Means over 20 seeds; of 16 figures none should be four standard errors away."""
    systems = [word for seed in range(20) for word in ("--system", f"random(seed={seed})")]
    words = ("evaluate", "--pool", "positive", "--diamond", "majority", "--resamples", "100", "--format", "json")
    scores = json.loads(fcpair(*words, *systems).stdout)["scores"]
    figures: dict[tuple[str, str], list[float]] = {}
    expected = {(one["tier"], one["measure"]): one["score"] for one in scores if one["expected"]}
    for one in scores:
        if not one["expected"] and not one["measure"].startswith("judged"):
            figures.setdefault((one["tier"], one["measure"]), []).append(one["score"])
    assert len(figures) == 16
    for key, values in figures.items():
        assert statistics.mean(values) == pytest.approx(expected[key], abs=4 * statistics.stdev(values) / 20**0.5), key


def test_the_pool_is_published_and_what_is_judged_counted(
    evaluated: dict[str, Any], data: Path, published: Path
) -> None:
    counted = ("tier", "pool", "cells", "judged", "positive", "without_positives")
    assert [[tier[name] for name in counted] for tier in evaluated["tiers"]] == [
        ["diamond", 100, 4500, 353, 35, 22],
        ["gold", 100, 4500, 421, 54, 16],
        ["silver", 100, 4500, 2649, 431, 0],
        ["bronze", 100, 4500, 3025, 702, 0],
    ]
    pool = data / "fc-conan" / "recommender" / "fc_conan_bronze_cn.csv"
    words = ("--diamond", "majority", "--system", "tfidf", "--format", "json", "--pool")
    from_file, named = (json.loads(fcpair("evaluate", *words, name).stdout) for name in (pool, "positive"))
    assert from_file["tiers"] == named["tiers"]
    assert average(evaluated, "random", expected=True)["mean"] == 0.1625  # its exact expectation
    bounded = [score for score in evaluated["scores"] if score["lowest"] is not None]
    assert len(bounded) == 4 * 4 * 4
    assert all(score["lowest"] <= score["score"] <= score["highest"] for score in bounded)


def test_every_line_works_as_it_stands_and_prints_and_writes_its_figures(printed: dict[str, str]) -> None:
    assert len(printed) == 5
    assert len(Path("silver.qrels").read_text("utf-8").splitlines()) == 3580
    table = next(output for line, output in printed.items() if "sbert" in line)
    row = next(line for line in table[table.index("Over 4 tiers") :].splitlines() if "average" in line)
    assert row.split() == ["average", "0.3270", "0.1766", "0.4804", "39.200"]
    assert sorted(path.name for path in Path("figures").iterdir()) == sorted(
        f"{measure}@10.{suffix}"
        for measure in ("HitRatio", "MRR", "NDCG", "MAP", "judged")
        for suffix in ("pdf", "png", "svg")
    )
    assert len(Path("runs/tfidf_fit=train.csv.trec").read_text("utf-8").splitlines()) == 4500


def test_our_run_read_back_scores_the_same(printed: dict[str, str], published: Path) -> None:
    words = ("evaluate", "--pool", "positive", "--tier", "gold", "--format", "json", "--system")
    ours, theirs = (
        json.loads(fcpair(*words, system).stdout)["scores"] for system in ("tfidf(fit=train.csv)", "run:runs/mine.trec")
    )
    assert [one["score"] for one in theirs] == [one["score"] for one in ours]


def test_the_published_labels_and_runs_have_the_same_figures_by_either_ids(published: Path) -> None:
    """The CNs have CONAN's ids, the HS none; by `evaluate` and by ir_measures the figures are the same."""
    scored, words = {}, ("--pool", "positive", "--tier", "gold", "--measure", "NDCG@10", "--measure", "MRR@10")
    for ids in ("own", "study"):
        asked = ("--ids", "study") if ids == "study" else ()
        ranked = fcpair("evaluate", "--system", "bm25", *words, "--runs", ids, "--format", "json", *asked)
        fcpair("export", "qrels", "--tier", "gold", "--pool", "positive", "--binary", "--out", f"{ids}.qrels", *asked)
        again = fcpair("evaluate", *words, "--system", f"run:{ids}/bm25.trec", "--format", "json", *asked)
        scores = [[one["score"] for one in json.loads(result.stdout)["scores"]] for result in (ranked, again)]
        assert scores[0] == scores[1]
        cn = "the corpus's own" if ids == "own" else "the study's numbers"
        assert f"{ids}: ids: of HS the study's numbers, of CN {cn}" in ranked.stderr
        qrels = list(ir_measures.read_trec_qrels(f"{ids}.qrels"))  # type: ignore[no-untyped-call]
        run = list(ir_measures.read_trec_run(f"{ids}/bm25.trec"))  # type: ignore[no-untyped-call]
        assert all(one.doc_id.isdigit() == (ids == "study") for one in qrels)
        figures = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.RR @ 10], qrels, run)
        scored[ids] = (scores[0], sorted(map(float, figures.values())))
    assert scored["own"][0] == scored["study"][0]
    assert scored["own"][1] == pytest.approx(scored["study"][1], abs=0.02)  # ties are broken by the id


@pytest.mark.parametrize("lowest", [1, 46, 60, 500])
def test_a_perfect_run_is_perfect_or_refused_however_the_corpus_numbers_its_cns(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lowest: int
) -> None:
    """The 130 CNs, 46 to 175 in the study, have ids of their own from `lowest`, shuffled: some, all or none overlap."""
    monkeypatch.chdir(tmp_path)
    rows = pd.read_csv(data / "fc-conan" / "bronze_partition_df.csv", dtype=str, keep_default_na=False)
    texts = [*dict.fromkeys(rows[CN_TEXT])]
    own = dict(zip(texts, np.random.default_rng(7).permutation(len(texts)) + lowest, strict=True))
    rows.assign(cn_id=[own[text] for text in rows[CN_TEXT]]).to_csv("bronze.csv", index=False)
    fcpair("init")
    fcpair("labels", "import", "bronze.csv", "--reader", "fc-conan")
    words = ("partition", "--tier", "bronze", "--format", "csv")
    tier = pd.read_csv(StringIO(fcpair(*words).stdout), dtype=str)
    right = tier[tier["label"] == "appropriate"]
    for column in ("cn_id", "cn.cn_id"):
        ranks = right.groupby("hs_id").cumcount() + 1
        lines = zip(right["hs_id"], right[column], ranks.astype(str), (-ranks).astype(str), strict=True)
        Path(f"{column}.trec").write_text("".join(f"{hs} Q0 {cn} {rank} {score} x\n" for hs, cn, rank, score in lines))
    by_number, by_own_id = (perfect(f"run:{column}.trec") for column in ("cn_id", "cn.cn_id"))
    assert by_own_id == 1
    assert (by_number is None) == (lowest != 46)  # where all overlap, `perfect` looks for the note
    assert perfect("run:cn_id.trec(ids=study)") == 1
    assert perfect("run:cn.cn_id.trec(ids=study)") is None or lowest == 46


def perfect(system: str) -> float | None:
    """The MRR of a run over the HS with an appropriate CN; None where the run is refused for its numbering."""
    words = ("--pool", "positive", "--tier", "bronze", "--measure", "MRR", "--no-positives", "leave_out")
    runner = CliRunner(env={"FCPAIR_STUDY": "published.db"})
    result = runner.invoke(main, ["evaluate", *words, "--resamples", "100", "--format", "json", "--system", system])
    if result.exit_code:
        assert "its ids are the" in result.stderr
        return None
    found = json.loads(result.stdout)
    if found["scores"][0]["score"] < 1:
        assert "its ids fit both numberings; they were read as the" in result.stderr
        assert found["systems"][0]["notes"][0].startswith("its ids fit both numberings")
    return float(found["scores"][0]["score"])

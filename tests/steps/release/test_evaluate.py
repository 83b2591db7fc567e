"""Evaluating on a study: pool, labels, what is noted, what is refused, and how many HS tell systems apart."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import fcpair
from fcpair.errors import InputError, StageError
from fcpair.evaluate.outcome import Outcome
from fcpair.params import Adjudicate, Evaluate, Partition, Power
from fcpair.recipe import Recipe, load_recipe
from fcpair.steps.oversight.study_recipe import save_recipe
from fcpair.steps.release.evaluate import score_each_hs
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.small import CNS, At, assert_refused, dump, with_grid, write_csv

TWO, THREE = ("tfidf", "random"), ("tfidf", "random", "bm25")


def options(**given: Any) -> Evaluate:
    return Evaluate(**{"systems": ("tfidf",), "resamples": 100, "cutoff": 3, **given})


@pytest.mark.parametrize("tier", ["gold", "bronze"])
def test_a_tier_frame_without_the_study_gives_the_same_figures(at: At, tmp_path: Path, tier: str) -> None:
    """Score, bounds and interval, of the ranking that the evaluation wrote as a run."""
    grid = at("checked").grid()
    expected = grid.evaluate(
        systems=["tfidf"], tiers=[tier], pool="judged", runs=tmp_path / "runs", resamples=100, seed=3, cutoff=3
    )
    names = ["hs_id", "_", "cn_id", "rank", "score", "tag"]
    ranking = pd.read_csv(tmp_path / "runs" / "tfidf.trec", sep=" ", names=names)
    frame, pool = grid.tier(tier), sorted(set(grid.tier("bronze")["cn_id"]))
    ranking = ranking[ranking["hs_id"].isin(frame["hs_id"])]
    outcome = fcpair.evaluate(frame, ranking, pool=pool, resamples=100, seed=3, cutoff=3, name="tfidf")
    on_tier_alone = [score for score in expected.scores if score.tier == tier and score.n == outcome.scores[0].n]
    assert outcome.scores == tuple(on_tier_alone)
    assert len(outcome.scores) == 5


def test_a_pool_is_all_candidates_those_judged_those_positive_or_a_file_in_any_order(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checked"))
    bronze = grid.tiers().table().pairs.query("tier >= 1")
    n_positive = bronze[bronze["final"] == 2]["cn_id"].nunique()
    sizes = {pool: grid.evaluate(options(pool=pool)).tiers[0].pool for pool in ("all", "judged", "positive")}
    assert sizes == {"all": 6, "judged": bronze["cn_id"].nunique(), "positive": n_positive}
    forwards, backwards = (
        write_csv(tmp_path / f"{step}.csv", [{"cn": cn} for cn in CNS[12:18][::step]]) for step in (1, -1)
    )
    outcomes = [grid.evaluate(options(pool=str(pool), systems=("random",))) for pool in (forwards, backwards)]
    assert outcomes[0].tiers[0].pool == 6
    assert outcomes[0].scores == outcomes[1].scores

    wrong_files: tuple[tuple[list[str], str], ...] = (
        ([CNS[12]], r"pool\.csv lacks \d CNs that diamond labels appropriate in \d pairs \(cn_id \d"),
        (["nobody wrote this"], ":2: this CN is not in the study"),
        ([CNS[12], CNS[12]], ":3: this CN is already in line 2"),
        ([CNS[0]], "1 of 1 CNs are in the corpus but not in the grid"),
    )
    for cns, message in wrong_files:
        pool = write_csv(tmp_path / "pool.csv", [{"cn": cn} for cn in cns])
        assert_refused(study, partial(grid.evaluate, options(pool=str(pool))), InputError, message)
    for name, message in (
        ("nowhere.csv", "--pool nowhere.csv: there is no such file; expected judged, positive, all, or a file of CNs"),
        ("positiv", "--pool positiv: did you mean `positive`\\?, or a file that lists CNs"),
        ("1,2", "--pool 1,2: expected judged, positive, all, or a file that lists CNs"),
    ):
        assert_refused(study, partial(grid.evaluate, options(pool=name)), InputError, message)


def test_an_evaluation_needs_labels_and_tiers_with_pairs(at: At) -> None:
    study = at("dealt")
    evaluate = partial(study.grid().evaluate, options())
    assert_refused(study, evaluate, StageError, "`evaluate` needs labels first")
    study, grid = with_grid(at("decided"))  # nobody has given a verdict yet, so all tiers are empty
    assert_refused(
        study,
        partial(grid.evaluate, options(pool="all")),
        InputError,
        "no pair is in diamond yet, so nothing can be evaluated on it",
    )
    assert_refused(study, partial(grid.evaluate, options()), InputError, "the pool `judged` .* is empty")


WRONG_OPTIONS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"systems": ("tfidf", "tfidf(fit=pool)")}, "system `tfidf.fit=pool.` is given twice"),
    ({"systems": ("bm52",)}, "did you mean `bm25`"),
    ({"tiers": ("platinum",)}, "there is no tier `platinum`"),
    ({"tiers": ("Golf",)}, "there is no tier `golf`; did you mean `gold`"),
    ({"tiers": ("gold", "Gold")}, "tier `gold` is given twice"),
    ({"systems": ("mine.trec",)}, "system `mine.trec` is the name of a file; expected `run:mine.trec`"),
    ({"tiers": ("gold", "gold")}, "tier `gold` is given twice"),
    ({"measures": ("NDCG", "NDCG@3")}, "measure `NDCG@3` is given twice"),
    ({"measures": ()}, "no measure is given"),
    ({"cutoff": 0}, "cutoff is 0"),
    ({"cutoff": 10**20}, "expected a whole number, 9223372036854775807 at most"),
    ({"resamples": 5}, "expected 100 to 1,000,000"),
    ({"seed": -1}, "seed is -1"),
)


def test_options_that_cannot_be_used_are_refused(at: At) -> None:
    study, grid = with_grid(at("checked"))
    assert_refused(study, partial(grid.evaluate, Evaluate()), InputError, "name at least one, as in `fcpair evaluate")
    for given, message in WRONG_OPTIONS:
        with pytest.raises(InputError, match=message):
            grid.evaluate(options(**given))
    functions = {"mine": lambda _, __: [CNS[12], CNS[12]]}, {"mine": lambda _, __: ["elsewhere"]}
    message = "function:mine: for HS 1 it returned texts that the pool lacks, or one twice"
    for function in functions:
        with pytest.raises(InputError, match=message):
            grid.evaluate(options(pool="all"), functions=function)


def test_what_was_found_is_noted_and_can_be_read_back_and_is_not_the_study_s_own(at: At) -> None:
    study, grid = with_grid(at("checked"))
    outcome = grid.evaluate(options(pool="all"))
    with study._store.read() as tx:
        run, data = next(runs.outcomes(tx))
    assert Outcome.from_data(data) == outcome
    assert (run.stage, run.counts) == ("evaluate", {"systems": 1, "hs": 4, "pool": 6})
    assert (run.params["pool"], run.params["diamond"], run.params["systems"]) == ("all", "unanimous", ["tfidf"])
    assert "outcome" not in study.log()[-1].counts  # which does not carry all of it
    assert grid.effective_options(Evaluate) == Evaluate()
    save_recipe(study, Recipe(evaluate=options(tiers=("bronze",))))
    assert [tier.tier for tier in grid.evaluate(pool="all").tiers] == ["bronze"]


def test_a_system_that_fails_leaves_the_study_and_the_folders_as_they_were(at: At, tmp_path: Path) -> None:
    study = at("checked")
    given = options(systems=("tfidf", f"run:{tmp_path / 'none.trec'}"))
    before = dump(study)
    with pytest.raises(InputError, match="there is no such file"):
        study.grid().evaluate(given, runs=tmp_path / "runs", figures=tmp_path / "figures")
    assert dump(study) == before
    assert [list((tmp_path / name).iterdir()) for name in ("runs", "figures")] == [[], []]


def test_runs_have_files_of_their_own_and_score_as_their_systems_do(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checked"))
    functions = {"shortest": lambda _, pool: sorted(pool, key=len)}
    like_names = ("bm25(k1=1.5)", "bm25(k1=2.0)", "tfidf(fit=pool+hs)")
    ours = grid.evaluate(options(systems=like_names, pool="all"), functions=functions, runs=tmp_path / "runs")
    assert study.log()[-1].params["functions"] == ["shortest"]
    names = ["bm25.trec", "bm25_k1=2.0.trec", "tfidf_fit=pool+hs.trec", "function_shortest.trec"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(names)
    written = tuple(f"run:{tmp_path / 'runs' / name}" for name in names)
    theirs = grid.evaluate(options(systems=written, pool="all"))
    assert [score.score for score in theirs.scores] == [score.score for score in ours.scores]


def test_the_walk_evaluates_last_and_once(at: At) -> None:
    study, grid = with_grid(at("checked"))
    grid.adjudicate(Adjudicate("majority", "discard"))  # so that no pair waits for a person
    recipe = Recipe(partition=Partition("majority"), evaluate=options(pool="all"))
    assert [run.stage for run in study.walk(recipe)][-1] == "evaluate"
    assert list(study.walk(recipe)) == []
    assert grid.effective_options(Evaluate) == recipe.evaluate


def test_a_recipe_names_files_beside_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.toml").write_text(
        '[evaluate]\nsystems = ["tfidf(fit=train.csv)", "rerank(first=bm25(fit=train.csv),by=llm:m)"]\npool = "p.csv"\n'
        'measures = ["NDCG@5"]\ntiers = ["gold"]\nno_positives = "leave_out"\n',
        "utf-8",
    )
    read = load_recipe(tmp_path / "r.toml").evaluate
    assert read is not None
    assert read.systems[0] == f"tfidf(fit={tmp_path / 'train.csv'})"
    assert str(tmp_path / "train.csv") in read.systems[1]
    assert (read.pool, read.no_positives) == (str(tmp_path / "p.csv"), "leave_out")
    (tmp_path / "r.toml").write_text('[evaluate]\nsystems = ["run:mine.trec"]\npool = "p.csv"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    read = load_recipe("r.toml").evaluate
    assert read is not None
    assert read.systems == (f"run:{tmp_path / 'mine.trec'}(ids=corpus)",)
    assert read.pool == str(tmp_path / "p.csv")


def scores_of(study: Study, systems: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """NDCG@10 of each HS by each system on the largest tier, which is all that Diamond has here."""
    return score_each_hs(study.grid(), Evaluate(systems=systems, cutoff=10), "NDCG")[1]


def test_the_standard_deviation_is_that_of_the_differences_that_an_evaluation_prints(at: At) -> None:
    study, grid = with_grid(at("checked"))
    scores = scores_of(study, TWO)
    printed = grid.evaluate(systems=TWO, tiers=["diamond"], measures=["NDCG@10"], resamples=100).scores
    means = {score.system: score.score for score in printed if not score.expected}
    assert [means[name] for name in TWO] == pytest.approx(scores.mean(axis=0))
    first, second = scores.T
    plan = grid.plan_power(systems=TWO, difference=0.3)
    deviations = (first - second) - (first - second).mean()
    assert plan.sd == pytest.approx(np.sqrt((deviations**2).sum() / (len(first) - 1)))
    assert plan.basis == (f"standard deviation {plan.sd:.4f}: of tfidf and random on the {len(first)} HS of diamond",)
    assert plan.options.comparisons == 1

    scores = scores_of(study, THREE)
    sds = [np.std(scores[:, a] - scores[:, b], ddof=1) for a, b in ((0, 1), (0, 2), (1, 2))]
    plan = grid.plan_power(systems=THREE, difference=0.3)
    assert plan.sd == pytest.approx(max(sds))
    assert plan.options.comparisons == 3
    assert plan.needed.hs >= grid.plan_power(sd=plan.sd, difference=0.3).needed.hs


def test_systems_of_the_recipe_are_taken_and_an_assumed_deviation_needs_no_labels(at: At) -> None:
    study = at("checked")
    save_recipe(study, Recipe(evaluate=Evaluate(systems=TWO)))
    before = dump(study)
    assert "of tfidf and random" in study.grid().plan_power(difference=0.3).basis[0]
    assert dump(study) == before
    for systems, message in (
        (("tfidf",), "1 systems are named; give two or more"),
        (("bm25", "bm25(k1=1.21)"), "score alike on every HS"),
    ):
        assert_refused(study, partial(study.grid().plan_power, systems=systems), InputError, message)
    known = study.grid().plan_power(sd=0.2, difference=0.1).known
    assert known is not None
    assert (known.hs, known.power) == (4, 0.0)  # of 4 HS no p-value is below 0.05
    plan = at("empty").grid().plan_power(Power(sd=0.2))
    assert (plan.needed.hs, plan.known) == (128, None)


def test_a_recipe_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    for line, message in (
        ("cutoff = 3", r"\[evaluate\]: `systems` is missing; name at least one"),
        (
            'systems = ["tfidf"]\npool = "$NO_SUCH_VARIABLE/p.csv"',
            r"\[evaluate\] pool is .* is not set; write \$\$ for",
        ),
        ('systems = ["tfidf(fit=$NO_SUCH_VARIABLE/t.csv)"]', "environment variable is not set"),
    ):
        (tmp_path / "r.toml").write_text(f"[evaluate]\n{line}\n", "utf-8")
        with pytest.raises(InputError, match=message):
            load_recipe(tmp_path / "r.toml")

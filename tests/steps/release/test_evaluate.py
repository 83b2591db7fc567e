"""Evaluating on a study: pool, labels, what is noted, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import fcpair
from fcpair.errors import InputError, StageError
from fcpair.evaluate.outcome import Outcome
from fcpair.params import Adjudicate, Evaluate, Partition
from fcpair.recipe import Recipe, load_recipe
from fcpair.steps.oversight.study_recipe import save_recipe
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.small import CNS, assert_refused, check, dump, open_work, write_csv

At = Callable[[str], Study]


def options(**given: Any) -> Evaluate:
    return Evaluate(**{"systems": ("tfidf",), "resamples": 100, "cutoff": 3, **given})


def outcome_of(study: Study) -> tuple[Any, dict[str, Any]]:
    with study._store.read() as tx:
        found = next(runs.outcomes(tx), None)
    assert found is not None
    return found


@pytest.mark.slow
def test_the_tiers_have_the_counts_of_the_partition(at: At) -> None:
    grid = at("checked").grid()
    found = grid.evaluate(options(pool="all"))
    sizes = grid.tiers().table().tables[0].set_index("tier")["pairs"]
    positive = grid.tiers().table().tables[1].set_index("tier")["appropriate"]
    assert {tier.tier: tier.judged for tier in found.tiers} == sizes.to_dict()
    assert {tier.tier: tier.positive for tier in found.tiers} == positive.to_dict()


def test_the_pool_all_has_every_candidate_and_positive_those_with_a_positive_label(at: At) -> None:
    grid = at("checked").grid()
    bronze = grid.tiers().table().pairs.query("tier >= 1")
    n_positive = bronze[bronze["final"] == 2]["cn_id"].nunique()
    sizes = {pool: grid.evaluate(options(pool=pool)).tiers[0].pool for pool in ("all", "judged", "positive")}
    assert sizes == {"all": 6, "judged": bronze["cn_id"].nunique(), "positive": n_positive}


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
    found = fcpair.evaluate(frame, ranking, pool=pool, resamples=100, seed=3, cutoff=3, name="tfidf")
    on_tier_alone = [score for score in expected.scores if score.tier == tier and score.n == found.scores[0].n]
    assert found.scores == tuple(on_tier_alone)
    assert len(found.scores) == 5


def test_an_evaluation_takes_from_the_study_what_keywords_leave_out(at: At) -> None:
    study = at("checked")
    save_recipe(study, Recipe(evaluate=options(tiers=("bronze",))))
    assert [tier.tier for tier in study.grid().evaluate(pool="all").tiers] == ["bronze"]


def test_a_file_is_a_pool(at: At, tmp_path: Path) -> None:
    pool = write_csv(tmp_path / "pool.csv", [{"cn": cn} for cn in CNS[12:18]])
    assert at("checked").grid().evaluate(options(pool=str(pool))).tiers[0].pool == 6


def test_the_order_of_a_file_does_not_change_the_figures(at: At, tmp_path: Path) -> None:
    study = at("checked")
    there = write_csv(tmp_path / "there.csv", [{"cn": cn} for cn in CNS[12:18]])
    back = write_csv(tmp_path / "back.csv", [{"cn": cn} for cn in reversed(CNS[12:18])])
    found = [study.grid().evaluate(options(pool=str(pool), systems=("random",))).scores for pool in (there, back)]
    assert found[0] == found[1]


def test_a_pool_that_lacks_an_appropriate_cn_is_refused(at: At, tmp_path: Path) -> None:
    pool = write_csv(tmp_path / "pool.csv", [{"cn": CNS[12]}])
    study = at("checked")
    said = r"pool\.csv lacks \d CNs that diamond labels appropriate in \d pairs \(cn_id \d"
    assert_refused(study, lambda: study.grid().evaluate(options(pool=str(pool))), InputError, said)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"cn": "nobody wrote this"}], ":2: this CN is not in the study"),
        ([{"cn": CNS[12]}, {"cn": CNS[12]}], ":3: this CN is already in line 2"),
        ([{"cn": CNS[0]}], "1 of 1 CNs are in the corpus but not in the grid"),
    ],
)
def test_a_pool_with_other_texts_is_refused(at: At, tmp_path: Path, rows: list[dict[str, str]], said: str) -> None:
    study, pool = at("checked"), write_csv(tmp_path / "pool.csv", rows)
    assert_refused(study, lambda: study.grid().evaluate(options(pool=str(pool))), InputError, said)


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        ("nowhere.csv", "--pool nowhere.csv: there is no such file; expected judged, positive, all, or a file of CNs"),
        ("positiv", "--pool positiv: did you mean `positive`\\?, or a file that lists CNs"),
        ("1,2", "--pool 1,2: expected judged, positive, all, or a file that lists CNs"),
    ],
)
def test_a_pool_that_is_neither_a_name_nor_a_file_is_refused(at: At, pool: str, said: str) -> None:
    study = at("checked")
    assert_refused(study, lambda: study.grid().evaluate(options(pool=pool)), InputError, said)


def test_an_empty_tier_is_refused(at: At) -> None:
    study = at("decided")  # nobody has given a verdict yet, so all tiers are empty
    grid = study.grid()
    assert_refused(study, lambda: grid.evaluate(options(pool="all")), InputError, "diamond is empty")
    assert_refused(study, lambda: grid.evaluate(options()), InputError, "the pool `judged` .* is empty")


def test_a_study_without_labels_cannot_be_evaluated(at: At) -> None:
    study = at("dealt")
    assert_refused(study, lambda: study.grid().evaluate(options()), StageError, "`evaluate` needs labels first")


def test_no_system_is_refused(at: At) -> None:
    study = at("checked")
    assert_refused(
        study, lambda: study.grid().evaluate(Evaluate()), InputError, "name at least one, as in `fcpair evaluate"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
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
    ],
)
def test_options_that_cannot_be_used_are_refused(at: At, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        at("checked").grid().evaluate(options(**given))


def test_what_was_found_is_noted_and_can_be_read_back(at: At) -> None:
    study = at("checked")
    found = study.grid().evaluate(options(pool="all"))
    run, data = outcome_of(study)
    assert Outcome.from_data(data) == found
    assert (run.stage, run.counts) == ("evaluate", {"systems": 1, "hs": 4, "pool": 6})
    assert (run.params["pool"], run.params["diamond"], run.params["systems"]) == ("all", "unanimous", ["tfidf"])


def test_the_log_does_not_carry_the_whole_outcome(at: At) -> None:
    study = at("checked")
    study.grid().evaluate(options(pool="all"))
    assert "outcome" not in study.log()[-1].counts


def test_a_system_that_fails_leaves_the_study_and_the_folders_as_they_were(at: At, tmp_path: Path) -> None:
    study = at("checked")
    given = options(systems=("tfidf", f"run:{tmp_path / 'none.trec'}"))
    before = dump(study)
    with pytest.raises(InputError, match="there is no such file"):
        study.grid().evaluate(given, runs=tmp_path / "runs", figures=tmp_path / "figures")
    assert dump(study) == before
    assert [list((tmp_path / name).iterdir()) for name in ("runs", "figures")] == [[], []]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figures/NDCG@3.svg", "runs/tfidf.trec"])
def test_a_file_that_cannot_be_written_leaves_the_study_and_the_folders_as_they_were(
    at: At, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir(parents=True)
    study = at("checked")
    call = lambda: study.grid().evaluate(options(pool="all"), runs=tmp_path / "runs", figures=tmp_path / "figures")  # noqa: E731
    assert_refused(study, call, InputError, "is a folder; name a file")
    there = [str(path.relative_to(tmp_path)) for part in ("runs", "figures") for path in (tmp_path / part).iterdir()]
    assert there == [name]


def test_a_run_over_all_tiers_can_be_evaluated_on_one_that_has_fewer_hs(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    todo = open_work(study, checks=True)
    of_the_first_hs = range(1, 7)
    verdicts = [(who, pair, "disagree" if pair in of_the_first_hs else "agree") for who, pair in todo]
    check(study, tmp_path, verdicts)
    grid.evaluate(options(systems=("bm25",), pool="all", tiers=("bronze", "silver")), runs=tmp_path)
    found = grid.evaluate(options(systems=(f"run:{tmp_path / 'bm25.trec'}",), pool="all", tiers=("silver",)))
    assert found.tiers[0].hs == 3


def test_runs_that_were_written_score_the_same_when_they_are_read(at: At, tmp_path: Path) -> None:
    grid = at("checked").grid()
    ours = grid.evaluate(options(systems=("bm25",), pool="all"), runs=tmp_path / "runs")
    theirs = grid.evaluate(options(systems=(f"run:{tmp_path / 'runs' / 'bm25.trec'}",), pool="all"))
    assert [one.score for one in theirs.scores] == [one.score for one in ours.scores]


def test_a_function_of_ones_own_is_a_system_and_scores_as_its_run_does(at: At, tmp_path: Path) -> None:
    study = at("checked")
    functions = {"shortest": lambda _, pool: sorted(pool, key=len)}
    ours = study.grid().evaluate(options(systems=(), pool="all"), functions=functions, runs=tmp_path)
    assert study.log()[-1].params["functions"] == ["shortest"]
    theirs = study.grid().evaluate(options(systems=(f"run:{tmp_path / 'function_shortest.trec'}",), pool="all"))
    assert [one.score for one in theirs.scores] == [one.score for one in ours.scores]


@pytest.mark.parametrize("returned", [["elsewhere"], [CNS[12], CNS[12]]])
def test_a_function_that_returns_anything_but_texts_of_the_pool_is_refused(at: At, returned: list[str]) -> None:
    with pytest.raises(InputError, match="function:mine: for HS 1 it returned texts that the pool lacks, or one twice"):
        at("checked").grid().evaluate(options(pool="all"), functions={"mine": lambda _, __: returned})


def test_runs_of_systems_with_like_names_have_files_of_their_own(at: At, tmp_path: Path) -> None:
    given = options(systems=("bm25(k1=1.5)", "bm25(k1=2.0)", "tfidf(fit=pool+hs)"), pool="all")
    at("checked").grid().evaluate(given, runs=tmp_path / "runs")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "bm25.trec",
        "bm25_k1=2.0.trec",
        "tfidf_fit=pool+hs.trec",
    ]


def test_the_walk_evaluates_last_and_once(at: At) -> None:
    study = at("checked")
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority", "discard"))  # so that no pair waits for a person
    recipe = Recipe(partition=Partition("majority"), evaluate=options(pool="all"))
    assert [run.stage for run in study.walk(recipe)][-1] == "evaluate"
    assert list(study.walk(recipe)) == []
    assert grid.effective_options(Evaluate) == recipe.evaluate


def test_an_evaluation_by_hand_does_not_become_the_study_s_own(at: At) -> None:
    grid = at("checked").grid()
    grid.evaluate(options(pool="all"))
    assert grid.effective_options(Evaluate) == Evaluate()


def test_a_recipe_names_files_beside_itself(tmp_path: Path) -> None:
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


def test_the_files_of_a_recipe_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.toml").write_text('[evaluate]\nsystems = ["run:mine.trec"]\npool = "p.csv"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    read = load_recipe("r.toml").evaluate
    assert read is not None
    assert read.systems == (f"run:{tmp_path / 'mine.trec'}(ids=corpus)",)
    assert read.pool == str(tmp_path / "p.csv")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('systems = "tfidf"', "systems is 'tfidf'; expected a list"),
        ('systems = ["tfidff"]', "did you mean `tfidf`"),
        ("cutoff = 3", r"\[evaluate\]: `systems` is missing; name at least one"),
        (
            'systems = ["tfidf"]\npool = "$NO_SUCH_VARIABLE/p.csv"',
            r"^[^\[]*\[evaluate\] pool is .* is not set; write \$\$ for a \$$",
        ),
        ('system = ["tfidf"]', "unknown key `system`; did you mean `systems`"),
        ('systems = ["tfidf(fit=$NO_SUCH_VARIABLE/t.csv)"]', "environment variable is not set"),
    ],
)
def test_a_recipe_that_cannot_be_used_is_refused(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "r.toml").write_text(f"[evaluate]\n{line}\n", "utf-8")
    with pytest.raises(InputError, match=said):
        load_recipe(tmp_path / "r.toml")

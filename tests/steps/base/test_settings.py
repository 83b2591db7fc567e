"""Settings: what holds from now on has a place of its own, and no other version of the options loosens it."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import text

from fcpair.errors import NoEffectError
from fcpair.params import Adjudicate, Annotate, Assign, Evaluate, Partition, Retrieve, Validate
from fcpair.records import Role, Tier
from fcpair.steps.base.keywords import matches_saved_options
from fcpair.steps.people.people import save_terms
from fcpair.steps.release import partition
from fcpair.store.oversight import runs, settings
from fcpair.study import Study
from steps.small import VALIDATORS, At, with_grid


@dataclass(frozen=True)
class LaterAnnotate(Annotate):
    """What a later version might ask: one field more."""

    weekly_limit: int | None = field(default=None, metadata={"help": "of a version to come"})


def kept(study: Study, stage: str) -> dict[str, object]:
    with study._store.read() as tx:
        return settings.of_stage(tx, stage)


def test_a_setting_holds_in_a_version_with_a_field_more_or_less(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    assert grid.effective_options(Annotate) == Annotate()
    assert grid.effective_options(Partition) == Partition()
    save_terms(grid, Annotate(daily_limit=40, opt_out="hs_topic"))
    later = LaterAnnotate(daily_limit=40, opt_out="hs_topic", weekly_limit=None)
    assert grid.effective_options(LaterAnnotate) == later
    with study._store.read() as tx:
        assert matches_saved_options(tx, later)
        assert not matches_saved_options(tx, replace(later, weekly_limit=100))
    save_terms(grid, LaterAnnotate(daily_limit=30, opt_out="hs_topic", weekly_limit=100))
    assert grid.effective_options(Annotate) == Annotate(daily_limit=30, opt_out="hs_topic")
    partition.note_partition(grid, Partition("majority"))
    later_rule = make_dataclass("Later", [("minimum", int, 1)], bases=(Partition,), frozen=True)
    assert grid.effective_options(later_rule).diamond == "majority"


def test_what_an_earlier_version_kept_and_has_no_effect_is_left_out(at: At) -> None:
    study = at("paired")
    with study._store.write() as tx:
        settings.save_settings(tx, "assign", {"lease_minutes": 45, "open": False, "seed": 7}, 1)
        settings.save_settings(tx, f"{settings.RECIPE}retrieve", {"k": 3, "every_cn": True}, 1)
    grid = study.grid()
    assert grid.effective_options(Assign) == Assign(seed=7)
    assert grid.recipe_options(Retrieve) == Retrieve(every_cn=True)
    assert grid.recipe_options(Retrieve, k=4) == Retrieve(k=4)
    assert grid.effective_options(Assign, open=True) == Assign(seed=7, open=True, lease_minutes=45)
    for refused in ({"lease_minutes": 9}, {"annotator_groups": (("ana", "ben"),)}):
        with pytest.raises(NoEffectError, match="has no effect without"):
            grid.effective_options(Assign, **refused)
    assert grid.recipe_options(Retrieve, runs=("a.trec",), depth=3).every_cn is False


def test_the_policy_that_was_applied_is_a_setting_and_nothing_is_read_back_from_the_run_log(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    assert not grid.desk.has_saved_options(Adjudicate)
    grid.adjudicate(Adjudicate("majority", "discard"))
    grid.decide(1, 2, by="ada")
    save_terms(grid, Annotate(daily_limit=40))
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    grid.assign_validation(Validate(seed=1, blind=True))
    with study._store.write() as tx:
        for stage in ("annotate", "validate", "adjudicate", "assign"):
            runs.add_run(tx, stage, {**vars(Annotate()), "blind": False, "policy": "manual"}, {}, "9", None)
    assert grid.effective_options(Annotate).daily_limit == 40
    assert grid.effective_options(Adjudicate) == Adjudicate("majority", "discard")
    assert grid.effective_options(Validate).blind


@pytest.mark.server
@pytest.mark.slow
def test_a_release_and_an_evaluation_by_hand_set_nothing(at: At, tmp_path: Path) -> None:
    grid = at("checked").grid()
    tiers = grid.tiers(diamond="majority")
    tiers.release(Tier.BRONZE, tmp_path / "bronze.csv")
    tiers.evaluate(Evaluate(systems=("tfidf",), tiers=("bronze",), resamples=100))
    assert not grid.desk.has_saved_options(Partition)
    assert not grid.desk.has_saved_options(Evaluate)


@pytest.mark.server
def test_each_setting_names_the_run_that_set_it_last(at: At) -> None:
    study = at("dealt")
    first = save_terms(study.grid(), Annotate(daily_limit=40, contact="Ada"))
    second = save_terms(study.grid(), Annotate(daily_limit=30, contact="Ada"))
    with study._store.read() as tx:
        rows = tx.execute(text("SELECT key, run_id FROM setting WHERE key LIKE 'annotate.%'")).all()
    set_by = {str(key): int(run) for key, run in rows}
    assert (set_by["annotate.daily_limit"], set_by["annotate.contact"]) == (second.id, first.id)
    assert [run.params["daily_limit"] for run in study.log() if run.stage == "annotate"] == [40, 30]


def test_the_building_stages_say_what_they_were_done_with_and_more_of_a_round_does_not_change_it(at: At) -> None:
    study = at("decided")
    corpus = kept(study, "import")["path"]
    assert isinstance(corpus, dict)
    assert Path(corpus["path"]).is_absolute()
    assert len(corpus["sha256"]) == 64
    unset = {"candidates": None, "sample": None, "similar": None}
    assert kept(study, "pair") == {**unset, "keep_known": False, "merge": False, "seed": 0}
    assert kept(study, "assign")["annotators"] == 3
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    study.grid().assign_validation(Validate(pairs=4, seed=1))
    study.grid().assign_validation(Validate(pairs=2, seed=9), more=True)
    assert kept(study, "validate") == {"validators": 2, "pairs": 4, "blind": False, "seed": 1}

"""Label models on a study: which labels they are of, what they are compared with, and that they change nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import record

At = Callable[[str], Study]
SIDES = SidePlan(names=tuple(f"Tea {at}." for at in range(6))), SidePlan(names=("mild", "kind"))


def test_the_models_are_of_the_definite_labels_that_stand(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    grid = study.grid()
    labels = grid.labels()
    definite = labels[labels["label"] != "not_sure"]
    found = grid.aggregate()
    assert (found.n_labels, found.n_pairs) == (len(definite), definite["pair"].nunique())
    assert found.n_left_out == labels["pair"].nunique() - found.n_pairs
    shares = definite.groupby("pair")["label"].value_counts(normalize=True).unstack(fill_value=0)
    frame = found["majority"].to_frame().set_index("pair")
    assert frame["p_appropriate"].tolist() == pytest.approx(shares["appropriate"].tolist())
    who = labels["annotator"][labels["pair"] == 6].tolist()
    record(study, tmp_path, [(name, 6, "appropriate") for name in who], supersede=True)
    assert grid.aggregate(["majority"]).to_frame().set_index("pair").loc[6, "p_appropriate"] == 1


def test_they_are_compared_with_people_s_decisions_and_validators_verdicts(at: At) -> None:
    grid = at("decided").grid()
    pairs = grid.waiting_pairs()[:3]
    for pair, code in zip(pairs, (2, 2, None), strict=True):
        grid.decide(pair, code, by="eva")
    decided, validated = grid.aggregate(["majority"])["majority"].checks
    frame = grid.aggregate(["majority"]).to_frame().set_index("pair")
    rows = frame.reindex(pairs[:2]).dropna(subset=["doubt"])
    assert decided.n == len(rows)  # rules' decisions, and what is discarded, do not count
    assert decided.value == pytest.approx((rows["label"] == "appropriate").mean())
    assert (validated.value, validated.undefined) == (None, "there are none on these pairs")


def test_a_verdict_that_disagrees_is_met_by_another_class(at: At) -> None:
    grid = at("checked").grid()
    tiers = grid.tiers().table().pair_frame()
    judged = tiers[tiers["verdict"] != ""].set_index("pair")
    frame = grid.aggregate(["majority"]).to_frame().set_index("pair").reindex(judged.index).dropna(subset=["doubt"])
    same = frame["label"] == judged["label"].reindex(frame.index)
    right = (same == (judged["verdict"].reindex(frame.index) == "valid")) & (frame["tied"] == "")
    figure = grid.aggregate(["majority"])["majority"].checks[1]
    assert figure.n == len(frame)
    assert figure.value == pytest.approx(right.mean())


def test_nothing_is_written(at: At) -> None:
    study = at("checked")
    tiers, runs = study.grid().tiers().table().pair_frame(), len(study.log())
    study.grid().aggregate()
    assert len(study.log()) == runs
    assert study.grid().tiers().table().pair_frame().equals(tiers)


def test_a_closed_round_of_a_planned_grid_has_models(tmp_path: Path) -> None:
    rounds = (
        RoundPlan("rate", "rate: scale(1,3,1,positive=3)", "rater", answers=2),
        RoundPlan("write", "text: text()", "writer", counts=False),
    )
    with closing(Study.create(tmp_path / "s.db", grids=[GridPlan("g", *SIDES, rounds)])) as study:
        study.grid().pair()
        study.add_people(["al", "bo", "cy"], Role.RATER)
        study.grid().assign_round("rate")
        with pytest.raises(StageError, match="needs labels first"):
            study.grid().aggregate()
        for who in ("al", "bo", "cy"):
            desk, visitor = at_desk(study, who)
            for task in desk.tasks(visitor, 40):
                give(
                    desk, visitor, 1 + (task.cell_id + (who == "bo" and task.cell_id % 4 == 0)) % 3, task.assignment_id
                )
        found = study.grid().aggregate(round="rate")
        assert found.classes == ("1", "2", "3")
        assert (found.n_pairs, found.n_labels) == (12, 24)
        with pytest.raises(InputError, match=r"round `write` asks `text: text\(\)`; a label model is for one closed"):
            study.grid().aggregate(round="write")
        with pytest.raises(UnknownIdError, match="there is no round `rates`"):
            study.grid().aggregate(round="rates")


def test_one_annotator_and_rounds_that_check_are_refused(at: At, tmp_path: Path) -> None:
    rows = at("labelled").grid().labels()
    only_ana = rows.drop_duplicates("pair", keep=False).query("annotator == 'ana'")["pair"].tolist()
    study = at("dealt")
    record(study, tmp_path, [("ana", pair, "appropriate") for pair in only_ana])
    with pytest.raises(InputError, match="are of one annotator; a label model compares annotators, and needs two"):
        study.grid().aggregate()
    checked = at("checked").grid()
    with pytest.raises(InputError, match="round `validate` checks decisions"):
        checked.aggregate(round="validate")

"""What takes long runs between two transactions: it keeps nobody waiting, and writes only on what it has read."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from fcpair.errors import ConflictError, FcpairError
from fcpair.models import encode, model_files
from fcpair.params import Assign, Retrieve, Select
from fcpair.records import Role, Round
from fcpair.round_options import RoundOptions
from fcpair.stages.corpus import retrieve
from fcpair.steps.assignment import assign
from fcpair.steps.assignment.assign import MAX_TRIES
from fcpair.steps.base.context import is_same
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import At, dump, open_work, with_grid

Act = Callable[[Study], object]

LONG: dict[str, tuple[str, Any, str, Act]] = {
    "retrieve": ("selected", retrieve, "nearest_to", lambda study: study.grid().retrieve(Retrieve(k=4))),
    "assign": ("paired", assign, "assign_pairs", lambda study: study.grid().assign(Assign(annotators=3))),
    "assign --redo": ("dealt", assign, "assign_pairs", lambda study: study.grid().assign(Assign(), redo=True)),
    "assign --more": (
        "dealt",
        assign,
        "add_labels",
        lambda study: study.grid().assign(Assign(overlap={3: 0.5}), more=True),
    ),
}


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors on half a circle, in the order of the texts, without a model."""

    def encoded(texts: list[str], *_: object) -> NDArray[np.float32]:
        angles = np.linspace(0, np.pi, len(texts))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    known = model_files.Model("known", "nowhere", "test", "ab" * 32, "cd" * 32)
    monkeypatch.setattr(model_files, "resolve", lambda *_, **__: known)
    monkeypatch.setattr(encode, "encode", encoded)


def meanwhile(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[[], object]) -> None:
    """Do something while a pure function of a stage is at work."""
    whole = getattr(module, name)

    def slowly(*given: Any, **options: Any) -> Any:
        act()
        return whole(*given, **options)

    monkeypatch.setattr(module, name, slowly)


@pytest.mark.parametrize("what", ["assign", "assign --redo"])
def test_what_rests_on_people_who_have_changed_since_is_refused(
    at: At, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    stage, module, name, act = LONG[what]
    study, after = at(stage), []

    def join() -> None:
        Study(study.place).add_people(["zoe"], Role.ANNOTATOR)
        after.append(dump(study))

    meanwhile(monkeypatch, module, name, join)
    with pytest.raises(FcpairError, match=r"run the command again|3 annotators were asked for, but the study has 1"):
        act(study)
    assert after == [dump(study)]


@pytest.mark.server
@pytest.mark.parametrize("what", LONG)
def test_where_nothing_that_it_rests_on_has_changed_since_it_is_done(
    at: At, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    stage, module, name, act = LONG[what]
    study = at(stage)
    seen: list[object] = []

    def join() -> None:
        other = Study(study.place)
        seen.append(other.status())
        if what != "assign --more":
            other.add_people(["zoe"], Role.LEAD)

    before = len(study.log())
    meanwhile(monkeypatch, module, name, join)
    act(study)
    assert len(seen) == 1
    assert study.log()[-1].stage == what.split(maxsplit=1)[0]
    assert len(study.log()) == before + 1 + (what != "assign --more")


def test_candidates_of_other_hs_than_were_selected_are_refused(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    study = at("selected")

    def select() -> None:
        Study(study.place).grid().select(Select(hs=1, seed=5), redo=True)

    meanwhile(monkeypatch, retrieve, "nearest_to", select)
    with pytest.raises(ConflictError, match="the study changed while"):
        study.grid().retrieve(Retrieve(k=4))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.arange(3), np.arange(3) + 1),
        (np.zeros(4), np.zeros((2, 2))),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})),
        tuple(
            Round((1,), 1, "r", Role.MODEL, "text()", counts=False, options=RoundOptions(seed=seed)) for seed in (1, 2)
        ),
        ([1], (1,)),
    ],
)
def test_arrays_frames_and_all_fields_of_records_are_compared(one: Any, other: Any) -> None:
    assert is_same(one, copy.deepcopy(one))
    assert not is_same(one, other)


@pytest.mark.parametrize("n_answers", [1, MAX_TRIES])
def test_more_is_dealt_however_often_somebody_answers_meanwhile(
    at: At, monkeypatch: pytest.MonkeyPatch, n_answers: int
) -> None:
    study, grid = with_grid(at("dealt"))
    study.share()
    desk, ana = at_desk(study, "ana")
    n_open, left = len(open_work(study)), iter(range(n_answers))
    meanwhile(
        monkeypatch, assign, "add_labels", lambda: next(left, None) is not None and give(desk, ana, "appropriate")
    )
    run = grid.assign(Assign(overlap={3: 0.5}), more=True)
    assert len(grid.labels()) == n_answers
    assert len(open_work(study)) == n_open - n_answers + run.counts["new"]
    study.close()


def test_a_slot_that_is_foreseen_to_be_taken_over_can_be_moved_to_a_late_joiner(at: At) -> None:
    """What ben leaves finds new hands and is levelled with those who came late, in the same deal."""
    study = at("dealt")
    with study._store.write() as tx:
        from fcpair.store import people
        from fcpair.store.assignment import assignments

        ben = next(one for one in study.people if one.name == "ben")
        people.retire(tx, ben.id)
        withdrawn = assignments.withdraw_open(tx, ben.id)
        people.add_people(tx, ["dora", "eli", "fay"], Role.ANNOTATOR)
    run = study.grid().assign(Assign(), more=True)
    assert run.counts["reassigned"] == withdrawn
    shares = [sum(who == name for who, _ in open_work(study)) for name in ("ana", "cleo", "dora", "eli", "fay")]
    assert max(shares) - min(shares) <= 1
    assert len(open_work(study)) == sum(shares) == 42
    assert len(set(open_work(study))) == 42

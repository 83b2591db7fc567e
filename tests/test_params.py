"""Every params class checks what it is given, whoever makes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair import params, plans
from fcpair.errors import FcpairError, InputError
from fcpair.param_values import Checked, as_params, field_readers, from_params, is_required
from fcpair.params import (
    Adjudicate,
    Agree,
    Annotate,
    Assign,
    Evaluate,
    Pair,
    Partition,
    Plan,
    Retrieve,
    Select,
    Setup,
    Simulate,
)
from fcpair.plans import Checks, GridPlan, RoundPlan, SidePlan, Source
from fcpair.round_options import RoundOptions

CLASSES = sorted(
    {
        one
        for module in (params, plans)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Checked) and hasattr(one, "__dataclass_fields__")
    },
    key=lambda one: one.__name__,
)
REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Select, {"hs": "45"}, "hs is '45'; expected a whole number"),
    (Select, {"hs": True}, "hs is True; expected a whole number"),
    (Select, {"hs": 0}, "hs is 0; expected a whole number, 1 or more"),
    (Select, {"hs": 4, "hs_list": "hs.csv"}, "give either how many HS to draw"),
    (
        Select,
        {"hs_list": "hs.csv", "stratify": "topic"},
        r"`stratify` \(--stratify\) has no effect beside `hs_list` \(--hs-list\); omit it",
    ),
    (Select, {"hs": 4, "seed": -1}, "seed is -1; expected a whole number, 0 or more"),
    (Select, {"hs": 10**5000}, "hs is some int; expected a whole number"),
    (Simulate, {"annotator_effect": 1e308}, r"annotator_effect is 1e\+308; expected 0 to 100"),
    (Plan, {"annotator_effect": 100.5}, "annotator_effect is 100.5; expected 0 to 100"),
    (Retrieve, {"cn_list": "cn.csv", "runs": ["a.run"]}, "give either a list of candidates"),
    (Retrieve, {"every_cn": True, "cn_list": "cn.csv"}, "with every CN of the corpus"),
    (Retrieve, {"every_cn": True, "runs": ["a.run"]}, "with every CN of the corpus"),
    (Retrieve, {"k": 0}, "k is 0; expected a whole number, 1 or more"),
    (Retrieve, {"backend": "tensorflow"}, "backend is 'tensorflow'; expected one of torch, onnx"),
    (Pair, {"candidates": -1}, "candidates is -1; expected a whole number, 1 or more"),
    (Assign, {"overlap": {1: 0.5}}, "overlap has a share for 1 labels; give shares for 2 labels or more"),
    (Assign, {"overlap": {2: 1.5}}, "overlap for 2 labels is 1.5; give a share"),
    (Assign, {"overlap": {2: "much"}}, "overlap of 2 is 'much'; expected a number"),
    (Assign, {"overlap": 0.5}, "overlap is 0.5; expected a table"),
    (Assign, {"order": "cn"}, "order is 'cn'; expected one of random, hs"),
    (Annotate, {"demographics": "Age"}, "demographics is 'Age'; expected a list"),
    (Annotate, {"offline": "no"}, "offline is 'no'; expected True or False"),
    (Annotate, {"about": "\ud800"}, "about is '.ud800'; expected a text without a NUL character"),
    (Setup, {"guidelines": 5}, "guidelines is 5; expected the name of a file"),
    (Setup, {"folding": "persian"}, "folding is 'persian'; expected one of none, arabic"),
    (Simulate, {"accuracy": 2}, "accuracy is 2; expected a probability from 0 to 1"),
    (Agree, {"level": float("inf")}, "level is inf; expected a number that is finite"),
    (Simulate, {"accuracy": float("nan")}, "accuracy is nan; expected a probability from 0 to 1"),
    (Agree, {"weights": "cubic"}, "weights is 'cubic'; expected one of none, linear, quadratic"),
    (Adjudicate, {"policy": "majorty"}, "policy is 'majorty'; expected one of manual, majority, median"),
    (Adjudicate, {"ties": "discrd"}, "ties is 'discrd'; expected one of wait, discard"),
    (Adjudicate, {"ties": "discard"}, "ties is 'discard', but with the policy `manual` a person decides"),
    (Partition, {"diamond": "majorty"}, "diamond is 'majorty'; expected one of unanimous, majority"),
    (Evaluate, {"no_positives": "skip"}, "no_positives is 'skip'; expected one of zero, leave_out"),
    (Evaluate, {"tiers": "gold"}, "tiers is 'gold'; expected a list"),
    (SidePlan, {"names": "ab"}, "names is 'ab'; expected a list"),
    (SidePlan, {"file": "a.csv", "column": "hs", "kind": "query"}, "kind is 'query'; expected one of text, hs, cn"),
    (Source, {"file": "a.csv", "text": "hs", "reader": "csv"}, "reader is 'csv'; expected one of table"),
    (RoundPlan, {"name": "a", "form": "text()", "role": "judge"}, "role is 'judge'; expected one of annotator"),
    (
        RoundPlan,
        {"name": "a", "form": "text()", "checks": 3},
        r"checks is 3; expected Checks\(...\) of fcpair.round_options",
    ),
    (GridPlan, {"name": "a", "rows": 1, "columns": 2, "rounds": []}, r"rows is 1; expected SidePlan\(...\)"),
]


@pytest.mark.parametrize(("cls", "values", "message"), REFUSED)
def test_what_a_field_does_not_take_is_refused_by_its_name(
    cls: Callable[..., Any], values: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        cls(**values)


def test_values_are_kept_as_their_annotations_say() -> None:
    assert type(Select(hs=np.int64(45)).hs) is int  # type: ignore[arg-type]
    assert Select(hs_list="hs.csv").hs_list == Path("hs.csv")  # type: ignore[arg-type]
    assert Assign(overlap={"2": 1}).overlap == {2: 1.0}  # type: ignore[dict-item]
    assert Assign(overlap={2: 1}, annotator_groups=[["ana", "ben"]]).annotator_groups == (("ana", "ben"),)  # type: ignore[arg-type]
    assert Annotate(demographics=["Age: 1 | 2"]).demographics == ("Age: 1 | 2",)  # type: ignore[arg-type]
    assert type(Simulate(accuracy=1).accuracy) is float


def test_annotations_are_read_when_an_instance_is_made() -> None:
    import subprocess
    import sys

    script = "import fcpair.plans, fcpair.param_values as values; print(values.field_readers.cache_info().currsize)"
    assert subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout == "0\n"


WORDS = sorted(
    {
        word
        for cls in CLASSES
        for item in fields(cls)  # type: ignore[arg-type]
        for word in str(cls.__annotations__.get(item.name, "")).replace('"', " ").replace("'", " ").split()
    }
    | {"majority", "discard", "row", "median", "http://", "one_of(no,yes+)"}
)
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([-1, 0, 1, 2, 10**400, 2**63, 1e400, np.float32(0.5), np.int8(3), b"bytes", object(), 1j])
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=()), max_size=5)
    | st.sampled_from(WORDS)
    | st.just(Path("no-such-file"))
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
        | st.frozensets(st.integers(), max_size=2)
    ),
    max_leaves=5,
)
MADE = st.sampled_from(
    [
        Source(Path("a.csv"), "hs"),
        SidePlan(names=("a",)),
        RoundPlan("label", "label: one_of(no,yes+)"),
        plans.Checks(),
        Adjudicate(),
        Agree(),
        Partition(),
        params.Validate(),
    ]
)


def make_any(cls: type, data: st.DataObject) -> Any:
    """An instance of any values; None where the class refuses them."""
    required = {item.name for item in fields(cls) if is_required(item)}
    names = st.sampled_from([name for name, _ in field_readers(cls)])
    values = data.draw(st.dictionaries(names, VALUES | MADE | st.lists(MADE, max_size=2), max_size=6))
    values |= {name: data.draw(VALUES | MADE | st.lists(MADE, max_size=2)) for name in required - values.keys()}
    try:
        return cls(**values)
    except FcpairError:
        return None


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_nothing_but_an_error_of_fcpair_comes_of_any_values(cls: type, data: st.DataObject) -> None:
    if made := make_any(cls, data):
        assert cls(**{name: getattr(made, name) for name, _ in field_readers(cls)}) == made


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_what_is_kept_of_parameters_is_read_back(cls: type, data: st.DataObject) -> None:
    if made := make_any(cls, data):
        assert from_params(cls, json.loads(json.dumps(as_params(made)))) == made


def test_parameters_within_parameters_are_read_back_and_what_is_not_kept_has_its_default() -> None:
    source = Source(Path("a.csv"), "hs", group="group", quota={"women": 2})
    write = RoundPlan("write", "text: text()", checks=Checks(similar=0.9, refuses=()))
    rate = RoundPlan("rate", "rate: scale(1,5,1)", models=("a=canned:a.csv",), definitions={"b": "what b is"})
    plan = GridPlan("g", SidePlan(sources=(source,)), SidePlan(answers=("e", "f")), (write, rate), agreement=Agree())
    assert from_params(GridPlan, json.loads(json.dumps(as_params(plan)))) == plan
    options = RoundOptions(checks=Checks(grammar="harper", refuses=("Spelling",)), models=("a=canned:a.csv",))
    assert from_params(RoundOptions, json.loads(json.dumps(options.as_json()))) == options
    assert from_params(Select, {"hs": 4, "of_another_version": 1}) == Select(hs=4)
    with pytest.raises(InputError, match="hs is 0; expected a whole number, 1 or more"):
        from_params(Select, {"hs": 0})

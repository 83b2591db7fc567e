"""Use cases that are loaded when they are first called or looked at."""

from __future__ import annotations

import inspect
import pydoc
import re
from functools import cached_property
from types import FunctionType, ModuleType

import pytest

from fcpair import grid, study
from fcpair.grid import CalibrationRound, Desk, Grid, Settings, Sheets, Tiers
from fcpair.steps import use_cases
from fcpair.steps.adjudication import adjudicate
from fcpair.steps.oversight import doctor
from fcpair.steps.release.export import Exports
from fcpair.study import Study

pytestmark = pytest.mark.files


PARTS = (CalibrationRound, Desk, Settings, Sheets, Tiers)


def bound_in(cls: type) -> list[str]:
    return [name for name in vars(cls) if not name.startswith("__")]


@pytest.mark.parametrize("cls", [Study, Grid, *PARTS])
def test_each_member_can_be_loaded_and_says_what_it_does_under_its_own_name_and_signature(cls: type) -> None:
    for name in bound_in(cls):
        method = getattr(cls, name)
        assert inspect.getdoc(method), name
        if isinstance(method, FunctionType) and not name.startswith("_"):
            assert (method.__name__, method.__qualname__) == (name, f"{cls.__name__}.{name}")
            assert not re.search(r"own\(|Own\(|\w+Context", str(inspect.signature(method))), name


def test_help_shows_a_method_as_it_is_called() -> None:
    assert str(inspect.signature(Grid.retrieve)).startswith("(self, options: 'Retrieve | None' = None, *, ")
    assert inspect.signature(Grid.retrieve).parameters["k"].default == 2
    assert "\nretrieve(self, " in pydoc.plain(pydoc.render_doc(Grid.retrieve))


def test_a_member_costs_no_more_than_its_use_case() -> None:
    assert isinstance(vars(Grid)["adjudicate"], FunctionType)
    assert Grid.adjudicate.__code__ is adjudicate.adjudicate.__code__
    assert inspect.signature(Study.doctor) == inspect.signature(doctor.examine)
    assert isinstance(vars(Study)["doctor"], staticmethod)  # a method that takes no study
    assert isinstance(Grid.export, cached_property)  # a part of a grid is made once
    assert vars(Grid)["export"].func is Exports


def test_a_grid_has_few_public_names() -> None:
    assert len([name for name in (*dir(Grid), "grid") if not name.startswith("_")]) <= 60


@pytest.mark.parametrize("module", [study, grid])
def test_the_classes_of_a_module_are_had_from_it_and_nothing_else(module: ModuleType) -> None:
    assert all(callable(getattr(module, name)) for name in set(module.__all__) - {"Place"})
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'Nothing'"):
        module.Nothing  # noqa: B018


def test_what_is_missing_is_missed_when_it_is_called() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        use_cases.partition.nothing()  # type: ignore[attr-defined]

"""Use cases that are loaded when they are first called or looked at."""

from __future__ import annotations

import inspect
from functools import cached_property
from types import FunctionType, ModuleType

import pytest

from fcpair import grid, study
from fcpair.grid import Grid
from fcpair.steps import use_cases
from fcpair.steps.adjudication import adjudicate
from fcpair.steps.oversight import doctor
from fcpair.steps.release import partition
from fcpair.steps.release.export import Exports
from fcpair.study import Study

pytestmark = pytest.mark.files


def bound_in(cls: type) -> list[str]:
    return [name for name in vars(cls) if not name.startswith("__")]


@pytest.mark.parametrize("name", bound_in(Study))
def test_each_member_of_a_study_can_be_loaded_and_says_what_it_does(name: str) -> None:
    assert inspect.getdoc(getattr(Study, name))


@pytest.mark.parametrize("name", bound_in(Grid))
def test_each_member_of_a_grid_can_be_loaded_and_says_what_it_does(name: str) -> None:
    assert inspect.getdoc(getattr(Grid, name))


def test_a_method_that_was_looked_at_is_the_use_case_itself() -> None:
    assert Grid.adjudicate is adjudicate.adjudicate
    assert isinstance(vars(Grid)["adjudicate"], FunctionType)
    assert inspect.signature(Grid.partition) == inspect.signature(partition.partition)


def test_a_method_that_takes_no_study_is_static() -> None:
    assert inspect.signature(Study.doctor).parameters == inspect.signature(doctor.examine).parameters
    assert isinstance(vars(Study)["doctor"], staticmethod)


def test_a_part_of_a_grid_is_a_property_that_is_made_once() -> None:
    assert isinstance(Grid.export, cached_property)
    assert vars(Grid)["export"].func is Exports


@pytest.mark.parametrize("module", [study, grid])
def test_the_classes_of_a_module_are_had_from_it_and_nothing_else(module: ModuleType) -> None:
    assert all(callable(getattr(module, name)) for name in set(module.__all__) - {"Place"})
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'Nothing'"):
        module.Nothing  # noqa: B018


def test_what_is_missing_is_missed_when_it_is_called() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        use_cases.partition.nothing()  # type: ignore[attr-defined]

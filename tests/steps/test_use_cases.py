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


@pytest.mark.parametrize("name", bound_in(Study))
def test_each_member_of_a_study_can_be_loaded_and_says_what_it_does(name: str) -> None:
    assert inspect.getdoc(getattr(Study, name))


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls in (Grid, *PARTS) for name in bound_in(cls)])
def test_each_member_of_a_grid_can_be_loaded_and_says_what_it_does(cls: type, name: str) -> None:
    assert inspect.getdoc(getattr(cls, name))


@pytest.mark.parametrize("cls", [Study, Grid, *PARTS])
def test_a_method_has_the_names_and_the_signature_of_its_class(cls: type) -> None:
    for name in bound_in(cls):
        method = getattr(cls, name)
        if isinstance(method, FunctionType) and not name.startswith("_"):
            assert (method.__name__, method.__qualname__) == (name, f"{cls.__name__}.{name}")
            assert not re.search(r"own\(|Own\(|\w+Context", str(inspect.signature(method))), name


def test_help_shows_a_method_as_it_is_called() -> None:
    assert str(inspect.signature(Grid.retrieve)).startswith("(self, options: 'Retrieve | None' = None, *, ")
    assert inspect.signature(Grid.retrieve).parameters["k"].default == 2
    assert "\nretrieve(self, " in pydoc.plain(pydoc.render_doc(Grid.retrieve))


def test_a_method_that_was_looked_at_costs_no_more_than_the_use_case() -> None:
    assert isinstance(vars(Grid)["adjudicate"], FunctionType)
    assert Grid.adjudicate.__code__ is adjudicate.adjudicate.__code__


def test_a_grid_has_few_public_names() -> None:
    assert len([name for name in (*dir(Grid), "grid") if not name.startswith("_")]) <= 60


def test_a_method_that_takes_no_study_is_static() -> None:
    assert inspect.signature(Study.doctor) == inspect.signature(doctor.examine)
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

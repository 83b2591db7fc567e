"""Keyword arguments of use cases: those that they write out are the fields of the params classes."""

from __future__ import annotations

import inspect
import pydoc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_overloads, get_type_hints

import pytest

from fcpair import grid, known_pairs, params, plans, study, words
from fcpair import grid as grid_module
from fcpair.errors import InputError
from fcpair.files.release.exports import EXPORTS
from fcpair.grid import CalibrationRound, Desk, Grid, Settings, Sheets, Tiers
from fcpair.param_values import Checked, field_default, field_readers, is_required
from fcpair.params import Adjudicate, Export, Import, Partition, Select, Setup
from fcpair.steps import use_cases
from fcpair.steps.adjudication import adjudicate
from fcpair.steps.adjudication.agreement import measure_agreement
from fcpair.steps.base.keywords import REQUIRED
from fcpair.steps.oversight import doctor
from fcpair.steps.release.export import Exports
from fcpair.study import Study

pytestmark = pytest.mark.files

MODULES = (known_pairs, params, plans, words)
PARAMS = {name: cls for module in MODULES for name, cls in vars(module).items() if isinstance(cls, type)}
CLASSES = {name: cls for name, cls in PARAMS.items() if issubclass(cls, Checked) and hasattr(cls, "stage")}
READ_BY_EXPORT = {
    **{name: EXPORTS[name].params for name in ("qrels", "beir", "corpus", "hf")},
    "texts": ("test_share", "seed"),
    "training": ("negatives", "test_share", "seed"),
}


def params_of(method: Callable[..., Any]) -> Iterator[type]:
    for parameter in inspect.signature(method).parameters.values():
        for name in str(parameter.annotation).split(" | "):
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and name in {*CLASSES, "GridPlan"}:
                yield PARAMS[name]


def methods() -> Iterator[tuple[str, Callable[..., Any], list[type]]]:
    for cls in (Study, Grid, CalibrationRound, Settings, Tiers, Exports):  # `Desk` is for pages and commands alone
        for name in (name for name in dir(cls) if not name.startswith("_")):
            method = getattr(cls, name)
            if (inspect.isfunction(method) or inspect.ismethod(method)) and (classes := list(params_of(method))):
                yield f"{cls.__name__}.{name}", method, classes


METHODS = list(methods())


def expected_fields(name: str, cls: type) -> list[Any]:
    """The fields that a method has as keyword arguments: all, or those that an export of its kind reads."""
    read = READ_BY_EXPORT.get(name.rpartition(".")[2]) if cls is Export else None
    items = [item for item in fields(cls) if read is None or item.name in read]
    return [item for item in items if not (cls is Import and item.name == "path")]


def resolved(annotation: str) -> Any:
    return eval(
        annotation,
        {
            **vars(params),
            **vars(plans),
            **vars(words),
            "Sequence": Sequence,
            "Mapping": Mapping,
            "Path": Path,
            "Source": str | Path,
        },
    )


def widened(hint: Any) -> Any:
    """The type of a keyword argument for a field of this type."""
    origin, args = getattr(hint, "__origin__", None), getattr(hint, "__args__", ())
    if hint is Path:
        return str | Path
    if origin is tuple:
        return Sequence[widened(args[0])]  # type: ignore[misc]
    if origin is None and type(None) in args:
        inner = [widened(one) for one in args if one is not type(None)]
        return inner[0] | None
    return hint


def test_all_that_take_params_are_looked_at() -> None:
    names = {name for name, _, _ in METHODS}
    assert {
        "Grid.select",
        "Grid.tiers",
        "Tiers.evaluate",
        "Study.create",
        "Study.import_corpus",
        "Exports.qrels",
    } <= names
    assert len(names) > 30


@pytest.mark.parametrize(("name", "method", "classes"), METHODS, ids=[name for name, _, _ in METHODS])
def test_keyword_arguments_are_the_fields_in_their_order_with_their_types_and_defaults(
    name: str, method: Callable[..., Any], classes: list[type]
) -> None:
    """And each is explained."""
    parameters = inspect.signature(method).parameters
    doc = " ".join((inspect.getdoc(method) or "").split())
    expected = [item.name for cls in classes for item in expected_fields(name, cls)]
    given = [key for key, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    assert [key for key in given if key in expected] == expected
    assert not [key for key in expected if f"{key}: " not in doc and f"`{key}`" not in doc]
    for cls in classes:
        hints, read = get_type_hints(cls), dict(field_readers(cls))
        for item in expected_fields(name, cls):
            parameter = parameters[item.name]
            assert resolved(parameter.annotation) == widened(hints[item.name]), item.name
            if is_required(item):
                assert parameter.default is REQUIRED
            else:
                assert read[item.name](item.name, parameter.default) == field_default(item), item.name


def test_overloads_have_the_keyword_arguments_too() -> None:
    overloads = get_overloads(measure_agreement)
    parameters = inspect.signature(measure_agreement).parameters
    for name in (item.name for item in fields(params.Agree)):
        annotations = {inspect.signature(one).parameters[name].annotation for one in overloads}
        assert annotations == {parameters[name].annotation}


def test_a_default_is_the_one_of_its_class_and_help_says_that_the_grids_own_setting_holds() -> None:
    assert inspect.signature(Grid.agreement).parameters["intervals"].default == "texts"
    assert "An option that is not given is the grid's own setting, or else its default." in str(Grid.agreement.__doc__)


@pytest.fixture
def imported(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "study.db")
    (tmp_path / "corpus.csv").write_text("hs,cn\na,b\nc,d\ne,f\n", "utf-8")
    study.import_corpus(tmp_path / "corpus.csv")
    return study


def test_keyword_arguments_do_what_the_object_does(imported: Study) -> None:
    grid = imported.grid()
    by_keywords = grid.select(hs=2, seed=3)
    by_object = grid.select(Select(hs=2, seed=3), redo=True)
    by_name = grid.select(options=Select(hs=2, seed=3), redo=True)
    assert by_keywords.params == by_object.params == by_name.params
    assert by_keywords.counts == by_object.counts == by_name.counts


def test_keyword_arguments_that_cannot_be_are_refused(imported: Study, tmp_path: Path) -> None:
    """mypy, which checks the tests strictly, fails where one of these comments is not needed."""
    grid = imported.grid()
    with pytest.raises(InputError, match=r"`seed` and Select\(\.\.\.\) are both given; give one of them"):
        grid.select(Select(hs=2), seed=3)
    with pytest.raises(InputError, match="hs is 0; expected a whole number, 1 or more"):
        grid.select(hs=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'topics'"):
        grid.select(topics=3)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="seed is 'x'"):
        grid.select(seed="x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="policy is 'majorty'"):
        grid.adjudicate(policy="majorty")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        grid.select(Select(hs=2), True)  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"options is 'majority'; expected Partition\(...\) of fcpair.params"):
        grid.tiers("majority")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a pool sets which CNs are left out"):  # so it has come to an export
        grid.export.corpus(tmp_path / "corpus.jsonl", pool="all")
    assert Partition("majority").diamond == "majority"
    assert grid_module.Grid is Grid


def test_what_is_not_given_is_the_grids_own(imported: Study) -> None:
    """The recipe that a study keeps says how many labels there are; a seed that is given leaves that as it is."""
    from fcpair.recipe import Recipe
    from fcpair.steps.oversight.study_recipe import save_recipe

    save_recipe(imported, Recipe(select=Select(hs=2)))
    params = {"hs": 2, "hs_list": None, "sheet_name": None, "stratify": None, "seed": 5, "ids": None}
    assert imported.grid().select(seed=5).params == params


def test_a_policy_leaves_out_of_the_grids_own_what_it_cannot_have(imported: Study) -> None:
    from fcpair.steps.base.keywords import by_keywords
    from fcpair.store.oversight import settings

    with imported._store.write() as tx:
        settings.save_settings(tx, Adjudicate.stage, {"policy": "majority", "ties": "discard"}, imported.log()[-1].id)
    assert by_keywords(imported, Adjudicate, {"policy": "manual"}, more=False) == Adjudicate()
    assert by_keywords(imported, Adjudicate, {"ties": "wait"}, more=False) == Adjudicate("majority")


def test_a_study_is_made_by_keyword_arguments_or_by_an_object_and_not_by_both(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"keyword arguments are given in addition to Setup\(...\)"):
        Study.create(tmp_path / "other.db", Setup(title="Tea"), title="Coffee")
    assert not Study.exists(tmp_path / "other.db")
    study = Study.create(tmp_path / "other.db", title="Tea", hs_name="query")
    assert (study.facts["title"], study.facts["hs_name"]) == ("Tea", "query")


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
    assert len([name for name in (*dir(Grid), "grid") if not name.startswith("_")]) <= 61


@pytest.mark.parametrize("module", [study, grid])
def test_the_classes_of_a_module_are_had_from_it_and_nothing_else(module: ModuleType) -> None:
    assert all(callable(getattr(module, name)) for name in module.__all__)
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'Nothing'"):
        module.Nothing  # noqa: B018


def test_what_is_missing_is_missed_when_it_is_called() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        use_cases.partition.nothing()  # type: ignore[attr-defined]

"""The small study at any stage with everybody in it, and each door to a copy of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import on_databases
from servers import Database, Places, copy_study
from steps.small import build_all
from web.conftest import loop_of_clients, no_plain_sentence

from doors.door import House
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.study import Study

__all__ = ["loop_of_clients", "no_plain_sentence"]

PEOPLE = {
    "ana": Role.ANNOTATOR,
    "ben": Role.ANNOTATOR,
    "cleo": Role.ANNOTATOR,
    "vera": Role.VALIDATOR,
    "judy": Role.ADJUDICATOR,
    "jack": Role.ADJUDICATOR,
    "lea": Role.LEAD,
}
Ready = Callable[[str], tuple[Path, dict[str, str]]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests marked `server` on both databases."""
    on_databases(metafunc, both=metafunc.definition.get_closest_marker("server") is not None)


@pytest.fixture(autouse=True)
def everywhere(database: Database) -> Iterator[None]:
    with database(lasting=False):
        yield


@pytest.fixture(scope="session")
def ready(database: Database, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """The study after a stage of `small.STAGES`, with PEOPLE who came in and consented, and their tokens."""
    folder = tmp_path_factory.mktemp("ready")

    @cache
    def on_server() -> dict[str, Path]:
        return build_all(folder)

    @cache
    def make(stage: str) -> tuple[Path, dict[str, str]]:
        with database():
            source = files[stage] if Places.now is None else on_server()[stage]
            path = copy_study(source, folder / f"{stage}-with-people.db")
            with closing(Study(path)) as study:
                names = {person.name for person in study.people}
                for name, role in PEOPLE.items():  # but no annotators before there is work for them
                    if name not in names and (role is not Role.ANNOTATOR or "ana" in names):
                        study.add_people([name], role)
                tokens = study.access.invite_all()
                for person in study.people:
                    study.access.consent(person.id, {})
        return path, tokens

    return make


@pytest.fixture
def house(ready: Ready, tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Copy the study after a stage, with doors that are opened when they are needed."""
    opened: list[House] = []

    def make(stage: str, annotate: Annotate | None = None) -> House:
        path, tokens = ready(stage)
        study = Study(copy_study(path, tmp_path / f"study-{len(opened)}.db"))
        opened.append(House(study, tmp_path, tokens, annotate))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def door(request: pytest.FixtureRequest, house: Callable[..., House]) -> Any:
    """The door, and the stage, of a parameter, as `at_each_door` gives them."""
    name, stage = request.param
    return house(stage).door(name)

"""The house: how large its rooms are, what stands in which, and which room of `steps` may use which."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_imports import Module, imported, modules_of

import fcpair

PACKAGE = Path(fcpair.__file__).parent
MOST_MODULES, MOST_LINES, FULL, SMALL = 20, 500, 400, 80
# Tables: a class for each record or each stage, a table for each of the database.
TABLES = {"fcpair.params", "fcpair.store.database.tables"}
# Listed in a table by their name, so that one more is one line more.
LISTED_IN = ("catalogue", "app", "parse", "backends")
# From the bottom up; those of one line do not use each other.
ROOMS_OF_STEPS = (
    {"base"},
    {"people"},
    {"rules"},
    {"grids"},  # of rooms with one or two modules each stands on the floor itself
    {"building"},
    {"assignment"},
    {"extension"},
    {"answers"},
    {"adjudication", "release", "survey"},
    {"oversight"},
    {"release_tables"},
    {"release_folder"},
)
MODULES = modules_of(PACKAGE)
BY_NAME = {module.name: module for module in MODULES}


def n_lines(module: Module) -> int:
    return module.source.count("\n")


def used(module: Module) -> set[str]:
    """The modules of fcpair that a module imports, wherever in it the import stands."""
    names = {name if name in BY_NAME else name.rpartition(".")[0] for name in imported(module)}
    return names & set(BY_NAME) - {module.name}


def used_at_top(module: Module) -> set[str]:
    """Those that are loaded together with the module."""
    top = ast.parse(module.source).body
    source = "\n".join(ast.unparse(node) for node in top if isinstance(node, ast.Import | ast.ImportFrom))
    return used(Module(module.name, source, module.is_package))


def room_of_steps(name: str) -> str | None:
    parts = name.split(".")
    return parts[2] if parts[1:2] == ["steps"] and parts[2:3] not in ([], ["use_cases"]) and name in BY_NAME else None


def test_no_folder_has_more_modules_than_one_can_look_over() -> None:
    rooms = Counter(module.name.rpartition(".")[0] for module in MODULES if not module.is_package)
    assert rooms.pop("fcpair") <= 25  # the words of the house, which every floor may import
    assert {room: n for room, n in rooms.items() if n > MOST_MODULES} == {}


def test_no_module_is_longer_than_one_can_read_at_once() -> None:
    assert {module.name: n_lines(module) for module in MODULES if n_lines(module) > MOST_LINES}.keys() <= TABLES


def test_no_two_modules_of_a_floor_have_the_same_name() -> None:
    floors: dict[str, Counter[str]] = defaultdict(Counter)
    for module in MODULES:
        if not module.is_package and not module.name.startswith("fcpair._migrations"):
            floors[module.name.split(".")[1]][module.name.rpartition(".")[2]] += 1
    assert [(floor, name) for floor, names in floors.items() for name, n in names.items() if n > 1] == []


def small_helpers() -> Iterator[str]:
    """Small modules that one other alone uses, which is in the same room and could hold them."""
    users: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for name in used(module):
            users[name].add(module.name)
    for module in MODULES:
        mine = users[module.name]
        if module.is_package or module.name in TABLES or n_lines(module) >= SMALL or len(mine) != 1:
            continue
        (user,) = mine
        together = n_lines(module) + n_lines(BY_NAME[user])
        same_room = user.rpartition(".")[0] == module.name.rpartition(".")[0]
        listed = user.rpartition(".")[2] in LISTED_IN
        late = module.name not in used_at_top(BY_NAME[user])
        if same_room and together <= FULL and not listed and not late:
            yield f"{module.name} -> {user}"


def test_a_small_helper_with_one_user_lives_with_its_user() -> None:
    assert list(small_helpers()) == []


def test_the_rooms_of_steps_use_each_other_from_top_to_bottom_only() -> None:
    height = {room: at for at, rooms in enumerate(ROOMS_OF_STEPS) for room in rooms}
    assert {room_of_steps(module.name) for module in MODULES} == {*height, None}
    upward = [
        f"{module.name} -> {name}"
        for module in MODULES
        for name in sorted(used(module))
        if (own := room_of_steps(module.name)) and (other := room_of_steps(name)) and own != other
        if height[other] >= height[own]
    ]
    assert upward == []


def circles() -> list[list[str]]:
    """The modules that can be reached from themselves by imports, wherever in a module these stand."""
    arrows = {module.name: used(module) for module in MODULES if not module.is_package}
    found = []
    for start in arrows:
        seen, waiting = set[str](), [start]
        while waiting:
            for name in arrows.get(waiting.pop(), set()) - seen:
                seen.add(name)
                waiting.append(name)
        if start in seen:
            found.append(sorted({start} | {name for name in seen if start in arrows.get(name, ())}))
    return found


def test_no_imports_run_in_a_circle() -> None:
    assert circles() == []


@pytest.mark.parametrize("module", [module for module in MODULES if module.is_package], ids=lambda one: one.name)
def test_the_head_of_each_folder_says_what_it_holds(module: Module) -> None:
    assert ast.get_docstring(ast.parse(module.source)) or module.name.startswith("fcpair._migrations")

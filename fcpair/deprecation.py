"""Names of the version before, which work for one version more and say what they are called now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any
from warnings import warn


class OldName:
    """The old name of an attribute of a class: `desk = OldName("work_queue")`.

    Where the new one is no attribute of it, `get` makes it from the instance: `OldName("Monitor(grid)", Monitor)`.
    """

    def __init__(self, new: str, get: Callable[[Any], Any] | None = None) -> None:
        self._new, self._get = new, get or attrgetter(new)
        self.__doc__ = f"The old name of `{new}`."

    def __set_name__(self, _owner: type, old: str) -> None:
        self._old = old

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        _warn(f"{type(instance).__name__}.{self._old}", self._new)
        return self._get(instance)


def module_getattr(module: str, new_names: Mapping[str, str], load: Callable[[str], Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module with old names: `load` has what the module calls by the new ones."""

    def get(name: str) -> Any:
        if name in new_names:
            _warn(f"{module}.{name}", new_names[name])
            return load(new_names[name])
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return load(name)

    return get


def old_names(namespace: Mapping[str, Any], **new_names: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module with these globals, some of which were called otherwise: `Asked="RoundForm"`.

    A new name with dots is that of another module, which is imported then: `Task="fcpair.work_records.Task"`.
    """
    module = namespace["__name__"]

    def load(name: str) -> Any:
        if "." in name:
            home, _, name = name.rpartition(".")
            return getattr(import_module(home), name)
        if name not in namespace:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return namespace[name]

    return module_getattr(module, new_names, load)


def _warn(old: str, new: str) -> None:
    warn(f"{old} is called `{new}` now; the old name goes in the next version", DeprecationWarning, stacklevel=3)

"""fcpair: build densely judged datasets of text pairs."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fcpair.evaluate.tier_frame import evaluate_tier_frame as evaluate
    from fcpair.study import Grid, Study

    __version__: str

__all__ = ["Grid", "Study", "__version__", "evaluate"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in {"Grid", "Study"}:  # on demand: the command line must start without the database
        return getattr(_study_module(), name)
    if name == "evaluate":
        return import_module("fcpair.evaluate")  # which can be called
    if name == "__version__":
        from importlib.metadata import version

        return version("fcpair")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _study_module() -> Any:
    """The module, loaded without looking for garbage meanwhile: modules are none, and it takes a tenth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module("fcpair.study")
    finally:
        if collects:
            gc.enable()

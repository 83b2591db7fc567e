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
        collects = gc.isenabled()
        gc.disable()  # modules are no garbage, and looking for some takes a tenth of the time
        try:
            return getattr(import_module("fcpair.study"), name)
        finally:
            if collects:
                gc.enable()
    if name == "evaluate":
        return import_module("fcpair.evaluate")  # which can be called
    if name == "__version__":
        from importlib.metadata import version

        return version("fcpair")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""fcpair: build densely judged datasets of text pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fcpair.study import Study

__all__ = ["Study"]


def __getattr__(name: str) -> Any:
    if name == "Study":  # on demand: the command line must start without the database
        from fcpair.study import Study

        return Study
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

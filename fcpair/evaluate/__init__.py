"""Evaluation of retrieval systems, from texts and arrays: systems (`systems`, `services`, listed in `catalogue`),
measures (`judged_rankings`, `measures`), bounds and comparisons (`evaluation`), joined into an `Outcome`.

The package is called as a function, too: `fcpair.evaluate(frame, ranking)` evaluates a ranking on a tier, both in
memory; `help(fcpair.evaluate.evaluate_tier_frame)` has its arguments.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature

    from fcpair.evaluate.outcome import Outcome


class _CallablePackage(ModuleType):
    """The package as the function that its parent has by the same name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Outcome:
        return self.evaluate_tier_frame(*args, **kwargs)

    @property
    def __signature__(self) -> Signature:
        from inspect import signature

        return signature(self.evaluate_tier_frame)

    @property
    def evaluate_tier_frame(self) -> Callable[..., Outcome]:
        """The function itself, for `help()`."""
        from fcpair.evaluate.tier_frame import evaluate_tier_frame

        return evaluate_tier_frame


sys.modules[__name__].__class__ = _CallablePackage

"""Evaluation of retrieval systems, from texts and arrays: systems, measures, bounds, comparisons.

A system and a measure are values whose name can be read back (`NamedValue` in `fcpair.stages.questions.named_values`).
Systems: `systems`, `rerank`, `embed`, `llm` and `trec_run`, listed in `catalogue`. Arithmetic: `judged_rankings`,
`measures`, `graded`, `bounds` and `random_baseline`; intervals and tests come from `fcpair.stages.stats`. `evaluation`
joins them into an `Outcome`, from which tables, figures and the report are made.

The package is called as a function, too: `fcpair.evaluate(frame, ranking)` is `tier_frame.evaluate_tier_frame`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature

    from fcpair.evaluate.outcome import Outcome


class _CallablePackage(ModuleType):
    """The package as the function that its parent has by the same name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Outcome:
        from fcpair.evaluate.tier_frame import evaluate_tier_frame

        return evaluate_tier_frame(*args, **kwargs)

    @property
    def __signature__(self) -> Signature:
        from inspect import signature

        from fcpair.evaluate.tier_frame import evaluate_tier_frame

        return signature(evaluate_tier_frame)


sys.modules[__name__].__class__ = _CallablePackage

"""Tiers of a study's own beside the question of its labels: which can hold no pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fcpair.errors import InputError, suggest_name
from fcpair.stages.questions.base import Closed, Question
from fcpair.tier_plans import read_tiers


def check_own_tiers(
    tiers: Mapping[str, Any], question: Question[Any], *, n_people: int | None = None, is_validated: bool = True
) -> None:
    """Raise InputError, with all reasons, where a tier can hold no pair.

    Args:
        tiers: as `Partition.own_tiers` has them.
        question: of the labels.
        n_people: how many people label at most; None where anybody may.
        is_validated: whether anybody gives verdicts.
    """
    if problems := list(_obstacles(tiers, question, n_people, is_validated)):
        raise InputError("; ".join(problems))


def _obstacles(
    tiers: Mapping[str, Any], question: Question[Any], n_people: int | None, is_validated: bool
) -> Iterator[str]:
    names = [question[code].name for code in question.definite] if isinstance(question, Closed) else []
    for tier, plan in read_tiers(tiers).items():
        for answer in plan.answers:
            if answer not in names:
                hint = suggest_name(answer, names, "the definite answers are")
                yield f"no pair of the tier `{tier}` can have the final label `{answer}`; {hint}"
        if n_people is not None and plan.labels > n_people:
            yield f"no pair can be in the tier `{tier}`: it requires {plan.labels} labels, and {n_people} people label"
        if not is_validated and plan.verdict != "none":
            advice = 'add the section `validate`, or give the tier `verdict = "none"`'
            yield f"the tier `{tier}` requires a verdict, and nobody validates; {advice}"

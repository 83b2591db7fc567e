"""Tiers of a study's own beside the question of its labels: which can hold no pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fcpair.errors import InputError, suggest_name
from fcpair.records import TIERS
from fcpair.stages.questions.base import Closed, Question
from fcpair.tier_plans import path_upwards, read_tiers


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
    plans = read_tiers(tiers)
    for tier, plan in plans.items():
        for answer in plan.answers:
            if answer not in names:
                hint = suggest_name(answer, names, "the definite answers are")
                yield f"no pair of the tier `{tier}` can have the final label `{answer}`; {hint}"
        if n_people is not None and (n_labels := plan.least_labels) > n_people:
            people = "1 person labels" if n_people == 1 else f"{n_people} people label"
            yield f"no pair can be in the tier `{tier}`: it requires {n_labels} labels, and {people}"
        if is_validated:
            continue
        if plan.verdict != "none":
            advice = 'add the section `validate`, or give the tier `verdict = "none"`'
            yield f"the tier `{tier}` requires a verdict, and nobody validates; {advice}"
        elif (outermost := path_upwards(tier, plans)[-1]) in TIERS:
            advice = "add the section `validate`, or remove `within`"
            yield f"the tier `{tier}` is within `{outermost}`, which requires a verdict, and nobody validates; {advice}"

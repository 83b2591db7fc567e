"""What was found about a survey, a bias test and groups of annotators, as figures with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fcpair.bias import SCHEMES, Scored
from fcpair.bias.scoring import METHOD
from fcpair.report.figures import Forest, Mark
from fcpair.stages.stats.group_differences import ASSOCIATION, LEAST_PEOPLE, Compared
from fcpair.stages.surveys.survey import ASSUMPTION, Keep

if TYPE_CHECKING:
    import pandas as pd


def of_survey(found: pd.DataFrame, rule: Keep | None = None, simulated: str | None = None) -> list[Forest]:
    """A figure for each question: the share of yes to each statement, by group where there are groups.

    Args:
        found: as `stages.survey.shares` has it, or `hide_few` of it.
        rule: whose threshold is drawn at its question.
        simulated: what must be said of made-up answers.
    """
    figures = []
    for question, rows in found.groupby("question", sort=False):
        groups = rows["group"] if "group" in rows else [""] * len(rows)
        figures.append(
            Forest(
                title=str(question),
                axis="share of yes over yes and no",
                marks=tuple(
                    Mark(str(statement), str(group), *map(_known, values))
                    for statement, group, values in zip(
                        rows["statement"], groups, rows[["share", "low", "high"]].to_numpy(), strict=True
                    )
                ),
                notes=_survey_notes(rows, simulated),
                line=rule.threshold if rule is not None and rule.question == question else None,
                bounds=(0, 1),
            )
        )
    return figures


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _survey_notes(rows: pd.DataFrame, simulated: str | None) -> tuple[str, ...]:
    n = rows["n"].dropna()
    rests_on = [f"Of {_range(int(n.min()), int(n.max()))} people who said yes or no."] if len(n) else []
    return (*_of(simulated), *rests_on, f"Intervals by Wilson; to speak of more people than these {ASSUMPTION}.")


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _of(simulated: str | None) -> tuple[str, ...]:
    return (f"{simulated}.",) if simulated else ()


def of_bias(found: Mapping[str, Scored], simulated: str | None = None) -> list[Forest]:
    """A figure for each score that is bounded: a row for each category, a mark for each of `found`, by its name."""
    (scheme, *_) = {one.scheme for one in found.values()}
    figures = []
    for score in SCHEMES[scheme]:
        if not np.isfinite(score.low):
            continue
        own = [(by, one) for by, scored in found.items() for one in scored.figures if one.score == score.name]
        categories = dict.fromkeys(one.category for _, one in own)
        ordered = [(by, one) for category in categories for by, one in own if one.category == category]
        n = [one.n for _, one in own]
        figures.append(
            Forest(
                title=score.name,
                axis=f"{score.name}: {score.formula}",
                marks=tuple(Mark(one.category, by, one.value, one.low, one.high) for by, one in ordered),
                notes=(
                    *_of(simulated),
                    f"Of {_range(min(n), max(n))} answers that can be read; intervals by a {METHOD}.",
                    f"Formula: {score.source}.",
                ),
                line=0.0 if score.is_bias else None,
                bounds=(score.low, score.high),
            )
        )
    return figures


def of_groups(found: Sequence[Compared], simulated: str | None = None) -> list[Forest]:
    """A figure for each question about people: how much more often one group gave a label than another."""
    return [
        Forest(
            title=one.by,
            axis="difference of shares",
            marks=tuple(
                Mark(f"{of.label}: {of.groups[0]} - {of.groups[1]}", "", of.value, of.low, of.high)
                for of in one.differences
            ),
            notes=(
                *_of(simulated),
                f"{one.n:,} labels by people who said: {_sizes(one)}.",
                f"Errors clustered by item and annotator. What is found is {ASSOCIATION}.",
            ),
            line=0.0,
            bounds=(-1, 1),
        )
        for one in found
        if one.differences
    ]


def _sizes(one: Compared) -> str:
    """How many people each group has, unless they are so few that somebody could be recognised."""
    sizes = {name: f"{n:,}" if n >= LEAST_PEOPLE else f"fewer than {LEAST_PEOPLE}" for name, n in one.people.items()}
    return ", ".join(f"{name} ({n})" for name, n in sizes.items())

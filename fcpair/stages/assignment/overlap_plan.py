"""Plan of an overlap: what each share of pairs with several labels costs and yields, and the least that is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from fcpair.errors import InputError
from fcpair.notebook import Result, frame_of
from fcpair.params import Plan
from fcpair.stages.assignment.overlap_ladder import (
    GridFacts,
    Yield,
    expect_yield,
    least_share,
    more_texts,
    rungs,
    split_labels,
)
from fcpair.stages.assignment.width_sources import (
    AssumedLabels,
    PilotLabels,
    PredictedWidth,
    WidthSource,
    figure_names,
    planned_figures,
)
from fcpair.stages.questions import Closed
from fcpair.stages.stats.kappa import MEANS
from fcpair.stages.stats.rating_counts import Overlap

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXTS = 100_000  # of a side, as far as a plan looks for texts that lower a floor
COLUMNS = (
    *("share", "labels", "hours", "pairs_each", "hours_each", "conflicts", "diamond", "gold", "silver", "bronze"),
    *("figure", "value", "width", "low", "high", "floor", "undefined"),
)


@dataclass(frozen=True)
class PlanRung:
    """One share of pairs with several labels: as `assign` takes the `overlap`, its yield, and the widths of figures."""

    share: float
    overlap: Mapping[int, float]
    expected: Yield
    widths: tuple[PredictedWidth, ...]


@dataclass(frozen=True, repr=False)
class OverlapPlan(Result):
    """A ladder of overlaps for a grid, with the least that meets the wish.

    `figure` is the name of the figure that is wished for; `recommended` the overlap, None without a wish. `basis` says
    what all of it rests on; `advice` what else narrows intervals.
    """

    options: Plan
    grid: GridFacts
    figure: str
    rungs: tuple[PlanRung, ...]
    recommended: Mapping[int, float] | None
    basis: tuple[str, ...]
    advice: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row for each figure of each rung: the costs and yields of the rung, then the fields of `PredictedWidth`."""
        return frame_of(self.rows(), COLUMNS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`."""
        for rung in self.rungs:
            for width in rung.widths:
                values = vars(width) | {"figure": width.name}
                del values["name"]
                yield {"share": rung.share, **vars(rung.expected), **values}

    def _summary(self) -> str:
        if self.recommended is None:
            return f"{len(self.rungs)} overlaps of {self.grid.n_pairs:,} pairs"
        return f"overlap {', '.join(f'{m}:{share:.4g}' for m, share in self.recommended.items())} for {self.figure}"


def plan_overlap(plan: Plan, question: Closed, grid: GridFacts, pilot: Overlap | None = None) -> OverlapPlan:
    """The ladder of overlaps of a grid, and the least overlap at which an interval is as narrow as wished.

    Args:
        plan: what is wished for and assumed; shares and kappa of the labels are the pilot's where there is one.
        question: the answers that there are, a positive and a negative one among them.
        grid: texts, people and seconds.
        pilot: labels of pairs with two or more, whose classes are those of `question` in the order of its codes.

    Raises:
        InputError: fewer than two annotators or texts of a side, shares and kappa that cannot be, a pilot that tells
            nothing, a wish that no overlap meets; the message says what can be had.
    """
    _check_grid(grid, plan)
    source: WidthSource = PilotLabels(plan, question, pilot) if pilot else AssumedLabels(plan, question)
    figure = _figure_name(plan, question)
    width_at = _width_at(source, figure, grid, plan.three)
    recommended = None
    if plan.width is not None:
        recommended = least_share(lambda share: width_at(share).width or float("nan"), plan.width)
        if recommended is None:
            raise InputError(_describe_miss(source, figure, grid, plan, width_at(1.0)))
    names = figure_names(question)
    return OverlapPlan(
        options=plan,
        grid=grid,
        figure=figure,
        rungs=tuple(_rung(source, names, grid, question, share, plan.three) for share in rungs(recommended)),
        recommended=split_labels(recommended, plan.three) if recommended else None,
        basis=source.basis,
        advice=tuple(_advise(source, figure, grid, plan, width_at(recommended or 1.0))),
    )


def _check_grid(grid: GridFacts, plan: Plan) -> None:
    if min(grid.n_hs, grid.n_cn) < 2:
        raise InputError(f"a plan needs 2 HS and 2 CN or more; found {grid.n_hs} and {grid.n_cn}")
    least = 3 if plan.three else 2
    if grid.n_annotators < least:
        raise InputError(f"{least} labels on a pair need {least} annotators or more; found {grid.n_annotators}")


def _figure_name(plan: Plan, question: Closed) -> str:
    alpha, *fleiss = planned_figures(question)
    return {"alpha": alpha, "fleiss": fleiss[0], "mean-kappa": MEANS[0]}[plan.figure]


def _width_at(source: WidthSource, figure: str, grid: GridFacts, three: float) -> Callable[[float], PredictedWidth]:
    return cache(lambda share: source.predict(figure, grid.size(split_labels(share, three))))


def _rung(
    source: WidthSource, names: tuple[str, ...], grid: GridFacts, question: Closed, share: float, three: float
) -> PlanRung:
    overlap = split_labels(share, three)
    size = grid.size(overlap)
    widths = tuple(source.predict(name, size) for name in names)
    return PlanRung(share, overlap, expect_yield(grid, size, source.model, question), widths)


def _describe_miss(source: WidthSource, figure: str, grid: GridFacts, plan: Plan, nearest: PredictedWidth) -> str:
    """Why a wish cannot be met, and what is nearest to it."""
    if nearest.width is None:
        return f"{figure} has no interval even where all pairs have several labels: {nearest.undefined}"
    return (
        f"no overlap makes the interval of {figure} {plan.width:g} wide: with {2 + (plan.three > 0)} labels on every "
        f"pair it is {nearest.width:.3f}, the nearest that can be had with these {grid.n_hs} HS and {grid.n_cn} CN"
        + "".join(f"; {sentence}" for sentence in _advise(source, figure, grid, plan, nearest))
    )


def _advise(source: WidthSource, figure: str, grid: GridFacts, plan: Plan, width: PredictedWidth) -> Iterator[str]:
    """The floor that texts set, and how many more of them would lower it to the wish, or halve it."""
    if not width.floor:
        return
    yield f"endlessly many labels on these texts would leave {width.floor:.3f}"
    below = plan.width is not None and width.floor > plan.width
    wish = plan.width if below and plan.width is not None else width.floor / 2
    for side in ("HS", "CN"):
        name = "n_hs" if side == "HS" else "n_cn"

        def floor(n: int, name: str = name) -> float:
            larger = replace(grid, **{name: n})
            return source.predict(figure, larger.size(split_labels(1.0, plan.three))).floor or 0.0

        n = getattr(grid, name)
        more = more_texts(floor, n, wish, MOST_TEXTS)
        if more:
            yield f"{more:,} {side} instead of {n:,} would leave {wish:.3f}"

"""Plan of an overlap: what each share of pairs with several labels costs and yields (labels, hours, conflicts, tiers,
widths of intervals), and the least that is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from fcpair.errors import InputError
from fcpair.lazy import pd
from fcpair.notebook import Plotted
from fcpair.param_values import as_params
from fcpair.params import USUAL_S, Plan
from fcpair.stages.assignment.width_sources import (
    AssumedLabels,
    PilotLabels,
    PilotSize,
    PredictedWidth,
    WidthSource,
    figure_names,
    planned_figures,
)
from fcpair.stages.questions import Closed
from fcpair.stages.stats.agreement import find_overlap
from fcpair.stages.stats.kappa import MEANS
from fcpair.stages.stats.latent_labels import ClassModel, all_profiles
from fcpair.stages.stats.multi_rater import ALPHA
from fcpair.stages.stats.paired_tests import least_number
from fcpair.stages.stats.predicted_widths import OverlapSize

NAMES = {"n_hs": "HS", "n_cn": "CN"}
BOTH, SIDES = ("n_hs", "n_cn"), (("n_hs",), ("n_cn",))
MOST_TIMES = 10  # as many texts of a side, as far as a plan looks for some that lower a floor
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
class OverlapPlan(Plotted):
    """A ladder of overlaps for a grid, with the least that meets the wish.

    `recommended` is the overlap for the `figure` wished for, `grid.assigned` where that is enough, None without a wish.
    From a pilot the high end of the range meets it there, the likeliest width from `likeliest_share` of the pairs on.
    `basis` says what it rests on, `advice` what else narrows intervals; `halving` is the least pilot that halves the
    range.
    """

    options: Plan
    grid: GridFacts
    figure: str
    rungs: tuple[PlanRung, ...]
    recommended: Mapping[int, float] | None
    basis: tuple[str, ...]
    advice: tuple[str, ...]
    halving: PilotSize | None = None
    likeliest_share: float | None = None

    @property
    def assigned(self) -> Mapping[int, float]:
        """The overlap that is assigned already."""
        return self.grid.overlap_at(0.0, 0.0)

    @property
    def recommended_rung(self) -> PlanRung | None:
        """The rung of the recommended overlap."""
        return next((rung for rung in self.rungs if rung.overlap == self.recommended), None)

    @property
    def next_step(self) -> str | None:
        """The step from what is assigned to the recommended overlap; None before pairs are assigned, or a wish."""
        if not self.recommended or not self.grid.assigned:
            return None
        if self.recommended == self.assigned:
            return "what is assigned is enough, and an overlap can only be raised"
        flags = " ".join(f"--overlap {n}:{share:g}" for n, share in self.recommended.items())
        return f"`fcpair assign --more {flags}` raises the overlap"

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return {
            "options": as_params(self.options),
            "grid": {name: value for name, value in vars(self.grid).items() if name != "assigned"},
            "assigned": _as_text_keys(self.assigned) if self.grid.assigned else None,
            "figure": self.figure,
            "recommended": _as_text_keys(self.recommended) if self.recommended else None,
            "likeliest_share": self.likeliest_share,
            "next_step": self.next_step,
            "rungs": [
                {"share": rung.share, "overlap": _as_text_keys(rung.overlap), **vars(rung.expected)}
                | {"widths": [asdict(width) for width in rung.widths]}
                for rung in self.rungs
            ],
            "basis": list(self.basis),
            "advice": list(self.advice),
            "halving": self.halving._asdict() if self.halving else None,
        }

    columns = COLUMNS

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each figure of each rung: the costs and yields of the rung, then the fields of `PredictedWidth`."""
        for rung in self.rungs:
            for width in rung.widths:
                yield {"share": rung.share, **vars(rung.expected), **vars(width), "figure": width.name}

    def _summary(self) -> str:
        if self.recommended is None:
            return f"{len(self.rungs)} overlaps of {self.grid.n_pairs:,} pairs"
        return f"overlap {', '.join(f'{m}:{share:.4g}' for m, share in self.recommended.items())} for {self.figure}"


def _as_text_keys(overlap: Mapping[int, float]) -> dict[str, float]:
    return {str(n_labels): share for n_labels, share in overlap.items()}


def plan_grid(
    plan: Plan, question: Closed, pilot: pd.DataFrame | None = None, assigned: AssignedPairs | None = None
) -> OverlapPlan:
    """The ladder of overlaps of a grid, and the least overlap at which an interval is as narrow as wished.

    `pilot` has the labels of a pilot, as `find_overlap` takes them, whose shares and kappa the labels have then;
    `assigned` what is assigned already. Raises InputError for a `plan` without numbers of texts and people, fewer than
    two annotators or texts of a side, shares and kappa that cannot be, a pilot that tells nothing, a wish that no
    overlap meets, with what can be had.
    """
    if plan.hs is None or plan.cn is None or plan.annotators is None:
        numbers = {"hs": plan.hs, "cn": plan.cn, "annotators": plan.annotators}
        missing = ", ".join(f"`{name}`" for name, number in numbers.items() if number is None)
        raise InputError(f"it is not known yet how many texts and people there will be; give {missing} as well")
    seconds = USUAL_S if plan.seconds is None else plan.seconds
    grid = GridFacts(plan.hs, plan.cn, plan.annotators, seconds, plan.validated, plan.valid, assigned)
    if len(question.definite) == len(question.codes):
        plan = replace(plan, not_sure=0.0)
    overlap, least = None, 3 if plan.three else 2
    if pilot is not None:
        if (n_people := pilot["annotator"].nunique()) < 2:
            raise InputError(
                f"the pilot tells no width: {n_people} annotator{'s' * (n_people != 1)} labelled it; have two or more "
                "people label the same pairs"
            )
        if not len((overlap := find_overlap(pilot, question)).pair):
            raise InputError(
                "the pilot tells no width: no pair in it has two labels; have two people label the same pairs"
            )
    if min(grid.n_hs, grid.n_cn) < 2:
        raise InputError(f"a plan needs 2 HS and 2 CN or more; found {grid.n_hs} and {grid.n_cn}")
    if grid.n_annotators < least:
        raise InputError(f"{least} labels on a pair need {least} annotators or more; found {grid.n_annotators}")
    source: WidthSource = PilotLabels(plan, question, overlap) if overlap else AssumedLabels(plan, question)
    alpha, *fleiss = planned_figures(question)
    figure = {"alpha": alpha, "fleiss": fleiss[0], "mean-kappa": MEANS[0]}[plan.coefficient]

    def width_at(share: float) -> PredictedWidth:
        return source.predict(figure, grid.size(grid.overlap_at(share, plan.three)))

    recommended = likeliest = None
    if plan.width is not None:
        recommended = least_share(lambda share: width_at(share).safe, plan.width, grid.assigned_share)
        likeliest = least_share(lambda share: width_at(share).width, plan.width, grid.assigned_share)
        if recommended is None:
            raise InputError(_describe_miss(source, figure, grid, plan, width_at(1.0), likeliest))
    top, ladder = recommended or 1.0, []
    for share in rungs(recommended, grid.assigned_share):
        size = grid.size(shares := grid.overlap_at(share, plan.three))
        widths = tuple(source.predict(name, size) for name in figure_names(question))
        ladder.append(PlanRung(share, shares, expect_yield(grid, size, source.model, question), widths))
    halving = None
    if isinstance(source, PilotLabels):
        halving = source.find_halving(grid.size(grid.overlap_at(top, plan.three)))
    return OverlapPlan(
        options=plan,
        grid=grid,
        figure=figure,
        rungs=tuple(ladder),
        recommended=grid.overlap_at(recommended, plan.three) if recommended else None,
        basis=(
            *source.basis,
            f"hours are at {grid.seconds:g} seconds a label; {grid.validated:.0%} of the pairs are validated, and "
            f"validators agree with {grid.valid:.0%} of these",
        ),
        advice=tuple(_advise(source, figure, grid, plan, width_at(top))),
        halving=halving,
        likeliest_share=likeliest if isinstance(source, PilotLabels) else None,
    )


def _describe_miss(
    source: WidthSource, figure: str, grid: GridFacts, plan: Plan, nearest: PredictedWidth, likeliest: float | None
) -> str:
    """Say why a wish cannot be met, and what is nearest to it."""
    if nearest.safe is None:
        return f"{figure} has no interval even where all pairs have several labels: {nearest.undefined}"
    surely = "" if nearest.high is None else " for sure"
    ends = "" if nearest.low is None else f"{nearest.low:.3f} to "
    all_by_all = OverlapSize(grid.n_hs, grid.n_cn, grid.n_annotators, {grid.n_annotators: grid.n_pairs})
    by_all = source.predict(figure, all_by_all).safe if figure in ALPHA.values() else None
    return (
        f"no overlap makes the interval of {figure} {plan.width:g} wide{surely}: with {2 + (plan.three > 0)} labels on "
        f"every pair of these {grid.n_hs} HS and {grid.n_cn} CN it is {ends}{nearest.safe:.3f}"
        + (f", and with the labels of all {grid.n_annotators} annotators {by_all:.3f}" if by_all else "")
        + ("" if likeliest is None else f"; the likeliest width is as wished from an overlap of {likeliest:.4g} on")
        + "".join(f"; {sentence}" for sentence in _advise(source, figure, grid, plan, nearest))
    )


def _advise(source: WidthSource, figure: str, grid: GridFacts, plan: Plan, width: PredictedWidth) -> Iterator[str]:
    """The floor that texts set, and how many more of them would lower it to the wish, or halve it."""
    if not width.floor:
        yield source.independence
        return
    yield f"endlessly many labels on these texts would leave {width.floor:.3f}"
    below = plan.width is not None and width.floor > plan.width
    wish = plan.width if below and plan.width is not None else width.floor / 2
    factors: dict[tuple[str, ...], float | None] = {
        sides: _least_factor(source, figure, grid, plan.three, sides, wish) for sides in SIDES
    }
    if not any(factors.values()):
        factors = {BOTH: _least_factor(source, figure, grid, plan.three, BOTH, wish)}
    for sides, factor in factors.items():
        if factor is not None:
            larger = " and ".join(f"{ceil(getattr(grid, name) * factor):,} {NAMES[name]}" for name in sides)
            now = " and ".join(f"{getattr(grid, name):,}" for name in sides)
            yield f"{larger} instead of {now} would leave {wish:.3f}"
    if not any(factors.values()):
        yield f"not even {MOST_TIMES} times as many HS and CN would leave {wish:.3f}"


def _least_factor(
    source: WidthSource, figure: str, grid: GridFacts, three: float, sides: tuple[str, ...], wish: float
) -> float | None:
    """By how much sides of a grid have to be enlarged for the floor to be as wished; None where it is too much."""

    def floor(thousandths: int) -> float:
        larger = replace(grid, **{name: ceil(getattr(grid, name) * thousandths / 1000) for name in sides})
        return source.floor(figure, larger.size(larger.overlap_at(1.0, three)))

    thousandths = least_number(lambda thousandths: floor(thousandths) <= wish, 1000, 1000 * MOST_TIMES)
    return None if thousandths is None else thousandths / 1000


LADDER = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
FINE = 0.01  # how near to the least share a recommended one is
SHARES = 10_000  # in 1: shares are rounded up to so many
PLACES = 6  # of the shares of an overlap
HOUR_S = 3600.0


@dataclass(frozen=True)
class AssignedPairs:
    """Pairs that are assigned already, by the number of people; and those with two or more, by their HS and CN."""

    by_labels: Mapping[int, int]
    of_hs: tuple[int, ...]
    of_cn: tuple[int, ...]

    @property
    def several(self) -> dict[int, int]:
        """Those that two or more people have, by the number of people."""
        return {m: n for m, n in self.by_labels.items() if m > 1}


@dataclass(frozen=True)
class GridFacts:
    """A grid to be labelled: its texts and people, the seconds that a label takes, the share of the pairs that get a
    verdict (`validated`), that of the verdicts that agree (`valid`), and what is `assigned` already.
    """

    n_hs: int
    n_cn: int
    n_annotators: int
    seconds: float
    validated: float
    valid: float
    assigned: AssignedPairs | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.n_hs * self.n_cn

    @property
    def assigned_share(self) -> float:
        """The share of the pairs that are assigned to two people or more already, which no plan lowers."""
        return sum(self.assigned.several.values()) / self.n_pairs if self.assigned else 0.0

    def overlap_at(self, share: float, three: float) -> dict[int, float]:
        """The overlap with such a share of pairs with several labels, and a share `three` of new ones with three."""
        several = self.assigned.several if self.assigned else {}
        shares = {2: 0.0, 3: 0.0} | {m: n / self.n_pairs for m, n in several.items()}
        added = max(share - self.assigned_share, 0.0)
        of_three = round(added * three, PLACES)
        shares[2] += added - of_three
        shares[3] += of_three
        return {m: part for m, part in sorted((m, round(part, PLACES)) for m, part in shares.items()) if part}

    def size(self, overlap: Mapping[int, float]) -> OverlapSize:
        """The overlap in pairs, as `assign` rounds it."""
        pairs = {m: round(share * self.n_pairs) for m, share in sorted(overlap.items())}
        of_texts = (self.assigned.of_hs, self.assigned.of_cn) if self.assigned else ()
        return OverlapSize(self.n_hs, self.n_cn, self.n_annotators, {m: n for m, n in pairs.items() if n}, *of_texts)


@dataclass(frozen=True)
class Yield:
    """Costs and yields to be expected of an overlap on a grid: `labels` and `hours`, without breaks, of all annotators
    and of each; `conflicts`, which no rule but unanimity decides; and pairs in tiers as `partition` has them.
    """

    labels: int
    hours: float
    pairs_each: float
    hours_each: float
    conflicts: float
    diamond: float
    gold: float
    silver: float
    bronze: float


def expect_yield(grid: GridFacts, size: OverlapSize, model: ClassModel, question: Closed) -> Yield:
    """Costs and yields where labels are as the model has them: one on every pair, and more on those of `size`."""
    by_labels = {1: grid.n_pairs - size.n_pairs, **size.pairs}
    labels, is_definite = sum(m * n for m, n in by_labels.items()), np.isin(question.codes, question.definite)
    n_decided = n_alike = 0.0  # pairs whose definite labels are of one class, of which they have some; and all labels
    for m, n in by_labels.items():
        profiles = all_profiles(m, len(model.shares))
        definite, probabilities = profiles[:, is_definite], n * model.probabilities(profiles)
        n_decided += float(probabilities[np.count_nonzero(definite, axis=1) == 1].sum())
        n_alike += float(probabilities[(definite == m).any(axis=1)].sum()) if m > 1 else 0.0
    hours, verdicts = labels * grid.seconds / HOUR_S, grid.validated
    each = (labels / grid.n_annotators, hours / grid.n_annotators)
    diamond, gold, silver = (verdicts * grid.valid * n for n in (n_alike, size.n_pairs, grid.n_pairs))
    return Yield(labels, hours, *each, grid.n_pairs - n_decided, diamond, gold, silver, verdicts * grid.n_pairs)


def least_share(width: Callable[[float], float | None], wish: float, lowest: float = 0.0) -> float | None:
    """The least share of pairs with several labels, from `lowest` on, at which a width is as wished, if any is."""

    def is_enough(share: float) -> bool:
        return (width_there := width(share)) is not None and width_there <= wish

    shares = rungs(None, lowest)
    if (high := next(filter(is_enough, shares), None)) is None or high == lowest:
        return high
    low = max((share for share in shares if share < high), default=0.0)
    while high - low > FINE * high:
        if (middle := ceil((low + high) / 2 * SHARES) / SHARES) == high:
            break
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def rungs(recommended: float | None, lowest: float = 0.0) -> Sequence[float]:
    """The shares of a ladder, with the lowest and the recommended one among them, ascending."""
    return tuple(sorted(share for share in {*LADDER, lowest, recommended or lowest} - {0.0} if share >= lowest))

"""Result of a calibration: who has answered what, and agreement before the discussion and after it, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fcpair.notebook import Result, frame_of
from fcpair.params import CalibrationCounts
from fcpair.records import Figure

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("part", "figure", "before", "before_low", "before_high", "before_n"),
    *("after", "after_low", "after_high", "after_n", "undefined"),
)


@dataclass(frozen=True)
class CalibratedPerson:
    """Number of pairs that a person has answered in the calibration, and has still to answer: first, and again."""

    name: str
    answered: int
    open: int
    again: int
    again_open: int


@dataclass(frozen=True)
class FigureChange:
    """A figure of agreement on a part of the round before the discussion; `after` is None as long as there is none."""

    part: str
    before: Figure
    after: Figure | None


@dataclass(frozen=True, repr=False)
class CalibrationResult(Result):
    """Result of a calibration so far.

    `round` is the round that it is for, `phase` how far it is (answer, discuss, closed), `counts` which answers count.
    `n_pairs` are in the batch; on `n_differing` of them answers differ before the discussion, on `n_differing_after`
    after it, None before it is opened. `figures` are over the whole batch: after the discussion with each person's
    latest answer, so that those on which nobody differed are in both.
    """

    round: str
    phase: str
    counts: CalibrationCounts
    level: float
    n_pairs: int
    people: tuple[CalibratedPerson, ...]
    n_differing: int
    n_differing_after: int | None
    figures: tuple[FigureChange, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row for each figure, with its value, interval and n before and after; `undefined` says why one has none."""
        return frame_of(self.rows(), COLUMNS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`."""
        for change in self.figures:
            before, after = change.before, change.after
            yield {
                "part": change.part,
                "figure": before.name,
                **{"before": before.value, "before_low": before.low, "before_high": before.high, "before_n": before.n},
                "after": after.value if after else None,
                "after_low": after.low if after else None,
                "after_high": after.high if after else None,
                "after_n": after.n if after else None,
                "undefined": before.undefined or (after.undefined if after else None),
            }

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        values = {name: getattr(self, name) for name in ("round", "phase", "counts", "level", "n_pairs")}
        values |= {"differing": {"before": self.n_differing, "after": self.n_differing_after}}
        return values | {"people": [asdict(one) for one in self.people], "figures": list(self.rows())}

    def _summary(self) -> str:
        after = "" if self.n_differing_after is None else f", on {self.n_differing_after:,} after the discussion"
        return f"{self.n_pairs:,} pairs, {self.phase}; people differ on {self.n_differing:,}{after}"

"""Records of what a look at a study finds: why a pair is where it is, whether all is well, what a calibration found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fcpair.notebook import Result
from fcpair.params import CalibrationCounts
from fcpair.records import Figure


@dataclass(frozen=True)
class TierCheck:
    """Whether a pair is in a tier, and what keeps it out."""

    tier: str
    rule: str
    passed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """The reasons why a pair is where it is: where it comes from, every answer and decision, and what each tier says.

    `tier` is the best of the four that it is in, and `own_tiers` are those of the study's own.
    `second_look` says that it was decided before its labels changed.
    """

    cell_id: int
    hs: str
    cn: str
    hs_metadata: dict[str, str]
    cn_metadata: dict[str, str]
    brought_in_by: tuple[dict[str, Any], ...]
    answers: tuple[dict[str, Any], ...]
    decisions: tuple[dict[str, Any], ...]
    tier: str | None
    checks: tuple[TierCheck, ...]
    discarded: bool = False
    second_look: bool = False
    own_tiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """One check of a study: what should be true (`asks`), of how many things (`n`, `of`), and what it `found`.

    `found` has a sentence for each thing that is not as it should be, and `advice` says what to do then; `note` says
    what could not be checked, or that a grid was drawn.
    """

    name: str
    asks: str
    n: int
    of: str
    found: tuple[str, ...]
    advice: str
    note: str = ""


@dataclass(frozen=True)
class Health:
    """Result of examining a study.

    `digest` is that of all answers, decisions, texts, guidelines, names and the scheme: as long as it is the same,
    these are. `notes` are sentences on what waits for a second look. `schema` is the revision of the tables, empty
    where they cannot be read. `settings_digest` and `log_digest` are those of all settings and of the run log, empty
    where these cannot be read.
    """

    file: str
    checks: tuple[CheckResult, ...]
    digest: str
    notes: tuple[str, ...] = ()
    schema: str = ""
    settings_digest: str = ""
    log_digest: str = ""

    @property
    def is_sound(self) -> bool:
        """Return whether no check found anything."""
        return not any(check.found for check in self.checks)


@dataclass(frozen=True)
class CopyReport:
    """A study that was copied: where from, how many rows each table has, and the digest of all of them, on both sides.

    The digest does not depend on the database that a study is in.
    """

    source: str
    n_rows: Mapping[str, int]
    digest: str


@dataclass(frozen=True)
class BackupReport:
    """A backup: of which kind of database, of which schema, written by which fcpair and when.

    `health` is what an examination of its study found; None where that was not possible.
    """

    kind: str
    schema: str
    fcpair: str
    at: str
    health: Health | None


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

    columns = (
        *("part", "figure", "before", "before_low", "before_high", "before_n"),
        *("after", "after_low", "after_high", "after_n", "undefined"),
    )

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each figure, with its value, interval and n before and after; `undefined` says why one has none."""
        for change in self.figures:
            numbers: list[Any] = []
            for figure in (change.before, change.after):
                numbers += (figure.value, figure.low, figure.high, figure.n) if figure else [None] * 4
            undefined = change.before.undefined or (change.after.undefined if change.after else None)
            yield dict(zip(self.columns, (change.part, change.before.name, *numbers, undefined), strict=True))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        values = {name: getattr(self, name) for name in ("round", "phase", "counts", "level", "n_pairs")}
        values |= {"differing": {"before": self.n_differing, "after": self.n_differing_after}}
        return values | {"people": [asdict(person) for person in self.people], "figures": list(self.rows())}

    def _summary(self) -> str:
        after = "" if self.n_differing_after is None else f", on {self.n_differing_after:,} after the discussion"
        return f"{self.n_pairs:,} pairs, {self.phase}; people differ on {self.n_differing:,}{after}"

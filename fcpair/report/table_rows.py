"""Rows of the report's tables that are more than a record's own fields."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from fcpair.params import Adjudicate
from fcpair.records import RunRecord
from fcpair.report import formatting
from fcpair.report.data import TierFigures
from fcpair.report.figures import colours
from fcpair.sentences import Answer, mark, say
from fcpair.stages.adjudication.partition import CELL_HEADS
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import positive_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fcpair.report.figures.forest import Forest
    from fcpair.stages.stats.agreement import Agreement

Row = list[str]
# The scheme stands among the study's facts, the seed in a column of its own.
SHOWN_ELSEWHERE = ("scheme", "seed")


@dataclass(frozen=True)
class TableSheet:
    """A table whose first column names its rows, the figure of it where one is drawn, and the sentences `text` and
    `notes`.
    """

    title: str
    text: str
    header: Sequence[str]
    rows: list[Row]
    notes: tuple[str, ...] = ()
    picture: Forest | None = None


def tier_tables(tiers: TierFigures, question: Closed) -> list[TableSheet]:
    """The sizes, the balance and the labels of each tier, best first."""
    sizes, balance, labels = tiers.tables
    positive = [Answer(formatting.named(name)) for name in positive_names(question)]
    cells, rows, columns = list(sizes[0])[1:4]
    kinds, per_cell = list(balance[0])[2:4], list(labels[0])[2:]
    if cells == CELL_HEADS.cells:
        heads = [mark("Cells"), mark("Rows"), mark("Columns")]
        contents = say("Cells, and the distinct rows and columns in them.")
        shares = mark("Positive is: %(answers)s. Shares are of the tier's cells.")
        per, how_many = mark("Table 3. Labels per cell"), say("How many cells of a tier rest on how many labels.")
    else:
        heads = [mark("Pairs"), rows.upper(), columns.upper()]
        contents = say("Pairs, and the distinct %(rows)s and %(columns)s in them.", rows=heads[1], columns=heads[2])
        shares = mark("Positive is: %(answers)s. Shares are of the tier's pairs.")
        per, how_many = mark("Table 3. Labels per pair"), say("How many pairs of a tier rest on how many labels.")
    head = [mark("Tier"), heads[0]]
    empty = say("undefined, because %(reason)s", reason=say("the tier is empty"))

    titles = (mark("Table 1. Size of the tiers"), mark("Table 2. Balance of final labels"))
    balance_heads = [*head, mark("Positive"), mark("Not positive"), mark("Share positive")]
    positive_shares = [formatting.share(row[kinds[0]], row[cells]) if row[cells] else empty for row in balance]
    balance_rows = [[*_row(row, cells, *kinds), of] for row, of in zip(balance, positive_shares, strict=True)]
    return [
        TableSheet(titles[0], contents, [*head, *heads[1:]], [_row(row, cells, rows, columns) for row in sizes]),
        TableSheet(titles[1], say(shares, answers=positive), balance_heads, balance_rows),
        TableSheet(per, how_many, [*head, *per_cell], [_row(row, cells, *per_cell) for row in labels]),
    ]


def _row(row: dict[Any, Any], *names: str) -> Row:
    return [str(row["tier"]).capitalize(), *(formatting.count(int(row[name])) for name in names)]


@dataclass(frozen=True)
class KappaCell:
    """One cell of the map annotators x annotators: `state` is `same`, `apart`, `undefined` or `kappa`."""

    state: str
    kappa: str = ""
    n: int = 0

    @property
    def style(self) -> str:
        """Ground and ink of a kappa in a report, by the map cividis, for which matplotlib is loaded."""
        ground = colours.cividis(float(self.kappa))
        return f"background:{colours.to_hex(ground)};color:{colours.to_hex(colours.ink_on(ground))}"


def kappa_map(agreement: Agreement) -> list[tuple[str, list[KappaCell]]]:
    """One row of cells for each annotator who shares a pair with another, in the order of their names."""
    subset_by_pair = {frozenset(subset.annotators): subset for subset in agreement.subsets}
    names = sorted({name for subset in agreement.subsets for name in subset.annotators})

    def cell(one: str, other: str) -> KappaCell:
        if (subset := subset_by_pair.get(frozenset((one, other)))) is None:
            return KappaCell("same" if one == other else "apart")
        if subset.kappa.value is None:
            return KappaCell("undefined", n=subset.n)
        return KappaCell("kappa", formatting.decimal(subset.kappa.value), subset.n)

    return [(name, [cell(name, other) for other in names]) for name in names]


@dataclass(frozen=True)
class LogLine:
    """A run, or the decisions by hand in a row that share one line."""

    first: RunRecord
    last: RunRecord
    n: int

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Parameters of the run; for several decisions, who made how many."""
        if self.n > 1:
            return [(formatting.counted(self.n, "decision"), f"by {self.first.params.get('by')}")]
        return formatting.settings(
            {name: value for name, value in self.first.params.items() if name not in SHOWN_ELSEWHERE}
        )

    @property
    def done(self) -> str:
        """A sentence that says what was done."""
        counted = dict.fromkeys(self.first.counts, self.n) if self.n > 1 else self.first.counts
        return replace(self.first, counts=counted).told

    @property
    def seed(self) -> str:
        """The seed; a dash where nothing was drawn."""
        return str(self.first.params.get("seed", formatting.NOTHING))


def log_lines(runs: tuple[RunRecord, ...]) -> list[LogLine]:
    """The runs in their order; decisions by hand that follow each other by the same person are one line."""

    def key(run: RunRecord) -> tuple[Any, ...]:  # of a decision on a single pair who made it, and of which kind
        is_by_hand = run.stage == Adjudicate.stage and "pair" in run.params
        return (run.params.get("by"), tuple(run.counts)) if is_by_hand else (id(run),)

    return [LogLine(of[0], of[-1], len(of)) for of in (list(group) for _, group in groupby(runs, key))]

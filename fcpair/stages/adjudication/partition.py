"""Diamond, Gold, Silver and Bronze: the rules, who passes them and why, and the tables about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, suggest_name
from fcpair.params import DiamondRule
from fcpair.records import Tier, Verdict
from fcpair.stages.adjudication.adjudicate import Tally
from fcpair.stages.questions import NO_CODE, Closed

if TYPE_CHECKING:
    import pandas as pd

TableRows = list[dict[str, Any]]
Agreement = Literal["any", "unanimous", "majority"]
MOST_LABELS = 3


@dataclass(frozen=True)
class TierRule:
    """Requirements for a pair to be in a tier: so many labels, so much agreement, and a verdict."""

    tier: Tier
    min_labels: int
    agreement: Agreement
    valid: bool

    def __str__(self) -> str:
        agreement = {
            "any": "",
            "unanimous": ", all equal to the final one",
            "majority": ", at least two and more than half equal to the final one",
        }
        labels = f"{self.min_labels} label{'s' * (self.min_labels > 1)} or more{agreement[self.agreement]}"
        return f"{labels}; {'valid' if self.valid else 'valid or not valid'}"


def as_tier(tier: Tier | str) -> Tier:
    """The tier of a name in any capitals; raises InputError with the nearest name for any other."""
    if isinstance(tier, Tier):
        return tier
    names = {one.label: one for one in reversed(Tier)}
    name = str(tier).strip().lower()
    if name not in names:
        raise InputError(f"there is no tier `{tier}`; {suggest_name(name, names, 'expected')}")
    return names[name]


def tier_rules(diamond: DiamondRule = "unanimous") -> tuple[TierRule, ...]:
    """The four rules, Bronze first; each adds a demand to the one before, so the tiers are nested.

    FC-CONAN's text asks Diamond to be unanimous; its published files hold every pair on which at least two of its two
    or three labels equal the final one. `majority` is that rule for any number of labels: at least two, and more than
    half of them all, "not sure" included, equal the final one.
    """
    return (
        TierRule(Tier.BRONZE, 1, "any", valid=False),
        TierRule(Tier.SILVER, 1, "any", valid=True),
        TierRule(Tier.GOLD, 2, "any", valid=True),
        TierRule(Tier.DIAMOND, 2, diamond, valid=True),
    )


@dataclass(frozen=True)
class Evidence:
    """Evidence that the tiers rest on, aligned by pair: all of shape `(n_pairs,)`.

    `final` is the code of the adjudicated label (-1: none, or discarded), `verdict` 1 valid, 0 not valid, -1 none.
    """

    tally: Tally
    final: NDArray[np.int64]
    verdict: NDArray[np.int64]

    @property
    def n_agreeing(self) -> NDArray[np.int64]:
        """Number of labels of each pair that equal the final one."""
        return self.tally.votes(self.final)


def _n_needed(agreement: Agreement, n_labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of its labels that have to equal the final one, for pairs with `n_labels`."""
    if agreement == "any":
        return np.zeros_like(n_labels)
    return n_labels if agreement == "unanimous" else np.maximum(2, n_labels // 2 + 1)


def is_in_tier(rule: TierRule, evidence: Evidence) -> NDArray[np.bool_]:
    """Whether each pair passes `rule`, shape `(n_pairs,)`."""
    n_labels = evidence.tally.n_labels
    verdict = evidence.verdict == Verdict.AGREE if rule.valid else evidence.verdict != NO_CODE
    final = evidence.final != NO_CODE
    enough = (n_labels >= rule.min_labels) & (evidence.n_agreeing >= _n_needed(rule.agreement, n_labels))
    return np.asarray(final & verdict & enough)


def grade(evidence: Evidence, rules: tuple[TierRule, ...]) -> NDArray[np.int64]:
    """The best tier of each pair, shape `(n_pairs,)`: 4 Diamond, 3 Gold, 2 Silver, 1 Bronze, 0 none."""
    return np.asarray(np.sum([is_in_tier(rule, evidence) for rule in rules], axis=0, dtype=np.int64))


def failed_demands(evidence: Evidence, rule: TierRule, row: int) -> list[str]:
    """List what keeps the pair in `row` out of the tier of `rule`; empty when it is in."""
    n_labels, final, verdict = int(evidence.tally.n_labels[row]), evidence.final[row], evidence.verdict[row]
    n_agreeing = int(evidence.n_agreeing[row])
    n_needed = int(_n_needed(rule.agreement, evidence.tally.n_labels)[row])
    checks = (
        (final == NO_CODE, "it has no final label"),
        (verdict == NO_CODE, "no validator has given a verdict on its label"),
        (rule.valid and verdict == Verdict.DISAGREE, "the validators did not agree with its label"),
        (n_labels < rule.min_labels, f"it has {n_labels} of {rule.min_labels} labels"),
        (final != NO_CODE and n_agreeing < n_needed, f"{n_agreeing} of {n_labels} labels equal the final one"),
    )
    return [reason for failed, reason in checks if failed]


@dataclass(frozen=True)
class ColumnHeads:
    """Names that tables about tiers use for cells, for what rows and columns hold, and for the two kinds of labels."""

    cells: str
    rows: str
    columns: str
    positive: str
    other: str


PAIR_HEADS = ColumnHeads("pairs", "hs", "cn", "appropriate", "not_appropriate")
CELL_HEADS = ColumnHeads("cells", "rows", "columns", "positive", "not_positive")
"""Those of a grid whose sides are not HS and CN."""


def tier_tables(
    pairs: pd.DataFrame, question: Closed, rules: tuple[TierRule, ...], heads: ColumnHeads = PAIR_HEADS
) -> list[pd.DataFrame]:
    """The rows of `tier_table_rows` as frames."""
    import pandas as pd

    return [
        pd.DataFrame(rows)
        for rows in tier_table_rows({str(one): pairs[one].to_numpy() for one in pairs}, question, rules, heads)
    ]


def tier_table_rows(
    pairs: Mapping[str, NDArray[np.int64]],
    question: Closed,
    rules: tuple[TierRule, ...],
    heads: ColumnHeads = PAIR_HEADS,
) -> tuple[TableRows, TableRows, TableRows]:
    """FC-CONAN's Tables 1 to 3, best tier first, row by row.

    Args:
        pairs: a value per graded pair: `tier` (0 to 4), `hs_id`, `cn_id`, `final` (code), `n_labels`.
        question: of the labels.
        rules: of the tiers.
        heads: what the columns are called.

    Returns:
        Table 1: `tier`, `pairs`, `hs`, `cn`, `rule`. Table 2: `tier`, `pairs`, `appropriate`, `not_appropriate`,
        `share` (of appropriate pairs, 0 to 1; None for an empty tier). Table 3: `tier`, `pairs`, and how many of
        them rest on three or more, two, and one label. Other `heads` stand in place of these.
    """
    sizes: TableRows = []
    balance: TableRows = []
    labels: TableRows = []
    for rule in reversed(rules):
        is_in = pairs["tier"] >= rule.tier
        n = int(is_in.sum())
        head = {"tier": rule.tier.label, heads.cells: n}
        n_rows, n_columns = (len(np.unique(pairs[side][is_in])) for side in ("hs_id", "cn_id"))
        sizes.append({**head, heads.rows: n_rows, heads.columns: n_columns, "rule": str(rule)})
        positive = int(np.isin(pairs["final"][is_in], list(question.positive)).sum())
        balance.append(
            {**head, heads.positive: positive, heads.other: n - positive, "share": positive / n if n else None}
        )
        n_labels = np.minimum(pairs["n_labels"][is_in], MOST_LABELS)
        labels.append({**head, **{_label_column(k): int((n_labels == k).sum()) for k in range(MOST_LABELS, 0, -1)}})
    return sizes, balance, labels


def _label_column(n: int) -> str:
    return {1: "1 label", MOST_LABELS: f"{MOST_LABELS}+ labels"}.get(n, f"{n} labels")

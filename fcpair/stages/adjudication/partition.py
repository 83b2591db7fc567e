"""The tiers of a study: the rules, which pairs pass them and why, and the tables about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fcpair.errors import InputError, suggest_name
from fcpair.params import Partition
from fcpair.records import TIERS, Tier, Verdict
from fcpair.stages.adjudication.adjudicate import Tally
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.tier_plans import TierPlan, chain_of, read_tiers

if TYPE_CHECKING:
    import pandas as pd

TableRows = list[dict[str, Any]]
MOST_LABELS = 3


_AGREEMENT = {
    ("unanimous", "answer"): ", all equal to the final one",
    ("unanimous", "side"): ", all on the side of the final one",
    ("majority", "answer"): ", at least two and more than half equal to the final one",
    ("majority", "side"): ", at least two and more than half on the side of the final one",
}
_VERDICTS = {"accepted": "valid", "any": "valid or not valid", "none": "with or without a verdict"}


@dataclass(frozen=True)
class TierRule:
    """The rule of a tier: its `plan`, then those of the tiers that it is within, in `plans`; a pair must pass all."""

    tier: str
    plans: tuple[TierPlan, ...]

    @property
    def plan(self) -> TierPlan:
        """The tier's own requirements."""
        return self.plans[0]

    def __str__(self) -> str:
        plan = self.plan
        counted = "definite label" if plan.counted == "definite" else "label"
        agreement = _AGREEMENT.get((plan.agreement, plan.agreeing), "")
        answers = f"; final label {' or '.join(plan.answers)}" if plan.answers else ""
        within = f"; within {plan.within}" if plan.within else ""
        n_labels = plan.least_labels
        labels = f"{n_labels} {counted}{'s' * (n_labels > 1)} or more{agreement}"
        return f"{labels}; {_VERDICTS[plan.verdict]}{answers}{within}"


def tier_rules(options: Partition | None = None) -> tuple[TierRule, ...]:
    """The rules of all tiers of a study: Bronze, Silver, Gold and Diamond, then its own in their order.

    Each of the four adds a demand to the one before, so they are nested. FC-CONAN's text asks Diamond to be unanimous;
    its published files hold every pair on which at least two of its two or three labels equal the final one. `majority`
    is that rule for any number of labels: at least two, and more than half of them all, "not sure" included, equal the
    final one.
    """
    options = options or Partition()
    plans = {
        Tier.BRONZE.label: TierPlan(1, verdict="any"),
        Tier.SILVER.label: TierPlan(1),
        Tier.GOLD.label: TierPlan(2),
        Tier.DIAMOND.label: TierPlan(2, agreement=options.diamond),
        **read_tiers(options.own_tiers),
    }
    return tuple(TierRule(name, chain_of(name, plans)) for name in plans)


def find_rule(rules: tuple[TierRule, ...], tier: Tier | str) -> TierRule:
    """The rule of a tier by its name, in any capitals; raises InputError with the nearest name for any other."""
    name = tier.label if isinstance(tier, Tier) else str(tier).strip().lower()
    names = [rule.tier for rule in best_first(rules)]
    if name not in names:
        raise InputError(f"there is no tier `{tier}`; {suggest_name(name, names, 'expected')}")
    return next(rule for rule in rules if rule.tier == name)


def best_first(rules: tuple[TierRule, ...]) -> list[TierRule]:
    """The rules as tables list them: the four, the best first, then the study's own in their order."""
    n_four = len(TIERS)
    return [*reversed(rules[:n_four]), *rules[n_four:]]


@dataclass(frozen=True)
class Evidence:
    """Evidence that the tiers rest on, aligned by pair: all of shape `(n_pairs,)`.

    `final` is the code of the adjudicated label (-1: none, or discarded), `verdict` 1 valid, 0 not valid, -1 none.
    """

    tally: Tally
    final: NDArray[np.int64]
    verdict: NDArray[np.int64]

    def n_labels(self, plan: TierPlan) -> NDArray[np.int64]:
        """The number of labels of each pair that count for a tier."""
        if plan.counted == "all":
            return self.tally.n_labels
        return np.asarray(self.tally.counts[:, self._columns(self.tally.question.definite)].sum(axis=1))

    def n_agreeing(self, plan: TierPlan) -> NDArray[np.int64]:
        """The number of labels of each pair that agree with the final one."""
        if plan.agreeing == "answer":
            return self.tally.votes(self.final)
        question = self.tally.question
        positive, definite = set(question.positive), question.definite
        sides = [[code for code in definite if (code in positive) == is_positive] for is_positive in (False, True)]
        votes = [self.tally.counts[:, self._columns(side)].sum(axis=1) for side in sides]
        return np.where(self.final == NO_CODE, 0, np.where(np.isin(self.final, list(positive)), votes[1], votes[0]))

    def _columns(self, codes: Iterable[int]) -> list[int]:
        return [self.tally.question.codes.index(code) for code in codes]

    def has_answer(self, plan: TierPlan) -> NDArray[np.bool_]:
        """Whether the final label of each pair is one that the tier lets in."""
        if not plan.answers:
            return np.asarray(self.final != NO_CODE)
        codes = [choice.code for choice in self.tally.question if choice.name in plan.answers]
        return np.asarray(np.isin(self.final, codes))


def _n_needed(plan: TierPlan, n_labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of the labels that have to agree with the final one, for pairs with `n_labels`."""
    if plan.agreement == "any":
        return np.zeros_like(n_labels)
    return n_labels if plan.agreement == "unanimous" else np.maximum(2, n_labels // 2 + 1)


def is_in_tier(rule: TierRule, evidence: Evidence) -> NDArray[np.bool_]:
    """Whether each pair passes `rule`, shape `(n_pairs,)`."""
    is_in: NDArray[np.bool_] = np.all([_meets(plan, evidence) for plan in rule.plans], axis=0)
    return is_in


def _meets(plan: TierPlan, evidence: Evidence) -> NDArray[np.bool_]:
    """Whether each pair meets one tier's own requirements."""
    n_labels, verdict = evidence.n_labels(plan), evidence.verdict
    has_verdict = {"none": verdict >= NO_CODE, "any": verdict != NO_CODE, "accepted": verdict == Verdict.AGREE}
    enough = (n_labels >= plan.labels) & (evidence.n_agreeing(plan) >= _n_needed(plan, n_labels))
    final = (evidence.final != NO_CODE) & evidence.has_answer(plan)
    return np.asarray(final & has_verdict[plan.verdict] & enough)


def memberships(evidence: Evidence, rules: tuple[TierRule, ...]) -> NDArray[np.int64]:
    """The tiers of each pair, shape `(n_pairs,)`: a bit for each rule in its order, so that `is_member` finds them."""
    bits = (is_in_tier(rule, evidence).astype(np.int64) << at for at, rule in enumerate(rules))
    return reduce(np.bitwise_or, bits)


def is_member(tiers: ArrayLike, rules: tuple[TierRule, ...], tier: Tier | str) -> NDArray[np.bool_]:
    """Whether each pair, of which `memberships` has the bits, is in a tier; raises what `find_rule` does."""
    at = rules.index(find_rule(rules, tier))
    return (np.asarray(tiers, np.int64) >> at & 1).astype(bool)


def best_of_four(tiers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The best of the four tiers of each pair, of which `memberships` has the bits: 4 Diamond to 1 Bronze, 0 none."""
    return np.asarray(sum((tiers >> at) & 1 for at in range(len(TIERS))))


def own_tier_names(tiers: Iterable[int], rules: tuple[TierRule, ...]) -> list[str]:
    """The names of the study's own tiers that each pair is in, such as `platinum, strict`."""
    own = list(enumerate(rules))[len(TIERS) :]
    return [", ".join(rule.tier for at, rule in own if bits >> at & 1) for bits in tiers]


def name_tiers(tiers: Iterable[int], rules: tuple[TierRule, ...]) -> list[str]:
    """The best of the four tiers of each pair and the study's own, such as `gold, platinum`; empty for none."""
    bits, four = list(tiers), list(enumerate(rules[: len(TIERS)]))
    best = [next((rule.tier for at, rule in reversed(four) if of >> at & 1), "") for of in bits]
    return [", ".join(filter(None, names)) for names in zip(best, own_tier_names(bits, rules), strict=True)]


def failed_demands(evidence: Evidence, rule: TierRule, row: int) -> list[str]:
    """List what keeps the pair in `row` out of the tier of `rule`; empty when it is in."""
    return list(dict.fromkeys(reason for plan in rule.plans for reason in _failed_demands(evidence, plan, row)))


def _failed_demands(evidence: Evidence, plan: TierPlan, row: int) -> list[str]:
    final, verdict, n_counted = evidence.final[row], evidence.verdict[row], evidence.n_labels(plan)
    n_labels, n_agreeing = int(n_counted[row]), int(evidence.n_agreeing(plan)[row])
    n_needed = int(_n_needed(plan, n_counted)[row])
    counted = "definite labels" if plan.counted == "definite" else "labels"
    equal = "equal the final one" if plan.agreeing == "answer" else "are on the side of the final one"
    checks = (
        (final == NO_CODE, "it has no final label"),
        (plan.verdict != "none" and verdict == NO_CODE, "no validator has given a verdict on its label"),
        (plan.verdict == "accepted" and verdict == Verdict.DISAGREE, "the validators did not agree with its label"),
        (n_labels < plan.least_labels, f"it has {n_labels} of {plan.least_labels} {counted}"),
        (
            final != NO_CODE and n_agreeing < min(n_needed, n_labels),
            f"{n_agreeing} of {n_labels} {counted} {equal}",
        ),
        (
            final != NO_CODE and not evidence.has_answer(plan)[row],
            f"its final label is not {' or '.join(plan.answers)}",
        ),
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
    """The rows of `tier_table_rows` and of `verdict_table_rows` as frames."""
    import pandas as pd

    columns = {str(name): pairs[name].to_numpy() for name in pairs}
    tables = (*tier_table_rows(columns, question, rules, heads), verdict_table_rows(columns, heads))
    return [pd.DataFrame(rows) for rows in tables]


def tier_table_rows(
    pairs: Mapping[str, NDArray[np.int64]],
    question: Closed,
    rules: tuple[TierRule, ...],
    heads: ColumnHeads = PAIR_HEADS,
) -> tuple[TableRows, TableRows, TableRows]:
    """The sizes, the balance and the labels of each tier, best first and the study's own after the four, row by row.

    Args:
        pairs: a value per graded pair: `tiers` (bits), `hs_id`, `cn_id`, `final` (code), `n_labels`.
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
    for rule in best_first(rules):
        is_in = is_member(pairs["tiers"], rules, rule.tier)
        n = int(is_in.sum())
        head = {"tier": rule.tier, heads.cells: n}
        n_rows, n_columns = (len(np.unique(pairs[side][is_in])) for side in ("hs_id", "cn_id"))
        sizes.append({**head, heads.rows: n_rows, heads.columns: n_columns, "rule": str(rule)})
        positive = int(np.isin(pairs["final"][is_in], list(question.positive)).sum())
        balance.append(
            {**head, heads.positive: positive, heads.other: n - positive, "share": positive / n if n else None}
        )
        n_labels = np.minimum(pairs["n_labels"][is_in], MOST_LABELS)
        labels.append({**head, **{_label_column(k): int((n_labels == k).sum()) for k in range(MOST_LABELS, 0, -1)}})
    return sizes, balance, labels


def verdict_table_rows(pairs: Mapping[str, NDArray[np.int64]], heads: ColumnHeads = PAIR_HEADS) -> TableRows:
    """How many of the pairs with a final label and a verdict are valid, by how many labels they have, and of all.

    `pairs` is as in `tier_table_rows`, with the `verdict` of each. Columns: `labels`, `pairs`, `valid`, `not_valid` and
    `share`, of those not valid (0 to 1; None without a pair).
    """
    is_checked = (pairs["final"] != NO_CODE) & (pairs["verdict"] != NO_CODE)
    n_labels = np.minimum(pairs["n_labels"][is_checked], MOST_LABELS)
    is_valid = pairs["verdict"][is_checked] == Verdict.AGREE
    groups = {_label_column(k): n_labels == k for k in range(MOST_LABELS, 0, -1)}
    rows: TableRows = []
    for name, is_in in {**groups, "all": n_labels > 0}.items():
        n, n_valid = int(is_in.sum()), int((is_in & is_valid).sum())
        row = {"labels": name, heads.cells: n, "valid": n_valid, "not_valid": n - n_valid}
        rows.append({**row, "share": (n - n_valid) / n if n else None})
    return rows


def _label_column(n: int) -> str:
    return {1: "1 label", MOST_LABELS: f"{MOST_LABELS}+ labels"}.get(n, f"{n} labels")

"""The tiers of a study: the rules, which pairs pass them and why, and the tables about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fcpair.arrays import Bools, Ints
from fcpair.lazy import pd
from fcpair.params import Partition
from fcpair.records import TIERS, Tier, Verdict
from fcpair.sentences import Answer, Id, Sentence, join, mark, mark_plural, say, say_number
from fcpair.stages.adjudication.adjudicate import Tally
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.tier_plans import TierPlan, chain_of, read_tiers, unknown_tier

TableRows = list[dict[str, Any]]
MOST_LABELS = 3


_LABELS = {  # by which labels count, how many agree with the final one, and in what
    ("all", "any", ""): mark_plural("%(n)s label or more", "%(n)s labels or more"),
    ("all", "unanimous", "answer"): mark_plural(
        "%(n)s label or more, all equal to the final one", "%(n)s labels or more, all equal to the final one"
    ),
    ("all", "unanimous", "side"): mark_plural(
        "%(n)s label or more, all on the side of the final one",
        "%(n)s labels or more, all on the side of the final one",
    ),
    ("all", "majority", "answer"): mark_plural(
        "%(n)s label or more, at least two and more than half equal to the final one",
        "%(n)s labels or more, at least two and more than half equal to the final one",
    ),
    ("all", "majority", "side"): mark_plural(
        "%(n)s label or more, at least two and more than half on the side of the final one",
        "%(n)s labels or more, at least two and more than half on the side of the final one",
    ),
    ("definite", "any", ""): mark_plural("%(n)s definite label or more", "%(n)s definite labels or more"),
    ("definite", "unanimous", "answer"): mark_plural(
        "%(n)s definite label or more, all equal to the final one",
        "%(n)s definite labels or more, all equal to the final one",
    ),
    ("definite", "unanimous", "side"): mark_plural(
        "%(n)s definite label or more, all on the side of the final one",
        "%(n)s definite labels or more, all on the side of the final one",
    ),
    ("definite", "majority", "answer"): mark_plural(
        "%(n)s definite label or more, at least two and more than half equal to the final one",
        "%(n)s definite labels or more, at least two and more than half equal to the final one",
    ),
    ("definite", "majority", "side"): mark_plural(
        "%(n)s definite label or more, at least two and more than half on the side of the final one",
        "%(n)s definite labels or more, at least two and more than half on the side of the final one",
    ),
}
_TOO_FEW = {
    "all": mark("it has %(number)s of %(all)s labels"),
    "definite": mark("it has %(number)s of %(all)s definite labels"),
}
_DIFFER = {
    ("all", "answer"): mark("%(number)s of %(all)s labels equal the final one"),
    ("all", "side"): mark("%(number)s of %(all)s labels are on the side of the final one"),
    ("definite", "answer"): mark("%(number)s of %(all)s definite labels equal the final one"),
    ("definite", "side"): mark("%(number)s of %(all)s definite labels are on the side of the final one"),
}
_VERDICTS = {"accepted": mark("valid"), "any": mark("valid or not valid"), "none": mark("with or without a verdict")}


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
        forms = _LABELS[plan.counted, plan.agreement, "" if plan.agreement == "any" else plan.agreeing]
        parts = [say_number(*forms, Id(plan.least_labels)), _VERDICTS[plan.verdict]]
        if plan.answers:
            one, several = mark("final label %(answer)s"), mark("final label %(answer)s or %(answers)s")
            parts.append(_say_answers(plan.answers, one, several))
        if plan.within:
            parts.append(say("within %(name)s", name=plan.within))
        return join(parts, "; ")


def _say_answers(names: Sequence[str], one: str, several: str) -> Sentence:
    """A sentence about one answer, or about several of which any will do."""
    *others, last = map(Answer, names)
    if not others:
        return say(one, answer=last)
    before: str = others[0]
    for name in others[1:]:
        before = say("%(answer)s or %(answers)s", answer=before, answers=name)
    return say(several, answer=before, answers=last)


def tier_rules(options: Partition | None = None) -> tuple[TierRule, ...]:
    """The rules of all tiers of a study: Bronze, Silver, Gold and Diamond, each with one demand more, then its own.

    FC-CONAN's text asks Diamond to be unanimous; its published files hold every pair on which at least two of its two
    or three labels equal the final one. `majority` is that rule for any number of labels, "not sure" included.
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
        raise unknown_tier(name, names)
    return next(rule for rule in rules if rule.tier == name)


def best_first(rules: tuple[TierRule, ...]) -> list[TierRule]:
    """The rules as tables list them: the four, the best first, then the study's own in their order."""
    n_four = len(TIERS)
    return [*reversed(rules[:n_four]), *rules[n_four:]]


@dataclass(frozen=True)
class Evidence:
    """Evidence of tiers, `(n_pairs,)`: the code `final` (-1: none, or discarded), `verdict` 1 valid, 0 not, -1 none."""

    tally: Tally
    final: Ints
    verdict: Ints

    def held_against(self, plan: TierPlan) -> tuple[Ints, Ints, Ints, Bools]:
        """Numbers of labels that count, agree with the final one and have to, and whether a tier lets that one in."""
        question = self.tally.question

        def n_of(codes: Iterable[int]) -> Ints:
            return np.asarray(self.tally.counts[:, [question.codes.index(code) for code in codes]].sum(axis=1))

        n_labels = self.tally.n_labels if plan.counted == "all" else n_of(question.definite)
        n_agreeing, is_let_in = self.tally.votes(self.final), np.asarray(self.final != NO_CODE)
        if plan.agreeing != "answer":
            others = [code for code in question.definite if code not in question.positive]
            on_side = np.where(np.isin(self.final, question.positive), n_of(question.positive), n_of(others))
            n_agreeing = np.where(is_let_in, on_side, 0)
        n_needed = n_labels if plan.agreement == "unanimous" else np.maximum(2, n_labels // 2 + 1)
        if plan.agreement == "any":
            n_needed = np.zeros_like(n_labels)
        if plan.answers:
            codes = [choice.code for choice in question if choice.name in plan.answers]
            is_let_in = np.asarray(np.isin(self.final, codes))
        return n_labels, n_agreeing, n_needed, is_let_in


def is_in_tier(rule: TierRule, evidence: Evidence) -> Bools:
    """Return whether each pair passes `rule`, shape `(n_pairs,)`."""
    verdict = evidence.verdict
    has_verdict = {"none": verdict >= NO_CODE, "any": verdict != NO_CODE, "accepted": verdict == Verdict.AGREE}
    is_in = evidence.final != NO_CODE
    for plan in rule.plans:
        n_labels, n_agreeing, n_needed, is_let_in = evidence.held_against(plan)
        enough = (n_labels >= plan.labels) & (n_agreeing >= n_needed)
        is_in = is_in & is_let_in & has_verdict[plan.verdict] & enough
    return np.asarray(is_in)


def memberships(evidence: Evidence, rules: tuple[TierRule, ...]) -> Ints:
    """The tiers of each pair, shape `(n_pairs,)`: a bit for each rule in its order, so that `is_member` finds them."""
    return reduce(np.bitwise_or, (is_in_tier(rule, evidence).astype(np.int64) << at for at, rule in enumerate(rules)))


def is_member(tiers: ArrayLike, rules: tuple[TierRule, ...], tier: Tier | str) -> Bools:
    """Return whether each pair, of which `memberships` has the bits, is in a tier; raises what `find_rule` does."""
    return (np.asarray(tiers, np.int64) >> rules.index(find_rule(rules, tier)) & 1).astype(bool)


def best_of_four(tiers: Ints) -> Ints:
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
    reasons: list[str] = []
    final, verdict = evidence.final[row], evidence.verdict[row]
    for plan in rule.plans:
        n_labels, n_agreeing, n_needed, is_let_in = (int(figures[row]) for figures in evidence.held_against(plan))
        if final == NO_CODE:
            reasons.append(mark("it has no final label"))
        if plan.verdict != "none" and verdict == NO_CODE:
            reasons.append(mark("no validator has given a verdict on its label"))
        if plan.verdict == "accepted" and verdict == Verdict.DISAGREE:
            reasons.append(mark("the validators did not agree with its label"))
        if n_labels < plan.least_labels:
            reasons.append(say(_TOO_FEW[plan.counted], number=Id(n_labels), all=Id(plan.least_labels)))
        if final != NO_CODE and n_agreeing < min(n_needed, n_labels):
            reasons.append(say(_DIFFER[plan.counted, plan.agreeing], number=Id(n_agreeing), all=Id(n_labels)))
        if final != NO_CODE and not is_let_in:
            one = mark("its final label is not %(answer)s")
            reasons.append(_say_answers(plan.answers, one, mark("its final label is not %(answer)s or %(answers)s")))
    return list(dict.fromkeys(reasons))


@dataclass(frozen=True)
class ColumnHeads:
    """Names that tables about tiers use for cells, for what rows and columns hold, and for the two kinds of labels."""

    cells: str
    rows: str
    columns: str
    positive: str
    other: str


PAIR_HEADS = ColumnHeads("pairs", "hs", "cn", "appropriate", "not_appropriate")
# Those of a grid whose sides are not HS and CN.
CELL_HEADS = ColumnHeads("cells", "rows", "columns", "positive", "not_positive")


def tier_tables(
    pairs: pd.DataFrame, question: Closed, rules: tuple[TierRule, ...], heads: ColumnHeads = PAIR_HEADS
) -> list[pd.DataFrame]:
    """The rows of `tier_table_rows` and of `verdict_table_rows` as frames."""
    columns = {str(name): pairs[name].to_numpy() for name in pairs}
    tables = (*tier_table_rows(columns, question, rules, heads), verdict_table_rows(columns, heads))
    return [pd.DataFrame(rows) for rows in tables]


def tier_table_rows(
    pairs: Mapping[str, Ints], question: Closed, rules: tuple[TierRule, ...], heads: ColumnHeads = PAIR_HEADS
) -> tuple[TableRows, TableRows, TableRows]:
    """The sizes, the balance and the labels of each tier, best first and the study's own after the four, row by row.

    `pairs` has a value per graded pair: `tiers` (bits), `hs_id`, `cn_id`, `final` (code), `n_labels`. Table 1: `tier`,
    `pairs`, `hs`, `cn`, `rule`. Table 2: `tier`, `pairs`, `appropriate`, `not_appropriate`, `share` (of appropriate
    pairs, 0 to 1; None for an empty tier). Table 3: `tier`, `pairs`, and how many of them rest on three or more, two,
    and one label. Other `heads` stand in place of these.
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
        share = positive / n if n else None
        balance.append({**head, heads.positive: positive, heads.other: n - positive, "share": share})
        n_labels = np.minimum(pairs["n_labels"][is_in], MOST_LABELS)
        labels.append({**head, **{_label_column(k): int((n_labels == k).sum()) for k in range(MOST_LABELS, 0, -1)}})
    return sizes, balance, labels


def verdict_table_rows(pairs: Mapping[str, Ints], heads: ColumnHeads = PAIR_HEADS) -> TableRows:
    """Rows with the number of valid pairs among those with a final label and a verdict, by their labels, and of all:
    `labels`, `pairs`, `valid`, `not_valid` and `share`, of those not valid (0 to 1; None without a pair). `pairs` is as
    in `tier_table_rows`, with the `verdict` of each.
    """
    is_checked = (pairs["final"] != NO_CODE) & (pairs["verdict"] != NO_CODE)
    n_labels = np.minimum(pairs["n_labels"][is_checked], MOST_LABELS)
    is_valid = pairs["verdict"][is_checked] == Verdict.AGREE
    groups = {_label_column(k): n_labels == k for k in range(MOST_LABELS, 0, -1)} | {"all": n_labels > 0}
    counts = {name: (int(is_in.sum()), int((is_in & is_valid).sum())) for name, is_in in groups.items()}
    return [
        {"labels": name, heads.cells: n, "valid": n_valid, "not_valid": n - n_valid}
        | {"share": (n - n_valid) / n if n else None}
        for name, (n, n_valid) in counts.items()
    ]


def _label_column(n: int) -> str:
    return say("%(number)s+ labels", number=n) if n == MOST_LABELS else say_number("%(n)s label", "%(n)s labels", n)

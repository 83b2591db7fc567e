"""From a pair's labels to one label: what is unanimous, what a rule decides, what waits for a person; and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from fcpair.errors import InputError
from fcpair.lazy import np
from fcpair.params import Policy, Ties
from fcpair.records import BY_HAND, UNDECIDED, PairState, Rule
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import AGREE, DISAGREE

if TYPE_CHECKING:
    from fcpair.arrays import Ints

# What counts call a unanimous decision on a pair with a single label, which could not be otherwise.
ONE_LABEL = "one_label"
HAND_RULES = frozenset(rule.value for rule in BY_HAND)


@dataclass(frozen=True)
class Tally:
    """Number of times that each pair of `cell_id`, ascending, got each answer: `counts` `(n_pairs, n_choices)`."""

    question: Closed
    cell_id: Ints
    counts: Ints

    @property
    def n_labels(self) -> Ints:
        """The number of labels of each pair, definite or not, shape `(n_pairs,)`."""
        return np.asarray(self.counts.sum(axis=1))

    def votes(self, codes: Ints) -> Ints:
        """Number of labels of each pair that equal its code in `codes`; 0 where that is no code of the scheme."""
        is_code = np.isin(codes, self.question.codes)
        column = np.searchsorted(self.question.codes, np.where(is_code, codes, self.question.codes[0]))
        return np.where(is_code, self.counts[np.arange(len(codes)), column], 0)


def tally(cell_id: Ints, code: Ints, question: Closed) -> Tally:
    """Count the answers of each pair; `cell_id` and `code`, `(n_labels,)`, are the pair and the code of each label."""
    pairs, row = np.unique(cell_id, return_inverse=True)
    shape = len(pairs), len(question.codes)
    counts = np.bincount(row * shape[1] + np.searchsorted(question.codes, code), minlength=shape[0] * shape[1])
    return Tally(question, pairs, counts.reshape(shape))


class RuleDecision(NamedTuple):
    """Decision of a rule on a pair's labels; `code` is None where it discards the pair."""

    rule: Rule
    code: int | None


def decide_by_policy(
    counts: Sequence[int], question: Closed, policy: Policy, ties: Ties = "wait"
) -> RuleDecision | None:
    """Decide one pair by its labels, as far as that needs no person; None: it waits for one, or has no label.

    `counts` says how often each answer was given, in the order of the scheme's codes. A pair whose definite labels
    agree takes that label. Of the rest, `majority` decides those in which one definite answer was given more often than
    every other, as FC-CONAN did; `median` those whose definite labels have one in the middle, by code, or two that are
    the same, or on a scale two with a number of the scale halfway; `manual` none. Where there is no such answer (a tie,
    "not sure" alone), the pair waits or is discarded, as `ties` says.
    """
    definite = [(choice.code, n) for choice, n in zip(question, counts, strict=True) if choice.definite and n]
    if len(definite) == 1:
        return RuleDecision(Rule.UNANIMOUS, definite[0][0])
    if policy == "manual" or not any(counts):
        return None
    code: int | None = None
    rule, discards = (Rule.MAJORITY, Rule.NO_MAJORITY) if policy == "majority" else (Rule.MEDIAN, Rule.NO_MEDIAN)
    if policy == "majority":
        leaders = [code for code, n in definite if n == max(n for _, n in definite)]
        code = leaders[0] if len(leaders) == 1 else None
    elif definite:
        answers = [code for code, n in definite for _ in range(n)]
        low, high = answers[(len(answers) - 1) // 2], answers[len(answers) // 2]
        halfway = question.distance == "interval" and (low + high) % 2 == 0  # the steps of a scale are equal
        code = (low + high) // 2 if low == high or halfway else None
    if code is not None:
        return RuleDecision(rule, code)
    return RuleDecision(discards, None) if ties == "discard" else None


@dataclass
class Forecast:
    """Effect of a policy on pairs as they are: what is to be written, and the state that results.

    `new` are decisions that do not stand yet, `reopened` pairs whose decision by rule no rule would make now. `by_rule`
    counts the pairs that a rule has decided then, ONE_LABEL apart, `n_waiting` those with labels that nobody has. Of
    `n_standing` decisions of pairs with labels the policy decides `n_compared` too, those in `different` otherwise.
    """

    new: list[tuple[int, RuleDecision]] = field(default_factory=list)
    reopened: list[int] = field(default_factory=list)
    by_rule: Counter[str] = field(default_factory=Counter)
    n_waiting: int = 0
    n_standing: int = 0
    n_compared: int = 0
    different: list[int] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """The counts of a run that makes it true: by rule, `new`, `reopened`, `waiting`."""
        written = {"new": len(self.new), "reopened": len(self.reopened), "waiting": self.n_waiting}
        return dict(sorted(self.by_rule.items())) | written


def forecast(pairs: Iterable[PairState], question: Closed, policy: Policy, ties: Ties = "wait") -> Forecast:
    """Say what a policy makes of pairs. A person's or a file's decision stands, and a requested one is waited for."""
    decisions: dict[tuple[int, ...], RuleDecision | None] = {}
    totals = Forecast()
    for pair in pairs:
        if pair.counts not in decisions:
            decisions[pair.counts] = decide_by_policy(pair.counts, question, policy, ties)
        settled, labelled = decisions[pair.counts], any(pair.counts)
        stands = pair.rule is not None and pair.rule not in UNDECIDED
        totals.n_standing += stands and labelled
        if stands and settled is not None:
            totals.n_compared += 1
            if settled.code != pair.code:
                totals.different.append(pair.cell_id)
        if pair.rule in HAND_RULES:
            continue
        if pair.rule == Rule.REQUESTED or settled is None:
            totals.n_waiting += labelled
            if stands:
                totals.reopened.append(pair.cell_id)
            continue
        is_single = settled.rule is Rule.UNANIMOUS and sum(pair.counts) == 1
        totals.by_rule[ONE_LABEL if is_single else settled.rule.value] += 1
        if (settled.rule, settled.code) != (pair.rule, pair.code):
            totals.new.append((pair.cell_id, settled))
    return totals


def labels_changed(answers: Iterable[tuple[int, int, int | None]], newest_seen: int) -> bool:
    """Return whether the labels of a pair differ from those that were there when `newest_seen` was the newest answer.

    `answers` are all on the pair, oldest first: number, assignment and code (None: a skip). What counts is how often
    each label is there, as an adjudicator is shown labels without names. A pair without a label now has not changed.
    """
    all_answers = list(answers)
    now = {assignment: code for _, assignment, code in all_answers}
    before = {assignment: code for number, assignment, code in all_answers if number <= newest_seen}
    labels_then, labels_now = (Counter(code for code in codes.values() if code is not None) for codes in (before, now))
    return bool(labels_now) and labels_then != labels_now


def draw_pairs(cell_id: Ints, n: int | None, seed: int, *, first: Collection[int] = ()) -> Ints:
    """The pairs to validate, ascending: `n` drawn by seed, those in `first` before others, or all; InputError
    otherwise.
    """
    if n is None:
        return np.sort(cell_id)
    if not 1 <= n <= len(cell_id):
        raise InputError(f"{n} pairs cannot be validated; {len(cell_id)} have an adjudicated label")
    drawn = np.random.default_rng(seed).permutation(np.sort(cell_id))
    before = np.isin(drawn, list(first))
    return np.sort(np.concatenate([drawn[before], drawn[~before]])[:n])


def is_valid(balance: Any) -> Any:
    """Return whether a pair is valid by how many more validators agree than disagree: a number, or an array of them."""
    return balance > 0


def combine_verdicts(cell_id: Ints, verdict: Ints) -> tuple[Ints, Ints]:
    """One verdict a pair: valid when more validators agree than disagree. `cell_id` and `verdict` (1 agrees, 0
    disagrees) are `(n_verdicts,)`. Returns the pairs, ascending, and 1 (valid) or 0 of each, `(n_pairs,)`.
    """
    pairs, row = np.unique(cell_id, return_inverse=True)
    balance = np.bincount(row, weights=np.where(verdict == AGREE, 1, -1), minlength=len(pairs))
    return pairs, np.where(is_valid(balance), AGREE, DISAGREE).astype(np.int64)


def blind_verdict(own_codes: Ints, final_codes: Ints) -> Ints:
    """The verdict of one who labelled blind: agrees if both labels are the same; a skip (-1) stays a skip."""
    return np.where(own_codes == NO_CODE, NO_CODE, np.where(own_codes == final_codes, AGREE, DISAGREE))

"""Steps to take now in the first grid, and results to be had once everything has been answered, grid by grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import NamedTuple

from fcpair.params import Adjudicate
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import has_saved_options, is_planned, labels_of
from fcpair.steps.rules.pair_counts import PairCounts
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import for_each_grid
from fcpair.store.oversight.build_progress import BUILDING

MAIN_COMMANDS = "run `fcpair partition` for the tiers, `fcpair report --out report.html` for everything"


class OpenWork(NamedTuple):
    """Work left to do: how many `labels` and `verdicts` are open, vacant and so on, how many open verdicts are
    `not_due` yet, how many pairs need a decision or a `second_look`, and which must be validated `again`.
    """

    labels: Mapping[str, int]
    verdicts: Mapping[str, int]
    not_due: int
    pairs: PairCounts
    second_look: int
    again: str | None


def possible_steps(n_built: Mapping[str, int], work: OpenWork) -> list[str]:
    """All that can be done now in a grid of HS and CNs, what comes first before the rest.

    `n_built` has the rows that each building stage made.
    """
    if not n_built["pair"]:
        return [f"run `fcpair {next(stage for stage in BUILDING if not n_built[stage])}`"]
    if not n_built["assign"]:
        return ["run `fcpair assign`"]
    return [*_labelling_steps(work.labels), *_decision_steps(work), *_validation_steps(work)]


def _labelling_steps(labels: Mapping[str, int]) -> Iterator[str]:
    if labels["open"]:
        yield f"open labels: {labels['open']:,}; {_where_to_label(labels.get('free', 0))}"
    if labels["vacant"]:
        yield f"labels that nobody is left to give: {labels['vacant']:,}; `fcpair people add NAME`"


def _where_to_label(n_free: int) -> str:
    """Where open labels are given; sheets are of what people have."""
    if n_free:
        return f"{n_free:,} of them are free for whoever asks in the browser: `fcpair serve`"
    return "`fcpair serve`, or `fcpair labels sheets DIR` and `fcpair labels import FILE`"


def _decision_steps(work: OpenWork) -> Iterator[str]:
    """Yield what people can decide, and what a policy can decide when all labels are in."""
    if n := work.pairs.wait_for_person:
        yield f"pairs that wait for a decision: {n:,}; run `fcpair adjudicate`, or `fcpair serve`"
    if (n := work.pairs.wait_for_policy) and not work.labels["open"]:
        yield f"pairs that a policy can decide: {n:,}; run `fcpair adjudicate`"
    if n := work.second_look:
        yield f"pairs decided before their labels changed: {n:,}; `fcpair adjudicate`, or `fcpair serve`"


def _validation_steps(work: OpenWork) -> Iterator[str]:
    """Yield what can be validated; pairs are first assigned when all labels are in."""
    verdicts = work.verdicts
    if work.pairs.no_verdict and not work.labels["open"] and not sum(verdicts.values()):
        yield "run `fcpair validate assign`"
    if work.again:
        yield f"pairs whose label has changed since its verdict: {work.again}"
    if n := verdicts.get("vacant"):
        yield f"verdicts that nobody is left to give: {n:,}; `fcpair people add NAME --role validator`"
    if (n := verdicts.get("open", 0)) > work.not_due:
        yield f"open verdicts: {n:,}; `fcpair serve`, or `fcpair validate sheets DIR` and `fcpair validate import FILE`"


def final_commands(tx: Tx) -> str:
    """Commands to run when nobody has anything left to do."""
    planned_flags, commands = [], list[str]()
    for key in for_each_grid(tx):
        planned_flags.append(is_planned(tx))
        commands += _commands(tx, f"--grid {quote(key.name)}") if planned_flags[-1] else ["`fcpair partition`"]
    if not any(planned_flags):
        return MAIN_COMMANDS
    return f"everything has been answered: {', '.join(commands)}, `fcpair report --out report.html`"


def _commands(tx: Tx, grid_option: str) -> list[str]:
    """Commands worth running on a planned grid, by what its round that counts asks."""
    primary_round = rounds.primary(tx)
    question, form = labels_of(tx), form_of(primary_round.form)
    has_tiers = question is not None and not tier_obstacle(question)
    has_several = primary_round.options.answers != 1  # 0: everybody answers
    decide = "partition" if has_saved_options(tx, Adjudicate) else "adjudicate"
    offers = (
        (has_several and bool(form.parts()), f"agreement {grid_option}"),
        (has_tiers, f"{decide} {grid_option}"),
        (not has_tiers, f"answers export {grid_option} --out FILE"),
    )
    return [f"`fcpair {command}`" for due, command in offers if due]

"""Sentences of `status` for the steps that `next_steps` decides on, and for what there is once all is answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any

from fcpair.params import Adjudicate
from fcpair.records import Known, Round
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import has_saved_options, is_planned, labels_of
from fcpair.steps.oversight.next_steps import Act, NextStep, OpenWork, next_steps
from fcpair.steps.rules.round_progress import RoundProgress
from fcpair.store import Tx
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.corpus.grids import for_each_grid
from fcpair.store.oversight.build_progress import BUILDING

MAIN_COMMANDS = "run `fcpair partition` for the tiers, `fcpair report --out report.html` for everything"
MAX_NAMED = 8  # of those who have something open
_IN_MAIN = {
    **{Act(stage): f"run `fcpair {stage}`" for stage in BUILDING},
    Act.ANSWER: "open labels: {n:,}; {where}",
    Act.ADD_PEOPLE: "labels that nobody is left to give: {n:,}; `fcpair people add NAME`",
    Act.DECIDE: "pairs that wait for a decision: {n:,}; run `fcpair adjudicate`, or `fcpair serve`",
    Act.APPLY_POLICY: "pairs that a policy can decide: {n:,}; run `fcpair adjudicate`",
    Act.LOOK_AGAIN: "pairs decided before their labels changed: {n:,}; `fcpair adjudicate`, or `fcpair serve`",
    Act.ASSIGN_VALIDATION: "run `fcpair validate assign`",
    Act.ASSIGN_MORE_VALIDATION: "decided pairs that no validator has: {n:,}; run `fcpair validate assign --more`",
    Act.VALIDATE_AGAIN: "pairs whose label has changed since its verdict: {again}",
    Act.ADD_VALIDATORS: "verdicts that nobody is left to give: {n:,}; `fcpair people add NAME --role validator`",
    Act.VALIDATE: (
        "open verdicts: {n:,}; `fcpair serve`, or `fcpair validate sheets DIR` and `fcpair validate import FILE`"
    ),
}
_IN_PLANNED = {  # but for rounds; `status` says nothing else of a planned grid
    Act.PAIR: "run `fcpair pair {grid_option}`",
    Act.DECIDE: "cells of grid `{grid}` that wait for a decision: {n:,}; run `fcpair adjudicate {grid_option}`",
    Act.LOOK_AGAIN: (
        "cells of grid `{grid}` decided before their answers changed: {n:,}; run `fcpair adjudicate {grid_option}`"
    ),
    Act.ASSIGN_VALIDATION: "run `fcpair validate assign {grid_option}`",
    Act.ASSIGN_MORE_VALIDATION: (
        "decided cells of grid `{grid}` that no validator has: {n:,}; run `fcpair validate assign {grid_option} --more`"
    ),
    Act.VALIDATE_AGAIN: "cells of grid `{grid}` whose label has changed since its verdict: {again}",
    Act.ADD_VALIDATORS: (
        "verdicts in grid `{grid}` that nobody is left to give: {n:,}; `fcpair people add NAME --role validator`"
    ),
    Act.VALIDATE: "open verdicts in grid `{grid}`: {n:,}; `fcpair serve`",
}


def next_and_also(steps: Iterable[str], otherwise: str | None = None) -> dict[str, Any]:
    """Split all that can be done now into what is `next` and what can `also` be done."""
    all_steps = [*steps]
    return {"next": all_steps[0] if all_steps else otherwise, "also": all_steps[1:]}


def main_commands(tx: Tx, work: OpenWork) -> Iterator[str]:
    """All that can be done now in the grid of HS and CNs, what comes first before the rest."""
    for step in next_steps(tx, work):
        if sentence := _calibration_sentence(tx, step, ""):
            yield sentence
            continue
        again = _to_check_again(tx, step)
        if step.act in _IN_MAIN and step.n and again is not None:
            yield _IN_MAIN[step.act].format(n=step.n, where=_where_to_label(tx, step), again=again)


_CALIBRATION = {
    Act.START_CALIBRATION: "people calibrate themselves first: run `fcpair calibrate start{option}`",
    Act.DISCUSS: "everybody has answered the calibration: run `fcpair calibrate discuss{option}`",
    Act.CLOSE_CALIBRATION: "everybody has answered again: run `fcpair calibrate close{option}`",
}


def _calibration_sentence(tx: Tx, step: NextStep, option: str) -> str:
    """Word a step of a calibration; empty for any other step."""
    if step.act in _CALIBRATION:
        return _CALIBRATION[step.act].format(option=option)
    if step.act is not Act.ANSWER or not step.progress or not step.progress.round.options.calibrates:
        return ""
    round_ = step.progress.round
    return (
        f"open answers in round `{round_.name}`: {step.n:,} ({_name_open_work(tx, round_)}); `fcpair serve`, or "
        f"`fcpair answers sheets DIR{option} --round {quote(round_.name)}`"
    )


def _name_open_work(tx: Tx, round_: Round) -> str:
    """Who has how much open in a round; of many people the first."""
    n_open_by_name = [f"{name} {n:,}" for name, n in assignments.n_open_by_person(tx, round_)]
    more = f" and {len(n_open_by_name) - MAX_NAMED:,} more people" if len(n_open_by_name) > MAX_NAMED else ""
    return f"{', '.join(n_open_by_name[:MAX_NAMED])}{more}"


def _to_check_again(tx: Tx, step: NextStep, grid_option: str = "") -> str | None:
    """Count the pairs with a lost verdict that validators can get again, and name the command; None where none can.

    Empty for any other step.
    """
    if step.act is not Act.VALIDATE_AGAIN:
        return ""
    from fcpair.steps.assignment import validate  # which loads numpy: no other status need wait for it

    _, ready = validate.pairs_with_lost_verdicts(tx)
    return validate.more_validation_hint(tx, len(ready), grid_option) if ready else None


def _where_to_label(tx: Tx, step: NextStep) -> str:
    """Where open labels are given; sheets are of what people have."""
    if step.progress and (n_free := step.progress.counts.get("free")):
        return f"{n_free:,} of them are free for anybody in the browser: `fcpair serve`"
    qualify = rounds.of_known_pairs(tx, use=Known.QUALIFICATION)
    first = ", where people qualify first (`fcpair people qualified` lists them)" if qualify else ""
    return f"`fcpair serve`{first}, or `fcpair labels sheets DIR` and `fcpair labels import FILE`"


def planned_commands(tx: Tx, grid: str) -> Iterator[str]:
    """All that can be done now in the planned grid of this name, what comes first before the rest."""
    grid_option = f"--grid {quote(grid)}"
    for step in next_steps(tx):
        if calibration_sentence := _calibration_sentence(tx, step, f" {grid_option}"):
            yield calibration_sentence
            continue
        again = _to_check_again(tx, step, grid_option)
        if step.progress:
            sentence = _round_sentence(tx, step, step.progress, grid)
        else:
            sentence = _IN_PLANNED.get(step.act, "").format(n=step.n, grid=grid, grid_option=grid_option, again=again)
        if sentence and step.n and again is not None:
            yield sentence


def _round_sentence(tx: Tx, step: NextStep, progress: RoundProgress, grid: str) -> str | None:
    """Word a step in a round of a planned grid; as long as answers are open, only who has them."""
    from fcpair.steps.rules import example_review

    round_, subject = progress.round, f"round `{progress.round.name}` of grid `{grid}`"
    options, add_command = f"--grid {quote(grid)} --round {quote(round_.name)}", f"people add NAME --role {round_.role}"
    if step.act is Act.ANSWER:
        return f"open answers in {subject}: {step.n:,} ({_name_open_work(tx, round_)}); `fcpair serve`"
    if progress.counts["open"]:
        return None
    if step.act in (Act.FIND_EXAMPLES, Act.REVIEW_EXAMPLES):
        return example_review.blocking_message(tx, round_, f"--grid {quote(grid)}")
    if step.act is Act.ASSIGN and not vacant_slots.candidates(tx, round_.role):
        waits = f"{subject} waits for people: `fcpair {add_command}`, then `fcpair assign {options}`"
        return None if step.checks else waits
    sentences = {
        Act.ASSIGN: f"run `fcpair assign {options}`",
        Act.ASK_MODELS: f"run `fcpair generate {options}`",
        Act.ADD_PEOPLE: f"answers in {subject} that nobody is left to give: {step.n:,}; `fcpair {add_command}`",
    }
    return sentences.get(step.act)


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

"""Sentences of the methods section on what people and models did: from the tables of a study, as they stand.

A run says what only it knows: a seed, the files and tools that answers came from. All that made what stands are asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fcpair.params import Adjudicate, Agree, Partition
from fcpair.records import Origin, Round, RunRecord, Tier
from fcpair.report.methods_figures import tier_name
from fcpair.report.methods_templates import counted, listed, say

DIAMOND = {
    "unanimous": "for which all labels equal the final one",
    "majority": "for which at least two labels, and more than half, equal the final one",
}
TIES = {"wait": "was left to a person", "discard": "was discarded"}
ANSWERERS = {"annotator": "annotators", "writer": "writers", "rater": "raters", "respondent": "respondents"}
OUTCOMES = {
    "one_label": "had one label, which stood",
    "unanimous": "had definite labels that agree",
    "majority": "got the label of the majority",
    "median": "got the median",
    "person": "got a label from people",
    "imported": "got a final label from a file",
    "irreconcilable": "{were} discarded by people as irreconcilable",
    "no_majority": "{were} discarded, as no label had a majority",
    "no_median": "{were} discarded, as there was no median",
    "waiting": "{wait} for a decision",
}
"""What became of pairs, in the order in which it is said; the words in braces follow the number."""
STANDINGS = {
    "passed": "passed",
    "let on": "{were} let on by the lead",
    "waits": "{wait} for a decision by the lead",
    "open": "{have} not finished",
}


class AnswerSource(NamedTuple):
    """How many current answers, or skips, came from one run, or from the pages; `model` is empty but for models."""

    origin: str
    run: int | None
    model: str
    skipped: bool
    n: int


@dataclass(frozen=True)
class RoundState:
    """A round as it stands: the `loads` are what each person has done and has open, on `n_cells` in all.

    Of these assignments `n_open` are open and `n_blind` blind; `n_skipped` and `n_withdrawn` are those that others have
    taken over, or nobody.
    """

    round: Round
    loads: tuple[int, ...] = ()
    n_cells: int = 0
    n_open: int = 0
    n_blind: int = 0
    n_skipped: int = 0
    n_withdrawn: int = 0
    sources: tuple[AnswerSource, ...] = ()


@dataclass(frozen=True)
class GridState:
    """A grid as its tables have it: what they count, and the options by which decisions, tiers and agreement are made.

    `pairs_by_labels` counts pairs by how many people label them, `standings` people by how they stand in a
    qualification, `outcomes` pairs by OUTCOMES. Of the final labels `n_valid` and `n_invalid` have a verdict; `n_lost`
    have verdicts on another label alone. `tiers` and `agreement` are empty where there are none to speak of.
    """

    rounds: tuple[RoundState, ...] = ()
    pairs_by_labels: Mapping[int, int] = field(default_factory=dict)
    standings: Mapping[str, int] = field(default_factory=dict)
    policy: Adjudicate | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)
    n_valid: int = 0
    n_invalid: int = 0
    n_lost: int = 0
    rules: Partition = field(default_factory=Partition)
    tiers: Mapping[str, int] = field(default_factory=dict)
    agree: Agree = field(default_factory=Agree)
    agreement: Mapping[str, Any] = field(default_factory=dict)


def last_deal(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs that gave out what stands of a round: the last that did not add to what there was, and all after it."""
    begun = [at for at, run in enumerate(runs) if not (run.params.get("more") or run.params.get("close"))]
    return [run for run in runs[begun[-1] if begun else 0 :] if not run.params.get("close")]


def assignment_sentences(
    template: str, state: RoundState, runs: Sequence[RunRecord], role: str, **values: Any
) -> Iterator[str]:
    """How much of a round was given to how many people, by which runs, and what of it is not done."""
    if not runs or not state.loads:
        return
    least, most = min(state.loads), max(state.loads)
    each = f"{least:,} to each" if least == most else f"{least:,} to {most:,} to each"
    yield say(
        template,
        people=people_of(len(state.loads), role),
        assignments=sum(state.loads),
        loads="all of them" if len(state.loads) == 1 else each,
        seeds=seeds_of(runs),
        **values,
    )
    yield from _unfinished(state)


def _unfinished(state: RoundState) -> Iterator[str]:
    if state.n_open:
        yield say("still open", n=state.n_open, are="is" if state.n_open == 1 else "are")
    gone = {"skipped": state.n_skipped, "withdrawn": state.n_withdrawn}
    if parts := [f"{n:,} {'was' if n == 1 else 'were'} {what}" for what, n in gone.items() if n]:
        yield say("given back", gone=listed(parts))


def seeds_of(runs: Sequence[RunRecord]) -> str:
    """The seeds of runs, each once, and how many runs there were if not one."""
    seeds = [f"{seed:,}" for seed in dict.fromkeys(run.params["seed"] for run in runs)]
    steps = f"{len(runs):,} steps, " if len(runs) > 1 else ""
    return f"{steps}seed{'s' * (len(seeds) > 1)} {listed(seeds)}"


def labels_clause(state: GridState) -> str:
    """How many pairs were given to how many people."""
    parts = [
        f"{counted(n, 'pair')} to {k} {'person' if k == 1 else 'people'}" for k, n in state.pairs_by_labels.items() if n
    ]
    return f": {listed(parts)}" if parts else ""


def source_sentences(state: RoundState, runs: Mapping[int, RunRecord], unit: str) -> Iterator[str]:
    """Where the answers of a round come from, without what was withdrawn or superseded."""
    name = state.round.name
    if simulated := [source for source in state.sources if source.origin == Origin.SIMULATED.value]:
        n, n_skips = _n_answers(simulated)
        made = {source.run for source in simulated}
        simulations = [run for run in runs.values() if run.stage == "simulate"]
        known = [run for run in simulations if run.id in made]
        seeds = dict.fromkeys(run.params["seed"] for run in known or simulations)
        skipped = f" and skipped {times(n_skips)}" if n_skips else ""
        yield say(
            "simulate", round=name, answers=counted(n, "answer"), skipped=skipped, seed=listed([*map(str, seeds)])
        )
    if generated := [source for source in state.sources if source.origin == Origin.GENERATED.value]:
        n, n_skips = _n_answers(generated)
        names = sorted({source.model for source in generated})
        models = f"{counted(len(names), 'model')} ({listed([f'`{model}`' for model in names])})"
        replies = "1 reply that was" if n_skips == 1 else f"{n_skips:,} replies that were"
        skipped = f", and {replies} no answer" if n_skips else ""
        yield say("generate", round=name, models=models, answers=counted(n, "answer"), skipped=skipped)
    given = [source for source in state.sources if source.origin in (Origin.ONLINE.value, Origin.IMPORTED.value)]
    n, n_skips = _n_answers(given)
    if n:
        parts = list(_places(given, runs))
        where = f" {parts[0][1]}" if len(parts) == 1 else f": {listed([f'{of:,} {place}' for of, place in parts])}"
        skipped = f", and {unit} were skipped {times(n_skips)}" if n_skips else ""
        were = "was" if n == 1 else "were"
        yield say("answers", round=name, answers=counted(n, "answer"), were=were, where=where, skipped=skipped)


def _n_answers(sources: Sequence[AnswerSource]) -> tuple[int, int]:
    """The number of answers and of skips."""
    return sum(source.n for source in sources if not source.skipped), sum(
        source.n for source in sources if source.skipped
    )


def _places(sources: Sequence[AnswerSource], runs: Mapping[int, RunRecord]) -> Iterator[tuple[int, str]]:
    """How many answers came from the pages, from files and from the exports of each tool, and how that is said.

    What came by a file into a calibration was carried over by the run that assigned the round.
    """
    by_place: dict[str, Counter[int | None]] = {}
    for source in sources:
        run = None if source.run is None else runs.get(source.run)
        tool = run.params.get("tool") if run else None
        file = "calibration" if run and run.stage == "assign" else f"export of `{tool}`" if tool else "file"
        if not source.skipped:
            place = "pages" if source.origin == Origin.ONLINE.value else file
            by_place.setdefault(place, Counter())[source.run] += source.n
    for place, by_run in by_place.items():
        noun, of, tool = place.partition(" of ")
        words = {"pages": "on the pages", "calibration": "in the calibration"}
        yield by_run.total(), words.get(place, f"in {counted(len(by_run), noun)}{of}{tool}")


def times(n: int) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def decision_sentences(state: GridState, unit: str) -> Iterator[str]:
    """By which policy labels were adjudicated, and what became of all that were judged."""
    if state.policy is not None and state.policy.policy != "manual":
        yield say("adjudicate", policy=state.policy.policy, ties=TIES[state.policy.ties])
    elif state.policy is not None:
        yield say("adjudicate manual", unit=unit)
    decided = {name: n for name, n in state.outcomes.items() if n}
    if any(name != "waiting" for name in decided):
        yield say("decisions", judged=counted(sum(decided.values()), unit), outcomes=_outcomes(OUTCOMES, decided))


def _outcomes(words: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """The counts in the words for each, in the order of the words."""
    verbs = {"were": "was", "wait": "waits", "have": "has"}
    parts = []
    for name, phrase in words.items():
        if n := counts.get(name, 0):
            fitting = {many: one if n == 1 else many for many, one in verbs.items()}
            parts.append(f"{n:,} {phrase.format(**fitting)}")
    return listed(parts)


def qualification_sentence(state: GridState) -> Iterator[str]:
    """How many people qualified, without names."""
    if n := sum(state.standings.values()):
        yield say(
            "qualified",
            people="1 person" if n == 1 else f"{n:,} people",
            outcomes=_outcomes(STANDINGS, state.standings),
        )


def verdict_sentences(state: GridState, unit: str) -> Iterator[str]:
    """What validators said of the final labels."""
    if n := state.n_valid + state.n_invalid:
        yield say("verdicts", checked=counted(n, unit), valid=state.n_valid, invalid=state.n_invalid)
    if state.n_lost:
        yield say("lost verdicts", lost=counted(state.n_lost, unit), have="has" if state.n_lost == 1 else "have")


def tier_sentences(state: GridState, unit: str) -> Iterator[str]:
    """The sizes and rules of the four tiers, and of the study's own."""
    if not state.tiers:
        return
    four = [tier.label for tier in reversed(Tier)]
    sizes = listed([f"{counted(state.tiers[name], unit)} in {tier_name(name)}" for name in four])
    yield say("tiers", sizes=sizes, unit=unit, diamond=DIAMOND[state.rules.diamond])
    for name, plan in state.rules.own_tiers.items():
        within = f", within `{plan['within']}`," if plan.get("within") else ""
        n_counted = counted(state.tiers[name], unit)
        yield say("own tier", tier=name, within=within, counted=n_counted, demands=", and ".join(_demands(plan)))


def _demands(plan: Mapping[str, Any]) -> Iterator[str]:
    labels = "definite labels" if plan.get("counted") == "definite" else "labels"
    equal = "lie on the side of" if plan.get("agreeing") == "side" else "equal"
    agreement = {
        "unanimous": f", all of which {equal} the final one",
        "majority": f"{',' if 'labels' in plan else ''} of which at least two and more than half {equal} the final one",
    }
    is_majority = plan.get("agreement") == "majority"
    unlimited = labels if is_majority else f"any number of {labels}"
    least = f"at least {plan['labels']} {labels}" if "labels" in plan else unlimited
    answers = " or ".join(f"`{answer}`" for answer in plan.get("answers", ()))
    yield f"the final label {answers}" if answers else "a final label"
    yield least + agreement.get(plan.get("agreement", ""), "")
    if plan.get("verdict") != "none":
        yield "a verdict" if plan.get("verdict") == "any" else "the validators' acceptance"


def people_of(n: int, role: str) -> str:
    """So many people in a role."""
    return f"{n:,} {role if n == 1 else ANSWERERS.get(role, f'{role}s')}"

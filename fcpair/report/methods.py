"""The methods section of a paper, from the tables of a study and its log; the sentences are in `methods_templates`.

What stands is counted in the tables (`GridState`); what only runs know, such as parameters, seeds and models, comes
from all runs that made it. `[@key]` cites a reference (`citations`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fcpair.params import MAIN
from fcpair.records import Known, RunRecord
from fcpair.report.methods_answers import (
    GridState,
    RoundState,
    assignment_sentences,
    decision_sentences,
    labels_clause,
    last_deal,
    people_of,
    qualification_sentence,
    seeds_of,
    source_sentences,
    tier_sentences,
    verdict_sentences,
)
from fcpair.report.methods_figures import (
    agreement_sentences,
    bias_sentences,
    counts_of,
    evaluation_sentences,
    tier_name,
)
from fcpair.report.methods_templates import counted, listed, say
from fcpair.words import Noun

PLURALS = {"hate speech": "hate-speech messages"}
COUNTS = {
    "neither": "neither answer counts, and the pairs were assigned like all others",
    "first": "the first answers count",
    "second": "the second answers count",
}


class Section(NamedTuple):
    """A paragraph of the methods: of which grid it is, and its text; the first, and the last two, are of the study."""

    heading: str
    text: str


def write_sections(
    log: Sequence[RunRecord],
    states: Mapping[str, GridState],
    evaluation: RunRecord | None = None,
    rules: Mapping[str, str] | None = None,
) -> list[Section]:
    """The paragraphs, from the runs of a study, oldest first, and the state of each grid by its name.

    `evaluation` is the run to speak of, by these `rules` of its tiers where they are not those of the study.
    """
    facts = _Facts(log, states)
    main = list(_main_sentences(facts))
    if evaluation:
        main += evaluation_sentences(evaluation, facts.nouns, rules or {})
    sections = [Section("Corpus, grid and labels", " ".join(main))]
    sections += [Section(f"Grid {name}", " ".join(_grid_sentences(facts, name))) for name in facts.planned]
    sections.append(Section("Release", " ".join(_release_sentences(facts))))
    sections.append(Section("Software", say("software", version=log[-1].version)))
    return [section for section in sections if section.text]


class _Facts:
    """The runs of a study, by stage and grid, and the state of its grids."""

    def __init__(self, log: Sequence[RunRecord], states: Mapping[str, GridState]) -> None:
        self.log = log
        self.states = states
        self.by_id = {run.id: run for run in log}
        self.planned = [run.counts["grid"] for run in log if run.stage == "grid"]
        setup = self.latest("init")
        names = (setup.params.get("hs_name", "HS"), setup.params.get("cn_name", "CN")) if setup else ("HS", "CN")
        many = [PLURALS.get(name, Noun.of(name).many) for name in names]
        self.nouns = {"rows_noun": many[0], "columns_noun": many[1]}

    def state(self, grid: str) -> GridState:
        return self.states.get(grid, GridState())

    def runs(self, stage: str, grid: str = MAIN) -> list[RunRecord]:
        return [run for run in self.log if run.stage == stage and grid_of(run) == grid]

    def latest(self, stage: str, grid: str = MAIN, has: str | None = None) -> RunRecord | None:
        runs = [run for run in self.runs(stage, grid) if has is None or has in run.counts]
        return runs[-1] if runs else None


def grid_of(run: RunRecord) -> str:
    """The grid that a run is about."""
    return str(run.params.get("grid") or run.counts.get("grid") or MAIN)


def _main_sentences(facts: _Facts) -> Iterator[str]:
    if run := facts.latest("import", has="rows"):
        n_rows = run.counts["rows"] - run.counts.get("repeated", 0)
        yield say("import", rows=n_rows, **facts.nouns, **counts_of(run.counts, "hs", "cn"))
    yield from _building_sentences(facts)
    yield from _preparation_sentences(facts, MAIN)
    state, deals = facts.state(MAIN), last_deal(facts.runs("assign"))
    labelling = next((round_ for round_ in state.rounds if round_.round.counts), None)
    if labelling and deals and deals[0].params.get("open"):
        n_labels = sum(k * n for k, n in state.pairs_by_labels.items())
        by_labels = labels_clause(state)
        yield say("assign open", labels=counted(n_labels, "label"), seeds=seeds_of(deals), by_labels=by_labels)
    elif labelling:
        yield from assignment_sentences("assign", labelling, deals, "annotator", by_labels=labels_clause(state))
    yield from _answer_sentences(facts, MAIN)


def _release_sentences(facts: _Facts) -> Iterator[str]:
    """What was released, each name once: under one name the content is the same every time. A draft is no release."""
    releases = [run for run in facts.runs("release") if not run.params.get("draft")]
    for name, run in {run.params["name"]: run for run in releases}.items():
        sizes = [f"{counted(n, 'pair')} in `{tier}`" for tier, n in run.counts.get("pairs", {}).items()]
        tiers = f", with {listed(sizes)}" if sizes else ""
        texts = "" if run.params["texts"] else " without its texts"
        yield say("release", name=name, texts=texts, tiers=tiers, **counts_of(run.counts, "digest"))


def _building_sentences(facts: _Facts) -> Iterator[str]:
    if run := facts.latest("select"):
        stratified = f", stratified by `{run.params['stratify']}`" if run.params.get("stratify") else ""
        template = "select list" if run.params.get("list") else "select all" if _is_all(run, facts) else "select"
        yield say(
            template, stratified=stratified, seed=run.params["seed"], **facts.nouns, **counts_of(run.counts, "hs")
        )
    if run := facts.latest("retrieve"):
        if "neighbours" in run.counts:
            yield say("source", **facts.nouns, **counts_of(run.counts, "source_cns"))
            model = run.model["name"] if run.model else run.params["model"]
            counts = counts_of(run.counts, "neighbours", "candidates")
            counting = ", counted over the rows of the corpus" if run.params.get("count_duplicates") else ""
            yield say("retrieve", k=run.params["k"], model=model, counting=counting, **facts.nouns, **counts)
        else:
            yield say("candidates", source=_candidate_source(run), **facts.nouns, **counts_of(run.counts, "candidates"))
    if run := facts.latest("pair"):
        yield _pair_sentence(run, facts)


def _is_all(selection: RunRecord, facts: _Facts) -> bool:
    """Whether a selection left nothing of the corpus out, so that nothing was drawn."""
    corpus = facts.latest("import", has="rows")
    return corpus is not None and corpus.counts["hs"] == selection.counts["hs"]


def _candidate_source(run: RunRecord) -> str:
    """Where candidates came from that no embeddings retrieved."""
    if names := run.counts.get("runs"):
        return f"from the first {run.params['depth']} ranks of {listed([f'`{name}`' for name in names])}"
    return "from a list" if run.params.get("list") else "from the corpus: all that it has"


def _pair_sentence(run: RunRecord, facts: _Facts) -> str:
    """How many pairs there are, and what became of those that the corpus has."""
    n_known, verb = run.counts.get("in_corpus"), "including" if run.params.get("keep_known") else "leaving out"
    values = {
        "drawn": f" (drawn with the seed {run.params['seed']})" if run.params.get("candidates") else "",
        "known": f", {verb} {counted(n_known, 'pair')} that the corpus already had" if n_known else "",
        **facts.nouns,
        **counts_of(run.counts, "hs", "cn"),
    }
    if "of" in run.counts:
        product, seed = counted(run.counts["of"], "pair"), run.params["seed"]
        return say("sample", product=product, seed=seed, **values, **counts_of(run.counts, "pairs"))
    return say("pair", pairs=counted(run.counts["pairs"], "pair"), **values)


def _grid_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    plan = next(run for run in facts.log if run.stage == "grid" and run.counts["grid"] == grid)
    forms = {round_["name"]: round_ for round_ in plan.params["rounds"]}
    if run := facts.latest("pair", grid):
        sizes = {f"{axis}s_counted": counted(run.counts[f"{axis}s"], axis) for axis in ("row", "column")}
        yield say("cells", grid=grid, **sizes, **counts_of(run.counts, "cells"))
        yield from _side_sentences(run)
    yield from _preparation_sentences(facts, grid)
    for state in facts.state(grid).rounds:
        name = state.round.name
        if name in forms:
            deals = [run for run in facts.runs("assign", grid) if run.params.get("round") == name]
            deals = deals if state.round.options.per_batch else last_deal(deals)
            role, form = forms[name]["role"], say("form", form=forms[name]["form"])
            values = {"round": name, "cells": state.n_cells}
            assigned = list(assignment_sentences("round", state, deals, role, **values))
            yield from [*assigned[:1], form, *assigned[1:]] if assigned else []
    yield from _answer_sentences(facts, grid)


def _preparation_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What people answered before the work that counts, and among it."""
    if known := facts.latest("qualification", grid):
        pass_mark, n_asked = f"{known.params['pass_mark']:g}", known.params.get("pairs")
        asked = (f"{n_asked:,} of " if n_asked else "") + counted(known.counts["pairs"], "pair")
        yield say("qualification", pass_mark=pass_mark, asked=asked, seed=known.params["seed"])
        yield from qualification_sentence(facts.state(grid))
    if known := facts.latest("controls", grid):
        rate = f"{known.params['rate']:g}"
        is_assigned = any(run.counts.get(str(Known.CONTROLS)) for run in facts.runs("assign", grid))
        were = "were" if is_assigned else "were to be"
        yield say("controls", rate=rate, were=were, seed=known.params["seed"], **counts_of(known.counts, "pairs"))
    if begun := facts.latest("calibration", grid):
        people = people_of(begun.counts["people"], "annotator")
        yield say("calibration", people=people, seed=begun.params["seed"], **counts_of(begun.counts, "pairs"))
        if run := facts.latest("discussion", grid):
            yield say("discussion", **counts_of(run.counts, "differing"))
        if run := facts.latest("close calibration", grid):
            yield say(
                "second answers",
                counts=COUNTS[begun.params["counts"]],
                second_answers=counted(run.counts["second_answers"], "answer"),
            )


def _side_sentences(run: RunRecord) -> Iterator[str]:
    """Where the rows and columns of a planned grid came from."""
    readers = {source["reader"] for source in run.params["rows"].get("sources", ())}
    what = "items made from templates" if "items" in readers else "templates" if "templates" in readers else "rows"
    for source, counts in run.counts.get("collected_rows", {}).items():
        yield say("drawn", source=source, drawn=counts["drawn"], rows=counts["rows"], what=what)
    if sum(counts["drawn"] for counts in run.counts.get("collected_rows", {}).values()) > run.counts["rows"]:
        yield say("merged")
    for axis in ("rows", "columns"):
        answers = run.params[axis].get("answers") or []
        if grids := [answers] if isinstance(answers, str) else list(answers):
            names = listed([f"`{name}`" for name in grids])
            yield say("answers of", axis=axis, of_grids=f"grid {names}" if len(grids) == 1 else f"grids {names}")
    if columns := run.params["columns"].get("names"):
        columns_were = "The column was" if len(columns) == 1 else "The columns were"
        yield say("names", columns_were=columns_were, names=listed([f"`{name}`" for name in columns]))


def _answer_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What was answered, how far it agrees, what was decided and validated on it, and how it is graded."""
    unit, state = "pairs" if grid == MAIN else "cells", facts.state(grid)
    checking = [round_ for round_ in state.rounds if round_.round.checks is not None]
    for round_ in state.rounds:
        if round_ not in checking:
            yield from source_sentences(round_, facts.by_id, unit)
    if grid == MAIN:
        yield from _dismissal_sentences(facts)
    if state.agreement:
        yield from agreement_sentences(state.agreement, state.agree, unit)
    for scored in {(run.params["round"], run.params["as"]): run for run in facts.runs("bias score", grid)}.values():
        yield from bias_sentences(scored)
    yield from decision_sentences(state, unit)
    for round_ in checking:
        yield from _validation_sentences(facts, grid, round_, unit)
    yield from verdict_sentences(state, unit)
    yield from tier_sentences(state, unit)
    frozen = {run.params["tier"]: run for run in facts.runs("partition", grid) if "tier" in run.params}
    for tier, run in frozen.items():
        yield say("frozen", tier=tier_name(tier), counted=counted(run.counts["pairs"], unit))


def _validation_sentences(facts: _Facts, grid: str, state: RoundState, unit: str) -> Iterator[str]:
    """What was given to validators, and where their verdicts come from."""
    some = f" {state.n_blind:,} of them" if state.n_blind < sum(state.loads) else " themselves"
    blind = f", and answered{some} before they saw the label" if state.n_blind else ""
    cells = counted(state.n_cells, f"adjudicated {unit}")
    deals = last_deal(facts.runs("validate", grid))
    yield from assignment_sentences("validate", state, deals, "validator", cells=cells, blind=blind)
    yield from source_sentences(state, facts.by_id, unit)


def _dismissal_sentences(facts: _Facts) -> Iterator[str]:
    """What became of the answers of people who were dismissed, without their names."""
    for run in facts.log:
        if run.stage == "dismiss":
            n = run.counts["set_aside"]
            count = "1 answer of theirs was" if n == 1 else f"{n:,} answers of theirs were"
            set_aside = f"{count} set aside, and the work passed on to others" if n else "no answer of theirs counted"
            yield say("dismiss", set_aside=set_aside)

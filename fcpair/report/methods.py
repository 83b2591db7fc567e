"""The methods section of a paper, from the run log alone: what fills its sentences, which `methods_templates` has.

Each number in it is one of the log's, so that a reader can find where it comes from; counts that the log does not have
are not computed. `[@key]` cites a reference (`citations`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fcpair.params import MAIN
from fcpair.records import Known, RunRecord, Tier
from fcpair.report.methods_figures import (
    agreement_sentences,
    bias_sentences,
    counts_of,
    evaluation_sentences,
    tier_name,
)
from fcpair.report.methods_templates import counted, listed, say
from fcpair.words import Noun

DIAMOND = {
    "unanimous": "for which all labels equal the final one",
    "majority": "for which at least two labels, and more than half, equal the final one",
}
PLURALS = {"hate speech": "hate-speech messages"}
COUNTS = {
    "neither": "neither answer counts, and the pairs were assigned like all others",
    "first": "the first answers count",
    "second": "the second answers count",
}
TIES = {"wait": "was left to a person", "discard": "was discarded"}
ANSWERERS = {"annotator": "annotators", "writer": "writers", "rater": "raters", "respondent": "respondents"}


class Section(NamedTuple):
    """A paragraph of the methods: of which grid it is, and its text; the first, and the last two, are of the study."""

    heading: str
    text: str


def write_sections(log: Sequence[RunRecord]) -> list[Section]:
    """The paragraphs, from the runs of a study, oldest first."""
    facts = _Facts(log)
    sections = [Section("Corpus, grid and labels", " ".join(_main_sentences(facts)))]
    sections += [Section(f"Grid {name}", " ".join(_grid_sentences(facts, name))) for name in facts.planned]
    sections.append(Section("Release", " ".join(_release_sentences(facts))))
    sections.append(Section("Software", say("software", version=log[-1].version)))
    return [section for section in sections if section.text]


class _Facts:
    """The runs of a study, by stage and grid. Of a stage that ran several times, the last says how it stands."""

    def __init__(self, log: Sequence[RunRecord]) -> None:
        self.log = log
        self.planned = [run.counts["grid"] for run in log if run.stage == "grid"]
        setup = self.latest("init")
        names = (setup.params.get("hs_name", "HS"), setup.params.get("cn_name", "CN")) if setup else ("HS", "CN")
        many = [PLURALS.get(name, Noun.of(name).many) for name in names]
        self.nouns = {"rows_noun": many[0], "columns_noun": many[1]}

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
        yield say("import", **facts.nouns, **counts_of(run, "rows", "hs", "cn"))
    yield from _building_sentences(facts)
    yield from _preparation_sentences(facts, MAIN)
    if assigned := facts.latest("assign", has="load_min"):
        people = _people(assigned.counts["annotators"], "annotator")
        seed, by_labels = assigned.params["seed"], _by_labels(assigned)
        yield say("assign", people=people, seed=seed, by_labels=by_labels, **_load(assigned))
    for run in facts.runs("assign"):
        if run.params.get("open") and not run.params.get("more"):
            labels, seed = counted(run.counts["free"], "label"), run.params["seed"]
            yield say("assign open", labels=labels, seed=seed, by_labels=_by_labels(run))
    yield from _answer_sentences(facts, MAIN)
    if run := facts.latest("evaluate"):
        yield from evaluation_sentences(run, facts.nouns)


def _release_sentences(facts: _Facts) -> Iterator[str]:
    """What was released, each name once: under one name the content is the same every time. A draft is no release."""
    releases = [run for run in facts.runs("release") if not run.params.get("draft")]
    for name, run in {run.params["name"]: run for run in releases}.items():
        sizes = [f"{counted(n, 'pair')} in `{tier}`" for tier, n in run.counts.get("pairs", {}).items()]
        tiers = f", with {listed(sizes)}" if sizes else ""
        texts = "" if run.params["texts"] else " without its texts"
        yield say("release", name=name, texts=texts, tiers=tiers, **counts_of(run, "digest"))


def _building_sentences(facts: _Facts) -> Iterator[str]:
    if run := facts.latest("select"):
        stratified = f", stratified by `{run.params['stratify']}`" if run.params.get("stratify") else ""
        template = "select list" if run.params.get("list") else "select all" if _is_all(run, facts) else "select"
        yield say(template, stratified=stratified, seed=run.params["seed"], **facts.nouns, **counts_of(run, "hs"))
    if run := facts.latest("retrieve"):
        if "neighbours" in run.counts:
            yield say("source", **facts.nouns, **counts_of(run, "source_cns"))
            model = run.model["name"] if run.model else run.params["model"]
            counts = counts_of(run, "neighbours", "candidates")
            counting = ", counted over the rows of the corpus" if run.params.get("count_duplicates") else ""
            yield say("retrieve", k=run.params["k"], model=model, counting=counting, **facts.nouns, **counts)
        else:
            yield say("candidates", source=_candidate_source(run), **facts.nouns, **counts_of(run, "candidates"))
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
        **counts_of(run, "hs", "cn"),
    }
    if "of" in run.counts:
        product, seed = counted(run.counts["of"], "pair"), run.params["seed"]
        return say("sample", product=product, seed=seed, **values, **counts_of(run, "pairs"))
    return say("pair", pairs=counted(run.counts["pairs"], "pair"), **values)


def _grid_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    plan = next(run for run in facts.log if run.stage == "grid" and run.counts["grid"] == grid)
    forms = {round_["name"]: round_ for round_ in plan.params["rounds"]}
    if run := facts.latest("pair", grid):
        sizes = {f"{axis}s_counted": counted(run.counts[f"{axis}s"], axis) for axis in ("row", "column")}
        yield say("cells", grid=grid, **sizes, **counts_of(run, "cells"))
        yield from _side_sentences(run)
    yield from _preparation_sentences(facts, grid)
    for name, round_ in forms.items():
        for run in facts.runs("assign", grid):
            if run.params.get("round") == name and "assignments" in run.counts:
                people = _people(run.counts["people"], round_["role"])
                yield say("round", round=name, people=people, **counts_of(run, "cells"), **_load(run))
                yield say("form", form=round_["form"])
        for run in facts.runs("generate", grid):
            if run.counts.get("round") == name:
                yield _generation_sentence(run, name)
    yield from _answer_sentences(facts, grid)


def _generation_sentence(run: RunRecord, name: str) -> str:
    names = listed([f"`{model}`" for model in run.params["models"]])
    models = f"{counted(run.counts['models'], 'model')} ({names})"
    n_skips = run.counts["skips"]
    replies = "1 reply that was" if n_skips == 1 else f"{n_skips:,} replies that were"
    skipped = f", and {replies} no answer" if n_skips else ""
    return say("generate", round=name, models=models, skipped=skipped, answers=counted(run.counts["answers"], "answer"))


def _preparation_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What people answered before the work that counts, and among it."""
    if known := facts.latest("qualification", grid):
        pass_mark, n_asked = f"{known.params['pass_mark']:g}", known.params.get("pairs")
        asked = (f"{n_asked:,} of " if n_asked else "") + counted(known.counts["pairs"], "pair")
        yield say("qualification", pass_mark=pass_mark, asked=asked, seed=known.params["seed"])
    if known := facts.latest("controls", grid):
        rate = f"{known.params['rate']:g}"
        is_assigned = any(run.counts.get(str(Known.CONTROLS)) for run in facts.runs("assign", grid))
        were = "were" if is_assigned else "were to be"
        yield say("controls", rate=rate, were=were, seed=known.params["seed"], **counts_of(known, "pairs"))
    if begun := facts.latest("calibration", grid):
        people = _people(begun.counts["people"], "annotator")
        yield say("calibration", people=people, seed=begun.params["seed"], **counts_of(begun, "pairs"))
        if run := facts.latest("discussion", grid):
            yield say("discussion", **counts_of(run, "differing"))
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


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _answer_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What was answered, how far it agrees, what was decided and validated on it, and how it is graded."""
    for run in facts.runs("simulate", grid):
        skipped = f" and skipped {_times(run.counts['skips'])}" if run.counts["skips"] else ""
        answers = counted(run.counts["answers"], "answer")
        yield say("simulate", seed=run.params["seed"], skipped=skipped, answers=answers, **counts_of(run, "round"))
    yield from _import_sentences(facts, grid)
    if grid == MAIN:
        yield from _dismissal_sentences(facts)
    unit = "pairs" if grid == MAIN else "cells"
    if measured := facts.latest("agreement", grid):
        yield from agreement_sentences(measured, unit)
    for scored in {(run.params["round"], run.params["as"]): run for run in facts.runs("bias score", grid)}.values():
        yield from bias_sentences(scored)
    if adjudicated := facts.latest("adjudicate", grid, has="waiting"):
        yield _adjudication_sentence(adjudicated, unit)
    if validated := facts.latest("validate", grid, has="to_validate"):
        yield _validation_sentence(validated, unit)
    tiers = [run for run in facts.runs("partition", grid) if "bronze" in run.counts]
    if tiers:
        yield from _tier_sentences(tiers[-1], unit)
    frozen = {run.params["tier"]: run for run in facts.runs("partition", grid) if "tier" in run.params}
    for tier, run in frozen.items():
        yield say("frozen", tier=tier_name(tier), counted=counted(run.counts["pairs"], unit))


def _import_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What came from files and from other annotation tools, round by round, without what was withdrawn again."""
    withdrawn = {run.params["run"] for run in facts.log if run.stage.endswith(" withdraw")}
    runs = [run for run in facts.log if run.stage.endswith(" import") and grid_of(run) == grid]
    imports: dict[tuple[str, str], list[RunRecord]] = {}
    for run in runs:
        if _n_answers(run) and run.id not in withdrawn:
            imports.setdefault((run.stage.removesuffix(" import"), run.params.get("tool") or ""), []).append(run)
    for (name, tool), group in imports.items():
        numbers = listed([f"{_n_answers(run):,}" for run in group])
        answers, were = ("answer", "was") if numbers == "1" else ("answers", "were")
        source = _sources(tool, len(group))
        yield say("labels import", source=source, numbers=numbers, answers=answers, round=name, were=were)
        for run in group:
            if {"adjudications", "verdicts"} <= run.counts.keys():
                brought = {
                    "decisions": counted(run.counts["adjudications"], "final label"),
                    "verdicts": counted(run.counts["verdicts"], "verdict"),
                }
                yield say("published import", **brought)


def _sources(tool: str, n: int) -> str:
    if tool:
        return f"{'an export' if n == 1 else 'exports'} of `{tool}`"
    return "a file" if n == 1 else "files"


def _n_answers(run: RunRecord) -> int:
    return int(run.counts.get("answers", run.counts.get("labels", 0)))


def _dismissal_sentences(facts: _Facts) -> Iterator[str]:
    """What became of the answers of people who were dismissed, without their names."""
    for run in facts.log:
        if run.stage == "dismiss":
            n = run.counts["set_aside"]
            count = "1 answer of theirs was" if n == 1 else f"{n:,} answers of theirs were"
            set_aside = f"{count} set aside, and the work passed on to others" if n else "no answer of theirs counted"
            yield say("dismiss", set_aside=set_aside)


def _adjudication_sentence(run: RunRecord, unit: str) -> str:
    policy = run.params.get("policy", "manual")
    if policy == "manual":
        return say("adjudicate manual", unit=unit)
    by_rule = {"unanimous": "free of conflict", "majority": "decided by majority", "median": "decided by the median"}
    outcomes = [
        f"{counted(n, unit)} {'was' if n == 1 else 'were'} {words}"
        for name, words in by_rule.items()
        if (n := run.counts.get(name))
    ]
    discards = run.params["ties"] == "discard"
    n_discarded = run.counts.get("no_majority", run.counts.get("no_median", 0))
    n_undecided = n_discarded if discards else run.counts["waiting"]
    return say(
        "adjudicate",
        policy=policy,
        outcomes=listed(outcomes or [f"it decided none of the {unit}"]),
        undecided=say("undecided", ties=TIES[run.params["ties"]], n=counted(n_undecided, unit)) if n_undecided else "",
    )


def _validation_sentence(run: RunRecord, unit: str) -> str:
    blind = ", and answered themselves before they saw the label" if run.params.get("blind") else ""
    values = {"people": _people(run.counts["validators"], "validator"), "loads": _loads(run), "blind": blind}
    return say("validate", unit=unit, seed=run.params["seed"], **values, **counts_of(run, "to_validate"))


def _tier_sentences(run: RunRecord, unit: str) -> Iterator[str]:
    four = [tier.label for tier in reversed(Tier)]
    sizes = listed([f"{counted(run.counts[name], unit)} in {name.capitalize()}" for name in four])
    yield say("tiers", sizes=sizes, unit=unit, diamond=DIAMOND[run.params["diamond"]])
    for name, plan in (run.params.get("own_tiers") or {}).items():
        within = f", within `{plan['within']}`," if plan.get("within") else ""
        n_counted = counted(run.counts[name], unit)
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


def _people(n: int, role: str) -> str:
    return f"{n:,} {role if n == 1 else ANSWERERS.get(role, f'{role}s')}"


def _load(run: RunRecord) -> dict[str, Any]:
    return {"assignments": run.counts["assignments"], "loads": _loads(run)}


def _loads(run: RunRecord) -> str:
    least, most = run.counts["load_min"], run.counts["load_max"]
    if 1 in (run.counts.get("people"), run.counts.get("annotators"), run.counts.get("validators")):
        return "all of them"
    return f"{least:,} to each" if least == most else f"{least:,} to {most:,} to each"


def _by_labels(run: RunRecord) -> str:
    """How many pairs were given to how many people."""
    by_labels = run.counts.get("pairs_by_labels", {})
    parts = [
        f"{counted(n, 'pair')} to {k} {'person' if str(k) == '1' else 'people'}" for k, n in by_labels.items() if n
    ]
    return f": {listed(parts)}" if parts else ""

"""The methods section of a paper, from the run log alone: what fills its sentences, which `methods_templates` has.

Each number in it is one of the log's, so that a reader can find where it comes from; counts that the log does not have
are not computed. `[@key]` cites a reference (`citations`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fcpair.params import MAIN
from fcpair.records import TIERS, RunRecord, Tier
from fcpair.report.methods_templates import TEMPLATES
from fcpair.words import Noun

DIAMOND = {
    "unanimous": "for which all labels equal the final one",
    "majority": "for which at least two labels, and more than half, equal the final one",
}
SCOPES = {"texts": "rows and columns", "annotators": "rows, columns and annotators"}
PLURALS = {"hate speech": "hate-speech messages"}
COUNTS = {
    "neither": "neither answer counts, and the pairs were assigned like all others",
    "first": "the first answers count",
    "second": "the second answers count",
}
TIES = {"wait": "was left to a person", "discard": "was discarded"}
CITED_FIGURES = {
    "Cohen": "cohen1960",
    "Fleiss": "fleiss1971",
    "Krippendorff": "hayes2007",
    "Gwet": "gwet2008",
}
CITED_SYSTEMS = {"bm25": "robertson2009", "sbert": "reimers2019"}
CITED_MEASURES = {"NDCG": "jarvelin2002", "MAP": "buckley2000", "bpref": "buckley2004", "RBP": "moffat2008"}
COUNTS_OF_AGREEMENT = ("labels", "pairs", "overlapped", "blocks", "intervals", "undefined")
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
    sections.append(Section("Software", _say("software", version=log[-1].version)))
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


def _say(template: str, **values: Any) -> str:
    return TEMPLATES[template].format(**{name: _shown(value) for name, value in values.items()})


def _shown(value: Any) -> str:
    """A value in a sentence: numbers of things with separators of thousands, others with three decimals."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _main_sentences(facts: _Facts) -> Iterator[str]:
    for run in facts.runs("import"):
        if {"rows", "hs", "cn"} <= run.counts.keys():
            yield _say("import", **facts.nouns, **_counts(run, "rows", "hs", "cn"))
    yield from _building_sentences(facts)
    yield from _preparation_sentences(facts, MAIN)
    if assigned := facts.latest("assign", has="load_min"):
        people = _people(assigned.counts["annotators"], "annotator")
        seed, by_labels = assigned.params["seed"], _by_labels(assigned)
        yield _say("assign", people=people, seed=seed, by_labels=by_labels, **_load(assigned))
    yield from _answer_sentences(facts, MAIN)
    yield from _evaluation_sentences(facts)


def _release_sentences(facts: _Facts) -> Iterator[str]:
    """What was released, each name once: under one name the content is the same every time."""
    for name, run in {run.params["name"]: run for run in facts.runs("release")}.items():
        sizes = [f"{n:,} pairs in `{tier}`" for tier, n in run.counts.get("pairs", {}).items()]
        tiers = f", with {_listed(sizes)}" if sizes else ""
        texts = "" if run.params["texts"] else " without its texts"
        yield _say("release", name=name, texts=texts, tiers=tiers, **_counts(run, "digest"))


def _building_sentences(facts: _Facts) -> Iterator[str]:
    if run := facts.latest("select"):
        stratified = f", stratified by `{run.params['stratify']}`" if run.params.get("stratify") else ""
        template = "select list" if run.params.get("list") else "select"
        yield _say(template, stratified=stratified, seed=run.params["seed"], **facts.nouns, **_counts(run, "hs"))
    if run := facts.latest("retrieve"):
        if "neighbours" in run.counts:
            yield _say("source", **facts.nouns, **_counts(run, "source_cns"))
            model = run.model["name"] if run.model else run.params["model"]
            counts = _counts(run, "neighbours", "candidates")
            counting = ", counted over the rows of the corpus" if run.params.get("count_duplicates") else ""
            yield _say("retrieve", k=run.params["k"], model=model, counting=counting, **facts.nouns, **counts)
        else:
            yield _say("candidates", **facts.nouns, **_counts(run, "candidates"))
    if run := facts.latest("pair"):
        drawn = f" (drawn with the seed {run.params['seed']})" if run.params.get("candidates") else ""
        yield _say("pair", drawn=drawn, **facts.nouns, **_counts(run, "hs", "cn", "pairs"))
        if run.counts.get("in_corpus"):
            yield _say("in corpus", **_counts(run, "in_corpus"))


def _grid_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    plan = next(run for run in facts.log if run.stage == "grid" and run.counts["grid"] == grid)
    forms = {round_["name"]: round_ for round_ in plan.params["rounds"]}
    if run := facts.latest("pair", grid):
        counted = {f"{axis}s_counted": Noun.of(axis).with_number(run.counts[f"{axis}s"]) for axis in ("row", "column")}
        yield _say("cells", grid=grid, **counted, **_counts(run, "cells"))
        yield from _side_sentences(run)
    yield from _preparation_sentences(facts, grid)
    for name, round_ in forms.items():
        for run in facts.runs("assign", grid):
            if run.params.get("round") == name and "assignments" in run.counts:
                people = _people(run.counts["people"], round_["role"])
                yield _say("round", round=name, people=people, **_counts(run, "cells"), **_load(run))
                yield _say("form", form=round_["form"])
        for run in facts.runs("generate", grid):
            if run.counts.get("round") == name:
                models = _listed([f"`{model}`" for model in run.params["models"]])
                n_models = f"{run.counts['models']} {'model' if run.counts['models'] == 1 else 'models'}"
                skips = run.counts["skips"]
                skipped = f", and {skips:,} replies that were no answer" if skips else ""
                yield _say(
                    "generate", round=name, models=f"{n_models} ({models})", skipped=skipped, **_counts(run, "answers")
                )
    yield from _answer_sentences(facts, grid)


def _preparation_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What people answered before the work that counts, and among it."""
    if known := facts.latest("qualification", grid):
        pass_mark = f"{known.params['pass_mark']:g}"
        yield _say("qualification", pass_mark=pass_mark, seed=known.params["seed"], **_counts(known, "pairs"))
    if known := facts.latest("controls", grid):
        rate = f"{known.params['rate']:g}"
        yield _say("controls", rate=rate, seed=known.params["seed"], **_counts(known, "pairs"))
    if begun := facts.latest("calibration", grid):
        people = _people(begun.counts["people"], "annotator")
        yield _say("calibration", people=people, seed=begun.params["seed"], **_counts(begun, "pairs"))
        if run := facts.latest("discussion", grid):
            yield _say("discussion", **_counts(run, "differing"))
        if run := facts.latest("close calibration", grid):
            yield _say("second answers", counts=COUNTS[begun.params["counts"]], **_counts(run, "second_answers"))


def _side_sentences(run: RunRecord) -> Iterator[str]:
    """Where the rows and columns of a planned grid came from."""
    readers = {source["reader"] for source in run.params["rows"].get("sources", ())}
    what = "items made from templates" if "items" in readers else "templates" if "templates" in readers else "rows"
    for source, counts in run.counts.get("collected_rows", {}).items():
        yield _say("drawn", source=source, drawn=counts["drawn"], rows=counts["rows"], what=what)
    for axis in ("rows", "columns"):
        answers = run.params[axis].get("answers") or []
        if grids := [answers] if isinstance(answers, str) else list(answers):
            listed = _listed([f"`{name}`" for name in grids])
            yield _say("answers of", axis=axis, of_grids=f"grid {listed}" if len(grids) == 1 else f"grids {listed}")
    if names := run.params["columns"].get("names"):
        columns_were = "The column was" if len(names) == 1 else "The columns were"
        yield _say("names", columns_were=columns_were, names=_listed([f"`{name}`" for name in names]))


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"


def _answer_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What was answered, how far it agrees, what was decided and validated on it, and how it is graded."""
    for run in facts.runs("simulate", grid):
        skipped = f" and skipped {_times(run.counts['skips'])}" if run.counts["skips"] else ""
        yield _say("simulate", seed=run.params["seed"], skipped=skipped, **_counts(run, "round", "answers"))
    yield from _import_sentences(facts, grid)
    if grid == MAIN:
        yield from _dismissal_sentences(facts)
    unit = "pairs" if grid == MAIN else "cells"
    if measured := facts.latest("agreement", grid):
        yield from _agreement_sentences(measured, unit)
    if adjudicated := facts.latest("adjudicate", grid, has="waiting"):
        yield _adjudication_sentence(adjudicated, unit)
    if validated := facts.latest("validate", grid, has="to_validate"):
        yield _validation_sentence(validated, unit)
    tiers = [run for run in facts.runs("partition", grid) if "bronze" in run.counts]
    if tiers:
        yield from _tier_sentences(tiers[-1], unit)
    for run in facts.runs("partition", grid):
        if "tier" in run.params:
            counted = _counted(run.counts["pairs"], unit)
            yield _say("frozen", tier=_tier_name(run.params["tier"]), counted=counted)


def _import_sentences(facts: _Facts, grid: str) -> Iterator[str]:
    """What came from files and from other annotation tools, round by round, without what was withdrawn again."""
    withdrawn = {run.params["run"] for run in facts.log if run.stage.endswith(" withdraw")}
    runs = [run for run in facts.log if run.stage.endswith(" import") and grid_of(run) == grid]
    imports: dict[tuple[str, str], list[RunRecord]] = {}
    for run in runs:
        if _n_answers(run) and run.id not in withdrawn:
            imports.setdefault((run.stage.removesuffix(" import"), run.params.get("tool") or ""), []).append(run)
    for (name, tool), group in imports.items():
        numbers = _listed([_shown(_n_answers(run)) for run in group])
        answers, were = ("answer", "was") if numbers == "1" else ("answers", "were")
        source = _sources(tool, len(group))
        yield _say("labels import", source=source, numbers=numbers, answers=answers, round=name, were=were)
        for run in group:
            if {"adjudications", "verdicts"} <= run.counts.keys():
                yield _say("published import", **_counts(run, "adjudications", "verdicts"))


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
            yield _say("dismiss", set_aside=set_aside)


def _agreement_sentences(run: RunRecord, unit: str) -> Iterator[str]:
    if "blocks" in run.counts:
        yield _say("blocks", **_counts(run, "blocks"))
    else:
        yield _say("agreement", unit=unit, **_counts(run, "labels", "pairs", "overlapped"))
    intervals, undefined = run.counts.get("intervals", {}), run.counts.get("undefined", {})
    for name, value in run.counts.items():
        if name in COUNTS_OF_AGREEMENT:
            continue
        key = next((key for start, key in CITED_FIGURES.items() if start in name), None)
        citation = f" [@{key}]" if key else ""
        kind, _, detail = name.partition(", ")
        shown = f"{kind[0].upper()}{kind[1:]}" + (f" ({detail})" if detail else "")
        if value is None:
            yield _say("undefined", name=shown, why=undefined.get(name, "the log does not say why"), citation=citation)
        else:
            ends = intervals.get(name)
            interval = f" ({_shown(float(ends[0]))} to {_shown(float(ends[1]))})" if ends else ""
            yield _say("figure", name=shown, value=float(value), interval=interval, citation=citation)
    if intervals:
        yield _say("intervals", level=f"{run.params['level']:g}", scope=SCOPES[run.params["intervals"]])


def _adjudication_sentence(run: RunRecord, unit: str) -> str:
    policy = run.params.get("policy", "manual")
    if policy == "manual":
        return _say("adjudicate manual")
    by_rule = {"unanimous": "unanimous", "majority": "decided by majority", "median": "decided by the median"}
    outcomes = [
        f"{_counted(n, unit)} {'was' if n == 1 else 'were'} {words}"
        for name, words in by_rule.items()
        if (n := run.counts.get(name))
    ]
    n_discarded = run.counts.get("no_majority", run.counts.get("no_median", 0))
    return _say(
        "adjudicate",
        policy=policy,
        outcomes=_listed(outcomes or [f"none of the {unit} was decided"]),
        ties=TIES[run.params["ties"]],
        n_undecided=f" ({_counted(n_discarded, unit)})" if n_discarded else "",
    )


def _validation_sentence(run: RunRecord, unit: str) -> str:
    blind = ", and answered themselves before they saw the label" if run.params.get("blind") else ""
    values = {"people": _people(run.counts["validators"], "validator"), "loads": _loads(run), "blind": blind}
    return _say("validate", unit=unit, seed=run.params["seed"], **values, **_counts(run, "to_validate"))


def _tier_sentences(run: RunRecord, unit: str) -> Iterator[str]:
    four = [tier.label for tier in reversed(Tier)]
    sizes = _listed([f"{_counted(run.counts[name], unit)} in {name.capitalize()}" for name in four])
    yield _say("tiers", sizes=sizes, unit=unit, diamond=DIAMOND[run.params["diamond"]])
    for name, plan in (run.params.get("own_tiers") or {}).items():
        within = f", within `{plan['within']}`," if plan.get("within") else ""
        counted = _counted(run.counts[name], unit)
        yield _say("own tier", tier=name, within=within, counted=counted, demands=", and ".join(_demands(plan)))


def _tier_name(tier: str) -> str:
    """One of the four by its name; a tier of the study's own as its recipe writes it."""
    return tier.capitalize() if tier in TIERS else f"`{tier}`"


def _counted(n: int, unit: str) -> str:
    return Noun.of(unit.removesuffix("s")).with_number(n)


def _demands(plan: Mapping[str, Any]) -> Iterator[str]:
    counted = "definite labels" if plan.get("counted") == "definite" else "labels"
    equal = "lie on the side of" if plan.get("agreeing") == "side" else "equal"
    agreement = {
        "unanimous": f", all of which {equal} the final one",
        "majority": f"{',' if 'labels' in plan else ''} of which at least two and more than half {equal} the final one",
    }
    is_majority = plan.get("agreement") == "majority"
    least = f"at least {plan['labels']} {counted}" if "labels" in plan else counted if is_majority else f"any {counted}"
    yield least + agreement.get(plan.get("agreement", ""), "")
    if plan.get("answers"):
        yield f"the final label {' or '.join(f'`{answer}`' for answer in plan['answers'])}"
    if plan.get("verdict") != "none":
        yield "a verdict" if plan.get("verdict") == "any" else "the validators' acceptance"


def _evaluation_sentences(facts: _Facts) -> Iterator[str]:
    if (run := facts.latest("evaluate")) is None:
        return
    yield _say(
        "evaluate",
        names=_listed([_cited(f"`{system}`", system, CITED_SYSTEMS) for system in run.params["systems"]]),
        tiers=_listed([_tier_name(tier) for tier in run.params["tiers"]]),
        measures=_listed([_cited(f"`{measure}`", measure, CITED_MEASURES) for measure in run.params["measures"]]),
        k=run.params["k"],
        n_systems=Noun.of("system").with_number(run.counts["systems"]),
        **facts.nouns,
        **_counts(run, "pool", "hs"),
    )
    yield _say("evaluate statistics", resamples=run.params["resamples"], seed=run.params["seed"])


def _cited(shown: str, name: str, references: Mapping[str, str]) -> str:
    key = next((key for start, key in references.items() if name.startswith(start)), None)
    return f"{shown} [@{key}]" if key else shown


def _counts(run: RunRecord, *names: str) -> dict[str, Any]:
    return {name: run.counts[name] for name in names}


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
    parts = [f"{n:,} pairs to {k} {'person' if str(k) == '1' else 'people'}" for k, n in by_labels.items() if n]
    return f": {_listed(parts)}" if parts else ""

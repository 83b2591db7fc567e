"""The methods section of a paper, from the tables of a study and its log; the sentences are in `methods.md.j2`.

In a text, `[@key]` cites a reference of `references.bib`, and what stands between backticks is code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fcpair.done import tell_relabelling
from fcpair.params import MAIN, Adjudicate, Agree, Partition, grid_names
from fcpair.records import TIERS, Known, Origin, Round, RunRecord, Tier
from fcpair.report.formatting import file_name
from fcpair.words import Noun

PLURALS = {"hate speech": "hate-speech messages"}
ANSWERERS = {"annotator": "annotators", "writer": "writers", "rater": "raters", "respondent": "respondents"}
COUNTED = {
    "neither": "neither answer counts, and the pairs were assigned like all others",
    "first": "the first answers count",
    "second": "the second answers count",
}
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
"""Outcomes of pairs, in the order in which they are said; the words in braces follow the number."""
STANDINGS = {
    "passed": "passed",
    "let on": "{were} let on by the lead",
    "waits": "{wait} for a decision by the lead",
    "open": "{have} not finished",
}
GIVEN_BACK = {"skipped": "{were} skipped", "withdrawn": "{were} withdrawn"}
CITED_FIGURES = {"Cohen": "cohen1960", "Fleiss": "fleiss1971", "Krippendorff": "hayes2007", "Gwet": "gwet2008"}
TESTED_FIGURES = ("Fleiss' kappa", "Krippendorff's alpha")
"""Those whose intervals invert a test as well (`add_bounds`)."""
CITED_SYSTEMS = {"tfidf": "sparckjones1972", "bm25": "robertson2009", "sbert": "reimers2019", "cross": "nogueira2019"}
CITED_MEASURES = {
    "MRR": "voorhees1999",
    "NDCG": "jarvelin2002",
    "MAP": "buckley2000",
    "bpref": "buckley2004",
    "RBP": "moffat2008",
}
BENCHMARKS = {
    "bbq": "BBQ [@parrish2022]",
    "kobbq": "KoBBQ [@jin2024]",
    "cbbq": "CBBQ [@huang2023]",
    "pbbq": "PBBQ [@farsi2025]",
}
COUNTS_OF_AGREEMENT = ("labels", "pairs", "overlapped", "blocks", "intervals", "undefined")


class Section(NamedTuple):
    """A paragraph of the methods: of which grid it is, and its text; the first, and the last two, are of the study."""

    heading: str
    text: str


class AnswerSource(NamedTuple):
    """Number of current answers, or skips, from one run, or from the pages; `model` is empty but for models."""

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

    `preparing` are its rounds of known pairs and of a calibration. `pairs_by_labels` counts pairs by how many
    people label them, `standings` people by how they stand in a qualification, `outcomes` pairs by OUTCOMES. Of the
    final labels `n_valid` and `n_invalid` have a verdict; `n_lost` have verdicts on another label alone. `tiers`,
    `ranking` (how texts were ranked) and `agreement` are empty if there are none to speak of.
    """

    rounds: tuple[RoundState, ...] = ()
    preparing: tuple[RoundState, ...] = ()
    pairs_by_labels: Mapping[int, int] = field(default_factory=dict)
    standings: Mapping[str, int] = field(default_factory=dict)
    policy: Adjudicate | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)
    n_valid: int = 0
    n_invalid: int = 0
    n_lost: int = 0
    rules: Partition = field(default_factory=Partition)
    tiers: Mapping[str, int] = field(default_factory=dict)
    ranking: str = ""
    agree: Agree = field(default_factory=Agree)
    agreement: Mapping[str, Any] = field(default_factory=dict)
    block_notes: Sequence[str] = ()

    @property
    def n_labels(self) -> int:
        """Number of labels that pairs are to have."""
        return sum(k * n for k, n in self.pairs_by_labels.items())

    @property
    def n_judged(self) -> int:
        """Number of pairs with a label or a decision; 0 where all of them wait."""
        return sum(self.outcomes.values()) if any(n and of != "waiting" for of, n in self.outcomes.items()) else 0


def write_sections(
    log: Sequence[RunRecord],
    states: Mapping[str, GridState],
    evaluation: RunRecord | None = None,
    rules: Mapping[str, str] | None = None,
) -> list[Section]:
    """The paragraphs, from the runs of a study, oldest first, and the state of each grid by its name. `evaluation` is
    the run to speak of, by these `rules` of its tiers where they are not those of the study.
    """
    facts, paragraphs = _Facts(log, states), _paragraphs()
    sections = [
        ("Corpus, grid and labels", paragraphs.main(facts, evaluation, rules or {})),
        *((f"Grid {name}", paragraphs.grid(facts, name)) for name in facts.plans),
        ("Release", paragraphs.release(facts)),
        ("Software", paragraphs.software(facts)),
    ]
    texts = [Section(heading, re.sub(r"\s*\n\s*", " ", text).strip()) for heading, text in sections]
    return [section for section in texts if section.text]


@cache
def _paragraphs() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("fcpair.report", "."), undefined=StrictUndefined, finalize=shown)
    environment.filters["tier_name"] = tier_name
    environment.globals.update({of.__name__: of for of in _FUNCTIONS})
    words = {"STANDINGS": STANDINGS, "OUTCOMES": OUTCOMES, "GIVEN_BACK": GIVEN_BACK, "COUNTED": COUNTED}
    environment.globals.update(words, BENCHMARKS=BENCHMARKS)
    return environment.get_template("methods.md.j2").module


class _Facts:
    def __init__(self, log: Sequence[RunRecord], states: Mapping[str, GridState]) -> None:
        self.log = log
        self._states = states
        self.plans: dict[str, Any] = {}
        for run in log:
            if run.stage == "grid":
                self.plans.setdefault(run.counts["grid"], run.params["rounds"])
        setup = self.latest("init")
        names = (setup.params.get("hs_name", "HS"), setup.params.get("cn_name", "CN")) if setup else ("HS", "CN")
        self.rows_noun, self.columns_noun = (PLURALS.get(name, Noun.of(name).many) for name in names)
        self.dismissals = [run for run in log if run.stage == "dismiss"]
        released = [run for run in self.runs("release") if not run.params.get("draft")]
        self.releases = {run.params["name"]: run for run in released}

    def state(self, grid: str) -> GridState:
        return self._states.get(grid, GridState())

    def runs(self, stage: str, grid: str = MAIN) -> list[RunRecord]:
        return [run for run in self.log if run.stage == stage and grid_of(run) == grid]

    def latest(self, stage: str, grid: str = MAIN, has: str | None = None) -> RunRecord | None:
        runs = [run for run in self.runs(stage, grid) if has is None or has in run.counts]
        return runs[-1] if runs else None

    @property
    def extensions(self) -> list[RunRecord]:
        """The runs that extended the grid `main` as it stands."""
        made = [run.id for run in self.runs("pair")]
        return [run for run in self.runs("extend") if run.id > max(made, default=0)]

    def plan(self, grid: str) -> dict[str, Any]:
        """The rounds of a planned grid by their names."""
        return {round_["name"]: round_ for round_ in self.plans[grid]}

    def deals(self, grid: str, state: RoundState) -> list[RunRecord]:
        """The runs that gave out what stands of a round of a planned grid."""
        deals = [run for run in self.runs("assign", grid) if run.params.get("round") == state.round.name]
        return deals if state.round.options.per_batch else last_deal(deals)

    def has_controls(self, grid: str) -> bool:
        """Return whether control pairs were assigned."""
        return any(run.counts.get(str(Known.CONTROLS)) for run in self.runs("assign", grid))

    def bias_scores(self, grid: str) -> list[RunRecord]:
        """The last run of each scheme on each round."""
        return [*{(run.params["round"], run.params["as"]): run for run in self.runs("bias score", grid)}.values()]

    def frozen_tiers(self, grid: str) -> dict[str, RunRecord]:
        """The last run that wrote each tier."""
        return {run.params["tier"]: run for run in self.runs("partition", grid) if "tier" in run.params}

    def simulation_seeds(self, sources: Sequence[AnswerSource]) -> list[str]:
        """The seeds of the runs that simulated these answers."""
        made = {source.run for source in sources}
        simulations = [run for run in self.log if run.stage == "simulate"]
        known = [run for run in simulations if run.id in made]
        return [*dict.fromkeys(str(run.params["seed"]) for run in known or simulations)]

    def places_of(self, sources: Sequence[AnswerSource]) -> str:
        """Say how many answers came from the pages, from files and from the exports of each tool.

        What came by a file into a calibration was carried over by the run that assigned the round.
        """
        by_id, by_place = {run.id: run for run in self.log}, dict[str, Counter[int | None]]()
        for source in sources:
            run = None if source.run is None else by_id.get(source.run)
            tool = run.params.get("tool") if run else None
            file = "calibration" if run and run.stage == "assign" else f"export of `{tool}`" if tool else "file"
            if not source.skipped:
                place = "pages" if source.origin == Origin.ONLINE.value else file
                by_place.setdefault(place, Counter())[source.run] += source.n
        words, parts = {"pages": "on the pages", "calibration": "in the calibration"}, []
        for place, by_run in by_place.items():
            noun, of, tool = place.partition(" of ")
            parts.append((by_run.total(), words.get(place, f"in {counted(len(by_run), noun)}{of}{tool}")))
        return f" {parts[0][1]}" if len(parts) == 1 else f": {listed([f'{n:,} {place}' for n, place in parts])}"


def grid_of(run: RunRecord) -> str:
    """The grid that a run is about."""
    return str(run.params.get("grid") or run.counts.get("grid") or MAIN)


def last_deal(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs that gave out what stands of a round: the last that did not add to what there was, and all after it."""
    begun = [at for at, run in enumerate(runs) if not (run.params.get("more") or run.params.get("close"))]
    return [run for run in runs[begun[-1] if begun else 0 :] if not run.params.get("close")]


def shown(value: Any) -> str:
    """A value in a sentence: numbers of things with separators of thousands, others with three decimals."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def listed(parts: Sequence[str]) -> str:
    """The parts with commas, and an `and` before the last."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def quoted(names: Iterable[str]) -> str:
    """The names as code, listed."""
    return listed([f"`{name}`" for name in names])


def counted(n: int, word: str) -> str:
    """A number with its noun, as `1 pair`; the `word` may be the plural."""
    return Noun.of(word.removesuffix("s")).with_number(n)


def counted_answers(sources: Sequence[AnswerSource]) -> str:
    """The number of answers, skips left out."""
    return counted(sum(source.n for source in sources if not source.skipped), "answer")


def times(n: int) -> str:
    """Say how often, in words."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def people_of(n: int, role: str) -> str:
    """So many people in a role."""
    return f"{n:,} {role if n == 1 else ANSWERERS.get(role, f'{role}s')}"


def loads_of(state: RoundState) -> str:
    """Number of assignments of each person."""
    if len(state.loads) == 1:
        return "all of them"
    least, most = min(state.loads), max(state.loads)
    return f"{least:,} to each" if least == most else f"{least:,} to {most:,} to each"


def seeds_of(runs: Sequence[RunRecord]) -> str:
    """The seeds of runs, each once, and how many runs there were if not one."""
    seeds = [f"{seed:,}" for seed in dict.fromkeys(run.params["seed"] for run in runs)]
    steps = f"{len(runs):,} steps, " if len(runs) > 1 else ""
    return f"{steps}seed{'s' * (len(seeds) > 1)} {listed(seeds)}"


def labels_clause(state: GridState) -> str:
    """Say how many pairs were given to how many people."""
    parts = [
        f"{counted(n, 'pair')} to {k} {'person' if k == 1 else 'people'}" for k, n in state.pairs_by_labels.items() if n
    ]
    return f": {listed(parts)}" if parts else ""


def outcomes(words: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """The counts in the words for each, in the order of the words."""
    verbs, parts = {"were": "was", "wait": "waits", "have": "has"}, []
    for name, phrase in words.items():
        if n := counts.get(name, 0):
            fitting = {many: verb if n == 1 else many for many, verb in verbs.items()}
            parts.append(f"{n:,} {phrase.format(**fitting)}")
    return listed(parts)


def tier_name(tier: str) -> str:
    """One of the four by its name; a tier of the study's own as its recipe writes it."""
    return tier.capitalize() if tier in TIERS else f"`{tier}`"


def tier_sizes(state: GridState, unit: str) -> str:
    """Number of pairs in each of the four tiers, the smallest last."""
    four = [tier.label for tier in reversed(Tier)]
    return listed([f"{counted(state.tiers[name], unit)} in {tier_name(name)}" for name in four])


def released_sizes(pairs: Mapping[str, int]) -> str:
    """Number of pairs in each tier of a release."""
    return listed([f"{counted(n, 'pair')} in `{tier}`" for tier, n in pairs.items()])


def demands_of(plan: Mapping[str, Any]) -> str:
    """Requirements of a tier of the study's own."""
    labels = "definite labels" if plan.get("counted") == "definite" else "labels"
    equal = "lie on the side of" if plan.get("agreeing") == "side" else "equal"
    agreement = {
        "unanimous": f", all of which {equal} the final one",
        "majority": f"{',' if 'labels' in plan else ''} of which at least two and more than half {equal} the final one",
    }
    unlimited = labels if (plan.get("agreement") == "majority") else f"any number of {labels}"
    least = f"at least {plan['labels']} {labels}" if "labels" in plan else unlimited
    answers = " or ".join(f"`{answer}`" for answer in plan.get("answers", ()))
    demands = [f"the final label {answers}" if answers else "a final label"]
    demands.append(least + agreement.get(plan.get("agreement", ""), ""))
    if plan.get("verdict") != "none":
        demands.append("a verdict" if plan.get("verdict") == "any" else "the validators' acceptance")
    return ", and ".join(demands)


def agreement_figures(counts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each figure of agreement: its name and citation, its value and interval, or why it is undefined."""
    intervals, undefined = counts.get("intervals", {}), counts.get("undefined", {})
    for name, value in counts.items():
        if name not in COUNTS_OF_AGREEMENT:
            kind, _, detail = name.partition(", ")
            key = next((key for start, key in CITED_FIGURES.items() if start in name), None)
            title, cited = f"{kind[0].upper()}{kind[1:]}" + (f" ({detail})" if detail else ""), key and f" [@{key}]"
            ends, why = intervals.get(name), undefined.get(name)
            yield {"name": title, "citation": cited or "", "value": value, "ends": ends, "why": why}


def tested_figures(counts: Mapping[str, Any]) -> list[str]:
    """The figures whose intervals invert a test as well."""
    return [kind for kind in TESTED_FIGURES if any(kind in name for name in counts.get("intervals", ()))]


def value_with_ends(value: float | None, ends: Sequence[float] | None) -> str:
    """A figure and its interval, where it has one."""
    if value is None:
        return "undefined"
    return shown(float(value)) + (f" ({shown(float(ends[0]))} to {shown(float(ends[1]))})" if ends else "")


def scores_of(scores: Mapping[str, float | None], ends: Mapping[str, Sequence[float]]) -> list[str]:
    """The scores of a model, each with its interval."""
    return [f"`{name}` was {value_with_ends(value, ends.get(name))}" for name, value in scores.items()]


def divergences_of(values: Mapping[str, float | None]) -> list[str]:
    """Say how far the answers of each model are from those of people."""
    return [
        f"{'an undefined amount' if value is None else f'{shown(float(value))} nats'} (`{model}`)"
        for model, value in values.items()
    ]


def cited_systems(params: Mapping[str, Any]) -> str:
    """The systems, with the name of its file alone where one says in which folder of a machine that is."""
    systems = [*params["systems"], *(f"function:{name}" for name in params.get("functions", ()))]
    return listed([_cited(file_name(system), system, CITED_SYSTEMS) for system in systems])


def cited_measures(measures: Sequence[str]) -> str:
    """The measures, each with its source."""
    return listed([_cited(measure, measure, CITED_MEASURES) for measure in measures])


def _cited(text: str, name: str, references: Mapping[str, str]) -> str:
    key = next((key for start, key in references.items() if name.startswith(start)), None)
    return f"`{text}`" + (f" [@{key}]" if key else "")


_FUNCTIONS = (
    *(agreement_figures, cited_measures, cited_systems, counted, counted_answers, demands_of, divergences_of),
    *(grid_names, labels_clause, last_deal, listed, loads_of, outcomes, people_of, quoted, released_sizes, scores_of),
    *(seeds_of, shown, tell_relabelling, tested_figures, tier_sizes, times, value_with_ends),
)
"""The functions that the template calls."""


CITATION = re.compile(r" ?\[(@\w+(?:; @\w+)*)\]")
_ENTRY = re.compile(r"^@\w+\{(\w+),\n.*?^\}\n", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"(\w+) = \{((?:[^{}]|\{[^{}]*\})*)\}")
_CODE = re.compile(r"`([^`]*)`")
_ACCENT = re.compile(r"\{?\\\"(\w)\}?")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # \textquotedbl is not in every encoding of fonts
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)|(?<=`)(?=`)")
_UMLAUTS = {"a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}


@cache
def entries() -> dict[str, str]:
    """The references that can be cited, as BibTeX, by their keys."""
    text = (Path(__file__).parent / "references.bib").read_text("utf-8")
    return {match[1]: match[0] for match in _ENTRY.finditer(text)}


def cited_keys(texts: Iterable[str]) -> list[str]:
    """The keys that texts cite, each once, in their order."""
    citations = (key for text in texts for match in CITATION.finditer(text) for key in match[1].split("; "))
    return list(dict.fromkeys(key.removeprefix("@") for key in citations))


def bibtex(keys: Iterable[str]) -> str:
    """The references of these keys as a .bib file."""
    return "\n".join(entries()[key] for key in keys)


def reference_line(key: str) -> str:
    """A reference in a line of Markdown, with a link by its DOI, or by its address where it has none."""
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(entries()[key]):  # without the marks of LaTeX
        text = _ACCENT.sub(lambda match: _UMLAUTS[match[1]], value)
        fields[name] = text.replace(r"\&", "&").replace("{", "").replace("}", "")
    authors = fields["author"].replace(" and ", "; ")
    place = fields.get("journal") or fields["booktitle"]
    doi = fields.get("doi")
    link = f"[doi:{doi}](https://doi.org/{doi})" if doi else f"<{fields['url']}>"
    return f"{authors} ({fields['year']}). {fields['title']}. *{place}*. {link}"


def as_latex(text: str) -> str:
    """A text in LaTeX: signs that mean something there are escaped, citations are `\\cite`, code is `\\texttt`."""
    parts = []
    for at, part in enumerate(CITATION.split(text)):  # by turns what stands between citations, and what each cites
        if at % 2:
            parts.append(f"~\\cite{{{part.replace('@', '').replace('; ', ',')}}}")
        else:
            words = enumerate(map(escape_latex, _CODE.split(part)))
            parts += [f"\\texttt{{{word}}}" if is_code % 2 else word for is_code, word in words]
    return "".join(parts)


def escape_latex(text: str) -> str:
    """A text in LaTeX, every sign as it is written: two hyphens in a row are no dash."""
    return _LIGATURE.sub("{}", "".join(_LATEX.get(sign, sign) for sign in text))

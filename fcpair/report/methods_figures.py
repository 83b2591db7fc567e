"""Sentences of the methods section on what was measured: agreement, retrieval by systems, bias of models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fcpair.params import Agree
from fcpair.records import TIERS, Role, RunRecord
from fcpair.report.methods_templates import counted, listed, say, shown

SCOPES = {"texts": "rows and columns", "annotators": "rows, columns and annotators"}
CITED_FIGURES = {
    "Cohen": "cohen1960",
    "Fleiss": "fleiss1971",
    "Krippendorff": "hayes2007",
    "Gwet": "gwet2008",
}
CITED_SYSTEMS = {
    "tfidf": "sparckjones1972",
    "bm25": "robertson2009",
    "sbert": "reimers2019",
    "cross": "nogueira2019",
}
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
_ROOT = r"(?:/(?!/)|[A-Za-z]:[/\\])"
_FOLDERS = re.compile(rf"""(?<=["]){_ROOT}(?:[^"]*[/\\])?|(?<=[=:(,]){_ROOT}(?:[^,()"]*[/\\])?""")


def tier_name(tier: str) -> str:
    """One of the four by its name; a tier of the study's own as its recipe writes it."""
    return tier.capitalize() if tier in TIERS else f"`{tier}`"


def counts_of(counts: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Some of the counts, by their names."""
    return {name: counts[name] for name in names}


def agreement_sentences(counts: Mapping[str, Any], options: Agree, unit: str) -> Iterator[str]:
    """How far answers agree: on what it was measured, each figure with its interval, and what the intervals rest on."""
    if "blocks" in counts:
        yield say("blocks", **counts_of(counts, "blocks"))
    elif not counts["overlapped"]:
        yield say("no overlap", unit=unit)
        return
    else:
        yield say("agreement", unit=unit, **counts_of(counts, "labels", "pairs", "overlapped"))
    if options.not_sure == "drop":
        yield say("definite")
    intervals, undefined = counts.get("intervals", {}), counts.get("undefined", {})
    for name, value in counts.items():
        if name in COUNTS_OF_AGREEMENT:
            continue
        key = next((key for start, key in CITED_FIGURES.items() if start in name), None)
        citation = f" [@{key}]" if key else ""
        kind, _, detail = name.partition(", ")
        figure = f"{kind[0].upper()}{kind[1:]}" + (f" ({detail})" if detail else "")
        if value is None:
            yield say("undefined", name=figure, why=undefined[name], citation=citation)
        else:
            yield say("figure", name=figure, value=_value_with_ends(value, intervals.get(name)), citation=citation)
    if intervals:
        yield say("intervals", level=f"{options.level:g}", scope=SCOPES[options.intervals])


def evaluation_sentences(run: RunRecord, nouns: Mapping[str, str], rules: Mapping[str, str]) -> Iterator[str]:
    """How systems were evaluated: which, on which tiers, by which measures and statistics.

    `rules` are those of its tiers that are not the study's own.
    """
    yield say(
        "evaluate",
        names=listed(
            [_cited(f"`{_without_folders(system)}`", system, CITED_SYSTEMS) for system in run.params["systems"]]
        ),
        tiers=listed([tier_name(tier) for tier in run.params["tiers"]]),
        measures=listed([_cited(f"`{measure}`", measure, CITED_MEASURES) for measure in run.params["measures"]]),
        k=run.params["k"],
        which="each of which" if run.counts["systems"] > 1 else "which",
        n_systems=counted(run.counts["systems"], "system"),
        **nouns,
        **counts_of(run.counts, "pool", "hs"),
    )
    for tier, rule in rules.items():
        yield say("evaluate rule", tier=tier_name(tier), rule=rule)
    tests = say("compared") if run.counts["systems"] > 1 else ""
    yield say("evaluate statistics", tests=tests, resamples=run.params["resamples"], seed=run.params["seed"])


def bias_sentences(run: RunRecord) -> Iterator[str]:
    """How biased answers are: by which definitions, on what, and the scores of each model; people are not named."""
    n_unreadable, n_categories = run.counts["unreadable"], run.counts["categories"]
    yield say(
        "bias",
        round=run.params["round"],
        benchmark=BENCHMARKS[run.params["as"]],
        answers=counted(run.counts["answers"], "answer"),
        unreadable=f" ({n_unreadable:,} of them unreadable)" if n_unreadable else "",
        categories="1 category" if n_categories == 1 else f"{n_categories:,} categories",
    )
    if run.params["role"] != Role.MODEL.value:
        return
    means = " (means over categories)" if n_categories > 1 else ""
    for model, scores in run.counts["scores"].items():
        ends = run.counts["intervals"][model]
        figures = [f"`{name}` was {_value_with_ends(value, ends.get(name))}" for name, value in scores.items()]
        yield say("bias scores", model=model, scores=listed(figures), means=means)
    if any(run.counts["intervals"].values()):
        yield say("bias intervals")
    if "divergence" in run.counts:
        yield _divergence_sentence(run)


def _divergence_sentence(run: RunRecord) -> str:
    divergences = [
        f"{'an undefined amount' if value is None else f'{shown(float(value))} nats'} (`{model}`)"
        for model, value in run.counts["divergence"].items()
    ]
    smooth = run.params["smooth"]
    smoothed = f", with {smooth:g} added to both shares of a model" if smooth else ""
    asked = {name: run.params[name] for name in ("question", "survey")}
    return say("divergence", divergences=listed(divergences), smoothed=smoothed, **asked)


def _value_with_ends(value: float | None, ends: Sequence[float] | None) -> str:
    """A figure and its interval, where it has one."""
    if value is None:
        return "undefined"
    return shown(float(value)) + (f" ({shown(float(ends[0]))} to {shown(float(ends[1]))})" if ends else "")


def _without_folders(system: str) -> str:
    """A system with the name of its file alone, where it says in which folder of a machine that is."""
    return _FOLDERS.sub("", system)


def _cited(text: str, name: str, references: Mapping[str, str]) -> str:
    key = next((key for start, key in references.items() if name.startswith(start)), None)
    return f"{text} [@{key}]" if key else text

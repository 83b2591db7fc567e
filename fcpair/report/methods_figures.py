"""Sentences of the methods section on what was measured: agreement, and how well systems retrieve."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fcpair.records import TIERS, RunRecord
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
COUNTS_OF_AGREEMENT = ("labels", "pairs", "overlapped", "blocks", "intervals", "undefined")
_ROOT = r"(?:/(?!/)|[A-Za-z]:[/\\])"
_FOLDERS = re.compile(rf"""(?<=["]){_ROOT}(?:[^"]*[/\\])?|(?<=[=:(,]){_ROOT}(?:[^,()"]*[/\\])?""")


def tier_name(tier: str) -> str:
    """One of the four by its name; a tier of the study's own as its recipe writes it."""
    return tier.capitalize() if tier in TIERS else f"`{tier}`"


def counts_of(run: RunRecord, *names: str) -> dict[str, Any]:
    """Some counts of a run, by their names."""
    return {name: run.counts[name] for name in names}


def agreement_sentences(run: RunRecord, unit: str) -> Iterator[str]:
    """How far answers agree: on what it was measured, each figure with its interval, and what the intervals rest on."""
    if "blocks" in run.counts:
        yield say("blocks", **counts_of(run, "blocks"))
    else:
        yield say("agreement", unit=unit, **counts_of(run, "labels", "pairs", "overlapped"))
    if run.params.get("not_sure") == "drop":
        yield say("definite")
    intervals, undefined = run.counts.get("intervals", {}), run.counts.get("undefined", {})
    for name, value in run.counts.items():
        if name in COUNTS_OF_AGREEMENT:
            continue
        key = next((key for start, key in CITED_FIGURES.items() if start in name), None)
        citation = f" [@{key}]" if key else ""
        kind, _, detail = name.partition(", ")
        figure = f"{kind[0].upper()}{kind[1:]}" + (f" ({detail})" if detail else "")
        if value is None:
            yield say("undefined", name=figure, why=undefined.get(name, "the log does not say why"), citation=citation)
        else:
            ends = intervals.get(name)
            interval = f" ({shown(float(ends[0]))} to {shown(float(ends[1]))})" if ends else ""
            yield say("figure", name=figure, value=float(value), interval=interval, citation=citation)
    if intervals:
        yield say("intervals", level=f"{run.params['level']:g}", scope=SCOPES[run.params["intervals"]])


def evaluation_sentences(run: RunRecord, nouns: Mapping[str, str]) -> Iterator[str]:
    """How systems were evaluated: which, on which tiers, by which measures and statistics."""
    yield say(
        "evaluate",
        names=listed(
            [_cited(f"`{_without_folders(system)}`", system, CITED_SYSTEMS) for system in run.params["systems"]]
        ),
        tiers=listed([tier_name(tier) for tier in run.params["tiers"]]),
        measures=listed([_cited(f"`{measure}`", measure, CITED_MEASURES) for measure in run.params["measures"]]),
        k=run.params["k"],
        n_systems=counted(run.counts["systems"], "system"),
        **nouns,
        **counts_of(run, "pool", "hs"),
    )
    tests = say("compared") if run.counts["systems"] > 1 else ""
    yield say("evaluate statistics", tests=tests, resamples=run.params["resamples"], seed=run.params["seed"])


def _without_folders(system: str) -> str:
    """A system with the name of its file alone, where it says in which folder of a machine that is."""
    return _FOLDERS.sub("", system)


def _cited(text: str, name: str, references: Mapping[str, str]) -> str:
    key = next((key for start, key in references.items() if name.startswith(start)), None)
    return f"{text} [@{key}]" if key else text

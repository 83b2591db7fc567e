"""What a report cannot say, and why: figures without a value, and stages that are not done yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fcpair.evaluate.outcome import Outcome
from fcpair.records import Figure
from fcpair.report.data import PersonFigures, ReportData
from fcpair.report.evaluation import without_folders
from fcpair.report.words import count, counted
from fcpair.stages.agree import Agreement


@dataclass(frozen=True)
class Gap:
    """Something that the report lacks, what it would rest on, and why it is not there."""

    what: str
    n: str
    why: str


def gaps(data: ReportData) -> list[Gap]:
    """Everything undefined in the report, in its order."""
    found = [
        Gap(f"stage “{one.name}”", "", f"not done yet: run `{one.command}`") for one in data.stages if not one.done
    ]
    found += [] if data.grid else [Gap("the maps of the grid", "0 pairs", "the study has no grid yet")]
    found += _of_agreement(data.agreement) if data.agreement else [_without_labels("agreement")]
    found += _of_tiers(data) if data.tiers else [_without_labels("the tiers")]
    found += _of_evaluation(without_folders(data.evaluation.outcome)) if data.evaluation else []
    found += [gap for one in data.annotators for gap in _of_person(one, "label")]
    found += [gap for one in data.validators for gap in _of_person(one, "verdict")]
    return found


def _without_labels(what: str) -> Gap:
    return Gap(what, "0 labels", "it rests on labels, and there are none yet")


def _of_agreement(agreement: Agreement) -> Iterator[Gap]:
    yield from (_of_figure(figure, figure.name) for figure in agreement.pooled if figure.undefined)
    yield from (_of_figure(figure, figure.name) for figure in agreement.summary if figure.undefined)
    for subset in agreement.subsets:
        if subset.kappa.undefined:
            yield _of_figure(subset.kappa, f"{subset.kappa.name}, {' and '.join(subset.annotators)}")


def _of_figure(figure: Figure, name: str) -> Gap:
    return Gap(name, counted(figure.n, "pair"), figure.undefined or "")


def _of_tiers(data: ReportData) -> Iterator[Gap]:
    if data.tiers is None:
        return
    for row in data.tiers.tables[1].itertuples(index=False):
        if not row.pairs:
            yield Gap(f"share of positive pairs, {str(row.tier).capitalize()}", "0 pairs", "the tier is empty")


def _of_evaluation(outcome: Outcome) -> Iterator[Gap]:
    """What is undefined for the same reason is told once: a tier without positives has no score of any system."""
    scores = ((one.tier, one.n, one.score is None, one.undefined) for one in outcome.scores if one.undefined)
    for tier, n, no_score, why in dict.fromkeys(scores):
        yield Gap(f"{'scores' if no_score else 'intervals of scores'} on {tier.capitalize()}", f"{n:,} HS", why or "")
    yield from _of_spreads(outcome)
    for one in outcome.concordances if len(outcome.systems) > 1 else ():
        if one.undefined:
            tiers = f"{one.one.capitalize()} and {one.other.capitalize()}"
            yield Gap(f"Kendall's tau of {tiers}, {one.measure}", counted(one.n_systems, "system"), one.undefined)


def _of_spreads(outcome: Outcome) -> Iterator[Gap]:
    systems: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in outcome.spreads:
        if row.undefined:
            what = "spread over tiers" if row.mean is None else "coefficient of variation over tiers"
            systems.setdefault((what, row.measure, row.undefined), {})[row.system] = None
    for (what, measure, why), names in systems.items():
        yield Gap(f"{what}, {measure}: {', '.join(names)}", counted(len(outcome.tiers), "tier"), why)


def _of_person(one: PersonFigures, answer: str) -> Iterator[Gap]:
    n = counted(one.n_answers, answer)
    if not one.n_answers:
        yield Gap(f"shares of answers, {one.name}", n, f"they have given no {answer} yet")
    if one.median_s is None:
        why = "no answer has a known time; answers from files and simulated people often have none"
        yield Gap(f"median seconds per answer, {one.name}", f"0 of {count(one.n_answers + one.skipped)} timed", why)

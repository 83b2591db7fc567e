"""The words on the figures of an evaluation: what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from fcpair.evaluate.outcome import ALPHA, Outcome, Score, TierFacts
from fcpair.report.figures.labels import make_printable
from fcpair.stages.stats.paired_tests import needed_hs, needed_resamples


def fine_print(outcome: Outcome, scores: Sequence[Score]) -> Iterator[str]:
    """Yield sentences on what the figure of a measure rests on; `scores` are those of the measure."""
    yield from warnings(outcome)
    if outcome.sampled:
        yield f"Grid: {outcome.sampled}."
    yield f"Pool {make_printable(PurePath(outcome.pool).name)}: {outcome.tiers[0].pool:,} CNs."
    if outcome.gains and any(score.measure.startswith("NDCG") for score in scores):
        yield f"{outcome.gains[0].upper()}{outcome.gains[1:]}."
    if any(score.lowest is not None for score in scores):
        yield "Bars: unjudged pairs count as not appropriate."
    elif any(score.score is not None for score in scores):
        yield "Unjudged pairs are counted in one way only, so there is no lowest and no highest score."
    if tier_counts := _format_tier_counts(outcome.tiers, "without_positives"):
        treatment = "counted too" if outcome.no_positives == "zero" else "left out"
        yield f"HS without an appropriate CN in the pool, {treatment}: {tier_counts}."
    if outside := _format_tier_counts(outcome.tiers, "outside"):
        yield f"Judged pairs outside of the pool, left out: {outside}."
    for why, tiers in _tiers_by_reason(scores).items():
        yield f"Undefined on {', '.join(tier.capitalize() for tier in tiers)}: {why}."


def warnings(outcome: Outcome) -> Iterator[str]:
    """Yield what stands in a picture even where all else is in a caption: that answers were made up."""
    if outcome.simulated:
        yield f"{outcome.simulated}."


def significance_cautions(outcome: Outcome) -> Iterator[str]:
    """Where no test between two systems can be significant, whatever they score, and what it would take."""
    if not outcome.n_pairs:
        return
    n_pairs = "1 pair" if outcome.n_pairs == 1 else f"{outcome.n_pairs:,} pairs"
    family = f"Holm's correction multiplies it by the {n_pairs} of systems of a tier and measure"
    enough = needed_hs(outcome.n_pairs, ALPHA)
    n_hs = {test.tier: test.n for test in outcome.comparisons}
    for tier, n in n_hs.items():
        if n < enough:
            yield (
                f"no test on {tier} can reach p < {ALPHA}: the least p of {n} HS is 2 / {2**n:,}, and {family}; "
                f"it takes {enough} HS, however often it is resampled"
            )
    needed = needed_resamples(outcome.n_pairs, ALPHA)
    if outcome.resamples < needed and max(n_hs.values(), default=0) >= enough:
        yield (
            f"no test can reach p < {ALPHA}: the least p of {outcome.resamples:,} resamples is "
            f"1 / {outcome.resamples + 1:,}, and {family}; it takes --resamples {needed} or more"
        )


def _format_tier_counts(tiers: Sequence[TierFacts], count: str) -> str:
    """A count of each tier that has any."""
    counts = {one.tier: getattr(one, count) for one in tiers}
    return ", ".join(f"{tier.capitalize()}\u00a0{n:,}" for tier, n in counts.items() if n)


def _tiers_by_reason(scores: Sequence[Score]) -> dict[str, list[str]]:
    """Why something is undefined, and on which tiers."""
    tiers_by_reason: dict[str, list[str]] = {}
    for why, tier in dict.fromkeys((score.undefined, score.tier) for score in scores if score.undefined):
        tiers_by_reason.setdefault(why or "", []).append(tier)
    return tiers_by_reason

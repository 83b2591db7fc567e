"""The sentences of the methods section of a paper; what fills them is in the modules `methods*` beside this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fcpair.words import Noun

TEMPLATES = {
    "import": "The corpus had {rows} rows, with {hs} distinct {rows_noun} and {cn} distinct {columns_noun}.",
    "select": "Of these, {hs} {rows_noun} were drawn at random{stratified} (seed {seed}).",
    "select all": "All {hs} {rows_noun} were selected.",
    "select list": "Of these, {hs} {rows_noun} were chosen from a list.",
    "source": "The {source_cns} {columns_noun} that the corpus pairs with them served for retrieval alone.",
    "retrieve": (
        "For each of them, the {k} nearest {columns_noun} of the corpus were retrieved by cosine similarity of "
        "sentence embeddings [@reimers2019] of the model `{model}`{counting}, which gave "
        "{neighbours} neighbours. Without the {columns_noun} that had served for retrieval, {candidates} candidates "
        "were left."
    ),
    "candidates": "As candidates, {candidates} {columns_noun} were taken {source}.",
    "pair": (
        "The {hs} {rows_noun} and {cn} {columns_noun}{drawn} made {pairs}, all of which were to be judged{known}."
    ),
    "sample": (
        "From the {product} that the {hs} {rows_noun} and {cn} {columns_noun}{drawn} make{known}, {pairs} were drawn "
        "at random to be judged (seed {seed})."
    ),
    "assign": "The pairs were assigned to {people} as {assignments} assignments ({seeds}), {loads}{by_labels}.",
    "assign open": "Pairs were given on request to whoever came, for {labels} in all ({seeds}){by_labels}.",
    "still open": "Of these, {n} {are} still open.",
    "given back": "Besides, {gone}; others may have taken them over.",
    "qualification": (
        "Before their shards, people were to qualify on {asked} with known answers (seed {seed}); whoever had less "
        "than {pass_mark} of their answers right was to wait for a decision by the lead."
    ),
    "qualified": "Of {people} who were given them, {outcomes}.",
    "controls": (
        "Among the other pairs of the shards, a share of {rate} {were} control pairs, drawn from {pairs} with known "
        "answers (seed {seed}), which nothing told from the others. Answers to them are in no tier and no agreement."
    ),
    "calibration": (
        "For calibration, a first batch of {pairs} pairs (seed {seed}) was assigned to {people}, all of it to each."
    ),
    "discussion": "They differed on {differing} of these, which they discussed without names of who had answered.",
    "second answers": "They then gave {second_answers} once more; {counts}.",
    "cells": "The grid `{grid}` had {rows_counted} and {columns_counted}, and {cells} cells.",
    "answers of": "Its {axis} were the answers in the {of_grids}.",
    "names": "{columns_were} {names}.",
    "drawn": "From the source `{source}`, {drawn} of {rows} {what} were taken.",
    "merged": "Rows with the same text are one row of the grid.",
    "round": (
        "In the round `{round}`, {assignments} units of work on {cells} cells were assigned to {people} ({seeds}), "
        "{loads}."
    ),
    "form": "The form was `{form}`.",
    "generate": "In the round `{round}`, {models} gave {answers}{skipped}.",
    "simulate": (
        "In the round `{round}`, answers were simulated: software, and not people, gave {answers}{skipped} "
        "(seed {seed})."
    ),
    "answers": "In the round `{round}`, {answers} {were} given{where}{skipped}.",
    "dismiss": "One person was dismissed; {set_aside}.",
    "agreement": (
        "Agreement was measured before adjudication, on {labels} answers to {pairs} {unit}; {overlapped} {unit} had "
        "two answers or more."
    ),
    "no overlap": "Agreement was not measured, as none of the {unit} had two answers.",
    "blocks": "Agreement was measured before adjudication, on {blocks} parts of the answers.",
    "definite": "Answers that were not definite were left out.",
    "figure": "{name}{citation} was {value}.",
    "undefined": "{name}{citation} was undefined, because {why}.",
    "intervals": (
        "Intervals, at a confidence level of {level}, rest on the jackknife [@efron1981] over {scope}, and over what "
        "these have in common [@cameron2011]."
    ),
    "adjudicate manual": "Labels stood where none differed; all other {unit} were left to people.",
    "adjudicate": "Labels were adjudicated by the policy `{policy}`; what it could not decide {ties}.",
    "decisions": "Of {judged} with a label or a decision, {outcomes}.",
    "validate": (
        "For validation, {cells} were assigned to {people} as {assignments} assignments, to none of them one that they "
        "had judged ({seeds}), {loads}{blind}."
    ),
    "verdicts": "On the final label of {checked} there is a verdict: {valid} were accepted, and {invalid} were not.",
    "lost verdicts": "{lost} {have} verdicts on an earlier label alone, which do not count.",
    "tiers": (
        "By labels, agreement and verdict, what was judged was graded into nested tiers: {sizes}. Bronze holds {unit} "
        "with a final label and a verdict, Silver those whose label the validators accepted, Gold those of them with "
        "two labels or more, and Diamond those of Gold {diamond}."
    ),
    "own tier": "The study's own tier `{tier}`{within} holds {counted}: those with {demands}.",
    "evaluate": (
        "Retrieval was evaluated with {n_systems} ({names}), {which} ranked a pool of {pool} "
        "{columns_noun} for each of {hs} {rows_noun}, and was scored on the tiers {tiers} by {measures}, at a cutoff "
        "of {k} unless the measure has its own."
    ),
    "evaluate rule": "There, {tier} held pairs by another rule: {rule}.",
    "compared": ", and systems were compared by paired randomisation tests [@smucker2007], both",
    "evaluate statistics": (
        "Intervals of the scores rest on the Bayesian bootstrap [@rubin1981]{tests} with {resamples} resamples (seed "
        "{seed}). Scores without the unjudged pairs are those of condensed lists [@sakai2007]."
    ),
    "bias": (
        "Bias in the answers of the round `{round}` was scored by the definitions of {benchmark}, on {answers}"
        "{unreadable}, in {categories}."
    ),
    "bias intervals": "Intervals rest on the jackknife [@efron1981] over templates.",
    "bias scores": "For `{model}`, {scores}{means}.",
    "divergence": (
        "From what people said to `{question}` in the grid `{survey}`, the models' answers about the same statements "
        "diverged by {divergences} [@kullback1951] in the mean over statements{smoothed}."
    ),
    "frozen": "The tier {tier} was written to a file with {counted}.",
    "release": "The dataset was released as `{name}`{texts}{tiers}; its digest is `{digest}`.",
    "software": "All of this was done with fcpair `{version}`.",
}
"""The sentences, by what they are about; the words in braces come from the tables and the log."""


def say(template: str, **values: Any) -> str:
    """The sentence of this name with the values in it."""
    return TEMPLATES[template].format(**{name: shown(value) for name, value in values.items()})


def shown(value: Any) -> str:
    """A value in a sentence: numbers of things with separators of thousands, others with three decimals."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def listed(parts: Sequence[str]) -> str:
    """The parts with commas, and an `and` before the last."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(n: int, word: str) -> str:
    """A number with its noun, as `1 pair`; the `word` may be the plural."""
    return Noun.of(word.removesuffix("s")).with_number(n)

"""The sentences of the methods section of a paper: what fills them is in `methods`."""

from __future__ import annotations

TEMPLATES = {
    "import": "The corpus had {rows} rows, with {hs} distinct {rows_noun} and {cn} distinct {columns_noun}.",
    "select": "Of these, {hs} {rows_noun} were drawn at random{stratified} (seed {seed}).",
    "select list": "Of these, {hs} {rows_noun} were chosen from a list.",
    "source": "The {source_cns} {columns_noun} that the corpus pairs with them served for retrieval alone.",
    "retrieve": (
        "For each of them, the {k} nearest {columns_noun} of the corpus were retrieved by cosine similarity of "
        "sentence embeddings [@reimers2019] of the model `{model}`{counting}, which gave "
        "{neighbours} neighbours. Without the {columns_noun} that had served for retrieval, {candidates} candidates "
        "were left."
    ),
    "candidates": "As candidates, {candidates} {columns_noun} were taken from outside the retrieval by embeddings.",
    "pair": "The {hs} {rows_noun} and {cn} {columns_noun}{drawn} made {pairs} pairs, all of which were to be judged.",
    "in corpus": "Of these pairs, {in_corpus} were in the corpus.",
    "assign": "The pairs were assigned to {people} as {assignments} assignments (seed {seed}), {loads}{by_labels}.",
    "qualification": (
        "Before their shards, people qualified on pairs with known answers, of which there were {pairs} (seed {seed}); "
        "whoever had less than {pass_mark} of them right waited for a decision by the lead."
    ),
    "controls": (
        "Among the other pairs of the shards, a share of {rate} were control pairs, drawn from {pairs} with known "
        "answers (seed {seed}), which nothing told from the others. Answers to them are in no tier and no agreement."
    ),
    "calibration": (
        "For calibration, a first batch of {pairs} pairs (seed {seed}) was assigned to {people}, all of it to each."
    ),
    "discussion": "They differed on {differing} of these, which they discussed without names of who had answered.",
    "second answers": "They then gave {second_answers} answers once more; {counts}.",
    "cells": "The grid `{grid}` had {rows_counted} and {columns_counted}, and {cells} cells.",
    "answers of": "Its {axis} were the answers in the {of_grids}.",
    "names": "{columns_were} {names}.",
    "drawn": "From the source `{source}`, {drawn} of {rows} {what} were taken.",
    "round": "In the round `{round}`, {assignments} units of work on {cells} cells were assigned to {people}, {loads}.",
    "form": "The form was `{form}`.",
    "generate": "In the round `{round}`, {models} gave {answers} answers{skipped}.",
    "simulate": (
        "The answers of the round `{round}` were simulated: software, and not people, gave {answers} "
        "answers{skipped} (seed {seed})."
    ),
    "labels import": "From {source}, {numbers} {answers} of the round `{round}` {were} imported.",
    "published import": "With them came {adjudications} decisions and {verdicts} verdicts.",
    "dismiss": "One person was dismissed; {set_aside}.",
    "agreement": (
        "Agreement was measured before adjudication, on {labels} answers to {pairs} {unit}; {overlapped} {unit} had "
        "two answers or more."
    ),
    "blocks": "Agreement was measured before adjudication, on {blocks} parts of the answers.",
    "figure": "{name}{citation} was {value}{interval}.",
    "undefined": "{name}{citation} was undefined, because {why}.",
    "intervals": (
        "Intervals, at a confidence level of {level}, rest on the jackknife [@efron1981] over {scope}, and over what "
        "these have in common [@cameron2011]."
    ),
    "adjudicate manual": "Unanimous labels stood; all other pairs were decided by a person.",
    "adjudicate": (
        "Labels were adjudicated by the rule `{policy}`: {outcomes}; what the rule could not decide "
        "{ties}{n_undecided}."
    ),
    "validate": (
        "For validation, {to_validate} adjudicated {unit} were assigned to {people}, to none of them one that they had "
        "judged (seed {seed}), {loads}{blind}."
    ),
    "tiers": (
        "By labels, agreement and verdict, what was judged was graded into nested tiers: {sizes}. Bronze holds {unit} "
        "with a final label and a verdict, Silver those whose label the validators accepted, Gold those of them with "
        "two labels or more, and Diamond those of Gold {diamond}."
    ),
    "own tier": "The study's own tier `{tier}`{within} holds {counted}: those with {demands}.",
    "evaluate": (
        "Retrieval was evaluated with {n_systems} ({names}), each of which ranked a pool of {pool} "
        "{columns_noun} for each of {hs} {rows_noun}, and was scored on the tiers {tiers} by {measures}, at a cutoff "
        "of {k} unless the measure has its own."
    ),
    "evaluate statistics": (
        "Intervals of the scores rest on the Bayesian bootstrap [@rubin1981], and systems were compared by paired "
        "randomisation tests [@smucker2007], both with {resamples} resamples (seed {seed}). Scores without the "
        "unjudged pairs are those of condensed lists [@sakai2007]."
    ),
    "frozen": "The tier {tier} was written to a file with {counted}.",
    "release": "The dataset was released as `{name}`{texts}{tiers}; its digest is `{digest}`.",
    "software": "All of this was done with fcpair `{version}`.",
}
"""The sentences, by what they are about; the words in braces come from the log."""

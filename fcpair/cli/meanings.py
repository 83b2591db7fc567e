"""Meanings of options that several commands write out for themselves: one for each name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from fcpair.records import TIERS

Command = Callable[..., Any]

# The first sentence of the help of every option that several commands write out for themselves: what it means anywhere.
MEANINGS = {
    "--answer": "The column of the answers.",
    "--by": "A column whose values define groups.",
    "--cluster": "The column whose values define clusters, such as the HS.",
    "--dry-run": "Show what would be done, and do nothing.",
    "--format": "The format of the result.",
    "--grid": "The name of the grid.",
    "--label": "A possible label.",
    "--labels": "The column of the labels.",
    "--language": "The language of the texts, such as en or fa.",
    "--layout": "The layout of the output.",
    "--loosen": "Loosen limits and opt-outs that the study has.",
    "--measure": "The measure to compute, by name.",
    "--model": "A sentence-transformers model: a name or a folder.",
    "--more": "Continue what has been started.",
    "--order": "The order in which pairs are shown.",
    "--out": "Where to write.",
    "--question": "A question of the survey.",
    "--rater": "The column of the raters.",
    "--rating": "A column of ratings.",
    "--reader": "The kind of file that is read.",
    "--resamples": "Number of resamples to draw for intervals and tests.",
    "--round": "The name of the round.",
    "--row": "The column of what the texts answer, such as the HS.",
    "--sample": "Number to draw at random; all if not given.",
    "--seed": "Random seed.",
    "--sheet-format": "The file format of a sheet.",
    "--sheet-name": "The sheet of a workbook that is read.",
    "--source": "The column of the sources of the texts.",
    "--text": "The column of the texts.",
    "--tier": "The tier to use.",
    "--title": "The study's title.",
}


def shared_option(flag: str, *names: str, detail: str = "", **settings: Any) -> Callable[[Command], Command]:
    """An option of several commands: it means the same in each, and `detail` says what more there is to it in this one.

    Its help is its meaning and the detail.
    """
    return click.option(flag, *names, help=" ".join(filter(None, (MEANINGS[flag], detail))), **settings)


def complete_tier(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """The four tiers whose names begin so; those of a study's own are typed."""
    return [name for name in TIERS if name.startswith(begun)]

"""bias score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import format_option
from fcpair.cli.output import Table, emit

if TYPE_CHECKING:
    from fcpair.bias import BiasFigure, Scored

SCHEMES = ("bbq", "kobbq", "cbbq", "pbbq")  # those of fcpair.bias, which a test holds against these
UNREAD_SHOWN = 5


@click.group()
def bias() -> None:
    """Bias of language models in questions about two groups: score.

    \b
    Example:
      fcpair bias score said.jsonl --as bbq --answer model
    """


@bias.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--as", "scheme", type=click.Choice(SCHEMES), required=True, help="Whose scores.")
@click.option("--answer", required=True, metavar="COLUMN", help="What holds the answers.")
@click.option(
    "--templates", type=click.Path(path_type=Path), metavar="FILE", help="BBQ's templates, for the stereotyped groups."
)
@click.option("--seed", type=click.IntRange(min=0), default=13, show_default=True, help="Of the intervals.")
@format_option
def score(files: tuple[Path, ...], scheme: str, answer: str, templates: Path | None, seed: int, form: str) -> None:
    """Score answers to bias tests.

    FILES are JSON Lines as BBQ released them, plain or compressed (.gz). An answer is biased if it names a stereotyped
    group where the question is negative, or another group where it is not. What cannot be read as an option is counted,
    and enters no figure. Intervals resample templates, as items of one template are no independent evidence.

    \b
    Example:
      fcpair bias score preds_Age.jsonl.gz --as bbq --answer unifiedqa-t5-11b_pred_race
      fcpair bias score preds_*.jsonl.gz --as kobbq --answer unifiedqa-t5-11b_pred_arc --format json
    """
    from fcpair.bias import score as scored_by
    from fcpair.files.bbq import read_bbq
    from fcpair.files.bbq_templates import read_stereotyped

    stereotyped = read_stereotyped(templates) if templates else None
    read = read_bbq(files, answer, stereotyped)
    scored = scored_by(read.answered, scheme, read.categories, seed=seed)
    data = {"places": [str(file) for file in files], "answer": answer, **scored.as_dict(), "unread": list(read.unread)}
    rows = [vars(one) for one in scored.figures]
    emit(form, data=data, tables=[_table(scored, answer, read.unread)], rows=rows)


def _table(scored: Scored, answer: str, unread: tuple[str, ...]) -> Table:
    rows = [[one.score, one.category, one.value, one.low, one.high, one.n, one.n_templates] for one in scored.figures]
    title = f"{answer}, scores of {scored.scheme}: {scored.n:,} answers, {scored.n_unreadable:,} of them unreadable"
    columns = ("score", "category", "value", "low", "high", "n", "templates")
    return Table(title, columns, rows, [*_formulas(scored), *_why(scored.figures), *_unread(unread)])


def _formulas(scored: Scored) -> list[str]:
    told = scored.as_dict()
    formulas = [f"{name}: {one['formula']} ({one['source']})" for name, one in told["scores"].items()]
    return [*formulas, f"low, high: {told['level']:.0%} interval, {told['interval']}"]


def _why(figures: tuple[BiasFigure, ...]) -> list[str]:
    undefined = [f"{one.score}, {one.category}: undefined, because {one.undefined}" for one in figures if one.undefined]
    return [*undefined, *dict.fromkeys(f"{one.category}: {one.note}" for one in figures if one.note)]


def _unread(unread: tuple[str, ...]) -> list[str]:
    shown = ", ".join(f"`{one}`" for one in unread[:UNREAD_SHOWN]) + ", ..." * (len(unread) > UNREAD_SHOWN)
    return [f"unreadable: {shown}"] if unread else []

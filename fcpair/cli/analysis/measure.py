"""measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import format_option
from fcpair.cli.output import Table, emit, progress
from fcpair.cli.table import Cell
from fcpair.cli.texts import Texts, with_texts
from fcpair.errors import InputError, suggest_name

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.texts.measures import Measured, TextFigure

COLUMNS = ("measure", "n", "value", "sd")


@click.command()
@take_effect("--row", only_with="--reference")
@with_texts
@shared_option("--text", required=True, metavar="COLUMN")
@click.option(
    "--reference", "references", multiple=True, metavar="COLUMN", help="A column of references; may be repeated."
)
@shared_option("--row", metavar="COLUMN", detail="Texts with the same value share all their references.")
@shared_option("--by", metavar="COLUMN", detail="Each group has figures, too.")
@shared_option("--measure", "measures", required=True, multiple=True, metavar="NAME", detail="May be repeated.")
@shared_option("--language", metavar="CODE", detail="Some measures need it.")
@click.option("--each", type=click.Path(path_type=Path), help="A table to write, with the figures of each text.")
@format_option
def measure(
    texts: Texts,
    text: str,
    references: tuple[str, ...],
    row: str | None,
    by: str | None,
    measures: tuple[str, ...],
    language: str | None,
    each: Path | None,
    form: str,
) -> None:
    """Measure texts: variety, overlap, readability, models.

    The texts are a column of FILE, or the answers of a round of a study. A figure is the mean over
    texts, or that of all of them together (pooled). Measures: bleu, chrf, gleu, meteor, rouge-l, bertscore,
    mover, regression:MODEL, dist-N, ent-N, ngd, div, homogenization, self-bleu, novelty, fk, dale-chall,
    perplexity:MODEL, head:MODEL(label=...).

    \b
    Example:
      fcpair measure texts.csv --text cn --measure dist-2 --measure ent-2 --format json
      fcpair measure texts.csv --text cn --reference gold --measure gleu --language en --each scores.csv
      fcpair measure --grid write --text text --measure div --by column
    """
    from fcpair.files.tables.tabular import LINE, check_suffix
    from fcpair.texts.measures import measure as measured_by
    from fcpair.texts.measures.reference_columns import references_of

    frame = texts.frame.drop(columns=LINE, errors="ignore")
    _check_columns(texts.place, list(frame.columns), [text, *references, *filter(None, (row, by))])
    if each is not None:
        check_suffix(each)
    cells = frame.astype(object).where(frame.notna(), "")
    columns = {str(name): list(map(str, cells[name])) for name in cells.columns}
    with progress("measuring", at_once=True) as report:
        measured = measured_by(
            columns[text],
            measures,
            references=references_of(columns, text, references, row) if references else None,
            beside=columns,
            groups=columns[by] if by else None,
            language=language,
            progress=report,
        )
    if each is not None:
        _write_values(frame, measured, each)
    data = {
        "place": texts.place,
        "part": texts.part,
        "text": text,
        "by": by,
        **measured.as_dict(),
        "simulated": texts.simulated,
    }
    title = f"{texts.title}, column `{text}`: {measured.n_texts:,} texts, language {language or 'not given'}"
    table = figure_table(title, [measured], by)
    emit(form, data=data, tables=[table], rows=figure_rows([measured], by), simulated=texts.simulated)


def _check_columns(place: str, column_names: list[str], names: list[str]) -> None:
    for name in names:
        if name not in column_names:
            raise InputError(f"{place}: there is no column `{name}`; {suggest_name(name, column_names)}")


def _write_values(frame: pd.DataFrame, measured: Measured, path: Path) -> None:
    from fcpair.files.tables.tabular import write_table

    if not measured.values:
        raise InputError(
            "no measure here gives a figure for each text; some do with per_text=true: dist-2(per_text=true)"
        )
    if taken_names := [name for name in measured.values if name in frame.columns]:
        raise InputError(f"{path}: the table has a column `{taken_names[0]}` already; rename it")
    write_table(frame.assign(**{name: values.values for name, values in measured.values.items()}), path)


def figure_table(title: str, measured: Sequence[Measured], by: str | None, notes: Sequence[str] = ()) -> Table:
    """Build a readable table of the figures, with notes on how they come from texts; `by` adds a column of groups."""
    columns = (*COLUMNS[:1], by, *COLUMNS[1:]) if by else COLUMNS
    rows: list[list[Cell]] = []
    for one in (figure for found in measured for figure in found.figures):
        group = [one.group if one.group is not None else "(all)"] if by else []
        rows.append([one.name, *group, one.n, one.value, one.sd])
    own = [note for found in measured for note in (*_remarks(found), *found.notes)]
    return Table(title, columns, rows, [*own, *notes])


def _remarks(measured: Measured) -> Iterator[str]:
    """Yield remarks on how figures come from texts and on what was left out, each once."""
    rules: dict[str, list[str]] = {}
    for figure in measured.figures:
        rules.setdefault(figure.rule, []).append(figure.name)
        if figure.tokens:
            rules.setdefault(f"tokens={figure.tokens}", []).append(figure.name)
    for rule, names in rules.items():
        yield f"{', '.join(dict.fromkeys(names))}: {rule}"
    for figure in measured.figures:
        if figure.undefined or (figure.group is None and figure.left_out):
            yield f"{figure.name}{'' if figure.group is None else f', {figure.group}'}: {_explain_figure(figure)}"


def _explain_figure(figure: TextFigure) -> str:
    left_out = [
        f"1 text is left out, because {why}" if n == 1 else f"{n:,} texts are left out, each because {why}"
        for why, n in figure.left_out.items()
    ]
    return "; ".join([f"undefined, because {figure.undefined}"] * bool(figure.undefined) + left_out)


def figure_rows(measured: Sequence[Measured], by: str | None) -> list[dict[str, Any]]:
    """The same for a CSV."""
    return [_figure_row(figure, by) for found in measured for figure in found.figures]


def _figure_row(figure: TextFigure, by: str | None) -> dict[str, Any]:
    left_out = sum(figure.left_out.values())
    return {
        "measure": figure.name,
        **({"group": figure.group} if by else {}),
        "n": figure.n,
        "value": figure.value,
        "sd": figure.sd,
        "rule": figure.rule,
        "tokens": figure.tokens,
        "left_out": left_out,
        "note": "; ".join(filter(None, (_explain_figure(figure), figure.warning))),
    }

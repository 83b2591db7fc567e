"""diversity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fcpair.cli.analysis.measure import figure_rows, figure_table
from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import close_at_end, format_option, grid_option, sheet_option, study_option
from fcpair.cli.output import emit, progress
from fcpair.errors import InputError, suggest_name

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.texts.measures import Measured

READERS = ("fcpair", "bbq", "kobbq", "table")  # those of fcpair.files.surveys.templates, and tables; a test holds that
UNITS = ("template", "item")
TTR = "dist-1(tokens=words,case=lower)"
MEASURES = ("self-bleu", "ngd(over=sum)", "ngd")


class _TextSample(NamedTuple):
    """Texts, what each is (`unit`), and the category of each, where they have one."""

    texts: list[str]
    unit: str
    categories: list[str] | None
    place: str


@click.command()
@take_effect("--reader", "--unit", only_with="FILE")
@take_effect("--unit", not_with="--reader table")
@take_effect("--grid", "--study", not_with="FILE")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@shared_option(
    "--reader",
    type=click.Choice(READERS),
    default=READERS[0],
    show_default=True,
    detail="Templates (our own, BBQ's, KoBBQ's), or a table of texts.",
)
@click.option(
    "--unit",
    type=click.Choice(UNITS),
    default=UNITS[0],
    show_default=True,
    help="The unit that counts as a text of templates.",
)
@shared_option("--text", metavar="COLUMN", detail="For a table.")
@shared_option("--by", metavar="COLUMN", detail="Each group has figures, too; for templates, each category.")
@click.option(
    "--stop", type=click.Path(path_type=Path), metavar="FILE", help="Words that TTR leaves out, one per line."
)
@click.option(
    "--homogenization",
    type=click.Choice(["cosine", "bertscore"]),
    default="cosine",
    show_default=True,
    help="The measure of the similarity of two texts.",
)
@shared_option("--model", detail="It encodes texts for `--homogenization`.")
@shared_option("--language", metavar="CODE")
@format_option
@grid_option
@sheet_option
@study_option
def diversity(
    file: Path | None,
    reader: str,
    unit: str,
    text: str | None,
    by: str | None,
    stop: Path | None,
    homogenization: str,
    model: str | None,
    language: str | None,
    form: str,
    grid: str | None,
    study: Any,
) -> None:
    """Measure how varied templates, items or other texts are.

    Self-BLEU, the type-token ratio (TTR), n-gram diversity (NGD, as a sum and a mean over 1 to 4 tokens) and
    homogenization, the mean similarity of two texts. A template is measured with its first fillers, an item as its
    context and question. Without FILE, it measures the rows of a grid.

    \b
    Example:
      fcpair diversity templates.toml
      fcpair diversity KoBBQ_templates.tsv --reader kobbq --unit item --language en --format json
      fcpair diversity --grid survey --by category
    """
    from fcpair.texts.measures import measure

    sample = _read_file(file, reader, unit, text, by) if file is not None else _grid_rows(study, grid, text, by)
    counted_texts = _drop_stop_words(sample.texts, stop)
    options = f"by={homogenization}" + (f',model="{model}"' if model else "")
    with progress("measuring", at_once=True) as report:
        measures, groups = [*MEASURES, f"homogenization({options})"], sample.categories
        main = measure(sample.texts, measures, groups=groups, language=language, progress=report)
        ttr = measure(counted_texts, [TTR], groups=groups, language=language)
    _emit(sample, stop, main, ttr, form)


def _emit(sample: _TextSample, stop: Path | None, main: Measured, ttr: Measured, form: str) -> None:
    measured = [("TTR", ttr), ("", main)]
    data = {
        "place": sample.place,
        "unit": sample.unit,
        "stop": str(stop) if stop else None,
        **main.as_dict(),
        "figures": [one for _, found in measured for one in found.as_dict()["figures"]],
    }
    group = "category" if sample.categories is not None else None
    title = f"{sample.place}: {len(sample.texts):,} texts, each {sample.unit}"
    notes = [
        f"{TTR} is TTR, distinct words over all words" + (f", without those of {stop}" if stop else ""),
        "ngd(over=sum): the sum over 1 to 4 tokens; ngd: their mean",
        "figures of sets of different sizes are not comparable",
    ]
    table = figure_table(title, [ttr, main], group, notes)
    emit(form, data=data, tables=[table], rows=figure_rows([ttr, main], group))


def _read_file(file: Path, reader: str, unit: str, text: str | None, by: str | None) -> _TextSample:
    if reader == "table":
        from fcpair.files.tables.tabular import read_table

        if text is None:
            raise InputError(f"name with `--text COLUMN` the column of {file} that has the texts")
        frame = read_table(file, [text, *filter(None, (by,))], verbatim=True)
        return _TextSample(frame[text].tolist(), f"one of `{text}`", frame[by].tolist() if by else None, str(file))
    if text or by not in {None, "category"}:
        raise InputError("`--text` and `--by` are about tables; templates have texts and categories of their own")
    from fcpair.bias.items import expand, first_filling, first_versions
    from fcpair.files.surveys.templates import read_templates

    templates, _ = read_templates(file, reader)
    if unit == "template":
        once = first_versions(templates)
        texts, categories = [first_filling(one) for one in once], [one.category for one in once]
        return _TextSample(texts, "a template with its first fillers", categories, str(file))
    frame = expand(templates, str(file)).frame
    joined = (frame["context"] + " " + frame["question"]).tolist()
    return _TextSample(joined, "an item", frame["category"].tolist(), str(file))


def _grid_rows(study: Any, name: str | None, text: str | None, by: str | None) -> _TextSample:
    from fcpair.study import Study

    opened = close_at_end(Study.open(study))
    grid = opened.grid(name)
    frame: pd.DataFrame = grid.rows()
    for column in filter(None, (text, by)):
        if column not in frame.columns:
            raise InputError(f"no row has `{column}`; {suggest_name(column, [str(one) for one in frame.columns])}")
    texts = frame[text or "row"].tolist()
    return _TextSample(texts, "a row", frame[by].tolist() if by else None, f"{opened.place}, grid {grid.grid.name}")


def _drop_stop_words(texts: list[str], stop: Path | None) -> list[str]:
    """The texts as words, without those that are not to count."""
    if stop is None:
        return texts
    from fcpair.files.tables.tabular import read_lines
    from fcpair.texts.measures.tokens import split_tokens

    words = {word for line in read_lines(stop) for word in split_tokens(line)}
    return [" ".join(word for word in split_tokens(text) if word not in words) for text in texts]

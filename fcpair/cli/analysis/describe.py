"""describe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import PATH, format_option, option, shared_option
from fcpair.cli.output import Table, print_message
from fcpair.cli.terminal import Cell, shorten
from fcpair.cli.texts import LabelColumn, Texts, with_labels, with_texts
from fcpair.errors import InputError
from fcpair.lazy import pd

if TYPE_CHECKING:
    from fcpair.texts.describe import DescribedFigure, Description, TextColumns, WordLimits

LONGEST_TEXT = 60
WIDEST_NAMES = 40  # of labels above the columns of a table, all together; wider ones are abbreviated
ABBREVIATED = range(3, 9)  # to so many signs, the fewest that tell them apart


@click.command()
@take_effect("--by", "--keywords", only_with="--labels")
@take_effect("--keywords", not_with="--check-printed")
@take_effect("--row", "--group", "--source", "--writer", "--by", "--more-than", "--under", not_with="--write-aliases")
@take_effect("--keywords", "--check-printed", not_with="--write-aliases")
@with_texts
@shared_option("--text", metavar="COLUMN", required=True)
@shared_option("--row", metavar="COLUMN", detail="Texts with the same value are of one row.")
@option("--group", metavar="COLUMN", help="The column to count by, such as the target group.")
@shared_option("--source", metavar="COLUMN", detail="Texts are counted by it, too.")
@option("--writer", metavar="COLUMN", help="The column of the writers of the texts.")
@with_labels(several=True)
@shared_option(
    "--by",
    metavar="COLUMN",
    detail="Every label is counted in each group, such as each target of the HS; a cell may hold several.",
)
@option("--more-than", type=click.IntRange(min=0), metavar="WORDS", help="Count texts of this many words or fewer.")
@option("--under", type=click.IntRange(min=1), metavar="WORDS", help="Count texts of this many words or more.")
@option(
    "--keywords", "n_keywords", type=click.IntRange(min=0), default=5, help="Number of keywords to show for each label."
)
@option(
    "--check-printed",
    type=PATH,
    metavar="FILE",
    help="Check printed figures against the table: columns `figure`, `printed`, and `of` and `n` where needed.",
)
@option(
    "--write-aliases",
    type=PATH,
    metavar="FILE",
    help="Write all spellings of the labels, each with a proposed label, for a person to check, and nothing else.",
)
@format_option
def describe(
    texts: Texts,
    labels: tuple[LabelColumn, ...],
    by: str | None,
    more_than: int | None,
    under: int | None,
    n_keywords: int,
    check_printed: Path | None,
    write_aliases: Path | None,
    form: str,
    **columns: str | None,
) -> None:
    """Describe a table of texts: groups, labels, lengths, repeated texts.

    FILE is any table; without it, the texts are the answers of a round of a study. Texts are split into words on
    whitespace. An undefined figure is shown with the reason. With --check-printed, it exits with 1 if a printed figure
    does not match.

    \b
    Example:
      fcpair describe answers.csv --text cn --row hs --group target --labels type
      fcpair describe Final_Dataset_additional_context.json --reader crowdcounter --text cn --labels types --by targets
      fcpair describe answers.csv --text cn --labels type --label Humour --write-aliases aliases.csv
      fcpair describe answers.csv --text cn --group target --check-printed table5.csv
    """
    from fcpair.texts.describe import TextColumns, WordLimits

    texts.check(*columns.values(), *(item.column for item in labels), by)
    if write_aliases is not None:
        _write_aliases(texts, labels, write_aliases)
        return
    column_names = TextColumns(**{name: column or "" for name, column in columns.items()})
    description = _describe_texts(texts, column_names, labels, by, WordLimits(more_than, under), n_keywords)
    for shared in description.shared:
        lines, groups = ", ".join(map(str, shared.lines)), ", ".join(shared.groups)
        print_message(f"Warning: {texts.place}:{lines}: the same row is in {len(shared.groups)} groups: {groups}.")
    if check_printed is not None:
        _check_printed(check_printed, description, form, texts)
        return
    tables = [one for one in _tables(texts.title, description, by, [item.column for item in labels]) if one.rows]
    figures = [item.as_dict() for item in description.figures]
    lists = {name: [*map(asdict, getattr(description, name))] for name in ("repeated", "shared", "keywords")}
    texts.emit(form, tables, figures, figures=figures, **lists)


def _write_aliases(texts: Texts, labels: tuple[LabelColumn, ...], path: Path) -> None:
    from fcpair.files.tables.tabular import write_table

    if not labels or not labels[0].aliases.is_declared:
        raise InputError("--write-aliases proposes labels; name the column with --labels, and each label with --label")
    cells = [cell for one in labels for cell in texts.frame[one.column]]
    spellings = labels[0].aliases.list_spellings(cells)
    write_table(pd.DataFrame(spellings), path)
    n_open = sum(bool(one["spelling"]) and not one["label"] for one in spellings)
    note = f"; {n_open:,} of them have no similar label; fill it in" if n_open else ""
    print_message(f"{path}: {len(spellings):,} spellings{note}. Check each label, then use the file with --aliases.")


def _describe_texts(
    texts: Texts,
    columns: TextColumns,
    labels: tuple[LabelColumn, ...],
    by: str | None,
    limits: WordLimits,
    n_keywords: int,
) -> Description:
    """Describe the texts; labels are read, and must be right, where there is a text."""
    from fcpair.texts.describe import NO_NAME, TextLabels, describe, read_groups

    has_text = texts.frame[columns.text].str.strip() != ""
    with_text = replace(texts, frame=texts.frame[has_text])
    without = [texts.frame[~has_text], *([] if texts.unanswered is None else [texts.unanswered])]
    all_texts = replace(texts, frame=pd.concat([with_text.frame, *without], ignore_index=True))
    nothing: list[tuple[str, ...]] = [()] * (len(all_texts.frame) - len(with_text.frame))
    return describe(
        all_texts.frame,
        columns,
        lines=all_texts.lines,
        labels=[TextLabels(one.column, one.read(with_text) + nothing, one.aliases.labels) for one in labels],
        groups=read_groups(list(all_texts.frame[by]), all_texts.lines, texts.place, NO_NAME) if by else None,
        limits=limits,
        n_keywords=n_keywords,
    )


def _tables(title: str, description: Description, by: str | None, columns: Sequence[str]) -> Iterator[Table]:
    rows: list[list[Cell]] = []
    notes = []
    for figure in description.figures_per("all"):
        rows.append([figure.figure, _figure_value(figure), figure.n])
        if figure.over_groups is not None:
            rows.append([f"{figure.figure}, mean of group means", float(figure.over_groups), figure.n_groups])
        if figure.why:
            notes.append(f"{figure.figure}: undefined, because there is {figure.why}")
    yield Table(f"{title}: texts, their rows and lengths", ("figure", "value", "n"), rows, notes)
    yield from (_group_table(f"{per.capitalize()}s", per, description) for per in ("group", "source", "label"))
    pairs: list[Any] = [[item.of, item.value, item.n] for item in description.figures_per("labels")]
    yield Table("Pairs of labels on one text", ("labels", "texts", "of"), pairs)
    yield from _cross_tables(description, by, columns) if by else ()
    repeated = [(item.n, shorten(" ".join(item.text.split()), LONGEST_TEXT)) for item in description.repeated]
    yield Table("Texts that are repeated more than ten times", ("times", "text"), repeated)
    keywords = description.keywords
    words = [(of.label, one.word, one.n, one.n_others, one.z) for of in keywords for one in of.words]
    none = [f"{of.label}: no keywords, because {of.why}" for of in keywords if of.why]
    title = "Keywords: words that texts with the label have more often than the others, by z (Monroe et al. 2008)"
    yield Table(title, ("label", "word", "times", "elsewhere", "z"), words, none)


def _figure_value(figure: DescribedFigure) -> Cell:
    return figure.value if isinstance(figure.value, int) or figure.value is None else float(figure.value)


def _group_table(title: str, per: Any, description: Description) -> Table:
    """The figures of each group, source or label, side by side."""
    cells: dict[str, dict[str, Cell]] = {}
    undefined: dict[tuple[str, str], list[str]] = {}
    for figure in description.figures_per(per):
        cells.setdefault(figure.of, {})[figure.figure] = _figure_value(figure)
        if figure.why:
            undefined.setdefault((figure.of, figure.why), []).append(figure.figure)
    names = list(next(iter(cells.values()), {}))
    notes = [f"{of}: {', '.join(what)} undefined, because there is {why}" for (of, why), what in undefined.items()]
    return Table(title, (per, *names), [[of, *row.values()] for of, row in cells.items()], notes)


def _cross_tables(description: Description, by: str, columns: Sequence[str]) -> Iterator[Table]:
    """The texts of each group with each label of a column, and their share of the group's texts; a table of either."""
    from fcpair.texts.describe import SHARE, TEXTS

    of_each = [(column, f"{column}: " if len(columns) > 1 else "") for column in columns]
    for (column, before), (figure, what) in product(of_each, ((TEXTS, "texts"), (SHARE, "share of its texts"))):
        cells: dict[str, dict[str, Cell]] = {}
        for item in description.figures_per("label by group"):
            if item.figure == figure and item.of.startswith(before):
                label, _, group = item.of.removeprefix(before).partition(" x ")
                cells.setdefault(group, {"of": item.n})[label] = _figure_value(item)
        # Where the names are too long together for the head of a table, they stand there by how they begin.
        names = list(dict.fromkeys(name for row in cells.values() for name in row))
        n = next((n for n in ABBREVIATED if len({name[:n] for name in names}) == len(names)), None)
        short = {name: name[:n] if sum(map(len, names)) > WIDEST_NAMES else name for name in names}
        rows: list[list[Cell]] = [[group, *(row[name] for name in short)] for group, row in cells.items()]
        notes = [f"{item}: {name}" for name, item in short.items() if item != name]
        yield Table(f"{column} by {by}: {what}", (by, *short.values()), rows, notes)


def _check_printed(path: Path, description: Description, form: str, texts: Texts) -> None:
    from fcpair.texts.printed_figures import check_printed, read_printed

    checked = check_printed(read_printed(path, description), description)
    cells = [[one.printed.figure, one.printed.of, str(one.printed.printed), one.told] for one in checked]
    n = sum(not one.comes_out for one in checked)
    title = f"{n:,} of {len(checked):,} printed figures {'does' if n == 1 else 'do'} not match ({path})"
    rows = [result.as_dict() for result in checked]
    texts.emit(form, [Table(title, ("figure", "of", "printed", "what was found"), cells)], rows, checked=rows)
    if n:
        click.get_current_context().exit(1)

"""measure, diversity, describe: figures of texts, of their rows, groups and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    format_option,
    grid_option,
    open_grid,
    option,
    shared_option,
    sheet_option,
    study_option,
)
from fcpair.cli.output import Table, emit, print_message, progress, tabular
from fcpair.cli.terminal import Cell, shorten
from fcpair.cli.texts import LabelColumn, Texts, with_labels, with_texts
from fcpair.errors import InputError, suggest_name
from fcpair.lazy import pd

if TYPE_CHECKING:
    from fcpair.texts.describe import DescribedFigure, Description
    from fcpair.texts.measures import Measured, TextFigure

COLUMNS = ("measure", "n", "value", "sd")


@click.command()
@take_effect("--row", only_with="--reference")
@with_texts
@shared_option("--text", required=True, metavar="COLUMN")
@option("--reference", "references", multiple=True, metavar="COLUMN", help="A column of references; may be repeated.")
@shared_option("--row", metavar="COLUMN", detail="Texts with the same value share all their references.")
@shared_option("--by", metavar="COLUMN", detail="Each group has figures, too.")
@shared_option("--measure", "measures", required=True, multiple=True, metavar="NAME", detail="May be repeated.")
@shared_option("--language", metavar="CODE", detail="Some measures need it.")
@option("--each", type=PATH, help="A table to write, with the figures of each text.")
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
    from fcpair.texts.measures import measure as measured_by
    from fcpair.texts.measures.measuring import references_of

    frame = texts.frame.drop(columns=tabular.LINE, errors="ignore")
    texts.check(text, *references, row, by)
    if each is not None:
        tabular.check_suffix(each)
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
        if not measured.values:
            raise InputError(
                "no measure here gives a figure for each text; some do with per_text=true: dist-2(per_text=true)"
            )
        if taken_names := [name for name in measured.values if name in frame.columns]:
            raise InputError(f"{each}: the table has a column `{taken_names[0]}` already; rename it")
        tabular.write_table(frame.assign(**{name: values.values for name, values in measured.values.items()}), each)
    title = f"{texts.title}, column `{text}`: {measured.n_texts:,} texts, language {language or 'not given'}"
    table = figure_table(title, [measured], by)
    texts.emit(form, [table], figure_rows([measured], by), text=text, by=by, **measured.as_dict())


def figure_table(title: str, measured: Sequence[Measured], by: str | None, notes: Sequence[str] = ()) -> Table:
    """Build a readable table of the figures, with notes on how they come from texts and on what was left out, each
    once; `by` adds a column of groups.
    """
    columns = (*COLUMNS[:1], by, *COLUMNS[1:]) if by else COLUMNS
    rows: list[list[Cell]] = []
    own: list[str] = []
    for found in measured:
        rules: dict[str, dict[str, None]] = {}
        remarks: list[str] = []
        for figure in found.figures:
            group = [figure.group if figure.group is not None else "(all)"] if by else []
            rows.append([figure.name, *group, figure.n, figure.value, figure.sd])
            for rule in (figure.rule, *([f"tokens={figure.tokens}"] if figure.tokens else ())):
                rules.setdefault(rule, {})[figure.name] = None
            if figure.undefined or (figure.group is None and figure.left_out):
                name = figure.name if figure.group is None else f"{figure.name}, {figure.group}"
                remarks.append(f"{name}: {_explain_figure(figure)}")
        own += [*(f"{', '.join(names)}: {rule}" for rule, names in rules.items()), *remarks, *found.notes]
    return Table(title, columns, rows, [*own, *notes])


def _explain_figure(figure: TextFigure) -> str:
    left_out = [
        f"1 text is left out, because {why}" if n == 1 else f"{n:,} texts are left out, each because {why}"
        for why, n in figure.left_out.items()
    ]
    return "; ".join([f"undefined, because {figure.undefined}"] * bool(figure.undefined) + left_out)


def figure_rows(measured: Sequence[Measured], by: str | None) -> list[dict[str, Any]]:
    """The same for a CSV."""
    return [
        {
            "measure": figure.name,
            **({"group": figure.group} if by else {}),
            **{name: getattr(figure, name) for name in ("n", "value", "sd", "rule", "tokens")},
            "left_out": sum(figure.left_out.values()),
            "note": "; ".join(filter(None, (_explain_figure(figure), figure.warning))),
        }
        for found in measured
        for figure in found.figures
    ]


READERS = ("fcpair", "bbq", "kobbq", "table")  # those of fcpair.files.surveys.templates, and tables; a test holds that
TTR = "dist-1(tokens=words,case=lower)"


TextSample = tuple[list[str], str, list[str] | None, str]
"""Texts, what each is, the category of each, where they have one, and where they are from."""


@click.command()
@take_effect("--reader", "--unit", only_with="FILE")
@take_effect("--unit", not_with="--reader table")
@take_effect("--grid", "--study", not_with="FILE")
@click.argument("file", required=False, type=PATH)
@shared_option("--reader", choices=READERS, detail="Templates (our own, BBQ's, KoBBQ's), or a table of texts.")
@option("--unit", choices=("template", "item"), help="The unit that counts as a text of templates.")
@shared_option("--text", metavar="COLUMN", detail="For a table.")
@shared_option("--by", metavar="COLUMN", detail="Each group has figures, too; for templates, each category.")
@option("--stop", type=PATH, metavar="FILE", help="Words that TTR leaves out, one per line.")
@option("--homogenization", choices=("cosine", "bertscore"), help="The measure of the similarity of two texts.")
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
    from fcpair.texts.measures.tokens import split_tokens

    sample = _read_file(file, reader, unit, text, by) if file is not None else _grid_rows(study, grid, text, by)
    texts, kind, groups, place = sample
    counted_texts = texts
    if stop is not None:  # as words, without those that are not to count
        words = {word for line in tabular.read_lines(stop) for word in split_tokens(line)}
        counted_texts = [" ".join(word for word in split_tokens(body) if word not in words) for body in texts]
    options = f"by={homogenization}" + (f',model="{model}"' if model else "")
    with progress("measuring", at_once=True) as report:
        measures = ["self-bleu", "ngd(over=sum)", "ngd", f"homogenization({options})"]
        main = measure(texts, measures, groups=groups, language=language, progress=report)
        ttr = measure(counted_texts, [TTR], groups=groups, language=language)
    data = {"place": place, "unit": kind, "stop": str(stop) if stop else None, **main.as_dict()}
    data |= {"figures": [figure for found in (ttr, main) for figure in found.as_dict()["figures"]]}
    group = "category" if groups is not None else None
    title = f"{place}: {len(texts):,} texts, each {kind}"
    notes = [
        f"{TTR} is TTR, distinct words over all words" + (f", without those of {stop}" if stop else ""),
        "ngd(over=sum): the sum over 1 to 4 tokens; ngd: their mean",
        "figures of sets of different sizes are not comparable",
    ]
    table = figure_table(title, [ttr, main], group, notes)
    emit(form, data, [table], figure_rows([ttr, main], group))


def _read_file(file: Path, reader: str, unit: str, text: str | None, by: str | None) -> TextSample:
    if reader == "table":
        if text is None:
            raise InputError(f"name with `--text COLUMN` the column of {file} that has the texts")
        frame = tabular.read_table(file, [text, *filter(None, (by,))], verbatim=True)
        return frame[text].tolist(), f"one of `{text}`", frame[by].tolist() if by else None, str(file)
    if text or by not in {None, "category"}:
        raise InputError("`--text` and `--by` are about tables; templates have texts and categories of their own")
    from fcpair.bias.items import expand, first_filling, first_versions
    from fcpair.files.surveys.templates import read_templates

    templates, _ = read_templates(file, reader)
    if unit == "template":
        once = first_versions(templates)
        texts, categories = [*map(first_filling, once)], [template.category for template in once]
        return texts, "a template with its first fillers", categories, str(file)
    frame = expand(templates, str(file)).frame
    joined = (frame["context"] + " " + frame["question"]).tolist()
    return joined, "an item", frame["category"].tolist(), str(file)


def _grid_rows(study: Any, name: str | None, text: str | None, by: str | None) -> TextSample:
    grid, place = open_grid(study, name)
    frame: pd.DataFrame = grid.rows()
    for column in filter(None, (text, by)):
        if column not in frame.columns:
            raise InputError(f"no row has `{column}`; {suggest_name(column, [*map(str, frame.columns)])}")
    return frame[text or "row"].tolist(), "a row", frame[by].tolist() if by else None, place


LONGEST_TEXT = 60


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
    from fcpair.texts import printed_figures
    from fcpair.texts.describe import NO_NAME, TextColumns, TextLabels, read_groups
    from fcpair.texts.describe import describe as described

    texts.check(*columns.values(), *(item.column for item in labels), by)
    if write_aliases is not None:
        if not labels or not labels[0].aliases.labels:
            raise InputError(
                "--write-aliases proposes labels; name the column with --labels, and each label with --label"
            )
        spellings = labels[0].aliases.list_spellings([cell for label in labels for cell in texts.frame[label.column]])
        tabular.write_table(pd.DataFrame(spellings), write_aliases)
        n_open = sum(bool(spelling["spelling"]) and not spelling["label"] for spelling in spellings)
        note = f"; {n_open:,} of them have no similar label; fill it in" if n_open else ""
        check = "Check each label, then use the file with --aliases"
        print_message(f"{write_aliases}: {len(spellings):,} spellings{note}. {check}.")
        return
    # Labels are read, and must be right, if there is a text.
    has_text = texts.frame[str(columns["text"])].str.strip() != ""
    with_text = replace(texts, frame=texts.frame[has_text])
    without = [texts.frame[~has_text], *([] if texts.unanswered is None else [texts.unanswered])]
    all_texts = replace(texts, frame=pd.concat([with_text.frame, *without], ignore_index=True))
    nothing: list[tuple[str, ...]] = [()] * (len(all_texts.frame) - len(with_text.frame))
    description = described(
        all_texts.frame,
        TextColumns(**{name: column or "" for name, column in columns.items()}),
        lines=all_texts.lines,
        labels=[TextLabels(label.column, label.read(with_text) + nothing, label.aliases.labels) for label in labels],
        groups=read_groups(list(all_texts.frame[by]), all_texts.lines, texts.place, NO_NAME) if by else None,
        more_than=more_than,
        under=under,
        n_keywords=n_keywords,
    )
    for shared in description.shared:
        lines, groups = ", ".join(map(str, shared.lines)), ", ".join(shared.groups)
        print_message(f"Warning: {texts.place}:{lines}: the same row is in {len(shared.groups)} groups: {groups}.")
    if check_printed is not None:
        checked = printed_figures.check_printed(printed_figures.read_printed(check_printed, description), description)
        cells = [[row.printed.figure, row.printed.of, str(row.printed.printed), row.told] for row in checked]
        n = sum(not row.comes_out for row in checked)
        title = f"{n:,} of {len(checked):,} printed figures {'does' if n == 1 else 'do'} not match ({check_printed})"
        rows = [result.as_dict() for result in checked]
        texts.emit(form, [Table(title, ("figure", "of", "printed", "what was found"), cells)], rows, checked=rows)
        click.get_current_context().exit(1 if n else 0)
    tables = [table for table in _tables(texts.title, description, by, [item.column for item in labels]) if table.rows]
    figures = [item.as_dict() for item in description.figures]
    lists = {name: [*map(asdict, getattr(description, name))] for name in ("repeated", "shared", "keywords")}
    texts.emit(form, tables, figures, figures=figures, **lists)


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
    words = [(of.label, word.word, word.n, word.n_others, word.z) for of in keywords for word in of.words]
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
        # Where the names are too long together for the head of a table, they stand there by how they begin: by the
        # fewest signs that tell them apart.
        names = list(dict.fromkeys(name for row in cells.values() for name in row))
        n = next((n for n in range(3, 9) if len({name[:n] for name in names}) == len(names)), None)
        short = {name: name[:n] if sum(map(len, names)) > 40 else name for name in names}
        rows: list[list[Cell]] = [[group, *(row[name] for name in short)] for group, row in cells.items()]
        notes = [f"{item}: {name}" for name, item in short.items() if item != name]
        yield Table(f"{column} by {by}: {what}", (by, *short.values()), rows, notes)

"""Tables of texts, and their columns of labels: a file, or what was answered in a round of a study."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli import options
from fcpair.cli.given_options import Command, take_effect
from fcpair.cli.output import Row, Table, emit, print_message, tabular
from fcpair.errors import InputError, StageError, suggest_name
from fcpair.lazy import pd

if TYPE_CHECKING:
    from fcpair.texts.aliases import Aliases


@dataclass(frozen=True)
class Texts:
    """A table of texts, all strings; `place` is what messages call it, `part` says which lines, None for all.

    `simulated` says how much of it simulated people wrote. `unanswered` has the same columns: what nobody answered,
    without a text, where the file says so.
    """

    frame: pd.DataFrame
    place: str
    simulated: str | None = None
    unanswered: pd.DataFrame | None = None
    part: str | None = None

    @property
    def title(self) -> str:
        """Name of the table in results: the place, and which part of it."""
        return f"{self.place}, {self.part}" if self.part else self.place

    @property
    def line_column(self) -> str:
        """The column that numbers the rows: the line of a file, the cell of a round."""
        return "line" if "line" in self.frame else "cell"

    @property
    def lines(self) -> list[int]:
        """By what findings name the rows."""
        return [int(line) for line in self.frame[self.line_column]]

    def check(self, *columns: str | None) -> None:
        """Raise InputError for a column that is asked for, and is not there; the nearest one is named."""
        names = [str(name) for name in self.frame.columns if name != self.line_column]
        for column in columns:
            if column is not None and column not in names:
                raise InputError(f"{self.place}: there is no column `{column}`; {suggest_name(column, names)}")

    def emit(self, form: str, tables: Iterable[Table], rows: Iterable[Row], **data: Any) -> None:
        """Print what was found in the table; as JSON, `data` with what it is about."""
        emit(form, {"place": self.place, "part": self.part} | data, tables, rows, simulated=self.simulated)


def with_texts(command: Command) -> Command:
    """Give the command FILE, `--reader`, `--where`, `--sample`, `--seed`, `--study`, `--grid` and `--round`.

    It is called with `texts`: the lines of the table that are asked for. Without FILE the table is what was answered in
    the round: `cell`, `row`, `column`, `by`, and one column for each question, in which what was rejected is no text. A
    command that has a `--seed` of its own shares it.
    """
    own_seed = any(param.name == "seed" for param in getattr(command, "__click_params__", ()))

    @take_effect("--reader", only_with="FILE")
    @take_effect("--round", "--grid", "--study", not_with="FILE")
    @click.argument("file", required=False, type=options.PATH)
    @options.shared_option(
        "--reader",
        choices=("table", "crowdcounter"),
        detail="A table (CSV, JSONL, Parquet, .xlsx, .ods), or a JSON file of CrowdCounter's release.",
    )
    @options.option(
        "--where",
        "conditions",
        multiple=True,
        metavar="CONDITION",
        help="Only lines with COLUMN=VALUE, COLUMN!=VALUE, or `COLUMN has VALUE` among several labels; if repeated, "
        "with all of them.",
    )
    @options.shared_option("--sample", type=click.IntRange(min=1), metavar="N", detail="Lines are drawn by --seed.")
    @options.round_option
    @options.grid_option
    @options.sheet_option
    @options.study_option
    @functools.wraps(command)
    def call_with_texts(
        file: Path | None,
        reader: str,
        conditions: tuple[str, ...],
        sample: int | None,
        study: Any,
        grid: str | None,
        name: str | None,
        **arguments: Any,
    ) -> Any:
        if file is None:
            of, place = options.open_grid(study, grid)
            frame = of.texts(name)
            if frame.empty:
                raise StageError("nothing has been answered in this round yet")
            texts = Texts(frame, place, of.desk.simulated_note)
        else:
            texts = _read_file(file, reader)
        seed = arguments["seed"] if own_seed else arguments.pop("seed")
        return command(texts=_select_lines(texts, conditions, sample, seed), **arguments)

    return (
        call_with_texts
        if own_seed
        else options.seed_option(take_effect("--seed", only_with="--sample")(call_with_texts))
    )


def _select_lines(texts: Texts, conditions: tuple[str, ...], sample: int | None, seed: int) -> Texts:
    """The lines that meet the conditions, and so many of them; which these are is told on standard error too."""
    from fcpair.texts.stratify import filter_rows, read_condition, sample_rows

    if not conditions and sample is None:
        return texts
    parsed_conditions = [*map(read_condition, conditions)]
    frame = filter_rows(texts.frame, parsed_conditions, texts.lines, texts.place)
    met = " and ".join(map(str, parsed_conditions))
    if frame.empty:
        raise InputError(f"{texts.place}: no line has {met}")
    part = f"{len(frame):,} of {len(texts.frame):,} lines{f' with {met}' if met else ''}"
    unanswered = texts.unanswered
    if unanswered is not None:
        lines = replace(texts, frame=unanswered).lines
        unanswered = filter_rows(unanswered, parsed_conditions, lines, texts.place)
    if sample is not None:
        frame, unanswered = sample_rows(frame, sample, seed, texts.place), None
        part = f"{sample:,} drawn by seed {seed} from {part}"
    chosen = replace(texts, frame=frame.reset_index(drop=True), unanswered=unanswered, part=part)
    print_message(f"{chosen.title}.")
    return chosen


def _read_file(file: Path, reader: str) -> Texts:
    from fcpair.files.corpus.corpus import read_crowdcounter

    if reader == "table":
        frame = tabular.read_table(file, verbatim=True)
        return Texts(frame, tabular.place_of(frame))
    read = read_crowdcounter(file)
    return Texts(read.answers, tabular.place_of(read.answers), unanswered=read.unanswered)


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels, and what its spellings stand for."""

    column: str
    aliases: Aliases

    def read(self, texts: Texts) -> list[tuple[str, ...]]:
        """The labels of each row; raises InputError, with lines, for those that are not known."""
        texts.check(self.column)
        return self.aliases.read(list(texts.frame[self.column]), texts.lines, texts.place)


def with_labels(*, several: bool) -> Callable[[Command], Command]:
    """Give the command `--labels`, `--label` and `--aliases`, and call it with `labels`.

    These are a LabelColumn, which is required, or any number of them where a command takes `several`.
    """

    def decorate(command: Command) -> Command:
        may = " The option may be repeated." if several else ""

        @options.shared_option(
            "--labels",
            "columns",
            metavar="COLUMN",
            required=not several,
            multiple=several,
            detail=f"Several of one text are separated by comma, semicolon or line break, or a JSON list.{may}",
        )
        @options.shared_option(
            "--label",
            "declared",
            multiple=True,
            metavar="NAME",
            detail="Repeat it for each label; any other spelling is then refused.",
        )
        @options.option(
            "--aliases",
            "aliases_file",
            type=options.PATH,
            metavar="FILE",
            help="The label of each spelling: a table with the columns `spelling` and `label`.",
        )
        @take_effect(*(("--label", "--aliases") if several else ()), only_with="--labels")
        @functools.wraps(command)
        def call_with_labels(
            columns: str | tuple[str, ...], declared: tuple[str, ...], aliases_file: Path | None, **arguments: Any
        ) -> Any:
            from fcpair.texts.aliases import Aliases, read_aliases

            aliases = read_aliases(aliases_file, declared) if aliases_file else Aliases(declared)
            if isinstance(columns, str):
                return command(labels=LabelColumn(columns, aliases), **arguments)
            return command(labels=tuple(LabelColumn(column, aliases) for column in columns), **arguments)

        return call_with_labels

    return decorate

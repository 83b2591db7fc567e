"""Options, each defined once: those that every command has, and those that a stage's parameters become."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from fcpair.cli.given_options import Command, take_effect
from fcpair.cli.output import CSV, JSON, TEXT, collect_receipts, print_message, studies, tabular
from fcpair.cli.terminal import before_printing
from fcpair.errors import InputError
from fcpair.param_values import Bounds, check_effects, field_default, flag_of, plain_type
from fcpair.params import IDS_HELP, RESAMPLES, FigureWidth, Ids, read_shares
from fcpair.records import TIERS

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.report.figures.forest import Forest
    from fcpair.report.figures.save import PaperFigure, PaperStyle
    from fcpair.study import Place, Study

PATH, FILE, FOLDER = (click.Path(path_type=Path, **kinds) for kinds in ({}, {"dir_okay": False}, {"file_okay": False}))

# The first sentence of the help of every option that several commands write out for themselves: what it means anywhere.
MEANINGS = {
    "--answer": "The column of the answers.",
    "--by": "A column whose values define groups.",
    "--cluster": "The column whose values define clusters, such as the HS.",
    "--dry-run": "Show what would be done, and do nothing.",
    "--format": "The format of the result.",
    "--grid": "The name of the grid.",
    "--into": "A name that there is instead.",
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
    "--reason": "Why this is done.",
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


def option(*names: str, choices: Sequence[str] = (), **settings: Any) -> Callable[[Command], Command]:
    """An option as click has it, whose default is shown; by default it is the first of its `choices`, if it has any."""
    if choices:
        settings = {"type": click.Choice(choices), "default": choices[0], **settings}
    return click.option(*names, **{"show_default": bool(settings.get("default")) or None, **settings})


def shared_option(flag: str, *names: str, detail: str = "", **settings: Any) -> Callable[[Command], Command]:
    """An option of several commands: its help is what it means in each, and the `detail` of this one."""
    return option(flag, *names, help=" ".join(filter(None, (MEANINGS[flag], detail))), **settings)


def complete_tier(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """The four tiers whose names begin so; those of a study's own are typed."""
    return [name for name in TIERS if name.startswith(begun)]


class StudyPlace(click.Path):
    """A file, or the URL of a database; its password is in no message."""

    name = "study"

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A URL as it is, and anything else as the path of a file."""
        return value if "://" in str(value) else super().convert(value, param, ctx)


study_option = click.option(
    "--study",
    envvar="FCPAIR_STUDY",
    default="study.db",
    show_default=True,
    show_envvar=True,
    type=StudyPlace(),
    help="The study: a file, or a database as postgresql+psycopg://USER@HOST/NAME.",
)
grid_option = shared_option("--grid", metavar="NAME", detail="By default the only one, or `main`.")
format_option = shared_option("--format", "form", choices=("table", CSV, JSON), callback=collect_receipts)
redo_option = click.option(
    "--redo", is_flag=True, help="Run this stage again; discards its results and what was built on them."
)
supersede_option = click.option(
    "--supersede", is_flag=True, help="Accept answers that differ from earlier ones, as newer answers."
)
round_option = shared_option("--round", "name", metavar="NAME", detail="By default the one that counts.")
ids_option = option("--ids", type=click.Choice(get_args(Ids)), help=f"{IDS_HELP[0].upper()}{IDS_HELP[1:]}.")
seed_option = shared_option("--seed", type=click.IntRange(min=0), default=0, show_default=True)


@functools.cache
def add_receipt_format(command: click.Command) -> click.Command:
    """Give the command, and all commands below it, `--format` if there is none: for nothing but receipts."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            add_receipt_format(below)
    elif not any("--format" in param.opts for param in command.params):
        how: dict[str, Any] = {"expose_value": False, "callback": collect_receipts}
        shared_option("--format", "receipt_form", choices=(TEXT, JSON), **how)(command)
    return command


def sheet_option(command: Command) -> Command:
    """Give a command that reads tables `--sheet-name`: all workbooks that it reads are read there."""

    @shared_option("--sheet-name", detail="If not given, the one with the columns.")
    @functools.wraps(command)
    def call_with_sheet(sheet_name: str | None, **arguments: Any) -> Any:
        named = [*arguments.values(), *arguments.get("said", {}).values()]
        values = (item for value in named for item in (value if isinstance(value, tuple) else (value,)))
        suffixes = {path.suffix.lower() for path in values if isinstance(path, Path)}
        if sheet_name is not None and suffixes.isdisjoint(tabular.WORKBOOKS):
            kinds = ", ".join(tabular.WORKBOOKS)
            raise InputError(f"--sheet-name names a sheet of a workbook, and no file is one ({kinds}); omit it")
        with tabular.choose_sheet(sheet_name):
            return command(**arguments)

    return call_with_sheet


def resamples_option(command: Command) -> Command:
    """Give the command `--resamples` and `--seed`, of the draws on which its intervals rest."""
    return shared_option("--resamples", type=int, default=RESAMPLES, show_default=True)(seed_option(command))


def with_study(command: Command, *, look: bool = False) -> Command:
    """Give the command `--study`, and open the study for it; it is closed when the command ends, however it does.

    For a `look`, all that the command reads before it prints anything is one transaction.
    """

    @study_option
    @functools.wraps(command)
    def call_with_study(study: Place, **arguments: Any) -> Any:
        opened = close_at_end(studies.Study.look(study) if look else studies.Study(study))
        if look:
            before_printing(opened.end_look)
        return command(study=opened, **arguments)

    return call_with_study


def with_grid(command: Command, *, look: bool = False) -> Command:
    """Give the command `--study` and `--grid`, and find that grid for it in the study, opened as by `with_study`."""

    @grid_option
    @functools.wraps(command)
    def call_with_grid(study: Study, grid: str | None, **arguments: Any) -> Any:
        return command(grid=study.grid(grid), **arguments)

    return with_study(call_with_grid, look=look)


look_at_study = functools.partial(with_study, look=True)
look_at_grid = functools.partial(with_grid, look=True)


def open_grid(place: Place, name: str | None) -> tuple[Grid, str]:
    """A grid of a study, opened as by `with_study`, and what messages and titles call it."""
    study = close_at_end(studies.Study(place))
    grid = study.grid(name)
    return grid, f"{study.place}, grid {grid.grid.name}"


def close_at_end(study: Study) -> Study:
    """Have the study closed when the command that is under way ends."""
    click.get_current_context().call_on_close(study.close)
    return study


def effective_params(cls: type, name: str = "options") -> Callable[[Command], Command]:
    """Give the command, which must have a grid or a study, an option for each field of `cls` that is not a table.

    It is called with an instance as `name`: what is not given is the grid's own, else the default.
    """
    shown = [item for item in fields(cls) if item.name not in getattr(cls, "verbatim", ())]

    def read(arguments: dict[str, Any]) -> dict[str, Any]:
        grid: Grid | Study = arguments.get("grid") or arguments["study"]
        return {name: _check_given_effects(grid.effective_options(cls, **_take_given(arguments, shown)))}

    return _give_options(cls, shown, _effective_default, read)


def recipe_params(cls: type, *, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Give the command an option for each field of `cls`, and call it with `said`, those that are given.

    What is not given is for `recipe_options` to fill in: the study's recipe says it, else it has its default.
    """
    shown = [item for item in fields(cls) if item.name not in without]
    return _give_options(cls, shown, _recipe_default, lambda arguments: {"said": _take_given(arguments, shown)})


def params(
    cls: type, *, only: Collection[str] | None = None, without: tuple[str, ...] = (), name: str = "options"
) -> Callable[[Command], Command]:
    """Give the command an option for each field of `cls`, or `only` some, and call it with an instance as `name`.

    Fields named in `without`, or not in `only`, have their defaults there.
    """
    shown = [item for item in fields(cls) if item.name not in without and (only is None or item.name in only)]

    def read(arguments: dict[str, Any]) -> dict[str, Any]:
        values = {item.name: _parse_value(item, arguments.pop(item.name)) for item in shown}
        return {name: _check_given_effects(cls(**values))}

    return _give_options(cls, shown, None, read)


def _take_given(arguments: dict[str, Any], shown: Sequence[Field[Any]]) -> dict[str, Any]:
    """Take the values of fields out of the arguments; returns those that are given."""
    values = {item.name: (item, arguments.pop(item.name)) for item in shown}
    return {name: _parse_value(item, value) for name, (item, value) in values.items() if value not in (None, ())}


def _check_given_effects(options: Any) -> Any:
    """Return parameters, none of which the command line gives without effect beside the others."""
    ctx, typed = click.get_current_context(), ParameterSource.COMMANDLINE
    check_effects(options, [name for name in ctx.params if ctx.get_parameter_source(name) is typed])
    return options


def _effective_default(item: Field[Any]) -> str:
    default: Any = ", ".join(item.default) if isinstance(item.default, tuple) else item.default
    shown = (
        item.metadata["otherwise"] if default in (None, "") else textwrap.shorten(str(default), 60, placeholder=" ...")
    )
    return f"the study's own, else {shown}"


def _recipe_default(item: Field[Any]) -> str:
    usual = field_default(item)
    shown = ("no", "yes")[usual] if isinstance(usual, bool) else usual
    return "the recipe's" if usual in (None, (), {}, "") else f"the recipe's, else {shown}"


def _give_options(
    cls: type,
    shown: Sequence[Field[Any]],
    otherwise: Callable[[Field[Any]], str] | None,
    read: Callable[[dict[str, Any]], dict[str, Any]],
) -> Callable[[Command], Command]:
    """Give a command an option for each of these fields, and call it with what is `read` from the arguments, too.

    `otherwise` says in help what holds without an option; where it is None, that is the default of the field.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call_with_read(**arguments: Any) -> Any:
            made = read(arguments)
            return command(**made, **arguments)

        given, hints = call_with_read, get_type_hints(cls)
        for item in reversed(shown):
            kind, flag = plain_type(hints[item.name]), flag_of(item)
            text = f"{item.metadata['help'][0].upper()}{item.metadata['help'][1:]}."
            if otherwise:
                text += f"  [default: {otherwise(item)}]"
            if kind is bool and otherwise is _recipe_default:
                flag += f"/--no-{flag.removeprefix('--')}"
            names = (flag, *item.metadata.get("also", ()), item.name)
            given = click.option(*names, help=text, **_settings(item, kind, otherwise))(given)
        return given

    return decorate


def _settings(item: Field[Any], kind: Any, otherwise: Any) -> dict[str, Any]:
    """Settings for click of an option of this type."""
    if kind is bool and otherwise is not _effective_default:
        return {"default": None} if otherwise else {"is_flag": True, "default": item.default}
    metavar = item.metadata.get("metavar")
    if kind == tuple[Path, ...]:
        return {"multiple": True, "type": as_click_type(Path), "metavar": "FILE"}
    if get_origin(kind) in (Mapping, tuple):
        usual = "N:SHARE" if get_origin(kind) is Mapping else "NAME" if kind == tuple[str, ...] else "NAME,NAME"
        return {"multiple": True, "metavar": metavar or usual}
    default = None if item.default is MISSING or otherwise else item.default
    settings = {"default": default, "show_default": default is not None}
    return {"type": as_click_type(kind, item.metadata.get("bounds")), "metavar": metavar, **settings}


def as_click_type(kind: Any, bounds: Bounds | None = None) -> Any:
    """The type of an option whose values are of a kind, within bounds."""
    if bounds is not None:
        is_open = bounds.below is not None
        numbers = click.IntRange if kind is int else click.FloatRange
        return numbers(bounds.least, bounds.below or bounds.most, min_open=is_open, max_open=is_open)
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    return PATH if kind is Path else kind


def _parse_value(item: Field[Any], value: Any) -> Any:
    if item.name == "overlap":
        return read_shares(text.partition(":")[::2] for text in value)
    if item.name == "annotator_groups":
        return tuple(tuple(name.strip() for name in text.split(",")) for text in value)
    return value


class FigureFolder(NamedTuple):
    """Folder that figures are written to, and in which style."""

    path: Path
    style: PaperStyle


def figures_option(command: Command) -> Command:
    """Give the command `--figures`, and how they are to look; it gets a `FigureFolder`, or None."""

    @option("--figures", type=FOLDER, help="A folder to write figures to.")
    @option("--figure-width", choices=get_args(FigureWidth), help="The width of figures: 6.9 or 3.3 inches.")
    @option("--caption", is_flag=True, help="Write captions of figures as text files, and not into the figures.")
    @take_effect("--figure-width", "--caption", only_with="--figures")
    @functools.wraps(command)
    def call_with_folder(figures: Path | None, figure_width: FigureWidth, caption: bool, **arguments: Any) -> Any:
        folder = None
        if figures:
            from fcpair.report.figures.save import PaperStyle

            folder = FigureFolder(figures, PaperStyle(figure_width, caption))
        return command(figures=folder, **arguments)

    return call_with_folder


def write_figures(folder: FigureFolder, figures: Sequence[PaperFigure | Forest]) -> None:
    """Write figures into a folder, each as SVG, PDF and PNG; all or none: InputError where that cannot be."""
    from fcpair.files.tables.folders import make_writable_folder, write_all
    from fcpair.report.figures.save import render_for_paper

    make_writable_folder(folder.path)
    files = {folder.path / name: content for name, content in render_for_paper(figures, folder.style).items()}
    write_all(files)
    print_message(f"{len(files)} files in {folder.path}: {', '.join(path.name for path in files)}")

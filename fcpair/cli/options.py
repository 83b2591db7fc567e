"""Options, each defined once: those that every command has, and those that a stage's parameters become."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from fcpair.cli.meanings import shared_option
from fcpair.cli.receipts import collect_receipts
from fcpair.errors import InputError
from fcpair.param_values import Bounds, check_effects, field_default, flag_of, plain_type
from fcpair.params import RESAMPLES, read_shares

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.study import Place, Study

Command = Callable[..., Any]
DEFAULT_STUDY = "study.db"
LONGEST_DEFAULT = 60


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
    default=DEFAULT_STUDY,
    show_default=True,
    show_envvar=True,
    type=StudyPlace(),
    help="The study: a file, or a database as postgresql+psycopg://USER@HOST/NAME.",
)
grid_option = shared_option("--grid", metavar="NAME", detail="By default the only one, or `main`.")
format_option = shared_option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    callback=collect_receipts,
)
redo_option = click.option(
    "--redo", is_flag=True, help="Run this stage again; discards its results and what was built on them."
)
supersede_option = click.option(
    "--supersede", is_flag=True, help="Accept answers that differ from earlier ones, as newer answers."
)
round_option = shared_option("--round", "name", metavar="NAME", detail="By default the one that counts.")
seed_option = shared_option("--seed", type=click.IntRange(min=0), default=0, show_default=True)


def sheet_option(command: Command) -> Command:
    """Give a command that reads tables `--sheet-name`: all workbooks that it reads are read there."""

    @shared_option("--sheet-name", detail="If not given, the one with the columns.")
    @functools.wraps(command)
    def call_with_sheet(sheet_name: str | None, **arguments: Any) -> Any:
        from fcpair.files.tables.tabular import WORKBOOKS, choose_sheet

        named = [*arguments.values(), *arguments.get("said", {}).values()]
        paths = [path for value in named for path in (value if isinstance(value, tuple) else (value,))]
        if sheet_name is not None and not any(
            isinstance(path, Path) and path.suffix.lower() in WORKBOOKS for path in paths
        ):
            raise InputError(
                f"--sheet-name names a sheet of a workbook, and no file is one ({', '.join(WORKBOOKS)}); omit it"
            )
        with choose_sheet(sheet_name):
            return command(**arguments)

    return call_with_sheet


def resamples_option(command: Command) -> Command:
    """Give the command `--resamples` and `--seed`, of the draws on which its intervals rest."""
    return shared_option("--resamples", type=int, default=RESAMPLES, show_default=True)(seed_option(command))


def with_study(command: Command) -> Command:
    """Give the command `--study`, and open the study for it; it is closed when the command ends, however it does."""

    @study_option
    @functools.wraps(command)
    def call_with_study(study: Place, **arguments: Any) -> Any:
        from fcpair.study import Study

        return command(study=close_at_end(Study.open(study)), **arguments)

    return call_with_study


def with_grid(command: Command) -> Command:
    """Give the command `--study` and `--grid`, and find that grid for it in the study, opened as by `with_study`."""

    @grid_option
    @functools.wraps(command)
    def call_with_grid(study: Study, grid: str | None, **arguments: Any) -> Any:
        return command(grid=study.grid(grid), **arguments)

    return with_study(call_with_grid)


def close_at_end(study: Study) -> Study:
    """Have the study closed when the command that is under way ends."""
    click.get_current_context().call_on_close(study.close)
    return study


def effective_params(cls: type, name: str = "options") -> Callable[[Command], Command]:
    """Give the command, which must have a grid or a study, an option for each field of `cls` that is not a table.

    It is called with an instance as `name`: what is not given is the grid's own, which the walk of a recipe
    sets when it gets there, else the default.
    """
    shown = [item for item in fields(cls) if item.name not in getattr(cls, "verbatim", ())]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call_with_params(**arguments: Any) -> Any:
            grid: Grid | Study = arguments.get("grid") or arguments["study"]
            chosen = {item.name: arguments.pop(item.name) for item in shown}
            instance: Any = grid.effective_options(
                cls, **{item: value for item, value in chosen.items() if value not in (None, ())}
            )
            check_effects(instance, _given_names())
            return command(**{name: instance}, **arguments)

        hints = get_type_hints(cls)
        wrapped: Command = call_with_params
        for item in reversed(shown):
            wrapped = _effective_option(item, plain_type(hints[item.name]))(wrapped)
        return wrapped

    return decorate


def _effective_option(item: Field[Any], kind: Any) -> Callable[[Command], Command]:
    several = kind == tuple[str, ...]
    default: Any = item.default
    if several:
        default = ", ".join(default)
    shown_default = textwrap.shorten(str(default), LONGEST_DEFAULT, placeholder=" ...")
    plain = item.metadata["otherwise"] if default in (None, "") else shown_default
    text = f"{_sentence(item)}  [default: the study's own, else {plain}]"
    metavar = item.metadata.get("metavar")
    if several:
        return click.option(flag_of(item), item.name, multiple=True, metavar=metavar or "NAME", help=text)
    return click.option(flag_of(item), item.name, type=as_click_type(kind), metavar=metavar, help=text)


def recipe_params(cls: type, *, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Give the command an option for each field of `cls`, and call it with `said`, those that are given.

    What is not given is for `by_recipe` to fill in: the study's recipe says it, else it has its default.
    """
    shown = [item for item in fields(cls) if item.name not in without]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call_with_chosen(**arguments: Any) -> Any:
            values = {item.name: arguments.pop(item.name) for item in shown}
            said = {
                item.name: _parse_value(item, values[item.name])
                for item in shown
                if values[item.name] not in (None, ())
            }
            return command(said=said, **arguments)

        hints = get_type_hints(cls)
        wrapped: Command = call_with_chosen
        for item in reversed(shown):
            wrapped = _recipe_option(item, plain_type(hints[item.name]))(wrapped)
        return wrapped

    return decorate


def _recipe_option(item: Field[Any], kind: Any) -> Callable[[Command], Command]:
    flag, text = flag_of(item), f"{_sentence(item)}  [default: the recipe's{_default_clause(item)}]"
    if kind is bool:
        return click.option(f"{flag}/--no-{flag.removeprefix('--')}", item.name, default=None, help=text)
    if several := _multiple_settings(item, kind):
        return click.option(flag, item.name, multiple=True, help=text, **several)
    return click.option(flag, item.name, type=as_click_type(kind, item.metadata.get("bounds")), help=text)


def _default_clause(item: Field[Any]) -> str:
    """Clause of a help text that states the default where no recipe says otherwise; empty where there is none."""
    usual = field_default(item)
    if usual in (None, (), {}, ""):
        return ""
    return f", else {('no', 'yes')[usual] if isinstance(usual, bool) else usual}"


def _multiple_settings(item: Field[Any], kind: Any) -> dict[str, Any]:
    """Display settings of an option that takes several values; none for others."""
    if kind == tuple[Path, ...]:
        return {"type": as_click_type(Path), "metavar": "FILE"}
    return {"metavar": _METAVARS[get_origin(kind)]} if get_origin(kind) in _METAVARS else {}


def params(
    cls: type, *, only: Collection[str] | None = None, without: tuple[str, ...] = (), name: str = "options"
) -> Callable[[Command], Command]:
    """Give the command an option for each field of `cls`, or `only` some, and call it with an instance as `name`.

    Fields named in `without` are left to the command, which gets a dict of the others instead.
    """
    shown = [item for item in fields(cls) if item.name not in without and (only is None or item.name in only)]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call_with_options(**arguments: Any) -> Any:
            values = {item.name: _parse_value(item, arguments.pop(item.name)) for item in shown}
            if not without:
                check_effects(cls(**values), _given_names())
            return command(**{name: values if without else cls(**values)}, **arguments)

        hints = get_type_hints(cls)
        wrapped: Command = call_with_options
        for item in reversed(shown):
            wrapped = _option(item, hints[item.name])(wrapped)
        return wrapped

    return decorate


def _given_names() -> list[str]:
    """The names of the parameters that the command line gives."""
    ctx = click.get_current_context()
    return [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]


def _option(item: Field[Any], hint: Any) -> Callable[[Command], Command]:
    flag, text = flag_of(item), _sentence(item)
    kind = plain_type(hint)
    if kind is bool:
        return click.option(flag, is_flag=True, default=item.default, help=text)
    if kind == tuple[Path, ...]:
        return click.option(flag, item.name, multiple=True, type=as_click_type(Path), metavar="FILE", help=text)
    if get_origin(kind) is Mapping or get_origin(kind) is tuple:
        metavar = item.metadata.get("metavar") or _METAVARS[get_origin(kind)]
        return click.option(flag, item.name, multiple=True, metavar=metavar, help=text)
    default = None if item.default is MISSING else item.default
    choice, is_shown = as_click_type(kind, item.metadata.get("bounds")), default is not None
    settings: dict[str, Any] = {"type": choice, "default": default, "show_default": is_shown}
    settings["metavar"] = item.metadata.get("metavar")
    return click.option(flag, item.name, help=text, **settings)


def _sentence(item: Field[Any]) -> str:
    return f"{item.metadata['help'][0].upper()}{item.metadata['help'][1:]}."


_METAVARS: dict[Any, str] = {Mapping: "N:SHARE", tuple: "NAME,NAME"}


def as_click_type(kind: Any, bounds: Bounds | None = None) -> Any:
    """The type of an option whose values are of a kind, within bounds."""
    if bounds is not None:
        is_open = bounds.below is not None
        numbers = click.IntRange if kind is int else click.FloatRange
        return numbers(bounds.least, bounds.below or bounds.most, min_open=is_open, max_open=is_open)
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    return click.Path(path_type=Path) if kind is Path else kind


def _parse_value(item: Field[Any], value: Any) -> Any:
    if item.name == "overlap":
        parts = [text.partition(":") for text in value]
        return read_shares((n_labels, share) for n_labels, _, share in parts)
    if item.name == "groups":
        return tuple(tuple(name.strip() for name in text.split(",")) for text in value)
    return value

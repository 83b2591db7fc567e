"""Context of every step: its study or grid, the label scheme, the note of its run, and the order of the stages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fcpair.errors import ConflictError, InputError, SettingError, StageError, UnknownIdError, suggest_name
from fcpair.param_values import IN_MEMORY, as_params, whole_number, with_kept
from fcpair.params import MAIN, Assign, Pair, Partition
from fcpair.records import BY, GridKey, Round, RunRecord, SampleSize
from fcpair.sentences import Id, join, mark, say
from fcpair.steps.base import departures
from fcpair.steps.base.figure_cache import FigureCache
from fcpair.steps.base.opaque_ids import OpaqueIds
from fcpair.store import Store, Tx
from fcpair.store.answers import activity_log, judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import build_progress, runs, settings

if TYPE_CHECKING:
    from fcpair.stages.questions import Closed

Options = TypeVar("Options")
Loaded = TypeVar("Loaded")
PLAN = "grid"  # the settings of a planned grid
LARGEST_ID = 2**63 - 1  # what a database can be asked for
MORE_HINT = say(", `fcpair assign --more` assigns further labels in this one")
STAGE_PRODUCTS = {
    "import": mark("corpus rows"),
    "select": mark("selected HS"),
    "retrieve": mark("candidates"),
    "pair": mark("pairs"),
    "assign": mark("assignments"),
}


class StudyContext:
    """A study, as the use cases take it that are about all of it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the study: `title`, `guidelines`, `hs_name`, `cn_name`, `created_at`."""
        with self._store.read() as tx:
            return runs.study_facts(tx)

    def effective_options(self, cls: type[Options], **options: Any) -> Options:
        """The grid's own Partition, Annotate, ... (of a study, its first grid's), with what is given in their place."""
        with self._store.read() as tx:
            return effective_options(tx, cls, options)


class GridContext(StudyContext):
    """One grid of a study, as the use cases take it that are about one."""

    _rules: Partition | None = None  # of its tiers, where they are not to be its own
    _as_of: int | None = None  # the version of the labels, where it is seen as it was

    def __init__(self, store: Store, grid: GridKey) -> None:
        super().__init__(store.for_grid(grid.id))
        self.grid = grid

    @cached_property
    def _figures(self) -> FigureCache:
        return FigureCache(self._store)

    @property
    def scheme(self) -> Closed:
        """The label scheme: the question that the labels answer."""
        with self._store.read() as tx:
            return scheme_of(tx)


def rules_of(grid: GridContext, tx: Tx) -> Partition:
    """The rules of the tiers: those for which `Grid.tiers` was asked, or else the grid's own."""
    return grid._rules or effective_options(tx, Partition, {})


def find_grid(tx: Tx, name: str | None = None) -> GridKey:
    """The grid of this name, or the only one, or `main`; raises UnknownIdError, with the names, if there is none."""
    keys_by_name = {key.name: key for key in grids.keys(tx)}
    by_default = MAIN if len(keys_by_name) > 1 else next(iter(keys_by_name))
    grid_name = by_default if name is None else name
    if name is None and grid_name not in keys_by_name:
        names = list(keys_by_name)
        raise UnknownIdError(
            f"this study has {len(names)} grids, {', '.join(names)}; choose one, such as `--grid {quote(names[0])}`"
        )
    if grid_name not in keys_by_name:
        hint = suggest_name(grid_name, keys_by_name, mark("the grids of this study: %(names)s"))
        raise UnknownIdError.say("there is no grid `%(name)s`; %(hint)s", name=grid_name, hint=hint)
    return keys_by_name[grid_name]


def is_planned(tx: Tx) -> bool:
    """Return whether the grid has a plan of its own: it is not one of HS and CNs that the building stages make."""
    return bool(settings.of_stage(tx, PLAN))


def scheme_of(tx: Tx) -> Closed:
    """The label scheme of the grid: the question of the round whose answers count; StageError for other than labels."""
    if question := labels_of(tx):
        return question
    primary_round = rounds.primary(tx)
    message = mark(
        "round `%(round)s` asks `%(form)s`, whose answers are not labels: one choice, or a number on a scale"
    )
    raise StageError.say(message, round=primary_round.name, form=primary_round.form)


def labels_of(tx: Tx) -> Closed | None:
    """The label scheme of the grid; None where its answers are no labels."""
    from fcpair.steps.base.answer_values import (  # with all kinds of questions, which few commands need
        closed_question,
        form_of,
    )

    return closed_question(form_of(rounds.primary(tx).form))


def load_opaque_ids(tx: Tx) -> OpaqueIds:
    """Load the ids that clients see instead of the study's row numbers, which would tell them what others do."""
    return OpaqueIds(runs.secret(tx))


def effective_options(tx: Tx, cls: type[Options], overrides: Mapping[str, Any]) -> Options:
    """The study's options of a kind, or `overrides`: its recipe's, the stage's as done, or defaults; may raise
    SettingError.
    """
    return build_options(cls, settings.with_recipe(tx, cls.stage), overrides)  # type: ignore[attr-defined]


def options_as_done(tx: Tx, cls: type[Options]) -> Options:
    """The options with which a stage was done; the defaults where it was not."""
    return build_options(cls, settings.of_stage(tx, cls.stage), {})  # type: ignore[attr-defined]


def build_options(cls: type[Options], saved_settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> Options:
    """Build options of settings, with those in `overrides` in their place; raises what `effective_options` does."""
    parameters = parameters_from_settings(cls, saved_settings)
    try:
        return with_kept(cls, parameters, overrides)
    except InputError as error:
        raise settings_error(cls, parameters, error) from None


def parameters_from_settings(cls: type, saved_settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that are parameters of a class, as they were given."""
    names, verbatim = {item.name for item in fields(cls)}, getattr(cls, "verbatim", ())
    return {
        name: value if name in verbatim else _setting_as_given(value)
        for name, value in saved_settings.items()
        if name in names
    }


def settings_error(cls: type, parameters: Mapping[str, Any], error: InputError) -> InputError:
    """Error to raise where options cannot be made: a SettingError where the study's own settings are at fault."""
    try:
        with_kept(cls, parameters, {})
    except InputError as of_kept:
        stage: str = cls.stage  # type: ignore[attr-defined]
        return SettingError(f"a stored setting of `{stage}` cannot be used: {of_kept}. Set it again")
    return error


def _setting_as_given(value: Any) -> Any:
    if isinstance(value, dict):
        if departures.is_file(value):
            return value["path"]
        return {name: _setting_as_given(item) for name, item in value.items()}
    return [_setting_as_given(item) for item in value] if isinstance(value, list) else value


def has_saved_options(tx: Tx, cls: Any) -> bool:
    """Return whether options of this kind were set, or the stage that takes them was done."""
    return bool(settings.of_stage(tx, cls.stage))


def lease_minutes(tx: Tx, round_: Round) -> int | None:
    """For how many minutes whoever asks is given a slot of a round of this grid; None if it is assigned beforehand."""
    dealing = options_as_done(tx, Assign) if round_.counts else None
    return dealing.lease_minutes if dealing and dealing.open else None


def note_stage_run(tx: Tx, options: Any, counts: dict[str, Any], model: dict[str, str] | None = None) -> RunRecord:
    """Note the run of a stage with the parameters in `options`, which hold as settings from now on."""
    run = note_run(tx, options.stage, as_params(options), counts, model)
    save_options(tx, options, run)
    return run


def save_options(tx: Tx, options: Any, run: RunRecord, *, only: Collection[str] | None = None) -> None:
    """Let these options hold as the study's settings, set by `run`; or `only` some of them."""
    values = {name: value for name, value in as_settings(options).items() if only is None or name in only}
    departures.update_recipe(tx, options, values, run.id)
    settings.save_settings(tx, options.stage, values, run.id)


def as_settings(options: Any) -> dict[str, Any]:
    """The parameters as settings keep them: of a file, or of several, what they hold, too."""
    values = {name: getattr(options, name) for name in as_params(options)}
    files = {name: value for name, value in values.items() if is_file(value)}
    return as_params(options) | {
        name: file_setting(value) if isinstance(value, Path) else [file_setting(path) for path in value]
        for name, value in files.items()
    }


def is_file(value: Any) -> bool:
    """Return whether a parameter names a file, or several."""
    return isinstance(value, Path) or (isinstance(value, tuple) and any(isinstance(item, Path) for item in value))


def file_setting(path: Path) -> dict[str, str]:
    """A file as a setting keeps it: `path`, and of one that is there `sha256`, by which it is known elsewhere."""
    if path == IN_MEMORY:
        return {"path": str(path)}
    place = {"path": str(path.absolute())}
    return place | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()} if path.is_file() else place


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("fcpair")  # which is read from a file


def note_run(
    tx: Tx,
    stage: str,
    params: dict[str, Any],
    counts: dict[str, Any],
    model: dict[str, str] | None = None,
    outcome: dict[str, Any] | None = None,
) -> RunRecord:
    """Note the run of a stage; `outcome` is all that it found, where that is more than counts."""
    return runs.add_run(tx, stage, run_params(tx, stage, params), counts, _version(), model, outcome)


def begin_run(tx: Tx, stage: str, params: dict[str, Any]) -> int:
    """Note a run that brings answers, before they name it; `runs.end_run` adds what it counted."""
    params = {name: noted_file(value) if name == "path" else value for name, value in params.items()}
    return runs.add_run(tx, stage, run_params(tx, stage, params), {}, _version()).id


def check_building(tx: Tx, stage: str, *, redo: bool) -> None:
    """Raise StageError where a building stage may not run: one before is missing, or answers rest on its results."""
    planned = is_planned(tx)
    if stage != "pair":
        need_corpus(tx, stage)
    n_built, stage_index = build_progress.n_built(tx), build_progress.BUILDING.index(stage)
    missing_stages = [] if planned else [name for name in build_progress.BUILDING[:stage_index] if not n_built[name]]
    if missing_stages and not (stage_index and n_built[build_progress.BUILDING[stage_index - 1]]):
        raise StageError.say(
            "`%(stage)s` needs `%(missing)s` first; run `fcpair %(missing)s`", stage=stage, missing=missing_stages[0]
        )
    discarded = [
        say("%(number)s %(things)s", number=n_built[name], things=say(STAGE_PRODUCTS[name]))
        for name in build_progress.BUILDING[stage_index:]
        if n_built[name]
    ]
    resting = [round_ for round_ in rounds.all_of_grid(tx) if stage != "assign" or not round_.options.calibrates]
    if discarded and (n := sum(judgements.n_judgements(tx, round_) for round_ in resting)):
        refusal = say(
            "`%(stage)s` cannot be done again: %(n)s judgements rest on its results (%(discarded)s), and judgements "
            "are never discarded; `fcpair init --study OTHER` makes a new study",
            stage=stage,
            n=n,
            discarded=discarded,
        )
        raise StageError(join([refusal, *[MORE_HINT] * (stage == "assign")], ""))
    if discarded and not redo:
        raise StageError.say(
            "`%(stage)s` has been done; `--redo` would discard %(discarded)s", stage=stage, discarded=discarded
        )


def need_corpus(tx: Tx, stage: str) -> None:
    """Raise StageError for a planned grid, which is not built by the stages that start from a corpus."""
    if is_planned(tx):
        raise StageError.say(
            "`%(stage)s` is for a grid made from a corpus; this one is planned: use `fcpair pair` and `fcpair "
            "assign --round NAME`",
            stage=stage,
        )


def need_cells(tx: Tx, grid: str) -> None:
    """Raise StageError unless the grid of the transaction, which has this name, has cells."""
    if not cells.number_range(tx)[1]:
        raise StageError.say(
            "grid `%(grid)s` has no cells yet; run `fcpair pair --grid %(quoted)s`", grid=grid, quoted=quote(grid)
        )


def begin_building(tx: Tx, stage: str, *, redo: bool) -> None:
    """Make way for a building stage: check it as `check_building` does, and forget what is to be made anew."""
    check_building(tx, stage, redo=redo)
    build_progress.clear_from(tx, stage)


class MovedError(ConflictError):
    """The inputs of a step have changed since it loaded them."""


class Basis(Generic[Loaded]):
    """Inputs of a step that takes long; its second transaction begins with `check_unmoved`, and writes."""

    def __init__(self, tx: Tx, load: Callable[[Tx], Loaded]) -> None:
        self._load, self._change_marks = load, activity_log.change_marks(tx)
        self.inputs = load(tx)

    def check_unmoved(self, tx: Tx) -> None:
        """Raise MovedError unless what would be loaded now is what was found, whatever else happened in the study."""
        if activity_log.change_marks(tx) != self._change_marks and not is_same(self._load(tx), self.inputs):
            raise MovedError(
                "the study changed while this was being computed, so nothing was written; run the command again"
            )


def is_same(first: Any, second: Any) -> bool:
    """Return whether two things that were loaded are alike: frames, arrays, records and all that is made of these."""
    if type(first) is not type(second):
        return False
    if is_dataclass(first):  # by every field: some are no part of what makes records equal
        first, second = vars(first), vars(second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(is_same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(is_same, first, second))
    if hasattr(first, "equals"):  # a frame
        return bool(first.equals(second))
    if hasattr(first, "tobytes"):  # an array
        first, second = (first.shape, first.tobytes()), (second.shape, second.tobytes())
    return bool(first == second)


def need_labels(tx: Tx, stage: str) -> None:
    """Raise StageError unless the study has answers."""
    if not judgements.is_answered(tx):
        raise StageError.say(
            "`%(name)s` needs labels first; run `fcpair labels import` or `fcpair simulate`", name=stage
        )


def find_cell(tx: Tx, number: int) -> int:
    """The id of the pair with this number; raises UnknownIdError when the grid has no such pair."""
    number = whole_number("pair", number)
    cell_id = grids.to_cell_id(tx, number)
    if not cells.has_cell(tx, cell_id):
        first, last = cells.number_range(tx)
        sentence = say("there is no pair %(number)s; the grid is empty", number=Id(number))
        if first is not None and last is not None:
            sentence = say(
                "there is no pair %(number)s; the pairs of the grid are numbered from %(least)s to %(most)s",
                number=Id(number),
                least=Id(grids.to_public_number(first)),
                most=Id(grids.to_public_number(last)),
            )
        sample_size = load_sample_size(tx)
        raise UnknownIdError(join([sentence, str(sample_size)], "; ") if sample_size else sentence)
    return cell_id


_acting: ContextVar[str] = ContextVar("acting", default="")


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """Note in the parameters of each run, as `by`, that this person began it; for what people do on pages."""
    token = _acting.set(name)
    try:
        yield
    finally:
        _acting.reset(token)


def with_actor(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a run, with the name of who begins it, where that is known."""
    return {**params, BY: name} if (name := _acting.get()) else params


def noted_file(path: str | Path) -> str:
    """A file as the log names it: one that came from the pages, or went there, by its name, as its place is gone."""
    return Path(path).name if _acting.get() else str(path)


# Those that are about a grid, and whose parameters do not name it.
STAGES = ("simulate", "agreement", "adjudicate", "validate", "partition", "evaluate", "note", "relabel")


def run_params(tx: Tx, stage: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a run as the log keeps them: with its planned grid, and with who began it on the pages."""
    if "grid" not in params and (stage in STAGES or stage.endswith(" import")):
        grid_id = grids.current_grid_id(tx)
        name = next(key.name for key in grids.keys(tx) if key.id == grid_id)
        params = params if name == MAIN else {"grid": name, **params}
    return with_actor(params)


SAMPLE_SETTING = "sample"  # of a drawn grid: how many cells it could have had, the digest of those drawn, and since it
# was extended how many these are


def load_sample_size(tx: Tx) -> SampleSize | None:
    """Number of cells drawn, and of how many; None where the grid is whole, or has not been made."""
    n, drawn = settings.of_stage(tx, Pair.stage).get("sample"), settings.of_stage(tx, SAMPLE_SETTING)
    if n is None or cells.number_range(tx)[1] is None:
        return None
    return SampleSize(drawn.get("n", n), drawn["of"])

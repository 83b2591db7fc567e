"""Holding a recipe against what the study is, before anything is done by it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fcpair.errors import RecipeError
from fcpair.param_values import as_params
from fcpair.params import MAIN, Adjudicate, Annotate, Setup, Simulate, defaults_of, shaping
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.recipe import Recipe
from fcpair.records import Round
from fcpair.round_options import RoundDesign
from fcpair.stages.questions import Closed, OneOf
from fcpair.stages.questions.labels import read_labels
from fcpair.steps.answers.simulate import by_people
from fcpair.steps.base import text_digests
from fcpair.steps.base.context import PLAN, OnStudy, is_file, is_planned, scheme_of
from fcpair.steps.base.departures import PEOPLE
from fcpair.steps.corpus.grids import SOURCE_FILES
from fcpair.steps.people.reading_limits import LIMITS, loosened
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import about, keys, names
from fcpair.store.oversight import build_progress, runs, settings
from fcpair.store.people import guidelines

HEAD = ("stage", "key", "recipe", "study")
NOTHING = "-"


@dataclass(frozen=True)
class Difference:
    """What the recipe says of one parameter, and what the study is."""

    stage: str
    key: str
    recipe: str
    study: str


def check(study: OnStudy, recipe: Recipe, *, loosen: bool = False) -> None:
    """Raise RecipeError with a table of everything in which the study is not what the recipe says.

    What a section says of a stage that has not been done is no difference, nor is a section that is not there. The
    options of agreement, partition and evaluation may change, and limits may become tighter; looser only to `loosen`.
    """
    with study.store.read() as tx:
        found = [
            *_setup(tx, recipe.setup),
            *_building(tx, recipe),
            *(() if loosen else _limits(tx, recipe.annotate)),
            *_simulate(tx, recipe.simulate),
            *_stage(tx, recipe.adjudicate),
            *_stage(tx, recipe.validate),
            *_grids(tx, recipe),
        ]
        judged = judgements.n_judgements(tx) > 0
    if found:
        lines = [f"{study.store.place} is not what the recipe says; nothing was done", *_table(found)]
        raise RecipeError("\n".join([*lines, *_remedies(recipe, found, judged=judged)]))


def _setup(tx: Tx, setup: Setup | None) -> Iterator[Difference]:
    if setup is None:
        return
    facts, main = runs.study_facts(tx), not is_planned(tx)
    for key in ("title", "hs_name", "cn_name") if main else ("title",):
        if getattr(setup, key) != facts[key]:
            yield Difference("study", key, _shown(getattr(setup, key)), _shown(facts[key]))
    if setup.folding != (there_folded := text_digests.folding(tx)):
        yield Difference("study", "folding", setup.folding, there_folded)
    if setup.guidelines is not None and not _is_a_version(tx, setup.guidelines):
        yield Difference("study", "guidelines", f"the text of {setup.guidelines}", "another text, in every version")
    if main and (wanted := read_labels(setup.scheme)) != (there := scheme_of(tx)):
        yield Difference("study", "scheme", _choices(wanted), _choices(there))


def _is_a_version(tx: Tx, path: Path) -> bool:
    """Whether the study ever had the guidelines of a file; one that is gone says nothing."""
    try:
        body = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return True
    return any(version["body"] == body for version in guidelines.versions(tx))


def _grids(tx: Tx, recipe: Recipe) -> Iterator[Difference]:
    """Where grids that the study has are not as the recipe plans them; one that it lacks is added."""
    there = {one.name: one.id for one in keys(tx)}
    if recipe.has_main and (MAIN not in there or is_planned(tx)):
        yield Difference("grid", MAIN, "made of a corpus", "planned" if MAIN in there else "no such grid")
    for plan in recipe.grids:
        if plan.name in there:
            with about(tx, there[plan.name]):
                yield from _plan(tx, plan)


def _plan(tx: Tx, plan: GridPlan) -> Iterator[Difference]:
    place, kept = f"grid {plan.name}", settings.of_stage(tx, PLAN)
    if not kept:
        yield Difference(place, NOTHING, "planned", "made of a corpus")
        return
    row_name, column_name = names(tx)
    for key, there in {"row_name": row_name, "column_name": column_name}.items():
        if (wanted := getattr(plan, key)) != there:
            yield Difference(place, key, wanted, there)
    for key in ("rows", "columns"):
        if not _is_same_side(side := getattr(plan, key), kept[key]):
            yield Difference(place, key, _shown_side(as_params(side)), _shown_side(kept[key]))
    there_are = {one.name: one for one in rounds.asked(tx)}
    if (wanted_names := [one.name for one in plan.rounds]) != list(there_are):
        yield Difference(place, "rounds", ", ".join(wanted_names), ", ".join(there_are))
        return
    for one in plan.rounds:
        yield from _round(place, one, there_are[one.name], counts=one is plan.counting)
    if (checked := bool(plan.validate)) != (is_checked := bool(rounds.checking(tx).ids)):
        yield Difference(place, "validate", _shown(checked), _shown(is_checked))
    yield from _stage(tx, plan.adjudicate)
    yield from _stage(tx, plan.validate)


def _is_same_side(side: SidePlan, kept: Mapping[str, Any]) -> bool:
    if any(kept[name] != value for name, value in as_params(side).items() if name not in ("file", "sources")):
        return False
    there = kept.get("sources", [])
    if len(there) != len(side.sources) or not all(map(_is_same_source, side.sources, there)):
        return False
    return _is_same_file(side.file, kept["file"]) if side.file and kept["file"] else not (side.file or kept["file"])


def _is_same_source(source: Source, kept: Mapping[str, Any]) -> bool:
    files = {name: path for name in SOURCE_FILES if (path := getattr(source, name))}
    said = {name: value for name, value in as_params(source).items() if name not in files}
    is_same = all(_is_same_file(path, kept[name]) for name, path in files.items() if kept[name])
    return is_same and all(kept[name] for name in files) and all(kept[name] == value for name, value in said.items())


def _round(place: str, plan: RoundPlan, there: Round, *, counts: bool) -> Iterator[Difference]:
    designed = {item.name: as_params(plan)[item.name] for item in fields(RoundDesign)}
    said = {"role": plan.answered_by, "form": plan.form, "counts": counts, **designed}
    kept = {"role": there.role.value, "form": there.form, "counts": there.counts, **there.options.as_json()}
    for key, wanted in said.items():
        if wanted != kept[key]:
            shown = (
                (f"the text of {plan.prompt_file}", "another text") if key == "prompt" and plan.prompt_file else None
            )
            yield Difference(f"{place}, round {plan.name}", key, *(shown or (_shown(wanted), _shown(kept[key]))))


def _shown_side(side: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {_shown(value)}" for key, value in side.items() if value)


def _building(tx: Tx, recipe: Recipe) -> Iterator[Difference]:
    built = build_progress.built(tx)
    for options in (recipe.import_, recipe.select, recipe.retrieve, recipe.pair, recipe.assign):
        if options is not None and built[options.stage]:
            yield from _stage(tx, options)


def _stage(tx: Tx, options: Any) -> Iterator[Difference]:
    """Where the options are not those with which their stage was done, if it was."""
    if options is None or not (kept := settings.of_stage(tx, options.stage)):
        return
    said, defaults = as_params(options), defaults_of(options)
    for key in shaping(options):
        wanted = said[key]
        there = kept.get(key, defaults[key])
        given = getattr(options, key)
        if key in PEOPLE and wanted is None:
            continue
        if is_file(given) and there:
            if differing := _other_files(given, there):
                yield Difference(options.stage, key, *differing)
        elif wanted != there:
            yield Difference(options.stage, key, _shown(wanted), _shown(there))


def _other_files(given: Path | tuple[Path, ...], there: Any) -> tuple[str, str] | None:
    """The files of a parameter, and those that the study was made with, where they are not the same; else None."""
    files, kept = ([given], [there]) if isinstance(given, Path) else (list(given), there)
    if len(files) != len(kept):
        return _shown(list(map(str, files))), _shown(kept)
    other = [(path, one) for path, one in zip(files, kept, strict=True) if not _is_same_file(path, one)]
    return _files(*other[0]) if other else None


def _is_same_file(path: Path, kept: Mapping[str, str]) -> bool:
    """Whether a file holds what was read once. Where it is gone, or nobody noted what it held, its name must do."""
    if "sha256" in kept and path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest() == kept["sha256"]
    return path.name == Path(kept["path"]).name


def _files(path: Path, kept: Mapping[str, str]) -> tuple[str, str]:
    """The two files by their places; where that is the same place, by what was in it."""
    if str(path.absolute()) != kept["path"]:
        return str(path), kept["path"]
    return str(path), "that file with another content"


def _limits(tx: Tx, options: Annotate | None) -> Iterator[Difference]:
    """The limits that the recipe would loosen, and the opt-out that it would end."""
    for key, wanted, there in loosened(tx, options) if options else ():
        none = "no limit" if key in LIMITS else NOTHING
        yield Difference(Annotate.stage, key, none if wanted is None else _shown(wanted), _shown(there))


def _simulate(tx: Tx, options: Simulate | None) -> Iterator[Difference]:
    if options is not None and (n := by_people(tx)):
        yield Difference("simulate", NOTHING, "simulated people answer", f"people have answered: {n:,}")


def _shown(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, dict) and "path" in value:
        return str(value["path"])
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _choices(question: Closed) -> str:
    if not isinstance(question, OneOf) or question.distance != "nominal":
        return str(question)
    return ", ".join(
        f"{one.code} {one.name}{' (not definite)' * (not one.definite)}{' (positive)' * one.positive}"
        for one in question
    )


def _table(found: list[Difference]) -> list[str]:
    rows = [HEAD, *((one.stage, one.key, one.recipe, one.study) for one in found)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD) - 1)]
    return ["  " + "  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows]


def _remedies(recipe: Recipe, found: list[Difference], *, judged: bool) -> Iterator[str]:
    """What can be done about each kind of difference, a line each."""
    yield "Let the recipe say what the study is, or make another study by it: `fcpair run RECIPE --study OTHER`."
    yield "`fcpair recipe` prints the one that the study has come to."
    stages = {one.stage for one in found}
    built = [name for name in build_progress.BUILDING if name in stages]
    if built and not judged:
        yield f"`fcpair {built[0]} --redo` makes that stage anew, and all that was built on it."
    if recipe.adjudicate and Adjudicate.stage in stages:
        policy = recipe.adjudicate
        yield f"`fcpair adjudicate --policy {policy.policy} --ties {policy.ties}` applies the recipe's policy."
    if any(one.key == "guidelines" for one in found):
        yield "The lead's page changes the guidelines of a study."
    if "annotate" in stages:
        yield "`--loosen` takes the recipe's looser limits over."

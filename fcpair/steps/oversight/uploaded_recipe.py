"""A recipe that was uploaded with the files that it names: checked with them, and with the people who take part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from fcpair.errors import InputError, at_fault
from fcpair.files.corpus.corpus import read_corpus
from fcpair.files.tables.tabular import Reading, choose_reading
from fcpair.params import check_distinct_spelling
from fcpair.plans import RoundPlan
from fcpair.recipe import Recipe, load_recipe
from fcpair.sentences import Id, say
from fcpair.stages.answers.model_spec import parse_model_spec
from fcpair.start_draft import GROUPS, Draft, PeopleDraft, RecipeDraft
from fcpair.steps.base.text_digests import folded_digest
from fcpair.steps.grids import collect, read_side_file
from fcpair.steps.people.people import check_n_people, check_pseudonym

MOST_UPLOADS = 50
_VARIABLE = re.compile(r"(?<!\$)\$(?:\$\$)*[A-Za-z_{]|\\[uU]0*24")
_KEY = re.compile(r"\s*([\w-]+)\s*=")
_HEADING = re.compile(r"\s*\[\[?([\w.]+)\]\]?\s*(?:#.*)?")
_PLACE = re.compile(r"\[\[?([\w.]+)\]\]?([^:`]*)(?:: (?:unknown key )?`(\w+)`)?")


def add_upload(uploads: Path, draft: RecipeDraft | None, name: str) -> tuple[RecipeDraft, Path]:
    """A draft with one file more, and where that goes; InputError for a name that it cannot have, or too many."""
    draft, file = draft or RecipeDraft(token_hex(8)), Path(name).name
    files = tuple(dict.fromkeys((*draft.files, file)))
    if not file.strip(". ") or set(file) & {"\0", "\\"} or len(files) > MOST_UPLOADS:
        raise InputError.say(
            "`%(name)s` cannot be added; a recipe has at most %(number)s files here, each with a name",
            name=name,
            number=Id(MOST_UPLOADS),
        )
    (uploads / draft.folder).mkdir(mode=0o700, exist_ok=True, parents=True)
    return RecipeDraft(draft.folder, files), uploads / draft.folder / file


def read_uploaded(folder: Path, draft: RecipeDraft) -> Recipe:
    """The recipe of a folder of uploads, checked with its tables. Raises InputError, with its line, where it cannot be
    read, names a file that was not uploaded or one elsewhere, or does not fit a table.
    """
    if not (name := draft.recipe):
        raise InputError.say("there must be one recipe among the files, which ends in .toml; add it, or take one away")
    path = folder / name
    text = path.read_text("utf-8", "replace")
    if match := _VARIABLE.search(text):
        raise InputError.say(
            "%(file)s:%(line)s: `$NAME` stands for a variable of the server, which is not read here; write its value",
            file=name,
            line=Id(text.count("\n", 0, match.start()) + 1),
        )
    try:
        recipe = load_recipe(path)
    except InputError as error:
        words = str(error).replace(f"{path}: ", "").replace(str(path), name)
        raise InputError.say("%(file)s%(line)s: %(why)s", file=name, line=_line_of(text, words), why=words) from None
    checks = (round_.checks for plan in recipe.grids for round_ in plan.rounds if round_.checks)
    if (recipe.retrieve and recipe.retrieve.dask) or any("://" in check.grammar for check in checks):
        raise InputError.say("the recipe sends texts to another machine (`dask`, `grammar`); use `fcpair run` for that")
    for file in _files_of(recipe):
        if file.name not in draft.files or file.parent.resolve() != folder.resolve():
            raise InputError.say(
                "%(file)s%(line)s: the recipe names `%(name)s`, which was not uploaded; add it, beside the recipe",
                file=name,
                line=_line_with(text, file.name),
                name=file.name,
            )
    try:
        if recipe.import_:
            read_corpus(recipe.import_)
        for side in (side for plan in recipe.grids for side in (plan.rows, plan.columns)):
            if side.sources:
                collect(side.sources, folded_digest)
            elif side.file:
                with choose_reading(Reading(side.sheet_name, side.encoding, side.separator, side.no_header)):
                    read_side_file(side.file, side.column, None, folded_digest)
    except InputError as error:
        words = str(error).replace(f"{folder}/", "")
        line = next((_line_with(text, name) for name in re.findall("`([^`]+)`", words) if name in text), "")
        raise InputError.say("%(file)s%(line)s: %(why)s", file=name, line=line, why=words) from None
    return recipe


def _files_of(value: Any) -> Iterator[Path]:
    """Yield the files that a recipe, or a part of it, names."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple) or is_dataclass(value):
        for item in value if isinstance(value, tuple) else vars(value).values():
            yield from _files_of(item)
    if isinstance(value, RoundPlan):
        yield from (Path(spec.of) for spec in map(parse_model_spec, value.models) if spec.source == "canned")


def _line_of(text: str, words: str) -> str:
    """The line of a recipe that a message is about, as `:12`; empty where it does not say it, or says it itself."""
    if unknown := re.search("unknown section `([^`]+)`", words):
        return _line_with(text, f"[{unknown[1]}]")
    if not (place := _PLACE.search(words)):
        return ""
    lines, names = text.splitlines(), place[2].split()
    headings = {at: match[1] for at, line in enumerate(lines) if (match := _HEADING.fullmatch(line))}
    at = next((at for at, heading in headings.items() if heading.split(".")[0] == place[1]), 0)
    for name in names:  # of a grid, then of a round in it
        at = next((later for later in range(at, len(lines)) if f'"{name}"' in lines[later]), at)
    first = max((heading for heading in headings if heading <= at), default=0)
    keys = {place[3] or (names or [""])[-1]}
    found = (at for at in range(first, len(lines)) if (match := _KEY.match(lines[at])) and match[1] in keys)
    return f":{next(found, first) + 1}"


def _line_with(text: str, words: str) -> str:
    return next((f":{number}" for number, line in enumerate(text.splitlines(), 1) if words in line), "")


def check_people(draft: PeopleDraft, whole: Draft, needed: PeopleDraft, leads: list[str]) -> None:
    """Raise InputError for names that cannot take part together."""
    for group in GROUPS:
        number, expected = len(getattr(draft, group)), len(getattr(needed, group))
        with at_fault(group):
            if expected and not number and group not in ("adjudicators", "validators"):
                raise InputError.say("there are no %(people)s; at least one is needed", people=say(group))
            if isinstance(whole.table, RecipeDraft) and number != expected and group != "adjudicators":
                raise InputError.say(
                    "%(number)s %(people)s are named, and the recipe asks for %(expected)s",
                    number=Id(number),
                    people=say(group),
                    expected=Id(expected),
                )
    check_n_people(len(draft.names))
    for name in draft.names:
        check_pseudonym(name)
    if repeated := [name for name, n in Counter(draft.names).items() if n > 1]:
        raise InputError.say("`%(name)s` is named twice; each name stands for one person in one role", name=repeated[0])
    if taken := [name for name in draft.names if name in leads]:
        raise InputError.say(
            "`%(name)s` leads the study, so cannot have another role; choose another name", name=taken[0]
        )
    check_distinct_spelling(draft.names, leads)
    if strangers := [name for group in draft.annotator_groups for name in group if name not in draft.annotators]:
        with at_fault("annotator_groups"):
            raise InputError.say("`%(name)s` is in a group, but is no annotator", name=strangers[0])

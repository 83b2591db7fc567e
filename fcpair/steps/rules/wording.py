"""The words of a study: what people who answer read in place of its names, and what a unit of their work is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fcpair.errors import InputError
from fcpair.records import Role, RunRecord
from fcpair.sentences import join
from fcpair.stages.questions.labels import GridNames, check_words, present_parts, with_wordings
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import PLAN, StudyContext, effective_options, find_grid, labels_of, note_stage_run
from fcpair.steps.base.keywords import check_seen, own, takes_params
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.words import DEFAULT_LANGUAGE, NOUNS, Noun, Wording, Words

if TYPE_CHECKING:
    from fcpair.files.answers.answer_files import CellColumns

MAIN_SIDES = ("hs", "cn")
MIXED = "item"  # where rounds of one role are about different things
_WITHOUT_ROUNDS = {Role.RESPONDENT: "statement", Role.WRITER: "text", Role.RATER: "text"}


class PageWords(NamedTuple):
    """Names for a unit of somebody's work and for the rows and columns of a grid; and the `language` of pages."""

    noun: Noun
    row_name: str
    column_name: str
    language: str = DEFAULT_LANGUAGE


def effective_words(tx: Tx) -> Words:
    """The words of the study as they are now."""
    with grids.on_first_grid(tx):
        return effective_options(tx, Words, {})


def load_names(study: StudyContext) -> list[GridNames]:
    """The names that the study's grids have, to which words can be given."""
    with study._store.read() as tx:
        return study_names(tx)


def study_names(tx: Tx) -> list[GridNames]:
    """The names that the grids have in a transaction."""
    names = []
    for key in grids.for_each_grid(tx):
        plan = settings.of_stage(tx, PLAN)
        side_names = (*grids.side_names(tx), *_listed_names(plan, "rows"), *_listed_names(plan, "columns"))
        forms = (form_of(rounds.form(tx, round_id)) for round_ in rounds.of_grid(tx) for round_id in round_.ids)
        names.append(GridNames(key.name, (*side_names, *(() if plan else MAIN_SIDES)), tuple(forms)))
    return names


def _listed_names(plan: Mapping[str, Any], side: str) -> list[str]:
    return list(plan.get(side, {}).get("names") or ())


def side_words(tx: Tx, words: Words) -> tuple[Wording, Wording, dict[str, dict[str, str]], bool]:
    """The wordings of the row and the column of the grid that a transaction is about, and of their names; and whether a
    single column only names the grid, and is not shown.
    """
    plan = settings.of_stage(tx, PLAN)
    row, column = (
        words.side(name, *(() if plan else (own_name,)))
        for name, own_name in zip(grids.side_names(tx), MAIN_SIDES, strict=True)
    )
    columns = _listed_names(plan, "columns")
    # Few names have a wording, of the thousands that a side may list: every page and its progress ask for these.
    worded_names = (name for name in (*_listed_names(plan, "rows"), *columns) if name in words.sides)
    names = {name: parts for name in worded_names if (parts := present_parts(words.side(name)))}
    is_single = len(columns) == 1 and columns[0] not in names and not columns[0].endswith(("?", "؟", "？"))
    return row, column, names, is_single


def asked_labels(tx: Tx, words: Words) -> dict[str, Any]:
    """The question of labels of the grid that a transaction is about, as pages ask it."""
    grid = next(key.name for key in grids.keys(tx) if key.id == grids.current_grid_id(tx))
    (question,) = with_wordings(form_of(rounds.primary(tx).form).as_json(), words, grid)
    return question


def page_words(study: StudyContext, role: Role, grid: str | None = None, language: str | None = None) -> PageWords:
    """The words of pages for a role, about a grid or else the first one, in the `language` that somebody chose."""
    with study._store.read() as tx:
        words = effective_words(tx).in_language(language)
        with grids.on_grid(tx, find_grid(tx, grid).id if grid else grids.keys(tx)[0].id):
            names = side_headings(tx, words)
        return PageWords(role_noun(tx, role, words), *names, words.page_language)


def page_language(study: StudyContext) -> str:
    """The language of pages for those who have not chosen one."""
    with study._store.read() as tx:
        return effective_words(tx).page_language


def role_noun(tx: Tx, role: Role, words: Words | None = None) -> Noun:
    """Noun for one unit of a role's work: as the study's words have it, else by what is shown."""
    if word := (words or effective_words(tx)).nouns.get(role.value):
        return Noun.of(word)
    if role is Role.ADJUDICATOR:
        role_rounds = [rounds.primary(tx) for _ in grids.for_each_grid(tx) if labels_of(tx)]
    else:
        role_rounds = rounds.of_role(tx, role)
    nouns = set()
    for round_ in role_rounds:  # a pair where two texts are shown, else by the text that is, and who reads
        with grids.on_grid(tx, round_.grid_id):
            plan = settings.of_stage(tx, PLAN)
        n_names, hides_column = len(_listed_names(plan, "columns")), round_.options.hides_column
        if not (n_names or hides_column):
            nouns.add("pair")
        elif round_.role is Role.RESPONDENT:
            nouns.add("statement" if n_names == 1 or hides_column else "question")
        else:
            is_reply = round_.role is Role.RATER and plan.get("rows", {}).get("answers")
            nouns.add("reply" if is_reply else "text")
    nouns = nouns or {_WITHOUT_ROUNDS.get(role, "pair")}
    return Noun.of(nouns.pop() if len(nouns) == 1 else MIXED)


def sheet_headings(tx: Tx, of: CellColumns) -> dict[str, str]:
    """The columns that say which cell a row of a sheet is about, by what workbooks of this study may call them."""
    return dict(zip(side_headings(tx), of.sides, strict=True)) | {number_heading(noun): of.number for noun in NOUNS}


def side_headings(tx: Tx, words: Words | None = None) -> tuple[str, str]:
    """Names that workbooks and pages use for the two texts of a cell in the grid of a transaction."""
    row, column, *_ = side_words(tx, words or effective_words(tx))
    row_name, column_name = grids.side_names(tx)
    return row.text or row_name, column.text or column_name


def number_heading(noun: str) -> str:
    """Heading in a workbook of the column of the numbers of cells, where a cell is not called a pair."""
    return f"{noun} number"


@takes_params
def save_words(
    study: StudyContext,
    words: Words | None = None,
    *,
    seen: str | None = None,
    language: str = own(DEFAULT_LANGUAGE),
    nouns: Mapping[str, str] = own({}),
    questions: Mapping[str, Any] = own({}),
    options: Mapping[str, Any] = own({}),
    sides: Mapping[str, Any] = own({}),
) -> RunRecord:
    """Set what people who answer read in place of names; pages that are loaded from now on show it.

    Raises InputError with all wordings of questions, options and sides that the study does not have, ConflictError
    unless the words are still those that somebody has `seen` (`digest_params`).
    """
    with study._store.write() as tx, grids.on_first_grid(tx):
        check_seen(tx, Words, seen)
        new_words = words or effective_options(tx, Words, {})
        try:
            check_words(new_words, study_names(tx))
        except ExceptionGroup as group:
            raise InputError(join(map(str, group.exceptions), "; ")) from None
        counts = {name: len(getattr(new_words, name)) for name in Words.verbatim}
        return replace(note_stage_run(tx, new_words, counts), notes=new_words.language_notes)

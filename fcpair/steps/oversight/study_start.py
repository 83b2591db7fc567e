"""Starting a study from an uploaded table, step by step; each step is kept, and nothing is built before the last."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from math import ceil
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.files.corpus import corpus as corpora
from fcpair.files.tables.tabular import READERS
from fcpair.models import model_files
from fcpair.models.encode import Progress
from fcpair.param_values import as_params, from_params
from fcpair.params import (
    FORMAT_BY_SUFFIX,
    Assign,
    Import,
    Pair,
    Retrieve,
    Select,
    Setup,
    Validate,
    check_distinct_spelling,
    format_of,
)
from fcpair.recipe import Recipe, as_toml
from fcpair.records import Role, RunRecord
from fcpair.sentences import Id, mark, say
from fcpair.stages.assignment.assign import check_overlap, overlap_counts
from fcpair.stages.corpus.retrieve import even_shares
from fcpair.stages.questions.base import Choice
from fcpair.stages.questions.closed import OneOf
from fcpair.stages.questions.labels import need_tiers
from fcpair.stages.survey import ANSWERS, STATEMENT, SUGGEST
from fcpair.start_draft import (
    BegunDraft,
    ColumnsDraft,
    Draft,
    DraftPart,
    GuidelinesDraft,
    PeopleDraft,
    PlanDraft,
    PlanFigures,
    StatementsDraft,
    StudyKind,
    SurveyDraft,
    SurveyFigures,
    TableDraft,
    TablePreview,
    parts_of,
)
from fcpair.steps import survey
from fcpair.steps.base.context import StudyContext, is_planned, note_run
from fcpair.steps.base.text_digests import folded_digest
from fcpair.steps.grids import change_setup, read_side_file
from fcpair.steps.oversight import recipe_runner, study_recipe, uploaded_table
from fcpair.steps.people.people import check_guidelines, check_n_people, check_pseudonym, enrol_people, find_person
from fcpair.store import Tx, people
from fcpair.store.corpus import grids
from fcpair.store.database import backends
from fcpair.store.oversight import build_progress, runs, settings
from fcpair.values import is_blank

STAGE = "draft"
N_SHOWN = 20
USUAL_HS = 45  # as FC-CONAN has
HOUR_S = 3600
QUESTIONS = ("Have you heard this said?", "Do you believe it?")
CHANGED = mark(
    "the step “%(step)s” was changed by %(name)s since you opened this page; look at what is there now, then send "
    "yours again"
)
STARTED = say("the study has been started already, so its draft cannot be changed any more; go to the overview")
NAMELESS = (
    say("a negative label has no name; give it one"),
    say("an unsure label has no name; give it one"),
    say("a positive label has no name; give it one"),
)
ROLES = {
    "annotators": Role.ANNOTATOR,
    "adjudicators": Role.ADJUDICATOR,
    "validators": Role.VALIDATOR,
    "respondents": Role.RESPONDENT,
}
Made = TypeVar("Made")


class StudyStart:
    """The start of a study: its draft, what would come of it, and how it is built."""

    def __init__(self, study: StudyContext) -> None:
        self._study, self._store = study, study._store

    @property
    def is_open(self) -> bool:
        """Return whether the study has no corpus yet, or began to be built of the draft and has not come to its end."""
        with self._store.read() as tx, grids.on_first_grid(tx):
            return _is_open(tx)

    @property
    def folder(self) -> Path:
        """The folder of the uploads, beside the study."""
        return backends.path_beside(self._store.address, "").with_name("uploads").absolute()

    def new_table(self, name: str) -> Path:
        """A new file for an uploaded table of that name; raises InputError for a name that no table can have."""
        suffix = Path(name).suffix.lower()
        if suffix not in FORMAT_BY_SUFFIX:
            raise InputError.say(
                "`%(name)s` is not a table that can be read; choose a file that ends in %(suffixes)s",
                name=name,
                suffixes=tuple(READERS),
            )
        return self._new_file(suffix)

    def _new_file(self, suffix: str) -> Path:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path = self.folder / f"{token_hex(8)}{suffix}"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # which only its owner can read
        return path

    def draft(self) -> Draft:
        """The draft as it is now."""
        with self._store.read() as tx, grids.on_first_grid(tx):
            return _load_draft(tx)

    def save(self, *parts: DraftPart, by: str, seen: int) -> Draft:
        """Keep what a step has settled `by` a person who saw the version `seen`, and what follows from it for others.

        Another table or columns take back the plan, and another number of people the names. Raises ConflictError where
        the draft was changed since, StageError for a started study or a missing step, InputError for what cannot be
        done.
        """
        changes: Any = {part.step: part for part in parts}
        draft = replace(self.draft(), **changes)
        for part in parts:
            self._check(part, draft)
        with self._store.write() as tx, grids.on_first_grid(tx):
            if not _is_open(tx) or (is_planned(tx) and not isinstance(parts[0], BegunDraft)):
                raise StageError(STARTED)
            current = _load_draft(tx)
            if seen != current.version:
                run = runs.find_run(tx, current.version)
                who, step = (run.params["by"], run.params["step"]) if run else ("somebody", "draft")
                raise ConflictError.say(CHANGED, step=step, name=who)
            changed = [part for part in parts if part != getattr(current, part.step)]
            values: dict[str, Any] = {part.step: as_params(part) for part in changed}  # None for what no longer holds
            for part in changed:
                if isinstance(part, TableDraft) and part.kind != current.kind:
                    values |= dict.fromkeys((ColumnsDraft.step, PlanDraft.step, PeopleDraft.step))
                if isinstance(part, TableDraft | ColumnsDraft | StatementsDraft) and current.plan:
                    values.setdefault(PlanDraft.step, None)
                if isinstance(part, SurveyDraft):
                    planned = 0, 0, part.respondents
                elif isinstance(part, PlanDraft):
                    planned = part.annotators, part.validators, 0
                else:
                    continue
                named = current.people
                if named and planned != (len(named.annotators), len(named.validators), len(named.respondents)):
                    values.setdefault(PeopleDraft.step, None)
            if values:
                run = note_run(tx, STAGE, {"step": parts[0].step, "by": by}, {})
                settings.save_settings(tx, STAGE, values, run.id)
            return _load_draft(tx)

    def _file(self, draft: Draft) -> tuple[Path, str]:
        table = _need(draft.table, TableDraft)
        return self.folder / table.file, table.name

    def _read(self, draft: Draft, read: Callable[..., Made], *options: Any) -> Made:
        """Read the table, again only once it has changed; errors call it by the name that its owner knows."""
        path, name = self._file(draft)
        try:
            return read(path, path.stat().st_mtime_ns if path.is_file() else 0, *options)
        except InputError as error:
            raise InputError(uploaded_table.reword(str(error), path, name)) from None

    def _read_corpus(self, draft: Draft, columns: ColumnsDraft) -> corpora.Corpus:
        return self._read(draft, uploaded_table.read_pairs, tuple(uploaded_table.reading_options(columns).items()))

    def header(self, draft: Draft) -> list[str]:
        """The columns of the uploaded table; raises InputError for what is no table, or has too few."""
        header = self._read(draft, uploaded_table.read_columns)
        if len(header) < (1 if draft.kind == "survey" else 2):
            raise InputError.say(
                "%(file)s: has one column only, `%(column)s`; a table of pairs has a column for each of the two texts. "
                "A CSV must be separated by commas",
                file=self._file(draft)[1],
                column=header[0],
            )
        return header

    def guess(self, draft: Draft) -> ColumnsDraft | StatementsDraft:
        """The columns that were chosen, if the table has them; else those that their names suggest."""
        header, chosen = self.header(draft), draft.columns
        if draft.kind == "survey":
            if isinstance(chosen, StatementsDraft) and chosen.statement in header:
                return chosen
            title = chosen.title if isinstance(chosen, StatementsDraft) else ""
            return StatementsDraft(STATEMENT if STATEMENT in header else header[0], title)
        chosen, path = (chosen if isinstance(chosen, ColumnsDraft) else None), self._file(draft)[0]
        has_columns = chosen and {chosen.hs, chosen.cn, *filter(None, (chosen.hs_id, chosen.cn_id))} <= set(header)
        if chosen and has_columns and chosen.reader in (*corpora.PUBLISHED_COLUMNS, format_of(path)):
            return chosen
        guess = corpora.guess_columns(header)
        is_published = guess.reader in corpora.PUBLISHED_COLUMNS and path.suffix == ".csv"
        reader: Any = guess.reader if is_published else format_of(path)
        names = {name: getattr(guess, name) for name in ("hs", "cn", "hs_id", "cn_id")}
        return replace(chosen or ColumnsDraft(), reader=reader, **names, language="en" if reader == "conan" else None)

    def preview(self, draft: Draft, columns: ColumnsDraft | StatementsDraft | None = None) -> TablePreview:
        """The table as the study would read it, by these columns or else those of the draft, or why it cannot."""
        columns = columns or _need(draft.columns, ColumnsDraft)
        path, name = self._file(draft)
        try:
            if isinstance(columns, StatementsDraft):
                texts = read_side_file(path, columns.statement, None, folded_digest)
                shown_texts = tuple((text,) for _, text, _, _ in texts[:N_SHOWN])
                return TablePreview(len(texts), len(texts), pairs=shown_texts, metadata=tuple(texts[0][3]))
            corpus = self._read_corpus(draft, columns)
        except InputError as error:
            return TablePreview(problem=uploaded_table.reword(str(error), path, name))
        pairs = corpus.pairs
        has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
        n_hs, n_cn = pairs["hs_digest"][has_hs].nunique(), pairs["cn_digest"][has_cn].nunique()
        shown = pairs[has_hs & has_cn].head(N_SHOWN)
        rows = tuple(zip(shown["hs"], shown["cn"], strict=True))
        return TablePreview(len(pairs), n_hs, n_cn, rows, tuple(corpus.metadata))

    @cached_property
    def can_retrieve(self) -> bool:
        """Return whether the model that finds candidates is on this machine, so that it need not be downloaded."""
        return model_files.is_on_this_machine()

    def default_plan(self, draft: Draft) -> PlanDraft | SurveyDraft:
        """A plan to begin with: FC-CONAN's for a large corpus, else all HS and CNs; PBBQ's for a survey."""
        if draft.kind == "survey":
            return SurveyDraft(QUESTIONS, ANSWERS, suggest=SUGGEST)
        n_hs = self.preview(draft).n_hs
        is_large = self.can_retrieve and n_hs > USUAL_HS
        return PlanDraft("retrieved" if is_large else "full", hs=USUAL_HS if is_large else max(n_hs, 1))

    def figures(self, draft: Draft, plan: PlanDraft | SurveyDraft) -> PlanFigures | SurveyFigures:
        """The size of the study by a plan; raises InputError for one that cannot be carried out."""
        if isinstance(plan, SurveyDraft):
            uploaded_table.survey_grids(self._file(draft)[0], _need(draft.columns, StatementsDraft), plan)
            if plan.part is not None and plan.part > plan.respondents:
                raise InputError.say(
                    "%(number)s people are to answer each statement, but there are %(most)s respondents; raise their "
                    "number, or lower the other",
                    number=Id(plan.part),
                    most=Id(plan.respondents),
                )
            n_statements = self.preview(draft).n_hs
            n_questions = n_statements * len(plan.questions)
            n_answers = n_questions * (plan.respondents if plan.part is None else plan.part)
            each = ceil(n_answers / plan.respondents)
            return SurveyFigures(n_statements, n_questions, n_answers, each, each * plan.seconds / HOUR_S)
        n_cn, n_cells = uploaded_table.grid_size(self._read_corpus(draft, _need(draft.columns, ColumnsDraft)), plan)
        if not n_cells:
            raise InputError.say(
                "no pair is left to be labelled: the table has them all; choose more HS or other candidates"
            )
        by_labels = overlap_counts(n_cells, plan.overlap)
        check_overlap(plan.annotators, by_labels)
        n_labels = sum(n * n_pairs for n, n_pairs in by_labels.items())
        labels_each = ceil(n_labels / plan.annotators)
        verdicts_each = ceil(n_cells / plan.validators) if plan.validators else 0
        return PlanFigures(
            plan.hs,
            n_cn,
            n_cells,
            plan.kind != "full" and plan.candidates is None,
            {n: n_pairs for n, n_pairs in by_labels.items() if n_pairs},
            n_labels,
            labels_each,
            labels_each * plan.seconds / HOUR_S,
            verdicts_each,
            verdicts_each * plan.seconds / HOUR_S,
            even_shares(n_cells),
        )

    def guidelines_text(self, draft: Draft) -> str:
        """The guidelines of the draft; empty where it has none."""
        file = draft.guidelines.file if draft.guidelines else ""
        return (self.folder / file).read_text("utf-8") if file else ""

    def keep_guidelines(self, draft: Draft, body: str) -> GuidelinesDraft:
        """Write guidelines to a file; raises InputError for a text that is too long or holds a NUL."""
        if is_blank(body):
            return GuidelinesDraft()
        check_guidelines(body)
        if "\0" in body:
            raise InputError("the guidelines hold a NUL; take it out")
        if draft.guidelines and body == self.guidelines_text(draft):
            return draft.guidelines
        path = self._new_file(".md")
        path.write_text(body, "utf-8")
        return GuidelinesDraft(path.name)

    def recipe(self, draft: Draft) -> Recipe:
        """The recipe of the study that the draft describes; raises StageError where a step is missing."""
        people_, text = _need(draft.people, PeopleDraft), _need(draft.guidelines, GuidelinesDraft)
        guidelines_file = self.folder / text.file if text.file else None
        columns, plan = _need(draft.columns, ColumnsDraft), _need(draft.plan, PlanDraft)
        if isinstance(columns, StatementsDraft):
            grids_ = uploaded_table.survey_grids(self._file(draft)[0], columns, plan)
            return Recipe(setup=Setup(columns.title, guidelines_file), grids=grids_)
        return Recipe(
            setup=_setup(columns, guidelines_file),
            import_=Import(self._file(draft)[0], **uploaded_table.reading_options(columns)),
            select=Select(plan.hs, seed=plan.seed),
            retrieve=Retrieve(every_cn=True) if plan.kind == "full" else Retrieve(plan.k),
            pair=Pair(plan.candidates if plan.kind == "retrieved" else None, seed=plan.seed),
            assign=Assign(len(people_.annotators), plan.overlap, seed=plan.seed),
            validate=Validate(len(people_.validators), seed=plan.seed) if people_.validators else None,
        )

    def recipe_text(self, draft: Draft) -> str:
        """The recipe as TOML."""
        return as_toml(self.recipe(draft))

    def build(self, progress: Progress | None = None) -> Iterator[RunRecord]:
        """Build the study of its draft, and yield what each stage did; the study is empty again where a stage fails.

        A survey is founded at once, or not at all; what follows is done where a build that was killed has not.
        """
        draft = self.draft()
        recipe, by = self.recipe(draft), _need(draft.start, BegunDraft).by
        if recipe.grids:
            founding_runs = []
            with self._store.write(bulk=True) as tx, grids.on_first_grid(tx):
                if build_progress.has_corpus(tx):
                    raise StageError(STARTED)
                if not is_planned(tx):
                    founding_runs = [_set_up(tx, recipe, by), *survey.add_survey(tx, recipe.grids, in_place=True)]
            yield from founding_runs
            self._add_people(_need(draft.people, PeopleDraft))
            yield from survey.open_survey(self._study, uploaded_table.SURVEY)
            study_recipe.save_recipe(self._study, recipe)
            return
        self._clear()  # what a build has left that was killed
        try:
            with self._store.write() as tx, grids.on_first_grid(tx):
                run = _set_up(tx, recipe, by)
            yield run
            for run in recipe_runner.run_recipe(self._study, recipe, progress=progress):
                yield run
                if run.stage == Pair.stage:
                    self._add_people(_need(draft.people, PeopleDraft))
        except Exception:
            self._clear()
            raise

    def _check(self, part: DraftPart, draft: Draft) -> None:
        """Raise InputError for a part that cannot be used, StageError for one that needs an earlier one."""
        match part:
            case TableDraft():
                self.header(draft)
            case ColumnsDraft() | StatementsDraft():
                if isinstance(part, ColumnsDraft):
                    _setup(part, None)
                if problem := self.preview(draft, part).problem:
                    raise InputError(problem)
            case PlanDraft() | SurveyDraft():
                self.figures(draft, part)
            case PeopleDraft():
                with self._store.read() as tx:
                    _check_people(part, draft.kind, [person.name for person in people.people(tx, Role.LEAD)])
            case BegunDraft():
                self.recipe(draft)

    def _add_people(self, draft: PeopleDraft) -> None:
        """Add those who are not there yet; who was added before by a draft that has changed takes no part."""
        with self._store.write() as tx:
            everybody = people.people(tx)
            for person in everybody:
                if person.role is not Role.LEAD and person.name not in draft.names and not person.retired:
                    people.retire(tx, person.id)
            known = {person.name for person in everybody}
            for group, role in ROLES.items():
                if names := [name for name in getattr(draft, group) if name not in known]:
                    enrol_people(tx, names, role)

    def _clear(self) -> None:
        """Make the study empty again; raises StageError where somebody has answered."""
        with self._store.write() as tx, grids.on_first_grid(tx):
            build_progress.clear_from(tx, Import.stage)
            for stage in (*build_progress.BUILDING, Validate.stage):
                settings.remove_stage(tx, stage)


def _is_open(tx: Tx) -> bool:
    if not is_planned(tx) and not build_progress.has_corpus(tx):
        return True
    return _load_draft(tx).start is not None and not build_progress.is_assigned(tx)


def _set_up(tx: Tx, recipe: Recipe, by: str) -> RunRecord:
    setup = recipe.setup or Setup()
    change_setup(tx, setup)
    run = note_run(tx, setup.stage, as_params(setup), {})
    body = setup.guidelines.read_text("utf-8") if setup.guidelines else ""
    if body and body != people.current_guidelines(tx)[1]:
        people.add_guidelines(tx, body, find_person(tx, by).id)
    return run


def _load_draft(tx: Tx) -> Draft:
    values = settings.of_stage(tx, STAGE)
    kind: StudyKind = (values.get(TableDraft.step) or {}).get("kind", "pairs")
    parts: Any = {
        part.step: from_params(part, values[part.step]) for part in parts_of(kind) if values.get(part.step) is not None
    }
    return Draft(settings.run_of_stage(tx, STAGE) or 0, **parts)


def _need(part: Any, cls: type[Any]) -> Any:
    if part is None:
        raise StageError.say("the step “%(step)s” is not done yet; do it first", step=cls.step)
    return part


def _setup(columns: ColumnsDraft, path: Path | None) -> Setup:
    """The first section of the recipe; raises InputError for names or labels that cannot be."""
    for sentence, name in zip(NAMELESS, columns.labels, strict=True):
        if not name:
            raise InputError(sentence)
    if not columns.hs_name or not columns.cn_name or columns.hs_name == columns.cn_name:
        raise InputError.say("the two sides need different names, such as `hate speech` and `counter-narrative`")
    negative, unsure, positive = columns.labels
    question = OneOf((Choice(0, negative), Choice(1, unsure, definite=False), Choice(2, positive, positive=True)))
    question.check_new()
    return Setup(columns.title, path, columns.hs_name, columns.cn_name, str(need_tiers(question)))


def _check_people(draft: PeopleDraft, kind: StudyKind, leads: list[str]) -> None:
    """Raise InputError for names that cannot take part together."""
    who = say("respondents") if kind == "survey" else say("annotators")
    if not getattr(draft, who):
        raise InputError.say("there are no %(people)s; at least one is needed", people=who)
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

"""Starting a study from an uploaded table, step by step; each step is kept, and nothing is built before the last."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

from fcpair.errors import ConflictError, InputError, StageError, at_fault
from fcpair.files.corpus import corpus as corpora
from fcpair.files.tables.previews import TableHead, guess_reading
from fcpair.files.tables.tabular import READERS, choose_reading
from fcpair.models import model_files
from fcpair.models.encode import Progress
from fcpair.param_values import as_params, from_params
from fcpair.params import FORMAT_BY_SUFFIX, Import, Pair, Retrieve, Setup, Validate
from fcpair.plans import GridPlan, SidePlan
from fcpair.recipe import Recipe, as_toml, load_recipe
from fcpair.records import Role, RunRecord
from fcpair.sentences import mark, say
from fcpair.stages.survey import ANSWERS, STATEMENT, SUGGEST
from fcpair.start_draft import (
    ASKED_OF,
    GROUPS,
    TASKS,
    AnyPlan,
    BegunDraft,
    ColumnsDraft,
    Draft,
    DraftPart,
    FileDraft,
    GuidelinesDraft,
    PeopleDraft,
    PlanDraft,
    PlanFigures,
    RecipeDraft,
    StatementsDraft,
    StudyKind,
    SurveyDraft,
    SurveyFigures,
    TableDraft,
    TablePreview,
    TagsDraft,
    TaskDraft,
    TaskFigures,
    TextsDraft,
    parts_of,
)
from fcpair.steps import survey
from fcpair.steps.base.context import StudyContext, is_planned, note_run
from fcpair.steps.base.text_digests import folded_digest, save_folding
from fcpair.steps.grids import change_setup, read_side_file
from fcpair.steps.oversight import recipe_runner, task_plans, uploaded_recipe, uploaded_table
from fcpair.steps.people.people import check_guidelines, enrol_people, find_person
from fcpair.store import Tx, people
from fcpair.store.corpus import grids
from fcpair.store.database import backends
from fcpair.store.oversight import build_progress, runs, settings
from fcpair.values import is_blank, shipped_folder

STAGE = "draft"
USUAL_HS = 45  # as FC-CONAN has
QUESTIONS = ("Have you heard this said?", "Do you believe it?")
CHANGED = mark(
    "the step “%(step)s” was changed by %(name)s since you opened this page; look at what is there now, then send "
    "yours again"
)
STARTED = say("the study has been started already, so its draft cannot be changed any more; go to the overview")
LETTERS = dict(zip(GROUPS, "ajvpwr", strict=True))  # with which suggested names begin
ROLES = {group: Role(group.removesuffix("s")) for group in GROUPS}
NOT_EMPTY = say(
    "the example needs an empty study, and there is something here already: go on with it, or start fcpair in another "
    "folder, and try the example there"
)


class StudyStart:
    """The start of a study: its draft, what would come of it, and how it is built."""

    noun_of = staticmethod(uploaded_table.noun_of)

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
                if isinstance(part, TaskDraft):
                    is_half = isinstance(table := current.table, TableDraft) and (table.second or table.waits)
                    is_alike = parts_of(current.kind)[1:3] == parts_of(part.kind)[1:3]
                    lost = () if is_alike and (draft.takes_two or not is_half) else (TableDraft.step,)
                    values |= dict.fromkeys((*lost, ColumnsDraft.step, PlanDraft.step, PeopleDraft.step))
                if isinstance(part, TableDraft | ColumnsDraft | StatementsDraft) and current.plan:
                    values.setdefault(PlanDraft.step, None)
                named = current.people
                groups = [group for group in GROUPS if hasattr(part, group) and not isinstance(part, PeopleDraft)]
                is_other = any(getattr(part, group) != len(getattr(named, group)) for group in groups if named)
                if named and (is_other or isinstance(part, RecipeDraft)):
                    values.setdefault(PeopleDraft.step, None)
            if values:
                run = note_run(tx, STAGE, {"step": parts[0].step, "by": by}, {})
                settings.save_settings(tx, STAGE, values, run.id)
            return _load_draft(tx)

    def receive(self, file: str, name: str, *, is_second: bool = False) -> TableDraft:
        """The part of the draft with a file that was uploaded, read as the file itself says, in the place of an earlier
        one; a table of pairs with one column waits for the second. Raises InputError for what is no table.
        """
        upload, draft = FileDraft(file, name), self.draft()
        earlier = draft.table if isinstance(draft.table, TableDraft) else None
        with self._in_owner_words(upload):
            reading = guess_reading(self.folder / file)._asdict()
        if is_second and earlier and draft.takes_two:
            return replace(earlier, second=replace(upload, **reading), waits=False)
        second = earlier.second if earlier and draft.takes_two else None
        table = TableDraft(file, name, **reading, second=second, waits=True)
        return replace(table, waits=draft.takes_two and not second and len(self.heads(table)[0].header) == 1)

    def _file(self, draft: Draft) -> tuple[Path, str]:
        table = _need(draft.table, TableDraft)
        return self.folder / table.file, table.name

    @contextmanager
    def _in_owner_words(self, *files: FileDraft) -> Iterator[None]:
        """Have errors call the files by the names that their owner knows."""
        try:
            yield
        except InputError as error:
            raise InputError(uploaded_table.reword(str(error), self.folder, files)) from None

    def _read_corpus(self, draft: Draft, columns: ColumnsDraft) -> corpora.Corpus:
        table = _need(draft.table, TableDraft)
        options = uploaded_table.reading_options(columns, table, self.folder)
        dates = tuple(uploaded_table.changed_at(self.folder / file.file) for file in table.files)
        return uploaded_table.read_pairs(self.folder / table.file, dates, tuple(options.items()))

    def heads(self, table: TableDraft) -> list[TableHead]:
        """The first rows of each uploaded table, or why it cannot be used as it is read."""
        return uploaded_table.read_heads(self.folder, table, has_pairs=self.draft().has_pairs)

    def headers(self, draft: Draft) -> tuple[list[str], list[str]]:
        """The columns with the first texts and with the second; raises InputError for what is no table of them."""
        heads = self.heads(_need(draft.table, TableDraft))
        if problems := [head.problem for head in heads if head.problem]:
            raise InputError(problems[0])
        return list(heads[0].header), list(heads[-1].header)

    def guess(self, draft: Draft) -> ColumnsDraft | StatementsDraft:
        """The columns that were chosen, if the tables have them; else those that their names suggest."""
        header, chosen = self.headers(draft)[0], draft.columns
        if not draft.has_pairs:
            if isinstance(chosen, StatementsDraft) and chosen.statement in header:
                return chosen
            title = chosen.title if isinstance(chosen, StatementsDraft) else ""
            return StatementsDraft(STATEMENT if STATEMENT in header else header[0], title)
        chosen = chosen if isinstance(chosen, ColumnsDraft) else None
        return uploaded_table.guess_columns(self.heads(_need(draft.table, TableDraft)), chosen, self._file(draft)[0])

    def preview(self, draft: Draft, columns: ColumnsDraft | StatementsDraft | None = None) -> TablePreview:
        """The table as the study would read it, by these columns or else those of the draft, or why it cannot."""
        columns, table = columns or _need(draft.columns, ColumnsDraft), _need(draft.table, TableDraft)
        try:
            with self._in_owner_words(*table.files):
                if isinstance(columns, StatementsDraft):
                    with choose_reading(uploaded_table.reading_of(table)):
                        texts = read_side_file(self._file(draft)[0], columns.statement, None, folded_digest)
                    shown_texts = tuple((text,) for _, text, _, _ in texts[: uploaded_table.N_SHOWN])
                    return TablePreview(len(texts), len(texts), pairs=shown_texts, metadata=tuple(texts[0][3]))
                corpus = self._read_corpus(draft, columns)
        except InputError as error:
            return TablePreview(problem=str(error))
        # some pairs, as people will see them; where it has none, of any two texts
        pairs = corpus.pairs
        has = {side: pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN)}
        known = pairs[has[corpora.HS] & has[corpora.CN]]
        n_hs, n_cn = (pairs[f"{side}_digest"][has_text].nunique() for side, has_text in has.items())
        shown = [(known if len(known) else pairs[has[side]])[side].head(uploaded_table.N_SHOWN) for side in has]
        shown_pairs = tuple(zip(*shown, strict=False))
        return TablePreview(len(pairs), n_hs, n_cn, len(known), shown_pairs, tuple(corpus.metadata))

    @cached_property
    def can_retrieve(self) -> bool:
        """Return whether the model that finds candidates is on this machine, so that it need not be downloaded."""
        return model_files.is_on_this_machine()

    def default_plan(self, draft: Draft) -> AnyPlan:
        """A plan to begin with: FC-CONAN's for a large corpus, else all HS and CNs; PBBQ's for a survey."""
        if draft.kind == "survey":
            return SurveyDraft(QUESTIONS, ANSWERS, suggest=SUGGEST)
        plan = TASKS[draft.kind].parts[-1]
        if plan is not PlanDraft:
            return cast(AnyPlan, plan())
        preview = self.preview(draft)
        n_hs, is_large = preview.n_hs, self.can_retrieve and preview.n_hs > USUAL_HS and preview.n_known > 0
        of: ColumnsDraft = _need(draft.columns, ColumnsDraft)
        names = f"{of.hs_name} {of.cn_name} {of.hs} {of.cn}".lower()
        question, labels = next(asked for words, asked in ASKED_OF.items() if re.search(words, names))
        asked: Any = {"question": say(question, hs=of.hs_name, cn=of.cn_name), "labels": labels}
        return PlanDraft("retrieved", USUAL_HS, **asked) if is_large else PlanDraft("full", max(n_hs, 1), **asked)

    def figures(self, draft: Draft, plan: AnyPlan) -> PlanFigures | SurveyFigures | TaskFigures:
        """The size of the study by a plan; raises InputError for one that cannot be carried out."""
        task_plans.task_words(plan)
        if isinstance(plan, SurveyDraft):
            self._survey_grids(draft, plan)
            return uploaded_table.survey_figures(plan, self.preview(draft).n_hs)
        if not isinstance(plan, PlanDraft):
            preview, grids_ = self.preview(draft), self._task_grids(draft, plan)
            if isinstance(plan, TagsDraft) and plan.cells and plan.cells > (most := preview.n_hs * preview.n_cn):
                with at_fault("cells"):
                    raise InputError.say(
                        "%(number)s pairs cannot be drawn; there are %(most)s", number=plan.cells, most=most
                    )
            n_people = {group: getattr(plan, group) for group in GROUPS if hasattr(plan, group)}
            rounds_ = task_plans.round_figures(grids_, preview.n_hs, preview.n_cn, n_people, plan.seconds)
            return TaskFigures(preview.n_hs, tuple(rounds_))
        corpus = self._read_corpus(draft, _need(draft.columns, ColumnsDraft))
        return task_plans.pair_figures(self.folder, corpus, plan)

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

    def add_upload(self, draft: Draft, name: str) -> tuple[RecipeDraft, Path]:
        """The draft of a recipe with one file more, and where that goes; InputError for a name that it cannot have."""
        table = draft.table if isinstance(draft.table, RecipeDraft) else None
        return uploaded_recipe.add_upload(self.folder, table, name)

    def uploaded_recipe(self, draft: RecipeDraft) -> Recipe:
        """The recipe that was uploaded, checked with its tables; raises InputError with its line where it cannot be."""
        return uploaded_recipe.read_uploaded(self.folder / draft.folder, draft)

    def _task_grids(self, draft: Draft, plan: TextsDraft) -> tuple[GridPlan, ...]:
        columns = _need(draft.columns, ColumnsDraft)
        if isinstance(columns, StatementsDraft):
            reading = uploaded_table.reading_of(_need(draft.table, TableDraft))._asdict()
            rows, names = SidePlan(self._file(draft)[0], columns.statement, **reading), (columns.statement, "")
            return task_plans.task_grids(plan, rows, rows, names)
        sides = uploaded_table.sides(self.folder, plan, self._read_corpus(draft, columns).pairs)
        return task_plans.task_grids(plan, *sides, (columns.hs_name, columns.cn_name))

    def recipe(self, draft: Draft) -> Recipe:
        """The recipe of the study that the draft describes; raises StageError where a step is missing."""
        people_ = _need(draft.people, PeopleDraft)
        if isinstance(draft.table, RecipeDraft):
            return self.uploaded_recipe(draft.table)
        text = _need(draft.guidelines, GuidelinesDraft)
        guidelines_file = self.folder / text.file if text.file else None
        table, columns = _need(draft.table, TableDraft), _need(draft.columns, ColumnsDraft)
        plan = _need(draft.plan, PlanDraft)
        words = task_plans.task_words(plan)
        if isinstance(plan, SurveyDraft):
            return Recipe(setup=Setup(columns.title, guidelines_file), grids=self._survey_grids(draft, plan))
        if not isinstance(plan, PlanDraft):
            setup = Setup(columns.title, guidelines_file)
            return Recipe(setup=setup, words=words, grids=self._task_grids(draft, plan))
        n_annotators, groups = len(people_.annotators), people_.annotator_groups
        stages = uploaded_table.stages(self.folder, plan, lambda: self._read_corpus(draft, columns))
        return Recipe(
            setup=_setup(columns, plan, guidelines_file),
            words=words,
            import_=Import(self._file(draft)[0], **uploaded_table.reading_options(columns, table, self.folder)),
            **stages | {"assign": replace(stages["assign"], annotators=n_annotators, annotator_groups=groups)},
            validate=Validate(len(people_.validators), seed=plan.seed) if people_.validators else None,
        )

    def _survey_grids(self, draft: Draft, plan: SurveyDraft) -> tuple[GridPlan, ...]:
        reading = uploaded_table.reading_of(_need(draft.table, TableDraft))
        return uploaded_table.survey_grids(self._file(draft)[0], reading, _need(draft.columns, StatementsDraft), plan)

    def recipe_text(self, draft: Draft) -> str:
        """The recipe as TOML."""
        return as_toml(self.recipe(draft))

    def build(self, progress: Progress | None = None) -> Iterator[RunRecord]:
        """Build the study of its draft, in one transaction, and yield what each stage did.

        Where a stage fails, or the process is killed, the study is as it was before. Others who write wait meanwhile.
        """
        draft = self.draft()
        recipe, by = self.recipe(draft), _need(draft.start, BegunDraft).by
        with self._store.all_or_nothing():
            if recipe.has_main:  # what a build of an earlier version has left that was killed
                with self._store.write() as tx, grids.on_first_grid(tx):
                    build_progress.clear_from(tx, Import.stage)
                    for stage in (*build_progress.BUILDING, Validate.stage):
                        settings.remove_stage(tx, stage)
            with self._store.write() as tx, grids.on_first_grid(tx):
                if not recipe.has_main and build_progress.has_corpus(tx):
                    raise StageError(STARTED)
                founding_runs = [] if is_planned(tx) else [_set_up(tx, recipe, by)]
                if not recipe.has_main and founding_runs:
                    founding_runs += survey.add_survey(tx, recipe.grids, in_place=True)
            yield from founding_runs
            if not recipe.has_main:
                self._add_people(_need(draft.people, PeopleDraft))
            for run in self._run(recipe, progress):
                yield run
                if run.stage == Pair.stage and recipe.has_main:
                    self._add_people(_need(draft.people, PeopleDraft))

    def _run(self, recipe: Recipe, progress: Progress | None) -> Iterator[RunRecord]:
        """Carry out a recipe; where fewer candidates are found than are to be drawn of them, they are taken all."""
        for run in recipe_runner.run_recipe(self._study, recipe, progress=progress):
            yield run
            pair = recipe.pair if run.stage == Retrieve.stage else None
            if pair and (pair.candidates or 0) > run.counts["candidates"]:
                yield from self._run(replace(recipe, pair=replace(pair, candidates=None)), progress)
                break

    def take_back(self, by: str) -> None:
        """Let the draft be as it was before a build began that was cancelled `by` somebody."""
        with self._store.write() as tx, grids.on_first_grid(tx):
            if _is_open(tx) and _load_draft(tx).start is not None:
                run = note_run(tx, STAGE, {"step": BegunDraft.step, "by": by}, {})
                settings.save_settings(tx, STAGE, {BegunDraft.step: None}, run.id)

    def check_example(self) -> None:
        """Raise StageError unless the study is empty, and nobody has begun to make one."""
        if not self.is_open or self.draft().table is not None:
            raise StageError(NOT_EMPTY)

    def build_example(self, by: str, progress: Progress | None = None) -> Iterator[RunRecord]:
        """Make the example study, in which simulated people answer, in one transaction; yields what each stage did."""
        self.check_example()
        recipe = example_recipe()
        with self._store.all_or_nothing():
            with self._store.write() as tx, grids.on_first_grid(tx):
                run = _set_up(tx, recipe, by)
            yield run
            yield from recipe_runner.run_recipe(self._study, recipe, progress=progress)

    def _check(self, part: DraftPart, draft: Draft) -> None:
        """Raise InputError for a part that cannot be used, StageError for one that needs an earlier one."""
        match part:
            case TableDraft():
                self.headers(draft)
            case ColumnsDraft() | StatementsDraft():
                if problem := self.preview(draft, part).problem:
                    raise InputError(problem)
                if isinstance(part, ColumnsDraft):
                    _setup(part, PlanDraft(), None)
            case _ if isinstance(part, AnyPlan):
                self.figures(draft, part)
            case PeopleDraft():
                with self._store.read() as tx:
                    leads = [person.name for person in people.people(tx, Role.LEAD)]
                uploaded_recipe.check_people(part, draft, self.suggested_people(draft), leads)
            case BegunDraft():
                self.recipe(draft)

    def suggested_people(self, draft: Draft) -> PeopleDraft:
        """Numbered names for each group that the study needs, as many as its plan has."""
        if isinstance(draft.table, RecipeDraft):
            # where the recipe gives no number, 2, or 1 of those who check
            recipe, asked = self.uploaded_recipe(draft.table), dict[str, int]()
            if recipe.has_main:
                asked["annotators"] = (recipe.assign.annotators if recipe.assign else None) or 2
                asked["adjudicators"] = 1
            for validate in (recipe.validate, *(plan.validate for plan in recipe.grids)):
                if isinstance(validate, Validate):
                    asked["validators"] = validate.validators or 1
            for round_ in (round_ for plan in recipe.grids for round_ in plan.rounds if not round_.models):
                group = f"{Role(round_.role).value}s"
                asked[group] = max(asked.get(group, 0), round_.people or max(2, round_.answers))
            numbers = {group: asked[group] for group in GROUPS if group in asked}
        else:
            numbers = {group: getattr(draft.plan, group, 1) for group in TASKS[draft.kind].groups}
        names: Any = {group: tuple(f"{LETTERS[group]}{at + 1}" for at in range(numbers[group])) for group in numbers}
        return PeopleDraft(**names)

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


def example_recipe() -> Recipe:
    """The recipe of the example study, which needs no model and takes seconds."""
    return load_recipe(shipped_folder("_example", "examples") / "first-look.toml")


def _is_open(tx: Tx) -> bool:
    if not is_planned(tx) and not build_progress.has_corpus(tx):
        return True
    return _load_draft(tx).start is not None and not build_progress.is_assigned(tx)


def _set_up(tx: Tx, recipe: Recipe, by: str) -> RunRecord:
    setup = recipe.setup or Setup()
    change_setup(tx, setup)
    run = note_run(tx, setup.stage, as_params(setup), {})
    save_folding(tx, setup, run)
    body = setup.guidelines.read_text("utf-8") if setup.guidelines else ""
    if body and body != people.current_guidelines(tx)[1]:
        people.add_guidelines(tx, body, find_person(tx, by).id)
    return run


def _load_draft(tx: Tx) -> Draft:
    values = settings.of_stage(tx, STAGE)
    kind: StudyKind = (values.get(TaskDraft.step) or {}).get("kind", "pairs")
    parts: Any = {
        part.step: from_params(part, values[part.step]) for part in parts_of(kind) if values.get(part.step) is not None
    }
    return Draft(settings.run_of_stage(tx, STAGE) or 0, **parts)


def _need(part: Any, cls: type[Any]) -> Any:
    if part is None:
        raise StageError.say("the step “%(step)s” is not done yet; do it first", step=cls.step)
    return part


def _setup(columns: ColumnsDraft, plan: PlanDraft, path: Path | None) -> Setup:
    """The first section of the recipe; raises InputError for names or labels that cannot be."""
    if not columns.hs_name or not columns.cn_name or columns.hs_name == columns.cn_name:
        raise InputError.say("the two sides need different names, such as `hate speech` and `counter-narrative`")
    return Setup(columns.title, path, columns.hs_name, columns.cn_name, str(task_plans.label_question(plan)))

"""Starting a study or a survey in the browser, a page a step, from the table, which goes to a file as it comes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from fcpair.errors import FcpairError, InputError, StudyError
from fcpair.records import Role
from fcpair.sentences import mark, say
from fcpair.start_draft import (
    TASKS,
    BegunDraft,
    ColumnsDraft,
    Draft,
    DraftPart,
    RecipeDraft,
    StatementsDraft,
    SurveyDraft,
    TableDraft,
    TablePreview,
    TaskDraft,
    parts_of,
)
from fcpair.study import StudyStart
from fcpair.web.context import START
from fcpair.web.form import field, parse_number
from fcpair.web.pages.markdown import render
from fcpair.web.server.admission import Kind
from fcpair.web.server.child_process import EXAMPLE, ChildProcess
from fcpair.web.server.security import UPLOAD_TABLE
from fcpair.web.server.worker import ReportWorker
from fcpair.web.visits import REFUSALS, ElsewhereError, LeadVisit, Visit, enter_by, go_to, status_of

router = APIRouter(include_in_schema=False)
MOST_UPLOAD = 50 * 1024 * 1024
PATIENCE_S = 600.0
LONGEST_NAME = 255
TOO_LARGE = mark(
    "the file has more than %(number)s MB, which is the limit here; leave out rows or columns that the study does not "
    "need, or use `fcpair run` on the server"
)
EMPTY = say("the file is empty; choose one with a row of column names and at least one row below it")
KEEP = f"{START}/keep"
DRAFT_VERSION = "Draft-Version"  # the header that says which version an upload has made
UPLOADED = re.compile(r"[0-9a-f]{16}\.[a-z]+")


class Step(NamedTuple):
    """One step: the part of the draft that it settles, its address, and its name."""

    part: str
    address: str
    name: str


STEP_NAMES = {
    **{"task": mark("Task"), "table": mark("Table"), "columns": mark("Columns"), "plan": mark("Plan")},
    **{"people": mark("People"), "guidelines": mark("Guidelines"), "start": mark("Start")},
}
PAGES = {
    **{RecipeDraft: "recipe", StatementsDraft: "statements", SurveyDraft: "survey", BegunDraft: "begin"},
    **dict.fromkeys((TASKS[kind].parts[-1] for kind in ("tags", "write", "curate", "rate")), "asking"),
}  # of parts that are settled on a page which is not called as their step is


def _step(part: type[Any]) -> Step:
    name = mark("Recipe") if part is RecipeDraft else STEP_NAMES[part.step]
    return Step(part.step, f"{START}/{PAGES.get(part, part.step)}", name)


STEPS = {kind: {part.step: _step(part) for part in parts_of(kind)} for kind in TASKS}
PARTS = list(STEP_NAMES)


@dataclass(frozen=True, kw_only=True)
class StepVisit(Visit):
    """A lead's visit to the step that settles a part of the draft, which is as it was when the request came."""

    part: str
    draft: Draft

    @classmethod
    def of(cls, visit: Visit, part: str) -> StepVisit:
        """A visit to the step of a part."""
        return cls(visit.request, visit.context, visit.visitor, part=part, draft=visit.study.start.draft())

    @classmethod
    def due(cls, part: str) -> Any:
        """The dependency by which an endpoint gets the visit to the step of a part, where that is due.

        From one that is not due it leads to the first that is missing, or away where all is done; from a step of one
        kind of study to the same of another, if that is what the table is for. While the study is being built, the last
        step is due.
        """

        def enter(visit: LeadVisit) -> StepVisit:
            step_visit = cls.of(visit, part)
            due_part = min(step_visit.draft.next_step, part, key=PARTS.index)
            if builder_of(visit).state.is_running:
                due_part = "start"
            address = STEPS[step_visit.draft.kind][due_part].address if step_visit.start.is_open else "/lead"
            if visit.request.url.path != address:
                raise ElsewhereError(address)
            return step_visit

        return enter_by(enter, Role.LEAD)

    @property
    def start(self) -> StudyStart:
        """The start of the study."""
        return self.study.start

    def typed(self, name: str) -> str:
        """Text that was typed into a field of the form."""
        return field(self.request, name).strip()

    def save(self, *parts: DraftPart) -> Draft:
        """Keep parts of the draft, of which the form has seen a version."""
        return self.start.save(*parts, by=self.visitor.name, seen=parse_number(field(self.request, "seen")) or 0)

    def keep(
        self, chosen: Any, read: Callable[[], Sequence[Any]], show: Callable[[StepVisit, Any], Response]
    ) -> Response:
        """Keep the parts that a form is read into, and go on; show it where it is only to be shown, or is refused.

        It is shown with the first of these parts, or as it was `chosen` where they cannot be read.
        """
        parts = [chosen]
        try:
            parts = [*read()]
            if self.typed("act") == "show":
                return show(self, parts[0])
            self.save(*parts)
        except REFUSALS as refusal:
            return show(self.refused(refusal), parts[0])
        kind = parts[0].kind if isinstance(parts[0], TaskDraft) else self.draft.kind
        later = (step for part, step in STEPS[kind].items() if PARTS.index(part) > PARTS.index(self.part))
        return go_to(next(later).address)

    def refused(self, refusal: FcpairError) -> StepVisit:
        """The visit with the draft as it is now, which somebody else may have changed."""
        return replace(self, refusal=refusal, draft=self.start.draft())

    def show(self, **values: Any) -> Response:
        """The page of the step, with what went wrong."""
        steps, names = [*STEPS[self.draft.kind].values()], [*STEPS[self.draft.kind]]
        index = names.index(self.part)
        step, n_open = steps[index], names.index(self.draft.next_step) + 1
        template = step.part if step.part == "start" else step.address.rpartition("/")[2]
        shared = {"step": step, "steps": steps, "n_open": n_open, "back": steps[index - 1] if index else None}
        return self.page(f"lead_start_{template}.html.j2", **shared, draft=self.draft, problem=self.why, **values)


TaskVisit = Annotated[StepVisit, StepVisit.due("task")]
TableVisit = Annotated[StepVisit, StepVisit.due("table")]
ColumnsVisit = Annotated[StepVisit, StepVisit.due("columns")]
PlanVisit = Annotated[StepVisit, StepVisit.due("plan")]
PeopleVisit = Annotated[StepVisit, StepVisit.due("people")]
GuidelinesVisit = Annotated[StepVisit, StepVisit.due("guidelines")]


def builder_of(visit: Visit) -> ChildProcess:
    """The process that builds the study."""
    return cast(ChildProcess, visit.request.app.state.builder)


@router.get(START)
def start(visit: LeadVisit) -> Response:
    """Lead to the first step that is not done."""
    draft = visit.study.start.draft()
    return go_to(STEPS[draft.kind][draft.next_step].address if visit.study.start.is_open else "/lead")


@router.get(f"{START}/task")
def task(visit: TaskVisit) -> Response:
    """Show what people can do in a study, and offer the example."""
    state = builder_of(visit).state
    if state.problem and state.what == EXAMPLE and not (visit.refusal or state.cancelled):
        visit = visit.refused(InputError(state.problem))
    return visit.show(tasks=TASKS, state=state)


@router.post(f"{START}/task")
def save_task(visit: TaskVisit) -> Response:
    """Keep what people do."""

    def read() -> list[TaskDraft]:
        if (kind := visit.typed("kind")) not in TASKS:
            raise InputError.say("there is no such task; choose one of those that are listed")
        return [TaskDraft(cast(Any, kind))]

    return visit.keep(None, read, lambda step, _: task(step))


@router.get(f"{START}/recipe")
def recipe(visit: TableVisit) -> Response:
    """Show where a recipe is uploaded with its files, and those that were."""
    return visit.show(most=MOST_UPLOAD)


@router.post(f"{START}/recipe")
def save_recipe(visit: TableVisit) -> Response:
    """Go on with the recipe that was uploaded, where it fits its tables; or take a file away."""
    uploaded, dropped = visit.draft.table, visit.typed("drop")

    def read() -> list[RecipeDraft]:
        if not isinstance(uploaded, RecipeDraft):
            raise InputError.say("there is no recipe yet; upload one that ends in .toml")
        if dropped:
            return [replace(uploaded, files=tuple(name for name in uploaded.files if name != dropped))]
        visit.start.uploaded_recipe(uploaded)
        return [uploaded]

    response = visit.keep(uploaded, read, lambda step, _: step.show(most=MOST_UPLOAD))
    return go_to(f"{START}/recipe") if dropped and response.status_code == HTTPStatus.SEE_OTHER else response


@router.post(UPLOAD_TABLE[1])
async def upload(visit: LeadVisit, name: str = "", seen: str = "", second: str = "") -> Response:
    """Take a table, or the `second` of two, or a file of a recipe, whose bytes are the body; answers with the page that
    shows it, or what is wrong.
    """
    begun, limits = visit.study.start, (MOST_UPLOAD, TOO_LARGE, EMPTY)
    try:
        draft = await run_in_threadpool(begun.draft)
        if draft.kind == "recipe":
            files, path = await run_in_threadpool(begun.add_upload, draft, name[:LONGEST_NAME])

            async def add() -> Response:
                await run_in_threadpool(begun.save, files, by=visit.visitor.name, seen=draft.version)
                return PlainTextResponse(f"{START}/recipe")

            return await take_file(visit, path, limits, add, path.unlink)
        path = await run_in_threadpool(begun.new_table, name[:LONGEST_NAME])
    except FcpairError as error:
        return await run_in_threadpool(_refusal, visit, error)

    async def have_kept() -> Response:
        """Have the file kept by the process that looks, if there is one: reading tables takes much memory."""
        worker: ReportWorker | None = visit.request.app.state.workers.get(Kind.LOOK)
        if worker is None:
            return await run_in_threadpool(keep, visit, path.name, name, seen, second)
        query = urlencode({"file": path.name, "name": name[:LONGEST_NAME], "seen": seen, "second": second})
        address: dict[str, Any] = {"path": KEEP, "raw_path": KEEP.encode(), "query_string": query.encode()}
        # Its body has been read, and the process would refuse one of that length.
        address["headers"] = [(name, value) for name, value in visit.request.headers.raw if name != b"content-length"]
        return await worker.forward({**visit.request.scope, **address})

    return await take_file(visit, path, limits, have_kept, path.unlink)


@router.post(KEEP)
def keep(visit: LeadVisit, file: str = "", name: str = "", seen: str = "", second: str = "") -> Response:
    """Let the draft have a table that was uploaded, in the place of an earlier one, whose file goes."""
    begun = visit.study.start
    try:
        if not UPLOADED.fullmatch(file) or not (begun.folder / file).is_file():
            raise InputError.say("there is no such file any more; upload the table again")
        earlier = begun.draft().table
        table = begun.receive(file, name[:LONGEST_NAME], is_second=bool(second))
        draft = begun.save(table, by=visit.visitor.name, seen=parse_number(seen) or 0)
    except FcpairError as error:
        return _refusal(visit, error)
    remove_files(begun, earlier, draft.table)
    return PlainTextResponse(STEPS[draft.kind]["table"].address, headers={DRAFT_VERSION: str(draft.version)})


def remove_files(begun: StudyStart, earlier: Any, table: Any) -> None:
    """Remove the files of an earlier draft that the one of now does not have."""
    kept = {file.file for file in table.files} if isinstance(table, TableDraft) else set()
    for file in earlier.files if isinstance(earlier, TableDraft) else ():
        if file.file not in kept:
            (begun.folder / file.file).unlink(missing_ok=True)


async def take_file(
    visit: Visit,
    path: Path,
    limits: tuple[int, str, str],
    use: Callable[[], Awaitable[Response]],
    discard: Callable[[], object],
) -> Response:
    """Write the body to a file, and answer with what `use` makes of it; where that is not OK, `discard` the file.

    The `limits` are how many bytes it may have, and the messages for one that has more, or none. What is too large,
    slow or empty is refused, and so is all on a full disk.
    """
    most, too_large, empty = limits
    refusal = InputError.say(too_large, number=most // 1024**2)
    response, n_bytes = Response(status_code=HTTPStatus.BAD_REQUEST), 0  # which nobody reads any more
    try:
        if (parse_number(visit.request.headers.get("content-length", "0")) or 0) > most:
            raise refusal
        try:
            with path.open("wb") as file:
                async with asyncio.timeout(PATIENCE_S):
                    async for chunk in visit.request.stream():
                        n_bytes += len(chunk)
                        if n_bytes > most:
                            raise refusal
                        await run_in_threadpool(file.write, chunk)
        except TimeoutError:
            raise InputError.say("the file came in too slowly; try again with a better connection") from None
        except OSError as error:
            raise StudyError.say(
                "the server's disk is full or read-only; make room there, or tell those who run it, and send the file "
                "again"
            ) from error
        if not n_bytes:
            raise InputError(empty)
        response = await use()
    except FcpairError as error:
        response = await run_in_threadpool(_refusal, visit, error)
    except ClientDisconnect:
        pass
    finally:
        if response.status_code != HTTPStatus.OK:
            discard()
    return response


def _refusal(visit: Visit, error: FcpairError) -> Response:
    """Say what is wrong, as its script shows it: in the language of the page."""
    return PlainTextResponse(visit.translate(str(error)), status_of(error))


@router.get(f"{START}/columns")
@router.get(f"{START}/statements")
def columns(visit: ColumnsVisit) -> Response:
    """Show which column is what, or has the statements of a survey, and the first rows as people will see them."""
    try:
        guess = visit.start.guess(visit.draft)
    except InputError:  # the file was changed or deleted
        return go_to(STEPS[visit.draft.kind]["table"].address)
    if isinstance(guess, ColumnsDraft) and not visit.draft.columns:
        hs_name, cn_name = map(visit.language.find, (guess.hs_name, guess.cn_name))
        guess = replace(guess, hs_name=hs_name, cn_name=cn_name)
    return _show_columns(visit, guess)


def _show_columns(visit: StepVisit, chosen: ColumnsDraft | StatementsDraft) -> Response:
    preview: TablePreview = visit.start.preview(visit.draft, chosen)
    if preview.problem and not visit.refusal:
        visit = replace(visit, refusal=InputError(preview.problem))
    headers, columns = visit.start.headers(visit.draft), visit.draft.columns
    is_replaced = isinstance(columns, ColumnsDraft) and not (columns.hs in headers[0] and columns.cn in headers[1])
    return visit.show(
        chosen=chosen, preview=preview, headers=headers, replaced=is_replaced, noun_of=visit.start.noun_of
    )


@router.post(f"{START}/columns")
@router.post(f"{START}/statements")
def save_columns(visit: ColumnsVisit) -> Response:
    """Show the rows with the columns that were chosen, or keep these."""
    guess = visit.start.guess(visit.draft)

    def read() -> list[ColumnsDraft | StatementsDraft]:
        if isinstance(guess, StatementsDraft):
            return [StatementsDraft(visit.typed("statement") or guess.statement, visit.typed("title"))]
        values: dict[str, Any] = {name: visit.typed(name) for name in ("title", "hs_name", "cn_name")}
        values |= {name: visit.typed(name) or getattr(guess, name) for name in ("hs", "cn")}
        values |= {name: visit.typed(name) or None for name in ("hs_id", "cn_id", "language")}
        return [replace(guess, **values, unpaired=bool(visit.typed("unpaired")))]

    return visit.keep(guess, read, _show_columns)


@router.get(f"{START}/guidelines")
def guidelines(visit: GuidelinesVisit) -> Response:
    """Show the guidelines, to be written now or later."""
    return visit.show(body=visit.start.guidelines_text(visit.draft), preview=None)


@router.post(f"{START}/guidelines")
def save_guidelines(visit: GuidelinesVisit) -> Response:
    """Show how the text will look, keep it, or leave it for later."""
    body, act = field(visit.request, "body").replace("\r\n", "\n"), visit.typed("act")
    if act == "preview":
        return visit.show(body=body, preview=render(body))
    return visit.keep(
        body,
        lambda: [visit.start.keep_guidelines(visit.draft, "" if act == "later" else body)],
        lambda step, _: step.show(body=body, preview=None),
    )

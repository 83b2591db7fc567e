"""The guidelines, as the lead edits them: a preview, a new version, and every version that there was."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fcpair.errors import ConflictError
from fcpair.records import Role, Visitor
from fcpair.web.context import Context
from fcpair.web.door import open_to
from fcpair.web.form import field
from fcpair.web.lead_panels import SHOWN_BY
from fcpair.web.lead_runs import back_to, run_numbered
from fcpair.web.markdown import render


def add(routes: APIRouter, context: Context) -> None:
    """Add the page about the guidelines."""
    door, study = context.door, context.study

    def show(request: Request, visitor: Visitor, body: str, run: int = 0, *, preview: bool = False) -> Response:
        version, now = study.guidelines
        versions = [{**one, "html": render(one["body"])} for one in reversed(study.guideline_versions())]
        values = {"version": version, "now": now, "body": body, "versions": versions}
        values |= {"preview": render(body) if preview else None, "done": run_numbered(study.log(), run)}
        return context.page(request, visitor, "lead_guidelines.html.j2", **SHOWN_BY, **values)

    @routes.get("/lead/guidelines")
    @open_to(Role.LEAD)
    def guidelines(request: Request, run: int = 0) -> Response:
        """The version that holds, to be edited, and those before it."""
        visitor = door.enter(request)
        return show(request, visitor, study.guidelines[1], run)

    @routes.post("/lead/guidelines")
    @open_to(Role.LEAD)
    def edit(request: Request) -> Response:
        """Show how the text will look, or let it hold from now on.

        The form is read here and in a thread: FastAPI takes no field of more than 1 MiB, and decodes while all wait.
        """
        visitor = door.enter(request)
        text = field(request, "body").replace("\r\n", "\n")
        if field(request, "act") != "save":
            return show(request, visitor, text, preview=True)
        if field(request, "version") != str(study.guidelines[0]):
            raise ConflictError("somebody else has edited the guidelines since you opened them; copy your text, reload")
        return back_to("/lead/guidelines", study.edit_guidelines(text, by=visitor.name))

"""The page of the start on which tables are uploaded: how each is read, with its first rows, can be changed there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import APIRouter, Response

from fcpair.errors import InputError
from fcpair.params import format_of
from fcpair.sentences import mark
from fcpair.start_draft import FileDraft, TableDraft
from fcpair.web.context import START
from fcpair.web.form import fields
from fcpair.web.start import MOST_UPLOAD, STEPS, StepVisit, remove_files
from fcpair.web.visits import REFUSALS, LeadVisit, go_to

router = APIRouter(include_in_schema=False)
PREFIXES = ("", "second_")  # of the fields of each table
WITH_HEADER = ("csv", "xlsx", "ods")  # whose first row may have no names
SEPARATOR_NAMES = {
    **{"comma": mark("Comma"), "semicolon": mark("Semicolon"), "tab": mark("Tab"), "pipe": mark("Vertical bar")}
}
ENCODING_NAMES: dict[str, str] = {
    **{"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": mark("Windows-1252 (Western Europe)")},
    **{"windows-1256": mark("Windows-1256 (Arabic, Persian)"), "windows-1250": mark("Windows-1250 (Central Europe)")},
    **{"windows-1251": mark("Windows-1251 (Cyrillic)"), "iso-8859-1": mark("Latin-1 (ISO 8859-1)")},
}


@router.get(f"{START}/table")
def table(visit: Annotated[StepVisit, StepVisit.due("table")]) -> Response:
    """Show where tables are uploaded, and the first rows of those that were."""
    return _show(visit, cast("TableDraft | None", visit.draft.table))


def _show(visit: StepVisit, chosen: TableDraft | None) -> Response:
    heads = visit.start.heads(chosen) if chosen else []
    if problems := [head.problem for head in heads if head.problem and not visit.refusal]:
        visit = visit.refused(InputError(problems[0]))
    tables = [
        (prefix, file, format_of(Path(file.file)), head)
        for prefix, file, head in zip(PREFIXES, chosen.files if chosen else (), heads, strict=False)
    ]
    names = {"separators": SEPARATOR_NAMES, "encodings": ENCODING_NAMES}
    shown = {key: {name: visit.language.find(text) for name, text in texts.items()} for key, texts in names.items()}
    return visit.show(most=MOST_UPLOAD, chosen=chosen, tables=tables, **shown)


@router.post(f"{START}/reading")
def read_tables(visit: LeadVisit) -> Response:
    """Show how tables look that are read in another way, or keep that and go on; exchange the two, or take one away."""
    step = StepVisit.of(visit, "table")
    chosen, earlier, act = step.draft.table, step.draft.table, step.typed("act")
    if not isinstance(chosen, TableDraft) or not step.start.is_open:
        return go_to(f"{START}/table" if step.start.is_open else "/lead")
    try:
        files = [_typed(step, file, prefix) for file, prefix in zip(chosen.files, PREFIXES, strict=False)]
        if act == "exchange":
            files.reverse()
        chosen = chosen.with_files(*files[: 1 if act == "remove" else len(files)])
        if act == "show":
            return _show(step, chosen)
        chosen = replace(chosen, waits=False)
        if act == "remove":
            chosen = replace(chosen, waits=bool(step.start.heads(chosen)[0].problem))
        step.save(chosen)
        remove_files(step.start, earlier, chosen)
    except REFUSALS as refusal:
        return _show(step.refused(refusal), chosen)
    return go_to(STEPS[step.draft.kind]["columns" if act == "save" else "table"].address)


def _typed(step: StepVisit, file: FileDraft, prefix: str) -> FileDraft:
    """An uploaded file, to be read as the form says; what that does not ask stays."""
    typed = fields(step.request)
    values: dict[str, Any] = {
        name: typed[prefix + name] or None for name in ("sheet_name", "encoding", "separator") if prefix + name in typed
    }
    if format_of(Path(file.file)) in WITH_HEADER:
        values["no_header"] = f"{prefix}header" not in typed
    return replace(file, **values)

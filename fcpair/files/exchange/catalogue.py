"""The annotation tools that work can be written for and exports read from."""

from __future__ import annotations

from fcpair.errors import InputError, suggest_name
from fcpair.files.exchange.annotation_tool import AnnotationTool
from fcpair.files.exchange.doccano import Doccano
from fcpair.files.exchange.label_studio import LabelStudio
from fcpair.files.exchange.potato import Potato
from fcpair.files.exchange.prodigy import Prodigy

TOOLS: dict[str, AnnotationTool] = {tool.name: tool for tool in (LabelStudio(), Potato(), Doccano(), Prodigy())}


def find_tool(name: str) -> AnnotationTool:
    """The tool of that name; raises InputError with the nearest one where there is none."""
    if name not in TOOLS:
        raise InputError(f"`{name}` is no annotation tool here; {suggest_name(name, TOOLS)}")
    return TOOLS[name]

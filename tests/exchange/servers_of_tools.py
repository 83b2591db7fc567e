"""The tools that run here: of each, what has everybody answer a project and returns the exports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from exchange import doccano_server, label_studio_server, potato_server
from fcpair.stages.questions import Form

SERVERS: dict[str, Callable[[Path, Path, Form, Sequence[str]], list[Path]]] = {
    "label-studio": label_studio_server.export_from,
    "potato": potato_server.export_from,
    "doccano": doccano_server.export_from,
}
WITH_SKIPS = ("label-studio",)

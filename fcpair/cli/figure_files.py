"""Figures that commands write beside what they print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.cli.output import print_message

if TYPE_CHECKING:
    from fcpair.report.figures import Forest


def write_figures(folder: Path, figures: Sequence[Forest]) -> None:
    """Write figures into a folder, each as SVG and PNG; all of them, or none.

    Raises:
        InputError: nothing can be written there.
    """
    from fcpair.files.tables.folders import make_writable_folder
    from fcpair.files.tables.tabular import write_all
    from fcpair.report.figures import render_forests

    make_writable_folder(folder)
    files = {folder / name: content for name, content in render_forests(figures).items()}
    write_all(files)
    print_message(f"{len(files)} figures in {folder}: {', '.join(path.name for path in files)}")

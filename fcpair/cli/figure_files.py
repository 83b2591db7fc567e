"""Figures that commands write beside what they print."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.output import print_message
from fcpair.params import FigureWidth

if TYPE_CHECKING:
    from fcpair.report.figures import Forest, PaperStyle


class FigureFolder(NamedTuple):
    """Folder that figures are written to, and in which style."""

    path: Path
    width: FigureWidth
    captions: bool

    @property
    def style(self) -> PaperStyle:
        """The style of the figures."""
        from fcpair.report.figures import PaperStyle

        return PaperStyle(self.width, self.captions)


def figures_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command `--figures`, and how they are to look; it gets a `FigureFolder`, or None."""

    @click.option("--figures", type=click.Path(path_type=Path, file_okay=False), help="A folder to write figures to.")
    @click.option(
        "--figure-width",
        type=click.Choice(get_args(FigureWidth)),
        default="page",
        show_default=True,
        help="The width of figures: 6.9 or 3.3 inches.",
    )
    @click.option("--caption", is_flag=True, help="Write captions of figures as text files, and not into the figures.")
    @take_effect("--figure-width", "--caption", only_with="--figures")
    @functools.wraps(command)
    def call_with_folder(
        *args: Any, figures: Path | None, figure_width: FigureWidth, caption: bool, **kwargs: Any
    ) -> Any:
        folder = FigureFolder(figures, figure_width, caption) if figures else None
        return command(*args, figures=folder, **kwargs)

    return call_with_folder


def write_figures(folder: FigureFolder, figures: Sequence[Forest]) -> None:
    """Write figures into a folder, each as SVG, PDF and PNG; all of them, or none.

    Raises:
        InputError: nothing can be written there.
    """
    from fcpair.report.figures import render_forests

    write_files(folder, render_forests(figures, folder.style))


def write_files(folder: FigureFolder, contents: Mapping[str, bytes]) -> None:
    """Write rendered figures into a folder by the names of their files; raises what `write_figures` does."""
    from fcpair.files.tables.folders import make_writable_folder, write_all

    make_writable_folder(folder.path)
    files = {folder.path / name: content for name, content in contents.items()}
    write_all(files)
    print_message(f"{len(files)} files in {folder.path}: {', '.join(path.name for path in files)}")

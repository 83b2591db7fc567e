"""Figures as papers take them: two widths, letters of 8 points, fonts embedded, captions beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fcpair.params import FigureWidth
from fcpair.report.figures.layout import PAPER_SHEETS, Sheet
from fcpair.report.figures.save import KINDS, file_names


@dataclass(frozen=True)
class PaperStyle:
    """Width of figures, of a `page` (6.9 inches) or a `column` (3.3), and whether captions are files of their own."""

    width: FigureWidth = "page"
    captions: bool = False

    @property
    def sheet(self) -> Sheet:
        """The sheet on which they are drawn."""
        return replace(PAPER_SHEETS[self.width], has_caption=not self.captions)


class PaperFigure(NamedTuple):
    """A figure with its title and caption, and what renders it as a kind of file on a sheet."""

    title: str
    caption: str
    render: Callable[[str, Sheet], bytes]


def render_for_paper(figures: Sequence[PaperFigure], style: PaperStyle) -> dict[str, bytes]:
    """Figures as SVG, PDF and PNG, and with `captions` their captions as text, by the names of their files."""
    files: dict[str, bytes] = {}
    for figure, name in zip(figures, file_names([figure.title for figure in figures]), strict=True):
        files |= {f"{name}.{kind}": figure.render(kind, style.sheet) for kind in KINDS}
        if style.captions:
            files[f"{name}.txt"] = f"{figure.caption}\n".encode()
    return files

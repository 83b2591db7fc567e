"""Figures as SVG, PDF and PNG: the same figure gives the same bytes."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fcpair.params import FigureWidth
from fcpair.report.figures.layout import PAPER_SHEETS, Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fcpair.report.figures.forest import Forest

KINDS = ("svg", "pdf", "png")
DPI = 150
SETTINGS: dict[str, Any] = {
    "hatch.linewidth": 0.7,
    "pdf.fonttype": 42,  # TrueType, which publishers take
    "svg.fonttype": "none",  # text stays text, to be searched and read aloud
    "svg.hashsalt": "fcpair",  # else every file has ids of its own
    "text.parse_math": False,  # a file's name may hold dollar signs
}
# Without dates and versions, which would change the bytes and not the picture.
UNDATED: Mapping[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}
DESCRIPTION = {"svg": "Description", "pdf": "Subject", "png": "Description"}
_END_OF_METADATA = b"</metadata>"


def save_figure(draw: Callable[[], Figure], kind: str, title: str, description: str) -> bytes:
    """A figure as `svg`, `pdf` or `png`, with a title, a description and its fonts; `draw` is called in
    `figure_settings`.
    """
    file = io.BytesIO()
    with figure_settings():
        metadata = UNDATED[kind] | {"Title": title, DESCRIPTION[kind]: description}
        figure = draw()
        figure.savefig(file, format=kind, dpi=DPI, metadata=metadata)
        if kind == "svg":
            faces = "".join(f"@font-face {{{face}}}" for face in _font_faces(figure))
            style = f"\n <defs><style>{faces}</style></defs>".encode()
            return file.getvalue().replace(_END_OF_METADATA, _END_OF_METADATA + style, 1)
    return file.getvalue()


def _font_faces(figure: Figure) -> Iterator[str]:
    """Yield what CSS says of each font, which is the font itself, too, as WOFF with the glyphs of the letters alone."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from matplotlib.font_manager import findfont
    from matplotlib.text import Text

    letters: dict[tuple[str, str, str, str], set[str]] = {}
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible():
            font = text.get_fontproperties()
            key = (findfont(font), font.get_name(), str(font.get_weight()), font.get_style())
            letters.setdefault(key, set()).update(text.get_text())
    for (path, family, weight, slant), used in sorted(letters.items()):
        font_file = TTFont(path, recalcTimestamp=False)
        options = Options(hinting=False, notdef_outline=True)
        options.drop_tables += ["FFTM"]  # the time at which the font was made
        subsetter = Subsetter(options)
        subsetter.populate(text="".join(sorted(used)))
        subsetter.subset(font_file)
        font_file.flavor = "woff"
        file = io.BytesIO()
        font_file.save(file)
        content = base64.b64encode(file.getvalue()).decode()
        source = f"url(data:font/woff;base64,{content}) format('woff')"
        yield f"font-family: '{family}'; font-weight: {weight}; font-style: {slant}; src: {source};"


@contextmanager
def figure_settings() -> Iterator[None]:
    """matplotlib as it comes, whatever the user has set; a sign that its font lacks is a box, and no warning."""
    import matplotlib.style

    with matplotlib.style.context(["default", SETTINGS]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def file_names(titles: Sequence[str]) -> list[str]:
    """Titles as files can be called: `MAP_by-all@10`; of two that would be the same the later one is numbered."""
    spelt = [title.translate(str.maketrans("(,=", "__-", ")")) for title in titles]
    names = ["".join(sign if sign.isalnum() or sign in "@._-" else "_" for sign in name) for name in spelt]
    folded = [name.casefold() for name in names]
    return [f"{name}-{at + 1}" if folded[at] in folded[:at] else name for at, name in enumerate(names)]


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
    """A figure with its title and what it shows in words, and what draws it on a sheet, in `figure_settings`."""

    title: str
    description: str
    draw: Callable[[Sheet], Figure]


def render_for_paper(figures: Sequence[PaperFigure | Forest], style: PaperStyle | None = None) -> dict[str, bytes]:
    """Figures as SVG, PDF and PNG, and with `captions` their captions as text, by the names of their files."""
    style, files = style or PaperStyle(), dict[str, bytes]()
    for figure, name in zip(figures, file_names([figure.title for figure in figures]), strict=True):
        draw = partial(figure.draw, style.sheet)
        files |= {f"{name}.{kind}": save_figure(draw, kind, figure.title, figure.description) for kind in KINDS}
        if style.captions:
            files[f"{name}.txt"] = f"{figure.description}\n".encode()
    return files

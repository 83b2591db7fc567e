"""Figures as SVG and PNG: the same figure gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
SETTINGS: dict[str, Any] = {
    "hatch.linewidth": 0.7,
    "svg.fonttype": "none",  # text stays text, to be searched and read aloud
    "svg.hashsalt": "fcpair",  # else every file has ids of its own
    "text.parse_math": False,  # a file's name may hold dollar signs
}
# Without dates and versions, which would change the bytes and not the picture.
UNDATED: Mapping[str, dict[str, Any]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def save_figure(draw: Callable[[], Figure], kind: str, title: str, description: str) -> bytes:
    """A figure as `svg` or `png`, with a title and a description; `draw` is called in the settings of all figures."""
    file = io.BytesIO()
    with _figure_settings():
        metadata = UNDATED[kind] | {"Title": title, "Description": description}
        draw().savefig(file, format=kind, dpi=DPI, metadata=metadata)
    return file.getvalue()


@contextmanager
def _figure_settings() -> Iterator[None]:
    """matplotlib as it comes, whatever the user has set; a sign that its font lacks is a box, and no warning."""
    import matplotlib.style

    with matplotlib.style.context(["default", SETTINGS]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def file_names(titles: Sequence[str]) -> list[str]:
    """Titles as files can be called: `MAP_by-all@10`; of two that would be the same the later one is numbered."""
    names = [_file_name(title) for title in titles]
    folded = [name.casefold() for name in names]
    return [f"{name}-{at + 1}" if folded[at] in folded[:at] else name for at, name in enumerate(names)]


def _file_name(title: str) -> str:
    spelt = title.translate(str.maketrans("(,=", "__-", ")"))
    return "".join(sign if sign.isalnum() or sign in "@._-" else "_" for sign in spelt)

"""The figures of an evaluation as SVG and PNG, one of each per measure; the same outcome gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fcpair.evaluate.chart import PAPER, Inks, draw
from fcpair.evaluate.outcome import Outcome
from fcpair.evaluate.wording import fine_print, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
SETTINGS: dict[str, Any] = {
    "hatch.linewidth": 0.7,
    "svg.fonttype": "none",  # text stays text, to be searched and read aloud
    "svg.hashsalt": "fcpair",  # else every file has ids of its own
    "text.parse_math": False,  # a file's name may hold dollar signs
}


def pictures(outcome: Outcome) -> dict[str, bytes]:
    """The figure of each measure as SVG and as PNG, by the name of its file."""
    found: dict[str, bytes] = {}
    for measure, name in zip(outcome.measures, file_names(outcome.measures), strict=True):
        found[f"{name}.svg"] = svg(outcome, measure)
        found[f"{name}.png"] = png(outcome, measure)
    return found


def file_names(measures: Sequence[str]) -> list[str]:
    """The measures as files can be called: `MAP_by-all@10`; of two that would be the same the later one is numbered."""
    names = [_file_name(measure) for measure in measures]
    folded = [name.casefold() for name in names]
    return [f"{name}-{at + 1}" if folded[at] in folded[:at] else name for at, name in enumerate(names)]


def _file_name(measure: str) -> str:
    spelt = measure.translate(str.maketrans("(,=", "__-", ")"))
    return "".join(sign if sign.isalnum() or sign in "@._-" else "_" for sign in spelt)


def svg(outcome: Outcome, measure: str) -> bytes:
    """The figure of a measure as SVG, with a title and a description."""
    # Without dates and versions, which would change the bytes and not the picture.
    return _saved(outcome, measure, PAPER, "svg", {"Date": None, "Creator": None})


def png(outcome: Outcome, measure: str, inks: Inks = PAPER) -> bytes:
    """The figure of a measure as PNG, in the colours given, with a title and a description."""
    return _saved(outcome, measure, inks, "png", {"Software": None})


def _saved(outcome: Outcome, measure: str, inks: Inks, kind: str, metadata: dict[str, Any]) -> bytes:
    words = {"Title": measure, "Description": description(outcome, measure)}
    file = io.BytesIO()
    with _settings():
        figure: Figure = draw(outcome, measure, inks)
        figure.savefig(file, format=kind, dpi=DPI, metadata=metadata | words)
    return file.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    """matplotlib as it comes, whatever the user has set; a sign that its font lacks is a box, and no warning."""
    import matplotlib.style

    with matplotlib.style.context(["default", SETTINGS]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def description(outcome: Outcome, measure: str) -> str:
    """What a figure shows, in words."""
    scores = [score for score in outcome.scores if score.measure == measure]
    systems = ", ".join(plain(system.short) for system in outcome.systems)
    tiers = ", ".join(one.tier.capitalize() for one in outcome.tiers)
    shown = f"{measure} of {systems} on {tiers}: a bar for each system and tier, from 0."
    return " ".join([shown, *fine_print(outcome, scores)])

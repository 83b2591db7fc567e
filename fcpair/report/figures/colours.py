"""Colours of figures, and patterns of map cells: readable in grey, by the colour-blind, and on dark pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcpair.lazy import matplotlib

Pixels = NDArray[np.uint8]

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Inks:
    """The colours of a picture: what it stands on, what is written, and what stands back."""

    page: str
    ink: str
    soft: str = "#8c8c8c"


@dataclass(frozen=True)
class Theme:
    """The page that a figure stands on."""

    name: str
    page: Colour
    ink: Colour
    faint: Colour

    @property
    def inks(self) -> Inks:
        """Its colours as pictures take them."""
        return Inks(to_hex(self.page), to_hex(self.ink))


def to_hex(colour: Colour) -> str:
    """The colour as a style sheet writes it: `#00204c`."""
    return "#" + bytes(colour).hex()


LIGHT = Theme("light", page=(255, 255, 255), ink=(34, 34, 34), faint=(150, 150, 150))
DARK = Theme("dark", page=(24, 26, 27), ink=(225, 225, 225), faint=(110, 110, 110))
THEMES, PAPER = (LIGHT, DARK), LIGHT.inks


def cividis(at: float) -> Colour:
    """The colour at `at` (0 to 1) of the map cividis, whose lightness rises evenly from dark blue to yellow."""
    red, green, blue, _ = matplotlib.colormaps["cividis"](min(max(at, 0.0), 1.0), bytes=True)
    return int(red), int(green), int(blue)


# The map cividis at even steps, for what is drawn without matplotlib, which takes long to load.
_RAMP = ("00224d", "1a386f", "434e6b", "61646f", "7c7b78", "9b9376", "bbad6c", "dec957", "fde737")
_CELLS: dict[str, tuple[str, str]] = {
    "nothing": ("dcdcdc", "3a3d3f"),
    "waits": ("d55e00", "e8711a"),
    "undecided": ("56b4e9", "56b4e9"),
    "discarded": ("000000", "ffffff"),
    "decided": ("0072b2", "2f8fcb"),
    "valid": ("009e73", "1fb98e"),
    "not valid": ("cc79a7", "cc79a7"),
    "tie": ("d55e00", "e8711a"),
    "single": ("a8b8c8", "6c7c8c"),
    "bronze": ("a0622d", "b0703a"),
    "silver": ("8f9aa8", "aab4c2"),
    "gold": ("d9a514", "e0b030"),
    "diamond": ("1aa7d8", "4cc3ee"),
    "in tier": ("0072b2", "2f8fcb"),
    "corpus": ("b6a4d8", "6d5a94"),
    "hole": ("ffffff", "181a1b"),
}
"""The colours of the cells of a map that is drawn in a browser, on a light page and on a dark one: those of states are
Okabe and Ito's, which the colour-blind tell apart (https://jfly.uni-koeln.de/color/), those of tiers what their names
say."""


def cell_colour(look: str, theme: Theme) -> Colour:
    """The colour of a cell of this look on a map that is drawn in a browser."""
    if look.startswith("level"):
        _, level, _, top = look.split()
        place = int(level) / max(int(top), 1) * (len(_RAMP) - 1)
        low = min(int(place), len(_RAMP) - 2)
        ends = (bytes.fromhex(step) for step in _RAMP[low : low + 2])
        red, green, blue = (round(a + (b - a) * (place - low)) for a, b in zip(*ends, strict=True))
        return red, green, blue
    red, green, blue = bytes.fromhex(_CELLS[look][theme is DARK])
    return red, green, blue


def ink_on(colour: Colour) -> Colour:
    """Black or white, whichever stands out more on `colour`; the contrast is at least 4.5 to 1."""
    return (0, 0, 0) if _luminance(colour) > 0.179 else (255, 255, 255)


def _luminance(colour: Colour) -> float:
    """Relative luminance, 0 to 1, as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def paint_tile(look: str, px: int, theme: Theme) -> Pixels:
    """One cell of `px` x `px` pixels in the colour and pattern of `look`, shape `(px, px, 3)`."""
    looks: dict[str, tuple[Colour, Colour, str]] = {
        "positive": (cividis(0.95), theme.ink, "plain"),
        "other": (cividis(0.12), theme.ink, "plain"),
        "discarded": (cividis(0.7), (0, 0, 0), "cross"),
        "waiting": (cividis(0.45), (255, 255, 255), "dot"),
        "undecided": (cividis(0.45), (255, 255, 255), "plain"),
        "nothing": (theme.faint, theme.ink, "plain"),
        "corpus": (theme.page, theme.ink, "stripes"),
        "hole": (theme.page, theme.faint, "dot"),
    }
    if look.startswith("level"):
        _, level, _, top = look.split()
        looks[look] = (cividis(int(level) / max(int(top), 1)), theme.ink, "plain")
    ground, mark, pattern = looks[look]
    y, x = np.mgrid[:px, :px]
    masks = {
        "plain": np.zeros((px, px), np.bool_),
        "stripes": (x + y) % max(px // 2, 3) == 0,
        "cross": (x == y) | (x + y == px - 1),
        "dot": (abs(x - (px - 1) / 2) <= px / 8) & (abs(y - (px - 1) / 2) <= px / 8),
    }
    return np.where(masks[pattern][..., None], np.array(mark, np.uint8), np.array(ground, np.uint8))


def paint_classes(index: NDArray[np.int8], looks: tuple[str, ...], px: int, theme: Theme) -> Pixels:
    """A map of classes, `px` pixels a cell, shape `(n_rows * px, n_columns * px, 3)`."""
    tiles = np.stack([paint_tile(look, px, theme) for look in looks])
    n_rows, n_columns = index.shape
    return np.asarray(tiles[index].transpose(0, 2, 1, 3, 4).reshape(n_rows * px, n_columns * px, 3))


def paint_means(
    mean: NDArray[np.float64], top: float, index: NDArray[np.int8], looks: tuple[str, ...], px: int, theme: Theme
) -> Pixels:
    """A map of means from 0 to `top`, `px` pixels a block; where the mean is missing, the look that `index` says."""
    colours = matplotlib.colormaps["cividis"](np.nan_to_num(mean) / top, bytes=True)[..., :3]
    pixels = np.repeat(np.repeat(colours, px, axis=0), px, axis=1)
    missing = np.repeat(np.repeat(np.isnan(mean), px, axis=0), px, axis=1)
    pixels[missing] = paint_classes(index, looks, px, theme)[missing]
    return np.asarray(pixels)

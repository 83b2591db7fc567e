"""The maps of a grid as PNG images in data URIs, drawn by matplotlib: the same map gives the same bytes."""

from __future__ import annotations

import io
import struct
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fcpair.report.cells import BlockMap, ClassMap
from fcpair.report.figures.colours import DARK, LIGHT, Theme, paint_classes, paint_means, paint_tile, to_hex

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fcpair.report.figures.colours import Pixels

SIDES = ("HS", "CN")
WIDEST, TALLEST, LARGEST_CELL = 1400, 1600, 40
DPI = 150
# What is drawn around the map, in pixels: left, right, below, above.
LEFT, RIGHT, BELOW, ABOVE = 100, 30, 75, 20
COLOUR_BAR = 110
TILE, TILES = 14, (2, 3)  # of a sample: pixels of a tile, and tiles down and across
# Without the version of matplotlib, which would change the bytes and not the picture.
NO_METADATA: dict[str, Any] = {"Software": None}


@dataclass(frozen=True)
class Image:
    """One picture in two versions, for light and for dark pages, each drawn by `draw` when it is asked for.

    It is of so many `pixels` across and down; where that is not known before, the light version says it.
    """

    draw: Callable[[Theme], bytes]
    pixels: tuple[int, int] | None = None

    @cached_property
    def light(self) -> str:
        """The version for light pages, as a data URI."""
        return _data_uri(self.draw(LIGHT))

    @cached_property
    def dark(self) -> str:
        """The version for dark pages, as a data URI."""
        return _data_uri(self.draw(DARK))

    @property
    def width(self) -> int:
        """The width on a page, in CSS pixels."""
        return round(self._size[0] * 0.7)

    @property
    def height(self) -> int:
        """The height on a page, in CSS pixels."""
        return round(self._size[1] * 0.7)

    @cached_property
    def _size(self) -> tuple[int, int]:
        if self.pixels:
            return self.pixels
        width, height = struct.unpack(">2I", b64decode(self.light.partition(",")[2])[16:24])
        return int(width), int(height)


def class_map(classed: ClassMap) -> Image:
    """The map of a grid whose cells are in classes."""
    px = cell_pixels(classed.index.shape)
    looks = tuple(one.look for one in classed.classes)
    rows, columns = classed.index.shape
    return Image(
        lambda theme: _render_map(paint_classes(classed.index, looks, px, theme), (px, px), theme),
        _figure_pixels((rows * px, columns * px), wide_right=False),
    )


def block_map(blocked: BlockMap, unit: str) -> Image:
    """The map of means over blocks, with a colour bar that is named by `unit`."""
    px = cell_pixels(blocked.mean.shape)
    defined = blocked.mean[~np.isnan(blocked.mean)]
    top = float(defined.max(initial=0)) or 1.0

    def draw(theme: Theme) -> bytes:
        pixels = paint_means(blocked.mean, top, blocked.index, blocked.looks, px, theme)
        return _render_map(pixels, (px / blocked.rows, px / blocked.columns), theme, bar=(unit, top))

    rows, columns = blocked.mean.shape
    return Image(draw, _figure_pixels((rows * px, columns * px), wide_right=True))


def swatch(look: str) -> Image:
    """A sample of a look, for a legend."""
    from PIL.Image import fromarray

    def draw(theme: Theme) -> bytes:
        file = io.BytesIO()
        fromarray(np.tile(paint_tile(look, TILE, theme), (*TILES, 1))).save(file, "png", optimize=True)
        return file.getvalue()

    return Image(draw, (TILES[1] * TILE, TILES[0] * TILE))


def cell_pixels(shape: tuple[int, ...]) -> int:
    """Width and height in pixels of a cell of a map of this shape."""
    return max(1, min(WIDEST // shape[1], TALLEST // shape[0], LARGEST_CELL))


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"


def _figure_size(shape: tuple[int, ...], *, wide_right: bool) -> tuple[int, int]:
    """Width and height of a map of this shape with what is drawn around it."""
    return shape[1] + LEFT + RIGHT + COLOUR_BAR * wide_right, shape[0] + BELOW + ABOVE


def _figure_pixels(shape: tuple[int, ...], *, wide_right: bool) -> tuple[int, int]:
    """The same as matplotlib has it, which is told inches."""
    width, height = _figure_size(shape, wide_right=wide_right)
    return int(width / DPI * DPI), int(height / DPI * DPI)


def _render_map(
    pixels: Pixels, scale: tuple[float, float], theme: Theme, bar: tuple[str, float] | None = None
) -> bytes:
    """A PNG with axes around `pixels`; `scale` says how many pixels a row is high and a column is wide."""
    import matplotlib.style
    from matplotlib.figure import Figure

    with matplotlib.style.context("default"):
        # the axes have exactly as many pixels as the map, so that no cell is resampled
        width, height = _figure_size(pixels.shape, wide_right=bar is not None)
        figure = Figure(figsize=(width / DPI, height / DPI), facecolor=theme.inks.page)
        box = (LEFT / width, BELOW / height, pixels.shape[1] / width, pixels.shape[0] / height)
        axes = figure.add_axes(box, facecolor=theme.inks.page)
        _set_ink(axes, theme)
        axes.imshow(pixels, interpolation="none", extent=(0, pixels.shape[1], pixels.shape[0], 0), aspect="auto")
        for axis, size, per_text, name, pixels_per_number in (
            (axes.yaxis, pixels.shape[0], scale[0], SIDES[0], 45),
            (axes.xaxis, pixels.shape[1], scale[1], SIDES[1], 70),
        ):
            n = round(size / per_text)
            numbers = tick_numbers(n, most=max(2, int(size / pixels_per_number)))
            axis.set_ticks([(number - 0.5) * per_text for number in numbers], [f"{number:,}" for number in numbers])
            axis.set_label_text(name, fontsize=9)
        if bar is not None:
            _colour_bar(figure, axes, *bar, theme)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=DPI, metadata=NO_METADATA)
    return file.getvalue()


def _set_ink(axes: Axes, theme: Theme) -> None:
    ink = theme.inks.ink
    axes.tick_params(colors=ink, labelsize=8)
    axes.xaxis.label.set_color(ink)
    axes.yaxis.label.set_color(ink)
    for spine in axes.spines.values():
        spine.set_color(to_hex(theme.faint))


def tick_numbers(n: int, most: int) -> list[int]:
    """At most about `most` round numbers from 1 to `n`, beginning with 1."""
    if n <= most:
        return list(range(1, n + 1))
    steps = (base * 10**power for power in range(8) for base in (2, 5, 10))
    step = next(step for step in steps if n / step <= most)
    return [1, *range(step, n + 1, step)]


def _colour_bar(figure: Figure, axes: Axes, unit: str, top: float, theme: Theme) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    box = axes.get_position()
    bar_axes = figure.add_axes((box.x1 + 0.015, box.y0, 0.012, box.height))
    _set_ink(bar_axes, theme)
    figure.colorbar(ScalarMappable(Normalize(0, top), "cividis"), cax=bar_axes)
    bar_axes.set_ylabel(unit, fontsize=9)

"""The cells of a grid as maps: counted, in classes or blocks, and drawn as PNG; the same map gives the same bytes."""

from __future__ import annotations

import io
import struct
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.report.data import DISCARDED, HOLE, IN_CORPUS, IN_GRID, OTHER, POSITIVE, WAITING, GridMap
from fcpair.report.figures.colours import DARK, LIGHT, Theme, paint_classes, paint_means, paint_tile, to_hex

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        return f"data:image/png;base64,{b64encode(self.draw(LIGHT)).decode()}"

    @cached_property
    def dark(self) -> str:
        """The version for dark pages, as a data URI."""
        return f"data:image/png;base64,{b64encode(self.draw(DARK)).decode()}"

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
    looks = tuple(class_.look for class_ in classed.classes)
    return _image(classed.index.shape, px, (px, px), partial(paint_classes, classed.index, looks, px), None)


def block_map(blocked: BlockMap, unit: str) -> Image:
    """The map of means over blocks, with a colour bar that is named by `unit`."""
    px = cell_pixels(blocked.mean.shape)
    top = float(blocked.mean[~np.isnan(blocked.mean)].max(initial=0)) or 1.0
    scale = (px / blocked.rows, px / blocked.columns)
    paint = partial(paint_means, blocked.mean, top, blocked.index, blocked.looks, px)
    return _image(blocked.mean.shape, px, scale, paint, (unit, top))


def _image(
    shape: tuple[int, ...],
    px: int,
    scale: tuple[float, float],
    paint: Callable[[Theme], Pixels],
    bar: tuple[str, float] | None,
) -> Image:
    """The picture of a map; matplotlib is told inches, so its size is rounded."""
    size = _figure_size((shape[0] * px, shape[1] * px), wide_right=bar is not None)
    width, height = (int(pixels / DPI * DPI) for pixels in size)
    return Image(lambda theme: _render_map(paint(theme), scale, theme, bar), (width, height))


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


def _figure_size(shape: tuple[int, ...], *, wide_right: bool) -> tuple[int, int]:
    return shape[1] + LEFT + RIGHT + COLOUR_BAR * wide_right, shape[0] + BELOW + ABOVE


def _render_map(
    pixels: Pixels, scale: tuple[float, float], theme: Theme, bar: tuple[str, float] | None = None
) -> bytes:
    """A PNG with axes around `pixels`; `scale` says how many pixels a row is high and a column is wide."""
    import matplotlib.style
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
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
            numbers = tick_numbers(round(size / per_text), most=max(2, int(size / pixels_per_number)))
            axis.set_ticks([(number - 0.5) * per_text for number in numbers], [f"{number:,}" for number in numbers])
            axis.set_label_text(name, fontsize=9)
        if bar is not None:
            unit, top = bar
            place = axes.get_position()
            bar_axes = figure.add_axes((place.x1 + 0.015, place.y0, 0.012, place.height))
            _set_ink(bar_axes, theme)
            figure.colorbar(ScalarMappable(Normalize(0, top), "cividis"), cax=bar_axes)
            bar_axes.set_ylabel(unit, fontsize=9)
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
    step = next(step for step in (base * 10**power for power in range(8) for base in (2, 5, 10)) if n / step <= most)
    return [1, *range(step, n + 1, step)]


MOST_ROWS, MOST_COLUMNS = 160, 280
MOST_LABELS_SHOWN = 9


@dataclass(frozen=True)
class CellClass:
    """One class of cells: `look` names its colour and pattern in `colours.py`; `n` cells are in it."""

    meaning: str
    look: str
    n: int


@dataclass(frozen=True)
class ClassMap:
    """A map of classes: `index`, shape `(n_hs, n_cn)`, says which of `classes` each cell is in."""

    index: NDArray[np.int8]
    classes: tuple[CellClass, ...]


@dataclass(frozen=True)
class BlockMap:
    """A map of means over blocks of `rows` x `columns` cells, shape `(n_block_rows, n_block_columns)`; NaN where a
    block has no cell to rest on, and `index` says why, as one of `looks`.
    """

    mean: NDArray[np.float64]
    index: NDArray[np.int8]
    looks: tuple[str, ...]
    rows: int
    columns: int


def block_size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Number of HS and number of CNs in one block, so that a map is not larger than MOST_ROWS x MOST_COLUMNS."""
    return -(-shape[0] // MOST_ROWS), -(-shape[1] // MOST_COLUMNS)


def coverage(grid: GridMap) -> ClassMap:
    """The cells by their number of labels, and those that are not in the grid."""
    top = int(min(grid.labels.max(initial=0), MOST_LABELS_SHOWN))
    index = np.minimum(grid.labels, MOST_LABELS_SHOWN).astype(np.int8)
    words = ["no label yet", "1 label", *(f"{n} labels" for n in range(2, top + 1))][: top + 1]
    if grid.labels.max(initial=0) > top:
        words[top] = f"{top} labels or more"
    return _build_class_map(index, [(text, f"level {n} of {top}") for n, text in enumerate(words)], grid)


def decisions(grid: GridMap) -> ClassMap:
    """The cells by their adjudicated label, and those that are not in the grid."""
    index = np.full(grid.decision.shape, 5, np.int8)
    index[grid.labels > 0] = 4
    for at, decided in enumerate((POSITIVE, OTHER, DISCARDED, WAITING)):
        index[grid.decision == decided] = at
    meanings = [
        ("a positive label", "positive"),
        ("another definite label", "other"),
        ("discarded", "discarded"),
        ("labelled, waits for a person", "waiting"),
        ("labelled, waits for a policy", "undecided"),
        ("no label yet", "nothing"),
    ]
    return _build_class_map(index, meanings, grid)


def _build_class_map(index: NDArray[np.int8], meanings: list[tuple[str, str]], grid: GridMap) -> ClassMap:
    # Counted one class at a time: np.bincount would widen 20 million small integers to eight bytes each.
    outside = [("in the corpus already, so not in the grid", "corpus", IN_CORPUS), ("not in the grid", "hole", HOLE)]
    for at, (_, _, place) in enumerate(outside, len(meanings)):
        index[grid.place == place] = at
    meanings += [(meaning, look) for meaning, look, _ in outside]
    counts = [int(np.count_nonzero(index == at)) for at in range(len(meanings))]
    counts[-1] += grid.shape[0] * grid.shape[1] - grid.place.size  # those that are not listed
    return ClassMap(index, tuple(CellClass(*name, n) for name, n in zip(meanings, counts, strict=True)))


def coverage_blocks(grid: GridMap) -> BlockMap:
    """The mean number of labels of the grid's cells in each block."""
    return _build_block_map(grid, grid.labels, grid.place == IN_GRID, ("hole",), None)


def decision_blocks(grid: GridMap) -> BlockMap:
    """The share of positive labels among the cells of each block that have a definite label."""
    definite = (grid.decision == POSITIVE) | (grid.decision == OTHER)
    return _build_block_map(grid, grid.decision == POSITIVE, definite, ("hole", "nothing", "waiting"), grid.labels)


def _build_block_map(
    grid: GridMap,
    values: NDArray[np.int16] | NDArray[np.bool_],
    is_used: NDArray[np.bool_],
    looks: tuple[str, ...],
    labels: NDArray[np.int16] | None,
) -> BlockMap:
    rows, columns = block_size(grid.shape)
    sums, n = (_block_sums(grid, cells) for cells in (values * is_used, is_used))
    with np.errstate(invalid="ignore"):
        mean = np.where(n > 0, sums / n, np.nan)
    index = np.zeros(mean.shape, np.int8)
    if labels is not None:
        index += (_block_sums(grid, grid.place == IN_GRID) > 0).astype(np.int8)
        index += (_block_sums(grid, labels) > 0).astype(np.int8)
    return BlockMap(mean, index, looks, rows, columns)


def _block_sums(grid: GridMap, cells: NDArray[np.generic]) -> NDArray[np.int64]:
    rows, columns = block_size(grid.shape)
    if grid.at is not None:
        row, column = np.divmod(grid.at, grid.shape[1])
        shape = -(-grid.shape[0] // rows), -(-grid.shape[1] // columns)
        sums = np.bincount(row // rows * shape[1] + column // columns, cells, shape[0] * shape[1])
        return sums.astype(np.int64).reshape(shape)
    by_row = np.add.reduceat(cells, np.arange(0, cells.shape[0], rows), axis=0, dtype=np.int64)
    return np.asarray(np.add.reduceat(by_row, np.arange(0, cells.shape[1], columns), axis=1))

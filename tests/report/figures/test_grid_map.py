"""Maps of grids: each version is drawn when it is asked for, and its size is known before."""

from __future__ import annotations

import io
from base64 import b64decode

import numpy as np
import pytest
from matplotlib import image as images
from numpy.typing import NDArray

from fcpair.report.figures.colours import DARK, LIGHT, Theme, paint_tile
from fcpair.report.figures.grid_map import BlockMap, CellClass, ClassMap, Image, block_map, class_map, swatch


def pixels(uri: str) -> NDArray[np.uint8]:
    """The colours of a picture in a data URI, without how opaque they are."""
    shown = images.imread(io.BytesIO(b64decode(uri.partition(",")[2])), format="png")
    colours: NDArray[np.uint8] = np.rint(shown[..., :3] * 255).astype(np.uint8)
    return colours


@pytest.mark.parametrize("shape", [(1, 1), (7, 13), (45, 129), (100, 3), (160, 280)])
def test_the_size_of_a_map_is_that_of_its_picture(shape: tuple[int, int]) -> None:
    classed = ClassMap(np.zeros(shape, np.int8), (CellClass("not in the grid", "hole", 1),))
    blocked = BlockMap(np.ones(shape), np.zeros(shape, np.int8), ("hole",), 2, 3)
    for drawn in (class_map(classed), block_map(blocked, "labels")):
        assert pixels(drawn.light).shape[:2] == pixels(drawn.dark).shape[:2] == (drawn.pixels or ())[::-1]


def test_a_version_is_drawn_once_and_only_if_it_is_asked_for() -> None:
    drawn: list[Theme] = []

    def draw(theme: Theme) -> bytes:
        drawn.append(theme)
        return b"picture"

    image = Image(draw, (100, 50))
    assert (image.width, image.height, drawn) == (70, 35, [])
    assert image.dark == image.dark == "data:image/png;base64,cGljdHVyZQ=="
    assert drawn == [DARK]


def test_a_picture_of_which_the_size_is_not_known_says_it() -> None:
    image = swatch("hole")
    same = Image(image.draw)
    assert (same.width, same.height) == (image.width, image.height) == (29, 20)


@pytest.mark.parametrize("look", ["hole", "corpus", "positive", "level 1 of 3"])
def test_a_sample_has_the_colours_and_the_pattern_of_its_look(look: str) -> None:
    image = swatch(look)
    for uri, theme in ((image.light, LIGHT), (image.dark, DARK)):
        assert (pixels(uri) == np.tile(paint_tile(look, 14, theme), (2, 3, 1))).all()

"""Whether blocks of a grid differ: hand-computed."""

from __future__ import annotations

import numpy as np
import pytest

from fcpair.blocks import Blocks
from fcpair.stages.stats.block_figures import BlockFigures, agreeing_shares, compare_blocks

NAMES = ("HS", "CN")


def test_of_every_two_labels_of_a_pair_so_many_agree() -> None:
    """(2 x 1) / (2 x 1), none of two, (2 x 1) / (3 x 2); one label has no other."""
    shares = agreeing_shares(np.array([[2, 0], [1, 1], [2, 1], [1, 0]]))
    assert shares.tolist() == pytest.approx([1, 0, 1 / 3, np.nan], nan_ok=True)


def test_new_rows_are_compared_with_old_ones_on_the_columns_that_were_there() -> None:
    """Of 8 rows, 4 are new; all new ones are positive and no old one is: 1 of 70 ways on either side, so p = 2 / 70.

    The third column is new, and its values, which would turn that round, are left out.
    """
    place = np.arange(24)
    row, column = np.divmod(place, 3)
    value = np.where(column < 2, row >= 4, row < 4).astype(float)
    blocks = Blocks(((4, 2), (8, 3)), (0, 8))
    of_rows, of_columns = compare_blocks(blocks, place, {"positive": value}, NAMES)
    assert (of_rows.side, of_rows.n_new, of_rows.n_old, of_rows.new, of_rows.old) == ("HS", 4, 4, 1.0, 0.0)
    assert (of_rows.p, of_rows.p_holm) == pytest.approx((2 / 70, 2 / 70))
    assert (of_columns.side, of_columns.n_new, of_columns.n_old, of_columns.new) == ("CN", 1, 2, 1.0)
    assert of_columns.p is None
    assert "1 new text with such pairs is too few beside 2" in str(of_columns.undefined)
    found = BlockFigures((), (of_rows, of_columns)).verdict
    assert found == "they differ more than chance allows (smallest of 1 p-values after Holm: 0.029)"


def test_pairs_of_one_text_are_no_texts_of_their_own() -> None:
    """Two new rows beside two old ones are too few, whatever many columns they have."""
    place = np.arange(40)
    (of_rows,) = compare_blocks(
        Blocks(((2, 10), (4, 10)), (0, 20)), place, {"positive": (place >= 20).astype(np.float64)}, NAMES
    )
    assert (of_rows.p, of_rows.undefined is None) == (None, False)


def test_where_all_pairs_are_alike_there_is_nothing_to_compare() -> None:
    (of_rows,) = compare_blocks(Blocks(((5, 1), (9, 1)), (0, 5)), np.arange(9), {"positive": np.ones(9)}, NAMES)
    assert of_rows.undefined == "all pairs are alike, so there is nothing to compare"
    assert "whether they differ is undefined" in BlockFigures((), (of_rows,)).verdict

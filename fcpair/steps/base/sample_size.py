"""A grid of which only some cells were drawn: the one place for how many, of how many, and which."""

from __future__ import annotations

from fcpair.params import Pair
from fcpair.records import SampleSize
from fcpair.store import Tx
from fcpair.store.corpus import cells
from fcpair.store.oversight import settings

SAMPLE_SETTING = (
    "sample"  # the settings of a drawn grid: how many cells it could have had, and the digest of those drawn
)


def save_sample_size(tx: Tx, n_possible: int, run_id: int) -> None:
    """Note that the cells that are there were drawn from so many, and which they are."""
    settings.save_settings(tx, SAMPLE_SETTING, {"of": n_possible, "sha256": cells.digest(tx)}, run_id)


def load_sample_size(tx: Tx) -> SampleSize | None:
    """Number of cells drawn, and of how many; None where the grid is whole, or has not been made."""
    n = settings.of_stage(tx, Pair.stage).get("sample")
    if n is None or cells.number_range(tx)[1] is None:
        return None
    return SampleSize(n, settings.of_stage(tx, SAMPLE_SETTING)["of"])


def sample_digest(tx: Tx) -> str:
    """The digest of the cells that were drawn, as `cells.digest` made it."""
    return str(settings.of_stage(tx, SAMPLE_SETTING)["sha256"])

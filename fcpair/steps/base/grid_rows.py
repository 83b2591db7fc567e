"""The texts of a grid's rows, with what is known of them."""

from __future__ import annotations

from fcpair.errors import StageError
from fcpair.lazy import pd
from fcpair.steps.base.context import GridContext
from fcpair.store import Tx
from fcpair.store.corpus import cells, sides

ROW, ROW_NUMBER, LANGUAGE = "row", "row_number", "language"


def export_rows(grid: GridContext) -> pd.DataFrame:
    """The rows of a grid in their order: `row_number` (from 1), `row` (the text), and a column for each metadata key.

    All are strings but the number; a text that has nothing under a key has an empty string there. `language` follows
    the text where that of any row is known.

    Raises:
        StageError: the grid has no cells yet.
    """
    with grid._store.read() as tx:
        return rows_table(tx, grid.grid.name)


def rows_table(tx: Tx, name: str) -> pd.DataFrame:
    """The rows of the grid that a transaction is about, as `export_rows` has them."""
    if not cells.number_range(tx)[1]:
        raise StageError(f"grid `{name}` has no cells yet; run `fcpair pair --grid {name}`")
    text_ids = sides.text_ids(tx, "row", drawn=True)
    texts = cells.texts_of_grid(tx).set_index("text_id").loc[text_ids]
    keys = dict.fromkeys(key for meta in texts["meta"] for key in meta if key not in {ROW, ROW_NUMBER, LANGUAGE})
    metadata = {key: [str(meta.get(key, "")) for meta in texts["meta"]] for key in keys}
    languages = texts["language"].fillna("").to_list()
    known_languages = {LANGUAGE: languages} if any(languages) else {}
    columns = {ROW_NUMBER: range(1, len(text_ids) + 1), ROW: texts["body"].to_list(), **known_languages, **metadata}
    return pd.DataFrame(columns)

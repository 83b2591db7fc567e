"""Numbers of rows that are never deleted: from 1, without a gap, and in the order in which they were committed."""

from __future__ import annotations

from sqlalchemy import Table

from fcpair.store.database import backends, latest_rows
from fcpair.store.database.store import Tx


def newest_number(tx: Tx, table: Table) -> int:
    """The number of the newest row, 0 where there is none; nobody else adds one until the end of the transaction."""
    backends.backend_of(tx).hold_numbers(tx)
    return tx.execute(latest_rows.select_newest_id(table)).scalar_one()

"""The store: all SQL of fcpair. Frames and records go in and come out; rows and statements stay here.

It imports no stage. SQL must run on SQLite and PostgreSQL alike: no column without its place in a GROUP BY, no number
for a truth, no order that is not asked for. `database` has what all others use; `backups` and `doctor_checks` are about
the whole store.
"""

from fcpair.store.database.store import Store, Tx

__all__ = ["Store", "Tx"]

"""The store: all SQL of fcpair. Frames and records go in and come out; rows and statements stay here."""

from fcpair.store.database.store import Store, Tx

__all__ = ["Store", "Tx"]

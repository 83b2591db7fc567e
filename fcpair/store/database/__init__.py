"""The database itself: opening it, its tables, transactions, statements and checksums.

`store.py` alone commits, rolls back and translates errors of the database; threads that write take turns by
`write_lock.py`. `hash_chain.py` alone adds answers and decisions, each with its digest. A statement that every answer
needs is a `PreparedStatement` (`prepared.py`), which the driver runs; all others are SQLAlchemy's. SQL must run on
both databases: no column without its place in a GROUP BY, no number for a truth, no order that is not asked for. A
write transaction has the study alone unless it says `alone=False`; then it first holds the rows that it decides about
(`task_queries.hold_people`, `hold_cell`), people before cells, and takes numbers (`row_numbers`) only after that, so
that no two can wait for each other.
"""

"""The database itself: opening it, its tables, transactions, statements and checksums.

`store` is the one place that commits, rolls back and translates database errors. `hash_chain` is the one place that
adds answers and decisions, each with its digest. A statement that every answer needs is a `PreparedStatement`
(`statements`), which the driver runs; all others are SQLAlchemy's.

A write transaction has the study alone unless it says `alone=False`. Then it first holds the rows that it decides about
(`task_queries.hold_people` and `hold_cell`), people before cells, and takes numbers (`latest_rows.newest_number`) only
after that, so that no two can wait for each other.
"""

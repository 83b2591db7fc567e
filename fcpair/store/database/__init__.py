"""The database itself: opening it, its tables, transactions, statements and checksums."""

"""Backups, copies, upgrades, and whether a study is sound.

`integrity_checks.py` and `invariant_checks.py` are what `fcpair doctor` asks. `copying.py` moves a study between
databases as the lines of `database/backends/table_dump.py`; `backups.py` writes and restores backups.
"""

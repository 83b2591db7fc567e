"""Backups, copies, upgrades, and whether a study is sound.

`integrity_checks` and `invariant_checks` are what `fcpair doctor` asks. `copying` moves a study between databases;
`backups` writes and restores backups, whose file is that of `backup_format`, and upgrades.
"""

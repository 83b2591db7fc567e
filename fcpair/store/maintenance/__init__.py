"""Backups, copies, upgrades, and whether a study is sound.

`study_checks` and `study_checks` are what `fcpair doctor` asks. `copying` moves a study between databases;
`backups` writes and restores backups, whose file is that of `backup_format`, and upgrades.
"""

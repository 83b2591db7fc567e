"""Backups, copies, upgrades, and whether a study is sound.

`study_checks` are what `fcpair doctor` asks. `backups` writes and restores backups, whose file is that of
`backup_format`, upgrades, and copies a study between databases.
"""

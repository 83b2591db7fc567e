"""Backups, copies, upgrades, and whether a study is sound."""

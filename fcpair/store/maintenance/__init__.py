"""Backups, copies and upgrades (`backups`), and what `fcpair doctor` asks (`study_checks`)."""

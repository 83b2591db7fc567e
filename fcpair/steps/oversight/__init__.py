"""The study as a whole: status, dashboard, report, recipe, doctor, backups."""

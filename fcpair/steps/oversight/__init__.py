"""The study as a whole: status, dashboard, report, methods section, recipe, doctor, backups."""

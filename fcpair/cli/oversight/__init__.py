"""The study as a whole: run, status, report, log, recipe, serve, doctor, backup."""

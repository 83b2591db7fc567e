"""The study as a whole: run, status, report, methods, log, recipe, serve, doctor, backup."""

"""Runs, settings, and how far a study has been built."""

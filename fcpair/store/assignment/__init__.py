"""Rounds, assignments, and slots that are open or vacant."""

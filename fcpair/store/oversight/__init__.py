"""Runs, which only say what happened, settings, which say what holds from now on, and searches of pairs."""

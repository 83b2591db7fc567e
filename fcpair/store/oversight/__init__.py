"""Runs, settings, and how far a study has been built.

`settings.py` keeps what holds from now on, key by key: never look for it in the run log, which only says what happened.
"""

"""Runs, settings, and how far a study has been built.

`settings` keeps what holds from now on, key by key: never look for it in the run log (`runs`), which only says what
happened. `pair_search` finds the pairs of a grid that meet conditions, set by set, and reads all of them
for a map.
"""

"""Texts, sides, grids and their cells.

`grids` is the one place for which grid a transaction is about (`current_grid_id`).
"""

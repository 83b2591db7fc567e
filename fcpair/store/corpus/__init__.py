"""Texts, sides, grids and their cells."""

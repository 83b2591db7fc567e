"""Texts and grids: collecting, drawing, retrieving, and when two texts are the same."""

"""Texts and grids: collecting, drawing, retrieving, and when two texts are the same.

`retrieve.py` brings candidates in, by `nearest_neighbours.py`. `sample.py` draws cells evenly from a grid that is
never made, with `balanced_draw.py` where chance alone does not do. `text_identity.py` says when two spellings are the
same, in files too.
"""

"""Texts and grids: collecting, drawing, retrieving, and when two texts are the same.

`retrieve` filters and draws texts, and brings candidates in, by the exact neighbours of `nearest_neighbours`. `sample`
draws by seed, and cells evenly from a grid that is never made, and can handle millions. `text_identity` is the one
place for when two spellings are the same, in files too, and goes further for Persian and Arabic.
"""

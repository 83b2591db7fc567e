"""What every step stands on: its study or grid, its run, the recipe, and how answers and texts are identified.

`context.py` says which grid a name means and in which order the stages come, notes runs and keeps settings. What a
stage is to be done with where nobody says is in `recipe_options.py`, and what is done otherwise than the recipe says
becomes a new version of it in `departures.py`. `text_digests.py` alone says when two texts of a study are the same,
`sample_size.py` how many cells a grid was drawn of, which every report says. Pages and API give out the numbers of
`opaque_ids.py`: one that counts rows tells a person what they should not know, so only a lead gets such a number.
"""

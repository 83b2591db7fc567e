"""The basis of every step: its study or grid, its run, the recipe, and how answers and texts are identified.

`context` is the one place for which grid a name means, the order of the stages, the note of a run, and the settings
that hold; `recipe_options` for what a stage is to be done with where nobody says (`by_recipe`); `departures` for what
is done otherwise than the recipe says, which makes a new version of it (`context.save_options` sees to that);
`text_digests` for when two texts of a study are the same text; `context`, too, for how many cells a grid was drawn of
where it is not whole, which every report says; `calibration_state` for how far a calibration is, which of its rounds
takes answers, and what each person has come to answer in it; `figure_cache` for keeping what was computed of a grid.

`opaque_ids` is the one place for the numbers that pages and API give out. A number that counts rows, or says how many
there are of what others do, tells people what they should not know: never send one to anybody but a lead.
"""

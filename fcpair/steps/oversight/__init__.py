"""The study as a whole: status, dashboard, report, methods section, recipe, doctor, backups.

`next_steps` is the one place for what comes next in a grid, by its table of acts, and `recipe_runner` does it.
`recipe_check` is the one place for whether a recipe says what the study is; `study_recipe` has the one that the study
keeps. `report` gathers the whole report, grid by grid, which goes to `fcpair.report`. `label_figures` has what pages
show of a grid of labels, figure by figure. `status` also has a study or a grid as a console and a notebook show it, and
adds to the log what happened outside of the program. `pair_search` finds pairs by text, person, answer, state and tier.
"""

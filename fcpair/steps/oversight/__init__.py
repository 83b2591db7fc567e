"""The study as a whole: status, dashboard, report, methods section, recipe, doctor, backups.

`next_steps` is the one place for what comes next in a grid, by the table of acts in `next_acts`, and
`recipe_runner` does it. `recipe_check` is the one place for whether a recipe says what the study is; `study_recipe` has
the recipe that the study keeps. `report` gathers the whole report with the part about the grid of HS and CNs, and
`report_grid` those about a planned one and about surveys; what they gather goes to `fcpair.report`.
`label_figures` has what pages show of a grid of labels, figure by figure. `status` also has a study or a grid as a
console and a notebook show it. `pair_search` finds pairs by text, person, answer, state and tier.
`note` adds to the log what happened outside of the program.
"""

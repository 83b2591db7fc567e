"""The study as a whole: status, dashboard, report, methods section, recipe, doctor, backups.

`next_steps` is the one place for what comes next in a grid: `next_commands` says it, `recipe_runner` does it.
`recipe_check` is the one place for whether a recipe says what the study is; `study_recipe` has the recipe that the
study keeps. `report` gathers the whole report, `report_main` the part about the grid of HS and CNs, `report_grid` that
about a planned one, `report_surveys` that about surveys; what they gather goes to `fcpair.report`. `label_figures` has
what pages show of a grid of labels, figure by figure. `summaries` has a study or a grid as a console and a notebook
show it. `pair_search` finds pairs by text, person, answer, state and tier; `pair_standings` keeps what it needs of
verdicts and tiers from one search to the next.
"""

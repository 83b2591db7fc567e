"""The study as a whole: status, dashboard, report, recipe, doctor, backups.

What is next: `status.py` with `next_commands.py` (grid `main`) and `grid_status.py` (planned grids). The recipe:
`recipe_check.py` holds one against the study, `recipe_runner.py` runs it, `study_recipe.py` says what it has come to.
What the lead sees: `dashboard.py` with `activity.py` and `answer_shares.py`; `report.py` and its parts.
"""

"""What every step stands on: its study or grid, its run, the recipe, and how answers and texts are identified."""

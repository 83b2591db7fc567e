"""The basis of every step: its study or grid, its run, its options, and how answers and texts are identified."""

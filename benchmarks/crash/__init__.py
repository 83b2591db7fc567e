"""Ending processes, database servers and disks at the worst moment, and looking at what is left."""

"""From several labels to one, and from one to a tier."""

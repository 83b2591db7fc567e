"""Rules that every way into the study follows: call them, and never write one a second time."""

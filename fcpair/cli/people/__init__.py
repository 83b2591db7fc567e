"""The people of a study: people."""

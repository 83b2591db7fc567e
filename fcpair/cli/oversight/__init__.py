"""The study as a whole: status, serve, backup."""

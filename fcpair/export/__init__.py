"""Writing what a study holds for the tools that people have."""

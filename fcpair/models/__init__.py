"""Everything that finds, loads, asks or remembers a model."""

"""Everything that reads or writes a file format."""

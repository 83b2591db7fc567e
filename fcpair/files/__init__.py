"""Everything that reads or writes a file format.

All reading is inside `errors.translate_read_errors`, which turns whatever a parser stumbles over into an error with
file and line.
"""

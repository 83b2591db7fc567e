"""Everything that reads or writes a file format.

Readers work inside `errors.translate_read_errors`, which turns whatever a parser stumbles over into an error about the
file. What is wrong with a file is collected with line numbers and raised together by `errors.reject`.
"""

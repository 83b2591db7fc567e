"""Files of tables, whatever they hold: CSV, JSONL, Parquet and spreadsheets; and TOML, and folders.

`tabular` is the one way in and out, line numbers and formula guard included. It reads text files as people send them by
`delimited`, .xlsx and .ods by `spreadsheet`, and JSON with line numbers by `json_lines`. `fcpair.values` is the one
place where a value becomes text and JSON is parsed. `toml` writes recipes, `folders` writes files and folders whole or
not at all.
"""

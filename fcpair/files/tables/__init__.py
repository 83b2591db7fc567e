"""Files of tables, whatever they hold: CSV, JSONL, Parquet and spreadsheets; and TOML, and folders.

`tabular` is the one way in and out, line numbers and formula guard included; `fcpair.values` is the one place where a
value becomes text and JSON is parsed.
"""

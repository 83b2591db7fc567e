"""Files of tables, whatever they hold: CSV, JSONL, Parquet and spreadsheets; and TOML, and folders.

`tabular.py` is the way in and out, line numbers and formula guard included, with `delimited.py` for text files as
people send them and `spreadsheet.py` for .xlsx and .ods (`opendocument.py` reads the latter, `workbook_size.py` says
what is too large).
"""

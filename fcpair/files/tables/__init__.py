"""Files of tables, whatever they hold: CSV, JSONL, Parquet and spreadsheets; and TOML, and folders."""

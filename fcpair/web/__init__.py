"""The pages and the JSON API: they parse, call Study, and show."""

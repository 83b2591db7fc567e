"""The pages and the JSON API: they parse, call Study or Grid, and show."""

"""One self-contained HTML file about a study, made from the records in `data`, which steps gather.

It does not know the store. `page` writes the file; `sections` prepares its parts. `map_file` makes the map of a grid
that a browser draws on the lead's page.
"""

"""One self-contained HTML file about a study, made from the records in `data`, which steps gather.

`page` writes the file, `methods` the methods section of a paper; `map_file` makes the map of a grid that a browser
draws on the lead's page.
"""

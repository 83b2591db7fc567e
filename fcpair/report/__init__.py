"""One self-contained HTML file about a study, made from the records in `data`, which steps gather.

It does not know the store. `page` writes the file; `evaluation_section` and `survey_section` prepare their parts.
`map_layers`, `map_sides` and `map_file` make the map of a grid that a browser draws on the lead's page.
"""

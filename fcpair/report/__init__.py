"""One self-contained HTML file about a study, made from the records in `data`, which steps gather.

It does not know the store. `page` writes the file; `evaluation_section` and `survey_section` prepare their parts.
"""

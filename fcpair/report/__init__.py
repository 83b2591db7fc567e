"""One self-contained HTML file about a study, and its figures.

It turns what steps have gathered (`data.py`) into pages, and does not know the store.
"""

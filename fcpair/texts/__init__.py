"""What can be done with a table of texts: described, checked, split, classified, correlated.

Commands get such a table by `with_texts` (`cli/texts.py`), and labels by `with_labels` (`cli/aliases.py`).
"""

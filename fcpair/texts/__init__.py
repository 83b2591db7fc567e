"""Tables of texts, without a study: described, checked, split, classified, correlated.

`describe` counts words, and labels by group, and finds keywords; `printed_figures` holds printed figures against a
table. `aliases` says what a cell of labels holds and which spellings of labels are meant. `stratify` selects lines, and
splits a table, `classify` measures predicted labels, `ratings` averages ratings and holds a measure against them.
Intervals come from `fcpair.stages.stats.intervals`.

Commands get such a table by `with_texts` (`fcpair.cli.texts`), and labels by `with_labels`.
"""

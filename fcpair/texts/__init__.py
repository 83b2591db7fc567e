"""Tables of texts, without a study: described, checked, split, classified, correlated.

`describe` counts words, and labels by group, and uses `keywords`; `printed_figures` holds printed figures against a
table. `aliases` says what a cell of labels holds and which spellings of labels are meant, `selection` which lines are
looked at, `differences` what changed between two versions of a text. `stratify` splits a table, `classify` measures
predicted labels (`label_table`), `ratings` ratings, and `correlate` holds a measure against them.
Intervals come from `fcpair.stages.stats.bootstraps`.

Commands get such a table by `with_texts` (`fcpair.cli.texts`), and labels by `with_labels`.
"""

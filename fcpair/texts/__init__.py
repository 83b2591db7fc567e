"""Tables of texts, without a study: described, checked, split, classified, correlated.

`describe` uses `lengths`, `keywords` and `cross_table` (labels by group); `printed_figures` holds printed figures
against a table. `label_cells` says what a cell of labels holds, `aliases` which spellings of labels are meant,
`selection` which lines are looked at, `differences` what changed between two versions of a text. `stratify` splits a
table, `classify` and `ratings` measure predicted labels and ratings, `correlate` holds a measure against ratings.
Intervals come from `fcpair.stages.stats.percentile_bootstrap`.

Commands get such a table by `with_texts` (`fcpair.cli.texts`), and labels by `with_labels` (`fcpair.cli.aliases`).
"""

"""Figures for papers and reports: how they are laid out, drawn and saved, whatever they show.

The same figure gives the same bytes (`save`), in the sizes and kinds of files that papers take. `forest` draws values
with intervals, whatever they are; `plots` says what is drawn of a survey, of bias scores and of groups,
`evaluation_figures` of an evaluation.
"""

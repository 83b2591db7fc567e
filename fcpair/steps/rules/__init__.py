"""Rules that every way into the study follows: call them, and never write one a second time.

`rule_decisions`: decisions by rule follow the labels; whatever writes labels or takes them back calls `apply_policy`.
`permissions`: who may be shown, label, decide, take back and check which pair, and when.
`pair_counts`: how many pairs are where, for every number that a status, a page or a report shows; and the pairs that an
act is about, by number, and how they are said in short; and what whoever reads a figure must know.
`text_checks`: what is checked of a text that somebody writes, whichever way it comes.
`round_progress`: whether what rests on a round may begin.
`wording`: what people who answer read in place of names, what a unit of their work is called, and setting these words.
"""

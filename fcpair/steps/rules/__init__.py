"""Rules that every way into the study follows; call them, and never write one a second time.

`permissions.py` says who may label, decide, take back and check which pair, and when. Decisions by rule follow the
labels: whatever writes labels, or takes them back, calls `rule_decisions.apply_policy`. `round_progress.py` says
whether a round is done and what rests on it may begin, `pair_counts.py` how many pairs stand where, for every status,
page and report, `example_review.py` which examples models may be shown, and when, `text_checks.py` what is checked of
a text that somebody writes, and `study_notes.py` has what every reader of a figure must know.
"""

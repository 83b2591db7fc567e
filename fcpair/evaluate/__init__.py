"""Evaluation of retrieval systems, from texts and arrays: systems, measures, bounds, comparisons.

A system and a measure are values whose name can be read back (`NamedValue` in `fcpair.stages.questions.named_values`).
Systems: `systems`, `rerank`, `embed`, `llm` and `trec_run`, listed in `catalogue`. Arithmetic: `judged_rankings`,
`measures`, `graded`, `bounds` and `random_baseline`; intervals and tests come from `fcpair.stages.stats`. `evaluation`
joins them into an `Outcome`, from which tables, figures and the report are made.
"""

"""Evaluation of retrieval systems: systems, measures, bounds, comparisons, tables and figures.

A system and a measure are values whose name can be read back. `systems.py`, `rerank.py`, `embed.py`, `llm.py` and
`trec_run.py` hold the systems, which `catalogue.py` lists; `judged_rankings.py`, `measures.py`, `graded.py`,
`bounds.py` and `random_baseline.py` the arithmetic; `evaluation.py` joins them into an `Outcome`, from which tables,
figures and the report are made.
"""

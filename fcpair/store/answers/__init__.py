"""Judgements, written texts, model replies, and everything that was done while answering.

Rows of `judgements` are only ever added. `authorship` says who wrote a text, and where it is from; `task_queries` are
the statements that come with every answer.
"""

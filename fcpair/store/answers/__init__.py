"""Judgements, written texts, model replies, and everything that was done while answering.

Rows of `judgements` are only ever added. `text_origins` says where a written text is from, `authorship` who wrote it;
`task_queries` are the statements that come with every answer.
"""

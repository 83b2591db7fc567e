"""Judgements, which are only ever added, written texts, model replies, and what was done while answering."""

"""Judgements, written texts, model replies, and everything that was done while answering."""

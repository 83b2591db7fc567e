"""From several labels to one, and from one to a tier: decisions by rule and verdicts (`adjudicate`), tiers
(`partition`). `aggregate` compares label models, which decide nothing.
"""

"""From several labels to one, and from one to a tier.

Decisions by rule, and verdicts, are in `adjudicate`, tiers in `partition`. `aggregate` compares label models, which
decide nothing: those of `label_models`, some of which need crowd-kit.
"""

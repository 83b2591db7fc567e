"""People: who they are, what they may do, what they have to read, and who takes their work over.

The one place for who gets work that was skipped, withdrawn or given up is `reassignment`, and for who has passed a
pilot; for how many pairs one person may still read, `terms`; for how often a wrong token may be tried, `access`; for
who has qualified, and who gets which known pairs, `known_pairs`.
"""

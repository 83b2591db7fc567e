"""People: who they are, what they may do, what they have to read, and who takes their work over.

Each module is the one place for its rule: `reassignment.py` for who gets work that was skipped, withdrawn or given up,
`reading_limits.py` for how many pairs one person may still read, `login_throttle.py` for how often a wrong token may be
tried, `qualification.py` for who has passed a pilot.
"""

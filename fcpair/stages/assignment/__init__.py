"""Who answers what: shards, rounds, leases, further labels, validation, and what it costs people.

`plan.py` says which rounds can follow each other, `rounds.py` assigns them, `extra_labels.py` adds labels once people
are at work.
"""

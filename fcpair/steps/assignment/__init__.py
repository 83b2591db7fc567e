"""Assignment of work to people: plans of overlap, shards, rounds, leases, further labels, spot checks, validation.

`spot_checks` is the one place for which cells of a batch are looked at, and when; `calibration` for the batch that
everybody answers first, and `counted_answers` for which of its answers become those of the round that it is for.
"""

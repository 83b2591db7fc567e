"""Assignment of work to people: plans of overlap, shards, rounds, leases, further labels, spot checks, validation.

`rounds` is the one place for which cells of a batch are looked at, and when, and for which answers of a calibration
become those of the round that it is for; `calibration` for the batch that everybody answers first.
"""

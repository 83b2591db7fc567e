"""Assignment of work to people: plans of overlap, shards, rounds, calibration, leases, further labels, validation."""

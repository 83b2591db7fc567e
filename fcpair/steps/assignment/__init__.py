"""Who answers what: shards, rounds, leases, further labels, spot checks, validation."""

"""Who answers what: shards, rounds, leases, further labels, validation, and what it costs people."""

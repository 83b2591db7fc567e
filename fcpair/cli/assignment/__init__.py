"""Who answers what: assign, validate."""

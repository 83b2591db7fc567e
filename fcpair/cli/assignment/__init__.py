"""Assignment of work to people: assign, validate."""

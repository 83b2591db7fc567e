"""Results of a study: partition, evaluate, release."""

"""Results of a study: partition, explain, evaluate, export."""

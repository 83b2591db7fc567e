"""What comes of a study: partition, explain, evaluate, export."""

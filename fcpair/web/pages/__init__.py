"""The pages, each for those whom it is open to."""

"""The pages, one module for each kind, each for those whom it is open to."""

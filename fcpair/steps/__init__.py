"""The use cases of a study: each loads, calls the pure stage, and saves in one transaction."""

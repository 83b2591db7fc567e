"""People with their sessions and guidelines, and what they do not want to read (`optouts`)."""

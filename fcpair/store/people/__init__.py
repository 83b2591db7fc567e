"""People, the door (`sessions`), and what they do not want to read (`optouts`)."""

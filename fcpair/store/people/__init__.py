"""People and their sessions, the guidelines, and what people do not want to read (`optouts`)."""

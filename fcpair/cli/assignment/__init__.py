"""Assignment of work to people, and the check of labels."""

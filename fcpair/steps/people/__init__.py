"""People: who they are, what they may do, what they have to read, and who takes their work over."""

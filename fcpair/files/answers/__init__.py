"""Files of answers: sheets to fill in, labels, verdicts and decisions that come back, known items, and writings."""

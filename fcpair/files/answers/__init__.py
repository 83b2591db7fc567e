"""Files of answers: sheets to fill in, and what comes back."""

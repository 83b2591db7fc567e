"""Tables of texts and labels, with or without a study: describe, measure, classify, correlate, ratings, split."""

"""Tables of texts and labels, with or without a study: measure, classify."""

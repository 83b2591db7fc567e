"""Files of corpora, in the formats in which they were published."""

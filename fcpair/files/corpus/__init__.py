"""Files of corpora, in the formats in which they were published: `corpus` reads any of them into one `Corpus`."""

"""Files of what is released: tiers, qrels, BEIR, Hugging Face, training sets, TREC runs."""

"""The corpus: which texts are the same (`text_identity`), drawing (`sample`), `nearest_neighbours`, `retrieve`."""

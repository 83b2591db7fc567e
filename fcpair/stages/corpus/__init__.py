"""The corpus: which texts are the same (`text_identity`), drawing (`sample`, `split`), neighbours
(`nearest_neighbours`, `retrieve`).
"""

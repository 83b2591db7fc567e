"""Texts, sides, cells, and grids, of which a transaction is about one (`grids.current_grid_id`)."""

"""The texts of a study and its grids: init, import, select, retrieve, pair, grids."""

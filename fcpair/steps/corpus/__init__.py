"""The texts of a study and its grids: importing, selecting, retrieving, collecting, pairing."""

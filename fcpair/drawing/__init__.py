"""Figures for papers and reports: how they are laid out, drawn and saved, whatever they show."""

from fcpair.drawing.forest import Forest, Mark, forests
from fcpair.drawing.paper import PAPER, Inks

__all__ = ["PAPER", "Forest", "Inks", "Mark", "forests"]

"""Figures for papers and reports: how they are laid out, drawn and saved, whatever they show."""

from fcpair.report.figures.forest import Forest, Mark, forests
from fcpair.report.figures.layout import PAPER, Inks

__all__ = ["PAPER", "Forest", "Inks", "Mark", "forests"]

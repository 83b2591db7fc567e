"""Figures for papers and reports: how they are laid out, drawn and saved, whatever they show."""

from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.forest import Forest, Mark, render_forests

__all__ = ["PAPER", "Forest", "Inks", "Mark", "render_forests"]

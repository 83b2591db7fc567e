"""Modules that take long to load, each loaded when something of it is first used: help comes without them."""

from typing import TYPE_CHECKING

from fcpair.lazy import Lazy

__all__ = ["answer_files", "plots", "studies", "tabular"]

if TYPE_CHECKING:
    from fcpair import study as studies
    from fcpair.files.answers import answer_files
    from fcpair.files.tables import tabular
    from fcpair.report.figures import plots
else:
    studies, tabular = Lazy("fcpair.study"), Lazy("fcpair.files.tables.tabular")
    answer_files, plots = Lazy("fcpair.files.answers.answer_files"), Lazy("fcpair.report.figures.plots")

"""Results: rows under named columns, from which come their frame, their JSON, and what a notebook shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from fcpair.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 20  # of a table in a notebook; `to_frame` has them all


class Result:
    """A result with rows: `repr` is one line, `to_frame` has the rows, and a notebook shows both.

    A new result is a frozen dataclass (`repr=False`), or a tuple of records, that is derived from this class. It says
    which `columns` it has (`column_names` of a record, where rows are records), yields its `rows`, and says in
    `_summary` what was found in a few words; `as_dict` is its own where JSON has other keys than its fields. One that
    holds a frame has a `to_frame` of its own instead of `columns` and `rows`.
    """

    columns: Sequence[str]
    """The columns, which a frame without any row has, too; those of the rows, where they are not said."""

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """The rows of `to_frame`, each by its columns."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame."""
        return frame_of(self.rows(), getattr(self, "columns", ()))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def _summary(self) -> str:
        """The finding in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.to_frame())


class Plotted(Result):
    """A result with figures."""

    def plot(self, title: str | None = None) -> Figure:
        """A figure of it, as matplotlib has figures: the one of this title, or the first; as wide as a page of a paper.

        A notebook shows it after `%matplotlib inline`. Raises InputError where it has none of that title.
        """
        # Figures know results, and results no figures: so what draws them is found when somebody asks for one.
        return cast("Figure", import_module("fcpair.report.figures.plots").plot(self, title))


def column_names(record: type) -> tuple[str, ...]:
    """The columns of rows that are records of a dataclass: its fields."""
    return tuple(item.name for item in fields(record))


def html_of(line: str, frame: pd.DataFrame) -> str:
    """A line and the rows of a frame as HTML; texts are other people's, so all of them are escaped."""
    from html import escape

    table = frame.to_html(index=False, escape=True, max_rows=MOST_ROWS, na_rep="", border=0)
    return f"<p>{escape(line)}</p>\n{table}"


def frame_of(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Rows as a frame of these columns, which it has without any row, too; without them of those of the rows."""
    return pd.DataFrame([*rows], columns=[*columns] or None)

"""Results as a console and a notebook show them: one line, and their rows as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20  # of a table in a notebook; `to_frame` has them all


class Result:
    """A result with rows: `repr` is one line, `to_frame` has the rows, and a notebook shows both."""

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame."""
        raise NotImplementedError

    def _summary(self) -> str:
        """What was found, in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.to_frame())


def html_of(line: str, frame: pd.DataFrame) -> str:
    """A line and the rows of a frame as HTML; texts are other people's, so all of them are escaped."""
    from html import escape

    table = frame.to_html(index=False, escape=True, max_rows=MOST_ROWS, na_rep="", border=0)
    return f"<p>{escape(line)}</p>\n{table}"


def frame_of(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Rows as a frame of these columns, which it has without any row, too."""
    import pandas as pd

    return pd.DataFrame([*rows], columns=[*columns])


def counted(counts: Mapping[str, Any]) -> str:
    """What was counted, in a line: `hs 4, source_cns 12`; without lists and tables."""
    return ", ".join(f"{name} {n:,}" for name, n in counts.items() if isinstance(n, int | float))

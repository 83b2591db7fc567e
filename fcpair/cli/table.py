"""Tables on a terminal: numbers stay whole at any width, and words at 80 columns and more.

What has no room for that as a table is set as a list of each row's cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fcpair.cli.terminal import USUAL_WIDTH, as_displayed, width_of

Cell = str | int | float | bool | None
MARGIN, BETWEEN = 2, 3
WORD = 16  # so long a word is not broken while there is room elsewhere, on a narrow terminal
SHORT = 8  # so narrow a column of text may become before rows are set as lists
_NUMBER = re.compile(r"[-+]?\d[\d.,:–*%-]*")
_WORD = re.compile(r"\S+")
_PIECE = re.compile(r"[^\s/,(:=@-]*[/,(:=@-]+(?!\s|$)|\S+")  # of a name such as `run:printers.trec(ids=corpus)`


@dataclass
class _Column:
    """A column: its cells as they are shown, and how wide it may be at least, at best, and in the end."""

    name: str
    cells: list[str]
    numeric: bool

    def __post_init__(self) -> None:
        self.width = max(map(width_of, [self.name, *self.cells]))
        self.whole = max((len(found) for cell in self.cells for found in _NUMBER.findall(cell)), default=0)
        if self.numeric:
            self.whole = max(map(width_of, self.cells), default=0)

    def min_width(self, word: int, longest: int, unit: re.Pattern[str]) -> int:
        """The width below which a number would be broken, or a unit (a word or a piece) of at most `word` signs.

        One that is longer than `longest` is broken wherever it stands, and so is one of a script without spaces.
        """
        words = {part for text in [self.name, *self.cells] for part in unit.findall(text)}
        if self.numeric:
            return max(self.whole, min(width_of(self.name), SHORT) if word < longest else _widest_word(words, longest))
        return min(self.width, max(self.whole, min(word, _widest_word(words, longest))))


def _widest_word(words: Iterable[str], longest: int) -> int:
    widths = ((width_of(word), len(word)) for word in words)
    return max((width if width <= longest and width <= n else min(width, WORD) for width, n in widths), default=0)


def format_table(names: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[str]:
    """The lines of a table that is at most `width` wide; of a list of each row's cells, where that cannot be."""
    columns = [_make_column(as_displayed(name), [row[at] for row in rows]) for at, name in enumerate(names)]
    room = width - 2 * MARGIN - BETWEEN * (len(columns) - 1)
    longest = width - 2 * MARGIN - BETWEEN - _names_width(columns, width)
    narrow_steps = ((WORD, _WORD), (SHORT, _WORD))
    for word, unit in ((longest, _WORD), (longest, _PIECE)) if width >= USUAL_WIDTH else narrow_steps:
        least = [column.min_width(word, longest, unit) for column in columns]
        if sum(least) <= room:
            _shrink_columns(columns, least, room)
            return _lay_out(columns)
    return _list_lines(columns, width)


def _make_column(name: str, cells: Sequence[Cell]) -> _Column:
    numeric = all(isinstance(cell, int | float) or cell is None for cell in cells)
    return _Column(name, [as_displayed(format_cell(cell)) for cell in cells], numeric)


def format_cell(cell: Cell) -> str:
    """A cell as people read it: thousands separated, four decimals (and no -0.0000), a dash for nothing."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:z.4f}" if isinstance(cell, float) else cell


def _shrink_columns(columns: Sequence[_Column], least: Sequence[int], room: int) -> None:
    """Take from the widest column again and again until all fit."""
    while sum(column.width for column in columns) > room:
        wide = [(column.width, at) for at, column in enumerate(columns) if column.width > least[at]]
        columns[max(wide)[1]].width -= 1


def _lay_out(columns: Sequence[_Column]) -> list[str]:
    header = _join_cells(columns, [column.name for column in columns])
    rule = " " + "─" * (MARGIN + BETWEEN * (len(columns) - 1) + sum(column.width for column in columns))
    rows = zip(*(column.cells for column in columns), strict=True)
    return [*header, as_displayed(rule), *(line for cells in rows for line in _join_cells(columns, cells))]


def _join_cells(columns: Sequence[_Column], cells: Sequence[str]) -> list[str]:
    """One row: as many lines as its highest cell has."""
    parts = [wrap_text(cell, column.width) for column, cell in zip(columns, cells, strict=True)]
    lines = []
    for at in range(max(map(len, parts))):
        cut = [part[at] if at < len(part) else "" for part in parts]
        aligned = (_align(text, column) for text, column in zip(cut, columns, strict=True))
        lines.append((" " * MARGIN + (" " * BETWEEN).join(aligned)).rstrip())
    return lines


def _align(text: str, column: _Column) -> str:
    space = " " * (column.width - width_of(text))
    return space + text if column.numeric else text + space


def wrap_text(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, broken between words, and within those that are longer than a line."""
    if width_of(text) <= width and text == " ".join(text.split()):
        return [text]
    lines: list[str] = []
    for whole in text.splitlines() or [""]:
        margin = whole[: len(whole) - len(whole.lstrip())][: width - 1]
        line = margin
        for word in whole.split():
            if line.strip() and width_of(line) + 1 + width_of(word) > width:
                lines.append(line)
                line = ""
            line = f"{line} {word}" if line.strip() else line + word
            while width_of(line) > width:
                head = _fitting_head(line, width)
                lines.append(head)
                line = line[len(head) :]
        lines.append(line)
    return lines


def shorten(text: str, width: int) -> str:
    """A text cut to a width, after a word where it has several."""
    if len(text) <= width:
        return text
    beginning, space, _ = text[:width].rpartition(" ")
    return f"{beginning} …" if space else f"{text[: width - 1]}…"


def _fitting_head(text: str, width: int) -> str:
    """As much of a text as fits, up to the end of a piece if there is one; at least one sign of it."""
    end = 1
    while end < len(text) and width_of(text[: end + 1]) <= width:
        end += 1
    pieces = [piece.end() for piece in _PIECE.finditer(text) if piece.end() <= end]
    return text[: pieces[-1] if pieces else end]


def _names_width(columns: Sequence[_Column], width: int) -> int:
    """How wide the names are in a list."""
    return min(max(width_of(column.name) for column in columns), max(width // 3, SHORT))


def _list_lines(columns: Sequence[_Column], width: int) -> list[str]:
    """Each row as lines `name  cell`, and an empty line after it."""
    names = _names_width(columns, width)
    lines: list[str] = []
    for at in range(len(columns[0].cells)):
        for column in columns:
            pair = _Column(column.name, [], numeric=False), _Column("", [column.cells[at]], numeric=False)
            pair[0].width = names
            pair[1].width = max(width - names - MARGIN - BETWEEN, column.whole, 1)
            lines += _join_cells(pair, [column.name, column.cells[at]])
        lines.append("")
    return lines[:-1]

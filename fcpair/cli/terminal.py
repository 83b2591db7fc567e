"""Limits of a terminal, and tables within them: encodings, widths, Ctrl-C, closed pipes."""

from __future__ import annotations

import codecs
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import TextIOWrapper
from itertools import zip_longest
from typing import Any, TextIO

import click

from fcpair.errors import TableNote

# C0, DEL and C1 steer a terminal: they set its title, its clipboard, its colours. Tabs and ends of lines may stay.
_CONTROLS = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"]
# Unicode's Bidi_Control (https://www.unicode.org/reports/tr9/): with them, a line can read as another than it is.
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = {**dict.fromkeys(_CONTROLS), **{code: f"<U+{code:04X}>" for code in _BIDI}}


def sanitize(text: str) -> str:
    """The text without control characters, and with names of bidirectional ones, such as `<U+202E>`."""
    return text if text.isascii() and text.isprintable() else text.translate(_SHOWN)


STOPPED, PIPE_CLOSED = 130, 141  # as shells have it: 128 and the number of the signal
USUAL_WIDTH = 80
PLAIN, ASCII = "fcpair.plain", "fcpair_ascii"
_before: list[Callable[[], object]] = []
_REPLACEMENTS = str.maketrans(
    {
        **dict.fromkeys("─━–—−‐‑", "-"),
        **dict.fromkeys("·│┃", "|"),
        **dict.fromkeys("“”„«»", '"'),
        **dict.fromkeys("‘’‚", "'"),
        **dict.fromkeys("\u00a0\u202f\u2009", " "),
        "…": "...",
        "→": "->",
        "←": "<-",
        "×": "x",
        "≥": ">=",
        "≤": "<=",
        "•": "*",
    }
)


def _replace_signs(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end].translate(_REPLACEMENTS)
    return lost.encode("ascii", "backslashreplace").decode(), error.end


def _find_codec(name: str) -> codecs.CodecInfo | None:
    """ASCII by another name: click takes a stream in ASCII for a mistake, and writes UTF-8 to it."""
    if name.replace("-", "_") != ASCII:
        return None
    ascii_ = codecs.lookup("ascii")
    return codecs.CodecInfo(*ascii_, ascii_.incrementalencoder, ascii_.incrementaldecoder, ASCII)


codecs.register(_find_codec)
codecs.register_error(PLAIN, _replace_signs)


def adapt_streams() -> None:
    """Let standard output and standard error write in plain signs what their encoding lacks, and never fail on it.

    What is written to one that was closed before the start, as by `>&-`, goes nowhere.
    """
    sys.stdout, sys.stderr = sys.stdout or _open_devnull(), sys.stderr or _open_devnull()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=ASCII if is_ascii else None, errors=PLAIN)


def _open_devnull() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def as_displayed(text: str) -> str:
    """The text as standard output will show it, so that what stands below each other is measured as it is shown."""
    encoding = sys.stdout.encoding or "utf-8"
    return sanitize(text).encode(encoding, PLAIN).decode(encoding)


def can_encode(text: str) -> bool:
    """Return whether the encoding of standard output has every sign of the text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def screen_width() -> int:
    """Width that printed text may have: as COLUMNS says, else as the terminal is, else 80."""
    if columns := _wanted_columns():
        return columns
    return (sys.stdout.isatty() and os.get_terminal_size(sys.stdout.fileno()).columns) or USUAL_WIDTH


def _wanted_columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else 0


def before_printing(act: Callable[[], object]) -> None:
    """Have something done before anything else is printed, such as to let go of a study that a pager would hold."""
    _before.append(act)


def end_looks() -> None:
    """Do what was to be done before anything is printed."""
    while _before:
        _before.pop()()


def _echo(text: str, **how: Any) -> None:
    end_looks()
    click.echo(text, **how)


def print_wrapped(text: str = "", *, err: bool = False) -> None:
    """Print text, broken between words on a terminal; whole in messages to a file, and where no width is known."""
    has_width = sys.stderr.isatty() if err else bool(_wanted_columns()) or sys.stdout.isatty()
    _echo("\n".join(_wrap_to_screen(text)) if has_width else sanitize(text), err=err)


def print_raw(*lines: str) -> None:
    """Print lines as they are, however wide."""
    _echo(sanitize("\n".join(lines)))


def print_machine(text: str, *, end: str = "\n") -> None:
    """Print a part of a result for programs: as it is, unless it goes to a terminal."""
    _echo((sanitize(text) if sys.stdout.isatty() else text) + end, nl=False)


def print_headline(text: str) -> None:
    """Print what stands above a table, in bold."""
    _echo("\n".join(click.style(line, bold=True) for line in _wrap_to_screen(text)))


def print_footnote(text: str) -> None:
    """Print what stands below a table."""
    _echo("\n".join(_wrap_to_screen(f"  {text}")))


def _wrap_to_screen(text: str) -> list[str]:
    width = screen_width()
    return [part for line in as_displayed(text).split("\n") for part in break_line(line, width)]


def break_line(line: str, width: int) -> list[str]:
    """The line in parts that are at most `width` wide, each as far in as the line; broken between words alone."""
    if width_of(line) <= width:
        return [line]
    words = line.split()
    margin = line[: len(line) - len(line.lstrip())]
    parts, part = [], margin + words[0] if words else ""
    for word in words[1:]:
        if width_of(part) + 1 + width_of(word) > width:
            parts.append(part)
            part = margin + word
        else:
            part += f" {word}"
    return [*parts, part]


def width_of(text: str) -> int:
    """Columns that a text takes on a terminal: wide characters take two, and those that only go with another none."""
    return len(text) if text.isascii() else sum(_width_of_sign(sign) for sign in text)


@cache
def _width_of_sign(sign: str) -> int:
    if unicodedata.category(sign) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


@contextmanager
def tolerate_closed_pipes() -> Iterator[None]:
    """End with 141 when whoever reads the output has gone, as after `| head`; nothing more is printed then."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())  # what is still to be flushed goes there
        sys.exit(PIPE_CLOSED)


@contextmanager
def table_notes_on_stderr() -> Iterator[None]:
    """Say on standard error what whoever reads a table should know, each note once."""
    usual, shown = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, TableNote):
            usual(message, category, *place, **more)
        elif str(message) not in shown:
            shown.add(str(message))
            print_wrapped(f"Note: {message}.", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", TableNote)
        warnings.showwarning = show
        yield


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
        self.whole = max((len(number) for cell in self.cells for number in _NUMBER.findall(cell)), default=0)
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
    columns = []
    for at, name in enumerate(names):
        cells = [row[at] for row in rows]
        numeric = all(isinstance(cell, int | float) or cell is None for cell in cells)
        columns.append(_Column(as_displayed(name), [as_displayed(format_cell(cell)) for cell in cells], numeric))
    room = width - 2 * MARGIN - BETWEEN * (len(columns) - 1)
    longest = width - 2 * MARGIN - BETWEEN - _names_width(columns, width)
    narrow_steps = ((WORD, _WORD), (SHORT, _WORD))
    for word, unit in ((longest, _WORD), (longest, _PIECE)) if width >= USUAL_WIDTH else narrow_steps:
        least = [column.min_width(word, longest, unit) for column in columns]
        if sum(least) <= room:
            while sum(column.width for column in columns) > room:  # the widest column gives way, again and again
                wide = [(column.width, at) for at, column in enumerate(columns) if column.width > least[at]]
                columns[max(wide)[1]].width -= 1
            header = _join_cells(columns, [column.name for column in columns])
            rule = " " + "─" * (MARGIN + BETWEEN * (len(columns) - 1) + sum(column.width for column in columns))
            lines = zip(*(column.cells for column in columns), strict=True)
            return [*header, as_displayed(rule), *(line for cells in lines for line in _join_cells(columns, cells))]
    # Each row as lines `name  cell`, and an empty line after it.
    head = _Column("", [], numeric=False)
    head.width = _names_width(columns, width)
    listed: list[str] = []
    for row_at in range(len(columns[0].cells)):
        for column in columns:
            body = _Column("", [column.cells[row_at]], numeric=False)
            body.width = max(width - head.width - MARGIN - BETWEEN, column.whole, 1)
            listed += _join_cells((head, body), [column.name, column.cells[row_at]])
        listed.append("")
    return listed[:-1]


def format_cell(cell: Cell) -> str:
    """A cell as people read it: thousands separated, four decimals (and no -0.0000), a dash for nothing."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:z.4f}" if isinstance(cell, float) else cell


def _join_cells(columns: Sequence[_Column], cells: Sequence[str]) -> list[str]:
    """One row: as many lines as its highest cell has."""
    lines = []
    wrapped = (wrap_text(cell, column.width) for column, cell in zip(columns, cells, strict=True))
    for parts in zip_longest(*wrapped, fillvalue=""):
        spaced = (
            (column, text, " " * (column.width - width_of(text))) for column, text in zip(columns, parts, strict=True)
        )
        aligned = (space + text if column.numeric else text + space for column, text, space in spaced)
        lines.append((" " * MARGIN + (" " * BETWEEN).join(aligned)).rstrip())
    return lines


def wrap_text(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, broken between words, and within those that are longer than a line."""
    if width_of(text) <= width and text == " ".join(text.split()):
        return [text]
    lines: list[str] = []
    for whole in text.splitlines() or [""]:
        line = whole[: len(whole) - len(whole.lstrip())][: width - 1]
        for word in whole.split():
            if line.strip() and width_of(line) + 1 + width_of(word) > width:
                lines.append(line)
                line = ""
            line = f"{line} {word}" if line.strip() else line + word
            while width_of(line) > width:
                # As much as fits, up to the end of a piece if there is one; at least one sign of it.
                end = 1
                while end < len(line) and width_of(line[: end + 1]) <= width:
                    end += 1
                pieces = [piece.end() for piece in _PIECE.finditer(line) if piece.end() <= end]
                end = pieces[-1] if pieces else end
                lines.append(line[:end])
                line = line[end:]
        lines.append(line)
    return lines


def shorten(text: str, width: int) -> str:
    """A text cut to a width, after a word where it has several."""
    if len(text) <= width:
        return text
    beginning, space, _ = text[:width].rpartition(" ")
    return f"{beginning} …" if space else f"{text[: width - 1]}…"


def _names_width(columns: Sequence[_Column], width: int) -> int:
    """Width of the names in a list."""
    return min(max(width_of(column.name) for column in columns), max(width // 3, SHORT))

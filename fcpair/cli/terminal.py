"""Limits of a terminal, and commands that are stopped: encodings, widths, Ctrl-C, closed pipes."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from io import TextIOWrapper
from typing import Any, TextIO

import click

from fcpair.errors import TableNote

# C0, DEL and C1 steer a terminal: they set its title, its clipboard, its colours. Tabs and ends of lines may stay.
_CONTROLS = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"]
# Unicode's Bidi_Control (https://www.unicode.org/reports/tr9/): with them, a line can read as another than it is.
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = {**dict.fromkeys(_CONTROLS), **{code: f"<U+{code:04X}>" for code in _BIDI}}


def sanitize(text: str) -> str:
    """The text without control characters (C0 but for tab and line feed, DEL, C1), and with each bidirectional control
    as a name in its place, such as `<U+202E>`.
    """
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
    return codecs.CodecInfo(
        ascii_.encode,
        ascii_.decode,
        streamreader=ascii_.streamreader,
        streamwriter=ascii_.streamwriter,
        incrementalencoder=ascii_.incrementalencoder,
        incrementaldecoder=ascii_.incrementaldecoder,
        name=ASCII,
    )


codecs.register(_find_codec)
codecs.register_error(PLAIN, _replace_signs)


def adapt_streams() -> None:
    """Let standard output and standard error write in plain signs what their encoding lacks, and never fail on it.

    What is written to one that was closed before the start, as by `>&-`, goes nowhere.
    """
    sys.stdout = sys.stdout or _open_devnull()
    sys.stderr = sys.stderr or _open_devnull()
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
    """Whether the encoding of standard output has every sign of the text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def screen_width() -> int:
    """Width that printed text may have: as COLUMNS says, else as the terminal is, else 80."""
    return shutil.get_terminal_size((USUAL_WIDTH, 24)).columns if _has_width() else USUAL_WIDTH


def _has_width() -> bool:
    return sys.stdout.isatty() or (os.environ.get("COLUMNS", "").isdecimal() and int(os.environ["COLUMNS"]) > 0)


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
    """Print text, its lines broken between words where the terminal would break them within one.

    They stay whole where nobody has said how wide a line is, and in messages that go to a file.
    """
    has_width = sys.stderr.isatty() if err else _has_width()
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
    if text.isascii():
        return len(text)
    return sum(_width_of_sign(sign) for sign in text)


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

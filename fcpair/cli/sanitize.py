"""Texts of other people on a terminal: what would steer it is dropped, what would reorder a line is shown."""

from __future__ import annotations

# C0, DEL and C1 steer a terminal: they set its title, its clipboard, its colours. Tabs and ends of lines may stay.
_CONTROLS = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"]
# Unicode's Bidi_Control (https://www.unicode.org/reports/tr9/): with them, a line can read as another than it is.
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_REPLACEMENTS = {**dict.fromkeys(_CONTROLS), **{code: f"<U+{code:04X}>" for code in _BIDI}}


def sanitize(text: str) -> str:
    """The text without control characters (C0 but for tab and line feed, DEL, C1), and with each bidirectional control
    as a name in its place, such as `<U+202E>`.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_REPLACEMENTS)

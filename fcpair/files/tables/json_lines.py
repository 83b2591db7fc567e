"""Objects in JSON files, member by member with their lines; a key that an object has twice is a finding."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fcpair.errors import Finding, InputError
from fcpair.files.tables.delimited import decode

_BLANK = " \t\n\r"


class Member(NamedTuple):
    """A member of an object: its key, its value, and where in the file the value begins."""

    key: str
    value: Any
    at: int


@dataclass
class JsonObjects:
    """The text of a JSON file whose objects are read member by member; what is wrong is put into `findings`.

    Python's own reader takes the last of two members with the same key, and says nothing.

    Raises:
        InputError: no file of text, or no JSON.
    """

    path: Path
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text = decode(self.path)
        self._starts = [0, *(at + 1 for at, sign in enumerate(self.text) if sign == "\n")]
        self._decoder = json.JSONDecoder()

    def first_value(self) -> Member:
        """The first value of the file."""
        at = self._skip_space(0)
        return Member("", self._decode_value(at)[0], at)

    def only_value_at(self) -> int:
        """Where the one value of the file begins; raises InputError where another follows."""
        at = self._skip_space(0)
        end = self._skip_space(self._decode_value(at)[1])
        if end < len(self.text):
            raise self._error(end, "more than one value; expected a single object")
        return at

    def line_starts(self) -> Iterator[int]:
        """Where the value of each line begins; empty lines have none. A line with more than a value is refused."""
        for start, end in pairwise([*self._starts, len(self.text) + 1]):
            at = self._skip_space(start)
            if at < end - 1:
                after = self._skip_space(self._decode_value(at)[1])
                if after < end - 1:
                    raise self._error(after, "more than one value in a line; expected a single object")
                yield at

    def line_of(self, at: int) -> int:
        """The line of a place, from 1."""
        return bisect_right(self._starts, at)

    def add_finding(self, at: int, message: str) -> None:
        """Note what is wrong at a place."""
        self.findings.append(Finding(str(self.path), self.line_of(at), message))

    def members(self, at: int) -> Iterator[Member]:
        """The members of the object that begins at a place; one whose key was there before is a finding, and left out.

        A value that is no object is a finding and has no members.
        """
        if self.text[at] != "{":
            self.add_finding(at, f"expected an object, found {self.text[at : at + 20].split(chr(10))[0]}")
            return
        keys_seen: set[str] = set()
        at = self._skip_space(at + 1)
        while self.text[at] != "}":
            key, after = self._decode_value(at)
            value_at = self._skip_space(self._skip_space(after) + 1)
            value, end = self._decode_value(value_at)
            if key in keys_seen:
                self.add_finding(at, f"duplicate key `{key}` in an object")
            else:
                yield Member(key, value, value_at)
            keys_seen.add(key)
            at = self._skip_space(end)
            at = self._skip_space(at + 1) if self.text[at] == "," else at

    def fields(self, at: int) -> dict[str, Any]:
        """The members of the object that begins at a place, without their places."""
        return {member.key: member.value for member in self.members(at)}

    def _skip_space(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in _BLANK:
            at += 1
        return at

    def _decode_value(self, at: int) -> tuple[Any, int]:
        try:
            return self._decoder.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self._error(error.pos, f"not JSON: {error.msg} at column {error.colno}") from None
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
            raise self._error(at, f"cannot be read: {error}") from None

    def _error(self, at: int, message: str) -> InputError:
        return InputError(f"{self.path}: cannot be read", [Finding(str(self.path), self.line_of(at), message)])

"""Column types, as each database has them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, Float, Integer, LargeBinary, String, Text
from sqlalchemy.ext.compiler import compiles

POSTGRES = "postgresql"
# SQLite compares words by their bytes, which is the order of their characters' numbers; so must every other database.
_BYTE_ORDER = "C"

Number = Integer().with_variant(BigInteger(), POSTGRES)
"""A whole number up to 2^63 - 1, which ids of cells can be."""

Real = Float().with_variant(Double(), POSTGRES)
"""A number of 64 bits."""

Words = Text().with_variant(Text(collation=_BYTE_ORDER), POSTGRES)
"""A text of any length."""


def words(length: int) -> String:
    """A text of at most so many characters."""
    return String(length).with_variant(String(length, collation=_BYTE_ORDER), POSTGRES)


class _NoBytes(ColumnElement[bytes]):
    """No bytes at all: as a digest it fits nothing, so that what is added behind fcpair's back is found by it."""

    type = LargeBinary()
    inherit_cache = True


@compiles(_NoBytes)
def _no_bytes(_element: Any, _compiler: Any, **_: Any) -> str:
    return "X''"


@compiles(_NoBytes, POSTGRES)
def _no_bytes_in_postgres(_element: Any, _compiler: Any, **_: Any) -> str:
    return "'\\x'::bytea"


NO_BYTES = _NoBytes()

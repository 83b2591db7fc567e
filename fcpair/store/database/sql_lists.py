"""Lists of numbers in statements: one parameter, however many they are, and the same statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from fcpair.store.database.column_types import POSTGRES


class _Each(GenericFunction[Any]):
    """The numbers of a list that is written as JSON, a row each."""

    name = "json_each"
    inherit_cache = True


@compiles(_Each, POSTGRES)
def _each_in_postgres(element: Any, compiler: Any, **kw: Any) -> str:
    array = f"CAST(translate({compiler.process(element.clauses, **kw)}, '[]', '{{}}') AS bigint[])"
    return f"(SELECT unnest({array}) AS value)"


def listed(values: list[int]) -> Select[tuple[Any]]:
    """A list of numbers as a subquery, whatever its length: one parameter instead of one for each."""
    return _each(json.dumps(values))


def listed_as(name: str) -> Select[tuple[Any]]:
    """The same for a statement that is made once: the list is the parameter of this name, written by `as_list`."""
    return _each(bindparam(name))


def as_list(values: Sequence[int]) -> str:
    """A list of numbers as the parameter of `listed_as`."""
    return json.dumps(list(values))


def _each(values: Any) -> Select[tuple[Any]]:
    each = _Each(values).table_valued("value")
    return select(each.c.value)

"""Lists of numbers in statements: one parameter, however many they are, and the same statement."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from fcpair.store.database.tables import POSTGRES


class _JsonEach(GenericFunction[Any]):
    """The numbers of a list that is written as JSON, a row each."""

    name = "json_each"
    inherit_cache = True


@compiles(_JsonEach, POSTGRES)
def _json_each_in_postgres(element: Any, compiler: Any, **kw: Any) -> str:
    array = f"CAST(translate({compiler.process(element.clauses, **kw)}, '[]', '{{}}') AS bigint[])"
    return f"(SELECT unnest({array}) AS value)"


def as_subquery(values: Iterable[int]) -> Select[tuple[Any]]:
    """A list of numbers as a subquery, whatever its length: one parameter instead of one for each."""
    return select(_JsonEach(as_param(values)).table_valued("value").c.value)


def param_subquery(name: str) -> Select[tuple[Any]]:
    """The same for a statement that is made once: the list is the parameter of this name, written by `as_param`."""
    return select(_JsonEach(bindparam(name)).table_valued("value").c.value)


def as_param(values: Iterable[int]) -> str:
    """A list of numbers as the parameter of `param_subquery`."""
    return json.dumps(list(values))

"""What signatures name of other projects, with the pages that describe it: the site is built without a network.

A name that Sphinx does not find is a warning, and so an error: add it here, with its page.
"""

from __future__ import annotations

import zlib
from pathlib import Path

STDTYPES, FUNCTIONS = "library/stdtypes.html", "library/functions.html"
# Of each project its address, and of each page the names that it describes, by their kind; `#name` is their anchor.
PROJECTS: dict[str, tuple[str, dict[str, dict[str, tuple[str, ...]]]]] = {
    "python": (
        "https://docs.python.org/3/",
        {
            FUNCTIONS: {"class": ("bool", "float", "int", "object", "type")},
            STDTYPES: {"class": ("bytes", "dict", "frozenset", "list", "range", "set", "str", "tuple")},
            "library/constants.html": {"data": ("None", "True", "False", "Ellipsis")},
            "library/typing.html": {
                "data": ("typing.Any", "typing.Literal", "typing.Annotated", "typing.ClassVar", "typing.Optional"),
                "class": ("typing.Protocol",),
            },
            "library/collections.abc.html": {
                "class": tuple(
                    f"collections.abc.{name}"
                    for name in (
                        "Callable",
                        "Collection",
                        "Hashable",
                        "Iterable",
                        "Iterator",
                        "Mapping",
                        "Sequence",
                        "Set",
                    )
                )
            },
            "library/contextlib.html": {"class": ("contextlib.AbstractContextManager",)},
            "library/datetime.html": {"class": ("datetime.date", "datetime.datetime", "datetime.timedelta")},
            "library/enum.html": {"class": ("enum.Enum", "enum.IntEnum", "enum.StrEnum")},
            "library/exceptions.html": {
                "exception": (
                    *("Exception", "LookupError", "OSError", "PermissionError", "RuntimeError", "ValueError"),
                    *("AttributeError", "DeprecationWarning", "KeyError", "TypeError"),
                )
            },
            "library/os.html": {"class": ("os.PathLike",)},
            "library/pathlib.html": {"class": ("pathlib.Path",)},
        },
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        {
            "reference/generated/numpy.dtype.html": {"class": ("numpy.dtype",)},
            "reference/generated/numpy.ndarray.html": {"class": ("numpy.ndarray",)},
            "reference/typing.html": {"data": ("numpy.typing.NDArray", "numpy.typing.ArrayLike")},
            "reference/random/generator.html": {"class": ("numpy.random.Generator",)},
            "reference/arrays.scalars.html": {
                "class": tuple(f"numpy.{name}" for name in ("bool", "float32", "float64", "int8", "int64"))
            },
        },
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        {
            f"reference/api/pandas.{name}.html": {"class": (f"pandas.{name}",)}
            for name in ("DataFrame", "Series", "Index")
        },
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        {"api/figure_api.html": {"class": ("matplotlib.figure.Figure",)}},
    ),
    "sqlalchemy": (
        "https://docs.sqlalchemy.org/en/21/",
        {
            "core/engines.html": {"class": ("sqlalchemy.engine.URL", "sqlalchemy.URL")},
            "core/connections.html": {"class": ("sqlalchemy.engine.Connection", "sqlalchemy.engine.Engine")},
        },
    ),
}
# The anchors of SQLAlchemy's pages have the module in which a class is.
ANCHORS = {"sqlalchemy.URL": "sqlalchemy.engine.URL"}


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write an inventory of each project into a folder; returns what `intersphinx_mapping` is to be."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, pages) in PROJECTS.items():
        path = folder / f"{project}.inv"
        lines = [
            f"{name} py:{kind} 1 {page}#{ANCHORS.get(name, name)} -\n"
            for page, names_by_kind in pages.items()
            for kind, names in names_by_kind.items()
            for name in names
        ]
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        head += "# The remainder of this file is compressed using zlib.\n"
        path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
        mapping[project] = (address, str(path))
    return mapping

"""Collecting a side of a grid from its sources: each is read, filtered and drawn from, and no text is taken twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fcpair.errors import Finding, InputError, reject
from fcpair.files.corpus.crowdcounter import read_crowdcounter
from fcpair.files.tables.tabular import LINE, place_of, read_lines, read_table
from fcpair.plans import ORIGINAL, ORIGINAL_LANGUAGE, Source
from fcpair.stages.corpus.collect import by_majority, draw, with_many_slurs
from fcpair.steps.base.text_digests import Digest
from fcpair.texts.aliases import read_aliases

if TYPE_CHECKING:
    import pandas as pd

SOURCE, GROUP, LANGUAGE = "source", "group", "language"
NAMED = 5  # texts in several groups or sources that are named

Row = tuple[str, str, str, dict[str, str]]
"""A text as the store takes it: digest, body, language, metadata."""


@dataclass
class Collected:
    """What came of the sources: the texts, what was counted of each source, and notes for whoever collects."""

    rows: list[Row] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def collect(sources: Sequence[Source], digest: Digest) -> Collected:
    """Read all sources, one after the other; the first that has a text keeps it.

    Of each source is counted: `rows` read, those left out `by_label`, `with_slurs` and as `repeated`, and `drawn`.

    Raises:
        InputError: all findings about a file at once, a quota that cannot be reached.
    """
    found = Collected()
    first: dict[str, Row] = {}
    apart: dict[str, set[tuple[str, str]]] = {}
    for source in sources:
        table = _read(source)
        rows, counts = _rows(source, table, digest)
        places = [(row[3].get(SOURCE, ""), row[3].get(GROUP, "")) for row in rows]
        for row, place in zip(rows, places, strict=True):
            first.setdefault(row[0], row)
            apart.setdefault(row[0], set()).add(place)
        found.counts[source.called] = counts
    found.rows = list(first.values())
    found.notes = _notes(first, apart)
    return found


def _notes(first: dict[str, Row], apart: dict[str, set[tuple[str, str]]]) -> list[str]:
    several = {mark: places for mark, places in apart.items() if len(places) > 1}
    if not several:
        return []
    shown = [
        f"`{first[mark][1][:40]}` ({', '.join(sorted(' '.join(filter(None, place)) for place in places))})"
        for mark, places in list(several.items())[:NAMED]
    ]
    more = f", and {len(several) - NAMED:,} more" if len(several) > NAMED else ""
    which = "1 text is" if len(several) == 1 else f"{len(several):,} texts are"
    return [f"{which} in several groups or sources, and kept once: {'; '.join(shown)}{more}"]


def _read(source: Source) -> pd.DataFrame:
    """The rows of a source, each text once as often as it is there; raises InputError for what is not as it says."""
    named = [source.text, *filter(None, (source.group, source.labels, source.original))]
    if source.reader == "table":
        table = read_table(source.file, named, known=[LANGUAGE], verbatim=True)
    else:
        table = _READERS[source.reader](source)
        if missing := [name for name in named if name not in table.columns]:
            raise InputError(f"{source.file}: no column `{missing[0]}`; there are {', '.join(table.columns)}")
    empty = table[LINE][table[source.text].str.strip() == ""].tolist()
    reject(source.file, [Finding(place_of(table), int(line), "the text is empty") for line in empty])
    return table


def _crowdcounter(source: Source) -> pd.DataFrame:
    import pandas as pd

    read = read_crowdcounter(source.file)
    table = pd.concat([read.answers, read.unanswered]).sort_values(LINE, kind="stable", ignore_index=True)
    table.attrs.update(read.answers.attrs)
    return table


def _templates(source: Source) -> pd.DataFrame:
    from fcpair.files.surveys.templates import templates_table

    return templates_table(source.file)


def _items(source: Source) -> pd.DataFrame:
    from fcpair.files.surveys.templates import items_table

    return items_table(source.file, source.seed)


_READERS: dict[str, Callable[[Source], pd.DataFrame]] = {
    "crowdcounter": _crowdcounter,
    "templates": _templates,
    "items": _items,
}


def _rows(source: Source, table: pd.DataFrame, digest: Digest) -> tuple[list[Row], dict[str, int]]:
    counts = {"rows": len(table)}
    keep = np.ones(len(table), np.bool_)
    if source.labels:
        out = by_majority(table[source.labels].tolist(), source.without)
        counts["by_label"], keep = int((keep & out).sum()), keep & ~out
    if source.slurs:
        out = with_many_slurs(table[source.text].tolist(), read_lines(source.slurs), source.least_other_words)
        counts["with_slurs"], keep = int((keep & out).sum()), keep & ~out
    table = table[keep].assign(mark=[digest(text) for text in table[source.text][keep]])
    groups = _groups(source, table)
    table = table.assign(**{GROUP: groups})
    repeated = table.duplicated(["mark", GROUP])
    counts["repeated"], table = int(repeated.sum()), table[~repeated]
    try:
        drawn = draw(table[GROUP].tolist(), dict(source.quota), source.per_group, source.sample, source.seed)
    except InputError as error:
        raise InputError(f"{source.file}: {error}") from None
    table = table[drawn]
    counts["drawn"] = len(table)
    return list(_as_rows(source, table)), counts


def _groups(source: Source, table: pd.DataFrame) -> list[str]:
    """The group of each row; one that is not known is a finding where a table says which there are."""
    if not source.group:
        return [""] * len(table)
    cells = table[source.group].tolist()
    if not source.aliases:
        return [cell.strip() for cell in cells]
    named = read_aliases(source.aliases).read(cells, table[LINE].tolist(), place_of(table))
    return ["; ".join(one) for one in named]


def _as_rows(source: Source, table: pd.DataFrame) -> Any:
    taken = {source.text, source.group, source.original, source.labels, LANGUAGE, LINE, "mark", GROUP}
    others = [str(name) for name in table.columns if name not in taken]
    for row in table.to_dict("records"):
        own = {SOURCE: source.called, GROUP: row[GROUP], ORIGINAL: row[source.original] if source.original else ""}
        own |= {ORIGINAL_LANGUAGE: source.original_language if own[ORIGINAL] else ""}
        about = {name: str(row[name]) for name in others} | {name: value for name, value in own.items() if value}
        yield row["mark"], row[source.text], source.language or str(row.get(LANGUAGE, "") or ""), about

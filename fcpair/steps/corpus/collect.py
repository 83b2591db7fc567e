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
from fcpair.stages.corpus.collect import draw_rows, have_many_slurs, labelled_by_majority
from fcpair.stages.drawing import own_order
from fcpair.steps.base.text_digests import Digest
from fcpair.texts.aliases import read_aliases

if TYPE_CHECKING:
    import pandas as pd

SOURCE, GROUP, LANGUAGE = "source", "group", "language"
MAX_NAMED = 5  # texts in several groups or sources that are named

Row = tuple[str, str, str, dict[str, str]]
"""A text as the store takes it: digest, body, language, metadata."""


@dataclass
class CollectedSide:
    """Result of collecting from the sources: the texts, the counts of each source, and notes for whoever collects."""

    rows: list[Row] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def collect(sources: Sequence[Source], digest: Digest) -> CollectedSide:
    """Read all sources, one after the other; the first that has a text keeps it.

    Of each source is counted: `rows` read, those left out `by_label`, `with_slurs` and as `repeated`, and `drawn`.

    Raises:
        InputError: all findings about a file at once, a quota that cannot be reached.
    """
    collected = CollectedSide()
    first_rows: dict[str, Row] = {}
    lines_by_digest: dict[str, dict[str, str]] = {}
    for source in sources:
        table = _read_source(source)
        rows, lines, counts = _select_rows(source, table, digest)
        for row, line in zip(rows, lines, strict=True):
            first_rows.setdefault(row[0], row)
            place = " ".join(filter(None, (row[3].get(SOURCE, ""), row[3].get(GROUP, ""))))
            lines_by_digest.setdefault(row[0], {}).setdefault(place, f"{source.file.name}:{line}")
        collected.counts[source.called] = counts
    collected.rows = list(first_rows.values())
    collected.notes = _notes(lines_by_digest)
    return collected


def _notes(lines_by_digest: dict[str, dict[str, str]]) -> list[str]:
    """Name the texts in several groups or sources by their lines; what they say may be distressing."""
    duplicates = [lines for lines in lines_by_digest.values() if len(lines) > 1]
    if not duplicates:
        return []
    excerpts = [
        ", ".join(f"{line} ({place})" for place, line in sorted(lines.items())) for lines in duplicates[:MAX_NAMED]
    ]
    more = f", and {len(duplicates) - MAX_NAMED:,} more" if len(duplicates) > MAX_NAMED else ""
    subject = "1 text is" if len(duplicates) == 1 else f"{len(duplicates):,} texts are"
    return [f"{subject} in several groups or sources, and kept once: {'; '.join(excerpts)}{more}"]


def _read_source(source: Source) -> pd.DataFrame:
    """The rows of a source, each text once as often as it is there; raises InputError for what is not as it says."""
    columns = [source.text, *filter(None, (source.group, source.labels, source.original))]
    if source.reader == "table":
        table = read_table(source.file, columns, optional=[LANGUAGE], verbatim=True)
    else:
        table = _READERS[source.reader](source)
        if missing := [name for name in columns if name not in table.columns]:
            raise InputError(f"{source.file}: no column `{missing[0]}`; there are {', '.join(table.columns)}")
    empty_lines = table[LINE][table[source.text].str.strip() == ""].tolist()
    reject(source.file, [Finding(place_of(table), int(line), "the text is empty") for line in empty_lines])
    return table


def _crowdcounter(source: Source) -> pd.DataFrame:
    import pandas as pd

    corpus = read_crowdcounter(source.file)
    table = pd.concat([corpus.answers, corpus.unanswered]).sort_values(LINE, kind="stable", ignore_index=True)
    table.attrs.update(corpus.answers.attrs)
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


def _select_rows(source: Source, table: pd.DataFrame, digest: Digest) -> tuple[list[Row], list[int], dict[str, int]]:
    """The rows of a source that are kept, with their lines, and how many were left out, and why."""
    counts = {"rows": len(table)}
    keep = np.ones(len(table), np.bool_)
    if source.labels:
        excluded = labelled_by_majority(table[source.labels].tolist(), source.without)
        counts["by_label"], keep = int((keep & excluded).sum()), keep & ~excluded
    if source.slurs:
        excluded = have_many_slurs(table[source.text].tolist(), read_lines(source.slurs), source.least_other_words)
        counts["with_slurs"], keep = int((keep & excluded).sum()), keep & ~excluded
    table = table[keep].assign(mark=[digest(text) for text in table[source.text][keep]])
    groups = _groups(source, table)
    table = table.assign(**{GROUP: groups})
    is_repeated = table.duplicated(["mark", GROUP])
    counts["repeated"], table = int(is_repeated.sum()), table[~is_repeated]
    try:
        drawn = draw_rows(
            table[GROUP].tolist(),
            own_order(table["mark"], table[GROUP]),
            dict(source.quota),
            source.per_group,
            source.sample,
            source.seed,
        )
    except InputError as error:
        raise InputError(f"{source.file}: {error}") from None
    table = table[drawn]
    counts["drawn"] = len(table)
    return list(_as_rows(source, table)), table[LINE].tolist(), counts


def _groups(source: Source, table: pd.DataFrame) -> list[str]:
    """The group of each row; one that is not known is a finding where a table says which there are."""
    if not source.group:
        return [""] * len(table)
    cells = table[source.group].tolist()
    if not source.aliases:
        return [cell.strip() for cell in cells]
    groups = read_aliases(source.aliases).read(cells, table[LINE].tolist(), place_of(table))
    return ["; ".join(one) for one in groups]


def _as_rows(source: Source, table: pd.DataFrame) -> Any:
    used_columns = {source.text, source.group, source.original, source.labels, LANGUAGE, LINE, "mark", GROUP}
    other_columns = [str(name) for name in table.columns if name not in used_columns]
    for row in table.to_dict("records"):
        fixed_metadata = {
            SOURCE: source.called,
            GROUP: row[GROUP],
            ORIGINAL: row[source.original] if source.original else "",
        }
        fixed_metadata |= {ORIGINAL_LANGUAGE: source.original_language if fixed_metadata[ORIGINAL] else ""}
        metadata = {name: str(row[name]) for name in other_columns} | {
            name: value for name, value in fixed_metadata.items() if value
        }
        yield row["mark"], row[source.text], source.language or str(row.get(LANGUAGE, "") or ""), metadata

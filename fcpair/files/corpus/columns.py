"""Guessing the columns of a corpus by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fcpair.files.corpus.corpus import PUBLISHED_COLUMNS
from fcpair.stages.corpus.text_identity import fold_name

_HS = ("hs", "hs text", "hate speech", "hate", "query", "statement", "claim", "post", "comment", "message", "question")
_CN = ("cn", "cn text", "counter narrative", "counter speech", "reply", "response", "document", "rebuttal", "answer")
_HS_IDS, _CN_IDS = ("hs id", "query id", "qid"), ("cn id", "document id", "doc id", "docid")


@dataclass(frozen=True)
class ColumnGuess:
    """The likely columns of the two texts and their ids; `reader` is the published layout of the table, if any."""

    hs: str
    cn: str
    hs_id: str | None = None
    cn_id: str | None = None
    reader: str | None = None


def guess_columns(header: Sequence[str]) -> ColumnGuess:
    """Guess which column of a table is what, by its name; of unknown names, the first two columns are the texts."""
    for reader, texts in PUBLISHED_COLUMNS.items():
        if set(texts) <= set(header):
            return ColumnGuess(*texts, reader=reader)
    hs_id, cn_id = _first_named(header, _HS_IDS), _first_named(header, _CN_IDS)
    hs, cn = _first_named(header, _HS), _first_named(header, _CN)
    others = iter([name for name in header if name not in (hs, cn, hs_id, cn_id)])
    hs = hs or next(others, header[0])
    return ColumnGuess(hs, cn or next(others, header[-1]), hs_id, cn_id)


def _first_named(header: Sequence[str], names: Iterable[str]) -> str | None:
    """The first column that has one of these names, tried in turn; None where none has."""
    by_name = {fold_name(column): column for column in reversed(header)}
    return next((by_name[fold_name(name)] for name in names if fold_name(name) in by_name), None)

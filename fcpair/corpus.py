"""Readers of corpora: CONAN, Multitarget-CONAN, CSV, JSONL and Parquet, each to one `Corpus`."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import Finding, InputError, reject
from fcpair.tabular import LINE, read_table

if TYPE_CHECKING:
    import pandas as pd

HS, CN = "hs", "cn"
OWN_COLUMNS = ("hs_id", "cn_id")  # a table with both was written by fcpair, and its guarded cells are read back


@dataclass(frozen=True)
class Corpus:
    """The source pairs, one per row of the file, in its order.

    `pairs` has the columns `hs` and `cn` (verbatim), `hs_digest` and `cn_digest` (what makes two texts the same),
    `language` (empty where not known) and one column per item of `metadata`, all strings. `hs_metadata` and
    `cn_metadata` name the metadata that describes the text of that side; a text takes them from its first row.
    """

    pairs: pd.DataFrame
    metadata: tuple[str, ...]
    hs_metadata: tuple[str, ...]
    cn_metadata: tuple[str, ...]


def identity(text: str) -> str:
    """What two texts must share to be the same text: NFC, stripped."""
    return unicodedata.normalize("NFC", text).strip()


def digest(text: str) -> str:
    """SHA-256 of the identity of `text`, in hexadecimal."""
    return hashlib.sha256(identity(text).encode("utf-8", "surrogatepass")).hexdigest()


def read_corpus(
    path: str | Path,
    format: str,
    *,
    language: str | None = None,
    hs_column: str = HS,
    cn_column: str = CN,
) -> Corpus:
    """Read a corpus.

    Args:
        path: the file.
        format: `conan`, `mt-conan`, or `csv`, `jsonl`, `parquet` with named columns.
        language: keep the rows of this language only; CONAN has it in the first two letters of `cn_id`, other
            files in a column `language`. A file without such a column is taken to be all in this language.
        hs_column: the column of the HS (named-column formats).
        cn_column: the column of the CN (named-column formats).

    Returns:
        A Corpus. In the named-column formats a metadata column whose name starts with `hs` describes the HS, one
        that starts with `cn` the CN, any other both.

    Raises:
        InputError: no such file or format, a missing column, a broken encoding, an empty text (all of them, with
            line numbers), no row of the language.
    """
    frame = _READERS[format](path, hs_column, cn_column) if format in _READERS else _unknown(format)
    if "language" not in frame.columns:
        frame["language"] = language or ""
    if language:
        frame = _only(path, frame, language)
    reject(path, _empty_texts(path, frame))
    frame["hs_digest"] = [digest(text) for text in frame[HS]]
    frame["cn_digest"] = [digest(text) for text in frame[CN]]
    known = {HS, CN, LINE, "language", "hs_digest", "cn_digest"}
    metadata = tuple(name for name in frame.columns if name not in known)
    hs_side, cn_side = _sides(format, metadata)
    return Corpus(frame.drop(columns=LINE).reset_index(drop=True), metadata, hs_side, cn_side)


def read_side(path: str | Path, side: str) -> pd.DataFrame:
    """Read the texts of one side from a file, one per row, a repeated text as often as it stands there.

    They stand in the column `hs` or `cn`, in the column that CONAN or Multitarget-CONAN has for that side, or in the
    only column.

    Returns:
        The columns `hs` or `cn`, and `line`.

    Raises:
        InputError: no such file, no such column, an empty text.
    """
    header = [name for name in read_table(path).columns if name != LINE]
    known = [name for name in (side, *_SIDE_COLUMNS[side]) if name in header]
    column = known[0] if known else header[0] if len(header) == 1 else side
    frame = read_table(path, [column]).rename(columns={column: side})[[side, LINE]]
    empty = frame[LINE][frame[side].str.strip() == ""]
    reject(path, [Finding(str(path), int(line), f"the {side} text is empty") for line in empty])
    return frame


def _unknown(format: str) -> pd.DataFrame:
    raise InputError(f"unknown format `{format}`; expected one of {', '.join(FORMATS)}")


def _empty_texts(path: str | Path, frame: pd.DataFrame) -> list[Finding]:
    return [
        Finding(str(path), int(line), f"the {side} text is empty")
        for side in (HS, CN)
        for line, text in zip(frame[LINE], frame[side], strict=True)
        if not text.strip()
    ]


def _only(path: str | Path, frame: pd.DataFrame, language: str) -> pd.DataFrame:
    kept = frame[frame["language"].str.strip().str.lower() == language.strip().lower()]
    if kept.empty:
        there = ", ".join(sorted(set(frame["language"]) - {""})) or "none named"
        raise InputError(f"{path}: no row in language `{language}`; found {there}")
    return kept.copy()


def _sides(format: str, metadata: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if format in _SIDES:
        return _SIDES[format]
    hs_side = tuple(name for name in metadata if not name.startswith(CN))
    cn_side = tuple(name for name in metadata if not name.startswith(HS))
    return hs_side, cn_side


def _read_conan(path: str | Path, _hs: str, _cn: str) -> pd.DataFrame:
    frame = read_table(path, ["cn_id", "hateSpeech", "counterSpeech"], verbatim=True)
    frame["language"] = frame["cn_id"].str[:2].str.lower()
    return _sided(path, frame, "hateSpeech", "counterSpeech")


def _read_mt_conan(path: str | Path, _hs: str, _cn: str) -> pd.DataFrame:
    frame = read_table(path, ["HATE_SPEECH", "COUNTER_NARRATIVE"], verbatim=True)
    return _sided(path, frame, "HATE_SPEECH", "COUNTER_NARRATIVE")


def _read_named(path: str | Path, hs_column: str, cn_column: str) -> pd.DataFrame:
    if hs_column == cn_column:
        raise InputError(f"column `{hs_column}` is named for both sides; the HS and the CN stand in two columns")
    columns = [hs_column, cn_column]
    frame = read_table(path, columns, verbatim=True)
    if set(OWN_COLUMNS) <= set(frame.columns):
        frame = read_table(path, columns)
    return _sided(path, frame, hs_column, cn_column)


def _sided(path: str | Path, frame: pd.DataFrame, hs_column: str, cn_column: str) -> pd.DataFrame:
    clash = ({HS, CN} - {hs_column, cn_column}) & set(frame.columns)
    if clash:
        raise InputError(f"{path}: column `{clash.pop()}` is not the one named; rename or drop it")
    return frame.rename(columns={hs_column: HS, cn_column: CN})


_READERS: dict[str, Callable[[str | Path, str, str], pd.DataFrame]] = {
    "conan": _read_conan,
    "mt-conan": _read_mt_conan,
    "csv": _read_named,
    "jsonl": _read_named,
    "parquet": _read_named,
}
FORMATS = tuple(_READERS)
_SIDE_COLUMNS = {HS: ("hateSpeech", "HATE_SPEECH"), CN: ("counterSpeech", "COUNTER_NARRATIVE")}
_SIDES = {
    "conan": (("hsType", "hsSubType"), ("cnType", "age", "gender", "educationLevel", "cn_id")),
    "mt-conan": (("TARGET",), ("VERSION",)),
}

"""TREC runs: reading their lines, and what is wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fcpair.errors import Finding, InputError, reject
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.tables.tabular import check_file

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("hs_id", "Q0", "cn_id", "rank", "score", "tag")
SHOWN = 10  # HS that a message names
_NOTHING_ID = re.compile("nothing-[0-9]+")  # the id at a rank for which a system named nothing of the pool


def read_run(path: Path) -> pd.DataFrame:
    """Read a run whose ids may be any words, best rank first within each HS.

    Returns:
        `line`, `hs_id`, `cn_id` (text; empty at a rank for which a system named nothing), `rank` (from 1, however
        the file counts) and `score`.

    Raises:
        InputError: no such file, and all findings at once: a line that is no run line, a CN or a rank that stands
            twice for an HS, ranks against the scores.
    """
    lines = _as_frame(
        [(line, cells[0], cells[2], int(cells[3]), float(cells[4])) for line, cells in _read_cells(path, (3,))]
    )
    reject(path, [*repeated_entries(path, lines), *rank_conflicts(path, lines)])
    ordered = lines.sort_values(["hs_id", "rank"], kind="stable").reset_index(drop=True)
    nothing = ordered["cn_id"].str.fullmatch(_NOTHING_ID)
    return ordered.assign(rank=ordered.groupby("hs_id").cumcount() + 1, cn_id=ordered["cn_id"].mask(nothing, ""))


def read_corpus_run(
    path: Path, hs_ids: Mapping[str, Collection[int]], cn_ids: Mapping[str, Collection[int]]
) -> pd.DataFrame:
    """Read a run whose ids stand for texts, best rank first within each HS.

    `hs_ids` and `cn_ids` say which texts of the study each id stands for.

    Returns:
        `line`, `hs_id`, `cn_id` (the study's; below 0 at a rank for which a system named nothing, another at each),
        `rank` (from 1) and `score`.

    Raises:
        InputError: what `read_run` refuses, and all ids at once that stand for no text or for several.
    """
    lines = read_run(path)
    is_named = lines["cn_id"] != ""
    reject(path, [*_unresolved_ids(path, lines, HS, hs_ids), *_unresolved_ids(path, lines[is_named], CN, cn_ids)])
    cn = lines["cn_id"][is_named].map(lambda one: min(cn_ids[one]))
    nothing = -1 - np.arange(len(lines))
    return lines.assign(
        hs_id=lines["hs_id"].map(lambda one: min(hs_ids[one])),
        cn_id=cn.reindex(lines.index).fillna(0).astype("int64").where(is_named, nothing),
    )


def _unresolved_ids(path: Path, lines: pd.DataFrame, side: str, ids: Mapping[str, Collection[int]]) -> list[Finding]:
    """The ids of one side that name no text, or several; each once, at its first line."""
    findings = []
    first = lines.drop_duplicates(f"{side}_id")
    for line, id_ in zip(first["line"].tolist(), first[f"{side}_id"], strict=True):
        n = len(ids.get(id_, ()))
        if n != 1:
            problem = f"names {n} different texts of the corpus" if n else "is not in the corpus"
            findings.append(Finding(str(path), line, f"{side}_id `{id_}` {problem}", f"{side}_id {problem}"))
    return findings


def read_study_run(path: Path) -> pd.DataFrame:
    """The lines of a run with the ids of the study: `line`, `hs_id`, `cn_id`, `rank`, `score`."""
    cells = enumerate(_read_cells(path, (0, 2, 3)))
    return _as_frame([(line, int(one[0]), _cn_id(one[2], at), int(one[3]), float(one[4])) for at, (line, one) in cells])


def _as_frame(rows: list[tuple[int, Any, Any, int, float]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=["line", "hs_id", "cn_id", "rank", "score"])


def _read_cells(path: Path, numbers: tuple[int, ...]) -> list[tuple[int, list[str]]]:
    """The lines of a run as cells, each with its number; in the columns `numbers` stand whole numbers."""
    check_file(path)
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; expected a TREC run") from None
    split = ((line, content.split()) for line, content in enumerate(text.split("\n"), 1))
    rows = [(line, cells) for line, cells in split if cells]
    problems = ((line, _line_problem(cells, numbers)) for line, cells in rows)
    reject(path, [Finding(str(path), line, wrong) for line, wrong in problems if wrong])
    if not rows:
        raise InputError(f"{path}: the run is empty; expected lines of `{' '.join(COLUMNS)}`")
    return rows


def _cn_id(cell: str, row: int) -> int:
    """The id of a CN; a number below 0, another for each row, where nothing stands."""
    return -1 - row if _NOTHING_ID.fullmatch(cell) else int(cell)


def _line_problem(cells: list[str], numbers: tuple[int, ...]) -> str | None:
    """Problem with the cells of a line; None if there is none."""
    if len(cells) != len(COLUMNS):
        return f"{len(cells)} columns; expected {len(COLUMNS)}: {' '.join(COLUMNS)}"
    for at in numbers:
        if at == 2 and _NOTHING_ID.fullmatch(cells[at]):
            continue
        if not (cells[at].isascii() and cells[at].isdigit() and len(cells[at]) <= 18):
            otherwise = ", or `(ids=corpus)` behind the file, for ids of the corpus" if at != 3 else ""
            return f"{COLUMNS[at]} is `{cells[at]}`; expected a whole number{otherwise}"
    return None if _is_finite(cells[4]) else f"score is `{cells[4]}`; expected a finite number"


def _is_finite(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def missing_hs(path: Path, lines: pd.DataFrame, names: Mapping[int, str]) -> list[Finding]:
    """The HS to evaluate that the run does not have, as one finding; `names` has all to evaluate, by the run's ids."""
    missing_names = [names[one] for one in sorted(names.keys() - set(lines["hs_id"].tolist()))]
    shown = ", ".join(missing_names[:SHOWN]) + (", ..." if len(missing_names) > SHOWN else "")
    n = f"{len(missing_names)} of {len(names)}"
    return [Finding(str(path), None, f"{n} HS have no line: {shown}")] if missing_names else []


def repeated_entries(path: Path, lines: pd.DataFrame) -> list[Finding]:
    """CNs and ranks that an HS has twice."""
    findings = []
    for column in ("cn_id", "rank"):
        again = lines[lines.duplicated(["hs_id", column])]
        entries = zip(again["line"], again[column], again["hs_id"], strict=True)
        findings += [
            Finding(str(path), int(at), f"{column} {value} is duplicated for HS {hs}") for at, value, hs in entries
        ]
    return findings


def rank_conflicts(path: Path, lines: pd.DataFrame) -> list[Finding]:
    """Ranks that go one way and scores that go the other, once for each HS."""
    sorted_ = lines.sort_values(["hs_id", "rank"], kind="stable")
    rises = (sorted_["hs_id"] == sorted_["hs_id"].shift()) & (sorted_["score"] > sorted_["score"].shift())
    first = sorted_[rises].drop_duplicates("hs_id")
    entries = zip(first["line"], first["rank"], first["hs_id"], strict=True)
    return [
        Finding(str(path), int(line), f"rank {rank} of HS {hs} has a higher score than the rank above it")
        for line, rank, hs in entries
    ]

"""TREC runs: reading their lines, what their ids mean, and what is wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fcpair.errors import Finding, InputError, list_first, reject
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.tables.tabular import LINE, check_file, read_table
from fcpair.lazy import pd
from fcpair.param_values import InMemory

COLUMNS = ("hs_id", "Q0", "cn_id", "rank", "score", "tag")
SHOWN = 10  # HS that a message names
_NOTHING_ID = re.compile("nothing-[0-9]+")  # the id at a rank for which a system named nothing of the pool
Numbering = Literal["corpus", "study"]
_REFUSED: dict[Numbering, str] = {
    "study": (
        "its ids are the study's numbers; expected the corpus's own ids, as `fcpair export corpus` writes them "
        "(`fcpair evaluate` also takes the numbers, as `run:FILE(ids=study)`)"
    ),
    "corpus": "its ids are the corpus's own; expected the study's numbers; omit `ids=study`",
}
_FITS_BOTH: dict[Numbering, str] = {
    "corpus": "its ids fit both numberings; they were read as the corpus's own ids, not as the study's numbers",
    "study": "its ids fit both numberings; they were read as the study's numbers, not as the corpus's own ids",
}


@dataclass(frozen=True)
class TextIds:
    """The ids by which a file may name the texts of one side."""

    own: Mapping[str, Collection[int]]  # the corpus's, each with the texts that have it; empty where it has none
    numbers: Collection[int]  # the study's

    def numbered_by(self, numbering: Numbering) -> Mapping[str, Collection[int]]:
        """The texts that each id stands for: the corpus's own ids where there are any, else the study's numbers."""
        return self.own if self.own and numbering == "corpus" else {str(number): {number} for number in self.numbers}


def read_run(
    path: Path, ids: Mapping[str, TextIds], numbering: Numbering = "corpus", needed_hs: Collection[int] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a run, best rank first within each HS. The one rule of what the `ids` of a run (of `hs` and `cn`) mean: they
    are the corpus's own where it has any, and the study's numbers where it has none or `numbering` asks for them.

    Columns: `line`, `hs_id`, `cn_id` (the study's numbers; below 0 at a rank for which a system named nothing, another
    at each), `rank` (from 1, however the file counts) and `score`; and a note if the ids fit both numberings. Raises
    InputError: no such file, a run in the other numbering, and all at once a line that is no run line, an id that
    stands for no text or for several, a needed HS without a line, a CN or a rank that is duplicated for an HS, ranks
    against the scores.
    """
    rows = [(line, cells[0], cells[2], int(cells[3]), float(cells[4])) for line, cells in _read_cells(path)]
    lines = pd.DataFrame(rows, columns=["line", "hs_id", "cn_id", "rank", "score"])
    named = {HS: lines, CN: lines[~lines["cn_id"].str.fullmatch(_NOTHING_ID)]}
    other: Numbering = "study" if numbering == "corpus" else "corpus"
    texts, other_texts = ({side: ids[side].numbered_by(by) for side in named} for by in (numbering, other))
    fits, fits_other = (
        all(set(named[side][f"{side}_id"]) <= by_id[side].keys() for side in named) for by_id in (texts, other_texts)
    )
    if fits_other and not fits:
        raise InputError(f"{path}: {_REFUSED[other]}")
    words = {number: word for word, numbers in texts[HS].items() for number in numbers}
    ranked_hs = {number for word in set(lines["hs_id"]) for number in texts[HS].get(word, ())}
    findings = []
    if missing_hs := [words.get(hs, str(hs)) for hs in sorted({*needed_hs} - ranked_hs)]:
        n = f"{len(missing_hs)} of {len({*needed_hs})}"
        findings.append(Finding(str(path), None, f"{n} HS have no line: {list_first(missing_hs, SHOWN)}"))
    for side, of_side in named.items():
        first = of_side.drop_duplicates(f"{side}_id")
        for line, id_ in zip(first["line"].tolist(), first[f"{side}_id"], strict=True):
            if (n_texts := len(texts[side].get(id_, ()))) != 1:
                source = "corpus" if numbering == "corpus" and ids[side].own else "study"
                problem = f"names {n_texts} different texts of the corpus" if n_texts else f"is not in the {source}"
                findings.append(Finding(str(path), line, f"{side}_id `{id_}` {problem}", f"{side}_id {problem}"))
    reject(path, [*findings, *_contradictions(path, lines)])
    is_both = fits and fits_other and any(ids[side].own for side in named)
    ordered = lines.sort_values(["hs_id", "rank"], kind="stable").reset_index(drop=True)
    ordered["rank"] = ordered.groupby("hs_id").cumcount() + 1
    ordered["hs_id"] = [min(texts[HS][word]) for word in ordered["hs_id"]]
    ordered["cn_id"] = [min(texts[CN].get(word, {-1 - at})) for at, word in enumerate(ordered["cn_id"])]
    return ordered, (_FITS_BOTH[numbering],) * is_both


def _read_cells(path: Path) -> list[tuple[int, list[str]]]:
    if isinstance(path, InMemory):
        table = read_table(path, ["hs_id", "cn_id", "rank", "score"]).assign(Q0="Q0", tag="frame")
        rows = list(zip(table[LINE].tolist(), table[list(COLUMNS)].to_numpy().tolist(), strict=True))
    else:
        check_file(path)
        try:
            text = path.read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8; expected a TREC run") from None
        rows = [(line, cells) for line, content in enumerate(text.split("\n"), 1) if (cells := content.split())]
    problems = ((line, _line_problem(cells)) for line, cells in rows)
    reject(path, [Finding(str(path), line, wrong) for line, wrong in problems if wrong])
    if not rows:
        raise InputError(f"{path}: the run is empty; expected lines of `{' '.join(COLUMNS)}`")
    return rows


def _line_problem(cells: list[str]) -> str | None:
    if len(cells) != len(COLUMNS):
        return f"{len(cells)} columns; expected {len(COLUMNS)}: {' '.join(COLUMNS)}"
    if not (cells[3].isascii() and cells[3].isdigit() and len(cells[3]) <= 18):
        return f"rank is `{cells[3]}`; expected a whole number"
    try:
        is_finite = math.isfinite(float(cells[4]))
    except ValueError:
        is_finite = False
    return None if is_finite else f"score is `{cells[4]}`; expected a finite number"


def _contradictions(path: Path, lines: pd.DataFrame) -> Iterator[Finding]:
    for column in ("cn_id", "rank"):
        again = lines[lines.duplicated(["hs_id", column])]
        for line, value, hs in zip(again["line"], again[column], again["hs_id"], strict=True):
            yield Finding(str(path), int(line), f"{column} {value} is duplicated for HS {hs}")
    sorted_ = lines.sort_values(["hs_id", "rank"], kind="stable")
    rises = (sorted_["hs_id"] == sorted_["hs_id"].shift()) & (sorted_["score"] > sorted_["score"].shift())
    first = sorted_[rises].drop_duplicates("hs_id")
    for line, rank, hs in zip(first["line"], first["rank"], first["hs_id"], strict=True):
        yield Finding(str(path), int(line), f"rank {rank} of HS {hs} has a higher score than the rank above it")

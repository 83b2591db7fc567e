"""TREC runs, and the ids by which these and other files name the texts of a study."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fcpair.errors import Finding, InputError, reject
from fcpair.files.corpus.corpus import CN, HS, check_own_ids
from fcpair.files.tables.tabular import LINE, check_file, read_table
from fcpair.lazy import pd
from fcpair.param_values import InMemory
from fcpair.params import Ids
from fcpair.sentences import Id, mark, say

RUN_COLUMNS = ("hs_id", "Q0", "cn_id", "rank", "score", "tag")
SHOWN = 10  # HS that a message names
_NOTHING_ID = re.compile("nothing-[0-9]+")  # the id at a rank for which a system named nothing of the pool
_REFUSED: dict[Ids, str] = {
    "study": mark(
        "its ids are the study's numbers; expected the corpus's own ids, as `fcpair export corpus` writes them; "
        "`--ids study`, or `run:FILE(ids=study)`, takes the numbers"
    ),
    "own": mark(
        "its ids are the corpus's own; expected the study's numbers; `--ids own`, or `run:FILE(ids=own)`, takes these"
    ),
}
_FITS_BOTH: dict[Ids, str] = {
    "own": mark("its ids fit both numberings; they were read as the corpus's own ids, not as the study's numbers"),
    "study": mark("its ids fit both numberings; they were read as the study's numbers, not as the corpus's own ids"),
}


@dataclass(frozen=True)
class TextIds:
    """The ids by which files name the texts of one side. The one rule of which ones they are, wherever `ids` says
    nothing: the corpus's own if every text of the grid's side has one, else the study's numbers.
    """

    own: Mapping[str, Collection[int]]  # the corpus's, each with the texts that have it; empty where it has none
    numbers: Collection[int]  # the study's
    on_side: Collection[int] = ()  # the texts of the grid's side
    merged: Mapping[int, int] = field(default_factory=dict)  # of each text that was merged into another, that one

    @cached_property
    def first_own(self) -> dict[int, str]:
        """The first own id of each text that has any, which files have where they can have only one."""
        first_ids: dict[int, str] = {}
        for word, text_ids in self.own.items():
            for text_id in text_ids:
                first_ids.setdefault(text_id, word)
        return first_ids

    def numbering(self, ids: Ids | None = None) -> Ids:
        """The numbering of a file: the one that is asked for, or else the default."""
        return ids or ("own" if self.own and self.first_own.keys() >= {*self.on_side} else "study")

    def numbered_by(self, ids: Ids | None = None) -> Mapping[str, Collection[int]]:
        """The texts that each id in a file stands for."""
        if self.numbering(ids) == "own":
            return self.own
        return {str(number): {self.merged.get(number, number)} for number in self.numbers}

    def words(self, text_ids: Iterable[int], side: str, ids: Ids | None = None) -> dict[int, str]:
        """What a file calls these texts of a side; InputError where one has no own id, or has that of another text."""
        if self.numbering(ids) == "study":
            return {text_id: str(text_id) for text_id in text_ids}
        words = {text_id: self.first_own.get(text_id, "") for text_id in text_ids}
        check_own_ids(words, side)
        if shared := [word for word in words.values() if len(self.own[word]) > 1]:
            raise InputError.say(
                "%(column)s `%(id)s` is the id of %(number)s texts (one of %(all)s such ids), so a file would mix them "
                "up; a cell with spaces lists several ids. Mend the ids and import the corpus again, or use the "
                "study's numbers (`--ids study`)",
                **{"column": f"{side}_id", "id": shared[0], "number": len(self.own[shared[0]]), "all": len(shared)},
            )
        return words


def describe_ids(ids: Mapping[str, TextIds], asked: Ids | None) -> str:
    """A sentence that says which ids a file has."""
    words = {"own": say("the corpus's own"), "study": say("the study's numbers")}
    return say("ids: of HS %(hs)s, of CN %(cn)s", **{side: words[of.numbering(asked)] for side, of in ids.items()})


def read_run(
    path: Path, ids: Mapping[str, TextIds], asked: Ids | None = None, needed_hs: Collection[int] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a run, best rank first within each HS, whose ids (of `hs` and `cn`) are those that are `asked` for, or else
    those that `TextIds` says.

    Columns: `line`, `hs_id`, `cn_id` (the study's numbers; below 0 at a rank for which a system named nothing, another
    at each), `rank` (from 1, however the file counts) and `score`; and a note if the ids fit both numberings. Raises
    InputError: no such file, a run in the other numbering, and all at once a line that is no run line, an id that
    stands for no text or for several, a needed HS without a line, a CN or a rank that is duplicated for an HS, ranks
    against the scores.
    """
    rows = [(line, cells[0], cells[2], int(cells[3]), float(cells[4])) for line, cells in _read_cells(path)]
    lines = pd.DataFrame(rows, columns=["line", "hs_id", "cn_id", "rank", "score"])
    named = {HS: lines, CN: lines[~lines["cn_id"].str.fullmatch(_NOTHING_ID)]}
    numbering = {side: ids[side].numbering(asked) for side in named}
    other: dict[str, Ids] = {
        side: "study" if numbering[side] == "own" or not ids[side].own else "own" for side in named
    }
    texts, other_texts = ({side: ids[side].numbered_by(by[side]) for side in named} for by in (numbering, other))
    fits, fits_other = (
        {side: set(named[side][f"{side}_id"]) <= by_id[side].keys() for side in named} for by_id in (texts, other_texts)
    )
    if all(fits_other.values()) and not all(fits.values()):
        wrong = next(side for side in named if not fits[side])
        raise InputError.say("%(place)s: %(what)s", place=str(path), what=say(_REFUSED[other[wrong]]))
    words = {number: word for word, numbers in texts[HS].items() for number in numbers}
    ranked_hs = {number for word in set(lines["hs_id"]) for number in texts[HS].get(word, ())}
    findings = []
    if missing_hs := [words.get(hs, str(hs)) for hs in sorted({*needed_hs} - ranked_hs)]:
        names = [*missing_hs[:SHOWN], *["..."] * (len(missing_hs) > SHOWN)]
        n = {"number": len(missing_hs), "all": len({*needed_hs})}
        what = say("%(number)s of %(all)s HS have no line: %(names)s", **n, names=names)
        findings.append(Finding(str(path), None, what))
    for side, of_side in named.items():
        first = of_side.drop_duplicates(f"{side}_id")
        for line, id_ in zip(first["line"].tolist(), first[f"{side}_id"], strict=True):
            findings += unknown_id(str(path), line, id_, side, texts[side], numbering[side])
    reject(path, [*findings, *_contradictions(path, lines)])
    is_both = all((*fits.values(), *fits_other.values())) and numbering != other
    ordered = lines.sort_values(["hs_id", "rank"], kind="stable").reset_index(drop=True)
    ordered["rank"] = ordered.groupby("hs_id").cumcount() + 1
    ordered["hs_id"] = [min(texts[HS][word]) for word in ordered["hs_id"]]
    ordered["cn_id"] = [min(texts[CN].get(word, {-1 - at})) for at, word in enumerate(ordered["cn_id"])]
    differing: Ids = next((by for side, by in numbering.items() if by != other[side]), "own")
    return ordered, (_FITS_BOTH[differing],) * is_both


def unknown_id(
    place: str, line: int, id_: str, side: str, texts: Mapping[str, Collection[int]], numbering: Ids
) -> list[Finding]:
    """The finding about an id in a line of a file that stands for none of the `texts` of its side, or for several."""
    if (n_texts := len(texts.get(id_, ()))) == 1:
        return []
    problem = say("is not in the corpus") if numbering == "own" else say("is not in the study")
    if n_texts:
        problem = say("names %(number)s different texts of the corpus", number=n_texts)
    column = f"{side}_id"
    what = say("%(column)s `%(id)s` %(problem)s", column=column, id=id_, problem=problem)
    return [Finding(place, line, what, say("%(column)s %(problem)s", column=column, problem=problem))]


def _read_cells(path: Path) -> list[tuple[int, list[str]]]:
    if isinstance(path, InMemory):
        table = read_table(path, ["hs_id", "cn_id", "rank", "score"]).assign(Q0="Q0", tag="frame")
        rows = list(zip(table[LINE].tolist(), table[list(RUN_COLUMNS)].to_numpy().tolist(), strict=True))
    else:
        check_file(path)
        try:
            text = path.read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError.say("%(file)s: not UTF-8; expected a TREC run", file=str(path)) from None
        rows = [(line, cells) for line, content in enumerate(text.split("\n"), 1) if (cells := content.split())]
    problems = ((line, _line_problem(cells)) for line, cells in rows)
    reject(path, [Finding(str(path), line, wrong) for line, wrong in problems if wrong])
    if not rows:
        empty = mark("%(file)s: the run is empty; expected lines of `%(columns)s`")
        raise InputError.say(empty, file=str(path), columns=" ".join(RUN_COLUMNS))
    return rows


def _line_problem(cells: list[str]) -> str | None:
    if len(cells) != len(RUN_COLUMNS):
        n = {"number": len(cells), "expected": len(RUN_COLUMNS)}
        return say("%(number)s columns; expected %(expected)s: %(names)s", **n, names=" ".join(RUN_COLUMNS))
    if not (cells[3].isascii() and cells[3].isdigit() and len(cells[3]) <= 18):
        return say("rank is `%(cell)s`; expected a whole number", cell=cells[3])
    try:
        is_finite = math.isfinite(float(cells[4]))
    except ValueError:
        is_finite = False
    return None if is_finite else say("score is `%(cell)s`; expected a finite number", cell=cells[4])


def _contradictions(path: Path, lines: pd.DataFrame) -> Iterator[Finding]:
    for column in ("cn_id", "rank"):
        again = lines[lines.duplicated(["hs_id", column])]
        for line, value, hs in zip(again["line"], again[column], again["hs_id"], strict=True):
            what = say("%(column)s %(value)s is duplicated for HS %(hs)s", column=column, value=str(value), hs=hs)
            yield Finding(str(path), int(line), what)
    sorted_ = lines.sort_values(["hs_id", "rank"], kind="stable")
    rises = (sorted_["hs_id"] == sorted_["hs_id"].shift()) & (sorted_["score"] > sorted_["score"].shift())
    first = sorted_[rises].drop_duplicates("hs_id")
    for line, rank, hs in zip(first["line"], first["rank"], first["hs_id"], strict=True):
        what = say("rank %(rank)s of HS %(hs)s has a higher score than the rank above it", rank=Id(rank), hs=hs)
        yield Finding(str(path), int(line), what)

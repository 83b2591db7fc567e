"""Two releases side by side: which pairs came, went, or changed tier or label, and what brought each change about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fcpair.done import tell_relabelling
from fcpair.errors import InputError, show_foreign, translate_read_errors
from fcpair.files.release.release_facts import DATA
from fcpair.lazy import pd
from fcpair.notebook import Result, column_names
from fcpair.plans import NAME
from fcpair.records import Tier
from fcpair.sentences import Answer, Sentence, join, mark, say

CAME, WENT, CHANGED = "came", "went", "changed"
LONGEST_CLAUSE = 2_000  # characters
KEY = ("hs_sha256", "cn_sha256")
_EVIDENCE = {  # a word for it, one that names who said it, and the columns of who said it and of what
    "labels": (mark("answer"), mark("answer of %(name)s"), "annotator", "label"),
    "decisions": (mark("decision"), "", "", "decision"),
    "verdicts": (mark("verdict"), mark("verdict of %(name)s"), "validator", "verdict"),
}
RECORD_SHAPE = {
    **{"name": str, "study": int, "pseudonyms": int, "seed": int, "last_run": int, "texts": bool},
    "rules": {NAME: {re.compile(".+"): str}},
}
"""The form that the record of a release must have, see `find_misfit`."""
_ROW_SHAPES = {
    "pairs": {**dict.fromkeys((*KEY, "tier", "own_tiers", "label"), str), "pair": int},
    "labels": {"pair": int, "annotator": str, "label": str},
    "decisions": {"pair": int, "decision": str, "by": str, "rule": str},
    "verdicts": {"pair": int, "validator": str, "verdict": str},
}
_NONE = say("none")
_FOUR = [tier.label for tier in Tier]  # the widest first
_Said = dict[str, list[str]]


def find_misfit(value: Any, shape: Any, where: str = "it") -> str | None:
    """The first part of what others wrote that is not of its shape, as a sentence; None where all of it is.

    A shape is a type, or a dict with the shape of each key that must be there; a pattern as a key stands for any number
    of keys that match it, and for no others.
    """
    if not isinstance(shape, dict):
        return None if type(value) is shape else f"{where} is {type(value).__name__}, and not {shape.__name__}"
    if not isinstance(value, dict):
        return f"{where} is {type(value).__name__}, and no object"
    for key, inner in shape.items():
        if not isinstance(key, re.Pattern) and key not in value:
            return f"`{key}` is missing"
        for name in value if isinstance(key, re.Pattern) else (key,):
            if isinstance(key, re.Pattern) and not key.fullmatch(name):
                return f"{where} has the name {name[:60]!r}, which is none that fcpair gives"
            if misfit := find_misfit(value[name], inner, f"`{name}`"):
                return misfit
    return None


@dataclass(frozen=True)
class PairChange:
    """A pair that entered a tier, left all of them, or changed its tiers or its label, and why.

    `pair` is its number in the later release, or in the earlier one where it went; `because` has a clause for each
    answer, decision and verdict that differs, and for the rule of each tier that it came into or left.
    """

    grid: str
    change: str
    pair: int
    tier_before: str
    tier_after: str
    label_before: str
    label_after: str
    because: tuple[str, ...]


class ReleaseChanges(Result, tuple[PairChange, ...]):
    """The pairs that differ between two releases, grid by grid, by number."""

    columns = column_names(PairChange)
    relabelled: tuple[Sentence, ...] = ()  # what became of labels between the two, whose new names are no change

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each pair; the columns are the fields of `PairChange`, with the clauses of `because` in one."""
        return ({**vars(change), "because": "; ".join(change.because)} for change in self)

    def counts(self) -> dict[str, int]:
        """Numbers of pairs that came, went, and changed."""
        kinds = [change.change for change in self]
        return {kind: kinds.count(kind) for kind in (CAME, WENT, CHANGED)}

    def _summary(self) -> str:
        return ", ".join(f"{n:,} {kind}" for kind, n in self.counts().items())


@dataclass(frozen=True)
class _Side:
    """One of two releases, as far as one grid goes: its pairs by the digests of their texts, and what was said of each,
    by who said it; where that is not known, all that was said of it.
    """

    pairs: dict[tuple[str, str, int], dict[str, Any]]
    evidence: Mapping[str, dict[int, _Said]]
    rules: Mapping[str, str]


def compare_releases(before: Path, after: Path, records: Sequence[Mapping[str, Any]]) -> ReleaseChanges:
    """Compare two folders of releases; `records` are what `release.json` of each says.

    Pairs are the same where their texts are, and labels where they were renamed or merged meanwhile. Who answered can
    only be told where both have the same pseudonyms. Raises InputError where a table cannot be read, or neither release
    has a tier.
    """
    if not (grids := list(dict.fromkeys(grid for record in records for grid in record["rules"]))):
        raise InputError(f"{before} and {after} have no tiers, so there are no pairs to compare")
    same_people, changes = records[0]["pseudonyms"] == records[1]["pseudonyms"], list[PairChange]()
    relabelled = list[Sentence]()
    for grid in grids:
        prefix, sides = "" if grid == "main" else f"{grid}-", []
        noted, names = [record.get("labels", {}).get(grid, []) for record in records], dict[str, str]()
        for change in noted[1][len(noted[0]) :] if noted[1][: len(noted[0])] == noted[0] else ():
            relabelled.append(tell_relabelling(change))
            if change["kind"] in ("rename", "merge"):
                (new,) = change["into"]
                names = {old: new if now in change["labels"] else now for old, now in names.items()}
                names |= dict.fromkeys(change["labels"], new)
        for folder, record in zip((before, after), records, strict=True):
            now = names if folder == before else {}
            n_same: Counter[tuple[str, str]] = Counter()
            pairs = {}
            for row in _read_rows(folder, f"{prefix}pairs"):  # of pairs with the same texts the first, the second, ...
                texts = (row[KEY[0]], row[KEY[1]])
                pairs[(*texts, n_same[texts])] = {**row, "label": now.get(row["label"], row["label"])}
                n_same[texts] += 1
            evidence: dict[str, dict[int, _Said]] = {table: {} for table in _EVIDENCE}
            for table, (_, _, who, answer) in _EVIDENCE.items():
                for row in _read_rows(folder, f"{prefix}{table}"):
                    of_pair = evidence[table].setdefault(int(row["pair"]), {})
                    words: str = Answer(now.get(row[answer], row[answer]))
                    if table == "decisions":
                        words = say("%(answer)s by %(name)s", answer=words, name=row["by"] or join([row["rule"]]))
                    of_pair.setdefault(row[who] if who and same_people else "", []).append(words)
            sides.append(_Side(pairs, evidence, record["rules"].get(grid, {})))
        changes += sorted(_changes(grid, *sides), key=lambda change: (change.pair, change.change))
    compared = ReleaseChanges(changes)
    compared.relabelled = tuple(relabelled)
    return compared


def _read_rows(folder: Path, name: str) -> list[dict[str, Any]]:
    if not (path := folder / DATA / f"{name}.parquet").is_file():
        return []
    with translate_read_errors(path, expected="a table of a release"):
        records = pd.read_parquet(path).to_dict("records")
        rows = [{"own_tiers": "", **{str(name): value for name, value in row.items()}} for row in records]
    for number, row in enumerate(rows, 1):
        if misfit := find_misfit(row, _ROW_SHAPES[name.rpartition("-")[2]]):
            raise InputError(f"{path}: row {number:,}: {misfit}; expected a table of a release")
    return rows


def _changes(grid: str, before: _Side, after: _Side) -> Iterator[PairChange]:
    for key in dict.fromkeys([*before.pairs, *after.pairs]):
        old, new = before.pairs.get(key), after.pairs.get(key)
        (tier_before, label_before), (tier_after, label_after) = _standing(old), _standing(new)
        if (tier_before, label_before) == (tier_after, label_after):
            continue
        is_change = bool(tier_before) == bool(tier_after)
        kind = CHANGED if is_change else CAME if tier_after else WENT
        moved, because = _members(tier_before) ^ _members(tier_after), []
        for table, (word, named, _, _) in _EVIDENCE.items():  # a clause for each of these that differs
            said_before = before.evidence[table].get(int(old["pair"]), {}) if old else {}
            said_after = after.evidence[table].get(int(new["pair"]), {}) if new else {}
            for who in sorted(said_before | said_after):
                first, then = (sorted(said.get(who, [])) or _NONE for said in (said_before, said_after))
                if first != then:
                    because.append(_clause(say(named if who else word, name=who), first, then))
        because += _rule_changes(before, after, moved)
        because = because or list(_rule_changes(before, after, {*before.rules, *after.rules}))
        clauses = tuple(safe if (safe := show_foreign(of, LONGEST_CLAUSE)) != of else of for of in because)
        number = int((new or old or {})["pair"])
        yield PairChange(grid, kind, number, tier_before, tier_after, label_before, label_after, clauses)


def _standing(row: Mapping[str, Any] | None) -> tuple[str, str]:
    if row is None:
        return "", ""
    names = filter(None, (row["tier"], row["own_tiers"]))
    return show_foreign(", ".join(names), LONGEST_CLAUSE), show_foreign(row["label"], LONGEST_CLAUSE)


def _members(tiers: str) -> set[str]:
    """The tiers of a pair, with those below the best of the four, in which it is, too."""
    names = set(filter(None, tiers.split(", ")))
    best = max((at for at, tier in enumerate(_FOUR) if tier in names), default=-1)
    return names | set(_FOUR[: best + 1])


def _rule_changes(before: _Side, after: _Side, tiers: Collection[str]) -> Iterator[Sentence]:
    for tier in (tier for tier in dict.fromkeys([*before.rules, *after.rules]) if tier in tiers):
        first, then = before.rules.get(tier, _NONE), after.rules.get(tier, _NONE)
        if first != then:
            yield _clause(say("rule of %(tier)s", tier=tier), first, then)


def _clause(subject: Sentence, before: str | list[str], after: str | list[str]) -> Sentence:
    return join((subject, say("%(before)s -> %(after)s", before=before, after=after)), ": ")

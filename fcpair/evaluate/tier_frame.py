"""Evaluating one ranking on a tier that is a frame, as `Grid.tier` returns it or FC-CONAN published it: no study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fcpair.errors import Finding, InputError, list_first, reject, suggest_name
from fcpair.evaluate.evaluation import TierLabels, evaluate
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.outcome import Outcome
from fcpair.evaluate.systems import NOTHING, Ranking, System, rank_without_scores
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.corpus.fc_conan import CN_TEXT, FINAL, HS_TEXT, SIMULATED
from fcpair.lazy import pd
from fcpair.param_values import invalid_value, short_repr
from fcpair.params import DEFAULT_MEASURES, RESAMPLES, Evaluate, NoPositives, check_unique
from fcpair.records import Tier
from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.stats.intervals import check_resamples
from fcpair.values import as_text

if TYPE_CHECKING:
    RankingOfCns = Mapping[Any, Sequence[Any]] | pd.DataFrame

FRAME, RANKING = "tier frame (rows from 1)", "ranking (rows from 1)"
_EXPECTED = {
    "frame": "a pandas DataFrame, such as `grid.tier('gold')`",
    "ranking": (
        "a dict such as {hs_id: [cn_id, ...]}, best first, or a pandas DataFrame with hs_id, cn_id and score or rank"
    ),
}
LABEL = "label"
SHOWN = 5  # texts or ids that a message names
_KEYS = {HS: ("hs_id", HS, HS_TEXT), CN: ("cn_id", CN, CN_TEXT)}
# The corpus's own, in a tier of a study; its `hs_id` has the study's numbers.
_OWN_ID = {HS: "hs.hs_id", CN: "cn.cn_id"}


@dataclass(frozen=True)
class RankedElsewhere(System):
    """A ranking that was made elsewhere, by its name."""

    word: ClassVar[str] = "ranking"
    name: str = "ranking"

    def __str__(self) -> str:
        return self.name

    @property
    def short_name(self) -> str:
        """The name."""
        return self.name


class _Side:
    """The texts of a side by all that a ranking may call them: the id, or the text."""

    def __init__(self, what: str) -> None:
        self.what, self.names, self._positions = what, list[Any](), dict[Any, int]()

    def __len__(self) -> int:
        return len(self.names)

    def find(self, key: Any) -> int | None:
        """The position of an id or a text; None where the side has neither. Raises InputError for what is none."""
        try:
            position = self._positions.get(key)
            if isinstance(key, float):
                as_text(key)  # which refuses one that may have been another id
        except TypeError:
            raise invalid_value(self.what, key, "an id or a text") from None
        except ValueError as error:
            raise InputError(f"the ids of {self.what}: {short_repr(key)} {error}") from None
        if position is None and isinstance(key, str):
            position = self._positions.get(identity(key))
            if position is None and key.isdecimal():  # as keys are in JSON
                position = self._positions.get(int(key))
        elif position is None:
            position = self._positions.get(as_text(key))  # of ids that are words in the frame, and numbers here
        return position

    def add(self, *keys: Any) -> int:
        """The position of a text, which is added where it is not there yet; the first key is its name."""
        if (position := self.find(keys[0])) is None:
            position = len(self.names)
            self.names.append(keys[0])
            self.call(position, *keys)
        return position

    def call(self, position: int, *keys: Any) -> None:
        """Let a text be found by these ids and texts, too."""
        for key in keys:
            self._positions.setdefault(identity(key) if isinstance(key, str) else key, position)


def evaluate_tier_frame(
    frame: pd.DataFrame,
    ranking: RankingOfCns,
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    cutoff: int = 10,
    pool: Iterable[Any] | None = None,
    positive: Sequence[str] = ("appropriate",),
    no_positives: NoPositives = "zero",
    resamples: int = RESAMPLES,
    seed: int = 0,
    tier: str | None = None,
    name: str = "ranking",
) -> Outcome:
    """Evaluate a ranking on a tier, both in memory; the outcome and its bounds are those of `Grid.evaluate`.

    Args:
        frame: a row for each pair: `hs_id` and `cn_id`, or the texts `hs` and `cn`, and `label`; or the columns of a
            published partition of FC-CONAN.
        ranking: for each HS its CNs, best first; or a frame with a row for each of them, with `score` (higher is
            better; ties by the order in `frame`) or `rank` (from the best). HS and CNs are called by text or by id:
            `hs_id` and `cn_id` of the frame or, where it has them, the corpus's own ids in `hs.hs_id` and `cn.cn_id`.
            HS that the tier does not have are passed over; each that it has must be there.
        measures: such as NDCG@5, MAP(by=all) or RBP(p=0.9).
        cutoff: how many ranks are read by measures that name no cut of their own.
        pool: all CNs that were ranked, by id or text; without it, those of the frame and of the ranking. What the tier
            does not judge is unjudged, and makes the bounds.
        positive: the labels that are right.
        no_positives: what becomes of an HS without a positive CN: zero, or leave_out.
        resamples: how often intervals and tests resample.
        seed: of the resampling.
        tier: what the tier is called; without it, the lowest that the column `tier` has.
        name: what the ranking is called.

    Raises:
        InputError: no frame, a missing column, a pair or a CN that is there twice, an empty cell, no label that is
            positive, an HS that is not ranked, a CN that is not in the pool, ids that could be either numbering.
    """
    if isinstance(measures, str):
        raise invalid_value("measures", measures, "a list of measures, such as ['NDCG@10']")
    options = Evaluate(
        measures=tuple(measures), cutoff=cutoff, no_positives=no_positives, resamples=resamples, seed=seed
    )
    parsed = [parse_measure(measure, options.cutoff) for measure in options.measures]
    check_unique("measure", [str(measure) for measure in parsed])
    check_resamples(options.resamples)
    columns, ranked_cns = _read_columns("frame", frame), [*_lists(ranking)]
    pool_keys = None if pool is None else [*pool]
    used = {HS: [key for key, _ in ranked_cns], CN: [*(pool_keys or ()), *(cn for _, cns in ranked_cns for cn in cns)]}
    pairs = _pairs(frame, columns, positive, own_ids=_has_own_ids(frame, columns, used))
    hs, cn = _Side("HS"), _Side("CN")
    for key in pool_keys or ():
        cn.add(key)
    labels, n_outside = _labels(pairs, hs, cn, grows=pool is None)
    ranked = _ranked(ranked_cns, hs, cn, grows=pool is None)
    if len(cn) > labels.shape[1]:
        labels = np.pad(labels, ((0, 0), (0, len(cn) - labels.shape[1])), constant_values=UNJUDGED)
    if tier is None:
        names = {str(name).lower() for name in frame["tier"]} if "tier" in frame.columns else set()
        tier = next((known_tier.label for known_tier in sorted(Tier) if known_tier.label in names), "tier")
    tier_labels = TierLabels(tier, "as the frame has it", labels, np.ones(len(hs), np.bool_), n_outside)
    pool_name = "of the frame" if pool is None else "as given"
    outcome = evaluate([RankedElsewhere(name)], [ranked], [tier_labels], parsed, options, pool_name)
    n = int((frame[SIMULATED].astype(str).str.lower() == "true").sum()) if SIMULATED in frame.columns else 0
    simulated = f"{n:,} of {len(frame):,} pairs of the tier rest on simulated people" if n else None
    return replace(outcome, simulated=simulated)


# A judged pair: all that its HS and its CN are called, and whether its label is positive.
_Pair = tuple[tuple[Any, ...], tuple[Any, ...], bool]


def _has_own_ids(frame: pd.DataFrame, columns: list[str], used: Mapping[str, list[Any]]) -> bool:
    """Return whether a ranking calls its texts (`used`) by the corpus's own ids; InputError where that is not clear."""
    only_own, only_numbers, both = set[str](), set[str](), set[str]()
    for side, keys in used.items():
        if {_OWN_ID[side], _KEYS[side][0]} <= {*columns}:
            # Larger floats may have been other ids before; `_Side.find` refuses them.
            exact = {as_text(key) for key in keys if not isinstance(key, float) or abs(key) < 2**53}
            own, numbers = frame[_OWN_ID[side]].fillna("").astype(str), frame[_KEYS[side][0]].astype(str)
            words = {word for cell in own.unique() for word in cell.split()}
            used_own, used_numbers = (exact & ids for ids in (words, {*numbers}))
            only_own |= used_own - used_numbers
            only_numbers |= used_numbers - used_own
            both |= set() if own.equals(numbers) else used_own & used_numbers
    if (only_own and only_numbers) or (both and not (only_own or only_numbers)):
        raise InputError(
            f"the ids of the ranking could be the study's numbers (`hs_id`, `cn_id`) or the corpus's own ids "
            f"({', '.join(f'`{name}`' for name in _OWN_ID.values())}), such as "
            f"{', '.join(sorted(both or only_numbers)[:SHOWN])}; drop the columns of the others from the frame"
        )
    return bool(only_own)


def _pairs(frame: pd.DataFrame, columns: list[str], positive: Sequence[str], *, own_ids: bool) -> list[_Pair]:
    column = FINAL if FINAL in columns else LABEL
    keys = {side: [name for name in _KEYS[side] if name in columns] for side in (HS, CN)}
    if missing := [_KEYS[side][0] for side in (HS, CN) if not keys[side]] + [column] * (column not in columns):
        raise InputError(f"the tier frame has no column `{missing[0]}`; found {', '.join(columns) or 'none'}")
    if frame.empty:
        raise InputError("the tier frame has no rows; expected a row for each pair of the tier")
    used = frame[[*keys[HS], *keys[CN], column]]
    empty = ((name, row) for name in used.columns for row in np.flatnonzero(used[name].isna()) + 1)
    reject(FRAME, [Finding(FRAME, int(row), f"`{name}` is empty") for name, row in empty])
    right, labels = ["1"] if column == FINAL else [*positive], [as_text(label) for label in used[column].tolist()]
    if not {*labels} & {*right}:
        known, names = sorted({*labels})[:SHOWN], "its labels are %(names)s"
        hint = suggest_name(right[0], known, names) if right else f"its labels are {', '.join(known)}"
        raise InputError(f"no pair of the tier frame is labelled {' or '.join(right)}; {hint}; give `positive`")
    is_positive = [label in right for label in labels]
    hs, cn = (list(zip(*(used[name].tolist() for name in keys[side]), strict=True)) for side in (HS, CN))
    for side, called in ((HS, hs), (CN, cn)):
        if own_ids and {_OWN_ID[side], _KEYS[side][0]} <= {*columns}:  # in place of the number; a text may have several
            own = frame[_OWN_ID[side]].fillna("").astype(str).str.split()
            called[:] = [(*words, *keys[1:]) or keys for words, keys in zip(own, called, strict=True)]
    return list(zip(hs, cn, is_positive, strict=True))


def _read_columns(name: str, frame: Any) -> list[str]:
    """The names of the columns; raises InputError for what is no frame, and for a name that two columns have."""
    if not isinstance(frame, pd.DataFrame):
        raise invalid_value(name, frame, _EXPECTED[name])
    columns = [str(column) for column in frame.columns]
    if repeated := sorted({column for column in columns if columns.count(column) > 1}):
        raise InputError(f"column `{repeated[0]}` of the {name} is duplicated; rename or drop one")
    return columns


def _labels(pairs: list[_Pair], hs: _Side, cn: _Side, *, grows: bool) -> tuple[Any, int]:
    """The labels of the pool, `(n_hs, n_cn)`, and how many pairs have a CN that is not in it."""
    places: dict[tuple[int, int], bool] = {}
    findings, outside = [], []
    for number, (hs_keys, cn_keys, is_positive) in enumerate(pairs, 1):
        row = hs.add(*hs_keys)
        column = next((at for key in cn_keys if (at := cn.find(key)) is not None), None)
        if grows:
            column = cn.add(*cn_keys)
        elif column is None:
            outside.append((cn_keys[0], is_positive))
            continue
        else:
            cn.call(column, *cn_keys)
        if (row, column) in places:
            findings.append(Finding(FRAME, number, "this pair is duplicated", cause="pairs are duplicated"))
        else:
            places[row, column] = is_positive
    reject(FRAME, findings)
    if lost := [short_repr(key) for key, is_positive in outside if is_positive]:
        shown = list_first(lost, SHOWN)
        raise InputError(f"the pool lacks {len(lost)} CNs that the tier labels positive ({shown}); add them")
    labels = np.full((len(hs), len(cn)), UNJUDGED, np.int8)
    for place, is_positive in places.items():
        labels[place] = POSITIVE if is_positive else NEGATIVE
    return labels, len(outside)


def _ranked(ranking: list[tuple[Any, list[Any]]], hs: _Side, cn: _Side, *, grows: bool) -> Ranking:
    """The ranking of each HS as positions in the pool, which grows by what is ranked beside it where it may."""
    rows: dict[int, list[int]] = {}
    n_other = 0
    for key, ranked_cns in ranking:
        if (row := hs.find(key)) is None:
            n_other += 1
            continue
        if row in rows:
            raise InputError(f"HS {short_repr(key)} is ranked twice, by its id and by its text; drop one")
        positions = []
        for cn_key in ranked_cns:
            position = cn.find(cn_key)
            if position is None and grows and not (cn_key is None or (isinstance(cn_key, float) and isnan(cn_key))):
                position = cn.add(cn_key)
            if position is None:
                raise InputError(f"CN {short_repr(cn_key)} is ranked, but not in the pool; add it, or drop it")
            positions.append(position)
        if len({*positions}) < len(positions):
            again = next(one for at, one in enumerate(ranked_cns) if positions[at] in positions[:at])
            raise InputError(f"CN {short_repr(again)} is ranked twice for HS {short_repr(key)}; keep the better rank")
        rows[row] = positions
    if missing := [short_repr(hs.names[row]) for row in range(len(hs)) if row not in rows]:
        shown = list_first(missing, SHOWN)
        raise InputError(f"{len(missing)} of {len(hs)} HS of the tier are not ranked ({shown}); give each a list")
    order = np.full((len(hs), max(1, *map(len, rows.values()))), NOTHING, np.int64)
    for row, positions in rows.items():
        order[row, : len(positions)] = positions
    return rank_without_scores(order, (f"ignored: {n_other:,} HS that are not in the tier",) if n_other else ())


def _lists(ranking: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each HS of a ranking with its CNs, best first."""
    if not isinstance(ranking, Mapping):
        columns = _read_columns("ranking", ranking)
        keys = [next((name for name in _KEYS[side] if name in columns), _KEYS[side][0]) for side in (HS, CN)]
        by = "score" if "score" in columns else "rank"
        if missing := [name for name in (*keys, by) if name not in columns]:
            expected = "hs_id, cn_id and score or rank"
            raise InputError(
                f"the ranking has no column `{missing[0]}`; expected {expected}; found {', '.join(columns)}"
            )
        usable = {name: ranking[name].notna().to_numpy() for name in keys}
        usable[by] = np.isfinite(pd.to_numeric(ranking[by], errors="coerce").to_numpy(np.float64))
        unusable = ((name, int(row)) for name, rows in usable.items() for row in np.flatnonzero(~rows) + 1)
        why = {**dict.fromkeys(keys, "empty"), by: "not a number"}
        reject(RANKING, [Finding(RANKING, row, f"`{name}` is {why[name]}") for name, row in unusable])
        for key, rows in ranking.sort_values(by, ascending=by == "rank", kind="stable").groupby(keys[0], sort=False):
            yield key, rows[keys[1]].tolist()
        return
    for key, cns in ranking.items():
        if isinstance(cns, str | bytes | Mapping) or not isinstance(cns, Iterable):
            raise invalid_value(f"the ranking of HS {short_repr(key)}", cns, "a list of CNs, best first")
        yield key, list(cns)

"""Tiers: what they rest on, who is in them, why, and freezing one as a release."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.files.corpus.fc_conan import need_published_scheme, published_columns
from fcpair.files.release.tier import tier_table
from fcpair.files.tables.tabular import check_suffix, replacing, write_table
from fcpair.param_values import takes_params
from fcpair.params import Partition
from fcpair.records import Explanation, Origin, Round, Rule, RunRecord, Tier, TierCheck
from fcpair.stages.adjudication.adjudicate import tally
from fcpair.stages.adjudication.partition import (
    OF_CELLS,
    OF_PAIRS,
    Evidence,
    TierRule,
    as_tier,
    grade,
    passes,
    reasons,
    tables,
    tier_rules,
)
from fcpair.stages.assignment.validate import combine
from fcpair.stages.questions import NO_CODE, SKIP, Closed
from fcpair.stages.questions.labels import VERDICT, need_tiers, no_tiers
from fcpair.steps.base.answer_values import form_of, told
from fcpair.steps.base.context import (
    OnGrid,
    cell_of,
    is_planned,
    labels_of,
    need_labels,
    note,
    note_run,
    own,
    scheme_of,
)
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import number_of
from fcpair.store.oversight import runs

if TYPE_CHECKING:
    import pandas as pd

NO_LABELS = "the answers in this grid are no labels"


@dataclass(frozen=True)
class Tiers:
    """The graded pairs and the tables about them.

    `pairs` has one row per pair with a label: `cell_id`, `hs_id`, `cn_id`, `n_labels`, `final` (code, -1 none),
    `verdict` (1 valid, 0 not, -1 none), `tier` (4 Diamond to 1 Bronze, 0 none). `tables` are FC-CONAN's Tables 1 to 3,
    which call pairs, HS and CN cells, rows and columns in a planned grid.
    `n_second_look` pairs of a tier were decided before their labels changed.
    """

    rules: tuple[TierRule, ...]
    question: Closed
    pairs: pd.DataFrame
    tables: tuple[pd.DataFrame, ...]
    n_simulated: int
    n_second_look: int = 0


@takes_params
def partition(grid: OnGrid, options: Partition | None = None) -> Tiers:
    """Derive Diamond, Gold, Silver and Bronze from judgements, adjudications and verdicts.

    The grid's own rules hold when no options are given, as they do in `tier`, `release` and `explain`.
    Raises InputError where no answer of the grid is positive, as of `scale(1,5,1)`: tiers need some that are.
    """
    with grid.store.read() as tx:
        need_labels(tx, "partition")
        found = tiers_of(tx, options or own(tx, Partition, {}))
        return replace(found, pairs=_numbered(found.pairs))


@takes_params
def note_partition(grid: OnGrid, options: Partition) -> RunRecord:
    """Derive the tiers, and make these rules the study's own."""
    pairs = partition(grid, options).pairs
    counts = {tier.label: int((pairs["tier"] >= tier).sum()) for tier in reversed(Tier)}
    with grid.store.write() as tx:
        return note(tx, options, counts)


def tiers_of(tx: Tx, options: Partition) -> Tiers:
    """The tiers as they are in a transaction that is under way; raises what `need_tiers` does."""
    question, rules = need_tiers(scheme_of(tx)), tier_rules(options.diamond)
    evidence = _evidence(tx, judgements.current_labels(tx, "cell_id", "code"), question)
    given = cells.given(tx)
    pairs = (
        given[given["cell_id"].isin(evidence.tally.cell_id)]
        .assign(
            n_labels=evidence.tally.n_labels,
            final=evidence.final,
            verdict=evidence.verdict,
            tier=grade(evidence, rules),
        )
        .reset_index(drop=True)
    )
    simulated = judgements.n_simulated(tx)
    second_look = int(pairs["cell_id"][pairs["tier"] > 0].isin(rule_decisions.overtaken(tx)).sum())
    found = tables(pairs, question, rules, OF_CELLS if is_planned(tx) else OF_PAIRS)
    return Tiers(rules, question, pairs, tuple(found), simulated, second_look)


def _numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as others get them: `cell_id` is the number of the pair."""
    return rows.assign(cell_id=number_of(rows["cell_id"]))


def _evidence(tx: Tx, labels: pd.DataFrame, question: Closed) -> Evidence:
    tallied = tally(labels["cell_id"].to_numpy(), labels["code"].to_numpy(), question)
    standing = judgements.current_adjudications(tx, "cell_id", "code")
    codes = standing["code"].fillna(NO_CODE).to_numpy().astype(int)
    given = judgements.current_verdicts(tx, "cell_id", "code")
    validated, verdict = combine(given["cell_id"].to_numpy(), given["code"].to_numpy())
    return Evidence(
        tallied,
        final=_align(tallied.cell_id, standing["cell_id"].to_numpy(), codes),
        verdict=_align(tallied.cell_id, validated, verdict),
    )


def _align(pairs: NDArray[np.int64], keys: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value of each pair in `pairs` (ascending), -1 where `keys` (ascending) lacks it."""
    if not len(keys):
        return np.full(len(pairs), NO_CODE, np.int64)
    at = np.clip(np.searchsorted(keys, pairs), 0, len(keys) - 1)
    return np.where(keys[at] == pairs, values[at], NO_CODE)


@takes_params
def tier_rows(
    grid: OnGrid, tier: Tier | str, options: Partition | None = None, *, published: bool = False
) -> pd.DataFrame:
    """The pairs of a tier (`Tier.GOLD`, or its name, `"gold"`), as `release` writes them, by number.

    They have texts, label, verdict, each annotator's label and metadata. `published` gives FC-CONAN's column names
    instead, and raises InputError where the labels are not its three; a last column `simulated` is added there only
    when something does rest on simulated people.
    """
    return tier_start(grid, tier, None, options, published=published)[0]


@takes_params
def tier_start(
    grid: OnGrid, tier: Tier | str, first: int | None, options: Partition | None = None, *, published: bool = False
) -> tuple[pd.DataFrame, int]:
    """The first pairs of a tier, all for None, as `tier` has them, and how many there are in all."""
    tier = as_tier(tier)
    with grid.store.read() as tx:
        need_labels(tx, "partition")
        if published:
            need_published_scheme(scheme_of(tx))
        tiers = tiers_of(tx, options or own(tx, Partition, {}))
        inside = tiers.pairs[tiers.pairs["tier"] >= tier].reset_index(drop=True)
        pairs = inside if first is None else inside.head(first)
        asked_for = pairs["cell_id"].tolist()
        labels = judgements.current_labels(tx, "cell_id", "annotator", "code", "origin", cell_ids=asked_for)
        texts = cells.texts_of_grid(tx)
        made_up = _simulated_pairs(tx, labels) if tiers.n_simulated else set()
    simulated = pairs["cell_id"].isin(made_up)
    pairs, labels = _numbered(pairs), _numbered(labels)
    if not published:
        return tier_table(pairs, labels, texts, tiers.question).assign(simulated=simulated), len(inside)
    return _in_published_columns(pairs, labels, texts, tiers.question, simulated), len(inside)


def _simulated_pairs(tx: Tx, labels: pd.DataFrame) -> set[int]:
    verdicts = judgements.current_verdicts(tx, "cell_id", "origin")
    both = (frame["cell_id"][frame["origin"] == Origin.SIMULATED.value] for frame in (labels, verdicts))
    return {pair for column in both for pair in column.tolist()}


def _in_published_columns(
    pairs: pd.DataFrame, labels: pd.DataFrame, texts: pd.DataFrame, question: Closed, simulated: pd.Series[bool]
) -> pd.DataFrame:
    import pandas as pd

    by_id = texts.set_index("text_id")
    hs, cn = by_id.loc[pairs["hs_id"]], by_id.loc[pairs["cn_id"]]
    rows = pairs.assign(
        hs=hs["body"].to_numpy(), cn=cn["body"].to_numpy(), positive=pairs["final"].isin(question.positive)
    )
    metadata = pd.DataFrame([{**one, **other} for one, other in zip(hs["meta"], cn["meta"], strict=True)])
    table = published_columns(rows, metadata, labels)
    return table.assign(simulated=simulated) if simulated.any() else table


@takes_params
def release(
    grid: OnGrid, tier: Tier | str, path: str | Path, options: Partition | None = None, *, published: bool = False
) -> RunRecord:
    """Write a tier to a file (.csv, .jsonl, .parquet) and note its rule, counts and content hash."""
    tier, options = as_tier(tier), options or grid.own(Partition)
    check_suffix(path)
    rows = tier_rows(grid, tier, options, published=published)
    if rows.empty:
        raise InputError(empty(tier))
    rule = next(rule for rule in tier_rules(options.diamond) if rule.tier is tier)
    counts = {"pairs": len(rows)}
    params = {"tier": tier.label, "out": str(path), "diamond": options.diamond}
    with replacing(path) as temporary:  # it takes its place when all of this is noted
        write_table(rows, temporary)
        sha256 = hashlib.sha256(temporary.read_bytes()).hexdigest()
        with grid.store.write() as tx:  # short: whoever answers meanwhile waits for its end
            runs.add_release(tx, tier.label, {"rule": str(rule)}, counts, str(path), sha256)
            return note_run(tx, "partition", params, {**counts, "sha256": sha256})


def empty(tier: Tier) -> str:
    """What is said where a tier without a pair is asked for."""
    return f"{tier.label} is empty: no pair is in it yet, so nothing was written; `fcpair partition` shows every tier"


@takes_params
def explain(grid: OnGrid, number: int, options: Partition | None = None) -> Explanation:
    """Say why a pair is where it is; raises UnknownIdError when there is none of that number.

    The answers of every round are there as people read them, of a form with several questions each with its name.
    """
    import pandas as pd

    with grid.store.read() as tx:
        cell_id = cell_of(tx, number)
        hs, cn = cells.texts_of(tx, cell_id)
        question, rules = labels_of(tx), tier_rules((options or own(tx, Partition, {})).diamond)
        labels = judgements.current_labels(tx, "cell_id", "code", cell_ids=[cell_id])
        history = judgements.decision_history(tx, cell_id)
        newest = history.iloc[-1] if len(history) else None
        discarded = newest is not None and newest["rule"] != Rule.REOPENED.value and bool(pd.isna(newest["code"]))
        not_yet = "" if len(labels) else "it has no labels yet"
        barred = (no_tiers(question) if question else NO_LABELS) or ("it was discarded" if discarded else not_yet)
        checks = _barred(rules, barred) if barred or not question else _checks(_evidence(tx, labels, question), rules)
        best = max((check.tier for check in checks if check.passed), default=None)
        return Explanation(
            number,
            hs["body"],
            cn["body"],
            hs["meta"],
            cn["meta"],
            _rows(sides.neighbours_of(tx, cn["text_id"])),
            _told(_rows(judgements.history(tx, cell_id)), rounds.rounds(tx)),
            _outcomes(_rows(history), question),
            best.label if best else None,
            checks,
            discarded,
            bool(rule_decisions.overtaken(tx, [cell_id])),
        )


def _barred(rules: tuple[TierRule, ...], why: str) -> tuple[TierCheck, ...]:
    return tuple(TierCheck(rule.tier, str(rule), False, (why,)) for rule in rules)


def _checks(evidence: Evidence, rules: tuple[TierRule, ...]) -> tuple[TierCheck, ...]:
    return tuple(
        TierCheck(rule.tier, str(rule), bool(passes(rule, evidence)[0]), tuple(reasons(evidence, rule, 0)))
        for rule in rules
    )


def _rows(frame: pd.DataFrame) -> tuple[dict[str, Any], ...]:
    plain = frame.astype(object).where(frame.notna(), None)
    return tuple({str(key): value for key, value in row.items()} for row in plain.to_dict("records"))


def _outcomes(rows: tuple[dict[str, Any], ...], question: Closed | None) -> tuple[dict[str, Any], ...]:
    """Decisions with the names of what they decided, in place of codes; only labels are ever decided."""
    none = {Rule.REOPENED.value: "taken back"}
    outcomes = []
    for row in rows:
        code = row.pop("code")
        named = none.get(row["rule"], "discarded") if code is None or not question else question[int(code)].name
        outcomes.append({**row, "answer": named})
    return tuple(outcomes)


def _told(rows: tuple[dict[str, Any], ...], asked: list[Round]) -> tuple[dict[str, Any], ...]:
    """Answers as people read them: a verdict in the round that checks, in others what its form makes of it, `skip`, or
    `withdrawn`.
    """
    by_name, answered = {one.name: one for one in asked}, []
    for row in rows:
        code, value, of = row.pop("code"), row.pop("value"), by_name[row["round"]]
        if row.pop("skipped"):
            answer = "withdrawn" if row["withdrawn"] else SKIP
        else:
            answer = told(form_of(of.form), value) if of.checks is None else VERDICT[int(code)].name
        answered.append({**row, "answer": answer})
    return tuple(answered)

"""Tiers: what they rest on, who is in them, why, and freezing one as a release."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.files.corpus.fc_conan import published_columns, require_published_scheme
from fcpair.files.release.tier import pair_frame, tier_table
from fcpair.files.tables.folders import replace_file
from fcpair.files.tables.tabular import check_suffix, write_table
from fcpair.notebook import Result
from fcpair.params import DiamondRule, Partition
from fcpair.records import Origin, RunRecord, Tier
from fcpair.stages.adjudication.adjudicate import tally
from fcpair.stages.adjudication.partition import (
    CELL_HEADS,
    PAIR_HEADS,
    ColumnHeads,
    Evidence,
    TierRule,
    best_first,
    best_of_four,
    find_rule,
    is_member,
    memberships,
    tier_rules,
    tier_tables,
)
from fcpair.stages.assignment.validate import combine_verdicts
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import need_tiers
from fcpair.stages.questions.tier_answers import check_own_tiers
from fcpair.steps.base.context import (
    GridContext,
    effective_options,
    is_planned,
    need_labels,
    note_run,
    note_stage_run,
    scheme_of,
)
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import check_seen
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import judgements
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.oversight import runs

if TYPE_CHECKING:
    import pandas as pd

LabelArrays = Mapping[str, NDArray[np.int64]]
GRADED = ("cell_id", "hs_id", "cn_id", "code")
"""Columns of labels that tiers follow from."""


@dataclass(frozen=True, repr=False)
class Tiers(Result):
    """The graded pairs and the tables about them.

    `pairs` has one row per pair with a label: `cell_id`, `hs_id`, `cn_id`, `n_labels`, `final` (code, -1 none),
    `verdict` (1 valid, 0 not, -1 none), `tier` (4 Diamond to 1 Bronze, 0 none), `tiers` (a bit for each of
    `rules`, which `in_tier` reads). `tables` are those of `fcpair partition`: sizes, balance and labels of the tiers,
    and verdicts by number of labels; they call pairs, HS and CN cells, rows and columns in a planned grid.
    `n_second_look` pairs of a tier were decided before their labels changed.
    """

    rules: tuple[TierRule, ...]
    question: Closed
    pairs: pd.DataFrame
    tables: tuple[pd.DataFrame, ...]
    n_simulated: int
    n_second_look: int = 0

    def to_frame(self) -> pd.DataFrame:
        """A row for each pair with a label: `pair`, `hs_id`, `cn_id`, `label`, `verdict`, `tier`, `n_labels`.

        `label`, `verdict` (valid, not valid) and `tier` (the best of the four) are names; a pair without a label or a
        tier has None there, one without a verdict an empty text. If the study has tiers of its own, `own_tiers` names
        those of each pair.
        `Grid.tier` has the texts, too.
        """
        return pair_frame(self.pairs, self.question, self.rules)

    def in_tier(self, tier: Tier | str) -> pd.DataFrame:
        """The rows of `pairs` that are in a tier; raises InputError where the study has none of that name."""
        rows: pd.DataFrame = self.pairs[is_member(self.pairs["tiers"], self.rules, tier)]
        return rows

    @property
    def sizes(self) -> dict[str, int]:
        """How many pairs each tier has: the four, the best first, then the study's own."""
        return {rule.tier: len(self.in_tier(rule.tier)) for rule in best_first(self.rules)}

    def _summary(self) -> str:
        return ", ".join(f"{name} {n:,}" for name, n in self.sizes.items())


@takes_params
def partition(
    grid: GridContext,
    options: Partition | None = None,
    *,
    diamond: DiamondRule = own("unanimous"),
    own_tiers: Mapping[str, Any] = own(()),
) -> Tiers:
    """Derive Diamond, Gold, Silver, Bronze and the study's own tiers from judgements, adjudications and verdicts.

    The grid's own rules hold when no options are given, as they do in `tier`, `release` and `explain`.
    Raises InputError where no answer of the grid is positive, as of `scale(1,5,1)`: tiers need some that are.
    """
    with grid._store.read() as tx:
        need_labels(tx, "partition")
        tiers = tiers_of(tx, options or effective_options(tx, Partition, {}))
        return replace(tiers, pairs=_with_pair_numbers(tiers.pairs))


@takes_params
def note_partition(
    grid: GridContext,
    options: Partition | None = None,
    *,
    seen: str | None = None,
    diamond: DiamondRule = own("unanimous"),
    own_tiers: Mapping[str, Any] = own(()),
) -> RunRecord:
    """Derive the tiers, and make these rules the grid's own.

    Raises ConflictError where its rules are no longer those that somebody has `seen` (`digest_params`).
    """
    options = options or grid.effective_options(Partition)
    counts = partition(grid, options).sizes
    with grid._store.write() as tx:
        check_seen(tx, Partition, seen)
        return note_stage_run(tx, options, counts)


def list_tiers(grid: GridContext) -> tuple[str, ...]:
    """The names of the grid's tiers: the four, the best first, then its own."""
    return tuple(rule.tier for rule in best_first(tier_rules(grid.effective_options(Partition))))


def tiers_of(tx: Tx, options: Partition) -> Tiers:
    """The tiers as they are in a transaction that is under way; raises what `need_tiers` does."""
    import pandas as pd

    question, rules = need_tiers(scheme_of(tx)), tier_rules(options)
    check_own_tiers(options.own_tiers, question)
    pairs = pd.DataFrame(graded_pairs(tx, question, rules, judgements.label_arrays(tx, *GRADED)))
    n_simulated = judgements.n_simulated(tx)
    n_second_look = int(pairs["cell_id"][pairs["tiers"] > 0].isin(rule_decisions.stale_decisions(tx)).sum())
    summary_tables = tier_tables(pairs, question, rules, heads_of(tx))
    return Tiers(rules, question, pairs, tuple(summary_tables), n_simulated, n_second_look)


def heads_of(tx: Tx) -> ColumnHeads:
    """Names that tables about tiers use in the grid of a transaction."""
    return CELL_HEADS if is_planned(tx) else PAIR_HEADS


def graded_pairs(
    tx: Tx, question: Closed, rules: tuple[TierRule, ...], labels: LabelArrays
) -> dict[str, NDArray[np.int64]]:
    """The columns of `Tiers.pairs`; `labels` are the current ones, with the columns of GRADED."""
    evidence = evidence_of(tx, labels, question)
    tiers = memberships(evidence, rules)
    cell_ids, first = np.unique(labels["cell_id"], return_index=True)
    return {
        "cell_id": cell_ids,
        **{name: labels[name][first] for name in ("hs_id", "cn_id")},
        "n_labels": evidence.tally.n_labels,
        "final": evidence.final,
        "verdict": evidence.verdict,
        "tier": best_of_four(tiers),
        "tiers": tiers,
    }


def _with_pair_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as others get them: `cell_id` is the number of the pair."""
    return rows.assign(cell_id=to_public_number(rows["cell_id"]))


def evidence_of(tx: Tx, labels: LabelArrays, question: Closed) -> Evidence:
    """The evidence on the pairs with these `labels`, which have the columns `cell_id` and `code`."""
    label_tally = tally(labels["cell_id"], labels["code"], question)
    decisions, verdicts = adjudications.decided_codes(tx), judgements.verdict_arrays(tx)
    validated_ids, verdict = combine_verdicts(verdicts["cell_id"], verdicts["code"])
    return Evidence(
        label_tally,
        final=align(label_tally.cell_id, decisions["cell_id"], decisions["code"]),
        verdict=align(label_tally.cell_id, validated_ids, verdict),
    )


def align(pairs: NDArray[np.int64], keys: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value of each pair in `pairs` (ascending), -1 where `keys` (ascending) lacks it."""
    if not len(keys):
        return np.full(len(pairs), NO_CODE, np.int64)
    index = np.clip(np.searchsorted(keys, pairs), 0, len(keys) - 1)
    return np.where(keys[index] == pairs, values[index], NO_CODE)


@takes_params
def tier_rows(
    grid: GridContext,
    tier: Tier | str,
    options: Partition | None = None,
    *,
    published: bool = False,
    diamond: DiamondRule = own("unanimous"),
    own_tiers: Mapping[str, Any] = own(()),
) -> pd.DataFrame:
    """The pairs of a tier (`Tier.GOLD`, or a name, such as `"gold"` or one of the study's own), by number.

    They are as `release` writes them.

    They have texts, label, verdict, each annotator's label and metadata. `published` gives FC-CONAN's column names
    instead, and raises InputError where the labels are not its three; a last column `simulated` is added there only
    when something does rest on simulated people.
    """
    return first_tier_rows(grid, tier, None, options, published=published)[0]


@takes_params
def first_tier_rows(
    grid: GridContext,
    tier: Tier | str,
    first: int | None,
    options: Partition | None = None,
    *,
    published: bool = False,
    diamond: DiamondRule = own("unanimous"),
    own_tiers: Mapping[str, Any] = own(()),
) -> tuple[pd.DataFrame, int]:
    """The first pairs of a tier, all for None, as `tier` has them, and how many there are in all."""
    with grid._store.read() as tx:
        need_labels(tx, "partition")
        if published:
            require_published_scheme(scheme_of(tx))
        derived = tiers_of(tx, options or effective_options(tx, Partition, {}))
        tier_pairs = derived.in_tier(tier).reset_index(drop=True)
        pairs = tier_pairs if first is None else tier_pairs.head(first)
        cell_ids = pairs["cell_id"].tolist()
        labels = judgements.current_labels(tx, "cell_id", "annotator", "code", "origin", cell_ids=cell_ids)
        texts = cells.texts_of_grid(tx)
        simulated_ids = _simulated_pairs(tx, labels) if derived.n_simulated else set()
    is_simulated = pairs["cell_id"].isin(simulated_ids)
    pairs, labels = _with_pair_numbers(pairs), _with_pair_numbers(labels)
    if not published:
        table = tier_table(pairs, labels, texts, derived.question, derived.rules)
        return table.assign(simulated=is_simulated), len(tier_pairs)
    return _in_published_columns(pairs, labels, texts, derived.question, is_simulated), len(tier_pairs)


def _simulated_pairs(tx: Tx, labels: pd.DataFrame) -> set[int]:
    verdicts = judgements.current_verdicts(tx, "cell_id", "origin")
    id_columns = (frame["cell_id"][frame["origin"] == Origin.SIMULATED.value] for frame in (labels, verdicts))
    return {pair for column in id_columns for pair in column.tolist()}


def _in_published_columns(
    pairs: pd.DataFrame, labels: pd.DataFrame, texts: pd.DataFrame, question: Closed, is_simulated: pd.Series[bool]
) -> pd.DataFrame:
    import pandas as pd

    by_id = texts.set_index("text_id")
    hs, cn = by_id.loc[pairs["hs_id"]], by_id.loc[pairs["cn_id"]]
    rows = pairs.assign(
        hs=hs["body"].to_numpy(), cn=cn["body"].to_numpy(), positive=pairs["final"].isin(question.positive)
    )
    metadata = pd.DataFrame([{**one, **other} for one, other in zip(hs["meta"], cn["meta"], strict=True)])
    table = published_columns(rows, metadata, labels)
    return table.assign(simulated=is_simulated) if is_simulated.any() else table


@takes_params
def release(
    grid: GridContext,
    tier: Tier | str,
    path: str | Path,
    options: Partition | None = None,
    *,
    published: bool = False,
    download: bool = False,
    diamond: DiamondRule = own("unanimous"),
    own_tiers: Mapping[str, Any] = own(()),
) -> RunRecord:
    """Write a tier to a file (.csv, .jsonl, .parquet) and note its rule, counts and content hash.

    Of a `download`, whose file does not stay where it is, the name alone is noted.
    """
    options = options or grid.effective_options(Partition)
    rule = find_rule(tier_rules(options), tier)
    check_suffix(path)
    rows = tier_rows(grid, rule.tier, options, published=published)
    if rows.empty:
        raise InputError(empty_tier_message(rule.tier))
    counts = {"pairs": len(rows)}
    file, how = (Path(path).name, {runs.DOWNLOAD: True}) if download else (str(path), {})
    params = {"tier": rule.tier, "out": file, **how, **options.noted}
    with replace_file(path) as temporary:  # it takes its place when all of this is noted
        write_table(rows, temporary)
        sha256 = hashlib.sha256(temporary.read_bytes()).hexdigest()
        with grid._store.write() as tx:  # short: whoever answers meanwhile waits for its end
            runs.add_release(tx, rule.tier, {"rule": str(rule), **how}, counts, file, sha256)
            run = note_run(tx, "partition", params, {**counts, "sha256": sha256})
    return replace(run, notes=(f"{rule.tier}: {rule}",))


def empty_tier_message(tier: str) -> str:
    """Message for whoever asks for a tier without a pair."""
    return f"{tier} is empty: no pair is in it yet, so nothing was written; `fcpair partition` shows every tier"

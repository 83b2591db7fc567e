"""Tiers: what they rest on, who is in them, why a pair is or is not, and freezing one as a release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fcpair.errors import EXPECTED, InputError, suggest_name
from fcpair.files.corpus.corpus import CN
from fcpair.files.corpus.fc_conan import published_columns, require_published_scheme
from fcpair.files.release.tier import pair_frame, tier_table
from fcpair.files.tables.folders import replace_file
from fcpair.files.tables.tabular import check_suffix, plain_rows, write_table
from fcpair.lazy import pd
from fcpair.notebook import Result
from fcpair.params import POOLS, DiamondRule, Ids, Partition
from fcpair.records import TIERS, UNDECIDED, Origin, Rule, RunRecord, Tier
from fcpair.sentences import mark, say
from fcpair.stages.adjudication import partition
from fcpair.stages.adjudication.partition import ColumnHeads, TierRule
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.stages.questions import SKIP, Closed
from fcpair.stages.questions.labels import VERDICT, check_own_tiers, need_tiers, tier_obstacle
from fcpair.steps.base import context
from fcpair.steps.base.answer_values import form_of, format_answer, to_client
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import check_seen, own, takes_params
from fcpair.steps.base.text_digests import find_listed_texts
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.tallies import read_request_note
from fcpair.steps.rules.tier_evidence import GRADED, evidence_of, graded_pairs
from fcpair.store import Tx, adjudications
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.oversight import runs
from fcpair.work_records import Explanation, TierCheck


@dataclass(frozen=True, repr=False)
class TierTable(Result):
    """The sizes, balance and labels of the tiers, and the pairs that they grade.

    `pairs` has one row per pair with a label: `cell_id`, `hs_id`, `cn_id`, `n_labels`, `final` (code, -1 none),
    `verdict` (1 valid, 0 not, -1 none), `tier` (4 Diamond to 1 Bronze, 0 none), `tiers` (a bit for each of `rules`).
    `heads` are the words of the `tables`. `n_second_look` pairs of a tier were decided before their labels changed.
    """

    rules: tuple[TierRule, ...]
    question: Closed
    pairs: pd.DataFrame
    heads: ColumnHeads
    n_simulated: int = 0
    n_second_look: int = 0

    @cached_property
    def tables(self) -> tuple[pd.DataFrame, ...]:
        """The tables of `fcpair partition`: sizes, balance and labels of tiers, and verdicts by number of labels."""
        return tuple(partition.tier_tables(self.pairs, self.question, self.rules, self.heads))

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each tier, the four, the best first, then the study's own: the first three of `tables`, joined."""
        parts = zip(*map(plain_rows, self.tables[:3]), strict=True)
        return ({**sizes, **balance, **labels} for sizes, balance, labels in parts)

    def pair_frame(self) -> pd.DataFrame:
        """A row for each pair with a label: `pair`, `hs_id`, `cn_id`, `label`, `verdict`, `tier`, `n_labels`,
        `own_tiers`.

        `label`, `verdict` (valid, not valid, empty for none) and `tier` (the best of the four) are names, or None.
        """
        return pair_frame(self.pairs, self.question, self.rules)

    def in_tier(self, tier: Tier | str) -> pd.DataFrame:
        """The rows of `pairs` that are in a tier; raises InputError where the study has none of that name."""
        rows: pd.DataFrame = self.pairs[partition.is_member(self.pairs["tiers"], self.rules, tier)]
        return rows

    @property
    def sizes(self) -> dict[str, int]:
        """Number of pairs of each tier: the four, the best first, then the study's own."""
        return {rule.tier: len(self.in_tier(rule.tier)) for rule in partition.best_first(self.rules)}

    def _summary(self) -> str:
        return ", ".join(f"{name} {n:,}" for name, n in self.sizes.items())


def derive_tiers(grid: GridContext) -> TierTable:
    """Derive the tiers from judgements, decisions and verdicts; InputError where no answer of the grid is positive."""
    with grid._store.read() as tx:
        context.need_labels(tx, "partition")
        tiers = tiers_of(tx, context.rules_of(grid, tx))
        in_tiers = tiers.pairs["cell_id"][tiers.pairs["tiers"] > 0]
        return replace(
            tiers,
            pairs=with_pair_numbers(tiers.pairs),
            n_simulated=judgements.n_by_origin_of_all(tx).get(Origin.SIMULATED.value, 0),
            n_second_look=int(in_tiers.isin(rule_decisions.stale_decisions(tx)).sum()),
        )


@takes_params
def note_partition(
    grid: GridContext,
    options: Partition | None = None,
    *,
    seen: str | None = None,
    diamond: DiamondRule = own("unanimous"),
    own_tiers: Mapping[str, Any] = own(()),
) -> RunRecord:
    """Derive the tiers, and make these rules the grid's own; ConflictError where those `seen` hold no more."""
    options = options or grid.effective_options(Partition)
    with grid._store.read() as tx:
        context.need_labels(tx, options.stage)
        counts = tiers_of(tx, options).sizes
    with grid._store.write() as tx:
        check_seen(tx, Partition, seen)
        return context.note_stage_run(tx, options, counts)


def list_tiers(grid: GridContext) -> tuple[str, ...]:
    """The names of the grid's tiers: the four, the best first, then its own."""
    return tuple(rule.tier for rule in partition.best_first(partition.tier_rules(grid.effective_options(Partition))))


def tiers_of(tx: Tx, options: Partition) -> TierTable:
    """The tiers as they are in a transaction that is under way; raises what `need_tiers` does."""
    question, rules = need_tiers(context.scheme_of(tx)), partition.tier_rules(options)
    check_own_tiers(options.own_tiers, question)
    pairs = pd.DataFrame(graded_pairs(tx, question, rules, judgements.label_arrays(tx, *GRADED)))
    return TierTable(rules, question, pairs, heads_of(tx))


def heads_of(tx: Tx) -> ColumnHeads:
    """Names that tables about tiers use in the grid of a transaction."""
    return partition.CELL_HEADS if context.is_planned(tx) else partition.PAIR_HEADS


def with_pair_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as others get them: `cell_id` is the number of the pair."""
    return rows.assign(cell_id=to_public_number(rows["cell_id"]))


def simulated_cells(*answers: pd.DataFrame) -> set[int]:
    """The cells (`cell_id`) of answers that simulated people gave."""
    ids = (frame["cell_id"][frame["origin"] == Origin.SIMULATED.value] for frame in answers)
    return {cell for column in ids for cell in column.tolist()}


def tier_rows(grid: GridContext, tier: Tier | str, *, published: bool = False, ids: Ids | None = None) -> pd.DataFrame:
    """The pairs of a tier (`Tier.GOLD`, or a name, such as `"gold"` or one of the study's own), by number.

    As `release` writes them: texts, label, verdict, each annotator's label, metadata. `published` gives FC-CONAN's
    column names, raises InputError where the labels are not its three, and has `simulated` only if something is. The
    corpus's own `ids` have columns where a text has one; with `study` they have none, and `own` needs one of each text.
    """
    return first_tier_rows(grid, tier, published=published, ids=ids)[0]


def first_tier_rows(
    grid: GridContext, tier: Tier | str, first: int | None = None, *, published: bool = False, ids: Ids | None = None
) -> tuple[pd.DataFrame, int]:
    """The first pairs of a tier, all for None, as `frame` has them, and how many there are in all."""
    with grid._store.read() as tx:
        return load_tier(tx, context.rules_of(grid, tx), tier, first, published=published, ids=ids)


def load_tier(
    tx: Tx,
    rules: Partition,
    tier: Tier | str,
    first: int | None = None,
    *,
    published: bool = False,
    ids: Ids | None = None,
) -> tuple[pd.DataFrame, int]:
    """The pairs of a tier by these rules, or the first of them, and how many there are in all."""
    context.need_labels(tx, "partition")
    if published:
        if ids is not None:
            raise InputError("the published layout has the ids of FC-CONAN's files; omit `ids` (--ids)")
        require_published_scheme(context.scheme_of(tx))
    derived = tiers_of(tx, rules)
    tier_pairs = derived.in_tier(tier).reset_index(drop=True)
    pairs = tier_pairs if first is None else tier_pairs.head(first)
    cell_ids = pairs["cell_id"].tolist()
    labels = judgements.current_labels(tx, "cell_id", "annotator", "code", "origin", cell_ids=cell_ids)
    texts, verdicts = cells.texts_of_grid(tx), judgements.current_verdicts(tx, "cell_id", "origin")
    is_simulated = pairs["cell_id"].isin(simulated_cells(labels, verdicts))
    pairs, labels = with_pair_numbers(pairs), with_pair_numbers(labels)
    if not published:
        table = tier_table(pairs, labels, texts, derived.question, derived.rules, ids)
        return table.assign(simulated=is_simulated), len(tier_pairs)
    by_id = texts.set_index("text_id")
    hs, cn = by_id.loc[pairs["hs_id"]], by_id.loc[pairs["cn_id"]]
    positive = pairs["final"].isin(derived.question.positive)
    rows = pairs.assign(hs=hs["body"].to_numpy(), cn=cn["body"].to_numpy(), positive=positive)
    metadata = pd.DataFrame([{**of_hs, **of_cn} for of_hs, of_cn in zip(hs["meta"], cn["meta"], strict=True)])
    table = published_columns(rows, metadata, labels)
    return (table.assign(simulated=is_simulated) if is_simulated.any() else table), len(tier_pairs)


def release(
    grid: GridContext,
    tier: Tier | str,
    path: str | Path,
    *,
    published: bool = False,
    download: bool = False,
    ids: Ids | None = None,
) -> RunRecord:
    """Write a tier to a file (.csv, .jsonl, .parquet), as `tier` has it; note rule, counts and hash, of a `download`
    only its name.
    """
    check_suffix(path)
    with grid._store.read() as tx:
        rules = context.rules_of(grid, tx)
        rule = partition.find_rule(partition.tier_rules(rules), tier)
        rows, _ = load_tier(tx, rules, rule.tier, published=published, ids=ids)
    if rows.empty:
        raise InputError(empty_tier_message(rule.tier))
    counts = {"pairs": len(rows)}
    file, how = (Path(path).name, {runs.DOWNLOAD: True}) if download else (str(path), {})
    params = {"tier": rule.tier, "out": file, **how, **rules.noted}
    params |= {} if grid._as_of is None else {"as_of": grid._as_of}
    with replace_file(path) as temporary:  # it takes its place when all of this is noted
        write_table(rows, temporary)
        sha256 = hashlib.sha256(temporary.read_bytes()).hexdigest()
        with grid._store.write() as tx:  # short: whoever answers meanwhile waits for its end
            runs.add_release(tx, rule.tier, {"rule": str(rule), **how}, counts, file, sha256)
            run = context.note_run(tx, "partition", params, {**counts, "sha256": sha256})
    return replace(run, notes=(f"{rule.tier}: {rule}",))


def empty_tier_message(tier: str) -> str:
    """Message for whoever asks for a tier without a pair."""
    return say(
        "%(tier)s is empty: no pair is in it yet, so nothing was written; `fcpair partition` shows every tier",
        tier=tier,
    )


def pool_ids(tx: Tx, tiers: TierTable, pool: str, ids: Ids | None = None) -> list[int]:
    """The ids of the CNs in the pool, a name in `POOLS` or a file that lists CNs, in candidate order.

    Raises InputError for an empty pool, no such file, or a text that is not in the study or not in the grid.
    """
    column_ids, path = sides.text_ids(tx, "column", drawn=True), Path(pool)
    if pool in POOLS:
        pairs = tiers.in_tier(Tier.BRONZE)
        is_meant = pairs["final"].isin(tiers.question.positive) | (pool != "positive")
        pool_cns = set(column_ids if pool == "all" else pairs["cn_id"][is_meant].tolist())
        if not pool_cns:
            raise InputError(f"the pool `{pool}` ({POOLS[pool]}) is empty; `fcpair partition` shows every tier")
        return [cn for cn in column_ids if cn in pool_cns]
    if not path.is_file():
        if path.suffix or path.name != pool:
            raise InputError(f"--pool {pool}: there is no such file; expected {', '.join(POOLS)}, or a file of CNs")
        raise InputError(f"--pool {pool}: {suggest_name(pool, POOLS, EXPECTED)}, or a file that lists CNs")
    if NO_TEXT.search(pool):
        raise InputError(f"--pool {pool}: the name is not UTF-8 and cannot be recorded; rename the file")
    pool_cns = set(find_listed_texts(tx, CN, path, ids=ids))
    if n_outside := len(pool_cns - set(column_ids)):  # no file lists a text twice
        raise InputError(
            f"{path}: {n_outside} of {len(pool_cns)} CNs are in the corpus but not in the grid of the study"
        )
    return [cn for cn in column_ids if cn in pool_cns]


NO_LABELS = "the answers in this grid are not labels"


def explain(grid: GridContext, number: int) -> Explanation:
    """Say why a pair is where it is, with answers as people read them; UnknownIdError when no pair has that number."""
    with grid._store.read() as tx:
        cell_id = context.find_cell(tx, number)
        hs, cn = cells.texts_of(tx, cell_id)
        question, rules = context.labels_of(tx), partition.tier_rules(context.rules_of(grid, tx))
        labels = judgements.label_arrays(tx, "cell_id", "code", cell_ids=[cell_id])
        history = adjudications.decision_history(tx, cell_id)
        newest = history.iloc[-1] if len(history) else None
        is_discarded = newest is not None and newest["rule"] not in UNDECIDED and bool(pd.isna(newest["code"]))
        no_label_reason = "" if len(labels["cell_id"]) else mark("it has no labels yet")
        reason = (tier_obstacle(question) if question else NO_LABELS) or (
            mark("it was discarded") if is_discarded else no_label_reason
        )
        evidence = None if reason or not question else evidence_of(tx, labels, question)
        checks = [
            TierCheck(
                rule.tier,
                str(rule),
                bool(partition.is_in_tier(rule, evidence)[0]),
                tuple(partition.failed_demands(evidence, rule, 0)),
            )
            if evidence
            else TierCheck(rule.tier, str(rule), False, (reason,))
            for rule in rules
        ]
        passed = [check.tier for check in checks if check.passed]
        names_without_label = {
            Rule.REOPENED.value: mark("taken back"),
            Rule.REQUESTED.value: mark("waits for a person"),
        }
        outcomes, answers = list[dict[str, Any]](), list[dict[str, Any]]()
        for row in plain_rows(history):
            code, answer = row.pop("code"), names_without_label.get(row["rule"], mark("discarded"))
            if row["rule"] == Rule.REQUESTED:
                row["note"] = read_request_note(row["note"])
            outcomes.append({**row, "answer": question[int(code)].name if question and code is not None else answer})
        rounds_by_name = {round_.name: round_ for round_ in rounds.of_grid(tx)}
        for row in plain_rows(judgements.answer_history(tx, cell_id)):
            code, value, round_ = row.pop("code"), row.pop("value"), rounds_by_name[row["round"]]
            if (given := row.pop("given")) is not None:
                given = to_client(given) if given != value else None
            if row.pop("skipped"):
                answer = mark("withdrawn") if row["withdrawn"] else SKIP
            else:  # a verdict, or what the form makes of it
                answer = (
                    format_answer(form_of(round_.form), value) if round_.checks is None else VERDICT[int(code)].name
                )
            answers.append({**row, "answer": answer, "given": given})
        return Explanation(
            to_public_number(cell_id),
            hs["body"],
            cn["body"],
            hs["meta"],
            cn["meta"],
            tuple(plain_rows(sides.neighbours_of(tx, cn["text_id"]))),
            tuple(answers),
            tuple(outcomes),
            next((name for name in TIERS if name in passed), None),
            tuple(checks),
            is_discarded,
            bool(rule_decisions.stale_decisions(tx, [cell_id])),
            tuple(name for name in passed if name not in TIERS),
        )

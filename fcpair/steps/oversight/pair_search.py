"""Searching the pairs of a grid by text, metadata, person, answer, state and tier."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.files.answers.answer_files import CELL_COLUMNS, PAIR_COLUMNS, CellColumns
from fcpair.lazy import pd
from fcpair.notebook import Result
from fcpair.pair_filter import NO_METADATA, NO_TIER, FilterChoices, FilterState, MetadataChoice, PairFilter, check_name
from fcpair.params import Partition
from fcpair.records import Role, Verdict
from fcpair.sentences import mark
from fcpair.stages.adjudication import partition
from fcpair.stages.adjudication.adjudicate import Tally, combine_verdicts
from fcpair.stages.questions import IRRECONCILABLE, NO_CODE
from fcpair.stages.questions.labels import need_tiers, tier_obstacle
from fcpair.steps.base.context import GridContext, effective_options, is_planned, scheme_of
from fcpair.steps.base.figure_cache import Marks
from fcpair.steps.oversight.activity import current_labels
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.tier_evidence import align
from fcpair.store import Tx, adjudications, disputes, people
from fcpair.store.answers import judgements
from fcpair.store.answers.answer_arrays import answer_arrays
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import cell_range, to_cell_id, to_public_number
from fcpair.store.oversight import pair_search

MAX_VALUES = 30  # of the metadata that are offered to be chosen from; if there are more, one is typed
MANY = 20_000  # cells, of which all are read
FACTS = ("labels", "decision", "verdict", "tier")
UNDECIDED = NO_CODE - 1  # in the place of a code, where no decision stands
VERDICT_NAMES = {NO_CODE: "", int(Verdict.DISAGREE): "not valid", int(Verdict.AGREE): "valid"}


@dataclass(frozen=True, repr=False)
class FoundPairs(Result):
    """Pairs that match a search: `total` of them, of which `records` has those from place `first` on, by number.

    The `columns` are `pair`, `hs`, `cn` (of a planned grid `cell`, `row`, `column`), `labels` (how often each was
    given), `decision`, `verdict` and the best `tier`; what there is not is an empty text.
    """

    columns: tuple[str, ...]
    records: list[tuple[Any, ...]]
    total: int
    first: int

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each pair from place `first` on."""
        return (dict(zip(self.columns, record, strict=True)) for record in self.records)

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame; all columns but the first are texts."""
        return super().to_frame().astype(dict.fromkeys(self.columns, "str") | {self.columns[0]: "int64"})

    def _summary(self) -> str:
        return f"{self.total:,}, here {len(self.records):,} from place {self.first:,} on"


def find_pairs(
    grid: GridContext,
    *,
    words: str = "",
    person: str = "",
    answer: str = "",
    state: str = "",
    tier: str = "",
    skipped: bool | None = None,
    noted: bool | None = None,
    other: str = "",
    other_answer: str = "",
    metadata: Mapping[str, str] | None = None,
    sort: str = "",
    first: int = 0,
    n: int | None = None,
) -> FoundPairs:
    """Find the pairs that meet every condition that is given, whose meaning `PairFilter` has.

    `sort` names the column by which they come, or metadata such as `hs.target`; after a `-` the largest first. Pairs
    that have nothing there come last, and those that are alike by number; labels are sorted by how many they are.
    `n` of them from place `first` on are read, counted from 0 (all for None), or the last `n`. Raises InputError for an
    unknown person, answer, state, tier, column or name of metadata, with the nearest, and for a tier where labels make
    none.
    """
    wanted = PairFilter(words, person, answer, state, tier, skipped, noted, other, other_answer, metadata or {})
    return read_pairs(grid, wanted, sort=sort, first=first, n=n)


def read_pairs(
    grid: GridContext,
    wanted: PairFilter,
    *,
    numbers: Ints | None = None,
    more: Sequence[str] = (),
    sort: str = "",
    rank: Callable[[Ints], Ints] | None = None,
    first: int = 0,
    n: int | None = None,
) -> FoundPairs:
    """The same: only pairs with these `numbers`, with columns for the metadata that `more` names.

    Where `sort` names something else, `rank` gives the value of pairs, by their numbers, by which they are sorted.
    """
    with grid._store.read() as tx:
        matching, layout = _ordered(grid, tx, wanted, numbers, sort, rank), _layout(tx)
        size = n or max(len(matching), 1)
        begin = min(max(first, 0), max(len(matching) - 1, 0) // size * size)
        records = list(_records(tx, matching[begin : begin + size].tolist(), more))
        return FoundPairs((layout.number, *layout.sides, *FACTS, *more), records, len(matching), begin)


def find_neighbours(
    grid: GridContext,
    number: int,
    wanted: PairFilter,
    *,
    numbers: Ints | None = None,
    sort: str = "",
    rank: Callable[[Ints], Ints] | None = None,
) -> tuple[int | None, int | None]:
    """Find the numbers of the pairs before and after one, of those that `read_pairs` finds in their order.

    None at either end; of a pair that is not among them, the first of them is the one after it.
    """
    with grid._store.read() as tx:
        matching = _ordered(grid, tx, wanted, numbers, sort, rank)
        places = np.flatnonzero(matching == to_cell_id(tx, number))
        at = int(places[0]) if len(places) else -1
        before, after = (
            to_public_number(int(matching[place])) if 0 <= place < len(matching) else None for place in (at - 1, at + 1)
        )
        return before, after


def _ordered(
    grid: GridContext, tx: Tx, wanted: PairFilter, numbers: Ints | None, sort: str, rank: Callable[[Ints], Ints] | None
) -> Ints:
    """The cells that are found, by id, in their order; see `read_pairs`."""
    matching: Ints = matching_cells(grid, tx, wanted)
    name, is_descending = sort.removeprefix("-"), sort.startswith("-")
    if numbers is not None:
        matching = np.intersect1d(matching, numbers + cell_range(tx).first)
    if name not in ("", _layout(tx).number):
        numbers = matching - cell_range(tx).first
        values = rank(numbers) if rank else _sort_values(grid, tx, name, matching)
        return matching[np.lexsort((matching, -values if is_descending else values, values < 0))]
    return matching[::-1] if is_descending else matching


def _sort_values(grid: GridContext, tx: Tx, name: str, cell_ids: Ints) -> Ints:
    """A number by which each of these pairs is sorted; negative where it has nothing in that column."""
    side_ids = dict(zip(_layout(tx).sides, ("hs_id", "cn_id"), strict=True))
    known = _metadata_by_name(tx) if "." in name else {}
    check_name(mark("there is no column `%(name)s`; %(hint)s"), name, (*side_ids, *FACTS, *known))
    if name in FACTS:
        standings = current_standings(grid, tx)
        by_fact = standings.n_labels, standings.decision, standings.verdict, partition.best_of_four(standings.tiers) - 1
        return align(cell_ids, standings.cell_id, dict(zip(FACTS, by_fact, strict=True))[name])
    values = _text_bodies(tx) if name in side_ids else known[name]
    ranks = {value: rank for rank, value in enumerate(sorted(set(values.values()), key=_fold))}
    # Of all cells, where most are meant: to name each of them would take longer.
    located = cells.cell_arrays(tx, cell_ids.tolist() if len(cell_ids) < MANY else None)
    text_ids = located[side_ids[name.partition(".")[0]]][np.searchsorted(located["cell_id"], cell_ids)]
    rank_of = np.full(max((*values, int(text_ids.max(initial=0)))) + 1, NO_CODE)
    rank_of[list(values)] = [ranks[value] for value in values.values()]
    return rank_of[text_ids]


def matching_cells(grid: GridContext, tx: Tx, wanted: PairFilter) -> Ints:
    """The cells that meet every condition, by id, ascending; raises what `find_pairs` does."""
    # Without conditions all are meant, of a grid without labels, too, in which nothing can be asked for.
    ids = _resolve(grid, tx, wanted) if wanted.chosen else pair_search.FilterIds()
    return pair_search.matching_pairs(tx, wanted, ids)


def list_choices(grid: GridContext) -> FilterChoices:
    """List what `find_pairs` can be asked for in this grid: the names that there are."""
    with grid._store.read() as tx:
        question, has_answers, given = scheme_of(tx), pair_search.has_answers(tx), pair_search.people_with_pairs(tx)
        is_asked_only = rounds.primary(tx).role is Role.RESPONDENT and rule_decisions.policy_that_holds(tx) is None
        states: tuple[FilterState, ...] = (FilterState.UNASSIGNED, FilterState.OPEN) if given else ()
        if has_answers:
            states = (*states, FilterState.LABELLED) if is_asked_only else tuple(FilterState)
        has_tiers = has_answers and not is_asked_only and not tier_obstacle(question)
        return FilterChoices(
            tuple(given),
            tuple(choice.name for choice in question) if has_answers else (),
            tuple(state.value for state in states),
            (*(rule.tier for rule in partition.best_first(_rules(tx))), NO_TIER) if has_tiers else (),
            has_answers,
            tuple(
                MetadataChoice(name, tuple(distinct) if len(distinct) <= MAX_VALUES else ())
                for name, values in _metadata_by_name(tx).items()
                for distinct in [sorted(set(values.values()))]
            ),
        )


def _resolve(grid: GridContext, tx: Tx, wanted: PairFilter) -> pair_search.FilterIds:
    question, rules = scheme_of(tx), _rules(tx)
    ids_by_name = {person.name: person.id for person in people.people(tx)}
    for name in (wanted.person, wanted.other):
        check_name(mark("there is no person `%(name)s`; %(hint)s"), name, ids_by_name)
    for name in (wanted.answer, wanted.other_answer):
        check_name(mark("there is no answer `%(name)s`; %(hint)s"), name, (choice.name for choice in question))
    has_answer = wanted.answer or wanted.other_answer
    answer_ids = {choice.name: rounds.label_ids(tx)[choice.code] for choice in question} if has_answer else {}
    words = _fold(wanted.words).split()
    bodies = [(text_id, _fold(body)) for text_id, body in _text_bodies(tx).items()] if words else []
    known = _metadata_by_name(tx) if wanted.metadata else {}
    rows, columns = list[list[int]](), list[list[int]]()  # that have each value which is wanted of their side
    for name, value in wanted.metadata.items():
        check_name(NO_METADATA, name, known)
        texts = [text_id for text_id, own in known[name].items() if _fold(own) == _fold(value)]
        (rows if name.startswith(f"{_layout(tx).sides[0]}.") else columns).append(texts)
    tiers = (*(rule.tier for rule in partition.best_first(rules)), NO_TIER)
    check_name(mark("there is no tier `%(name)s`; %(hint)s"), wanted.tier, tiers)
    if wanted.tier:
        need_tiers(question)
    among = outside = None
    if wanted.state == FilterState.LABELLED:
        among = np.unique(current_labels(tx, answer_arrays(tx))["cell_id"])
    if wanted.tier or wanted.state in BY_STANDING:
        standings = current_standings(grid, tx)
        outside = standings.cell_id[standings.tiers > 0] if wanted.tier == NO_TIER else None
        is_wanted = [BY_STANDING[wanted.state](standings)] if wanted.state in BY_STANDING else []
        if wanted.tier not in ("", NO_TIER):
            is_wanted.append(partition.is_member(standings.tiers, rules, wanted.tier))
        if is_wanted:
            meant = standings.cell_id[np.all(is_wanted, axis=0)]
            among = meant if among is None else np.intersect1d(meant, among, assume_unique=True)
    return pair_search.FilterIds(
        tuple([text_id for text_id, body in bodies if word in body] for word in words),
        ids_by_name.get(wanted.person),
        answer_ids.get(wanted.answer),
        among,
        outside,
        ids_by_name.get(wanted.other),
        answer_ids.get(wanted.other_answer),
        tuple(rows),
        tuple(columns),
    )


def _rules(tx: Tx) -> tuple[partition.TierRule, ...]:
    return partition.tier_rules(effective_options(tx, Partition, {}))


# The states that follow from rules of stages, which are read from what is kept between searches.
BY_STANDING: dict[str, Callable[[Standings], Bools]] = {
    FilterState.WAITING: lambda standings: standings.waits,
    FilterState.VALID: lambda standings: standings.verdict == Verdict.AGREE,
    FilterState.NOT_VALID: lambda standings: standings.verdict == Verdict.DISAGREE,
}


def _text_bodies(tx: Tx) -> dict[int, str]:
    return {text_id: body for axis, _ in sides.AXES for text_id, body in sides.bodies(tx, axis)}


def _metadata_by_name(tx: Tx) -> dict[str, dict[int, str]]:
    """Metadata of the texts of both sides: by its name after that of the side, each text's value; none is empty."""
    by_name: dict[str, dict[int, str]] = {}
    for side_name, (axis, _) in zip(_layout(tx).sides, sides.AXES, strict=True):
        for text_id, metadata in zip(sides.text_ids(tx, axis), sides.values(tx, axis, "meta"), strict=True):
            for key, value in metadata.items():
                if value not in (None, ""):
                    by_name.setdefault(f"{side_name}.{key}", {})[text_id] = str(value)
    return by_name


def _layout(tx: Tx) -> CellColumns:
    return CELL_COLUMNS if is_planned(tx) else PAIR_COLUMNS


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _records(tx: Tx, cell_ids: list[int], more: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The number and both texts of each pair; its labels, decision, verdict and tiers in words, once answered; and
    these metadata.
    """
    located, bodies = cells.cell_arrays(tx, cell_ids), _text_bodies(tx)
    evidence, standings = load_standings(tx, cell_ids)
    question, tiers = evidence.tally.question, partition.name_tiers(standings.tiers.tolist(), _rules(tx))
    columns = evidence.tally.counts, np.where(standings.decided, evidence.final, UNDECIDED), standings.verdict
    known = _metadata_by_name(tx) if more else {}
    for name in more:
        check_name(NO_METADATA, name, known)
    is_of_row = {name: name.startswith(f"{_layout(tx).sides[0]}.") for name in more}
    rows = zip(*(column.tolist() for column in (standings.cell_id, *columns)), tiers, strict=True)
    names = [choice.name for choice in question]
    decisions = {UNDECIDED: "", NO_CODE: IRRECONCILABLE} | {choice.code: choice.name for choice in question}
    facts = {}
    for cell_id, counts, code, verdict, tier in rows:
        labels = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True) if count)
        facts[cell_id] = labels, decisions[code], VERDICT_NAMES[verdict], tier
    side_ids = zip(located["hs_id"].tolist(), located["cn_id"].tolist(), strict=True)
    texts_of = dict(zip(located["cell_id"].tolist(), side_ids, strict=True))
    for cell_id in cell_ids:
        hs_id, cn_id = texts_of[cell_id]
        values = (known[name].get(hs_id if is_of_row[name] else cn_id, "") for name in more)
        fact = facts.get(cell_id, ("",) * len(FACTS))
        yield to_public_number(cell_id), bodies[hs_id], bodies[cn_id], *fact, *values


@dataclass(frozen=True)
class Standings:
    """Pairs that somebody has answered, ascending, as they stand; all of shape `(n_pairs,)`.

    `verdict` is a `Verdict`, -1 for none; `tiers` a bit for each tier; decisions stand on those `decided`. `decision`
    is the place of its choice, that after the last where none of them holds, and -1 where no decision stands.
    """

    cell_id: Ints
    verdict: Ints
    tiers: Ints
    decided: Bools
    waits: Bools
    n_labels: Ints
    decision: Ints


def current_standings(grid: GridContext, tx: Tx) -> Standings:
    """The pairs that somebody has answered as they stand in a transaction."""

    def renew(tx: Tx, standings: Standings, marks: Marks) -> Standings:
        """Work them out again for those pairs alone that somebody has answered or decided since."""
        changed = disputes.pairs_touched_since(tx, *marks[:2])
        if not changed:
            return standings
        newer = load_standings(tx, changed)[1]
        is_kept = ~np.isin(standings.cell_id, newer.cell_id)
        order = np.argsort(np.concatenate([standings.cell_id[is_kept], newer.cell_id]), kind="stable")
        columns = zip(vars(standings).values(), vars(newer).values(), strict=True)
        return Standings(*(np.concatenate([old[is_kept], new])[order] for old, new in columns))

    rests_on = effective_options(tx, Partition, {}), rounds.primary(tx).form
    return grid._figures.at(tx, "standings", lambda tx: load_standings(tx)[1], renew, rests_on=rests_on)


def load_standings(tx: Tx, cell_ids: Sequence[int] | None = None) -> tuple[partition.Evidence, Standings]:
    """These pairs, or all, as far as somebody has answered them: what their standing rests on, and that."""
    question, counting = scheme_of(tx), rounds.primary(tx)
    if cell_ids is None:  # from the answers that are kept as arrays: in a large grid that takes a tenth of the time
        answers = answer_arrays(tx)
        answered = np.unique(answers.cell_id[np.isin(answers.round_id, counting.ids)])
        labels: Mapping[str, Ints] = current_labels(tx, answers)
    else:
        answered = judgements.judged_cells(tx, counting, cell_ids)
        labels = judgements.label_arrays(tx, "cell_id", "code", cell_ids=cell_ids)
    n_choices = len(question.codes)
    place = np.searchsorted(answered, labels["cell_id"]) * n_choices + np.searchsorted(question.codes, labels["code"])
    counts = np.bincount(place, minlength=len(answered) * n_choices).reshape(len(answered), n_choices)
    newest, verdicts = adjudications.decided_codes(tx, cell_ids), judgements.verdict_arrays(tx, cell_ids)
    final, stands, requested = (
        align(answered, newest["cell_id"], newest[name]) for name in ("code", "stands", "requested")
    )
    verdict = align(answered, *combine_verdicts(verdicts["cell_id"], verdicts["code"]))
    evidence = partition.Evidence(Tally(question, answered, counts), final, verdict)
    tiers = np.zeros(len(answered), np.int64)
    if not tier_obstacle(question):
        tiers = partition.memberships(evidence, partition.tier_rules(effective_options(tx, Partition, {})))
    # A person has to decide where nothing was decided, and labels have not one definite answer, or one was requested.
    definite = [question.codes.index(code) for code in question.definite]
    n_definite = (counts[:, definite] > 0).sum(axis=1)
    has_case = (evidence.tally.n_labels > 0) & ((n_definite != 1) | (requested == 1))
    place = np.where(final == NO_CODE, n_choices, np.searchsorted(question.codes, final))
    decision = np.where(stands == 1, place, NO_CODE)
    waits = (stands != 1) & has_case
    return evidence, Standings(answered, verdict, tiers, stands == 1, waits, evidence.tally.n_labels, decision)

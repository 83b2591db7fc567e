"""Progress of pairs and rounds, which every status, page and report shows, and what readers of figures must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from fcpair.done import tell_relabelling
from fcpair.errors import InputError, StageError
from fcpair.param_values import whole_number
from fcpair.params import Validate, grid_names
from fcpair.records import UNDECIDED, Origin, Round, Rule, Status
from fcpair.sentences import Sentence, mark, mark_plural, say, say_number
from fcpair.stages.adjudication.adjudicate import ONE_LABEL, is_valid
from fcpair.steps.base.context import effective_options, find_cell, find_grid, lease_minutes, scheme_of
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx, adjudications, disputes
from fcpair.store.answers import judgements, relabelling
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import build_progress, settings


@dataclass(frozen=True)
class PairCounts:
    """Every pair of the grid once, by how far it is.

    `no_label`: nobody has labelled it. `wait_for_person`: labelled, no rule can decide it. `wait_for_policy`: labelled,
    and a policy would decide it, but none has. `discarded`: decided to have no label. Decided to have one:
    `no_verdict` on that label, `valid` or `not_valid`.
    """

    no_label: int
    wait_for_person: int
    wait_for_policy: int
    discarded: int
    no_verdict: int
    valid: int
    not_valid: int


@dataclass(frozen=True)
class Tally:
    """States of the pairs of a grid, and the decisions and verdicts that brought them there."""

    pairs: PairCounts
    by_rule: dict[str, int]  # newest decisions, those taken back included
    n_lost: int  # pairs that have verdicts, none of which is about the label that they have now
    waiting: tuple[int, ...] = ()  # the pairs that wait for a person, by id


def tally(tx: Tx) -> Tally:
    """Count the pairs of the grid, their decisions and their verdicts."""
    by_rule, n_discarded = Counter[str](), 0
    for (rule, discards), n in adjudications.n_by_rule(tx).items():
        by_rule[rule] += n
        n_discarded += n if discards and rule not in UNDECIDED else 0
    n_standing = by_rule.total() - sum(by_rule[rule] for rule in UNDECIDED)
    n_undecided, waiting = disputes.undecided_pairs(tx, scheme_of(tx).definite)
    balances = judgements.verdict_balances(tx)
    n_lost = balances.pop((0, 0), 0)
    n_valid = sum(n for (agree, disagree), n in balances.items() if is_valid(agree - disagree))
    n_checked = sum(balances.values())
    pairs = PairCounts(
        no_label=build_progress.n_built(tx)["pair"] - n_undecided - n_standing,
        wait_for_person=len(waiting),
        wait_for_policy=n_undecided - len(waiting),
        discarded=n_discarded,
        no_verdict=n_standing - n_discarded - n_checked,
        valid=n_valid,
        not_valid=n_checked - n_valid,
    )
    return Tally(pairs, dict(by_rule), n_lost, tuple(waiting))


def split_unanimous(tx: Tx, by_rule: Mapping[str, int]) -> dict[str, int]:
    """Decisions by rule, as far as there are any; of `unanimous` ones, those on a single label are `one_label`."""
    n_single = adjudications.n_with_one_label(tx)
    counts = {**by_rule, ONE_LABEL: n_single, Rule.UNANIMOUS.value: by_rule.get(Rule.UNANIMOUS.value, 0) - n_single}
    return {rule: n for rule, n in sorted(counts.items()) if n}


def n_decided_by_person(tx: Tx) -> Counter[int]:
    """On how many pairs the decision of each person stands and waits for no second look, by their id."""
    return Counter(adjudications.n_by_person(tx, excluded=rule_decisions.stale_decisions(tx)))


def n_without_validator(tx: Tx) -> int:
    """Count the pairs that were decided after others were assigned to validators; 0 where only some are validated."""
    if not settings.of_stage(tx, Validate.stage) or effective_options(tx, Validate, {}).pairs:
        return 0
    pairs = adjudications.pairs_without_validator(tx)
    return len(pairs) - len(disputes.pairs_to_label(tx, pairs)) if pairs else 0


class RoundProgress(NamedTuple):
    """Progress of a round: whether it was assigned, and how much is open, vacant and so on."""

    round: Round
    dealt: bool
    counts: dict[str, int]

    @property
    def done(self) -> bool:
        """Return whether it was assigned, and nothing of it is open."""
        return self.dealt and not self.counts["open"]


def check_done(tx: Tx, grid: str, round_: Round) -> None:
    """Raise StageError unless a round of the transaction's grid was assigned, and all its work is done."""
    progress = round_progress(tx, round_)
    if not progress.dealt:
        raise StageError.say(
            "round `%(name)s` of grid `%(grid)s` comes first, and has not been assigned", name=round_.name, grid=grid
        )
    if n := progress.counts["open"]:
        raise StageError(
            say_number(
                "%(n)s answer is still open in round `%(name)s` of grid `%(grid)s`, which comes first",
                "%(n)s answers are still open in round `%(name)s` of grid `%(grid)s`, which comes first",
                n,
                name=round_.name,
                grid=grid,
            )
        )


def wait_for_grids(tx: Tx, names: str | Sequence[str]) -> bool:
    """Return whether what rests on earlier grids, or on one, waits for the round that counts in one of them."""
    for name in grid_names(names):
        with grids.on_grid(tx, find_grid(tx, name).id):
            if not round_progress(tx, rounds.primary(tx)).done:
                return True
    return False


def round_progress(tx: Tx, round_: Round, grid_counts: assignments.Counts | None = None) -> RoundProgress:
    """Measure the progress of a round; `grid_counts` are those of `assignments` in the grid, where they are known."""
    by_status: dict[str, int] = (
        assignments.n_by_status(tx, round_) if grid_counts is None else assignments.sum_of_round(grid_counts, round_)
    )
    n_vacant = len(open_slots.find_vacant(tx, round_)) if round_.reassigns_skipped else 0
    counts = {status.value: by_status.get(status.value, 0) for status in Status} | {"vacant": n_vacant}
    n_free = open_slots.n_free(tx, round_)
    counts[Status.OPEN.value] += n_free
    if n_free or lease_minutes(tx, round_) is not None:
        counts["free"] = n_free
    return RoundProgress(round_, bool(by_status or n_free), counts)


def find_cells(tx: Tx, numbers: Iterable[int]) -> list[int]:
    """The ids of the pairs with these numbers, ascending, each once; raises InputError for none, UnknownIdError."""
    ids = sorted({grids.to_cell_id(tx, whole_number("pair", number)) for number in numbers})
    if not ids:
        raise InputError("no pair is named; name at least one")
    known = set(cells.by_id(tx, filter(grids.cell_range(tx).has, ids))["cell_id"].tolist())
    if unknown := [cell_id for cell_id in ids if cell_id not in known]:
        find_cell(tx, unknown[0] - grids.cell_range(tx).first)
    return ids


def as_ranges(numbers: Sequence[int]) -> str:
    """Numbers in short, such as `1-3, 7`."""
    groups = groupby(enumerate(sorted(set(numbers))), key=lambda item: item[1] - item[0])
    runs = ([number for _, number in group] for _, group in groups)
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def simulated_note(origins: dict[str, int]) -> Sentence | None:
    """Note for the reader when answers were made up; None when none were."""
    n_simulated, n_by_models = (origins.get(origin.value, 0) for origin in (Origin.SIMULATED, Origin.GENERATED))
    if not n_simulated:
        return None
    n = sum(origins.values())
    some = mark("%(number)s of %(all)s judgements are SIMULATED; figures that rest on them are not about people")
    every = mark("%(number)s of %(all)s judgements are SIMULATED; no figure here is about people")
    if n_by_models:
        some = mark(
            "%(number)s of %(all)s judgements are SIMULATED and %(models)s are by models; figures that rest on them "
            "are not about people"
        )
        every = mark(
            "%(number)s of %(all)s judgements are SIMULATED and %(models)s are by models; no figure here is about "
            "people"
        )
    return say(every if n_simulated + n_by_models == n else some, number=n_simulated, all=n, models=n_by_models)


def relabelling_notes(tx: Tx) -> list[Sentence]:
    """A sentence for each change of the labels of the grid, oldest first."""
    told = mark("on %(day)s, %(change)s (%(reason)s)")
    return [
        say(told, day=past.at[:10], change=tell_relabelling(past.change), reason=past.change["reason"])
        for past in relabelling.history(tx)
    ]


LOOK_AGAIN = (
    mark_plural(
        "%(n)s pair was decided before its labels changed and waits for a second look; until then the decision stands",
        "%(n)s pairs were decided before their labels changed and wait for a second look; until then the decision "
        "stands",
    ),
    mark_plural(
        "%(n)s pair has a verdict on a label that it no longer has; such a verdict does not count",
        "%(n)s pairs have verdicts on a label that they no longer have; such a verdict does not count",
    ),
)


def look_again(second_look: int, lost: int) -> list[Sentence]:
    """Of how many pairs the decision, and the verdict, is about labels that have changed since."""
    return [say_number(*forms, n) for forms, n in zip(LOOK_AGAIN, (second_look, lost), strict=True) if n]


def request_note(name: str | None) -> Sentence:
    """The note on a request: who asks; None where a command does."""
    return say("asked by %(name)s", name=name) if name else say("asked by a command")


def read_request_note(note: str) -> Sentence:
    """The same of what the store has kept of it, which is a mere text."""
    by_command = request_note(None)
    if not note.startswith("asked by "):  # since a label was split
        return Sentence("%(why)s", {"why": note})
    return by_command if note == by_command else request_note(note.removeprefix("asked by "))

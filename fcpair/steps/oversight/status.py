"""How the study stands: what is done, who has what to do, and what comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from fcpair.records import Round, RunRecord, Status
from fcpair.steps.base.context import OnStudy, is_planned, lease_min
from fcpair.steps.base.sample_size import sampled
from fcpair.steps.base.text_digests import folding
from fcpair.steps.oversight import grid_status
from fcpair.steps.oversight.next_commands import Work, at_hand, when_all_is_done
from fcpair.steps.rules import pair_counts, round_progress, rule_decisions
from fcpair.steps.rules.study_notes import look_again, simulated_note
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus.grids import each, here
from fcpair.store.database.store import soon
from fcpair.store.oversight import build_progress, runs
from fcpair.store.people import people


def status(study: OnStudy) -> dict[str, Any]:
    """The study at a glance, as plain values.

    Keys: `study`, `stages` (rows made by each building stage), `overlap` (pairs by number of labels asked), `people`
    (`name`, `role`, `retired`, counts of assignments `open`, `done`, `skipped`, `withdrawn`, and of pairs that they
    `decided`), `rounds`, `adjudications` (by rule, `waiting`, `second_look`: decided before their labels changed),
    `pairs` (each once: `pair_counts.PairCounts`), `lost_verdicts` (pairs whose verdicts are about another label than
    theirs), `verdicts_not_due` (open ones that wait until all labels of their pair are in), `judgements` (by origin),
    `simulated` (None, or a sentence), `notes` (sentences on what must be looked at again or waits, and on who has
    nothing to do), `sampled` (only where some cells were drawn: `cells`, and `of` how many), `grids` (those that are
    planned, see `grid_status.overview`, with what is `next` and `also` there), `next` (what to do now) and `also` (all
    else that can be done now). What is about the grid `main` is empty where there is none.
    """
    with study.store.read() as tx:
        facts, origins, others = runs.study_facts(tx), judgements.origins(tx), grid_status.planned(tx)
        given = assignments.counted(tx)
        main = _NO_MAIN if is_planned(tx) else _main(tx, [one for one in given if one.grid_id == here(tx)])
        due = [step for one in (main, *others) for step in (one["next"], *one["also"])]
        return {
            "study": {
                "file": study.store.place,
                "title": facts["title"],
                "created_at": facts["created_at"],
                "folding": folding(tx),
            },
            "stages": main["stages"],
            **({"sampled": main["sampled"]} if main.get("sampled") else {}),
            "overlap": main["overlap"],
            "people": _people(tx, given),
            **{name: main[name] for name in ("rounds", "adjudications", "pairs", "lost_verdicts", "verdicts_not_due")},
            "judgements": origins,
            "simulated": simulated_note(origins),
            "notes": [*main["notes"], *_ahead(tx)],
            "grids": others,
            **grid_status.to_do(filter(None, due), when_all_is_done(tx)),
        }


_NO_MAIN: dict[str, Any] = {
    **{name: {} for name in ("stages", "overlap", "rounds", "adjudications", "pairs")},
    **{"lost_verdicts": 0, "verdicts_not_due": 0, "notes": [], "next": None, "also": []},
}


def workload(study: OnStudy) -> list[dict[str, Any]]:
    """Everybody in the order in which they came, with the work they have: what `status` says of `people`."""
    with study.store.read() as tx:
        return _people(tx, assignments.counted(tx))


def _main(tx: Tx, counts: list[assignments.Count]) -> dict[str, Any]:
    """What `status` says of the grid `main` alone, in which there are so many assignments."""
    built = build_progress.built(tx)
    by_round = {one.name: round_progress.standing(tx, one, counts).counts for one in rounds.rounds(tx)}
    label, check = rounds.counting(tx), rounds.checking(tx)
    counted = pair_counts.tally(tx)
    adjudications = _adjudications(tx, counted)
    not_due = disputes.verdicts_not_due(tx)
    again = _to_check_again(tx) if counted.n_lost else None
    labels, verdicts = by_round[label.name], by_round.get(check.name, {})
    open_work = Work(labels, verdicts, not_due, counted.pairs, adjudications["second_look"], again)
    drawn = sampled(tx)
    return {
        "sampled": asdict(drawn) if drawn else None,
        "stages": built,
        "overlap": {str(n): pairs for n, pairs in assignments.labels_per_pair(tx).items()},
        "rounds": by_round,
        "adjudications": adjudications,
        "pairs": asdict(counted.pairs),
        "lost_verdicts": counted.n_lost,
        "verdicts_not_due": not_due,
        "notes": [
            *([str(drawn)] if drawn else []),
            *look_again(adjudications["second_look"], counted.n_lost),
            *_not_due(not_due),
            *_late(tx, counts, label),
        ],
        **grid_status.to_do(at_hand(built, open_work)),
    }


def _ahead(tx: Tx) -> list[str]:
    """What a wrong clock has done: answers that stand at a time that has not come yet fill the limit of their day."""
    newest = [*assignments.newest_times(tx), *disputes.newest_times(tx)]
    ahead = [at for at in newest if at > soon()]
    if not ahead:
        return []
    who = "somebody's newest answer stands" if len(ahead) == 1 else "the newest answers of several people stand"
    return [
        f"{who} at a time that has not come yet ({max(ahead)[:16].replace('T', ' ')} UTC), because a clock was or is "
        "wrong; daily limits and paces rest on these times. Set the clock right; until the time has come, such "
        "answers count as today's"
    ]


def _not_due(n: int) -> list[str]:
    """Verdicts that were dealt, and are asked for only when all labels of their pair are in."""
    if not n:
        return []
    return ["1 open verdict waits until all labels of its pair are in" if n == 1 else _MANY_NOT_DUE.format(n)]


_MANY_NOT_DUE = "{:,} open verdicts wait until all labels of their pairs are in"


def _late(tx: Tx, counts: list[assignments.Count], label: Round) -> list[str]:
    """Who joined after the pairs were dealt and has got none, while there are open ones."""
    own = [one for one in counts if one.round == label.name]
    given = {one.person_id for one in own}
    late = [one.name for one in people.people(tx, label.role, active=True) if one.id not in given]
    if not late or lease_min(tx, label) is not None or not any(one.status == Status.OPEN.value for one in own):
        return []
    return [f"{', '.join(late)} joined after the deal and got no pairs; `fcpair assign --more` gives an even share"]


def _people(tx: Tx, given: list[assignments.Count]) -> list[dict[str, Any]]:
    decided = Counter[int]()
    for _ in each(tx):
        decided.update(pair_counts.decided_by(tx))
    has = Counter[tuple[int, str]]()
    for count in given:
        has[count.person_id, count.status] += count.n
    rows = []
    for one in people.people(tx):
        by_status = {state.value: has[one.id, state.value] for state in Status}
        rows.append(
            {"name": one.name, "role": one.role.value, "retired": one.retired, **by_status, "decided": decided[one.id]}
        )
    return rows


def _to_check_again(tx: Tx) -> str | None:
    """How many pairs whose verdict is lost can be dealt to validators again, and by which command."""
    from fcpair.steps.assignment import validate

    _, ready = validate.lost(tx)
    return validate.proposal(tx, len(ready)) if ready else None


def _adjudications(tx: Tx, counted: pair_counts.Tally) -> dict[str, int]:
    again = len(rule_decisions.overtaken(tx)) if judgements.is_answered(tx) else 0
    return {**counted.by_rule, "waiting": counted.pairs.wait_for_person, "second_look": again}


def log(study: OnStudy) -> list[RunRecord]:
    """Every run of every stage, oldest first."""
    with study.store.read() as tx:
        return runs.runs(tx)

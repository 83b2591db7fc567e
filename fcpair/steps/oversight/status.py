"""Status of the study: what is done, who has what to do, and what comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from fcpair.records import Round, RunLog, Status
from fcpair.steps.base.context import StudyContext, is_planned, lease_minutes
from fcpair.steps.base.sample_size import load_sample_size
from fcpair.steps.base.text_digests import folding
from fcpair.steps.oversight import grid_status
from fcpair.steps.oversight.next_commands import OpenWork, final_commands, possible_steps
from fcpair.steps.rules import pair_counts, round_progress, rule_decisions
from fcpair.steps.rules.study_notes import look_again, simulated_note
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus.grids import current_grid_id, for_each_grid
from fcpair.store.database.store import latest_plausible_time
from fcpair.store.oversight import build_progress, runs
from fcpair.store.people import people


def status(study: StudyContext) -> dict[str, Any]:
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
    with study._store.read() as tx:
        facts, origins, planned_grids = runs.study_facts(tx), judgements.n_by_origin(tx), grid_status.planned_grids(tx)
        counts = assignments.counts_of_all_grids(tx)
        main = (
            _NO_MAIN
            if is_planned(tx)
            else _main_status(tx, [one for one in counts if one.grid_id == current_grid_id(tx)])
        )
        steps_now = [step for one in (main, *planned_grids) for step in (one["next"], *one["also"])]
        return {
            "study": {
                "file": study._store.place,
                "title": facts["title"],
                "created_at": facts["created_at"],
                "folding": folding(tx),
            },
            "stages": main["stages"],
            **({"sampled": main["sampled"]} if main.get("sampled") else {}),
            "overlap": main["overlap"],
            "people": _people_status(tx, counts),
            **{name: main[name] for name in ("rounds", "adjudications", "pairs", "lost_verdicts", "verdicts_not_due")},
            "judgements": origins,
            "simulated": simulated_note(origins),
            "notes": [*main["notes"], *_clock_notes(tx)],
            "grids": planned_grids,
            **grid_status.next_and_also(filter(None, steps_now), final_commands(tx)),
        }


_NO_MAIN: dict[str, Any] = {
    **{name: {} for name in ("stages", "overlap", "rounds", "adjudications", "pairs")},
    **{"lost_verdicts": 0, "verdicts_not_due": 0, "notes": [], "next": None, "also": []},
}


def workload(study: StudyContext) -> list[dict[str, Any]]:
    """Everybody in the order in which they came, with the work they have: what `status` says of `people`."""
    with study._store.read() as tx:
        return _people_status(tx, assignments.counts_of_all_grids(tx))


def _main_status(tx: Tx, counts: list[assignments.AssignmentCount]) -> dict[str, Any]:
    """Status of the grid `main` alone, whose assignments are counted in `counts`."""
    n_built = build_progress.n_built(tx)
    by_round = {one.name: round_progress.round_progress(tx, one, counts).counts for one in rounds.of_grid(tx)}
    label_round, check_round = rounds.primary(tx), rounds.validation(tx)
    tally = pair_counts.tally(tx)
    adjudications = _adjudication_counts(tx, tally)
    n_not_due = disputes.n_verdicts_not_due(tx)
    more_hint = _to_check_again(tx) if tally.n_lost else None
    labels, verdicts = by_round[label_round.name], by_round.get(check_round.name, {})
    open_work = OpenWork(labels, verdicts, n_not_due, tally.pairs, adjudications["second_look"], more_hint)
    sample = load_sample_size(tx)
    return {
        "sampled": asdict(sample) if sample else None,
        "stages": n_built,
        "overlap": {str(n): pairs for n, pairs in assignments.labels_per_pair(tx).items()},
        "rounds": by_round,
        "adjudications": adjudications,
        "pairs": asdict(tally.pairs),
        "lost_verdicts": tally.n_lost,
        "verdicts_not_due": n_not_due,
        "notes": [
            *([str(sample)] if sample else []),
            *look_again(adjudications["second_look"], tally.n_lost),
            *_not_due_notes(n_not_due),
            *_late_joiner_notes(tx, counts, label_round),
        ],
        **grid_status.next_and_also(possible_steps(n_built, open_work)),
    }


def _clock_notes(tx: Tx) -> list[str]:
    """Notes on a wrong clock: answers at a time that has not come yet, which fill the limit of their day."""
    newest = [*assignments.last_answer_times(tx), *disputes.newest_times(tx)]
    future_times = [at for at in newest if at > latest_plausible_time()]
    if not future_times:
        return []
    subject = (
        "somebody's newest answer stands" if len(future_times) == 1 else "the newest answers of several people stand"
    )
    return [
        f"{subject} at a time that has not come yet ({max(future_times)[:16].replace('T', ' ')} UTC), because a "
        "clock was or is "
        "wrong; daily limits and paces rest on these times. Set the clock right; until the time has come, such "
        "answers count as today's"
    ]


def _not_due_notes(n: int) -> list[str]:
    """Verdicts that were dealt, and are asked for only when all labels of their pair are in."""
    if not n:
        return []
    return ["1 open verdict waits until all labels of its pair are in" if n == 1 else _MANY_NOT_DUE.format(n)]


_MANY_NOT_DUE = "{:,} open verdicts wait until all labels of their pairs are in"


def _late_joiner_notes(tx: Tx, counts: list[assignments.AssignmentCount], label_round: Round) -> list[str]:
    """Notes on people who joined after the pairs were assigned and have got none, while there are open ones."""
    label_counts = [one for one in counts if one.round == label_round.name]
    assigned_ids = {one.person_id for one in label_counts}
    late_names = [one.name for one in people.people(tx, label_round.role, active=True) if one.id not in assigned_ids]
    if (
        not late_names
        or lease_minutes(tx, label_round) is not None
        or not any(one.status == Status.OPEN.value for one in label_counts)
    ):
        return []
    return [
        f"{', '.join(late_names)} joined after the deal and got no pairs; `fcpair assign --more` gives an even share"
    ]


def _people_status(tx: Tx, counts: list[assignments.AssignmentCount]) -> list[dict[str, Any]]:
    n_decided = Counter[int]()
    for _ in for_each_grid(tx):
        n_decided.update(pair_counts.n_decided_by_person(tx))
    n_by_status = Counter[tuple[int, str]]()
    for count in counts:
        n_by_status[count.person_id, count.status] += count.n
    rows = []
    for person in people.people(tx):
        by_status = {state.value: n_by_status[person.id, state.value] for state in Status}
        rows.append(
            {
                "name": person.name,
                "role": person.role.value,
                "retired": person.retired,
                **by_status,
                "decided": n_decided[person.id],
            }
        )
    return rows


def _to_check_again(tx: Tx) -> str | None:
    """Number of pairs with a lost verdict that can be assigned again, and the command for it; None without any."""
    from fcpair.steps.assignment import validate

    _, ready = validate.pairs_with_lost_verdicts(tx)
    return validate.more_validation_hint(tx, len(ready)) if ready else None


def _adjudication_counts(tx: Tx, tally: pair_counts.Tally) -> dict[str, int]:
    n_second_look = len(rule_decisions.stale_decisions(tx)) if judgements.is_answered(tx) else 0
    return {**tally.by_rule, "waiting": tally.pairs.wait_for_person, "second_look": n_second_look}


def log(study: StudyContext) -> RunLog:
    """Every run of every stage, oldest first."""
    with study._store.read() as tx:
        return RunLog(runs.runs(tx))

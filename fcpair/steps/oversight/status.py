"""Status of the study: what is done, who has what to do, and what comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from fcpair.records import Round, RunLog, Status
from fcpair.steps.base.context import StudyContext, is_planned, lease_minutes
from fcpair.steps.base.sample_size import load_sample_size
from fcpair.steps.base.text_digests import folding
from fcpair.steps.oversight import grid_status
from fcpair.steps.oversight.next_commands import final_commands, main_commands, next_and_also
from fcpair.steps.oversight.next_steps import OpenWork, TallyOf, load_open_work
from fcpair.steps.rules import pair_counts
from fcpair.steps.rules.study_notes import look_again, simulated_note
from fcpair.steps.rules.wording import effective_words
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus.grids import current_grid_id, for_each_grid
from fcpair.store.database.store import latest_plausible_time
from fcpair.store.oversight import build_progress, runs
from fcpair.store.people import people


@dataclass(frozen=True)
class StudyNotes:
    """Sentences of `status`: on what was made up, None where nothing was, and on what has to be looked at again."""

    simulated: str | None
    notes: tuple[str, ...]


def status(study: StudyContext) -> dict[str, Any]:
    """The study at a glance, as plain values.

    Keys: `study`, `stages` (rows made by each building stage), `overlap` (pairs by number of labels asked), `people`
    (`name`, `role`, `retired`, counts of assignments `open`, `done`, `skipped`, `withdrawn`, and of pairs that they
    `decided`), `known_pairs` (only where there are any: of each grid what `known_scores` lists, with `grid`), `rounds`,
    `adjudications` (by rule, `waiting`, `second_look`: decided before their labels changed),
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
            **_known_pairs_status(tx),
            **{name: main[name] for name in ("rounds", "adjudications", "pairs", "lost_verdicts", "verdicts_not_due")},
            "judgements": origins,
            "simulated": simulated_note(origins),
            "notes": [*main["notes"], *_clock_notes(tx), *effective_words(tx).language_notes],
            "grids": planned_grids,
            **next_and_also(filter(None, steps_now), final_commands(tx)),
        }


def _known_pairs_status(tx: Tx) -> dict[str, list[dict[str, Any]]]:
    if not rounds.known_ids(tx):
        return {}
    from fcpair.steps.people.known_scores import scores

    rows = [{"grid": key.name, **row} for key in for_each_grid(tx) for row in scores(tx)]
    return {"known_pairs": rows} if rows else {}


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
    work = load_open_work(tx, counts)
    sample = load_sample_size(tx)
    return {
        "sampled": asdict(sample) if sample else None,
        "stages": build_progress.n_built(tx),
        "overlap": {str(n): pairs for n, pairs in assignments.labels_per_pair(tx).items()},
        "rounds": {name: progress.counts for name, progress in work.rounds.items()},
        "adjudications": {
            **pair_counts.split_unanimous(tx, work.tally.by_rule),
            "waiting": work.tally.pairs.wait_for_person,
            "second_look": work.n_second_look,
        },
        "pairs": asdict(work.tally.pairs),
        "lost_verdicts": work.tally.n_lost,
        "verdicts_not_due": work.n_not_due,
        "notes": _main_notes(tx, counts, work),
        **next_and_also(main_commands(tx, work)),
    }


def load_notes(tx: Tx, origins: dict[str, int], tally_of: TallyOf) -> StudyNotes:
    """The notes of `status` in a transaction about the oldest grid, whose pairs are counted by `tally_of`.

    `origins` counts the current judgements by origin.
    """
    notes = _clock_notes(tx)
    if not is_planned(tx):
        counts = assignments.counts_of_grid(tx)
        notes = [*_main_notes(tx, counts, load_open_work(tx, counts, tally_of)), *notes]
    return StudyNotes(simulated_note(origins), (*notes, *effective_words(tx).language_notes))


def _main_notes(tx: Tx, counts: list[assignments.AssignmentCount], work: OpenWork) -> list[str]:
    sample = load_sample_size(tx)
    return [
        *([str(sample)] if sample else []),
        *look_again(work.n_second_look, work.tally.n_lost),
        *_not_due_notes(work.n_not_due),
        *_late_joiner_notes(tx, counts, work.primary.round),
    ]


def _clock_notes(tx: Tx) -> list[str]:
    """Notes on a wrong clock: answers at a time that has not come yet, which fill the limit of their day."""
    newest = [*assignments.last_answer_times(tx), *disputes.newest_times(tx)]
    future_times = [at for at in newest if at > latest_plausible_time()]
    if not future_times:
        return []
    subject = (
        "somebody's newest answer is dated"
        if len(future_times) == 1
        else "the newest answers of several people are dated"
    )
    return [
        f"{subject} in the future ({max(future_times)[:16].replace('T', ' ')} UTC), because a clock was or is wrong; "
        "daily limits and pace depend on these times. Set the clock right; until then, such answers count as today's"
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
        f"{', '.join(late_names)} joined after the pairs were assigned and got none; `fcpair assign --more` gives an "
        "even share"
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


def log(study: StudyContext) -> RunLog:
    """Every run of every stage, oldest first."""
    with study._store.read() as tx:
        return RunLog(runs.runs(tx))

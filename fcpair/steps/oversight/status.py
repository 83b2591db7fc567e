"""Status of the study: what is done, who has what to do, and what comes next; the log, and notes of the lead in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from shlex import quote
from typing import Any

from fcpair.errors import FcpairError, InputError, at_fault
from fcpair.notebook import frame_of, html_of
from fcpair.param_values import as_params
from fcpair.params import Adjudicate, Flagging, Note
from fcpair.records import RunLog, RunRecord, Status
from fcpair.sentences import mark, say, say_number
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.base import context
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import GridContext, StudyContext
from fcpair.steps.base.keywords import takes_params
from fcpair.steps.base.text_digests import folding
from fcpair.steps.oversight.next_steps import OpenWork, TallyOf, commands, load_open_work
from fcpair.steps.release.block_report import block_notes
from fcpair.steps.rules import tallies
from fcpair.steps.rules.tallies import round_progress
from fcpair.steps.rules.wording import effective_words
from fcpair.store import Tx, people
from fcpair.store.answers import activity_log, judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids, sides
from fcpair.store.database.store import latest_plausible_time
from fcpair.store.oversight import build_progress, runs, settings

LONGEST_NOTE = 2_000  # characters


@dataclass(frozen=True)
class StudyNotes:
    """Sentences of `status`: on what was made up, None where nothing was, and on what has to be looked at again."""

    simulated: str | None
    notes: tuple[str, ...]


def status(study: StudyContext) -> dict[str, Any]:
    """The study at a glance, as plain values.

    Keys: `study`, `stages` (rows made by each building stage), `overlap` (pairs by labels asked), `people` (`name`,
    `role`, `retired`, assignments `open`, `done`, `skipped`, `withdrawn`, and pairs `decided`), `known_pairs` (only if
    any: rows of `known_scores`, with `grid`), `rounds`, `adjudications` (by rule, `waiting`, `second_look`: decided
    before labels changed), `pairs` (each once: `tallies.PairCounts`), `lost_verdicts` (on another label than now),
    `verdicts_not_due` (open until all labels are in), `judgements` (by origin), `simulated` (None, or a sentence),
    `notes` (what must be looked at again or waits, and who has nothing to do), `sampled` (only of a drawn grid:
    `cells`, `of`), `grids` (those planned, as `overview` has them, with `next` and `also`), `next` (what to do now) and
    `also` (what else). What is about the grid `main` is empty if there is none.
    """
    with study._store.read() as tx:
        facts, origins = runs.study_facts(tx), judgements.n_by_origin(tx)
        planned = [
            grid_facts(tx, key.name) | _next_and_also(commands(tx, key.name))
            for key in grids.for_each_grid(tx)
            if context.is_planned(tx)
        ]
        counts = assignments.counts_of_all_grids(tx)
        main = _NO_MAIN
        if not context.is_planned(tx):
            own_counts, sample = counts.get(grids.current_grid_id(tx), {}), context.load_sample_size(tx)
            work = load_open_work(tx, own_counts)
            main = {
                "sampled": asdict(sample) if sample else None,
                "stages": build_progress.n_built(tx),
                "overlap": {str(n): pairs for n, pairs in assignments.labels_per_pair(tx).items()},
                "rounds": {name: progress.counts for name, progress in work.rounds.items()},
                "adjudications": {
                    **tallies.split_unanimous(tx, work.tally.by_rule),
                    "waiting": work.tally.pairs.wait_for_person,
                    "second_look": work.n_second_look,
                },
                "pairs": asdict(work.tally.pairs),
                "lost_verdicts": work.tally.n_lost,
                "verdicts_not_due": work.n_not_due,
                "notes": _main_notes(tx, own_counts, work),
                **_next_and_also(commands(tx, work=work)),
            }
        known_pairs = []
        if rounds.known_ids(tx):
            from fcpair.steps.people.known_pairs import scores

            known_pairs = [{"grid": key.name, **row} for key in grids.for_each_grid(tx) for row in scores(tx)]
        newest_changes = [  # of the labels of each grid that had any
            say("grid %(grid)s: %(change)s", grid=key.name, change=change)
            for key in grids.for_each_grid(tx)
            for change in tallies.relabelling_notes(tx)[-1:]
        ]
        steps_now = [step for grid in (main, *planned) for step in (grid["next"], *grid["also"])]
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
            **({"known_pairs": known_pairs} if known_pairs else {}),
            **{name: main[name] for name in ("rounds", "adjudications", "pairs", "lost_verdicts", "verdicts_not_due")},
            "judgements": origins,
            "simulated": tallies.simulated_note(origins),
            "notes": [*main["notes"], *newest_changes, *_clock_notes(tx), *effective_words(tx).language_notes],
            "grids": planned,
            **_next_and_also(filter(None, steps_now), _final_commands(tx)),
        }


def _next_and_also(steps: Iterable[str], otherwise: str | None = None) -> dict[str, Any]:
    all_steps = [*steps]
    return {"next": all_steps[0] if all_steps else otherwise, "also": all_steps[1:]}


def _final_commands(tx: Tx) -> str:
    offered = []
    for key in grids.for_each_grid(tx):
        if not context.is_planned(tx):
            offered.append("partition")
            continue
        primary_round, question = rounds.primary(tx), context.labels_of(tx)
        has_tiers = question is not None and not tier_obstacle(question)
        decide = "partition" if context.has_saved_options(tx, Adjudicate) else "adjudicate"
        option = f"--grid {quote(key.name)}"
        if primary_round.options.answers != 1 and form_of(primary_round.form).parts():  # 0: everybody answers
            offered.append(f"agreement {option}")
        offered.append(f"{decide} {option}" if has_tiers else f"answers export {option} --out FILE")
    if offered == ["partition"]:  # of `main`, which is the only grid
        return "run `fcpair partition` for the tiers, `fcpair report --out report.html` for everything"
    named = ", ".join(f"`fcpair {command}`" for command in offered)
    return f"everything has been answered: {named}, `fcpair report --out report.html`"


_NO_MAIN: dict[str, Any] = {
    **{name: {} for name in ("stages", "overlap", "rounds", "adjudications", "pairs")},
    **{"lost_verdicts": 0, "verdicts_not_due": 0, "notes": [], "next": None, "also": []},
}


def workload(study: StudyContext) -> list[dict[str, Any]]:
    """Everybody in the order in which they came, with the work they have: what `status` says of `people`."""
    with study._store.read() as tx:
        return _people_status(tx, assignments.counts_of_all_grids(tx))


def load_notes(tx: Tx, origins: dict[str, int], tally_of: TallyOf) -> StudyNotes:
    """The notes of `status` in a transaction about the oldest grid; `origins` counts the judgements by origin."""
    notes = _clock_notes(tx)
    if not context.is_planned(tx):
        counts = assignments.counts_of_grid(tx)
        notes = [*_main_notes(tx, counts, load_open_work(tx, counts, tally_of)), *notes]
    return StudyNotes(tallies.simulated_note(origins), (*notes, *effective_words(tx).language_notes))


def _main_notes(tx: Tx, counts: assignments.Counts, work: OpenWork) -> list[str]:
    notes: list[str] = [str(sample)] if (sample := context.load_sample_size(tx)) else []
    notes += block_notes(tx)
    notes += tallies.look_again(work.n_second_look, work.tally.n_lost)
    if work.n_not_due:  # which were assigned, and are asked for only then
        notes.append(
            say_number(
                "%(n)s open verdict waits until all labels of its pair are in",
                "%(n)s open verdicts wait until all labels of their pairs are in",
                work.n_not_due,
            )
        )
    round_, joined = work.primary.round, people.people(tx, work.primary.round.role, active=True)
    late_names = [person.name for person in joined if person.id not in counts.get(round_.name, {})]
    has_open = assignments.sum_of_round(counts, round_)[Status.OPEN.value] > 0
    if late_names and has_open and context.lease_minutes(tx, round_) is None:
        notes.append(
            say(
                "%(names)s joined after the pairs were assigned and got none; `fcpair assign --more` gives an even "
                "share",
                names=late_names,
            )
        )
    return notes


def _clock_notes(tx: Tx) -> list[str]:
    """Notes on a wrong clock: answers at a time that has not come yet, which fill the limit of their day."""
    times = [at for at in activity_log.newest_act_times(tx).values() if at > latest_plausible_time()]
    if not times:
        return []
    subject = "somebody's newest answer is" if len(times) == 1 else "the newest answers of several people are"
    return [
        f"{subject} dated in the future ({max(times)[:16].replace('T', ' ')} UTC), because a clock was or is wrong; "
        "daily limits and pace depend on these times. Set the clock right; until then, such answers count as today's"
    ]


def _people_status(tx: Tx, counts: dict[int, assignments.Counts]) -> list[dict[str, Any]]:
    n_decided = Counter[int]()
    for _ in grids.for_each_grid(tx):
        n_decided.update(tallies.n_decided_by_person(tx))
    sums = assignments.sums_of_people(counts)
    return [
        {
            "name": person.name,
            "role": person.role.value,
            "retired": person.retired,
            **{state.value: sums[person.id][state.value] for state in Status},
            "decided": n_decided[person.id],
        }
        for person in people.people(tx)
    ]


def log(study: StudyContext) -> RunLog:
    """Every run of every stage, oldest first."""
    with study._store.read() as tx:
        return RunLog(runs.runs(tx))


@takes_params
def add_note(
    grid: GridContext,
    note: Note | None = None,
    *,
    text: str = "",
    pair: int | None = None,
    flag: Flagging | None = None,
) -> RunRecord:
    """Add a note on what happened outside of the program to the log, which no release publishes. It may flag its pair,
    or remove that flag: `Monitor.flags` lists what is flagged.

    Raises InputError for an empty note without a flag, or one that is too long; UnknownIdError where the grid has no
    such pair.
    """
    note = note or Note()
    with at_fault("text"):
        if not note.text.strip() and not note.flag:
            raise InputError.say("the note is empty; write what happened")
        if len(note.text) > LONGEST_NOTE:
            long = mark("the note has %(number)s characters; expected at most %(most)s")
            raise InputError.say(long, number=len(note.text), most=LONGEST_NOTE)
    with grid._store.write() as tx:
        if note.pair is not None:
            with at_fault("pair"):
                context.find_cell(tx, note.pair)
        counts = {"flagged" if note.flag == "set" else "unflagged": 1} if note.flag else {}
        run = context.note_run(tx, note.stage, as_params(note), counts)
        if note.flag:
            kept = {"note": note.text, "by": run.by, "at": run.at} if note.flag == "set" else {}
            settings.save_settings(tx, note.stage, {str(note.pair): kept}, run.id)
        return run


def overview(study: StudyContext) -> list[dict[str, Any]]:
    """The study's grids, oldest first, as plain values.

    Keys of each: `name`, `row_name`, `column_name`, `rows`, `columns`, `cells`, and `rounds`: `name`, `role`, whether
    it `counts` and was `dealt`, assignments `open`, `done`, `skipped`, `withdrawn`, slots `vacant`, and in open
    assignment `free`.
    """
    with study._store.read() as tx:
        return [grid_facts(tx, key.name) for key in grids.for_each_grid(tx)]


def grid_facts(tx: Tx, name: str) -> dict[str, Any]:
    """Facts that `overview` gives about the grid that the transaction is about."""
    return {
        "name": name,
        **dict(zip(("row_name", "column_name"), grids.side_names(tx), strict=True)),
        **{plural: sides.n_texts(tx, axis) for axis, plural in sides.AXES},
        "cells": cells.n_cells(tx),
        "rounds": [
            {
                "name": round_.name,
                "role": round_.role.value,
                "counts": round_.counts,
                "dealt": progress.dealt,
                **progress.counts,
            }
            for round_ in rounds.of_grid(tx)
            for progress in [round_progress(tx, round_)]
        ],
    }


COLUMNS = ("grid", "rows", "columns", "cells", "round", "role", "open", "done", "skipped")


def describe(study: StudyContext) -> str:
    """The study, or its grid, in one line."""
    grid = study.grid.name if isinstance(study, GridContext) else ""
    subject = f"Grid {grid} of {study._store.place}" if grid else f"Study {study._store.place}"
    try:
        with study._store.read() as tx:
            if grid:
                return f"<{subject}: {_progress(tx)}>"
            parts = [f"{key.name} ({_progress(tx)})" for key in grids.for_each_grid(tx)]
    except FcpairError as error:  # a repr never fails
        return f"<{subject}: {error}>"
    return f"<{subject}: grid{'s' * (len(parts) > 1)} {', '.join(parts)}>"


def describe_as_html(study: StudyContext) -> str:
    """The study, or its grid, as HTML: its line, and a row for each round."""
    try:
        described = overview(study)
    except FcpairError:
        described = []
    rows = [
        {name: round_.get(name, grid.get(name)) for name in COLUMNS} | {"grid": grid["name"], "round": round_["name"]}
        for grid in described
        if not isinstance(study, GridContext) or grid["name"] == study.grid.name
        for round_ in grid["rounds"]
    ]
    return html_of(describe(study), frame_of(rows, COLUMNS))


def _progress(tx: Tx) -> str:
    n_built = build_progress.n_built(tx)
    made = [
        f"{n_built[stage]:,} {context.STAGE_PRODUCTS[stage]}" for stage in build_progress.BUILDING[:4] if n_built[stage]
    ]
    if n_answers := sum(judgements.n_judgements(tx, round_) for round_ in rounds.of_grid(tx)):
        return ", ".join([*made[-1:], f"{n_answers:,} answers"])
    return made[-1] if made else "empty"

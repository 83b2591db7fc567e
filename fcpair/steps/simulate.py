"""Simulated people answering what is open."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fcpair.errors import InputError, StageError
from fcpair.params import Simulate, as_params
from fcpair.records import Origin, Round, RunRecord, Status
from fcpair.stages import simulate as simulation
from fcpair.stages.question import NO_CODE, Closed
from fcpair.steps import handover, settle, validate
from fcpair.steps.ground import OnGrid, begin_run, scheme_of
from fcpair.steps.label import save_answers
from fcpair.store import Tx, cells, decisions, people, rounds, runs, settings, work

if TYPE_CHECKING:
    import pandas as pd

TRUTH = "truth"  # the settings of what is true in a simulated study: drawn by its first run, and then kept


def simulate(grid: OnGrid, options: Simulate) -> RunRecord:
    """Let simulated people answer everything that is open: labels first, else verdicts.

    Raises:
        StageError: nothing is open, or a person has answered in this study.
    """
    with grid.store.write() as tx:
        if n := by_people(tx):
            raise StageError(
                f"people have answered in this study ({n:,} so far), and simulated answers are not put among theirs; "
                "`fcpair init --study OTHER` makes a study to simulate in"
            )
        question = scheme_of(tx)
        habits = _habits(options, question)
        open_rounds = [round_ for round_ in rounds.rounds(tx) if not work.open_work(tx, round_).empty]
        if not open_rounds:
            raise StageError("nothing is open to be answered; run `fcpair assign` or `fcpair validate assign`")
        round_ = open_rounds[0]
        run_id = begin_run(tx, options.stage, as_params(options))
        drawn = {"seed": options.seed, "positive": options.positive, **settings.of_stage(tx, TRUTH)}
        settings.put(tx, TRUTH, drawn, run_id)
        counts = _simulate_round(tx, round_, question, habits, options.seed, _truths(tx, question, **drawn), run_id)
        if round_.counts:
            counts |= settle.settle(tx, work.assignments(tx, round_)["cell_id"].unique().tolist())
        return runs.end_run(tx, run_id, {"round": round_.name, **counts})


def by_people(tx: Tx) -> int:
    """How many current answers were not simulated, skips included."""
    return sum(n for origin, n in decisions.origins(tx).items() if origin != Origin.SIMULATED.value)


def _truths(tx: Tx, question: Closed, seed: int, positive: float) -> pd.Series[int]:
    """The true code of each pair of the grid, by its number: the same for all who are ever asked about it."""
    import pandas as pd

    pairs = cells.cells(tx)["cell_id"]
    return pd.Series(simulation.truths(len(pairs), question, positive, seed), index=pairs)


def _simulate_round(
    tx: Tx,
    round_: Round,
    question: Closed,
    habits: simulation.Habits,
    seed: int,
    true: pd.Series[int],
    run_id: int,
) -> dict[str, Any]:
    """Answer what is open, give what was skipped to others, and so on until nobody can take more."""
    counts: Counter[str] = Counter(answers=0, skips=0, reassigned=0)
    vacant = 0
    for turn in range(len(people.people(tx)) + 1):
        assigned = work.assignments(tx, round_)
        open_ = assigned[assigned["status"] == Status.OPEN.value]
        if open_.empty:
            break
        turn_seed = int(np.random.SeedSequence([seed, turn]).generate_state(1)[0])
        asked = open_.rename(columns={"id": "assignment_id"}).assign(note="")
        given = asked[["assignment_id", "cell_id", "person_id", "note"]]
        look = simulation.answers if round_.counts else simulation.second_looks
        given["code"] = look(np.asarray(true[given["cell_id"]], np.int64), question, habits, turn_seed)
        if round_.checks:
            given = validate.with_decisions(tx, given, blind=True)
            given["own_code"] = given["own_code"].where(asked["blind"])
        given["seconds"] = simulation.seconds(len(given), turn_seed)
        save_answers(tx, given, Origin.SIMULATED, run_id)
        skips = int((given["code"] == NO_CODE).sum())
        refilled = handover.refill(tx, turn_seed)
        counts.update(answers=len(given) - skips, skips=skips, reassigned=refilled["reassigned"])
        vacant = refilled["vacant"]
    return {**counts, "vacant": vacant}


def _habits(options: Simulate, question: Closed) -> simulation.Habits:
    for name in ("accuracy", "positive", "leaning", "not_sure", "skips"):
        value = getattr(options, name)
        if not 0 <= value <= 1:
            raise InputError(f"{name} is {value}; expected a probability from 0 to 1")
    try:
        leaning_to = question.read(options.leaning_to) if options.leaning else question.codes[0]
    except InputError:
        names = ", ".join(choice.name for choice in question)
        raise InputError(f"`{options.leaning_to}` is no label; expected one of {names}") from None
    return simulation.Habits(
        options.positive, options.accuracy, options.leaning, leaning_to, options.not_sure, options.skips
    )

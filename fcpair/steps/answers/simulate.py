"""Simulated people answering what is open."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, StageError
from fcpair.param_values import as_params, takes_params
from fcpair.params import Annotate, Simulate, about_people
from fcpair.records import Origin, Round, RunRecord, Status
from fcpair.stages.answers import simulate as simulation
from fcpair.stages.answers.simulate_form import fill_in, form_truths
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.steps.answers.answer_import import save_answers
from fcpair.steps.assignment import leases, validate
from fcpair.steps.base.answer_values import closed_question, form_of, numbers
from fcpair.steps.base.context import OnGrid, begin_run, own
from fcpair.steps.base.recipe_options import by_recipe, follow_of_study
from fcpair.steps.people import reassignment
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import runs, settings
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

TRUTH = "truth"  # the settings of what is true in a simulated study: drawn by its first run, and then kept


@takes_params
def simulate(grid: OnGrid, options: Simulate | None = None) -> RunRecord:
    """Let simulated people answer everything that is open: labels first, else verdicts; without options, as the recipe
    says.

    They also answer what the study asks people about themselves, where that has a list of answers.

    Raises:
        StageError: nothing is open, or a person has answered in this study.
    """
    options = options or by_recipe(grid, Simulate)
    with grid.store.write() as tx:
        if n := by_people(tx):
            raise StageError(
                f"people have answered in this study ({n:,} so far), and simulated answers are not put among theirs; "
                "`fcpair init --study OTHER` makes a study to simulate in"
            )
        open_rounds = [
            one for one in rounds.rounds(tx) if open_slots.n_free(tx, one) or not assignments.open_work(tx, one).empty
        ]
        if not open_rounds:
            raise StageError("nothing is open to be answered; run `fcpair assign` or `fcpair validate assign`")
        round_ = open_rounds[0]
        drawn = {"seed": options.seed, "positive": options.positive, **settings.of_stage(tx, TRUTH)}
        answering = _Answering(tx, round_, options, **drawn)
        run_id = begin_run(tx, options.stage, as_params(options))
        settings.put(tx, TRUTH, drawn, run_id)
        _describe(tx, round_, options.seed)
        follow_of_study(tx, options, run_id)
        counts = _simulate_round(tx, round_, answering, options.seed, run_id)
        if round_.counts and answering.question:
            counts |= rule_decisions.settle(tx, assignments.assignments(tx, round_)["cell_id"].unique().tolist())
        return runs.end_run(tx, run_id, {"round": round_.name, **counts})


def _describe(tx: Tx, round_: Round, seed: int) -> None:
    """Have those who answer a round say about themselves what the study asks, unless they did before."""
    with grids.about(tx, grids.keys(tx)[0].id):
        asked = dict(map(about_people, own(tx, Annotate, {}).demographics))
    if any(asked.values()):
        there = people.undescribed(tx, round_.role)
        people.describe(tx, dict(zip(there, simulation.attributes(len(there), asked, seed), strict=True)))


def by_people(tx: Tx) -> int:
    """How many current answers people gave, skips included."""
    made_up = {Origin.SIMULATED.value, Origin.GENERATED.value}
    return sum(n for origin, n in judgements.origins(tx).items() if origin not in made_up)


class _Answering:
    """What simulated people say in a round."""

    def __init__(self, tx: Tx, round_: Round, options: Simulate, seed: int, positive: float) -> None:
        self._tx, self._round, self._drawn = tx, round_, (positive, seed)
        self._form = form_of((rounds.counting(tx) if round_.checks else round_).form)
        self.question = closed_question(self._form)
        self._habits = _habits(options, self.question)
        self._true = self._truths(cells.cells(tx)["cell_id"])

    def _truths(self, cell_ids: pd.Series[int]) -> pd.DataFrame:
        """What is true of each cell of the grid, by its number: the same for all who are ever asked about it."""
        import pandas as pd

        if self.question is None:
            return pd.DataFrame(form_truths(len(cell_ids), self._form, *self._drawn), index=cell_ids)
        return pd.DataFrame(simulation.truths(len(cell_ids), self.question, *self._drawn), index=cell_ids)

    def say(self, open_: pd.DataFrame, seed: int) -> pd.DataFrame:
        """The answers to what is open, as `save_answers` takes them."""
        given = open_.rename(columns={"id": "assignment_id"}).assign(note="")
        given = given[["assignment_id", "cell_id", "person_id", "blind", "note"]]
        true = self._true.loc[given["cell_id"]].to_numpy(np.int64)
        if self.question is None:
            return given.assign(answer_id=self._filled_in(given["cell_id"], true, seed))
        look = simulation.second_looks if self._round.checks else simulation.answers
        given["code"] = look(true[:, 0], self.question, self._habits, seed)
        if self._round.checks:
            given = validate.with_decisions(self._tx, given, blind=True)
            given["own_code"] = given["own_code"].where(given["blind"])
        return given

    def _filled_in(self, cell_ids: pd.Series[int], true: NDArray[np.int64], seed: int) -> list[int]:
        texts = authorship.originals(self._tx, self._round)
        originals = [texts.get(cell_id, "") for cell_id in cell_ids.tolist()]
        said = fill_in(true, self._form, self._habits, seed, originals)
        return numbers(self._tx, self._round, self._form, said, cell_ids.tolist())


def _simulate_round(tx: Tx, round_: Round, people_: _Answering, seed: int, run_id: int) -> dict[str, Any]:
    """Answer what is open, give what was skipped to others, and so on until nobody can take more."""
    counts: Counter[str] = Counter(answers=0, skips=0, reassigned=0)
    vacant = 0
    for turn in range(len(people.people(tx)) + 1):
        leases.deal_out(tx, round_, seed)
        assigned = assignments.assignments(tx, round_)
        open_ = assigned[assigned["status"] == Status.OPEN.value]
        if open_.empty:
            break
        turn_seed = int(np.random.SeedSequence([seed, turn]).generate_state(1)[0])
        given = people_.say(open_, turn_seed)
        given["seconds"] = simulation.seconds(len(given), turn_seed)
        save_answers(tx, given, Origin.SIMULATED, run_id)
        said = given["code"] if "code" in given.columns else given["answer_id"]
        skips = int((said == NO_CODE).sum())
        refilled = reassignment.refill(tx, turn_seed)
        counts.update(answers=len(given) - skips, skips=skips, reassigned=refilled["reassigned"])
        vacant = refilled["vacant"]
    return {**counts, "vacant": vacant + open_slots.n_free(tx, round_)}


def _habits(options: Simulate, question: Closed | None) -> simulation.Habits:
    """How people answer; only one closed question can be leaned on."""
    return simulation.Habits(
        options.positive, options.accuracy, *_leaning(options, question), options.not_sure, options.skips
    )


def _leaning(options: Simulate, question: Closed | None) -> tuple[float, int]:
    if question is None or not options.leaning:
        return 0.0, 0
    try:
        return options.leaning, question.read(options.leaning_to)
    except InputError:
        names = ", ".join(choice.name for choice in question)
        raise InputError(f"`{options.leaning_to}` is no label; expected one of {names}") from None

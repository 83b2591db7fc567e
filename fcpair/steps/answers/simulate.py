"""Simulated people answering what is open."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np

from fcpair.arrays import Bools
from fcpair.errors import InputError, StageError
from fcpair.lazy import pd
from fcpair.param_values import as_params
from fcpair.params import Annotate, Simulate, parse_people_question
from fcpair.records import Known, Origin, Round, RunRecord, Status
from fcpair.stages.answers import simulate as simulation
from fcpair.stages.questions import NO_CODE
from fcpair.stages.stats.latent_labels import Effects
from fcpair.steps.answers.answer_import import save_answers
from fcpair.steps.assignment import further, leases, validate
from fcpair.steps.base import departures
from fcpair.steps.base.answer_values import answer_numbers, closed_question, form_of
from fcpair.steps.base.calibration_state import need_calibration
from fcpair.steps.base.context import GridContext, as_settings, begin_run, effective_options
from fcpair.steps.base.keywords import by_recipe, own, takes_params
from fcpair.steps.people import known_pairs, reassignment
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.store import Tx, people
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import runs, settings

EFFECTS = ("hs_effect", "cn_effect", "annotator_effect")
TRUTH = "truth"  # the settings of what is true in a simulated study: drawn by its first run, and then kept


@takes_params
def simulate(
    grid: GridContext,
    options: Simulate | None = None,
    *,
    accuracy: float = own(0.9),
    positive: float = own(0.2),
    leaning: float = own(0.0),
    leaning_to: str = own("appropriate"),
    not_sure: float = own(0.05),
    skips: float = own(0.01),
    hs_effect: float = own(0.0),
    cn_effect: float = own(0.0),
    annotator_effect: float = own(0.0),
    seed: int = own(0),
) -> RunRecord:
    """Let simulated people answer everything that is open to them: labels first, else verdicts; without options, as the
    recipe says. Where people qualify, they do so first, and those below the pass mark wait to be let on.

    With effects, HS, CN and annotators differ; the first run draws by them what is true, and later ones keep to that.
    After the discussion of a calibration, half of those who differ from most others take their answer over
    (`simulate.MOVES_TO_MAJORITY`). They also answer what the study asks people about themselves from a list.

    Raises StageError where nothing is open to anybody, or a person has answered in this study; InputError for effects
    where a round asks something else than one closed question, or that rule out an agreement as the accuracy has it.
    """
    options = options or by_recipe(grid, Simulate)
    with grid._store.write() as tx:
        if n := judgements.n_by_people(tx):
            raise StageError(
                f"people have answered in this study ({n:,} so far), and simulated answers are not mixed with "
                "theirs; `fcpair init --study OTHER` makes a study for simulation"
            )
        round_ = next((open_ for open_ in rounds.of_grid(tx) if has_open_work(tx, open_)), None)
        if round_ is None:
            if assignments.open_work(tx, rounds.primary(tx)).empty:
                raise StageError("nothing is open; run `fcpair assign` or `fcpair validate assign`")
            raise StageError(
                "all that is open belongs to people below the pass mark of the qualification; `fcpair people let-on "
                "NAME` lets somebody begin, and `fcpair people qualified` shows who waits"
            )
        drawn_by = ("seed", "positive", *EFFECTS * any(getattr(options, name) for name in EFFECTS))
        truth_settings = settings.of_stage(tx, TRUTH) or {name: getattr(options, name) for name in drawn_by}
        run_id = begin_run(tx, options.stage, as_params(options))
        simulated = _SimulatedPeople(tx, round_, options, run_id, truth_settings)
        settings.save_settings(tx, TRUTH, truth_settings, run_id)
        # unless they said so before
        with grids.on_first_grid(tx):
            questions = dict(map(parse_people_question, effective_options(tx, Annotate, {}).demographics))
        if any(questions.values()):
            person_ids = people.ids_without_demographics(tx, round_.role)
            drawn = simulation.draw_attributes(len(person_ids), questions, options.seed)
            for person_id, demographics in zip(person_ids, drawn, strict=True):
                people.change(tx, person_id, demographics=demographics)
        with grids.on_first_grid(tx):  # whose recipe, if it is about simulated people, says so from now on
            if settings.of_stage(tx, settings.RECIPE + options.stage):
                departures.update_recipe(tx, options, as_settings(options), run_id)
        simulated.answer_known_pairs(Known.QUALIFICATION)
        counts = simulated.answer_round()
        simulated.answer_known_pairs(Known.CONTROLS)
        counts |= simulated.n_known
        if round_.counts and simulated.question:
            counts |= rule_decisions.apply_policy(tx, assignments.assignments(tx, round_)["cell_id"].unique().tolist())
            counts |= further.ask_further(tx)
        return runs.end_run(tx, run_id, {"round": round_.name, **counts})


class _SimulatedPeople:
    """Simulated people and their answers in a round."""

    def __init__(self, tx: Tx, round_: Round, options: Simulate, run_id: int, truth: dict[str, Any]) -> None:
        self._tx, self._round, self._run_id = tx, round_, run_id
        seed, positive = truth["seed"], truth["positive"]
        self._run_seed, self._seed = options.seed, seed  # of answers, and of what is true
        self.n_known = Counter[str]()  # answers to known pairs, by their use
        self._form = form_of((rounds.primary(tx) if round_.checks else round_).form)
        self.question = closed_question(self._form)
        leaning, leaning_to = 0.0, 0
        if self.question is not None and options.leaning:  # only one closed question can be leaned on
            try:
                leaning, leaning_to = options.leaning, self.question.read(options.leaning_to)
            except InputError:
                names = ", ".join(choice.name for choice in self.question)
                raise InputError(f"`{options.leaning_to}` is not a label; expected one of {names}") from None
        shares = options.accuracy, leaning, leaning_to, options.not_sure, options.skips
        self._habits = simulation.Habits(positive, *shares)
        hs_effect, cn_effect, annotator_effect = (truth.get(name, 0.0) for name in EFFECTS)
        self._effects = Effects(hs_effect, cn_effect, leniency=annotator_effect)
        if self._effects and self.question is None:
            raise InputError(
                f"round `{round_.name}` does not ask a single closed question, and effects of texts and people are for "
                "one; set them to 0"
            )
        grid_cells = cells.cells(tx)
        self._latent_by_cell: pd.Series[float] | None = None  # what each cell of the grid is like, by its number
        if self._effects:
            hs, cn = (grid_cells[name].to_numpy(np.int64) for name in ("hs_id", "cn_id"))
            latent = simulation.draw_pairs(hs, cn, self._effects, seed)
            self._latent_by_cell = pd.Series(latent, index=grid_cells["cell_id"])
        if cells.has_comparisons(tx):
            truths = simulation.compared_truths(cells.compared_texts(tx)[1], self._form, seed)
        elif self.question is None:  # what is true of a cell is the same for all who are ever asked about it
            truths = simulation.draw_form_truths(len(grid_cells), self._form, positive, seed)
        elif self._latent_by_cell is None:
            truths = simulation.draw_truths(len(grid_cells), self.question, positive, seed)
        else:
            truths = simulation.true_codes(np.asarray(self._latent_by_cell, np.float64), self.question, positive)
        self._truth_table = pd.DataFrame(truths, index=grid_cells["cell_id"])

    def answer_round(self) -> dict[str, Any]:
        """Answer what is open, give what was skipped to others, and so on until nobody can take more."""
        tx, round_ = self._tx, self._round
        counts, n_vacant = Counter(answers=0, skips=0, reassigned=0), 0
        for turn in range(len(people.people(tx)) + 1):
            leases.assign_all_free(tx, round_, self._run_seed)
            open_rows, may_answer = _open_rows(tx, round_, round_)
            if not may_answer.any():
                break
            turn_seed = int(np.random.SeedSequence([self._run_seed, turn]).generate_state(1)[0])
            answers = self._answers_to(open_rows, turn_seed)
            answers["seconds"] = simulation.draw_seconds(len(answers), turn_seed)
            answers = answers[may_answer]
            save_answers(tx, answers, Origin.SIMULATED, self._run_id)
            n_skips = int((answers["code" if "code" in answers.columns else "answer_id"] == NO_CODE).sum())
            handover_counts = reassignment.reassign(tx, turn_seed)
            counts.update(answers=len(answers) - n_skips, skips=n_skips, reassigned=handover_counts["reassigned"])
            n_vacant = handover_counts["vacant"]
        return {**counts, "vacant": n_vacant + open_slots.n_free(tx, round_)}

    def answer_known_pairs(self, use: Known) -> None:
        """Answer what is open of the known pairs for a use that go with the round, where it asks a closed question. For
        each that is skipped in a qualification comes one more, as long as there are any.
        """
        tx, question = self._tx, self.question
        if question is None:
            return
        for at, known_round in enumerate(rounds.of_known_pairs(tx, self._round)):
            codes = known_pairs.known_codes(tx, known_round)
            for turn in itertools.count() if known_round.options.known == use else ():
                gated = self._round if use is Known.CONTROLS else known_round
                open_rows, may_answer = _open_rows(tx, known_round, gated)
                if not may_answer.any():
                    break
                pairs = zip(open_rows["hs_id"].tolist(), open_rows["cn_id"].tolist(), strict=True)
                true = np.array([codes[pair] for pair in pairs], np.int64)
                seeds = [self._run_seed, len(rounds.all_of_grid(tx)), at, *([turn] if turn else [])]
                own_seed = int(np.random.SeedSequence(seeds).generate_state(1)[0])
                answers = open_rows[["id"]].rename(columns={"id": "assignment_id"}).assign(note="")
                answers["code"] = simulation.draw_answers(true, question, self._habits, own_seed)
                answers["seconds"] = simulation.draw_seconds(len(answers), own_seed)
                save_answers(tx, answers[may_answer], Origin.SIMULATED, self._run_id)
                is_skip = (answers["code"] == NO_CODE).to_numpy()
                self.n_known[use] += int((may_answer & ~is_skip).sum())
                if use is Known.QUALIFICATION and is_skip.any():
                    known_pairs.replace_skipped(tx, known_round, Counter(open_rows["person_id"][is_skip].tolist()))

    def _answers_to(self, open_rows: pd.DataFrame, seed: int) -> pd.DataFrame:
        answers = open_rows.rename(columns={"id": "assignment_id"}).assign(note="")
        answers = answers[["assignment_id", "cell_id", "person_id", "blind", "note"]]
        all_cell_ids = answers["cell_id"].tolist()
        if self._round.options.again:
            first, key = need_calibration(self._tx).first, ["cell_id", "person_id"]
            cell_ids = answers["cell_id"].unique().tolist()
            given = judgements.current_labels(self._tx, *key, "answer_id", cell_ids=cell_ids, of=first)
            cell_id, answer_id = (given[name].to_numpy(np.int64) for name in ("cell_id", "answer_id"))
            given["answer_id"] = simulation.draw_second_answers(cell_id, answer_id, seed)
            second = given.set_index(key)["answer_id"].loc[pd.MultiIndex.from_frame(answers[key])].tolist()
            forms = [self._form.load(value) for value in rounds.answer_values(self._tx, second)]
            return answers.assign(answer_id=answer_numbers(self._tx, self._round, self._form, forms, all_cell_ids))
        truths = self._truth_table.loc[answers["cell_id"]].to_numpy(np.int64)
        if self.question is None:
            texts = authorship.originals(self._tx, self._round)
            originals = [texts.get(cell_id, "") for cell_id in all_cell_ids]
            drawn = simulation.draw_form_answers(truths, self._form, self._habits, seed, originals)
            return answers.assign(answer_id=answer_numbers(self._tx, self._round, self._form, drawn, all_cell_ids))
        if self._round.checks:
            answers["code"] = simulation.draw_second_looks(truths[:, 0], self.question, self._habits, seed)
            answers = validate.with_decisions(self._tx, answers, blind=True)
            return answers.assign(own_code=answers["own_code"].where(answers["blind"]))
        if self._latent_by_cell is None:  # by what is true alone
            return answers.assign(code=simulation.draw_answers(truths[:, 0], self.question, self._habits, seed))
        # by what texts and people are like
        model = simulation.fit_habits(self.question, self._habits, self._effects)
        pairs = np.asarray(self._latent_by_cell.loc[answers["cell_id"]], np.float64)
        leniency = simulation.draw_leniency(answers["person_id"].to_numpy(np.int64), self._effects, self._seed)
        codes = simulation.draw_latent_answers(pairs, leniency, self.question, model, self._habits, seed)
        return answers.assign(code=codes)


def has_open_work(tx: Tx, round_: Round) -> bool:
    """Return whether simulated people can answer anything in a round now: its cells, or known pairs that go with it."""
    if open_slots.n_free(tx, round_):
        return True
    holders = assignments.n_open_by_person(tx, rounds.with_known_pairs(tx, round_))
    ids = {person.name: person.id for person in people.people(tx)}
    unqualified = permissions.unqualified(tx, round_, ids.values())
    qualifications = rounds.of_known_pairs(tx, round_, Known.QUALIFICATION)
    return any(ids[name] not in unqualified for name, _ in holders) or any(
        assignments.n_open_by_person(tx, qualification) for qualification in qualifications
    )


def _open_rows(tx: Tx, of: Round, gated: Round) -> tuple[pd.DataFrame, Bools]:
    """Open rows of a round, and whether its person may answer it: has qualified for the `gated` round."""
    rows = assignments.assignments(tx, of)  # answers are drawn for all, so that who waits changes none of anybody else
    rows = rows[rows["status"] == Status.OPEN.value]
    return rows, ~rows["person_id"].isin(permissions.unqualified(tx, gated, rows["person_id"])).to_numpy(np.bool_)

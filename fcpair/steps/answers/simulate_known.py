"""Simulated people answering known pairs, of which their right answer is what is true."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fcpair.records import Origin, Round, Status
from fcpair.stages.answers import simulate as simulation
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.steps.answers.answer_import import save_answers
from fcpair.steps.people.known_scores import known_codes
from fcpair.store import Tx
from fcpair.store.assignment import assignments, rounds


def has_open_known_pairs(tx: Tx, round_: Round) -> bool:
    """Whether somebody has known pairs open that go with a round."""
    return any(Status.OPEN in assignments.n_by_status(tx, one) for one in rounds.of_known_pairs(tx, round_))


def answer_known_pairs(
    tx: Tx, round_: Round, question: Closed, habits: simulation.Habits, seed: int, run_id: int
) -> dict[str, int]:
    """Answer what is open of the known pairs that go with a round; returns how many answers, by use.

    Draws are their own, so that what counts is answered as it would be without known pairs. Who does not qualify goes
    on all the same: no lead is there to decide.
    """
    counts = Counter[str]()
    for at, known_round in enumerate(rounds.of_known_pairs(tx, round_)):
        given = assignments.assignments(tx, known_round)
        open_rows = given[given["status"] == Status.OPEN.value]
        if open_rows.empty:
            continue
        codes = known_codes(tx, known_round)
        pairs = zip(open_rows["hs_id"].tolist(), open_rows["cn_id"].tolist(), strict=True)
        true = np.array([codes[pair] for pair in pairs], np.int64)
        own_seed = int(np.random.SeedSequence([seed, len(rounds.all_of_grid(tx)), at]).generate_state(1)[0])
        answers = open_rows.rename(columns={"id": "assignment_id"})[["assignment_id"]].assign(note="")
        answers["code"] = simulation.draw_answers(true, question, habits, own_seed)
        answers["seconds"] = simulation.draw_seconds(len(answers), own_seed)
        save_answers(tx, answers, Origin.SIMULATED, run_id)
        counts[known_round.options.known] += int((answers["code"] != NO_CODE).sum())
    return dict(counts)

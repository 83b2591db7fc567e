"""Qualification for a round that asks for a pilot: enough of a person's texts there must be judged positive."""

from __future__ import annotations

from typing import Any, NamedTuple

from fcpair.errors import StageError
from fcpair.params import grid_names
from fcpair.records import Round
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import PLAN, GridContext, find_grid
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.store.people import people


class PilotResult(NamedTuple):
    """Result of one person in a pilot: how many texts they `wrote`, how many of these were `judged`, and `good`; and
    whether they `passed`.
    """

    person_id: int
    good: int
    judged: int
    wrote: int
    passed: bool


def results_by_person(tx: Tx, round_: Round) -> list[PilotResult]:
    """Results of everybody who wrote anything in the pilot that a round asks for; empty where it asks for none.

    A text is good where more of its definite judgements are positive than not.
    """
    if not round_.options.passed:
        return []
    with grids.on_grid(tx, find_grid(tx, round_.options.passed).id):
        judging_round = rounds.primary(tx)
        question = closed_question(form_of(judging_round.form))
        if question is None:
            raise StageError(
                f"round `{judging_round.name}` of grid `{round_.options.passed}` asks no closed question, so nobody "
                "can pass there"
            )
        weight_by_code = {code: 1 if code in question.positive else -1 for code in question.definite}
        votes: dict[int, int] = {}
        labels = judgements.label_arrays(tx, "hs_id", "code", of=judging_round)
        for text_id, code in zip(labels["hs_id"].tolist(), labels["code"].tolist(), strict=True):
            votes[text_id] = votes.get(text_id, 0) + weight_by_code.get(code, 0)
        names = grid_names(settings.of_stage(tx, PLAN)["rows"]["answers"])
    texts_by_writer: dict[int, list[int]] = {}
    for pilot in names:
        with grids.on_grid(tx, find_grid(tx, pilot).id):
            for person_id, texts in authorship.texts_by_writer(tx, rounds.primary(tx)).items():
                texts_by_writer.setdefault(person_id, []).extend(texts)
    outcomes = []
    for person_id, texts in texts_by_writer.items():
        text_votes = [votes[one] for one in texts if one in votes]
        good = sum(one > 0 for one in text_votes)
        outcomes.append(
            PilotResult(person_id, good, len(text_votes), len(texts), good >= (round_.options.pass_at or 0))
        )
    return outcomes


class Pilot(NamedTuple):
    """Pilot that a round asks for: the grid that judges it, and how many texts of a person must be good there."""

    round: str
    judged_in: str
    pass_at: int


def list_pilots(grid: GridContext) -> list[Pilot]:
    """List the pilots that rounds of a grid ask for."""
    with grid._store.read() as tx:
        return [
            Pilot(one.name, one.options.passed, one.options.pass_at or 0)
            for one in rounds.answer_rounds(tx)
            if one.options.passed
        ]


def pilot_results(grid: GridContext, round: str | None = None) -> list[dict[str, Any]]:
    """Results of everybody in the pilot that a round asks for, by person; without `round`, the one that counts.

    Keys: `name`, `good` (texts with more positive than other judgements), `judged`, `wrote` and `passed`.

    Raises:
        UnknownIdError: no such round.
        StageError: the round asks for no pilot, or nobody has written in it yet.
    """
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        if not round_.options.passed:
            raise StageError(f"round `{round_.name}` asks for no pilot; name one that has `passed` with `--round`")
        names = {entry.id: entry.name for entry in people.people(tx)}
        results = [entry._asdict() for entry in results_by_person(tx, round_)]
        rows = [{"name": names[fields.pop("person_id")], **fields} for fields in results]
    if not rows:
        raise StageError(f"nobody has written in the pilot of round `{round_.name}` yet")
    return sorted(rows, key=lambda entry: entry["name"])


def who_passed(tx: Tx, round_: Round) -> set[int] | None:
    """Those who passed the pilot of a round; None where it asks for none."""
    return {one.person_id for one in results_by_person(tx, round_) if one.passed} if round_.options.passed else None

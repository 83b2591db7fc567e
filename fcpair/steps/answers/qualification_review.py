"""Looking back at a qualification: what somebody answered, what is right, and why; once they have answered all."""

from __future__ import annotations

from typing import Any, NamedTuple

from fcpair.records import Known, Round, Visitor
from fcpair.stages.questions.wording import with_wordings
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import StudyContext
from fcpair.steps.people.known_pairs import known_pairs_of
from fcpair.steps.people.known_scores import Standing, score_of, standing_of
from fcpair.steps.rules import permissions
from fcpair.steps.rules.wording import effective_words, side_words
from fcpair.store import Tx
from fcpair.store.assignment import known_work, rounds
from fcpair.store.corpus import grids


class ReviewedPair(NamedTuple):
    """A known pair with one's own answer, None for a skip, and the right one, by their names."""

    row: str
    column: str
    own: str | None
    answer: str
    explanation: str


class QualificationReview(NamedTuple):
    """Qualification for a grid that somebody has answered: its question, as pages need it, and how they did.

    `pairs` are those that they answered or skipped, but for topics that they have opted out of since.
    """

    standing: Standing
    right: int
    answered: int
    question: dict[str, Any]
    row_name: str
    column_name: str
    pairs: tuple[ReviewedPair, ...]


def review_qualifications(study: StudyContext, visitor: Visitor) -> list[QualificationReview]:
    """The qualifications that somebody has answered to the end, grid by grid, in their language."""
    with study._store.read() as tx:
        qualifications = [one for one in rounds.seen_in_role(tx, visitor.role) if one.options.known]
        reviews = [_review(tx, one, visitor) for one in qualifications]
    return [one for one in reviews if one is not None]


def waits_for_lead(study: StudyContext, visitor: Visitor) -> bool:
    """Whether somebody is below the pass mark of a qualification, and the lead has not decided yet."""
    with study._store.read() as tx:
        qualifications = [one for one in rounds.seen_in_role(tx, visitor.role) if one.options.known]
        return any(standing_of(tx, one, visitor.id) is Standing.WAITS for one in qualifications)


def _review(tx: Tx, qualification: Round, visitor: Visitor) -> QualificationReview | None:
    with grids.on_grid(tx, qualification.grid_id):
        score = score_of(tx, qualification, visitor.id)
        if not score.is_done:
            return None
        words = effective_words(tx).in_language(visitor.language)
        grid_name = next(one.name for one in grids.keys(tx) if one.id == qualification.grid_id)
        (question,) = with_wordings(form_of(qualification.form).as_json(), words, grid_name)
        row_name, column_name = grids.side_names(tx)
        row, column, _, _ = side_words(tx, words)
        return QualificationReview(
            standing_of(tx, qualification, visitor.id),
            score.right,
            score.answered,
            question,
            row.text or row_name,
            column.text or column_name,
            tuple(_reviewed_pairs(tx, qualification, visitor.id)),
        )


def _reviewed_pairs(tx: Tx, qualification: Round, person_id: int) -> list[ReviewedPair]:
    known_by_texts = {one[:2]: one for one in known_pairs_of(tx, Known.QUALIFICATION)}
    names = {choice.code: choice.name for choice in closed_question(form_of(qualification.form)) or ()}
    answers = known_work.answers(tx, qualification, person_id)
    spared = permissions.spared_pairs(tx, person_id, [one.cell_id for one in answers])
    answers = [one for one in answers if one.cell_id not in spared]
    bodies = known_work.shown_texts(tx, [text_id for one in answers for text_id in (one.row_id, one.column_id)])
    return [
        ReviewedPair(
            bodies[one.row_id],
            bodies[one.column_id],
            None if one.code is None else names[one.code],
            known_by_texts[one.row_id, one.column_id].answer,
            known_by_texts[one.row_id, one.column_id].explanation,
        )
        for one in answers
    ]

"""Known pairs that teach: those on which people practise, and, once it is over, those of a qualification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fcpair.errors import StageError
from fcpair.files.answers.answer_files import read_known_items
from fcpair.known_pairs import PRACTISING, KnownItem, Practice, check_items
from fcpair.records import GridKey, Known, Role, Round, RunRecord, Visitor
from fcpair.stages.questions.labels import with_wordings
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import StudyContext, effective_options, labels_of, note_stage_run, scheme_of
from fcpair.steps.base.keywords import matches_saved_options, own, takes_params
from fcpair.steps.people.known_pairs import Standing, known_pairs_of, score_of, standing_of
from fcpair.steps.rules import permissions
from fcpair.steps.rules.wording import asked_labels, effective_words, side_headings
from fcpair.store import Tx
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import settings

KNOWN_ITEMS = "known_items"  # the settings that hold the items, wherever they came from


class PracticeRound(NamedTuple):
    """Known items, and the question that is practised on them, as pages need it; with what the sides are called."""

    question: dict[str, Any]
    row_name: str
    column_name: str
    items: tuple[KnownItem, ...]


@takes_params
def save_practice(
    study: StudyContext,
    practice: Practice | None = None,
    *,
    file: str | Path | None = own(None),
    items: Sequence[Mapping[str, str]] = own(()),
) -> RunRecord:
    """Set the known pairs on which people can practise from now on; without any, nobody does.

    Raises InputError for a file that cannot be read, or all that is wrong with its items, such as an answer that the
    study's labels do not have; StageError where no grid of the study asks for labels.
    """
    with study._store.write() as tx, grids.on_first_grid(tx):
        options = practice or effective_options(tx, Practice, {})
        known_items: list[KnownItem] = []
        if options.file is not None:
            known_items = read_known_items(options.file, _answer_names(tx))
        elif options.items:
            check_items(options.items, _answer_names(tx))
            known_items = [KnownItem(**{"column": "", **item}) for item in options.items]
        run = note_stage_run(tx, options, {"items": len(known_items)})
        settings.save_settings(tx, KNOWN_ITEMS, {"items": [item._asdict() for item in known_items]}, run.id)
        return run


def read_practice_text(study: StudyContext, text: str) -> list[KnownItem]:
    """The known items of a table that somebody pasted; raises what `save_practice` does."""
    with study._store.read() as tx:
        return read_known_items(text, _answer_names(tx))


def is_saved(tx: Tx, options: Practice) -> bool:
    """Return whether these are the known items that were set, also where their file holds something else by now."""
    with grids.on_first_grid(tx):
        return matches_saved_options(tx, options)


def known_items(study: StudyContext) -> list[KnownItem]:
    """The known items on which people practise."""
    with study._store.read() as tx:
        return _saved_items(tx)


def practice_round(study: StudyContext, role: Role, language: str | None = None) -> PracticeRound | None:
    """The known items for people in a role, and what is asked, in the `language`, or that of the study; None where
    there are none for them.
    """
    if role not in PRACTISING:
        return None
    with study._store.read() as tx:
        items, grid = _saved_items(tx), _labelled_grid(tx)
        if not items or grid is None:
            return None
        words = effective_words(tx).in_language(language)
        with grids.on_grid(tx, grid.id):
            return PracticeRound(asked_labels(tx, words), *side_headings(tx, words), tuple(items))


def _saved_items(tx: Tx) -> list[KnownItem]:
    with grids.on_first_grid(tx):
        return [KnownItem(**{"column": "", **item}) for item in settings.of_stage(tx, KNOWN_ITEMS).get("items", [])]


def _labelled_grid(tx: Tx) -> GridKey | None:
    """The first grid that asks for labels, whose question is practised."""
    return next(iter([key for key in grids.for_each_grid(tx) if labels_of(tx)]), None)


def _answer_names(tx: Tx) -> list[str]:
    if (grid := _labelled_grid(tx)) is None:
        raise StageError("no grid of this study asks for labels, so there is no question to practise")
    with grids.on_grid(tx, grid.id):
        return [choice.name for choice in scheme_of(tx)]


class ReviewedPair(NamedTuple):
    """A known pair with one's own answer, None for a skip, and the right one, by their names."""

    row: str
    column: str
    own: str | None
    answer: str
    explanation: str


class QualificationReview(NamedTuple):
    """Qualification for a grid that somebody has answered: its question, as pages need it, and how they did on `pairs`,
    but for topics that they have opted out of since.
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
        qualifications = (round_ for round_ in rounds.seen_in_role(tx, visitor.role) if round_.options.known)
        return [review for qualification in qualifications if (review := _review(tx, qualification, visitor))]


def waits_for_lead(study: StudyContext, visitor: Visitor) -> bool:
    """Return whether somebody is below the pass mark of a qualification, and the lead has not decided yet."""
    with study._store.read() as tx:
        qualifications = (round_ for round_ in rounds.seen_in_role(tx, visitor.role) if round_.options.known)
        return any(standing_of(tx, qualification, visitor.id) is Standing.WAITS for qualification in qualifications)


def _review(tx: Tx, qualification: Round, visitor: Visitor) -> QualificationReview | None:
    with grids.on_grid(tx, qualification.grid_id):
        score = score_of(tx, qualification, visitor.id)
        if not score.is_done:
            return None
        form, words = form_of(qualification.form), effective_words(tx).in_language(visitor.language)
        grid_name = next(key.name for key in grids.keys(tx) if key.id == qualification.grid_id)
        (question,) = with_wordings(form.as_json(), words, grid_name)
        known_by_texts = {known[:2]: known for known in known_pairs_of(tx, Known.QUALIFICATION)}
        choices = closed_question(form) or ()
        names: dict[int | None, str | None] = {None: None, **{choice.code: choice.name for choice in choices}}
        answers = assignments.known_answers(tx, qualification, visitor.id)
        spared = permissions.spared_pairs(tx, visitor.id, [answer.cell_id for answer in answers])
        pairs = []
        for answer in answers:
            if answer.cell_id not in spared:
                row, column = cells.texts_of(tx, answer.cell_id)
                known = known_by_texts[answer.row_id, answer.column_id]
                texts = row["body"], column["body"]
                pairs.append(ReviewedPair(*texts, names[answer.code], known.answer, known.explanation))
        figures = standing_of(tx, qualification, visitor.id), score.right, score.answered
        return QualificationReview(*figures, question, *side_headings(tx, words), tuple(pairs))

"""Setting the words of a study (`wording`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fcpair.errors import InputError
from fcpair.records import RunRecord
from fcpair.stages.questions.wording import check_words
from fcpair.steps.base.context import StudyContext, note_stage_run
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import check_seen
from fcpair.steps.rules.wording import effective_words, study_names
from fcpair.store.corpus import grids
from fcpair.words import DEFAULT_LANGUAGE, Words


@takes_params
def save_words(
    study: StudyContext,
    words: Words | None = None,
    *,
    seen: str | None = None,
    language: str = own(DEFAULT_LANGUAGE),
    nouns: Mapping[str, str] = own({}),
    questions: Mapping[str, Any] = own({}),
    options: Mapping[str, Any] = own({}),
    sides: Mapping[str, Any] = own({}),
) -> RunRecord:
    """Set what people who answer read in place of names; pages that are loaded from now on show it.

    Raises:
        InputError: all wordings of questions, options and sides that the study does not have.
        ConflictError: the words are no longer those that somebody has `seen` (`digest_params`).
    """
    with study._store.write() as tx:
        with grids.on_first_grid(tx):
            check_seen(tx, Words, seen)
        new_words = effective_words(tx) if words is None else words
        try:
            check_words(new_words, study_names(tx))
        except ExceptionGroup as group:
            raise InputError("; ".join(map(str, group.exceptions))) from None
        counts = {name: len(getattr(new_words, name)) for name in Words.verbatim}
        with grids.on_first_grid(tx):
            return replace(note_stage_run(tx, new_words, counts), notes=new_words.language_notes)

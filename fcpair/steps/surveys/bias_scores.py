"""Scoring the answers to the items of a grid as a bias test does, with a note of it in the run log."""

from __future__ import annotations

from typing import Any

from fcpair.bias.model_scores import ModelScores, score_models
from fcpair.bias.scoring import MEAN, BiasFigure, ScoredAnswers
from fcpair.params import BELIEVED
from fcpair.stages.surveys.survey import count_answers
from fcpair.steps.base.context import GridContext, find_grid, note_run
from fcpair.steps.surveys.item_answers import answers_to_grid_items
from fcpair.steps.surveys.survey import survey_answers
from fcpair.store.assignment import rounds

BIAS = "bias score"


def score_bias(
    grid: GridContext,
    scheme: str,
    round: str | None = None,
    *,
    survey: str | None = None,
    question: str = BELIEVED,
    smooth: float = 0.0,
) -> ModelScores:
    """Score the answers to the items of a grid, by who answered, and note the scores.

    Args:
        scheme: whose definition of the scores: `bbq`, `kobbq`, `cbbq` or `pbbq`.
        round: by name; without one, the round that counts.
        survey: the grid of a survey; it is measured how far people are from each model.
        question: of the survey, which is compared.
        smooth: is added to both shares of a model.

    Raises:
        StageError: the rows are no items, or nothing was answered.
        UnknownIdError: no such round or grid.
        InputError: no such scheme or question, or one that needs what the answers do not have.
    """
    grid._store.check_writable()
    with grid._store.read() as tx:
        round_ = rounds.by_name(tx, round)
        answers = answers_to_grid_items(tx, grid.grid.name, round_)
        asked_grid = find_grid(tx, survey) if survey else None
    people = count_answers(survey_answers(GridContext(grid._store, asked_grid)).given) if asked_grid else None
    scores = score_models(answers, scheme, people, question=question, smooth=smooth)
    params: dict[str, Any] = {"grid": grid.grid.name, "round": round_.name, "role": round_.role.value, "as": scheme}
    if survey:
        params |= {"survey": survey, "question": question, "smooth": smooth}
    with grid._store.write() as tx:
        note_run(tx, BIAS, params, _score_counts(scores))
    return scores


def _score_counts(scores: ModelScores) -> dict[str, Any]:
    """What the answers were, and by who answered the figures over all categories, and their intervals."""
    by_name = {by: {figure.score: figure for figure in _figures_over_all(one)} for by, one in scores.scores.items()}
    return {
        "models": len(scores.scores),
        "answers": sum(one.n for one in scores.scores.values()),
        "unreadable": sum(one.n_unreadable for one in scores.scores.values()),
        "categories": max(len(one.categories) for one in scores.answers.values()),
        "scores": {by: {name: one.value for name, one in figures.items()} for by, figures in by_name.items()},
        "intervals": {
            by: {name: [one.low, one.high] for name, one in figures.items() if one.low is not None}
            for by, figures in by_name.items()
        },
        **({"divergence": _mean_divergences(scores)} if scores.divergences else {}),
    }


def _figures_over_all(scored: ScoredAnswers) -> list[BiasFigure]:
    """The figures that are means over categories; where there is one category, its own."""
    means = [figure for figure in scored.figures if figure.category == MEAN]
    return means or list(scored.figures)


def _mean_divergences(scores: ModelScores) -> dict[str, float | None]:
    """By who answered, the mean over all statements."""
    return {by: one.figures[-1].value for by, one in scores.divergences.items()}

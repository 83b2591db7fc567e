"""Bradley-Terry scores of what was compared: by hand, against other libraries, and where there are none."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student_t
from sklearn.linear_model import LogisticRegression

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.params import Rank
from fcpair.stages.questions import parse_form
from fcpair.stages.stats.ranking import (
    NO_PLACE,
    NOT_ANSWERED,
    NOT_CONNECTED,
    TIE,
    Ranking,
    choice_places,
    fit_scores,
    implied_pairs,
    rank_answers,
)

NO_PRIOR = Rank(prior=0)
BEST_WORST = "best: one_of(A,B,C,D); worst: one_of(A,B,C,D) unlike best"


def pairs_of(*outcomes: tuple[int, int, int], answers: list[int] | None = None) -> dict[str, Ints]:
    """Pairs of two texts each with an outcome, each of an answer of its own unless `answers` says of which."""
    first, second, outcome = np.array(outcomes, np.int64).T
    return {"first": first, "second": second, "outcome": outcome, "answer": np.array(answers or range(len(outcomes)))}


def drawn(n_texts: int, n_answers: int, size: int, seed: int) -> dict[str, Ints]:
    """Best-worst answers of people who see how good each text is with noise, as pairs."""
    rng = np.random.default_rng(seed)
    good = rng.normal(size=n_texts)
    shown = np.array([rng.choice(n_texts, size, replace=False) for _ in range(n_answers)])
    seen = good[shown] + rng.gumbel(size=shown.shape)
    return implied_pairs(shown, seen.argmax(axis=1), seen.argmin(axis=1))


def design_of(pairs: dict[str, Ints], n_texts: int) -> Any:
    rows, design = np.arange(len(pairs["first"])), np.zeros((len(pairs["first"]), n_texts))
    design[rows, pairs["first"]], design[rows, pairs["second"]] = 1, -1
    return design


def test_three_wins_of_four_are_a_difference_of_log_three_with_the_error_of_a_logit() -> None:
    pairs = pairs_of((0, 1, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0))
    scores, reach = fit_scores(pairs, 2, NO_PRIOR)
    assert scores == pytest.approx([log(3) / 2, -log(3) / 2], abs=1e-6)
    error = sqrt(1 / (4 * 0.75 * 0.25)) / 2  # of half the difference
    assert reach == pytest.approx([student_t.ppf(0.975, 3) * error] * 2, abs=1e-5)


def test_a_tie_is_half_a_win_of_each() -> None:
    with_ties, _ = fit_scores(pairs_of((0, 1, 1), (0, 1, 2), (0, 1, 2), (0, 1, 1)), 2, NO_PRIOR)
    assert with_ties == pytest.approx([log(3) / 2, -log(3) / 2], abs=1e-6), "three of four, as two and two halves are"
    with_prior, _ = fit_scores(pairs_of((0, 1, 1), (0, 1, 2), (0, 1, 2), (0, 1, 1)), 2, Rank())
    same, _ = fit_scores(pairs_of((0, 1, 1), (0, 1, 1), (0, 1, 1), (0, 1, 0)), 2, Rank())
    assert with_prior == pytest.approx(same, abs=1e-6)


@given(st.integers(0, 200))
def test_scores_are_those_of_two_other_libraries(seed: int) -> None:
    pairs = drawn(6, 60, 4, seed)
    design, won = design_of(pairs, 6), pairs["outcome"].astype(float)
    with_prior, _ = fit_scores(pairs, 6, Rank(prior=1.5))
    ridge = LogisticRegression(C=1.5**2, fit_intercept=False, tol=1e-10, solver="newton-cholesky").fit(design, won)
    assert with_prior == pytest.approx(ridge.coef_[0], abs=1e-4)
    likeliest, _ = fit_scores(pairs, 6, NO_PRIOR)
    logit = sm.GLM(won, design[:, 1:], family=sm.families.Binomial()).fit()
    expected = np.array([0.0, *logit.params])
    assert likeliest == pytest.approx(expected - expected.mean(), abs=1e-4)


def test_pairs_of_one_answer_count_by_as_much_less_as_a_clustered_error_of_statsmodels_says() -> None:
    pairs = drawn(6, 400, 4, 3)
    design, won = design_of(pairs, 6)[:, 1:], pairs["outcome"].astype(float)
    glm = sm.GLM(won, design, family=sm.families.Binomial())
    kwds = {"groups": pairs["answer"], "use_correction": False}
    clustered = glm.fit(cov_type="cluster", cov_kwds=kwds).cov_params()
    usual = glm.fit().cov_params()
    weight = 5 / np.trace(clustered @ np.linalg.inv(usual))
    assert weight < 1, "the error of pairs of one answer is larger than if they were independent"
    contrast = np.vstack([np.zeros(5), np.eye(5)]) - 1 / 6
    errors = np.sqrt(np.diag(contrast @ (usual / weight) @ contrast.T))
    _, reach = fit_scores(pairs, 6, NO_PRIOR)
    assert reach == pytest.approx(student_t.ppf(0.975, 399) * errors, rel=1e-3)


def test_an_error_is_never_smaller_than_that_of_independent_pairs() -> None:
    pairs = pairs_of(*[(0, 1, 1), (0, 1, 0)] * 4, answers=[0, 0, 1, 1, 2, 2, 3, 3])  # each answer is half and half
    scores, reach = fit_scores(pairs, 2, NO_PRIOR)
    assert scores == pytest.approx([0, 0], abs=1e-6)
    assert reach == pytest.approx([student_t.ppf(0.975, 3) * sqrt(1 / (8 * 0.25)) / 2] * 2, abs=1e-5)


def test_scores_do_not_exist_where_somebody_lost_everything_or_nothing_connects_all() -> None:
    lost = pairs_of((0, 1, 1), (1, 2, 1), (2, 0, 1), (0, 3, 1), (1, 3, 1))
    with pytest.raises(InputError, match="won or lost every comparison"):
        fit_scores(lost, 4, NO_PRIOR)
    scores, _ = fit_scores(lost, 4, Rank())
    assert scores.argmin() == 3
    for options in (NO_PRIOR, Rank()):
        with pytest.raises(InputError, match=NOT_CONNECTED):
            fit_scores(pairs_of((0, 1, 1), (0, 1, 0), (2, 3, 1), (2, 3, 0)), 4, options)


def test_an_answer_of_best_and_worst_says_five_of_the_six_pairs_of_four() -> None:
    pairs = implied_pairs(np.array([[5, 6, 7, 8]]), np.array([1]), np.array([3]))
    said = [
        (first, second) if outcome else (second, first)
        for _, first, second, outcome in zip(*pairs.values(), strict=True)
    ]
    assert sorted(said) == [(5, 8), (6, 5), (6, 7), (6, 8), (7, 8)], "6 is the best, 8 the worst, and 5 and 7 are open"


def test_an_answer_to_a_pair_says_who_is_better_or_that_neither_is() -> None:
    shown = np.array([[5, 6], [6, 5], [5, 6]])
    pairs = implied_pairs(shown, np.array([0, 1, TIE]), np.array([1, 0, TIE]))
    assert pairs["outcome"].tolist() == [1, 0, 2]
    assert pairs["first"].tolist() == [5, 6, 5]


@pytest.mark.parametrize(
    ("form", "size", "answer", "places"),
    [
        ("which: one_of(A,B)", 2, {"which": "B"}, (1, 0)),
        ("which: one_of(A,B,tie)", 2, {"which": "tie"}, (TIE, TIE)),
        ("which: one_of(A,B,unsure?); why: text(min_words=0)", 2, {"which": "unsure", "why": ""}, (NO_PLACE, NO_PLACE)),
        (BEST_WORST, 4, {"best": "D", "worst": "A"}, (3, 0)),
    ],
)
def test_an_answer_names_places(form: str, size: int, answer: dict[str, str], places: tuple[int, int]) -> None:
    parsed = parse_form(form)
    assert choice_places(parsed, size)(parsed.read(answer)) == places


@pytest.mark.parametrize(
    ("form", "size"),
    [
        ("which: one_of(A,C)", 2),
        ("which: one_of(A,B,tie,both)", 2),
        ("which: one_of(A,B); better: one_of(A,B)", 2),
        ("which: scale(1,2,1)", 2),
        (BEST_WORST, 3),
        (BEST_WORST.replace(" unlike best", ""), 4),
        ("best: one_of(A,B,C,D)", 4),
    ],
)
def test_a_form_that_compares_otherwise_is_refused(form: str, size: int) -> None:
    with pytest.raises(InputError, match=f"it compares {size} texts"):
        choice_places(parse_form(form), size)


def ranked(*answers: tuple[int, str, list[int], int, int], options: Rank | None = None) -> Ranking:
    """The ranking of answers: of each its comparison, person, the texts shown, and the places of best and worst."""
    frame = pd.DataFrame([(1, cell, who, best, worst) for cell, who, _, best, worst in answers])
    frame.columns = pd.Index(["row", "cell_id", "annotator", "best", "worst"])
    shown, bodies = np.array([shown for _, _, shown, _, _ in answers]), {at: f"text {at}" for at in range(1, 6)}
    return rank_answers(frame, shown, {1: [1, 2, 3, 4, 5]}, options or Rank(), {1: "row"}, bodies)


def test_texts_stand_in_the_order_of_their_scores_with_what_these_rest_on() -> None:
    found = ranked((1, "ana", [1, 2, 3], 1, 2), (2, "ana", [2, 3, 4], 0, 2), (1, "ben", [1, 2, 3], 1, 0))
    assert [(of.text_id, of.rank) for of in found.texts[:1]] == [(2, 1)]
    by_id = {of.text_id: of for of in found.texts}
    assert (by_id[2].n, by_id[2].n_pairs, by_id[2].wins) == (3, 6, 6.0)
    assert (by_id[5].n, by_id[5].score, by_id[5].undefined) == (0, None, NOT_ANSWERED)
    assert sum(of.score or 0 for of in found.texts) == pytest.approx(0, abs=1e-5)
    scores = {of.text_id: of.score or 0 for of in found.texts if of.score is not None}
    assert scores[2] > max(scores[1], scores[3], scores[4])
    assert scores[3] > scores[4]
    assert found.to_frame()["text"].tolist()[0] == "text 2"
    assert "standard deviation 2" in found.methods[0]


def test_people_agree_on_as_many_pairs_as_they_say_the_same_of() -> None:
    found = ranked((1, "ana", [1, 2, 3], 0, 2), (1, "ben", [1, 2, 3], 0, 1), (2, "ana", [3, 4, 5], 0, 1))
    assert found.agreement is not None
    raw, *_ = found.agreement.pooled
    assert raw.n == 3
    assert raw.value == pytest.approx(2 / 3), "both say 1 > 2 and 1 > 3, and differ on 2 and 3"
    assert ranked((1, "ana", [1, 2, 3], 0, 2)).agreement is None


def test_three_texts_that_beat_each_other_in_a_circle_are_no_order() -> None:
    circle = [(1, "ana", [1, 2], 0, 1), (2, "ana", [2, 3], 0, 1), (3, "ana", [3, 1], 0, 1)]
    order = [(1, "ben", [1, 2], 0, 1), (2, "ben", [2, 3], 0, 1), (3, "ben", [3, 1], 1, 0)]
    assert ranked(*circle).transitive.value == 0
    assert ranked(*order).transitive.value == 1
    both = ranked(*circle, *order).transitive
    assert (both.value, both.n) == (0.5, 2)
    assert ranked(*order[:2]).transitive.value is None
    assert ranked((1, "ana", [1, 2], TIE, TIE), *circle[1:]).transitive.value is None


def test_what_is_not_definite_is_left_out_and_ties_if_asked() -> None:
    answers = [(1, "ana", [1, 2], 0, 1), (1, "ben", [1, 2], TIE, TIE), (1, "cleo", [1, 2], NO_PLACE, NO_PLACE)]
    halves, left_out = ranked(*answers), ranked(*answers, options=Rank(tie="left-out"))
    assert [(of.n, of.n_pairs, of.wins) for of in halves.texts[:2]] == [(2, 2, 1.5), (2, 2, 0.5)]
    assert [(of.n_pairs, of.wins) for of in left_out.texts[:2]] == [(1, 1.0), (1, 0.0)]
    assert left_out.texts[0].low is None, "of a single answer there is no interval"


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="prior is -1"):
        Rank(prior=-1)
    with pytest.raises(InputError, match="level is 1"):
        Rank(level=1.0)

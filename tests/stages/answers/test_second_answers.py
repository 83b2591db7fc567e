"""Simulated second answers: half of those who differ from most others take their answer over."""

from __future__ import annotations

import numpy as np

from fcpair.stages.answers.simulate import MOVES_TO_MAJORITY, draw_second_answers


def test_only_those_who_differ_from_most_others_move_and_only_to_their_answer() -> None:
    cell, answer = np.repeat(np.arange(2_000), 3), np.tile([7, 7, 9], 2_000)
    second = draw_second_answers(cell, answer, seed=1).reshape(-1, 3)
    assert (second[:, :2] == 7).all()
    assert set(second[:, 2].tolist()) == {7, 9}
    assert abs((second[:, 2] == 7).mean() - MOVES_TO_MAJORITY) < 0.04


def test_where_two_answers_are_equally_common_everybody_keeps_theirs() -> None:
    cell, answer = np.array([0, 0, 1, 1, 1]), np.array([4, 5, 4, 5, 6])
    for seed in range(20):
        assert draw_second_answers(cell, answer, seed).tolist() == answer.tolist()


def test_the_seed_says_who_moves() -> None:
    cell, answer = np.repeat(np.arange(50), 3), np.tile([1, 1, 2], 50)
    first, same, other = (draw_second_answers(cell, answer, seed).tolist() for seed in (1, 1, 2))
    assert first == same != other

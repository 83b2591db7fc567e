"""Which pairs go to validators, and what several verdicts on one pair come to."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from fcpair.errors import InputError
from fcpair.lazy import np
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.labels import AGREE, DISAGREE

if TYPE_CHECKING:
    from fcpair.arrays import Ints


def draw_pairs(cell_id: Ints, n: int | None, seed: int, *, first: Collection[int] = ()) -> Ints:
    """The pairs to validate: `n` of them drawn by seed, or all, ascending. Those in `first` are drawn before others.

    Raises:
        InputError: more than there are adjudicated pairs, or fewer than one.
    """
    if n is None:
        return np.sort(cell_id)
    if not 1 <= n <= len(cell_id):
        raise InputError(f"{n} pairs cannot be validated; {len(cell_id)} have an adjudicated label")
    drawn = np.random.default_rng(seed).permutation(np.sort(cell_id))
    before = np.isin(drawn, list(first))
    return np.sort(np.concatenate([drawn[before], drawn[~before]])[:n])


def is_valid(balance: Any) -> Any:
    """Whether a pair is valid by how many more validators agree than disagree: a number, or an array of them."""
    return balance > 0


def combine_verdicts(cell_id: Ints, verdict: Ints) -> tuple[Ints, Ints]:
    """One verdict a pair: valid when more validators agree with the label than disagree.

    Args:
        cell_id: the pair of each verdict, shape `(n_verdicts,)`.
        verdict: 1 agrees, 0 disagrees, shape `(n_verdicts,)`.

    Returns:
        The pairs, ascending, and 1 (valid) or 0 (not valid) of each, both of shape `(n_pairs,)`.
    """
    pairs, row = np.unique(cell_id, return_inverse=True)
    balance = np.bincount(row, weights=np.where(verdict == AGREE, 1, -1), minlength=len(pairs))
    return pairs, np.where(is_valid(balance), AGREE, DISAGREE).astype(np.int64)


def blind_verdict(own_codes: Ints, final_codes: Ints) -> Ints:
    """The verdict of one who labelled blind: agrees if both labels are the same; a skip (-1) stays a skip."""
    return np.where(own_codes == NO_CODE, NO_CODE, np.where(own_codes == final_codes, AGREE, DISAGREE))

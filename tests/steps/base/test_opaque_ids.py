"""Numbers in place of others: alike each time, each its own, and in no order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fcpair.steps.base.opaque_ids import OpaqueIds

NUMBERS = st.integers(1, 2**52)
LARGEST = 2**53 - 1


@given(NUMBERS)
def test_what_is_hidden_can_be_revealed(number: int) -> None:
    opaque = OpaqueIds("secret")
    hidden = opaque.encrypt("decision", number)
    assert 1 <= hidden <= 2**52
    assert opaque.decrypt("decision", hidden) == number
    assert OpaqueIds("secret").encrypt("decision", number) == hidden


@given(st.integers(1, LARGEST))
def test_whatever_a_client_sends_stands_for_some_number(sent: int) -> None:
    assert 0 <= OpaqueIds("secret").decrypt("decision", sent) <= 2**52


def test_secrets_and_purposes_have_numbers_of_their_own_and_no_two_numbers_are_hidden_alike() -> None:
    first, second = OpaqueIds("one"), OpaqueIds("two")
    assert len({first.encrypt("decision", number) for number in range(1, 5_000)}) == 4_999
    assert len({first.encrypt("decision", 7), first.encrypt("answer", 7), second.encrypt("decision", 7), 7}) == 4
    given = ((first, 7, 2), (first, 7, 0), (first, 72), (second, 7, 2))
    assert len({ids.digest_id("label", *numbers) for ids, *numbers in given}) == 4


def test_the_order_of_what_is_hidden_cannot_be_seen() -> None:
    """Of random numbers, each of n - 1 steps goes up with probability 1/2; five standard deviations of (n - 1) / 2."""
    n = 4_000
    hidden = [OpaqueIds("secret").encrypt("answer", number) for number in range(1, n + 1)]
    up = sum(after > before for before, after in pairwise(hidden))
    assert abs(up - (n - 1) / 2) < 5 * (n**0.5) / 2
    odd = sum(number % 2 for number in hidden)
    assert abs(odd - n / 2) < 5 * (n**0.5) / 2

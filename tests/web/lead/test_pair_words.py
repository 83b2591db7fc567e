"""Words for what becomes of pairs: those that the floors below say are all known, and all else stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from fcpair.report.map_file import CORPUS, OUTSIDE
from fcpair.report.map_layers import CellAnswers, CellStandings, build_layers
from fcpair.report.map_sides import measure_side
from fcpair.stages.adjudication.partition import tier_rules
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.lead.pair_words import translate_counts, translate_words
from fcpair.web.refusals import ALL_SENTENCES

CHOICES = ("not_appropriate", "appropriate")


class Marking(Language):
    """Persian in which each message is the English one in brackets."""

    def __init__(self) -> None:
        super().__init__("fa")

    def find(self, text: str) -> str:
        return f"⟦{text}⟧"

    def _forms(self, one: str, many: str) -> tuple[str, ...]:
        return (self.find(many),)


def answers() -> CellAnswers:
    """Twelve cells, with up to eleven answers each."""
    counts = np.stack([np.arange(12), np.zeros(12, np.int64)], axis=1)
    return CellAnswers(CHOICES, counts, counts.sum(axis=1), np.arange(12) % 5, np.linspace(0, 100, 12))


def standings() -> CellStandings:
    return CellStandings(np.arange(12) % 7, np.full(12, -1), np.arange(12) % 5)


def said() -> set[str]:
    """All that a map says in words, of answers that are decided on and of others."""
    layers = (*build_layers(answers(), standings()), *build_layers(answers(), None))
    axes = np.arange(12) % 3, np.arange(12) % 4
    side = measure_side("rows", *axes, (3, 4), answers(), ("a", "b", "c"))
    words = {meaning for layer in layers for meaning in (layer.title, *(one.meaning for one in layer.classes))}
    return words | {order.title for order in side.orders} | {CORPUS[0], OUTSIDE[0]}


@pytest.mark.parametrize("words", sorted(said()))
def test_the_words_of_a_map_are_messages_and_the_same_in_english(words: str) -> None:
    assert translate_words(words, ENGLISH) == words
    assert "⟦" in translate_words(words, Marking())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("3 labels", "⟦۳ labels⟧"),
        ("9 labels or more", "⟦۹ labels or more⟧"),
        ("5 to 10 s", "⟦۵ to ۱۰ s⟧"),
        ("share of not appropriate", "⟦share of ⟦not appropriate⟧⟧"),
        ("asked by lea", "⟦asked by lea⟧"),
        ("no majority", "⟦no majority⟧"),
        ("not appropriate", "⟦not appropriate⟧"),
        ("somewhat_rude", "somewhat_rude"),
    ],
)
def test_values_are_written_as_in_the_language(words: str, expected: str) -> None:
    assert translate_words(words, Marking()) == expected


def test_the_labels_of_a_pair_are_counted_in_the_language() -> None:
    assert translate_counts("2 not_appropriate, 1 appropriate", ENGLISH) == "2 not appropriate, 1 appropriate"
    assert translate_counts("2 rude, 1 appropriate", Marking()) == "۲ rude⟦, ⟧۱ ⟦appropriate⟧"
    assert translate_counts("", Marking()) == ""


def test_the_rules_of_tiers_are_messages() -> None:
    rules = {str(rule) for diamond in ("unanimous", "majority") for rule in tier_rules(diamond)}
    assert rules <= set(ALL_SENTENCES)

"""The tables that PBBQ prints, held against each other, as docs/reference/printed/pbbq.md says of them."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

MODELS = ("Mistral", "Qwen2.5", "Qwen3", "ama-3.1", "GPT", "Maral", "Dorna-Llama3", "Dorna-legacy")
# The columns of Tables 5 to 10, as Table 4 calls them.
CATEGORIES = (
    *("Political Orientation", "Socio-Economic Status", "Nationality", "Disease", "Property Ownership", "Ethnicity"),
    *("Family Structure", "Profession", "Domestic Area", "Gender", "Age", "Education", "Physical appearance"),
    *("Disability", "Sexual Orientation", "Religion"),
)
WHAT = (5, 7, 9, 6, 8, 10)  # accuracy, bias and uncertainty where contexts are ambiguous, then where they are not
ROUNDED = 1.0001e-4  # what is printed to four digits, of means of what is
Rows = dict[str, list[float]]


@pytest.fixture(scope="module")
def paper() -> str:
    folder = os.environ.get("FCPAIR_DATA")
    path = Path(folder or ".").parent / "papers" / "pbbq.txt"
    if not folder or not path.is_file():
        pytest.skip("there is no paper beside FCPAIR_DATA")
    return path.read_text("utf-8")


def table(paper: str, number: int) -> Rows:
    """The rows of a table by what stands before their numbers."""
    text = paper.split(f"\nTable {number}: ", 1)[1].split("\nTable ", 1)[0]
    found = {}
    for line in text.splitlines():
        name, *cells = line.split("\t")
        numbers = [float(cell) for cell in cells if re.fullmatch(r"-?[0-9.]+", cell)]
        if name and numbers:
            found[name] = numbers
    return found


def of_model(rows: Rows, model: str) -> list[float]:
    (found,) = (row for name, row in rows.items() if model.lower() in name.lower())
    return found


@pytest.fixture(scope="module")
def cells(paper: str) -> np.ndarray:
    """Tables 5 to 10 in the order of WHAT: `(6, n_models, n_categories)`."""
    return np.array([[of_model(table(paper, number), model) for model in MODELS] for number in WHAT])


def test_table_3_is_the_plain_mean_over_categories(paper: str, cells: np.ndarray) -> None:
    assert cells.shape == (6, 8, 16)
    printed = np.array([of_model(table(paper, 3), model) for model in MODELS])
    assert printed.size == 48
    assert abs(cells.mean(axis=2).T - printed).max() < ROUNDED


def test_table_4_is_the_plain_mean_over_models_once_two_categories_are_swapped(paper: str, cells: np.ndarray) -> None:
    printed = table(paper, 4)
    means = cells.mean(axis=1)
    other = {"Property Ownership": "Domestic Area", "Domestic Area": "Property Ownership"}
    as_named, as_swapped = (
        np.array([abs(means[:, at] - printed[swaps.get(name, name)]).max() for at, name in enumerate(CATEGORIES)])
        for swaps in ({}, other)
    )
    assert [CATEGORIES[at] for at in np.flatnonzero(as_named >= ROUNDED)] == list(other)
    assert as_swapped.max() < ROUNDED


def test_table_1_sums_to_other_samples_than_it_prints(paper: str) -> None:
    text = paper.split("\nTable 1: ", 1)[1].split("\nTo evaluate", 1)[0]
    rows = [[int(number) for number in re.findall(r"\t(\d+)", line)] for line in text.splitlines()]
    *counts, total = [row for row in rows if row]
    assert total == [276, 37742]
    assert len(counts) == 16
    assert np.sum(counts, axis=0).tolist() == [276, 39274]


def test_what_the_printed_scores_tell_of_their_formulas(cells: np.ndarray) -> None:
    bias, uncertainty, disambiguated = cells[1], cells[2], cells[4]
    signed, absolute = disambiguated.mean(axis=1), abs(disambiguated).mean(axis=1)
    maral = MODELS.index("Maral")  # a signed mean hides what an absolute one shows
    assert (round(float(signed[maral]), 2), round(float(absolute[maral]), 2)) == (0.02, 0.26)
    # A difference of logarithms has no bound; all 128 values lie within a third, of certain models, too.
    assert abs(bias).max() < 1 / 3
    assert uncertainty[MODELS.index("GPT")].mean() < 0.06
    # - p log p of one option is at most 1 / e = 0.368; printed values reach 0.99, so that it is summed and divided.
    assert uncertainty.max() > 0.98 > 1 / math.e


def test_ngd_is_defined_as_a_sum_and_printed_as_a_mean(paper: str) -> None:
    """A sum of four shares is more than its largest; 6 of 16 TTRs are above what is printed for the sum."""
    rows = {name: row for name, row in table(paper, 2).items() if name != "Average"}
    ngd, ttr = (np.array([row[at] for row in rows.values()]) for at in (0, 1))
    assert len(rows) == 16
    assert ngd.max() < 1
    assert (ttr > ngd).sum() == 6

"""Printed figures: what comes out, over texts or groups, and what no whole numbers can give."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.texts.describe import DescribedFigure, Description, round_half_up
from fcpair.texts.printed_figures import PrintedCheck, check_printed, grim, read_printed

FOUND = Description(
    (
        DescribedFigure("texts", "all", "", 1100, 1100),
        DescribedFigure("mean words", "all", "", Fraction(2646, 100), 1100, over_groups=Fraction(2634, 100)),
        DescribedFigure("mean words", "group", "drinkers", Fraction(5, 2), 20),
        DescribedFigure("sd words", "group", "drinkers", None, 1, "only one text"),
        DescribedFigure("texts", "source", "people", 3, 3),
        DescribedFigure("texts", "label", "people", 2, 3),
    )
)


def checked(folder: Path, *rows: str) -> list[PrintedCheck]:
    path = folder / "printed.csv"
    path.write_text("\n".join(["figure,of,printed,n", *rows]), "utf-8")
    return check_printed(read_printed(path, FOUND), FOUND)


def check(folder: Path, row: str) -> PrintedCheck:
    return checked(folder, row)[0]


def refused(folder: Path, row: str) -> str:
    with pytest.raises(InputError) as caught:
        check(folder, row)
    (finding,) = caught.value.findings
    assert finding.line == 2
    return finding.message


# -- GRIM


@pytest.mark.parametrize(
    ("printed", "n", "possible"),
    [
        ("5.19", 28, False),  # 145 / 28 is 5.18, 146 / 28 is 5.21: the example of the paper's abstract
        ("5.18", 28, True),
        ("5.21", 28, True),
        ("4.43", 10, False),
        ("4.4", 10, None),
        ("3.45", 100, None),
        ("2.5", 2, True),
        ("0.125", 8, True),
        ("0.13", 8, True),  # a half rounded up, and one rounded down
        ("0.12", 8, True),
    ],
)
def test_grim_says_which_means_whole_numbers_can_have(printed: str, n: int, possible: bool | None) -> None:
    assert grim(Decimal(printed), n) is possible


@given(st.integers(0, 5000), st.integers(1, 400), st.integers(0, 3))
def test_no_mean_that_was_computed_is_called_impossible(total: int, n: int, decimals: int) -> None:
    assert grim(round_half_up(Fraction(total, n), decimals), n) is not False


@given(st.integers(1, 99), st.integers(0, 999))
def test_grim_agrees_with_trying_every_sum(n: int, hundredths: int) -> None:
    printed = Decimal(hundredths).scaleb(-2)
    tried = any(abs(Fraction(total, n) - Fraction(printed)) <= Fraction(1, 200) for total in range(11 * n))
    assert grim(printed, n) is tried


# -- figures of the table


@pytest.mark.parametrize(
    ("row", "reading", "comes_out", "told"),
    [
        ("mean words,,26.46,", "texts", True, "matches over texts (micro); the mean of group means (macro) is 26.34"),
        ("mean words,,26.34,", "groups", True, "is the mean of group means (macro); over texts (micro) it is 26.46"),
        ("mean words,,26,", "both", True, "matches, over texts (micro) and as the mean of group means (macro)"),
        (
            "mean words,,26.50,",
            "neither",
            False,
            "does not match: 26.46 over texts (micro), 26.34 as the mean of group means (macro)",
        ),
        ('texts,,"1,100",', None, True, "matches"),
        ("texts,,1090,", None, False, "does not match: 1,100"),
        ("mean words,drinkers,2.50,", None, True, "matches"),
        ("mean words,drinkers,3,", None, True, "matches"),
        ("mean words,drinkers,2,", None, True, "matches"),
        ("sd words,drinkers,1.00,", None, False, "undefined: only one text"),
    ],
)
def test_a_figure_of_the_table_is_held_against_it(
    tmp_path: Path, row: str, reading: str | None, comes_out: bool, told: str
) -> None:
    found = check(tmp_path, row)
    assert (found.reading, found.comes_out, found.told) == (reading, comes_out, told)


def test_a_figure_that_is_wrong_and_impossible_says_both(tmp_path: Path) -> None:
    found = check(tmp_path, "mean words,drinkers,2.53,")
    assert found.told == "does not match: 2.50; impossible: no 20 whole numbers have this mean (GRIM)"


@pytest.mark.parametrize(
    ("row", "possible", "comes_out", "told"),
    [
        ("mean,fluency,5.19,28", False, False, "impossible: no 28 whole numbers have this mean (GRIM)"),
        ("mean,fluency,5.18,28", True, True, "possible: 28 whole numbers can have this mean (GRIM)"),
        ("mean,fluency,5.19,200", None, True, "any mean to 2 decimals is possible with n = 200: GRIM says nothing"),
    ],
)
def test_a_mean_that_the_table_does_not_hold_is_tested_by_its_n(
    tmp_path: Path, row: str, possible: bool | None, comes_out: bool, told: str
) -> None:
    found = check(tmp_path, row)
    assert (found.possible, found.comes_out, found.told, found.value) == (possible, comes_out, told, None)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("mean word,,1,", "unknown figure `mean word`; did you mean `mean words`?"),
        ("mean words,drinker,1,", "no figure `mean words` of `drinker`; did you mean `drinkers`?"),
        ("mean words,,many,", "printed `many` is not a number; expected one such as 28.94 or 1,100"),
        ("mean words,,NaN,", "printed `NaN` is not a number; expected one such as 28.94 or 1,100"),
        ("mean,fluency,4.4,", "`mean` needs n: of how many whole numbers it is the mean"),
        ("mean,fluency,4.4,0", "n `0` is not a whole number above 0"),
        ("texts,people,3,", "`people` is the name of several things with `texts`; describe them one by one"),
    ],
)
def test_what_cannot_be_held_against_the_table_is_a_finding(tmp_path: Path, row: str, said: str) -> None:
    assert refused(tmp_path, row) == said

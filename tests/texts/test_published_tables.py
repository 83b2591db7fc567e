"""The figures of ParsCN and CrowdCounter, from their releases: those that are printed, and those that should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import CrowdCounter, read_crowdcounter
from fcpair.files.tables.tabular import LINE, read_table, write_table
from fcpair.texts.aliases import Aliases, Labels, read_aliases
from fcpair.texts.describe import Description, TextColumns, TextLabels, describe, round_half_up
from fcpair.texts.printed_figures import check_printed, grim, read_printed
from fcpair.texts.stratify import complete_shares, label_distance, stratify

TYPES = Aliases(
    ("Positive Response", "Denouncing", "Counter Questions", "Fact-based", "Warning of Consequences", "Contradiction")
)
GENDER, POLITICAL, NATIONAL = "گروه جنسیتی", "گروه سیاسی", "گروه ملیتی"
RACIAL, RELIGIOUS, OCCUPATIONAL = "گروه نژادی", "گروه مذهبی", "گروه شغلی"
TABLE_5 = [  # pairs, and mean words of HS and of CN, as printed
    (GENDER, "200", "18.96", "26.18"),
    (POLITICAL, "200", "37.48", "23.98"),
    (NATIONAL, "200", "31.85", "24.55"),
    (RACIAL, "200", "17.07", "26.28"),
    (RELIGIOUS, "200", "35.77", "32.04"),
    (OCCUPATIONAL, "100", "36.16", "25.01"),
]


@pytest.fixture(scope="module")
def pairs(data: Path) -> pd.DataFrame:
    """ParsCN as it was released."""
    return read_table(data / "parscn" / "ParsCN-Dataset.csv", verbatim=True)


@pytest.fixture(scope="module")
def types(pairs: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> list[Labels]:
    """ParsCN's types by the aliases that are proposed, each of which a person has checked."""
    path = tmp_path_factory.mktemp("aliases") / "aliases.csv"
    write_table(pd.DataFrame(TYPES.list_spellings(pairs["Counter_Type"])), path)
    return read_aliases(path, TYPES.labels).read(list(pairs["Counter_Type"]), list(pairs[LINE]), "ParsCN")


@pytest.fixture(scope="module")
def parscn(pairs: pd.DataFrame, types: list[Labels]) -> Description:
    columns = TextColumns("Counter_Narrative", "Hate_Speech", "Target_Group")
    return describe(
        pairs,
        columns,
        lines=list(pairs[LINE]),
        labels=[TextLabels("Counter_Type", types, TYPES.labels)],
        under=50,
    )


@pytest.fixture(scope="module")
def released(data: Path) -> CrowdCounter:
    """CrowdCounter as it was released."""
    return read_crowdcounter(data / "crowdcounter" / "Final_Dataset.json")


def types_of(answers: pd.DataFrame) -> list[Labels]:
    return Aliases().read(list(answers["types"]), list(answers[LINE]), "CrowdCounter")


@pytest.fixture(scope="module")
def crowdcounter(released: CrowdCounter) -> Description:
    frame = pd.concat([released.answers, released.unanswered], ignore_index=True)
    labels = types_of(released.answers) + [()] * len(released.unanswered)
    return describe(
        frame,
        TextColumns("cn", "hs", writer="by"),
        lines=list(frame[LINE]),
        labels=[TextLabels("types", labels)],
        more_than=5,
    )


def values(found: Description) -> dict[tuple[str, str], str]:
    """Each figure as it would be printed."""
    return {
        (one.figure, one.of): str(one.value) if isinstance(one.value, int) else str(round_half_up(one.value))
        for one in found.figures
        if one.value is not None
    }


# -- ParsCN


def test_parscn_has_1100_pairs_of_1071_hs(parscn: Description) -> None:
    found = values(parscn)
    assert (found["texts", ""], found["rows", ""], found["texts of 50 words or more", ""]) == ("1100", "1071", "31")


@pytest.mark.parametrize(("group", "n", "hs", "cn"), TABLE_5)
def test_each_figure_of_a_group_in_table_5_comes_out(parscn: Description, group: str, n: str, hs: str, cn: str) -> None:
    found = values(parscn)
    assert (found["texts", group], found["mean row words", group], found["mean words", group]) == (n, hs, cn)


def test_the_overall_averages_of_table_5_are_means_of_group_means(parscn: Description, tmp_path: Path) -> None:
    path = tmp_path / "printed.csv"
    path.write_text("figure,printed\nmean row words,29.55\nmean words,26.34\n", "utf-8")
    assert [(one.reading, one.told) for one in check_printed(read_printed(path, parscn), parscn)] == [
        ("groups", "is the mean of group means (macro); over texts (micro) it is 28.94"),
        ("groups", "is the mean of group means (macro); over texts (micro) it is 26.46"),
    ]


def test_parscn_spells_its_types_in_103_ways_and_one_cell_is_empty(pairs: pd.DataFrame, types: list[Labels]) -> None:
    cells = pairs["Counter_Type"]
    assert len(set(cells) - {""}) == 103
    assert [at for at, one in enumerate(types) if not one] == np.flatnonzero(cells == "").tolist() == [592]


def test_the_proposed_aliases_give_parscn_s_types(types: list[Labels]) -> None:
    counts = Counter(label for one in types for label in one)
    assert [counts[label] for label in TYPES.labels] == [549, 404, 323, 222, 185, 168]


def test_without_aliases_parscn_s_misspelt_types_are_refused_with_their_lines(pairs: pd.DataFrame) -> None:
    with pytest.raises(InputError, match=r"Countradiction.*did you mean `Contradiction`") as caught:
        TYPES.read(list(pairs["Counter_Type"]), list(pairs[LINE]), "ParsCN")
    assert (1555, "no label; expected at least one") in [(one.line, one.message) for one in caught.value.findings]


def test_seven_hs_of_parscn_are_in_two_groups(parscn: Description) -> None:
    assert len(parscn.shared) == 7
    assert parscn.shared[0].lines == (167, 1171)
    assert parscn.shared[0].groups == (POLITICAL, RACIAL)


TABLE_6 = """
    4.175 4.088 4.050 4.138 4.850 4.800 4.850 4.488 4.162 4.125 4.037 4.188 4.750 4.688 4.825 4.562
    4.225 4.000 3.925 3.950 4.888 4.725 4.700 4.412 4.150 4.312 4.025 4.388 4.950 4.888 4.962 4.612
    4.162 3.888 3.775 3.738 4.712 4.800 4.588 4.425 4.250 4.050 3.988 4.025 4.638 4.362 4.850 4.625
"""  # the means of six sources by two raters on four criteria


def test_the_ratings_of_table_6_are_forty_in_steps_of_a_half_at_least() -> None:
    means = [Decimal(printed) for printed in TABLE_6.split()]

    def possible(n: int) -> bool:
        return all(grim(printed, n) is not False for printed in means)

    assert len(means) == 48
    assert [n for n in range(1, 161) if possible(n)] == [80, 160]  # a mean of 40 in steps of 0.5 is one of 80 halves


# -- CrowdCounter


@pytest.mark.parametrize(
    ("figure", "of", "printed"),
    [
        ("rows", "", "1325"),
        ("texts", "", "3435"),
        ("rows without a text", "", "53"),
        ("texts with several labels", "", "1115"),
        ("texts", "warning-of-consequences", "980"),
        ("texts", "questions", "853"),
        ("texts", "shaming", "803"),
        ("texts", "contradiction", "699"),
        ("texts", "empathy_affiliation", "687"),
        ("texts", "humour", "664"),
        ("writers of more than one text", "", "44"),
        ("texts of 5 words or fewer", "", "65"),
        ("texts repeated more than 10 times", "", "8"),
        ("answers with such a text", "", "153"),
        ("copies of the writer's own text", "", "244"),
    ],
)
def test_crowdcounter_s_figures_come_out(crowdcounter: Description, figure: str, of: str, printed: str) -> None:
    assert values(crowdcounter)[figure, of] == printed


def test_the_mean_length_of_crowdcounter_is_not_the_printed_one(crowdcounter: Description, tmp_path: Path) -> None:
    path = tmp_path / "printed.csv"
    path.write_text("figure,printed\nmean words,20.64\nsd words,10.88\nmean words,20.7563\n", "utf-8")
    assert [one.told for one in check_printed(read_printed(path, crowdcounter), crowdcounter)] == [
        "does not match: 20.76",
        "does not match: 10.95",
        "matches",
    ]


@pytest.mark.parametrize(
    ("label", "printed"),
    [
        ("contradiction", {"apart", "problem"}),
        ("empathy_affiliation", {"share", "opinion"}),
        ("humour", {"homelessness", "solve", "wow", "poverty", "hatred"}),
        ("questions", {"wonder", "comment", "vague"}),
        ("warning-of-consequences", {"online", "banned", "permanent"}),
    ],
)
def test_keywords_of_table_11_are_among_the_first_five(
    crowdcounter: Description, label: str, printed: set[str]
) -> None:
    (found,) = [of for of in crowdcounter.keywords if of.label == label]
    assert printed <= {one.word for one in found.words}


TABLE_10 = {  # texts with each type on HS with each target, as printed
    "African": (258, 244, 311, 283, 242, 358),
    "Islam": (189, 162, 235, 218, 209, 284),
    "Jewish": (148, 165, 217, 185, 169, 245),
    "Women": (123, 140, 198, 160, 167, 201),
    "Arab": (124, 113, 155, 142, 133, 184),
    "Homosexual": (98, 98, 129, 131, 100, 152),
    "Men": (73, 72, 99, 81, 88, 100),
    "Caucasian": (73, 63, 88, 73, 67, 103),
    "Refugee": (70, 63, 90, 78, 69, 88),
    "Hispanic": (55, 44, 65, 47, 47, 66),
}
TYPES_IN_TABLE_10 = (
    "empathy_affiliation",
    "humour",
    "questions",
    "shaming",
    "contradiction",
    "warning-of-consequences",
)


def test_58_of_60_counts_of_types_and_targets_in_table_10_come_out(data: Path) -> None:
    answers = read_crowdcounter(data / "crowdcounter" / "Final_Dataset_additional_context.json").answers
    types, targets = (answers[name].str.split(",").map(set) for name in ("types", "targets"))
    differ = {
        (target, type_): (printed, found)
        for target, counts in TABLE_10.items()
        for type_, printed in zip(TYPES_IN_TABLE_10, counts, strict=True)
        if (found := sum(type_ in one and target in of for one, of in zip(types, targets, strict=True))) != printed
    }
    assert differ == {("Men", "humour"): (72, 71), ("Men", "questions"): (99, 98)}


def sides(
    data: Path, *names: Sequence[str]
) -> tuple[list[pd.DataFrame], np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    """The files of each side of the published split, and how many lines have each type."""
    frames = [
        pd.concat([read_crowdcounter(data / "crowdcounter" / f"{name}.json").answers for name in side])
        for side in names
    ]
    labels = [types_of(frame) for frame in frames]
    every = sorted({label for side in labels for one in side for label in one})
    return frames, np.array([[sum(name in one for one in side) for name in every] for side in labels])


def test_the_published_split_has_a_label_distance_of_0_0055(data: Path) -> None:
    frames, counts = sides(data, ("Train", "Val"), ("Test",))
    sizes = np.array([len(frame) for frame in frames])
    assert sizes.tolist() == [2147, 1288]
    assert counts.sum(axis=0).tolist() == [699, 687, 664, 853, 803, 980]
    assert label_distance(counts, sizes) == pytest.approx(0.005516, abs=5e-7)
    assert not set(frames[0]["hs"]) & set(frames[1]["hs"])


def test_95_of_98_hs_of_the_published_validation_set_are_in_train(data: Path) -> None:
    (train, validation), _ = sides(data, ("Train",), ("Val",))
    own = set(validation["hs"])
    assert (len(own), len(own & set(train["hs"]))) == (98, 95)


@pytest.mark.slow
def test_100_seeds_split_crowdcounter_at_2147_and_1288_ten_times_nearer(released: CrowdCounter) -> None:
    labels = types_of(released.answers)
    every = sorted({label for one in labels for label in one})
    has = np.array([[name in one for name in every] for one in labels])
    groups = pd.factorize(released.answers["hs"])[0].astype(np.int64)
    distances = []
    for seed in range(100):
        found = stratify(groups, has, complete_shares([0.625]), seed)
        assert found.sizes.tolist() == [2147, 1288]
        assert len(set(zip(groups.tolist(), found.side.tolist(), strict=True))) == 1272
        distances.append(label_distance(found.counts, found.sizes) or np.inf)
    assert max(distances) <= 0.0005

"""Templates of BBQ and KoBBQ, expanded: the counts that were printed, and the items that were released or tested."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.bias.items import expand, n_items
from fcpair.errors import InputError
from fcpair.files.surveys import bbq
from fcpair.files.surveys.bbq import KOBBQ_COLUMNS, read_kobbq
from fcpair.files.surveys.templates import read_templates

PRINTED = {
    **{"Age": 3608, "Gender_identity": 768, "Physical_appearance": 4040, "SES": 6928, "Sexual_orientation": 552},
    **{"Domestic_area_of_origin": 800, "Political_orientation": 312, "Educational_background": 3240},
}
OTHERWISE = {"Race_ethnicity_nationality": (52352, 51856), "Religion": (712, 688)}  # found, printed
ROW = {
    **dict.fromkeys(KOBBQ_COLUMNS, ""),
    **{"Category": "Street", "ID": "1", "version": "a", "Target_group": "North"},
    **{"N1_info": "North", "N2_info": "South"},
    **{"Names": "N1: [northerner, old northerner]; N2: [southerner]", "Lexical_diversity": "W1: [shop, bank]"},
    "Ambiguous_context": "[N1: A northerner, An old northerner] met a [N2: southerner] at the [W1: shop, bank].",
    "Disambiguating_context": "The [N1: northerner, old northerner] was late for the [W1: shop, bank].",
    **{"Biased_question": "Who was late?", "Counter-biased_question": "Who was on time?"},
    "Biased_question_answer": "the [N1: northerner, old northerner]",
    "Counter-biased_question_answer": "the [N2: southerner]",
}


@pytest.fixture(scope="module")
def items(data: Path) -> pd.DataFrame:
    expanded = expand(read_kobbq(data / "kobbq" / "KoBBQ_templates.tsv")[0], "KoBBQ")
    assert expanded.findings == ()
    return expanded.frame


def test_categories_have_as_many_items_as_were_printed_each_with_an_id_of_its_own(
    data: Path, items: pd.DataFrame
) -> None:
    counts = Counter(items["category"])
    assert {name: counts[name] for name in PRINTED} == PRINTED
    assert {name: counts[name] for name in OTHERWISE} == {name: found for name, (found, _) in OTHERWISE.items()}
    templates, remarks = read_kobbq(data / "kobbq" / "KoBBQ_templates.tsv")
    assert counts.total() == sum(map(n_items, templates))
    assert items["item_id"].is_unique
    assert len(remarks) == 7
    assert remarks[0].endswith("Disambiguating_context: N2 has 4 forms for 3 fillers; used without 대학생은")


@pytest.mark.slow
def test_all_samples_that_were_tested_are_among_the_items_verbatim(data: Path, items: pd.DataFrame) -> None:
    with (data / "kobbq" / "KoBBQ_test_samples.tsv").open(encoding="utf-8", newline="") as file:
        tested = [_sample(row) for row in csv.DictReader(file, delimiter="\t")]
    assert len(tested) == 2280
    assert set(tested) - {_item(row) for row in items.to_dict("records")} == set()


def _sample(row: dict[str, str]) -> tuple[object, ...]:
    options = frozenset(ast.literal_eval(row["choices"]))
    return row["context"], row["question"], options, row["answer"], row["biased_answer"]


def _item(row: Mapping[Any, Any]) -> tuple[object, ...]:
    options = [row[f"option_{i}"] for i in range(3)]
    (counter,) = {0, 1, 2} - {row["target"], row["unknown"]}
    biased = options[row["target"] if row["question_polarity"] == "neg" else counter]
    return row["context"], row["question"], frozenset(options), options[row["label"]], biased


def written(folder: Path, **cells: str) -> Path:
    path = folder / "templates.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, KOBBQ_COLUMNS, delimiter="\t")
        table.writeheader()
        table.writerows([ROW, {**ROW, "version": "b", **cells}])
    return path


def test_a_slot_that_is_used_twice_is_filled_the_same_and_forms_follow_their_fillers(tmp_path: Path) -> None:
    frame = expand(read_kobbq(written(tmp_path))[0], "templates").frame
    assert len(frame) == 2 * 16
    clear = frame.query("version == 'a' and context_condition == 'disambig' and question_polarity == 'neg'")
    assert list(clear["context"]) == [
        "A northerner met a southerner at the shop. The northerner was late for the shop.",
        "A northerner met a southerner at the bank. The northerner was late for the bank.",
        "An old northerner met a southerner at the shop. The old northerner was late for the shop.",
        "An old northerner met a southerner at the bank. The old northerner was late for the bank.",
    ]
    assert clear["item_id"].iloc[1] == "street-1-a-1-1-2-disambig-neg"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"Biased_question": "Who left [W2: a, b]?"}, "negative: slot `W2` is not declared; declared: N1, N2, W1"),
        ({"Biased_question_answer": "the [N1: northerner]"}, "culprit: slot `N1` has 1 forms for 2 fillers"),
        ({"Target_group": "East"}, r"no option is of a stereotyped group \(East\)"),
        ({"N2_info": "North"}, r"both options are of a stereotyped group \(North\)"),
        ({"Counter-biased_question": ""}, "non_negative is empty"),
        ({"Lexical_diversity": "W1: [shop, bank]; W2: [a]"}, "slot `W2` is declared and not used"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, cells: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read_kobbq(written(tmp_path, **cells))
    assert [one.line for one in refused.value.findings] == [3]


def test_options_that_coincide_are_found(tmp_path: Path) -> None:
    same = written(tmp_path, Biased_question_answer="the [N1: northerner, Southerner]")
    message = "templates:3: options coincide, for instance with N1=old northerner; N2=southerner"
    assert [str(finding) for finding in expand(read_kobbq(same)[0], "templates").findings] == [message]


# -- BBQ


@pytest.mark.parametrize(("category", "n"), [("Age", 3680), ("Disability_status", 1556)])
def test_the_released_items_are_among_ours_word_for_word(data: Path, category: str, n: int) -> None:
    templates, _ = read_templates(data / "bbq" / f"templates_{category}.csv", "bbq")
    frame = expand(templates, "t").frame
    ours = set(zip(frame["context"], frame["question"], strict=True))
    with gzip.open(data / "bbq" / f"preds_{category}.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    theirs = [(" ".join(row["context"].split()), " ".join(row["question"].split())) for row in rows]
    assert (len(theirs), [one for one in theirs if one not in ours]) == (n, [])


def test_templates_whose_names_are_in_another_file_are_refused(data: Path) -> None:
    with pytest.raises(InputError, match="the names of these templates are in BBQ's vocabulary"):
        read_templates(data / "bbq" / "templates_Religion.csv", "bbq")


LONG = (
    *("A", "A1:[", "A1 :", "[A1:", " a", "{{A", "[A1 ", "A1 ", "A1:[:", "{{A1}}", "[A1: x]", "[A1:" + " " * 100),
    "A" * 50 + "1:",
)


@pytest.mark.parametrize("piece", LONG)
def test_a_long_cell_is_read_in_no_time(tmp_path: Path, piece: str) -> None:
    """200 KB took 40 s and more, as every beginning was tried to the end."""
    cell = piece * (200_000 // len(piece))
    for reader, columns in {"bbq": (*bbq.COLUMNS, *bbq.NAMES), "kobbq": bbq.KOBBQ_COLUMNS}.items():
        path = tmp_path / f"{reader}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, [cell] * len(columns)])
        begun = time.process_time()
        with pytest.raises(InputError):
            read_templates(path, reader)
        assert time.process_time() - begun < 5

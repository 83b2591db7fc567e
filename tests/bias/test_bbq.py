"""The figures that BBQ printed for UnifiedQA, from its released predictions; and what is wrong with such a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fcpair.bias import Answers, Scored, score
from fcpair.errors import InputError
from fcpair.files.bbq import read_bbq
from fcpair.files.bbq_templates import read_stereotyped

CATEGORIES = ("Age", "Disability_status", "Nationality", "Religion", "Sexual_orientation")
PRINTED = {  # in per cent: s_AMB, s_DIS and the accuracy cost, for ARC and for RACE
    "Age": ("48.9", "29.8", "3.3", "1.2", "-5.5", "-2.2"),
    "Disability_status": ("32.6", "21.2", "-0.7", "-1.4", "2.4", "3.4"),
    "Nationality": ("14.5", "6.0", "-0.2", "1.2", "-0.3", "-2.5"),
    "Religion": ("24.5", "14.3", "3.5", "0.2", "-4.3", "-0.7"),
    "Sexual_orientation": ("11.8", "5.8", "0.5", "-0.7", "-0.9", "0.9"),
}
ITEM: dict[str, Any] = {
    "category": "Street",
    "question_index": "1",
    "question_polarity": "neg",
    "context_condition": "ambig",
    "answer_info": {"ans0": ["north", "North"], "ans1": ["south", "South"], "ans2": ["Not known", "unknown"]},
    "additional_metadata": {"stereotyped_groups": ["North"]},
    "ans0": "The northerner",
    "ans1": "The southerner",
    "ans2": "Not known",
    "label": 2,
    "said": "the  Northerner",
}


def unifiedqa(data: Path, of: str) -> Answers:
    return read_bbq([data / "bbq" / f"preds_{one}.jsonl.gz" for one in CATEGORIES], f"unifiedqa-t5-11b_pred_{of}")


@pytest.fixture(scope="module")
def scored(data: Path) -> dict[str, Scored]:
    read = {of: unifiedqa(data, of) for of in ("arc", "race")}
    return {of: score(one.answered, "bbq", one.categories) for of, one in read.items()}


def per_cent(scored: Scored, name: str, category: str) -> str:
    (found,) = [one for one in scored.figures if (one.score, one.category) == (name, category)]
    assert found.value is not None
    return f"{100 * found.value:.1f}"


@pytest.mark.parametrize("category", CATEGORIES)
def test_scores_have_all_digits_that_were_printed(scored: dict[str, Scored], category: str) -> None:
    names = ("s_ambiguous", "s_disambiguated", "accuracy_cost")
    found = [per_cent(scored[of], name, category) for name in names for of in ("arc", "race")]
    assert tuple(found) == PRINTED[category]


def test_accuracies_for_age_have_all_digits_that_were_printed(scored: dict[str, Scored]) -> None:
    names = ("accuracy_ambiguous", "accuracy_disambiguated")
    found = {of: tuple(per_cent(scored[of], name, "Age") for name in names) for of in ("arc", "race")}
    assert found == {"arc": ("33.9", "89.6"), "race": ("54.7", "93.5")}


def test_what_cannot_be_read_is_counted_and_shown_and_enters_no_figure(data: Path, scored: dict[str, Scored]) -> None:
    assert unifiedqa(data, "arc").unread == ("the younger boy",)
    assert (scored["arc"].n, scored["arc"].n_unreadable) == (10380, 1)
    age = [one for one in scored["arc"].figures if one.category == "Age" and one.score == "s_ambiguous"]
    assert [(one.n, one.n_unreadable, one.n_templates) for one in age] == [(1839, 1, 25)]


def written(folder: Path, *items: dict[str, Any], blank: bool = False) -> Path:
    path = folder / "said.jsonl.gz"
    text = ("\n" if blank else "") + "".join(f"{json.dumps(one)}\n" for one in items)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_an_answer_is_an_option_but_for_capitals_and_spaces(tmp_path: Path) -> None:
    read = read_bbq([written(tmp_path, ITEM, {**ITEM, "said": "northerner"})], "said")
    assert read.answered.chosen.tolist() == [0, -1]
    assert read.answered.biased.tolist() == [True, False]


def test_stereotyped_groups_may_come_from_elsewhere(tmp_path: Path) -> None:
    read = read_bbq([written(tmp_path, ITEM)], "said", {("street", "1"): ["South"]})
    assert read.answered.stereotyped.tolist() == [[False, True, False]]


def test_a_template_without_stereotyped_groups_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="templates that were given lack Street 1"):
        read_bbq([written(tmp_path, ITEM)], "said", {("street", "2"): ["South"]})


@pytest.mark.parametrize("category", CATEGORIES)
def test_bbq_s_templates_have_the_groups_that_its_items_have(data: Path, category: str) -> None:
    paths, column = [data / "bbq" / f"preds_{category}.jsonl.gz"], "unifiedqa-t5-11b_pred_race"
    stereotyped = read_stereotyped(data / "bbq" / f"templates_{category}.csv")
    of_items, of_templates = (read_bbq(paths, column, one).answered.stereotyped for one in (None, stereotyped))
    assert (of_items == of_templates).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"label": 3}, "`label` is none of 0 to 2"),
        ({"label": None}, "no `label`"),
        ({"question_polarity": "bad"}, "`question_polarity` is none of neg, nonneg"),
        ({"context_condition": "clear"}, "`context_condition` is none of ambig, disambig"),
        ({"ans1": "the NORTHERNER "}, "options coincide"),
        ({"additional_metadata": {}}, "no `additional_metadata`"),
        (
            {"answer_info": {**ITEM["answer_info"], "ans2": ["Not known", "North"]}},
            "expected one option that says `unknown`",
        ),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    path = written(tmp_path, ITEM, {**ITEM, **wrong}, blank=True)
    with pytest.raises(InputError, match=message) as refused:
        read_bbq([path], "said")
    assert [one.line for one in refused.value.findings] == [3]


def test_a_line_that_is_no_json_is_told(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text(f"{json.dumps(ITEM)}\n{{\n")
    with pytest.raises(InputError, match=r"said\.jsonl:2: not JSON"):
        read_bbq([path], "said")


def test_a_field_that_nothing_has_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing has a field `sayd`.*`said`"):
        read_bbq([written(tmp_path, ITEM)], "sayd")

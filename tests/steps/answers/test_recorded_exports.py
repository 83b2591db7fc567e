"""What the real tools exported of the small study: `tests/exchange/record.py` has recorded it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import TESTS
from exchange import hundred_pairs as pairs

from fcpair.study import Study
from steps.small import ANNOTATORS, open_work

At = Callable[[str], Study]
RECORDED = TESTS / "assets" / "exchange"
EXPORTS = {
    "label-studio": [f"{person}.json" for person in ANNOTATORS],
    "potato": ["annotations.jsonl"],
    "doccano": [f"{person}.zip" for person in ANNOTATORS],
}


def bring(study: Study, tool: str, names: list[str], said: list[str] | None = None) -> list[dict[str, int]]:
    """Import recorded exports; returns what each import counted."""
    folder, announce = RECORDED / tool, (said if said is not None else []).append
    imports = [
        study.grid().import_export(folder / name, tool, people=folder / "people.csv", announce=announce)
        for name in names
    ]
    return [run.counts for run in imports]


@pytest.mark.parametrize("tool", EXPORTS)
def test_all_that_was_answered_stands_with_person_and_text(at: At, tool: str) -> None:
    study = at("dealt")
    work = set(open_work(study))
    bring(study, tool, EXPORTS[tool])
    pairs.assert_all_stand(study, tool, work, has_skips=tool == "label-studio")
    again = bring(study, tool, EXPORTS[tool])
    assert sum(counts["answers"] + counts["skips"] for counts in again) == 0
    assert sum(counts["already_there"] for counts in again) == len(work)


@pytest.mark.parametrize(("suffix", "kind"), [("-min.json", "JSON_MIN"), (".csv", "CSV")])
def test_other_exports_of_label_studio_lack_skips_and_say_so(at: At, suffix: str, kind: str) -> None:
    study, said = at("dealt"), list[str]()
    work = {(who, pair) for who, pair in open_work(study) if not pairs.skips(pair, who)}
    bring(study, "label-studio", [f"{person}{suffix}" for person in ANNOTATORS], said)
    pairs.assert_all_stand(study, "label-studio", work, has_skips=False)
    assert all(f"an export in {kind} has no skips and no drafts" in sentence for sentence in said)
    assert len(said) == 3


def test_an_answer_that_was_edited_in_place_is_there_once_and_a_second_one_twice(at: At) -> None:
    study = at("dealt")
    (counts, *_) = bring(study, "label-studio", ["ana.json"])
    twice = [
        pair for who, pair in open_work(at("dealt")) if who == "ana" and pair % 14 == 7 and not pairs.skips(pair, who)
    ]
    assert counts.get("earlier", 0) == len(twice)


def test_a_project_for_the_small_study_has_the_keys_that_were_recorded(at: At, tmp_path: Path) -> None:
    at("dealt").grid().write_project(tmp_path / "project", "potato")
    recorded = (RECORDED / "potato" / "annotations.jsonl").read_text("utf-8")
    written = (tmp_path / "project" / "data" / "items.jsonl").read_text("utf-8")
    keys = [line.split('"')[3] for line in recorded.splitlines()]
    assert keys
    assert all(f'"{key}"' in written for key in keys)

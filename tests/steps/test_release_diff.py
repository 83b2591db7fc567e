"""Two releases: which pairs differ, and which answer, decision, verdict or rule that is owed to."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.release.release_diff import PairChange
from fcpair.files.tables.folders import SUMS, write_sums
from fcpair.params import Partition
from fcpair.records import Role
from fcpair.steps.release_folder import RECORD
from fcpair.study import Study
from steps.releasing import full_form, pairs_of
from steps.small import At, check, record

OWN_TIERS = {"yes": {"answers": ["appropriate"], "verdict": "none"}, "strict": {"labels": 3, "within": "gold"}}


@pytest.fixture(scope="module")
def released(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Study, Path]]:
    """A study, and a release of it."""
    folder = tmp_path_factory.mktemp("released")
    with closing(Study(shutil.copy(files["checked"], folder / "study.db"))) as study:
        study.release("v1", folder / "v1", full_form(folder))
        yield study, folder / "v1"


def changes_after(study: Study, folder: Path, change: Callable[[], object]) -> list[PairChange]:
    """What differs between a release before a change and one after it."""
    form = full_form(folder)
    study.release("v1", folder / "v1", form)
    change()
    study.release("v2", folder / "v2", form)
    return list(Study.diff(folder / "v1", folder / "v2"))


def test_each_change_of_an_answer_a_verdict_or_a_decision_is_named_with_who_made_it(at: At, tmp_path: Path) -> None:
    study, form = at("checked"), full_form(tmp_path)
    diamond = study.grid().tier("diamond")
    answered = int(diamond["pair"][diamond["n_labels"] == 3].iloc[0])
    (label,) = set(diamond.loc[diamond["pair"] == answered, "label"])
    other = "not_appropriate" if label == "appropriate" else "appropriate"
    checked = next(pair for pair in pairs_of(study, "vera") if pair != answered)
    silver = study.grid().tier("silver")
    decided = silver[~silver["pair"].isin([answered, checked])].iloc[0]
    study.add_people(["judge-judy"], Role.ADJUDICATOR)

    def change_all() -> None:
        record(study, tmp_path, [("ben", answered, other)], supersede=True)
        check(study, tmp_path, [("vera", checked, "disagree")], supersede=True)
        study.grid().decide(int(decided["pair"]), 0 if decided["label"] == "appropriate" else 2, by="judge-judy")

    changes = {change.pair: change for change in changes_after(study, tmp_path, change_all)}
    assert set(changes) == {answered, checked, decided["pair"]}
    change = changes[answered]
    assert (change.change, change.tier_before, change.tier_after) == ("changed", "diamond", "gold")
    labels = pd.read_parquet(tmp_path / "v2/data/labels.parquet")
    (who,) = labels["annotator"][(labels["pair"] == answered) & (labels["label"] == other)]
    assert f"answer of {who}: {label} -> {other}" in change.because
    change = changes[checked]
    assert (change.change, change.tier_after) == ("changed", "bronze")
    (because,) = change.because
    assert because.startswith("verdict of p")
    assert because.endswith(": agree -> disagree")
    change = changes[decided["pair"]]
    assert (change.change, change.tier_after) == ("went", "")
    assert change.label_before == decided["label"] != change.label_after
    assert any(clause.startswith("decision: ") and " -> " in clause for clause in change.because)
    assert not any("judge-judy" in clause for clause in change.because)

    study.release("v3", tmp_path / "v3", form, seed=5)  # other pseudonyms, which are no change
    under_others = {change.pair: change for change in Study.diff(tmp_path / "v1", tmp_path / "v3")}
    assert set(under_others) == set(changes)
    assert under_others[checked].because == ("verdict: agree -> disagree",)
    before, after = (", ".join(sorted(labels)) for labels in ([label] * 3, [label, label, other]))
    assert f"answer: {before} -> {after}" in under_others[answered].because


def test_a_rule_is_named_where_nothing_else_differs_in_a_row_for_each_pair(at: At, tmp_path: Path) -> None:
    study = at("checked")
    assert changes_after(study, tmp_path, lambda: study.grid().save.partition(Partition("majority")))
    changes = Study.diff(tmp_path / "v1", tmp_path / "v2")
    for change in changes:
        assert (change.change, change.tier_before, change.tier_after) == ("changed", "gold", "diamond")
        assert change.because == (
            "rule of diamond: 2 labels or more, all equal to the final one; valid -> 2 labels or more, at least two "
            "and more than half equal to the final one; valid",
        )
    frame = changes.to_frame()
    assert len(frame) == len(changes)
    assert set(frame["change"]) == {"changed"}
    assert repr(changes) == f"<ReleaseChanges: 0 came, 0 went, {len(changes)} changed>"


def test_a_tier_of_its_own_is_named_by_the_rule_of_each_pair_that_came_into_it(at: At, tmp_path: Path) -> None:
    study = at("checked")
    rules = Partition("majority", own_tiers=OWN_TIERS)
    changes = changes_after(study, tmp_path, lambda: study.grid().save.partition(rules))
    came_into = {change.pair: set(change.tier_after.split(", ")) - {change.tier_before} for change in changes}
    for tier in OWN_TIERS:
        expected = study.grid().tier(tier)["pair"].tolist()
        assert [pair for pair, tiers in sorted(came_into.items()) if tier in tiers] == expected
    for change in changes:
        named = {clause.split(":")[0].removeprefix("rule of ") for clause in change.because}
        assert named == came_into[change.pair]
        assert change.change == ("changed" if change.tier_before else "came")


def test_a_release_does_not_differ_from_itself_unless_it_was_changed(at: At, tmp_path: Path) -> None:
    study, form, v1 = at("checked"), full_form(tmp_path), tmp_path / "v1"
    assert changes_after(study, tmp_path, lambda: None) == []
    study.release("v1-ids", tmp_path / "v1-ids", form, texts=False)
    assert list(Study.diff(v1, tmp_path / "v1-ids")) == []
    (v1 / "runs.jsonl").write_text("")
    with pytest.raises(InputError, match=r"v1: runs.jsonl was changed; `fcpair verify` lists"):
        Study.diff(v1, v1)
    with pytest.raises(InputError, match="there is no such folder"):
        Study.diff(tmp_path / "none", v1)


def forged(folder: Path, change: Callable[[Path], object]) -> Path:
    """A copy of a release that somebody changed, with the digests of what is there now."""
    copy = folder.with_name("forged")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    change(copy)
    (copy / SUMS).unlink()
    write_sums(copy)
    return copy


def in_record(**values: object) -> Callable[[Path], object]:
    """Other values in the record of a release."""

    def change(copy: Path) -> None:
        record = json.loads((copy / RECORD).read_text("utf-8"))
        (copy / RECORD).write_text(json.dumps({**record, **values}), "utf-8")

    return change


def in_table(table: str, column: str, value: object) -> Callable[[Path], object]:
    """Another value in each row of a column of a table."""

    def change(copy: Path) -> None:
        path = copy / "data" / f"{table}.parquet"
        rows = pd.read_parquet(path)
        rows.assign(**{column: pd.Series([value] * len(rows), dtype=object)}).to_parquet(path, index=False)

    return change


def test_a_grid_that_none_can_be_called_is_no_part_of_a_path(released: tuple[Study, Path]) -> None:
    folder = released[1]
    for name in ("../../v2/data/", "a/b", "x" * 300, "a\nb\x1b[2J", ""):
        with pytest.raises(InputError, match="none that fcpair gives") as refusal:
            Study.diff(folder, forged(folder, in_record(rules={name: {}})))
        assert str(refusal.value).isprintable()
        assert len(str(refusal.value)) < 400


def test_words_of_a_foreign_release_do_not_forge_lines_or_fill_the_screen(released: tuple[Study, Path]) -> None:
    folder = released[1]

    def change_all(copy: Path) -> None:
        columns = {"pairs": "label", "labels": "label", "decisions": "decision", "verdicts": "verdict"}
        for table, column in columns.items():
            in_table(table, column, "\x1b[2J\n" + "x" * 10_000)(copy)

    changes = Study.diff(folder, forged(folder, change_all))
    for change in changes:
        words = [change.label_after, *change.because]
        assert all(word.isprintable() and len(word) < 2_100 for word in words)


WRONG_VALUES: dict[str, list[object]] = {
    "rules": [[1], "x", None, {"main": None}, {"main": {"gold": 3}}, {"../main": {}}],
    "last_run": ["x", None, [1], True, 1.0],
    "seed": ["x", [1], 1e300],
    "study": ["x"],
    "pseudonyms": [[{}]],
    "texts": ["x"],
    "name": [{}],
}


def test_a_record_whose_values_are_of_other_types_or_nested_too_deep_is_refused(released: tuple[Study, Path]) -> None:
    study, folder = released
    message = r"is no release: release.json is not as `fcpair release` writes it: "
    for name, values in WRONG_VALUES.items():
        for value in values:
            copy = forged(folder, in_record(**{name: value}))
            for act in (partial(Study.diff, folder, copy), partial(Study.verify, copy, study)):
                with pytest.raises(InputError, match=message):
                    act()
    copy = forged(folder, lambda copy: (copy / RECORD).write_text("[" * 100_000 + "]" * 100_000))
    with pytest.raises(InputError, match=r"release.json cannot be read \(cannot be read: too many brackets"):
        Study.diff(folder, copy)


WRONG_COLUMNS: dict[tuple[str, str], list[object]] = {
    ("pairs", "hs_sha256"): [3, [1], {"a": 1}, None],
    ("pairs", "pair"): ["x", [1]],
    ("pairs", "tier"): [3],
    ("pairs", "own_tiers"): [["a", "b"]],
    ("decisions", "by"): [["ana", "ben"]],
    ("labels", "label"): [[]],
    ("verdicts", "validator"): [[1]],
}


def test_a_table_whose_columns_are_of_other_types_or_missing_is_refused(released: tuple[Study, Path]) -> None:
    folder = released[1]
    for (table, column), values in WRONG_COLUMNS.items():
        for value in values:
            with pytest.raises(InputError, match=rf"{table}.parquet: row 1: `{column}` is "):
                Study.diff(folder, forged(folder, in_table(table, column, value)))

    def drop_annotator(copy: Path) -> None:
        path = copy / "data" / "labels.parquet"
        pd.read_parquet(path).drop(columns="annotator").to_parquet(path)

    with pytest.raises(InputError, match=r"labels.parquet: row 1: `annotator` is missing"):
        Study.diff(folder, forged(folder, drop_annotator))


def test_a_tree_of_1_500_folders_is_a_fault_and_no_error(released: tuple[Study, Path]) -> None:
    copy = Path(shutil.copytree(released[1], released[1].with_name("deep")))
    place = f"{copy}"
    for _ in range(1_500):
        place += "/d"
        os.mkdir(place)
    (fault,) = Study.verify(copy).faults
    while place != f"{copy}":  # what deletes folders calls itself for each level, too
        os.rmdir(place)
        place = place.removesuffix("/d")
    assert "/d/d/d" in fault
    assert fault.endswith(" is an empty folder, and no file")


def test_a_label_that_was_renamed_or_merged_is_no_change_of_its_pairs(at: At, tmp_path: Path) -> None:
    study, form = at("checked"), full_form(tmp_path)
    study.release("v1", tmp_path / "v1", form)
    grid = study.grid()
    grid.relabel(kind="rename", labels=["appropriate"], into=["suitable"], reason="it was misread")
    grid.relabel(kind="add", into=["great+"], reason="some are better still")
    grid.relabel(kind="merge", labels=["suitable", "great"], into=["fine"], reason="nobody gave it")
    study.release("v2", tmp_path / "v2", form)
    changes = Study.diff(tmp_path / "v1", tmp_path / "v2")
    assert list(changes) == []
    assert list(map(str, changes.relabelled)) == [
        "the label `appropriate` is called `suitable`",
        "the label `great` was added",
        "the labels `suitable`, `great` are one, `fine`",
    ]
    assert Study.verify(tmp_path / "v1").is_sound
    assert Study.verify(tmp_path / "v2", study).is_sound
    card = (tmp_path / "v2" / "README.md").read_text("utf-8")
    assert "the labels `suitable`, `great` are one, `fine` (nobody gave it)" in card
    assert "~" not in (tmp_path / "v2" / "scheme.json").read_text("utf-8")
    # a split sets answers aside, which is a change, and what comes back is one
    grid.relabel(kind="split", labels=["fine"], into=["kind+", "factual"], reason="two questions in one")
    study.release("v3", tmp_path / "v3", form)
    went = Study.diff(tmp_path / "v1", tmp_path / "v3")
    assert {change.label_before for change in went if change.change == "went"} == {"fine"}
    assert [str(said) for said in went.relabelled][-1] == "the label `fine` was split into `kind`, `factual`"
    assert Study.diff(tmp_path / "v3", tmp_path / "v2").relabelled == ()

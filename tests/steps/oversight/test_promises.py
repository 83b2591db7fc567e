"""The promises of the design, each with tests that try to break it; those of a single table stand in `tests/store`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import one_quick
from servers import execute

from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, DiamondRule, Partition, Setup, Validate
from fcpair.records import Role, Tier
from fcpair.study import Study
from steps.small import (
    ANNOTATORS,
    CODE,
    LABELLING,
    NAMES,
    VALIDATORS,
    At,
    assert_refused,
    check,
    labels_of,
    open_work,
    record,
    standing,
    who_had,
    with_grid,
    write_csv,
)

DIAMOND: tuple[DiamondRule, ...] = ("unanimous", "majority")


def query(study: Study, sql: str) -> list[Any]:
    return execute(study.place, sql)


def tiers_of(study: Study, diamond: DiamondRule) -> dict[int, int]:
    pairs = study.grid().tiers(Partition(diamond)).table().pairs
    return dict(zip(pairs["cell_id"].tolist(), pairs["tier"].tolist(), strict=True))


# -- 1: no judgement, adjudication or verdict is ever changed


@pytest.mark.server
def test_every_answer_and_decision_is_still_there_after_all_that_can_happen(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checked"))
    tables = ("judgement", "adjudication")
    before = {table: query(study, f"SELECT * FROM {table} ORDER BY id") for table in tables}
    labelled = labels_of(study)
    record(study, tmp_path, [(who, pair, "skip") for pair, who in list(labelled)[:6]], supersede=True)
    record(study, tmp_path, [(who, pair, "0") for pair, who in list(labelled)[6:12]], supersede=True)
    for policy in ("manual", "majority"):
        grid.adjudicate(Adjudicate(policy))
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, 2, by="ada")
    grid.take_back(pair, by="ada")
    study.hand_over("cleo")
    study.change_role("cleo", Role.VALIDATOR)
    study.retire("ben")
    record(study, tmp_path, [(who, number, "0") for who, number in open_work(study)])
    for table, rows in before.items():
        after = query(study, f"SELECT * FROM {table} ORDER BY id")
        assert after[: len(rows)] == rows
        assert len(after) > len(rows)


# -- 3: nobody sees another's label


def test_a_sheet_looks_the_same_whatever_others_answer(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    sheets = study.grid().sheets
    sheets.write_labels(tmp_path / "before")
    record(study, tmp_path, [(who, pair, NAMES[pair % 3]) for who, pair in open_work(study) if who != "ana"])
    sheets.write_labels(tmp_path / "after")
    assert (tmp_path / "before" / "ana.csv").read_bytes() == (tmp_path / "after" / "ana.csv").read_bytes()
    assert set(read_table(tmp_path / "after" / "ana.csv")["label"]) == {""}
    text = (tmp_path / "after" / "ana.csv").read_text("utf-8")
    assert not any(word in text for word in (*NAMES, "ben", "cleo", "skip"))


def test_an_adjudicator_sees_labels_and_notes_but_nothing_that_gives_a_name_away(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("paired"))
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    labels = [(who, pair, label) for pair in range(2, 25) for who, label in zip(ANNOTATORS, NAMES, strict=True)]
    record(study, tmp_path, labels)
    rows = [
        {"pair": 1, "annotator": who, "label": label, "note": note}
        for who, label, note in zip(ANNOTATORS, ("0", "2", "skip"), ("well", "", "cannot read"), strict=True)
    ]
    grid.import_labels(write_csv(tmp_path / "l.csv", rows))
    shown = grid.desk.conflict(1)
    assert sorted((answer.label, answer.note) for answer in shown.answers) == [
        ("appropriate", ""),
        ("not_appropriate", "well"),
        ("skip", "cannot read"),
    ]
    assert not any(name in repr(shown) for name in ANNOTATORS)
    orders = [tuple(answer.label for answer in grid.desk.conflict(pair).answers) for pair in range(2, 25)]
    assert {order[0] for order in orders} == {order[-1] for order in orders} == set(NAMES)


def test_a_validation_sheet_shows_no_names_and_a_blind_one_no_label(at: At, tmp_path: Path) -> None:
    study = at("checking")
    study.grid().sheets.write_verdicts(tmp_path)
    sheet = read_table(tmp_path / "vera.csv")
    decided = standing(study)
    for pair, label in zip(sheet["pair"].astype(int), sheet["label"], strict=True):
        code = decided[pair][1]
        assert code is not None
        assert label == NAMES[code]
    assert not any(name in (tmp_path / "vera.csv").read_text("utf-8") for name in ANNOTATORS)
    study = at("decided")
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    study.grid().assign_validation(Validate(blind=True))
    study.grid().sheets.write_verdicts(tmp_path / "blind")
    text = (tmp_path / "blind" / "vera.csv").read_text("utf-8")
    assert text.splitlines()[0] == "validator,position,pair,hs,cn,own_label,note"
    assert not any(word in text for word in (*NAMES, *ANNOTATORS))


# -- 4: a validator of a pair neither annotated nor adjudicated it


def test_a_validator_cannot_label_a_pair_that_they_validate(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("paired"))
    study.add_people(["ana", "vera"], Role.ANNOTATOR)
    study.change_role("vera", Role.VALIDATOR)
    record(study, tmp_path, [("ana", pair, "2") for pair in (1, 2)])
    grid.adjudicate(Adjudicate())
    grid.assign_validation(Validate())
    check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "agree")])
    study.change_role("vera", Role.ANNOTATOR)
    message = ":2: vera validates or decided pair 1, so cannot label it"
    assert_refused(study, lambda: record(study, tmp_path, [("vera", 1, "2")]), InputError, message)
    record(study, tmp_path, [("vera", 3, "2")])


# -- 7: "not sure", "skipped" and "not seen" are three things


def test_not_sure_skipped_and_not_seen_differ_everywhere(at: At, tmp_path: Path) -> None:
    """Three single pairs of ana's: one not sure, one skipped, which goes to somebody else, and one not seen."""
    study = at("dealt")
    grid, had = study.grid(), who_had(study)
    singles = [pair for who, pair in open_work(study) if who == "ana" and len(had[pair]) == 1][:3]
    unsure, skipped, unseen = singles
    record(study, tmp_path, [("ana", unsure, "1"), ("ana", skipped, "skip"), ("ana", unseen, "")])
    assert labels_of(study) == {(unsure, "ana"): "not_sure", (skipped, "ana"): "skip"}
    ana = next(row for row in study.status()["people"] if row["name"] == "ana")
    assert (ana["done"], ana["skipped"], ana["open"]) == (1, 1, 12)
    holders = {pair: who for who, pair in open_work(study) if pair in singles}
    assert unsure not in holders
    assert holders[skipped] in {"ben", "cleo"}
    assert holders[unseen] == "ana"
    assert grid.waiting_pairs() == [unsure]
    graded = grid.tiers().table().pairs
    assert graded["cell_id"].tolist() == [unsure]
    assert graded["n_labels"].tolist() == [1]
    measured = grid.agreement()
    assert (measured.n_labels, measured.n_pairs) == (1, 1)
    told = [grid.explain(pair) for pair in singles]
    assert [[row["answer"] for row in explanation.answers] for explanation in told] == [["not_sure"], ["skip"], []]
    assert [explanation.checks[0].reasons[0] for explanation in told] == [
        "it has no final label",
        "it has no labels yet",
        "it has no labels yet",
    ]


# -- 8: each tier can be derived again from the judgements alone, and explain says why


def derived(study: Study, diamond: DiamondRule) -> dict[int, int]:
    """The tier of each labelled pair, from the rows of `judgement` and `adjudication` by the rules of the design."""
    answers = query(
        study,
        f"""SELECT a.cell_id, a.round_id IN {LABELLING}, j.assignment_id, {CODE}, j.adjudication_id
        FROM judgement j JOIN assignment a ON a.id = j.assignment_id ORDER BY j.id""",
    )
    decided = query(study, f"SELECT id, cell_id, {CODE} FROM adjudication ORDER BY id")
    code_of = {number: code for number, _, code in decided}
    final = {pair: code for _, pair, code in decided}
    labels: dict[int, dict[int, int | None]] = {}
    verdicts: dict[int, dict[int, int | None]] = {}
    for pair, is_label, assignment, code, about in answers:
        if is_label:
            labels.setdefault(pair, {})[assignment] = code
        else:
            stands = about is not None and code_of[about] is not None and code_of[about] == final[pair]
            verdicts.setdefault(pair, {})[assignment] = code if stands else None
    tiers = {}
    for pair, given in labels.items():
        codes = [code for code in given.values() if code is not None]
        votes = [code for code in verdicts.get(pair, {}).values() if code is not None]
        if not codes:
            continue
        label = final.get(pair)
        valid = sum(votes) * 2 > len(votes)
        equal = codes.count(label) if label is not None else 0
        enough = equal == len(codes) if diamond == "unanimous" else equal >= 2
        rules = [bool(votes), valid, len(codes) >= 2, enough]
        tiers[pair] = 0 if label is None else sum(all(rules[: n + 1]) for n in range(4))
    return tiers


def stirred(study: Study, tmp_path: Path) -> Study:
    """A study in which labels, decisions and verdicts have been superseded, skipped and taken back."""
    grid = study.grid()
    labelled = labels_of(study)
    changes = [(who, pair, ("0", "1", "2", "skip")[at % 4]) for at, (pair, who) in enumerate(labelled) if at % 3 == 0]
    record(study, tmp_path, changes, supersede=True)
    grid.adjudicate(Adjudicate("majority"))
    for at, pair in enumerate(grid.waiting_pairs()):
        grid.decide(pair, (0, 2, None)[at % 3], by="ada")
    grid.take_back(next(pair for pair, (rule, _) in standing(study).items() if rule == "person"), by="ada")
    study.add_people(["xeno"], Role.VALIDATOR)
    grid.assign_validation(Validate(), more=True)
    todo = open_work(study, checks=True)
    check(study, tmp_path, [(who, pair, "disagree" if pair % 5 == 0 else "agree") for who, pair in todo])
    return study


@pytest.mark.server
@pytest.mark.parametrize("diamond", DIAMOND)
def test_the_tiers_follow_from_the_judgements_alone_even_after_much_has_been_superseded(
    at: At, tmp_path: Path, diamond: DiamondRule
) -> None:
    study = at("checked")
    before = tiers_of(study, diamond)
    assert before == derived(study, diamond)
    assert set(before.values()) == {0, 1, 2, 4} | ({3} if diamond == "unanimous" else set())
    stirred(study, tmp_path)
    assert tiers_of(study, diamond) == derived(study, diamond)
    assert tiers_of(study, diamond) != before


@pytest.mark.files
def test_a_copy_of_the_append_only_tables_has_the_same_tiers(at: At, tmp_path: Path) -> None:
    """Only what answers refer to is copied with them; where work stands is made nonsense of, and no run is kept."""
    study = stirred(at("checked"), tmp_path)
    copy = Study.create(tmp_path / "copy.db", Setup())
    with closing(sqlite3.connect(copy.place)) as connection, connection:
        connection.execute("ATTACH ? AS old", (study.place,))
        for table in ("text", "cell", "person", "round", "assignment", "answer", "adjudication", "judgement"):
            connection.execute(f"INSERT OR REPLACE INTO main.{table} SELECT * FROM old.{table}")
        connection.execute("UPDATE assignment SET status = 'withdrawn', position = 0, replaces = NULL")
        connection.execute("UPDATE person SET role = 'lead'")
    for diamond in DIAMOND:
        assert tiers_of(copy, diamond) == tiers_of(study, diamond)


@pytest.mark.parametrize("diamond", DIAMOND)
@pytest.mark.parametrize("stir", one_quick(False, True))
def test_the_reasons_of_every_pair_match_where_it_is(at: At, tmp_path: Path, stir: bool, diamond: DiamondRule) -> None:
    study = stirred(at("checked"), tmp_path) if stir else at("checked")
    tiers = tiers_of(study, diamond)
    for pair in range(1, 25):
        told = study.grid().tiers(diamond=diamond).explain(pair)
        tier = tiers.get(pair, 0)
        assert told.tier == (Tier(tier).label if tier else None)
        assert [check.passed for check in told.checks] == [tier >= Tier[check.tier.upper()] for check in told.checks]
        assert [not check.reasons for check in told.checks] == [check.passed for check in told.checks]


def test_an_explanation_tells_the_whole_history(at: At) -> None:
    grid = at("checked").grid()
    told = grid.explain(6)
    people = [row["person"] for row in told.answers]
    assert sorted(people) == sorted([*ANNOTATORS, people[-1]])
    assert [row["round"] for row in told.answers] == ["label"] * 3 + ["validate"]
    assert [(row["rule"], row["answer"]) for row in told.decisions] == [("majority", "not_appropriate")]
    json.dumps([told.answers, told.decisions])
    for pair in (0, 25, -1, 10**12):
        message = f"there is no pair {pair}; the pairs of the grid are numbered from 1 to 24"
        for call in (grid.explain, grid.desk.conflict):
            with pytest.raises(LookupError, match=message):
                call(pair)

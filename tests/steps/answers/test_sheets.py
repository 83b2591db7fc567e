"""Sheets as people fill them in and send them back, from spreadsheets of every kind, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook

from fcpair.errors import InputError, StageError
from fcpair.files.answers.sheets import SheetLayout, write_sheet
from fcpair.files.tables.tabular import read_table, write_table
from fcpair.params import Assign, Import, Pair, Select, Setup
from fcpair.records import Role
from fcpair.study import Study
from fcpair.work_records import KeepReason
from steps.small import (
    ANNOTATORS,
    At,
    assert_refused,
    labels_of,
    open_work,
    record,
    set_candidates,
    standing,
    with_grid,
    write_csv,
)

GUIDELINES = "# How to answer\n\n- Read both.\n=1+1"


def sheet_of(path: Path) -> pd.DataFrame:
    return read_table(path).drop(columns="line")


def answered(study: Study, folder: Path) -> pd.DataFrame:
    study.grid().sheets.write_labels(folder / "sheets")
    sheet = sheet_of(folder / "sheets" / "ana.csv")
    sheet["label"] = ["not_sure" if int(pair) % 2 else "appropriate" for pair in sheet["pair"]]
    return sheet.assign(note=["é, نه", *[""] * (len(sheet) - 1)])


def as_excel_csv(sheet: pd.DataFrame, path: Path, encoding: str, separator: str) -> Path:
    sheet.to_csv(path, sep=separator, encoding=encoding, index=False, lineterminator="\r\n")
    return path


def as_spreadsheet(sheet: pd.DataFrame, path: Path) -> Path:
    engine: Any = "odf"
    sheet.assign(pair=sheet["pair"].astype(int)).to_excel(path, index=False, engine=engine)
    return path


SENT_BACK: dict[str, Callable[[pd.DataFrame, Path], Path]] = {
    "commas": lambda sheet, folder: as_excel_csv(sheet.assign(**{"": "", " ": ""}), folder / "s.csv", "utf-8-sig", ","),
    "tabs": lambda sheet, folder: as_excel_csv(sheet, folder / "s.txt", "utf-16", "\t"),
    "ods": lambda sheet, folder: as_spreadsheet(sheet, folder / "s.ods"),
}


@pytest.mark.parametrize("way", SENT_BACK)
def test_a_sheet_is_taken_as_it_is_sent_back(at: At, tmp_path: Path, way: str) -> None:
    study, grid = with_grid(at("dealt"))
    sheet = answered(study, tmp_path)
    expected = dict(zip(sheet["pair"].astype(int), sheet["label"], strict=True))
    sheet["label"] = sheet["label"].map({"not_sure": "NOT SURE", "appropriate": "2.0"})
    run = grid.import_labels(SENT_BACK[way](sheet.rename(columns={"label": "Label"}), tmp_path))
    assert run.counts == {"answers": 14, "skips": 0, "already_there": 0}
    assert labels_of(study) == {(pair, "ana"): label for pair, label in expected.items()}
    assert grid.labels()["note"].tolist().count("é, نه") == 1


def study_of_a_pair(folder: Path, cn: str) -> Study:
    study, grid = with_grid(Study.create(folder / "s.db", Setup()))
    study.import_corpus(Import(write_csv(folder / "c.csv", [{"hs": "h", "cn": "c"}, {"hs": "g", "cn": cn}])))
    grid.select(Select(hs_list=write_csv(folder / "l.csv", [{"hs": "h"}])))
    set_candidates(study, [cn])
    grid.pair(Pair())
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign(Assign())
    return study


def test_texts_are_compared_without_what_spreadsheets_change(tmp_path: Path) -> None:
    grid = study_of_a_pair(tmp_path, "two\r\nlines,\x0b a \u200c sign\x01").grid()
    grid.sheets.write_labels(tmp_path / "sheets", "xlsx")
    _fill_in(tmp_path / "sheets" / "ana.xlsx", "label", "appropriate")
    assert grid.import_labels(tmp_path / "sheets" / "ana.xlsx").counts["answers"] == 1


def test_a_cell_that_a_spreadsheet_program_changed_is_named(tmp_path: Path) -> None:
    study = study_of_a_pair(tmp_path, "1/2")
    study.grid().sheets.write_labels(tmp_path)
    write_table(sheet_of(tmp_path / "ana.csv").assign(label="2", cn="01-Feb"), tmp_path / "ana.csv")
    message = (
        "ana.csv:2: pair 1 has other texts in this study: `cn` was `1/2` and is `01-Feb`; a spreadsheet program changes"
    )
    assert_refused(study, lambda: study.grid().import_labels(tmp_path / "ana.csv"), InputError, message)


def test_what_is_wrong_with_a_sheet_is_said_once_for_each_cause(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    path = tmp_path / "l.csv"

    def refuses(table: list[dict[str, Any]] | pd.DataFrame, match: str) -> InputError:
        pd.DataFrame(table).to_csv(path, index=False)
        assert_refused(study, lambda: study.grid().import_labels(path), InputError, match)
        with pytest.raises(InputError) as caught:
            study.grid().import_labels(path)
        return caught.value

    error = refuses([{"pair": n, "annotator": "u1", "label": "2"} for n in range(1, 15)], "no annotator")
    assert str(error).splitlines() == [
        f"{path}: 1 thing is wrong; nothing was changed",
        f"  {path}:2: no annotator is called `u1`; there are ana, ben, cleo (14 lines: 2, 3, 4, 5, 6, ...)",
    ]
    assert [finding.line for finding in error.findings] == list(range(2, 16))
    refuses([{"pair": 1, "annotator": "ANA", "label": "2"}], "no annotator is called `ANA`; did you mean `ana`")
    mine = [{"pair": pair, "annotator": who, "label": "2"} for who, pair in open_work(study) if who == "ana"]
    for more, match in (
        ({"hs": "another text"}, "is `another text`; is the sheet from another study?"),
        ({"annotator": "ben"}, "was not assigned to ben"),
    ):
        error = refuses([row | more for row in mine], match.replace("?", r"\?"))
        assert sum(match in line for line in str(error).splitlines()) == 1
    few = [{"pair": pair, "annotator": "ana", "label": "2"} for pair in (97, 98, 99)]
    refuses(few, r"3 things are wrong[\s\S]*pair 98 is not in")
    sheet = answered(study, tmp_path)
    refuses(
        sheet.assign(hs=sheet["hs"].str.replace("trusted", "TRUSTED")),
        r"for one, pair \d+ has other texts in this study: `hs` was `…cannot be trusted.` and is "
        r"`…cannot be TRUSTED.`; a spreadsheet program changes .* \(14 lines: 2, 3, 4, 5, 6, ...\)",
    )
    refuses(sheet.assign(cn=sorted(sheet["cn"])), "was a column sorted without the others")


def _fill_in(path: Path, column: str, answer: str) -> None:
    """Write an answer into every row, as somebody with Excel would."""
    book = load_workbook(path)
    sheet = book.worksheets[0]
    at = headings_of(path).index(column) + 1
    for row in range(2, sheet.max_row + 1):
        sheet.cell(row, at, answer)
    book.save(path)


def headings_of(path: Path) -> list[Any]:
    return [cell.value for cell in load_workbook(path).worksheets[0][1]]


def test_a_workbook_offers_the_answers_holds_the_guidelines_and_goes_back_in(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.edit_guidelines(GUIDELINES, by="ana")
    study.grid().sheets.write_labels(tmp_path / "sheets", "xlsx")
    path = tmp_path / "sheets" / "ana.xlsx"
    assert sorted(path.name for path in (tmp_path / "sheets").iterdir()) == [f"{name}.xlsx" for name in ANNOTATORS]
    pairs, guidelines = load_workbook(path).worksheets
    assert (pairs.title, guidelines.title) == ("pairs", "guidelines")
    assert pairs.freeze_panes == "A2"
    assert pairs["F2"].alignment.wrap_text
    (choice,) = pairs.data_validations.dataValidation
    assert (choice.type, choice.formula1) == ("list", "guidelines!$A$2:$A$5")
    assert [guidelines.cell(row, 1).value for row in range(2, 6)] == [
        *("not_appropriate", "not_sure", "appropriate", "skip")
    ]
    assert str(choice.sqref) == "H2:H15"
    assert pairs["H1"].value == "label"
    column = [cell.value for cell in guidelines["A"]]
    assert column[6:] == ["Guidelines", "# How to answer", None, "- Read both.", "=1+1"]
    assert [cell.data_type for cell in guidelines["A"][-2:]] == ["s", "s"]
    _fill_in(path, "label", "not_appropriate")
    assert study.grid().import_labels(path).counts == {"answers": 14, "skips": 0, "already_there": 0}


TEXTS = ['=HYPERLINK("http://x")', "@d", "#N/A", "1/2", "007", "TRUE", "1e5", "'=1", "''+1", "'"]


def test_a_text_is_text_in_a_workbook_and_read_back_verbatim(tmp_path: Path) -> None:
    layout = SheetLayout({"label": ("a", "b")}, TEXTS[0], {})
    write_sheet(pd.DataFrame({"hs": TEXTS, "label": ""}), tmp_path / "s.xlsx", layout)
    sheet = load_workbook(tmp_path / "s.xlsx").worksheets[0]
    for row, text in enumerate(TEXTS, 2):
        cell = sheet.cell(row, 1)
        assert (cell.data_type, cell.number_format) == ("s", "@")
        assert cell.value == (f"'{text}" if text in ("'=1", "''+1") else text)
    assert read_table(tmp_path / "s.xlsx", ["hs"])["hs"].tolist() == TEXTS


def test_numbers_that_are_typed_as_answers_stay_numbers_and_too_long_a_text_is_not_cut(tmp_path: Path) -> None:
    layout = SheetLayout({"rate": ("1", "2", "skip"), "label": ("a", "b")}, "", {})
    with pytest.raises(InputError, match="40,000 characters, but a cell holds at most 32,767; write CSV"):
        write_sheet(pd.DataFrame({"hs": ["x" * 40_000], "label": [""]}), tmp_path / "s.xlsx", layout)
    assert list(tmp_path.iterdir()) == []
    write_sheet(pd.DataFrame({"rate": [""], "label": [""], "note": [""]}), tmp_path / "s.xlsx", layout)
    row = load_workbook(tmp_path / "s.xlsx").worksheets[0][2]
    assert [cell.number_format for cell in row] == ["General", "@", "@"]


def test_headings_are_the_nouns_of_the_study_unless_two_columns_would_have_one(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.save_words(sides={"hs": "claim"}, nouns={"annotator": "case"})
    study.grid().sheets.write_labels(tmp_path, "xlsx")
    path = tmp_path / "ana.xlsx"
    nouns = ["claim", "counter-narrative"]
    assert headings_of(path) == ["annotator", "position", "case number", "hs_id", "cn_id", *nouns, "label", "note"]
    _fill_in(path, "label", "appropriate")
    assert study.grid().import_labels(path).counts["answers"] == 14
    _fill_in(path, "claim", "Something else.")
    assert_refused(study, lambda: study.grid().import_labels(path), InputError, "other texts in this study")
    study = at("dealt")
    study.save_words(sides={"hs": "Label", "cn": "text"})
    study.grid().sheets.write_labels(tmp_path / "more", "xlsx")
    headings = headings_of(tmp_path / "more" / "ana.xlsx")
    assert headings[2:] == ["pair", "hs_id", "cn_id", "hs", "text", "label", "note"]


def fill_in_csv(path: Path, column: str, answer: str) -> bytes:
    """Write an answer into the second row of a sheet, as a person does; returns what is in the file then."""
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    sheet.loc[1, column] = answer
    sheet.to_csv(path, index=False)
    return path.read_bytes()


def test_a_sheet_with_anything_filled_in_is_kept_and_one_that_nobody_touched_is_renewed(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid, path = study.grid(), tmp_path / "ana.csv"
    grid.sheets.write_labels(tmp_path)
    blank = path.read_bytes()
    for column, answer, why in (
        ("label", "skip", KeepReason.ANSWERS),
        ("label", "appropriate", KeepReason.ANSWERS),
        ("note", "unclear?", KeepReason.NOTES),
    ):
        path.write_bytes(blank)
        filled = fill_in_csv(path, column, answer)
        assert grid.sheets.write_labels(tmp_path) == {"ben": 14, "cleo": 14}
        assert path.read_bytes() == filled
        (old,) = grid.sheets.old(tmp_path)
        assert (old.path, old.person, old.kept, old.open, old.left) == (path, "ana", why, 14, False)
    path.write_bytes(blank)
    who, pair = next((who, pair) for who, pair in open_work(study) if who == "ana")
    (tmp_path / "notes.csv").write_text("label\n2\n", "utf-8")  # of nobody, and left alone
    (tmp_path / "labels").mkdir()
    record(study, tmp_path / "labels", [(who, pair, "0")])
    assert grid.sheets.write_labels(tmp_path) == {"ana": 13, "ben": 14, "cleo": 14}
    assert grid.sheets.old(tmp_path) == []


def test_a_file_that_is_no_sheet_of_the_round_is_kept(at: At, tmp_path: Path) -> None:
    grid = at("dealt").grid()
    for content in (b"", b"\xff\xfe\x00", b"name,telephone\nana,555\n", b'label\n"open'):
        (tmp_path / "ana.csv").write_bytes(content)
        assert "ana" not in grid.sheets.write_labels(tmp_path)
        assert (tmp_path / "ana.csv").read_bytes() == content
    grid = at("checking").grid()
    path = write_csv(tmp_path / "vera.csv", [{"annotator": "vera", "pair": 1, "label": "", "note": ""}])
    before = path.read_bytes()
    assert list(grid.sheets.write_verdicts(tmp_path)) == ["walt"]
    assert path.read_bytes() == before


def test_the_sheet_of_somebody_who_left_is_named_but_not_as_left_who_handed_over_or_is_done(
    at: At, tmp_path: Path
) -> None:
    study, grid = with_grid(at("dealt"))
    grid.sheets.write_labels(tmp_path / "sheets")
    own = {name: [(who, pair, "0") for who, pair in open_work(study) if who == name] for name in ANNOTATORS}
    record(study, tmp_path, own["ben"])
    record(study, tmp_path, own["cleo"][:12])
    assert grid.sheets.old(tmp_path / "sheets") == []
    for name in ("cleo", "ana"):  # with some answers, and with none
        study.hand_over(name)
        old = {sheet.person: (sheet.left, sheet.passed_on) for sheet in grid.sheets.old(tmp_path / "sheets")}
        assert old[name] == (False, True)
    study = at("dealt")
    study.retire("ana")
    assert set(study.grid().sheets.write_labels(tmp_path / "sheets")) == {"ben", "cleo"}
    (old_sheet,) = study.grid().sheets.old(tmp_path / "sheets")
    assert (old_sheet.path, old_sheet.left) == (tmp_path / "sheets" / "ana.csv", True)
    assert (old_sheet.passed_on, old_sheet.kept) == (False, None)


def verdict_sheet(study: Study, folder: Path) -> pd.DataFrame:
    study.grid().sheets.write_verdicts(folder)
    return sheet_of(folder / "vera.csv").assign(verdict="agree")


def decide(study: Study, folder: Path, pair: int, label: str) -> None:
    study.grid().import_outcomes(write_csv(folder / "d.csv", [{"pair": pair, "label": label}]), supersede=True)


def other(label: str) -> str:
    return "not_appropriate" if label == "appropriate" else "appropriate"


def test_a_verdict_on_a_label_that_the_pair_has_no_more_is_refused_and_the_rest_is_taken(
    at: At, tmp_path: Path
) -> None:
    study = at("checking")
    grid, back = study.grid(), tmp_path / "back.csv"
    sheet = verdict_sheet(study, tmp_path / "sheets")
    pair, label = int(sheet["pair"][0]), sheet["label"][0]
    decide(study, tmp_path, pair, other(label))
    write_table(sheet, back)
    message = f"the label of pair {pair} has changed since this sheet was written; leave its `verdict` empty"
    for supersede in (False, True):
        call = partial(grid.import_verdicts, back, supersede=supersede)
        assert_refused(study, call, InputError, f"back.csv:2: {message}")
    write_table(sheet.assign(verdict=["", *sheet["verdict"][1:]]), back)
    assert grid.import_verdicts(back).counts["answers"] == len(sheet) - 1
    new = verdict_sheet(study, tmp_path / "new")
    assert new["pair"].astype(int).tolist() == [pair]
    write_table(new.assign(verdict="disagree"), tmp_path / "new.csv")
    assert grid.import_verdicts(tmp_path / "new.csv").counts["answers"] == 1
    assert not [open_ for who, open_ in open_work(study, checks=True) if who == "vera"]


def test_a_label_that_changed_back_is_no_change_and_a_skip_on_an_older_sheet_is_a_skip(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid, back = study.grid(), tmp_path / "back.csv"
    sheet = verdict_sheet(study, tmp_path / "sheets")
    pair, label = int(sheet["pair"][0]), sheet["label"][0]
    decide(study, tmp_path, pair, other(label))
    write_table(sheet[:1].assign(verdict="skip"), tmp_path / "skip.csv")
    run = grid.import_verdicts(tmp_path / "skip.csv")
    assert run.counts["skips"] == 1
    grid.withdraw(run.id, "verdicts")
    decide(study, tmp_path, pair, label)
    write_table(sheet, back)
    assert grid.import_verdicts(back).counts["answers"] == len(sheet)
    decide(study, tmp_path, pair, other(label))  # a sheet that was taken is read again whatever the labels are now
    assert grid.import_verdicts(back).counts["already_there"] == len(sheet)


def conflict_sheet(study: Study, path: Path, by: str = "eva") -> pd.DataFrame:
    study.grid().write_conflicts(path, by=by)
    return sheet_of(path)


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_sheet_of_conflicts_shows_labels_without_names_and_goes_back_in(at: At, tmp_path: Path, suffix: str) -> None:
    study, grid = with_grid(at("decided"))
    waiting, path = grid.waiting_pairs(), tmp_path / f"c.{suffix}"
    assert grid.write_conflicts(path, by="eva") == len(waiting) == 5
    before = path.read_bytes()
    with pytest.raises(InputError, match="already exists and may contain decisions"):
        grid.write_conflicts(path, by="eva")
    assert path.read_bytes() == before
    sheet = read_table(path, ["pair", "label"]).drop(columns="line")
    assert sheet["pair"].astype(int).tolist() == waiting
    assert set(sheet["label"]) | set(sheet["note"]) == {""}
    if suffix == "csv":
        row = sheet_of(path).iloc[0]
        conflict = grid.desk.conflict(waiting[0])
        assert (row["hs"], row["cn"]) == (conflict.hs.body, conflict.cn.body)
        labels = [f"{given.label} ({given.note})" if given.note else given.label for given in conflict.answers]
        assert row["labels"].splitlines() == labels
        assert not any(name in path.read_text("utf-8") for name in ANNOTATORS)
    outcomes = ["appropriate", "irreconcilable", "not_appropriate", "", ""]
    write_table(sheet.assign(label=outcomes, note="seen"), tmp_path / "back.csv")
    assert grid.import_outcomes(tmp_path / "back.csv").counts == {"imported": 3, "already_there": 0}
    assert grid.waiting_pairs() == waiting[3:]
    assert [standing(study)[pair][1] for pair in waiting[:3]] == [2, None, 0]
    assert grid.explain(waiting[0]).decisions[-1]["person"] == "eva"
    assert_refused(study, lambda: grid.write_conflicts(tmp_path / "d.csv", by="ana"), InputError, "`ana` is annotator")


def test_a_decision_on_labels_that_have_changed_is_refused(at: At, tmp_path: Path) -> None:
    study = at("decided")
    grid, back = study.grid(), tmp_path / "back.csv"
    sheet = conflict_sheet(study, tmp_path / "c.csv").assign(label="irreconcilable")
    pair = int(sheet["pair"][0])
    labels = grid.labels()
    mine = labels[labels["pair"] == pair].iloc[0]
    now = "not_sure" if mine["label"] != "not_sure" else "appropriate"
    record(study, tmp_path, [(mine["annotator"], pair, now)], supersede=True)
    write_table(sheet, back)
    message = f"the labels of pair {pair} have changed since this sheet was written; leave its `label` empty"
    for supersede in (False, True):
        call = partial(grid.import_outcomes, back, supersede=supersede)
        assert_refused(study, call, InputError, f"back.csv:2: {message}")
    write_table(sheet[1:], back)
    assert grid.import_outcomes(back).counts["imported"] == len(sheet) - 1


def test_a_sheet_of_conflicts_has_what_its_person_may_decide_now(at: At, tmp_path: Path) -> None:
    """Neither pairs that somebody has still to label, nor those that the person has labelled."""
    study, grid = with_grid(at("decided"))
    labels, waiting = grid.labels(), set(grid.waiting_pairs())
    taken = labels[labels["pair"] == min(waiting)].iloc[0]
    record(study, tmp_path, [(taken["annotator"], taken["pair"], "skip")], supersede=True)
    due = set(grid.waiting_pairs()) - {pair for _, pair in open_work(study)}
    assert set(conflict_sheet(study, tmp_path / "eva.csv")["pair"].astype(int)) == due
    study = at("decided")
    study.change_role("ben", Role.ADJUDICATOR)
    due = waiting - set(labels["pair"][labels["annotator"] == "ben"])
    if due:
        assert set(conflict_sheet(study, tmp_path / "ben.csv", "ben")["pair"].astype(int)) == due
    else:
        with pytest.raises(StageError, match="no pair that ben may decide is waiting"):
            study.grid().write_conflicts(tmp_path / "ben.csv", by="ben")


def test_the_label_that_a_validator_checks_is_no_answer_of_theirs(at: At, tmp_path: Path) -> None:
    grid = at("checking").grid()
    first = grid.sheets.write_verdicts(tmp_path)
    assert grid.sheets.write_verdicts(tmp_path) == first
    filled = fill_in_csv(tmp_path / "vera.csv", "verdict", "agree")
    assert "vera" not in grid.sheets.write_verdicts(tmp_path)
    assert (tmp_path / "vera.csv").read_bytes() == filled
    assert [old.person for old in grid.sheets.old(tmp_path, checks=True)] == ["vera"]

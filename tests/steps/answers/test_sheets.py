"""Sheets as people fill them in and send them back, from spreadsheets of every kind, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
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
from steps.asked import surveyed
from steps.small import ANNOTATORS, assert_refused, labels_of, open_work, set_candidates, standing, write_csv

At = Callable[[str], Study]
GUIDELINES = "# How to answer\n\n- Read both.\n=1+1"


def spreadsheet(table: pd.DataFrame, path: Path) -> Path:
    engine: Any = "odf" if path.suffix == ".ods" else "openpyxl"
    table.to_excel(path, index=False, engine=engine)
    return path


def answered(study: Study, folder: Path) -> pd.DataFrame:
    """The sheet of ana with every pair answered, and a note."""
    study.grid().sheets.write_labels(folder / "sheets")
    sheet = read_table(folder / "sheets" / "ana.csv").drop(columns="line")
    sheet["label"] = ["not_sure" if int(pair) % 2 else "appropriate" for pair in sheet["pair"]]
    return sheet.assign(note=["é, نه", *[""] * (len(sheet) - 1)])


def as_excel_csv(sheet: pd.DataFrame, path: Path, encoding: str, separator: str) -> Path:
    sheet.to_csv(path, sep=separator, encoding=encoding, index=False, lineterminator="\r\n")
    return path


SENT_BACK: dict[str, Callable[[pd.DataFrame, Path], Path]] = {
    "semicolons": lambda sheet, folder: as_excel_csv(sheet, folder / "s.csv", "utf-8-sig", ";"),
    "tabs": lambda sheet, folder: as_excel_csv(sheet, folder / "s.txt", "utf-16", "\t"),
    "commas": lambda sheet, folder: as_excel_csv(sheet.assign(**{"": "", " ": ""}), folder / "s.csv", "utf-8-sig", ","),
    "xlsx": lambda sheet, folder: as_spreadsheet(sheet, folder / "s.xlsx"),
    "ods": lambda sheet, folder: as_spreadsheet(sheet, folder / "s.ods"),
}


def as_spreadsheet(sheet: pd.DataFrame, path: Path) -> Path:
    numbers = sheet.assign(pair=sheet["pair"].astype(int))
    return spreadsheet(numbers, path)


@pytest.mark.parametrize("way", SENT_BACK)
def test_a_sheet_is_taken_as_it_is_sent_back(at: At, tmp_path: Path, way: str) -> None:
    study = at("dealt")
    grid = study.grid()
    sheet = answered(study, tmp_path)
    expected = dict(zip(sheet["pair"].astype(int), sheet["label"], strict=True))
    sheet["label"] = sheet["label"].map({"not_sure": "NOT SURE", "appropriate": "2.0"})
    run = grid.import_labels(SENT_BACK[way](sheet.rename(columns={"label": "Label"}), tmp_path))
    assert run.counts == {"answers": 14, "skips": 0, "already_there": 0}
    assert labels_of(study) == {(pair, "ana"): label for pair, label in expected.items()}
    assert grid.labels()["note"].tolist().count("é, نه") == 1


def test_a_sheet_in_windows_1252_is_named_and_not_garbled(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    rows = [{"pair": pair, "annotator": "ana", "label": "2", "note": "naïf"} for _, pair in open_work(study)[:1]]
    path = tmp_path / "s.csv"
    pd.DataFrame(rows).to_csv(path, encoding="cp1252", index=False)
    said = "looks like Windows-1252.*this is `naïf`; save it as `CSV UTF-8` or as .xlsx"
    assert_refused(study, lambda: study.grid().import_labels(path), InputError, said)


def test_verdicts_and_decisions_come_from_spreadsheets_too(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    who, pair = next(iter(_open_verdicts(study)))
    pd.DataFrame({"Validator": [who], "Pair": [pair], "Verdict": ["Not valid"]}).to_excel(tmp_path / "v.xlsx")
    assert grid.import_verdicts(tmp_path / "v.xlsx").counts["answers"] == 1
    waiting = grid.waiting_pairs()[0]
    spreadsheet(pd.DataFrame({"Pair": [waiting], "LABEL": ["Not appropriate"]}), tmp_path / "d.ods")
    grid.import_outcomes(tmp_path / "d.ods")
    assert standing(study)[waiting] == ("imported", 0)


def _open_verdicts(study: Study) -> list[tuple[str, int]]:

    return open_work(study, checks=True)


def test_a_list_of_hs_may_be_a_spreadsheet(at: At, tmp_path: Path) -> None:
    grid = at("imported").grid()
    pd.DataFrame({"HS": ["People who like tea cannot be trusted."]}).to_excel(tmp_path / "l.xlsx", index=False)
    assert grid.select(Select(hs_list=tmp_path / "l.xlsx")).counts["hs"] == 1
    pd.DataFrame({"HS": ["People who like tea.", "Nobody."]}).to_excel(tmp_path / "l.xlsx", index=False)
    with pytest.raises(InputError, match=r"l.xlsx, sheet `Sheet1`:2: this HS is not in the study \(2 lines: 2, 3\)"):
        grid.select(Select(hs_list=tmp_path / "l.xlsx"), redo=True)


def test_texts_are_compared_without_what_spreadsheets_change(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.db", Setup())
    grid = study.grid()
    body = "two\r\nlines,\x0b a \u200c sign\x01"
    study.import_corpus(Import(write_csv(tmp_path / "c.csv", [{"hs": "h", "cn": "c"}, {"hs": "g", "cn": body}])))
    grid.select(Select(hs_list=write_csv(tmp_path / "l.csv", [{"hs": "h"}])))
    set_candidates(study, [body])
    grid.pair(Pair())
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign(Assign())
    grid.sheets.write_labels(tmp_path / "sheets", "xlsx")
    _fill_in(tmp_path / "sheets" / "ana.xlsx", "label", "appropriate")
    assert grid.import_labels(tmp_path / "sheets" / "ana.xlsx").counts["answers"] == 1


# -- one cause is one finding


def test_a_name_that_nobody_has_is_said_once_with_its_lines(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    path = write_csv(tmp_path / "l.csv", [{"pair": n, "annotator": "u1", "label": "2"} for n in range(1, 15)])
    with pytest.raises(InputError) as caught:
        study.grid().import_labels(path)
    assert str(caught.value).splitlines() == [
        f"{path}: 1 thing is wrong; nothing was changed",
        f"  {path}:2: no annotator is called `u1`; there are ana, ben, cleo (14 lines: 2, 3, 4, 5, 6, ...)",
    ]
    assert [finding.line for finding in caught.value.findings] == list(range(2, 16))


def test_a_name_in_other_capitals_is_meant_for_the_one_who_is_there(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    path = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": "ANA", "label": "2"}])
    said = "no annotator is called `ANA`; did you mean `ana`"
    assert_refused(study, lambda: study.grid().import_labels(path), InputError, said)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"hs": "another text"}, "is `another text`; is the sheet from another study?"),
        ({"annotator": "ben"}, "these pairs were not assigned to the person named"),
    ],
)
def test_pairs_that_are_wrong_for_one_cause_are_one_finding(
    at: At, tmp_path: Path, more: dict[str, str], said: str
) -> None:
    study = at("dealt")
    mine = [{"pair": pair, "annotator": who, "label": "2", **more} for who, pair in open_work(study) if who == "ana"]
    path = write_csv(tmp_path / "l.csv", mine)
    with pytest.raises(InputError) as caught:
        study.grid().import_labels(path)
    assert sum(said in line for line in str(caught.value).splitlines()) == 1


def test_a_few_pairs_are_named_one_by_one(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    path = write_csv(tmp_path / "l.csv", [{"pair": pair, "annotator": "ana", "label": "2"} for pair in (97, 98, 99)])
    assert_refused(
        study, lambda: study.grid().import_labels(path), InputError, r"3 things are wrong[\s\S]*pair 98 is not in"
    )


def test_a_cell_that_a_spreadsheet_program_changed_is_named(at: At, tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.db", Setup())
    grid = study.grid()
    study.import_corpus(Import(write_csv(tmp_path / "c.csv", [{"hs": "h", "cn": "c"}, {"hs": "g", "cn": "1/2"}])))
    grid.select(Select(hs_list=write_csv(tmp_path / "l.csv", [{"hs": "h"}])))
    set_candidates(study, ["1/2"])
    grid.pair(Pair())
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign(Assign())
    grid.sheets.write_labels(tmp_path)
    sheet = read_table(tmp_path / "ana.csv").drop(columns="line")
    write_table(sheet.assign(label="2", cn="01-Feb"), tmp_path / "ana.csv")
    said = (
        "ana.csv:2: pair 1 has other texts in this study: `cn` was `1/2` and is `01-Feb`; a spreadsheet program changes"
    )
    assert_refused(study, lambda: grid.import_labels(tmp_path / "ana.csv"), InputError, said)


def test_of_many_cells_that_changed_the_first_is_named(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    sheet = answered(study, tmp_path)
    write_table(sheet.assign(hs=sheet["hs"].str.replace("trusted", "TRUSTED")), tmp_path / "ana.csv")
    said = (
        r"these pairs have other texts in this study: in the first, `hs` was `…cannot be trusted.` and is "
        r"`…cannot be TRUSTED.`; a spreadsheet program changes .* \(14 lines: 2, 3, 4, 5, 6, ...\)"
    )
    assert_refused(study, lambda: study.grid().import_labels(tmp_path / "ana.csv"), InputError, said)


def test_texts_that_were_sorted_apart_from_their_numbers_are_told_as_that(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    sheet = answered(study, tmp_path)
    write_table(sheet.assign(cn=sorted(sheet["cn"])), tmp_path / "ana.csv")
    said = "was a column sorted without the others"
    assert_refused(study, lambda: study.grid().import_labels(tmp_path / "ana.csv"), InputError, said)


# -- workbooks to fill in


@pytest.fixture
def guided(at: At, tmp_path: Path) -> Study:
    study = at("dealt")
    study.edit_guidelines(GUIDELINES, by="ana")
    study.grid().sheets.write_labels(tmp_path / "sheets", "xlsx")
    return study


def _fill_in(path: Path, column: str, answer: str) -> None:
    """Write an answer into every row, as somebody with Excel would."""
    book = load_workbook(path)
    sheet = book.worksheets[0]
    at = [cell.value for cell in sheet[1]].index(column) + 1
    for row in range(2, sheet.max_row + 1):
        sheet.cell(row, at, answer)
    book.save(path)


def test_a_workbook_for_each_annotator_goes_back_in(guided: Study, tmp_path: Path) -> None:
    assert sorted(path.name for path in (tmp_path / "sheets").iterdir()) == [f"{name}.xlsx" for name in ANNOTATORS]
    _fill_in(tmp_path / "sheets" / "ana.xlsx", "label", "not_appropriate")
    run = guided.grid().import_labels(tmp_path / "sheets" / "ana.xlsx")
    assert run.counts == {"answers": 14, "skips": 0, "already_there": 0}


def test_a_workbook_offers_the_answers_and_holds_the_guidelines(guided: Study, tmp_path: Path) -> None:
    book = load_workbook(tmp_path / "sheets" / "ana.xlsx")
    pairs, guidelines = book.worksheets
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


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://x")', "@d", "#N/A", "1/2", "007", "TRUE", "1e5", "'=1", "''+1", "'"]
)
def test_a_text_is_text_in_a_workbook_and_read_back_verbatim(text: str, tmp_path: Path) -> None:
    layout = SheetLayout({"label": ("a", "b")}, text, {})
    write_sheet(pd.DataFrame({"hs": [text], "label": [""]}), tmp_path / "s.xlsx", layout)
    cell = load_workbook(tmp_path / "s.xlsx").worksheets[0]["A2"]
    assert (cell.data_type, cell.number_format) == ("s", "@")
    assert cell.value == (f"'{text}" if text in ("'=1", "''+1") else text)
    assert read_table(tmp_path / "s.xlsx", ["hs"])["hs"].tolist() == [text]


def test_numbers_that_are_typed_as_answers_stay_numbers(tmp_path: Path) -> None:
    layout = SheetLayout({"rate": ("1", "2", "skip"), "label": ("a", "b")}, "", {})
    write_sheet(pd.DataFrame({"rate": [""], "label": [""], "note": [""]}), tmp_path / "s.xlsx", layout)
    row = load_workbook(tmp_path / "s.xlsx").worksheets[0][2]
    assert [cell.number_format for cell in row] == ["General", "@", "@"]


def test_headings_are_the_nouns_of_the_study(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.save_words(sides={"hs": "claim"}, nouns={"annotator": "case"})
    study.grid().sheets.write_labels(tmp_path, "xlsx")
    path = tmp_path / "ana.xlsx"
    headings = [cell.value for cell in load_workbook(path).worksheets[0][1]]
    assert headings == [
        "annotator",
        "position",
        "case number",
        "hs_id",
        "cn_id",
        "claim",
        "counter-narrative",
        "label",
        "note",
    ]
    _fill_in(path, "label", "appropriate")
    assert study.grid().import_labels(path).counts["answers"] == 14
    _fill_in(path, "claim", "Something else.")
    assert_refused(study, lambda: study.grid().import_labels(path), InputError, "other texts in this study")


def test_headings_that_two_columns_would_have_are_their_names(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.save_words(sides={"hs": "Label", "cn": "text"})
    study.grid().sheets.write_labels(tmp_path, "xlsx")
    headings = [cell.value for cell in load_workbook(tmp_path / "ana.xlsx").worksheets[0][1]]
    assert headings[2:] == ["pair", "hs_id", "cn_id", "hs", "text", "label", "note"]


def test_a_survey_on_paper_has_its_nouns_and_goes_back_in(tmp_path: Path) -> None:
    study = surveyed(tmp_path, "w")
    study.add_people(["zoe"], Role.RESPONDENT)
    grid = study.grid()
    grid.sheets.write_answers(tmp_path / "sheets", sheet_format="xlsx")
    path = tmp_path / "sheets" / "zoe.xlsx"
    headings = [cell.value for cell in load_workbook(path).worksheets[0][1]]
    assert headings == ["by", "question number", "row", "column", "answer", "note"]
    _fill_in(path, "answer", "yes")
    assert grid.import_answers(path).counts["answers"] == 16


def test_a_workbook_for_validators_offers_verdicts(at: At, tmp_path: Path) -> None:
    grid = at("checking").grid()
    grid.sheets.write_verdicts(tmp_path / "v", "xlsx")
    guidelines = load_workbook(tmp_path / "v" / "vera.xlsx")["guidelines"]
    assert [guidelines.cell(row, 1).value for row in range(2, 5)] == ["disagree", "agree", "skip"]
    _fill_in(tmp_path / "v" / "vera.xlsx", "verdict", "agree")
    assert grid.import_verdicts(tmp_path / "v" / "vera.xlsx").counts["answers"] > 5


def test_a_text_that_no_cell_can_hold_is_not_cut(tmp_path: Path) -> None:
    rows = pd.DataFrame({"hs": ["x" * 40_000], "label": [""]})
    with pytest.raises(InputError, match="40,000 characters, but a cell holds at most 32,767; write CSV"):
        write_sheet(rows, tmp_path / "s.xlsx", SheetLayout({"label": ("a", "b")}, "", {}))
    assert list(tmp_path.iterdir()) == []


# -- a sheet of conflicts


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_sheet_of_conflicts_goes_back_in(at: At, tmp_path: Path, suffix: str) -> None:
    study = at("decided")
    grid = study.grid()
    waiting, path = grid.waiting_pairs(), tmp_path / f"c.{suffix}"
    assert grid.write_conflicts(path, by="eva") == len(waiting) == 5
    sheet = read_table(path, ["pair", "label"]).drop(columns="line")
    assert sheet["pair"].astype(int).tolist() == waiting
    assert set(sheet["label"]) | set(sheet["note"]) == {""}
    outcomes = ["appropriate", "irreconcilable", "not_appropriate", "", ""]
    write_table(sheet.assign(label=outcomes, note="seen"), tmp_path / "back.csv")
    assert grid.import_outcomes(tmp_path / "back.csv").counts == {"imported": 3, "already_there": 0}
    assert grid.waiting_pairs() == waiting[3:]
    assert [standing(study)[pair][1] for pair in waiting[:3]] == [2, None, 0]
    assert grid.explain(waiting[0]).decisions[-1]["person"] == "eva"


def test_a_sheet_of_conflicts_shows_the_labels_with_notes_and_no_names(at: At, tmp_path: Path) -> None:
    grid = at("decided").grid()
    grid.write_conflicts(tmp_path / "c.csv", by="eva")
    row = read_table(tmp_path / "c.csv").iloc[0]
    conflict = grid.desk.conflict(int(row["pair"]))
    assert (row["hs"], row["cn"]) == (conflict.hs.body, conflict.cn.body)
    assert row["labels"].splitlines() == [
        f"{one.label} ({one.note})" if one.note else one.label for one in conflict.answers
    ]
    assert not any(name in (tmp_path / "c.csv").read_text("utf-8") for name in ANNOTATORS)


def test_a_pair_that_somebody_has_still_to_label_is_on_no_sheet(at: At, tmp_path: Path) -> None:
    study = at("decided")
    grid = study.grid()
    due = grid.waiting_pairs()
    labels = grid.labels()
    taken = labels[labels["pair"] == due[0]].iloc[0]
    rows = [{"pair": taken["pair"], "annotator": taken["annotator"], "label": "skip"}]
    grid.import_labels(write_csv(tmp_path / "l.csv", rows), supersede=True)
    grid.write_conflicts(tmp_path / "c.csv", by="eva")
    there = read_table(tmp_path / "c.csv")["pair"].astype(int).tolist()
    open_now = {pair for _, pair in open_work(study)}
    assert set(there) == set(grid.waiting_pairs()) - open_now


def test_who_labelled_a_pair_does_not_get_it_to_decide(at: At, tmp_path: Path) -> None:
    study = at("decided")
    grid = study.grid()
    labels = grid.labels()
    own = set(labels["pair"][labels["annotator"] == "ben"])
    study.change_role("ben", Role.ADJUDICATOR)
    waiting = set(grid.waiting_pairs())
    assert waiting & own
    if waiting - own:
        grid.write_conflicts(tmp_path / "c.csv", by="ben")
        assert set(read_table(tmp_path / "c.csv")["pair"].astype(int)) == waiting - own
    else:
        with pytest.raises(StageError, match="no pair that ben may decide is waiting"):
            grid.write_conflicts(tmp_path / "c.csv", by="ben")


def test_a_sheet_of_conflicts_is_never_written_over_a_file(at: At, tmp_path: Path) -> None:
    grid = at("decided").grid()
    grid.write_conflicts(tmp_path / "c.csv", by="eva")
    before = (tmp_path / "c.csv").read_bytes()
    with pytest.raises(InputError, match="already exists and may contain decisions"):
        grid.write_conflicts(tmp_path / "c.csv", by="eva")
    assert (tmp_path / "c.csv").read_bytes() == before


def test_an_annotator_gets_no_sheet_of_conflicts(at: At, tmp_path: Path) -> None:
    study = at("decided")
    assert_refused(
        study, lambda: study.grid().write_conflicts(tmp_path / "c.csv", by="ana"), InputError, "`ana` is annotator"
    )

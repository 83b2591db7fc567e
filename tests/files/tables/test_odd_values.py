"""Odd values of tables: each is the same text, or refused, in whatever kind of file or frame it comes."""

from __future__ import annotations

import datetime
import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from fcpair import Study
from fcpair.errors import InputError, TableNote
from fcpair.files.tables.tabular import LINE, choose_sheet, read_table, write_table
from fcpair.records import Role

VALUES: dict[str, tuple[Any, str]] = {
    "large": (1890123456789012481, "1890123456789012481"),
    "null": (None, ""),
    "whole": (7, "7"),
    "half": (2.5, "2.5"),
    "zeros": ("007", "007"),
    "guarded": ("'=1", "'=1"),
    "yes": (True, "true"),
    "list": ([1, None, 3], "[1, null, 3]"),
    "object": ({"a": ["é", None], "b": True}, '{"a": ["é", null], "b": true}'),
    "spelt": ("1e5", "1e5"),
    "word": ("NaN", "NaN"),
    "na": ("#N/A", "#N/A"),
}
TYPED: dict[str, tuple[Any, str]] = {  # which JSON has not
    "day": (datetime.date(2026, 1, 2), "2026-01-02"),
    "midnight": (datetime.datetime(2026, 1, 2), "2026-01-02"),
    "time": (datetime.datetime(2026, 1, 2, 10, 5), "2026-01-02 10:05:00"),
    "money": (Decimal("1.10"), "1.10"),
    "wholes": (7.0, "7"),
}


def as_table(path: Path, values: dict[str, tuple[Any, str]]) -> Path | pd.DataFrame:
    """A table of one row with these values, as the kind of file that its name says, or a frame where it has none."""
    row = {name: value for name, (value, _) in values.items()}
    match path.suffix:
        case ".csv":
            texts = {name: text for name, (_, text) in values.items()}
            pd.DataFrame([texts], dtype=object).to_csv(path, index=False)
        case ".jsonl":
            path.write_text(json.dumps(row) + "\n")
        case ".json":
            path.write_text(json.dumps([row], indent=1))
        case ".parquet":
            parquet.write_table(pa.table({name: [value] for name, value in row.items()}), path)
        case _:
            return pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in row.items()})
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json", "t.parquet", "frame"])
def test_a_value_is_the_same_text_in_every_kind_of_table(tmp_path: Path, name: str) -> None:
    values = VALUES | TYPED if name in ("t.parquet", "frame") else VALUES
    (row,) = read_table(as_table(tmp_path / name, values), verbatim=True).drop(columns=LINE).to_dict("records")
    assert row == {name: text for name, (_, text) in values.items()}


def test_what_parquet_alone_has_is_json_and_whole_numbers(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1890123456789012481, None, 1890123456789012482]),
            "list": pa.array([list(range(2000)), None, []]),
            "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
            "inner": pa.array([{"a": [1, None]}, None, {"a": []}]),
            "kind": pa.array(["x", None, "x"]).dictionary_encode(),
            "single": pa.array([0.1, None, 3], pa.float32()),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    assert read["id"].tolist() == ["1890123456789012481", "", "1890123456789012482"]
    assert read["list"].tolist() == [json.dumps(list(range(2000))), "", "[]"]
    assert read["map"].tolist() == ['{"k": 1}', "", "{}"]
    assert read["inner"].tolist() == ['{"a": [1, null]}', "", '{"a": []}']
    assert read["kind"].tolist() == ["x", "", "x"]
    assert read["single"].tolist() == ["0.1", "", "3"]


def test_what_pandas_is_told_of_a_parquet_file_does_not_matter(tmp_path: Path) -> None:
    for told in ("{no json", "[1]", '{"index_columns": ["zz"], "columns": []}'):
        parquet.write_table(pa.table({"hs": ["a"]}).replace_schema_metadata({"pandas": told}), tmp_path / "t.parquet")
        assert read_table(tmp_path / "t.parquet")["hs"].tolist() == ["a"]
    pd.DataFrame({"hs": ["a", "b"]}, index=[5, 9]).to_parquet(tmp_path / "t.parquet")
    with pytest.warns(TableNote, match="column 2 has no name"):
        assert read_table(tmp_path / "t.parquet").columns.tolist() == ["hs", LINE]


@pytest.mark.parametrize("value", [b"abc", float("inf"), 2.0**60])
def test_what_is_no_text_is_refused_with_its_column_and_row(tmp_path: Path, value: Any) -> None:
    frame = pd.DataFrame({"hs": ["a", "b"], "odd": [None, value]})
    parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        with pytest.raises(InputError, match="column `odd` has") as caught:
            read_table(source)
        assert [finding.line for finding in caught.value.findings] == [2]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('{"a": 1}\n{"a": NaN}\n', 2, "`NaN` is not JSON"),
        ('{"a": 1}\n{"a": 1, "a": 2}\n', 2, "duplicate key `a` in an object"),
        ('[{"a": 1},\n {"b": [{"a": 1,\n "a": 2}]}]', 3, "duplicate key `a` in an object"),
        ('[{"a": 1},\n Infinity]', 2, "`Infinity` is not JSON"),
        ('[{"a": 1},\n 7]', 2, "expected an object, found int"),
        ('[{"a": 1},\n {"a": 2}', 2, "the list does not end; is the file cut off?"),
        ('{\n"a": 1,\n"b": 2\n}\n', None, "one JSON object in several lines; expected a list of objects"),
    ],
)
def test_json_that_is_none_is_refused_with_its_line(
    tmp_path: Path, content: str, line: int | None, message: str
) -> None:
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / "t.json")
    assert message in str(caught.value)
    assert [finding.line for finding in caught.value.findings] == ([] if line is None else [line])


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_more_columns_than_a_study_has_are_soon_refused(tmp_path: Path, name: str) -> None:
    names = [f"c{at}" for at in range(60_000 if name == "t.jsonl" else 100_000)]
    if name == "t.parquet":
        names = names[:1001]
        parquet.write_table(pa.table({column: ["x"] for column in names}), tmp_path / name)
    elif name == "t.csv":
        (tmp_path / name).write_text(",".join(names) + "\n" + ",".join("x" for _ in names) + "\n")
    else:
        (tmp_path / name).write_text(json.dumps(dict.fromkeys(names, "x")) + "\n")
    start = time.process_time()
    with pytest.raises(InputError, match=r"has (100,000|60,000|1,001) columns; expected at most 1,000"):
        read_table(tmp_path / name)
    assert time.process_time() - start < 2


# -- workbooks


def workbook(
    path: Path, rows: list[list[Any]], formats: dict[str, str] | None = None, **sheets: list[list[Any]]
) -> Path:
    """A workbook with the columns hs and cn on its first sheet; `formats` are the number formats of cells."""
    book = openpyxl.Workbook()
    first = book.worksheets[0]
    first.title = "one"
    for row in [["hs", "cn"], *rows]:
        first.append(row)
    for place, form in (formats or {}).items():
        first[place].number_format = form
    for name, lines in sheets.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    book.save(path)
    return path


def test_a_cell_is_read_as_the_spreadsheet_shows_it_and_those_that_are_no_text_are_counted(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[True, datetime.date(2026, 1, 2)], [7, 2.5], ["x", datetime.datetime(2026, 1, 2, 10, 5)]]
    path = workbook(tmp_path / "t.xlsx", rows, {"A3": "000"})
    with pytest.warns(TableNote, match="5 cells are no text") as notes:
        read = read_table(path, ["hs", "cn"])
    assert read[["hs", "cn"]].to_numpy().tolist() == [
        ["TRUE", "2026-01-02"],
        ["007", "2.5"],
        ["x", "2026-01-02 10:05:00"],
    ]
    assert len(notes) == 1


def test_errors_and_formulas_without_a_value_are_named_by_their_cells(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a", "#N/A"], ["=1+1", "b"], [1.8901234567890125e18, "c"]])
    with pytest.raises(InputError) as caught:
        read_table(path, ["hs", "cn"])
    assert [(finding.line, finding.message.split(";")[0]) for finding in caught.value.findings] == [
        (2, "cell B2 is `#N/A`, an error of the spreadsheet"),
        (3, "cell A3 has a formula without a stored value"),
        (4, "cell A4 is a number of so many digits that a spreadsheet has rounded it"),
    ]


def test_a_formula_with_a_stored_value_is_that_value_even_an_empty_one(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["=1+1", "b"], ["=A1", "c"]])
    stored = {"<f>1+1</f><v></v>": "<f>1+1</f><v>2</v>", "<f>A1</f><v></v>": "<f>A1</f><v></v>"}
    with ZipFile(path) as parts:
        contents = {name: parts.read(name) for name in parts.namelist()}
    sheet = contents["xl/worksheets/sheet1.xml"].decode().replace("<v />", "<v></v>")
    for before, after in stored.items():
        assert before in sheet
        sheet = sheet.replace(before, after)
    sheet = sheet.replace('<c r="A3"><f>', '<c r="A3" t="str"><f>')
    with ZipFile(path, "w") as parts:
        for name, content in contents.items():
            parts.writestr(name, sheet if name == "xl/worksheets/sheet1.xml" else content)
    assert read_table(path, ["hs", "cn"])["hs"].tolist() == ["2", ""]


def test_a_sheet_is_chosen_by_its_name_of_a_workbook_alone(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a", "b"]], two=[["hs", "cn"], ["c", "d"]], notes=[["x"]])
    assert read_table(path, ["hs", "cn"], sheet_name="two")["hs"].tolist() == ["c"]
    with choose_sheet("two"):
        assert read_table(path, ["hs", "cn"])["hs"].tolist() == ["c"]
    with pytest.warns(TableNote, match="sheet `one` was read, and not `two`, `notes`; --sheet-name chooses another"):
        read_table(path)
    (tmp_path / "t.csv").write_text("hs\na\n")
    for source, message in (
        (path, "no sheet `tow` to read; did you mean `two`"),
        (tmp_path / "t.csv", "is no workbook, and has no sheet `tow`"),
        (pd.DataFrame({"hs": ["a"]}), "a frame has no sheet `tow`"),
    ):
        with pytest.raises(InputError, match=message):
            read_table(source, ["hs"], sheet_name="tow")


# -- what is no column, no row and no cell


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0_level_0", "\u200b"])
def test_a_column_without_a_name_is_left_out_and_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.csv").write_text(f"{name},hs,cn\n0,a,b\n1,c,d\n", encoding="utf-8")
    with pytest.warns(TableNote, match=r"column 1 has no name and was left out \(2 cells\)"):
        read = read_table(tmp_path / "t.csv")
    assert read.columns.tolist() == ["hs", "cn", LINE]
    assert read["hs"].tolist() == ["a", "c"]
    if name == "Unnamed: 0":  # but it is read where it is asked for
        assert read_table(tmp_path / "t.csv", [name])[name].tolist() == ["0", "1"]


def test_empty_rows_at_the_end_are_ignored_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("hs,cn\na,b\n,\nc,\u200b\n,\n \u00a0,\n", encoding="utf-8")
    assert read_table(tmp_path / "t.csv").to_numpy().tolist() == [["a", "b", 2], ["", "", 3], ["c", "", 4]]


STRAY = "a cell holds line breaks and as many separators as a row"


@pytest.mark.parametrize(
    "content",
    [
        'pair,label,note\n1,x,"hm\n2,y,ok\n3,z,"\n4,x,\n',
        'pair;label;note\n1;"x;a\n2;y;b\n3;z";c\n',
        'pair,label\n1,"x\n2,y\n3,z"\n',
    ],
)
def test_a_cell_that_swallows_rows_is_refused_with_its_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / "t.csv")
    assert [(finding.line, finding.message.split(";")[0]) for finding in caught.value.findings] == [(2, STRAY)]


def test_a_cell_that_may_swallow_rows_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('hs,cn\na,"b\nc,d\ne,f"\ng,h\n')
    with pytest.warns(TableNote, match=f"t.csv:2: {STRAY}"):
        assert read_table(tmp_path / "t.csv")["cn"].tolist() == ["b\nc,d\ne,f", "h"]


@pytest.mark.parametrize("note", ["No.\nWell, yes", "first, second\nthird", "a\n1,000 people, or so", "a\n\nb,c"])
def test_prose_in_several_lines_swallows_nothing(tmp_path: Path, note: str, recwarn: pytest.WarningsRecorder) -> None:
    write_table(pd.DataFrame({"pair": [1, 2], "note": [note, "x"]}), tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["note"].tolist() == [note, "x"]
    assert not recwarn.list


# -- into a study, and out again


def test_odd_values_go_through_a_study_unchanged(tmp_path: Path) -> None:
    values = VALUES | TYPED
    row = as_table(Path("frame"), values)
    assert isinstance(row, pd.DataFrame)
    frame = pd.concat([row] * 2, ignore_index=True).rename(columns=lambda name: f"hs {name}")
    frame = frame.assign(hs=["h1", "h2"], cn=["c1", "c2"], cn_id=pd.Series([1.0, 2.0]))
    study = Study.create(tmp_path / "s.db")
    study.import_corpus(frame, cn_id_column="cn_id")
    grid = study.grid()
    grid.select(hs=2)
    grid.retrieve(every_cn=True)
    grid.pair(keep_known=True)
    grid.assign(annotators=2)
    grid.simulate()
    grid.adjudicate(policy="majority")
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation()
    grid.simulate()
    tier = grid.tier("bronze")
    shown = {f"hs.hs {name}": text for name, (_, text) in values.items()} | {"cn.cn_id": None}
    for suffix in (".csv", ".jsonl", ".parquet"):
        write_table(tier, tmp_path / f"tier{suffix}")
        read = read_table(tmp_path / f"tier{suffix}")
        assert set(read["cn.cn_id"]) <= {"1", "2"}
        for name, text in shown.items():
            assert text is None or set(read[name]) == {text}

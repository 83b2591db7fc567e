"""Tables in files: what is written is read again as it was, and what is broken is named with its line."""

from __future__ import annotations

import stat
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.files.tables.folders import replace_file, write_all
from fcpair.files.tables.tabular import LINE, SUFFIXES, format_csv, guard, place_of, read_table, unguard, write_table
from fcpair.values import is_blank

TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
FORMULA_LIKE = st.text("'=+-@\t\r\n＝＋－＠a", max_size=6)
CELLS = TEXTS | FORMULA_LIKE
AT = datetime(2026, 11, 21, 14, 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def written(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path, *columns: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read_table(path, columns)
    return caught.value


def places(error: InputError) -> list[tuple[int | None, str]]:
    return [(finding.line, finding.message) for finding in error.findings]


# -- cells that a spreadsheet would run


@given(CELLS)
def test_unguard_takes_off_what_guard_put_on(cell: str) -> None:
    assert unguard(guard(cell)) == cell


@given(CELLS)
def test_no_guarded_cell_begins_like_a_formula(cell: str) -> None:
    assert not guard(cell).startswith(tuple("=+-@\t\r\n＝＋－＠"))


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("@you", "'@you"),
        ("'=1", "''=1"),
        ("＝1", "'＝1"),
        ("\t=1", "'\t=1"),
        ("a=1", "a=1"),
        ("'tis", "'tis"),
        ("", ""),
    ],
)
def test_only_a_formula_is_guarded(cell: str, shown: str) -> None:
    assert guard(cell) == shown


def test_a_formula_stands_behind_an_apostrophe_in_the_csv(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"cn": ["=1+1", "fine"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "cn\n'=1+1\nfine\n"


def test_a_negative_number_is_no_formula(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"score": [-0.5]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "score\n-0.5\n"


def test_verbatim_leaves_apostrophes_where_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "cn\n'=1\n")
    assert read_table(path, verbatim=True)["cn"].tolist() == ["'=1"]
    assert read_table(path)["cn"].tolist() == ["=1"]


# -- there and back


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_text_is_read_as_it_was_written(folder: Path, suffix: str, rows: list[tuple[str, str]]) -> None:
    path = folder / f"t{suffix}"
    write_table(pd.DataFrame([*rows, ("a", "b")], columns=["hs", "cn"], dtype="str"), path)
    shown = [tuple("" if is_blank(cell) else cell for cell in row) for row in rows]
    assert list(zip(*(read_table(path)[side] for side in ("hs", "cn")), strict=True)) == [*shown, ("a", "b")]


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(
    numbers=st.lists(st.floats(-(2**53), 2**53), min_size=1, max_size=5),
    whole=st.integers(-(2**53), 2**53),
)
def test_numbers_are_read_as_they_were_written(folder: Path, suffix: str, numbers: list[float], whole: int) -> None:
    path = folder / f"t{suffix}"
    write_table(pd.DataFrame({"score": numbers}).assign(n=whole), path)
    read = read_table(path)
    assert [float(cell) for cell in read["score"]] == numbers
    assert set(read["n"]) == {str(whole)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_an_empty_string(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"a": ["x", None], "b": [None, 0.5], "c": pd.array([7, None], "Int64")})
    write_table(frame, tmp_path / f"t{suffix}")
    read = read_table(tmp_path / f"t{suffix}")
    assert read[["a", "b", "c"]].to_numpy().tolist() == [["x", "", "7"], ["", "0.5", ""]]


def test_columns_keep_their_order_and_the_csv_ends_its_lines_in_line_feeds(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"b": ["1"], "a": ["x\r\ny"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'b,a\n1,"x\r\ny"\n'


def test_jsonl_keeps_other_scripts_readable_and_has_null_for_nothing(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"cn": ["سلام/é", None], "n": [1, 2]}), tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").read_text("utf-8") == '{"cn": "سلام/é", "n": 1}\n{"cn": null, "n": 2}\n'


def test_jsonl_cells_that_are_no_text_are_written_out(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": [1, "é"], "b": null, "c": 2}\n{"d": "x"}\n', "t.jsonl")
    assert read_table(path)[["a", "b", "c", "d"]].to_numpy().tolist() == [['[1, "é"]', "", "2", ""], ["", "", "", "x"]]


# -- line numbers


def test_a_row_has_the_number_of_the_line_it_begins_in(tmp_path: Path) -> None:
    path = written(tmp_path, 'hs,cn\n"a\nb",1\nc,"d\r\n\r\ne"\nf,2\n')
    assert read_table(path)[LINE].tolist() == [2, 4, 7]
    assert read_table(written(tmp_path, '"h\ns",cn\na,b\n'))[LINE].tolist() == [3]


def test_empty_lines_count_and_are_no_rows(tmp_path: Path) -> None:
    csv = read_table(written(tmp_path, "\nhs,cn\n\na,1\n\n\nb,2\n"))
    assert (csv["hs"].tolist(), csv[LINE].tolist()) == (["a", "b"], [4, 7])
    jsonl = read_table(written(tmp_path, '\n{"hs": "a"}\n\n{"hs": "b"}\n', "t.jsonl"))
    assert jsonl[LINE].tolist() == [2, 4]


def test_parquet_rows_count_from_one(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"hs": ["a", "b"]}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")[LINE].tolist() == [1, 2]


# -- what a file may have


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, b"\xef\xbb\xbfhs,cn\na,b\n"), ["hs"])["hs"].tolist() == ["a"]


def test_windows_lines_are_read(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, b"hs,cn\r\na,b\r\n"))["cn"].tolist() == ["b"]


def test_a_very_long_cell_is_read(tmp_path: Path) -> None:
    assert len(read_table(written(tmp_path, "hs,cn\n" + "a" * 200_000 + ",b\n"))["hs"][0]) == 200_000


def test_a_suffix_in_capitals_says_what_the_file_is(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, '{"hs": "a"}', "T.JSONL"))["hs"].tolist() == ["a"]


# -- what is wrong with a file


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no such file" in str(refused(tmp_path / "none.csv"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert "is a folder; name a file" in str(refused(tmp_path))


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize("content", [b"", b" \n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_an_empty_file(tmp_path: Path, name: str, content: bytes) -> None:
    assert "the file is empty" in str(refused(written(tmp_path, content, name)))


def test_a_file_with_column_names_alone(tmp_path: Path) -> None:
    assert "the file has no rows" in str(refused(written(tmp_path, "hs,cn\n"), "hs"))


def test_a_broken_encoding_names_its_line(tmp_path: Path) -> None:
    error = refused(written(tmp_path, b"hs,cn\na,b\nc,caf\xe9\n"))
    ((line, message),) = places(error)
    assert line == 3
    assert message == (
        "byte 0xe9 is not UTF-8; the file looks like Windows-1252 (Latin-1), which Excel writes as plain CSV and in "
        "which this is `café`; save it as `CSV UTF-8` or as .xlsx"
    )


def test_bytes_that_are_no_text_in_windows_1252_either_are_not_named_so(tmp_path: Path) -> None:
    error = refused(written(tmp_path, b"hs,cn\na,b\xe9\x81c\n"))
    assert places(error) == [(2, "byte 0xe9 is not UTF-8; save the file as UTF-8")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_what_excel_calls_unicode_text_is_read(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    path = written(tmp_path, f'{mark}hs\tcn\r\n"a, نه"\tcafé\r\n'.encode(encoding), "t.txt")
    read = read_table(path, ["hs", "cn"])
    assert read.to_numpy().tolist() == [["a, نه", "café", 2]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04rest", "a spreadsheet must be named .xlsx or .ods"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "older Excel (.xls), or one with a password; save it as .xlsx"),
        (b"PAR1rest", "it must be named .parquet"),
    ],
)
def test_a_file_that_is_no_text_is_named_for_what_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in str(refused(written(tmp_path, content)))


def test_a_nul_names_its_line(tmp_path: Path) -> None:
    assert places(refused(written(tmp_path, b"hs,cn\na,\x00\n"))) == [(2, "a NUL character")]


def test_every_ragged_row_is_named(tmp_path: Path) -> None:
    error = refused(written(tmp_path, 'hs,cn\na\n"b\nb",c\nd,e,f\n'))
    assert places(error) == [(2, "1 cells; expected 2"), (5, "3 cells; expected 2")]
    assert "2 things are wrong" in str(error)


def test_a_quote_that_is_not_closed_names_its_line(tmp_path: Path) -> None:
    ((line, message),) = places(refused(written(tmp_path, 'hs,cn\na,"b\n')))
    assert line == 2
    assert "broken CSV" in message


def test_a_column_that_stands_twice(tmp_path: Path) -> None:
    assert places(refused(written(tmp_path, "hs,cn,hs\na,b,c\n"))) == [(1, "column `hs` is duplicated")]


def test_missing_columns_are_named_beside_those_that_are_there(tmp_path: Path) -> None:
    error = refused(written(tmp_path, "hate,cn\na,b\n"), "hs", "cn", "label")
    assert "missing columns `hs`, `label`; found hate, cn" in str(error)
    assert "commas" not in str(error)
    assert places(error) == [(1, "no column `hs`, `label`")]


def test_columns_that_differ_in_capitals_alone_are_refused(tmp_path: Path) -> None:
    error = refused(written(tmp_path, "label,Label\na,b\n"), "label")
    assert places(error) == [(1, "columns `label` and `Label` have the same name; rename one")]


# -- as people send it back


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_semicolons_and_tabs_separate_cells_as_well(tmp_path: Path, separator: str, end: str) -> None:
    lines = [["Pair", "cn", "label"], ["1", "one, two", "x"], ["2", f'"a{separator}b"', ""]]
    read = read_table(written(tmp_path, end.join(separator.join(line) for line in lines)), ["pair", "cn", "label"])
    assert read.to_numpy().tolist() == [["1", "one, two", "x", 2], ["2", f"a{separator}b", "", 3]]


def test_commas_separate_cells_though_there_are_more_semicolons(tmp_path: Path) -> None:
    read = read_table(written(tmp_path, "hs,cn\na; b; c,d; e\n"))
    assert read[["hs", "cn"]].to_numpy().tolist() == [["a; b; c", "d; e"]]


def test_a_single_column_may_have_a_semicolon_in_its_name(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "what they said; verbatim\na\nb\n")).iloc[:, 0].tolist() == ["a", "b"]


def test_the_line_that_tells_excel_the_separator_is_no_row(tmp_path: Path) -> None:
    read = read_table(written(tmp_path, "sep=;\r\nhs;cn\r\na;b\r\n"), ["hs", "cn"])
    assert read.to_numpy().tolist() == [["a", "b", 3]]


def test_empty_columns_at_the_end_are_none(tmp_path: Path) -> None:
    read = read_table(written(tmp_path, "hs,cn,,\na,b,,\nc,d\n"))
    assert read.columns.tolist() == ["hs", "cn", LINE]
    assert places(refused(written(tmp_path, "hs,cn,,\na,b,,x\n"))) == [(2, "4 cells; expected 2")]


@pytest.mark.parametrize(("suffix", "engine"), [(".xlsx", "openpyxl"), (".ods", "odf")])
def test_a_spreadsheet_is_read_with_the_numbers_of_its_rows(tmp_path: Path, suffix: str, engine: str) -> None:
    rows = [["Pair", "Hs", "label", "time"], [1, "'=1+1", 2.0, None], [None] * 4, [2, "é\nنه", "Not sure", AT]]
    path = tmp_path / f"t{suffix}"
    pd.DataFrame(rows).to_excel(path, index=False, header=False, engine=engine)  # type: ignore[arg-type]
    read = read_table(path, ["pair", "hs", "label"], optional=["time"])
    assert read.to_numpy().tolist() == [
        ["1", "=1+1", "2", "", 2],
        ["2", "é\nنه", "Not sure", "2026-11-21 14:05:00", 4],
    ]
    assert place_of(read) == f"{path}, sheet `Sheet1`"


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """A workbook with three sheets, of which the first is not the table."""
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"how": ["to"]}).to_excel(book, sheet_name="read me", index=False)
        pd.DataFrame({"pair": [1], "label": ["x"]}).to_excel(book, sheet_name="ana", index=False)
        pd.DataFrame({"pair": [2], "label": ["y"]}).to_excel(book, sheet_name="ben", index=False)
    return path


def test_the_sheet_that_has_the_columns_is_read(workbook: Path) -> None:
    assert read_table(workbook, ["how"])["how"].tolist() == ["to"]


def test_a_second_sheet_with_the_columns_is_not_left_out_in_silence(workbook: Path) -> None:
    assert "sheet `ana` and sheet `ben` have the same columns; choose one by --sheet-name" in str(
        refused(workbook, "pair", "label")
    )


def test_a_finding_in_a_spreadsheet_names_the_sheet(workbook: Path) -> None:
    assert f"{workbook}, sheet `read me`:1: no column `verdict`" in str(refused(workbook, "verdict"))


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_a_file_that_is_no_spreadsheet(tmp_path: Path, suffix: str) -> None:
    assert f"not a {suffix} file that can be read" in str(refused(written(tmp_path, b"hs,cn\na,b\n", f"t{suffix}")))


def test_a_column_named_line_is_not_overwritten_but_refused(tmp_path: Path) -> None:
    assert "column `line`" in str(refused(written(tmp_path, "line,hs\n7,a\n")))


def test_every_broken_line_of_a_jsonl_is_named(tmp_path: Path) -> None:
    content = "\n".join(
        [
            '{"hs": "a"}',
            '{"hs": }',
            "[1]",
            '{"hs": "\\ud800"}',
            '{"hs": "\\u0000"}',
            '{"hs": ' + "9" * 5000 + "}",
            "[" * 200_000,
            '{"hs": "\\ud83d\\ude00"}',
        ]
    )
    error = refused(written(tmp_path, content, "t.jsonl"))
    assert [line for line, _ in places(error)] == [2, 3, 4, 5, 6, 7]
    assert places(error)[0] == (2, "not JSON: Expecting value (column 8)")
    assert places(error)[1] == (3, "expected an object, found list")


@pytest.mark.parametrize("content", [b"", b"hs,cn\na,b\n", b"PAR1 but no more PAR1"])
def test_a_file_that_is_not_parquet(tmp_path: Path, content: bytes) -> None:
    assert "not a Parquet file" in str(refused(written(tmp_path, content, "t.parquet")))


def test_a_parquet_file_without_the_column(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"cn": ["a"]}), tmp_path / "t.parquet")
    assert "missing column `hs`; found cn" in str(refused(tmp_path / "t.parquet", "hs"))


# -- writing whole, or not at all


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, "old", f"t{suffix}")
    with pytest.raises(Exception, match=r"(?i)object"):
        write_table(pd.DataFrame({"a": [Unwritable()]}), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


class Unwritable:
    def __str__(self) -> str:
        raise ValueError("this object cannot be written")

    __repr__ = __str__


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path, "old", "t.csv")
    with replace_file(path) as temporary:
        assert temporary.parent == path.parent  # from another place it could not be moved at a stroke
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"a": ["x"]}), tmp_path / "t.csv")
    other = written(tmp_path, "x", "other.csv")
    assert stat.S_IMODE((tmp_path / "t.csv").stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    write_all({tmp_path / "a": b"old", tmp_path / "b": b"old"})
    (tmp_path / "c").mkdir()
    with pytest.raises(InputError, match="c: is a folder; name a file"):
        write_all({tmp_path / "a": b"new", tmp_path / "b": b"new", tmp_path / "c": b"new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"old", b"old"]


def test_no_folder_to_write_in(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        write_table(pd.DataFrame({"a": ["x"]}), tmp_path / "none" / "t.csv")


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.csv, \.jsonl, \.parquet"):
        write_table(pd.DataFrame({"a": ["x"]}), tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


@given(
    rows=st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, max_size=2)
    )
)
def test_rows_are_formatted_as_a_table_is_written(
    rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("formatted") / "t.csv"
    write_table(pd.DataFrame(rows, columns=["=a", "b"]), path)
    assert format_csv([["=a", "b"], *rows]) == path.read_bytes().decode()
    assert path.read_text("utf-8").startswith("'=a,b\n")


def test_a_column_called_like_a_formula_keeps_its_name(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"=a": ["1"], "'=b": ["2"]}), tmp_path / "t.csv")
    assert list(read_table(tmp_path / "t.csv").columns) == ["=a", "'=b", "line"]

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
def test_a_guarded_cell_is_no_formula_and_can_be_unguarded(cell: str) -> None:
    assert unguard(guard(cell)) == cell
    assert not guard(cell).startswith(tuple("=+-@\t\r\n＝＋－＠"))


def test_only_a_formula_is_guarded() -> None:
    shown = {"=1+1": "'=1+1", "@you": "'@you", "'=1": "''=1", "＝1": "'＝1", "\t=1": "'\t=1"}
    for cell, guarded in {**shown, "a=1": "a=1", "'tis": "'tis", "": ""}.items():
        assert guard(cell) == guarded


def test_a_formula_stands_behind_an_apostrophe_in_the_csv_and_a_number_is_none(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"cn": ["=1+1", "fine"], "score": [-0.5, 1.5]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "cn,score\n'=1+1,-0.5\nfine,1.5\n"
    assert read_table(tmp_path / "t.csv", verbatim=True)["cn"].tolist() == ["'=1+1", "fine"]
    assert read_table(tmp_path / "t.csv")["cn"].tolist() == ["=1+1", "fine"]
    write_table(pd.DataFrame({"=a": ["1"], "'=b": ["2"]}), tmp_path / "t.csv")
    assert list(read_table(tmp_path / "t.csv").columns) == ["=a", "'=b", "line"]


# -- there and back


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_text_is_read_as_it_was_written(folder: Path, suffix: str, rows: list[tuple[str, str]]) -> None:
    path = folder / f"t{suffix}"
    write_table(pd.DataFrame([*rows, ("a", "b")], columns=["hs", "cn"], dtype="str"), path)
    shown = [tuple("" if is_blank(cell) else cell for cell in row) for row in rows]
    assert list(zip(*(read_table(path)[side] for side in ("hs", "cn")), strict=True)) == [*shown, ("a", "b")]


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(numbers=st.lists(st.floats(-(2**53), 2**53), min_size=1, max_size=5), whole=st.integers(-(2**53), 2**53))
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


def test_a_csv_ends_its_lines_in_line_feeds_and_jsonl_keeps_other_scripts(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"b": ["1"], "a": ["x\r\ny"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'b,a\n1,"x\r\ny"\n'
    write_table(pd.DataFrame({"cn": ["سلام/é", None], "n": [1, 2]}), tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").read_text("utf-8") == '{"cn": "سلام/é", "n": 1}\n{"cn": null, "n": 2}\n'


# -- what is read

# The name of a file, its content, the columns that are asked for, and each row with the line in which it begins.
READ: list[tuple[str, str | bytes, str, list[list[object]]]] = [
    ("t.csv", 'hs,cn\n"a\nb",1\nc,"d\r\n\r\ne"\nf,2\n', "", [["a\nb", "1", 2], ["c", "d\r\n\r\ne", 4], ["f", "2", 7]]),
    ("t.csv", '"h\ns",cn\na,b\n', "", [["a", "b", 3]]),
    ("t.csv", "\nhs,cn\n\na,1\n\n\nb,2\n", "", [["a", "1", 4], ["b", "2", 7]]),  # empty lines count
    ("t.jsonl", '\n{"hs": "a"}\n\n{"hs": "b"}\n', "", [["a", 2], ["b", 4]]),
    (
        "t.jsonl",
        '{"a": [1, "é"], "b": null, "c": 2}\n{"d": "x"}\n',
        "",
        [['[1, "é"]', "", "2", "", 1], ["", "", "", "x", 2]],
    ),
    ("T.JSONL", '{"hs": "a"}', "", [["a", 1]]),
    ("t.csv", b"\xef\xbb\xbfhs,cn\na,b\n", "hs", [["a", 2]]),
    ("t.csv", b"hs,cn\r\na,b\r\n", "", [["a", "b", 2]]),
    ("t.csv", "hs,cn\n" + "a" * 200_000 + ",b\n", "", [["a" * 200_000, "b", 2]]),
    *(
        ("t.txt", f'{mark}hs\tcn\r\n"a, نه"\tcafé\r\n'.encode(encoding), "hs cn", [["a, نه", "café", 2]])
        for encoding, mark in (("utf-16", ""), ("utf-16-le", "\ufeff"), ("utf-16-be", "\ufeff"))
    ),  # which Excel calls Unicode text
    *(
        (
            "t.csv",
            end.join([f"Pair{by}cn{by}label", f"1{by}one, two{by}x", f'2{by}"a{by}b"{by}']),
            "pair cn label",
            [["1", "one, two", "x", 2], ["2", f"a{by}b", "", 3]],
        )
        for by in (";", "\t")
        for end in ("\n", "\r\n", "\r")
    ),
    ("t.csv", "hs,cn\na; b; c,d; e\n", "", [["a; b; c", "d; e", 2]]),
    ("t.csv", "what they said; verbatim\na\nb\n", "", [["a", 2], ["b", 3]]),
    ("t.csv", "sep=;\r\nhs;cn\r\na;b\r\n", "hs cn", [["a", "b", 3]]),
    ("t.csv", "hs,cn,,\na,b,,\nc,d\n", "", [["a", "b", 2], ["c", "d", 3]]),
]


@pytest.mark.parametrize(("name", "content", "columns", "rows"), READ, ids=range(len(READ)))
def test_a_table_is_read_with_the_lines_in_which_its_rows_begin(
    tmp_path: Path, name: str, content: str | bytes, columns: str, rows: list[list[object]]
) -> None:
    read = read_table(written(tmp_path, content, name), columns.split())
    assert read[[*(columns.split() or read.columns[:-1]), LINE]].to_numpy().tolist() == rows


@pytest.mark.parametrize(("suffix", "engine"), [(".xlsx", "openpyxl"), (".ods", "odf")])
def test_a_spreadsheet_is_read_with_the_numbers_of_its_rows(tmp_path: Path, suffix: str, engine: str) -> None:
    rows = [["Pair", "Hs", "label", "time"], [1, "'=1+1", 2.0, None], [None] * 4, [2, "é\nنه", "Not sure", AT]]
    path = tmp_path / f"t{suffix}"
    pd.DataFrame(rows).to_excel(path, index=False, header=False, engine=engine)  # type: ignore[arg-type]
    read = read_table(path, ["pair", "hs", "label"], optional=["time"])
    assert read.to_numpy().tolist() == [["1", "=1+1", "2", "", 2], ["2", "é\nنه", "Not sure", "2026-11-21 14:05:00", 4]]
    assert place_of(read) == f"{path}, sheet `Sheet1`"


def test_of_several_sheets_the_one_that_has_the_columns_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"how": ["to"]}).to_excel(book, sheet_name="read me", index=False)
        pd.DataFrame({"pair": [1], "label": ["x"]}).to_excel(book, sheet_name="ana", index=False)
        pd.DataFrame({"pair": [2], "label": ["y"]}).to_excel(book, sheet_name="ben", index=False)
    assert read_table(path, ["how"])["how"].tolist() == ["to"]
    two = "sheets `ana`, `ben` have the same columns; choose one by --sheet-name"
    assert two in str(refused(path, "pair", "label"))
    assert f"{path}, sheet `read me`:1: no column `verdict`" in str(refused(path, "verdict"))


# -- what is wrong with a file

LATIN_1 = (
    "byte 0xe9 is not UTF-8; the file looks like Windows-1252 (Latin-1), which Excel writes as plain CSV and in which "
    "this is `café`; save it as `CSV UTF-8` or as .xlsx"
)
# By content: the columns that are asked for, and what is said of which lines.
WRONG_LINES: dict[str | bytes, tuple[str, list[tuple[int, str]]]] = {
    b"hs,cn\na,b\nc,caf\xe9\n": ("", [(3, LATIN_1)]),
    b"hs,cn\na,b\xe9\x81c\n": ("", [(2, "byte 0xe9 is not UTF-8; save the file as UTF-8")]),  # nor Windows-1252
    b"hs,cn\na,\x00\n": ("", [(2, "a NUL character")]),
    'hs,cn\na\n"b\nb",c\nd,e,f\n': ("", [(2, "1 cells; expected 2"), (5, "3 cells; expected 2")]),
    "hs,cn,,\na,b,,x\n": ("", [(2, "4 cells; expected 2")]),
    "hs,cn,hs\na,b,c\n": ("", [(1, "column `hs` is duplicated")]),
    "hate,cn\na,b\n": ("hs cn label", [(1, "no column `hs`, `label`")]),
    "label,Label\na,b\n": ("label", [(1, "columns `label`, `Label` have the same name; rename one")]),
}
# By name: a content, and what is said of the file.
WRONG_FILES: list[tuple[str, str | bytes, str]] = [
    *(
        (name, content, "the file is empty")
        for name in ("t.csv", "t.jsonl")
        for content in (b"", b" \n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n")
    ),
    ("t.csv", "hs,cn\n", "the file has no rows"),
    ("t.csv", b"PK\x03\x04rest", "a spreadsheet must be named .xlsx or .ods"),
    ("t.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", "older Excel (.xls), or one with a password; save it as .xlsx"),
    ("t.csv", b"PAR1rest", "it must be named .parquet"),
    ("t.csv", "line,hs\n7,a\n", "column `line`"),
    ("t.xlsx", b"hs,cn\na,b\n", "not a .xlsx file that can be read"),
    ("t.ods", b"hs,cn\na,b\n", "not a .ods file that can be read"),
    *(("t.parquet", content, "not a Parquet file") for content in (b"", b"hs,cn\na,b\n", b"PAR1 but no more PAR1")),
]


@pytest.mark.parametrize("content", WRONG_LINES, ids=range(len(WRONG_LINES)))
def test_every_line_that_is_wrong_is_named(tmp_path: Path, content: str | bytes) -> None:
    columns, findings = WRONG_LINES[content]
    assert places(refused(written(tmp_path, content), *columns.split())) == findings


@pytest.mark.parametrize(("name", "content", "message"), WRONG_FILES)
def test_a_file_that_is_no_table_is_named_for_what_it_is(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    assert message in str(refused(written(tmp_path, content, name)))


def test_files_and_columns_that_are_not_there_are_named_beside_those_that_are(tmp_path: Path) -> None:
    assert "there is no such file" in str(refused(tmp_path / "none.csv"))
    assert "is a folder; name a file" in str(refused(tmp_path))
    message = str(refused(written(tmp_path, "hate,cn\na,b\n"), "hs", "cn", "label"))
    assert "missing columns `hs`, `label`; found hate, cn" in message
    assert "commas" not in message
    write_table(pd.DataFrame({"cn": ["a", "b"]}), tmp_path / "t.parquet")
    assert "missing column `hs`; found cn" in str(refused(tmp_path / "t.parquet", "hs"))
    assert read_table(tmp_path / "t.parquet")[LINE].tolist() == [1, 2]  # rows of it count from one
    error = refused(written(tmp_path, 'hs,cn\na,"b\n'))
    ((line, message),) = places(error)
    assert (line, "broken CSV" in message) == (2, True)
    assert "2 things are wrong" in str(refused(written(tmp_path, "hs,cn\na\nd,e,f\n")))


def test_every_broken_line_of_a_jsonl_is_named(tmp_path: Path) -> None:
    lines = (
        *('{"hs": "a"}', '{"hs": }', "[1]", '{"hs": "\\ud800"}', '{"hs": "\\u0000"}', '{"hs": ' + "9" * 5000 + "}"),
        *("[" * 200_000, '{"hs": "\\ud83d\\ude00"}'),
    )
    found = places(refused(written(tmp_path, "\n".join(lines), "t.jsonl")))
    assert [line for line, _ in found] == [2, 3, 4, 5, 6, 7]
    assert found[0] == (2, "not JSON: Expecting value (column 8)")
    assert found[1] == (3, "expected an object, found list")


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


def test_the_old_file_stays_until_the_new_one_is_whole_and_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    path = written(tmp_path, "old", "t.csv")
    with replace_file(path) as temporary:
        assert temporary.parent == path.parent  # from another place it could not be moved at a stroke
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    write_table(pd.DataFrame({"a": ["x"]}), path)
    other = written(tmp_path, "x", "other.csv")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    write_all({tmp_path / "a": b"old", tmp_path / "b": b"old"})
    (tmp_path / "c").mkdir()
    with pytest.raises(InputError, match="c: is a folder; name a file"):
        write_all({tmp_path / "a": b"new", tmp_path / "b": b"new", tmp_path / "c": b"new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"old", b"old"]


def test_a_table_is_written_into_a_folder_that_is_there_and_by_a_known_suffix(tmp_path: Path) -> None:
    for name, message in {"none/t.csv": "there is no folder", "t.xlsx": r"ends in \.csv, \.jsonl, \.parquet"}.items():
        with pytest.raises(InputError, match=message):
            write_table(pd.DataFrame({"a": ["x"]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@given(
    rows=st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, max_size=2)
    )
)
def test_rows_are_formatted_as_tables_are(rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("formatted") / "t.csv"
    write_table(pd.DataFrame(rows, columns=["=a", "b"]), path)
    assert format_csv([["=a", "b"], *rows]) == path.read_bytes().decode()
    assert path.read_text("utf-8").startswith("'=a,b\n")

"""Readers of corpora: CONAN's and Multitarget-CONAN's own figures, named and guessed columns, and the same texts."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import FORMATS, guess_columns, read_corpus
from fcpair.files.tables.tabular import write_table
from fcpair.stages.corpus.text_identity import digest, identity
from fcpair.start_draft import ColumnsDraft


def written(folder: Path, content: str, name: str = "c.csv") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def conan(folder: Path, *rows: str) -> Path:
    return written(folder, "\n".join(["cn_id,hateSpeech,counterSpeech,hsType", *rows]))


# -- a published file that is read as another


@pytest.mark.parametrize(
    ("header", "format", "said"),
    [
        ("cn_id,hateSpeech,counterSpeech", "csv", "these are the columns of `--reader conan`"),
        ("INDEX,HATE_SPEECH,COUNTER_NARRATIVE,TARGET", "csv", "these are the columns of `--reader mt-conan`"),
        ("INDEX,HATE_SPEECH,COUNTER_NARRATIVE,TARGET", "conan", "these are the columns of `--reader mt-conan`"),
        ("original_index,hate speech,counternarrative", "csv", "`fcpair labels import FILE --reader fc-conan`"),
    ],
)
def test_the_format_of_a_published_file_is_proposed(tmp_path: Path, header: str, format: str, said: str) -> None:
    path = written(tmp_path, f"{header}\n" + ",".join("x" for _ in header.split(",")) + "\n", "CONAN.csv")
    with pytest.raises(InputError, match="missing column") as raised:
        read_corpus(path, format)
    assert str(raised.value).splitlines()[0].endswith(said)


@pytest.mark.parametrize("content", ["a,b\n1,2\n", ""])
def test_nothing_is_proposed_for_another_file(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError) as raised:
        read_corpus(written(tmp_path, content), "csv")
    assert "--reader" not in str(raised.value)


# -- the published corpora


def test_conan_english_has_its_published_size(data: Path) -> None:
    """DESIGN, section 6: 3,864 rows, 408 distinct HS, 1,270 distinct CN."""
    pairs = read_corpus(data / "conan" / "CONAN.csv", "conan", only_language="en").pairs
    assert (len(pairs), pairs["hs_digest"].nunique(), pairs["cn_digest"].nunique()) == (3864, 408, 1270)


@pytest.mark.parametrize(("language", "rows"), [("en", 3864), ("fr", 6840), ("it", 4284), (None, 14988)])
def test_conan_rows_by_language(data: Path, language: str | None, rows: int) -> None:
    assert len(read_corpus(data / "conan" / "CONAN.csv", "conan", only_language=language).pairs) == rows


def test_multitarget_conan_has_its_published_size(data: Path) -> None:
    """DESIGN, section 6: 3,718 distinct HS x 4,997 distinct CN, of 5,003 rows."""
    pairs = read_corpus(data / "mt-conan" / "Multitarget-CONAN.csv", "mt-conan").pairs
    assert (len(pairs), pairs["hs_digest"].nunique(), pairs["cn_digest"].nunique()) == (5003, 3718, 4997)


def test_conan_bodies_are_verbatim(data: Path) -> None:
    raw = pd.read_csv(data / "conan" / "CONAN.csv", keep_default_na=False)
    read = read_corpus(data / "conan" / "CONAN.csv", "conan").pairs
    assert read["hs"].tolist() == raw["hateSpeech"].tolist()
    assert read["cn"].tolist() == raw["counterSpeech"].tolist()


def test_a_file_that_fcpair_did_not_write_keeps_its_apostrophes(tmp_path: Path) -> None:
    assert read_corpus(conan(tmp_path, "EN1,'@you,'-),x"), "conan").pairs[["hs", "cn"]].iloc[0].tolist() == [
        "'@you",
        "'-)",
    ]
    path = written(tmp_path, "HATE_SPEECH,COUNTER_NARRATIVE\n'@you,'-)\n")
    assert read_corpus(path, "mt-conan").pairs["hs"].tolist() == ["'@you"]


def test_the_sides_metadata_is_in_the_published_files(data: Path) -> None:
    corpus = read_corpus(data / "conan" / "CONAN.csv", "conan")
    assert corpus.hs_metadata == ("hsType", "hsSubType")
    assert corpus.cn_metadata == ("cnType", "age", "gender", "educationLevel", "cn_id")
    assert set(corpus.metadata) == {*corpus.hs_metadata, *corpus.cn_metadata} <= set(corpus.pairs.columns)
    targets = read_corpus(data / "mt-conan" / "Multitarget-CONAN.csv", "mt-conan")
    assert (targets.hs_metadata, targets.cn_metadata) == (("TARGET",), ("VERSION",))
    assert {"TARGET", "VERSION"} <= set(targets.metadata)


# -- named columns


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_named_columns_become_the_two_sides(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"c.{format}"
    write_table(pd.DataFrame({"query": ["q1", "q2"], "document": ["d1", "d2"], "topic": ["t", "u"]}), path)
    corpus = read_corpus(path, format, hs_column="query", cn_column="document")
    assert corpus.pairs[["hs", "cn", "topic"]].to_numpy().tolist() == [["q1", "d1", "t"], ["q2", "d2", "u"]]


def test_the_cells_of_a_csv_from_elsewhere_stay_as_they_are(tmp_path: Path) -> None:
    pairs = read_corpus(written(tmp_path, "hs,cn\n'@you said,-1 for manners\n"), "csv").pairs
    assert (pairs["hs"][0], pairs["cn"][0]) == ("'@you said", "-1 for manners")


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_a_tier_that_fcpair_wrote_is_read_back_as_it_was(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"c.{format}"
    texts = ["=1+1", "'@you", "-1 for manners", "plain"]
    write_table(pd.DataFrame({"hs_id": range(4), "cn_id": range(4), "hs": texts, "cn": texts[::-1]}), path)
    pairs = read_corpus(path, format).pairs
    assert (pairs["hs"].tolist(), pairs["cn"].tolist()) == (texts, texts[::-1])


def test_metadata_goes_to_the_side_that_its_name_begins_with_and_else_to_both(tmp_path: Path) -> None:
    corpus = read_corpus(written(tmp_path, "hs,cn,hs_topic,cn_type,year,language\na,b,c,d,e,en\n"), "csv")
    assert corpus.metadata == ("hs_topic", "cn_type", "year")
    assert corpus.hs_metadata == ("hs_topic", "year")
    assert corpus.cn_metadata == ("cn_type", "year")


def test_the_two_sides_may_be_named_the_other_way_round(tmp_path: Path) -> None:
    pairs = read_corpus(written(tmp_path, "hs,cn\na,b\n"), "csv", hs_column="cn", cn_column="hs").pairs
    assert (pairs["hs"][0], pairs["cn"][0]) == ("b", "a")


def test_a_missing_named_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing column `query`; found hs, cn"):
        read_corpus(written(tmp_path, "hs,cn\na,b\n"), "csv", hs_column="query")


def test_a_column_hs_beside_the_one_that_is_named_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column `hs` is not the one named"):
        read_corpus(written(tmp_path, "hs,cn,query\na,b,c\n"), "csv", hs_column="query")


def test_a_column_cn_in_a_conan_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "cn_id,hateSpeech,counterSpeech,cn\nEN1,a,b,c\n")
    with pytest.raises(InputError, match="column `cn` is not the one named"):
        read_corpus(path, "conan")


def test_one_column_for_both_sides_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="named for both sides"):
        read_corpus(written(tmp_path, "hs,cn\na,b\n"), "csv", hs_column="cn")


def test_an_unknown_format_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match=f"expected one of {', '.join(FORMATS)}"):
        read_corpus("c.csv", "xml")


# -- the format decides


@pytest.mark.parametrize("format", ["xlsx", "ods"])
def test_a_corpus_may_be_a_spreadsheet(tmp_path: Path, format: str) -> None:
    table = pd.DataFrame({"HS": ["a", "c"], "CN": ["+b", "'d"], "hs_topic": ["t", 2]})
    engine: Any = "odf" if format == "ods" else "openpyxl"
    table.to_excel(tmp_path / f"c.{format}", index=False, engine=engine)
    pairs = read_corpus(tmp_path / f"c.{format}", format).pairs
    assert pairs[["hs", "cn", "hs_topic"]].to_numpy().tolist() == [["a", "+b", "t"], ["c", "'d", "2"]]


@pytest.mark.parametrize(
    ("name", "format", "content"),
    [
        ("c.txt", "jsonl", '{"hs": "a", "cn": "b"}\n'),
        ("c.jsonl", "csv", "hs,cn\na,b\n"),
        ("c.xlsx", "csv", "hs;cn\na;b\n"),
    ],
)
def test_the_format_says_how_a_file_is_read_and_not_its_suffix(
    tmp_path: Path, name: str, format: str, content: str
) -> None:
    assert read_corpus(written(tmp_path, content, name), format).pairs[["hs", "cn"]].to_numpy().tolist() == [["a", "b"]]


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.JSON", "c.ndjson"])
def test_the_suffix_says_how_a_file_is_read_where_the_format_is_not_given(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, '{"hs": "a", "cn": "b"}\n', name)
    assert read_corpus(path).pairs[["hs", "cn"]].to_numpy().tolist() == [["a", "b"]]


def test_a_language_is_looked_for_in_the_column_that_has_it_alone(tmp_path: Path) -> None:
    path = conan(tmp_path, "EN1,a,b,x", "IT1,c,d,x")
    read = partial(read_corpus, path, "csv", hs_column="hateSpeech", cn_column="counterSpeech")
    with pytest.raises(InputError, match="read as csv, no column says which language a row is in"):
        read(only_language="it")
    chosen = read(only_language="it1", language_column="cn_id")
    assert (chosen.pairs["hs"].tolist(), chosen.pairs["language"].tolist(), chosen.n_left_out) == (["c"], ["IT1"], 1)
    assert read_corpus(path, "conan", only_language="it").n_left_out == 1
    assert read().n_left_out == 0
    with pytest.raises(InputError, match="omit `only_language`"):
        read_corpus(written(tmp_path, "HATE_SPEECH,COUNTER_NARRATIVE\na,b\n", "m.csv"), "mt-conan", only_language="it")


# -- languages


@pytest.mark.parametrize("language", ["en", "EN"])
def test_conan_has_the_language_in_the_first_letters_of_cn_id(tmp_path: Path, language: str) -> None:
    path = conan(tmp_path, "EN1,a,b,x", "IT1,c,d,x", "en2,e,f,x")
    pairs = read_corpus(path, "conan", only_language=language).pairs
    assert pairs["hs"].tolist() == ["a", "e"]
    assert pairs.index.tolist() == [0, 1]


@pytest.mark.parametrize("language", ["fa", "FA", " fa "])
def test_other_files_have_it_in_a_column(tmp_path: Path, language: str) -> None:
    path = written(tmp_path, "hs,cn,language\na,b,en\nc,d,FA\ne,f,fa\n")
    assert read_corpus(path, "csv", only_language=language).pairs["hs"].tolist() == ["c", "e"]


def test_a_language_that_no_row_has_is_refused_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row in language `de`; found en, it"):
        read_corpus(conan(tmp_path, "IT1,a,b,x", "EN1,c,d,x"), "conan", only_language="de")


def test_without_a_language_it_is_empty(tmp_path: Path) -> None:
    assert read_corpus(written(tmp_path, "hs,cn\na,b\n"), "csv").pairs["language"].tolist() == [""]


# -- texts


def test_every_empty_text_is_named_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, 'hs,cn\n"a\na",b\n,c\nd,"  "\n\u00a0,\u200b\ne,f\n')
    with pytest.raises(InputError) as caught:
        read_corpus(path, "csv")
    assert [(f.line, f.message) for f in caught.value.findings] == [
        (4, "the hs text is empty; `--unpaired` reads such a row as a text without a pair"),
        (5, "the cn text is empty; `--unpaired` reads such a row as a text without a pair"),
        (6, "the hs text is empty"),
        (6, "the cn text is empty"),
    ]


def test_a_row_with_one_text_is_taken_when_asked_for_and_one_with_none_is_not(tmp_path: Path) -> None:
    assert read_corpus(written(tmp_path, "hs,cn\na,\n,b\n"), "csv", unpaired=True).pairs["cn"].tolist() == ["", "b"]
    with pytest.raises(InputError) as caught:
        read_corpus(written(tmp_path, "hs,cn\na,\n ,\nb,\n"), "csv", unpaired=True)
    assert [(f.line, f.message) for f in caught.value.findings] == [
        (3, "the hs text is empty"),
        (3, "the cn text is empty"),
    ]


def test_columns_of_ids_are_named_and_describe_their_side(tmp_path: Path) -> None:
    path = written(tmp_path, "query,qid,document,docid\na,q1,b,d7\n")
    read = read_corpus(path, "csv", hs_column="query", cn_column="document", hs_id_column="qid", cn_id_column="docid")
    assert (read.hs_metadata, read.cn_metadata) == (("hs_id",), ("cn_id",))
    assert read.pairs[["hs_id", "cn_id"]].to_numpy().tolist() == [["q1", "d7"]]


def test_a_column_of_ids_that_is_not_there_or_is_named_for_a_text_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "hs,cn\na,b\n")
    with pytest.raises(InputError, match="missing column `qid`"):
        read_corpus(path, "csv", hs_id_column="qid")
    with pytest.raises(InputError, match="one column is named for two things"):
        read_corpus(path, "csv", cn_id_column="hs")


def test_the_body_is_verbatim_and_its_digest_is_of_its_identity(tmp_path: Path) -> None:
    pairs = read_corpus(written(tmp_path, "hs,cn\n a ,caf\u0065\u0301\na,caf\u00e9\n"), "csv").pairs
    assert pairs["hs"].tolist() == [" a ", "a"]
    assert pairs["cn"].tolist() == ["caf\u0065\u0301", "caf\u00e9"]
    assert pairs["hs_digest"].nunique() == pairs["cn_digest"].nunique() == 1
    assert pairs["hs_digest"][0] == hashlib.sha256(b"a").hexdigest()


@pytest.mark.parametrize(("one", "other"), [("a", "A"), ("a b", "a  b"), ("ﬁ", "fi"), ("a", "b")])
def test_texts_that_differ_otherwise_are_not_the_same(one: str, other: str) -> None:
    assert digest(one) != digest(other)


@given(st.text())
def test_identity_is_nfc_and_stripped_and_its_own_identity(text: str) -> None:
    same = identity(text)
    assert unicodedata.is_normalized("NFC", same)
    assert same == same.strip()
    assert identity(same) == same


@given(st.text(), st.sampled_from(["", " ", "\n", "\u00a0"]))
def test_composition_and_space_around_do_not_change_the_digest(text: str, space: str) -> None:
    assert digest(space + unicodedata.normalize("NFD", text) + space) == digest(text)


def test_half_a_surrogate_pair_has_a_digest() -> None:
    assert len(digest("\ud800")) == 64


def test_an_id_of_two_texts_is_refused_with_both_lines(tmp_path: Path) -> None:
    """Two spellings of one text, and the same id on both sides, are no error; neither is an empty id."""
    rows = "hs_id,hs,cn_id,cn\n1,a,1,x\n1,a ,2,y\n2,b,1,z\n2,c,,x\n,d,,y\n,e,,z\n2,c,1,z\n"
    with pytest.raises(InputError) as caught:
        read_corpus(written(tmp_path, rows), "csv")
    assert [(finding.line, finding.message) for finding in caught.value.findings] == [
        (4, "cn_id `1` is the id of another text in line 2"),
        (5, "hs_id `2` is the id of another text in line 4"),
    ]


def test_a_text_with_two_ids_is_noted_with_lines(tmp_path: Path) -> None:
    rows = "hs_id,hs,cn_id,cn\nq1,a,d1,x\nq1,a,d2,y\nq2,b,d3,x\nq2,b,d3,x\n"
    assert read_corpus(written(tmp_path, rows), "csv").notes == (
        "cn_id: 1 text has several ids, such as `d1` (line 2) and `d3` (line 4); runs may name any of them, "
        "tables have the first",
    )


@pytest.mark.parametrize(
    ("header", "guess"),
    [
        (["cn", "hs", "topic"], ColumnsDraft("csv", "hs", "cn")),
        (["Hate Speech", "Counter Narrative"], ColumnsDraft("csv", "Hate Speech", "Counter Narrative")),
        (["qid", "query", "docid", "document"], ColumnsDraft("csv", "query", "document", "qid", "docid")),
        (["cn_id", "hateSpeech", "counterSpeech"], ColumnsDraft("conan", "hateSpeech", "counterSpeech")),
        (["HATE_SPEECH", "COUNTER_NARRATIVE"], ColumnsDraft("mt-conan", "HATE_SPEECH", "COUNTER_NARRATIVE")),
        (["first", "second", "third"], ColumnsDraft("csv", "first", "second")),
        (["hs_id", "left", "reply"], ColumnsDraft("csv", "left", "reply", hs_id="hs_id")),
        (["reply", "left"], ColumnsDraft("csv", "left", "reply")),
        (["hs", "reply", "answer"], ColumnsDraft("csv", "hs", "reply")),
    ],
)
def test_columns_are_guessed_by_their_names(header: list[str], guess: ColumnsDraft) -> None:
    assert guess_columns(header) == guess

"""Readers of corpora: CONAN's and Multitarget-CONAN's own figures, named and guessed columns, and the same texts."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import FORMATS, guess_columns, read_corpus
from fcpair.files.tables.tabular import write_table
from fcpair.params import Import
from fcpair.stages.corpus.text_identity import digest, identity
from fcpair.start_draft import ColumnsDraft


def written(folder: Path, content: str, name: str = "c.csv") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def conan(folder: Path, *rows: str) -> Path:
    return written(folder, "\n".join(["cn_id,hateSpeech,counterSpeech,hsType", *rows]))


# -- the published corpora


@pytest.mark.parametrize(("language", "rows"), [("en", 3864), ("fr", 6840), ("it", 4284), (None, 14988)])
def test_conan_rows_by_language(data: Path, language: str | None, rows: int) -> None:
    pairs = read_corpus(Import(data / "conan" / "CONAN.csv", "conan", only_language=language)).pairs
    assert len(pairs) == rows
    if language == "en":
        assert (pairs["hs_digest"].nunique(), pairs["cn_digest"].nunique()) == (408, 1270)  # DESIGN, section 6


def test_multitarget_conan_has_its_published_size_and_the_metadata_of_its_sides(data: Path) -> None:
    """DESIGN, section 6: 3,718 distinct HS x 4,997 distinct CN, of 5,003 rows."""
    corpus = read_corpus(Import(data / "mt-conan" / "Multitarget-CONAN.csv", "mt-conan"))
    pairs = corpus.pairs
    assert (len(pairs), pairs["hs_digest"].nunique(), pairs["cn_digest"].nunique()) == (5003, 3718, 4997)
    assert (corpus.hs_metadata, corpus.cn_metadata) == (("TARGET",), ("VERSION",))
    assert {"TARGET", "VERSION"} <= set(corpus.metadata)


def test_conan_bodies_are_verbatim_and_metadata_stand_with_their_sides(data: Path) -> None:
    raw = pd.read_csv(data / "conan" / "CONAN.csv", keep_default_na=False)
    corpus = read_corpus(Import(data / "conan" / "CONAN.csv", "conan"))
    assert corpus.pairs["hs"].tolist() == raw["hateSpeech"].tolist()
    assert corpus.pairs["cn"].tolist() == raw["counterSpeech"].tolist()
    assert corpus.hs_metadata == ("hsType", "hsSubType")
    assert corpus.cn_metadata == ("cnType", "age", "gender", "educationLevel", "cn_id")
    assert set(corpus.metadata) == {*corpus.hs_metadata, *corpus.cn_metadata} <= set(corpus.pairs.columns)


# -- what is read

JSON_LINE = '{"hs": "a", "cn": "b"}\n'
LANGUAGES = "hs,cn,language\na,b,en\nc,d,FA\ne,f,fa\n"
CONAN = "cn_id,hateSpeech,counterSpeech\nEN1,a,b\nIT1,c,d\nen2,e,f"  # the letters of cn_id say the language
# The name of a file, its content, how it is read, the columns that are looked at, and what is in them.
READ: list[tuple[str, str, str, str, list[list[str]]]] = [
    ("c.csv", "cn_id,hateSpeech,counterSpeech\nEN1,'@you,'-)", "reader=conan", "hs cn", [["'@you", "'-)"]]),
    ("c.csv", "HATE_SPEECH,COUNTER_NARRATIVE\n'@you,'-)\n", "reader=mt-conan", "hs", [["'@you"]]),
    ("c.csv", "hs,cn\n'@you said,-1 for manners\n", "reader=csv", "hs cn", [["'@you said", "-1 for manners"]]),
    ("c.csv", "hs,cn\na,b\n", "reader=csv&hs_column=cn&cn_column=hs", "hs cn", [["b", "a"]]),
    ("c.csv", "hs,cn\na,b\n", "reader=csv", "language", [[""]]),
    ("c.csv", "hs,cn\na,\n,b\n", "reader=csv&unpaired=yes", "cn", [[""], ["b"]]),
    ("c.txt", JSON_LINE, "reader=jsonl", "hs cn", [["a", "b"]]),
    ("c.jsonl", "hs,cn\na,b\n", "reader=csv", "hs cn", [["a", "b"]]),
    ("c.xlsx", "hs;cn\na;b\n", "reader=csv", "hs cn", [["a", "b"]]),
    *((name, JSON_LINE, "", "hs cn", [["a", "b"]]) for name in ("c.jsonl", "c.json", "c.JSON", "c.ndjson")),
    *(("c.csv", LANGUAGES, f"only_language={word}", "hs", [["c"], ["e"]]) for word in ("fa", "FA", " fa ")),
    *(("c.csv", CONAN, f"reader=conan&only_language={word}", "hs", [["a"], ["e"]]) for word in ("en", "EN")),
]


def options(how: str) -> dict[str, Any]:
    values: dict[str, Any] = dict(word.split("=") for word in how.split("&") if word)
    return {name: value == "yes" if name == "unpaired" else value for name, value in values.items()}


@pytest.mark.parametrize(("name", "content", "how", "columns", "rows"), READ)
def test_a_corpus_is_read_as_its_format_says_or_else_its_name(
    tmp_path: Path, name: str, content: str, how: str, columns: str, rows: list[list[str]]
) -> None:
    pairs = read_corpus(Import(written(tmp_path, content, name), **options(how))).pairs
    assert pairs[columns.split()].to_numpy().tolist() == rows
    assert pairs.index.tolist() == list(range(len(rows)))


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_named_columns_become_sides_and_what_fcpair_wrote_is_read_back(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"c.{format}"
    write_table(pd.DataFrame({"query": ["q1", "q2"], "document": ["d1", "d2"], "topic": ["t", "u"]}), path)
    corpus = read_corpus(Import(path, cast(Any, format), hs_column="query", cn_column="document"))
    assert corpus.pairs[["hs", "cn", "topic"]].to_numpy().tolist() == [["q1", "d1", "t"], ["q2", "d2", "u"]]
    texts = ["=1+1", "'@you", "-1 for manners", "plain"]
    write_table(pd.DataFrame({"hs_id": range(4), "cn_id": range(4), "hs": texts, "cn": texts[::-1]}), path)
    pairs = read_corpus(Import(path, cast(Any, format))).pairs
    assert (pairs["hs"].tolist(), pairs["cn"].tolist()) == (texts, texts[::-1])


@pytest.mark.parametrize("format", ["xlsx", "ods"])
def test_a_corpus_may_be_a_spreadsheet(tmp_path: Path, format: str) -> None:
    table = pd.DataFrame({"HS": ["a", "c"], "CN": ["+b", "'d"], "hs_topic": ["t", 2]})
    engine: Any = "odf" if format == "ods" else "openpyxl"
    table.to_excel(tmp_path / f"c.{format}", index=False, engine=engine)
    pairs = read_corpus(Import(tmp_path / f"c.{format}", cast(Any, format))).pairs
    assert pairs[["hs", "cn", "hs_topic"]].to_numpy().tolist() == [["a", "+b", "t"], ["c", "'d", "2"]]


def test_metadata_and_ids_go_to_the_side_that_their_names_say_and_else_to_both(tmp_path: Path) -> None:
    corpus = read_corpus(Import(written(tmp_path, "hs,cn,hs_topic,cn_type,year,language\na,b,c,d,e,en\n"), "csv"))
    assert corpus.metadata == ("hs_topic", "cn_type", "year")
    assert (corpus.hs_metadata, corpus.cn_metadata) == (("hs_topic", "year"), ("cn_type", "year"))
    path = written(tmp_path, "query,qid,document,docid\na,q1,b,d7\n")
    corpus = read_corpus(
        Import(path, "csv", hs_column="query", cn_column="document", hs_id_column="qid", cn_id_column="docid")
    )
    assert (corpus.hs_metadata, corpus.cn_metadata) == (("hs_id",), ("cn_id",))
    assert corpus.pairs[["hs_id", "cn_id"]].to_numpy().tolist() == [["q1", "d7"]]


def test_a_language_is_looked_for_in_the_column_that_has_it_alone(tmp_path: Path) -> None:
    path = conan(tmp_path, "EN1,a,b,x", "IT1,c,d,x")
    options = partial(Import, path, "csv", hs_column="hateSpeech", cn_column="counterSpeech")
    with pytest.raises(InputError, match="read as csv, no column says which language a row is in"):
        read_corpus(options(only_language="it"))
    chosen = read_corpus(options(only_language="it1", language_column="cn_id"))
    assert (chosen.pairs["hs"].tolist(), chosen.pairs["language"].tolist(), chosen.n_left_out) == (["c"], ["IT1"], 1)
    assert read_corpus(Import(path, "conan", only_language="it")).n_left_out == 1
    assert read_corpus(options()).n_left_out == 0


# -- what is refused

MT_CONAN = "INDEX,HATE_SPEECH,COUNTER_NARRATIVE,TARGET\nx,x,x,x\n"
HALF = "; `--unpaired` reads such a row as a text without a pair"
REFUSED = [
    ("hs,cn\na,b\n", "reader=csv&hs_column=query", "missing column `query`; found hs, cn"),
    ("hs,cn,query\na,b,c\n", "reader=csv&hs_column=query", "column `hs` is not the one named"),
    ("cn_id,hateSpeech,counterSpeech,cn\nEN1,a,b,c\n", "reader=conan", "column `cn` is not the one named"),
    ("hs,cn\na,b\n", "reader=csv&hs_column=cn", "named for both sides"),
    ("hs,cn\na,b\n", "reader=csv&hs_id_column=qid", "missing column `qid`"),
    ("hs,cn\na,b\n", "reader=csv&cn_id_column=hs", "one column is named for two things"),
    ("hs,cn\na,b\n", "reader=xml", f"expected one of {', '.join(FORMATS)}"),
    (CONAN, "reader=conan&only_language=de", "no row in language `de`; found en, it"),
    ("HATE_SPEECH,COUNTER_NARRATIVE\na,b\n", "reader=mt-conan&only_language=it", "omit `only_language`"),
]


@pytest.mark.parametrize(("content", "how", "message"), REFUSED)
def test_a_corpus_that_cannot_be_so_is_refused(tmp_path: Path, content: str, how: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_corpus(Import(written(tmp_path, content), **options(how)))


@pytest.mark.parametrize(
    ("content", "reader", "message"),
    [
        ("cn_id,hateSpeech,counterSpeech\nx,x,x\n", "csv", "these are the columns of `--reader conan`"),
        (MT_CONAN, "csv", "these are the columns of `--reader mt-conan`"),
        (MT_CONAN, "conan", "these are the columns of `--reader mt-conan`"),
        ("original_index,hate speech,counternarrative\nx,x,x\n", "csv", "labels import FILE --reader fc-conan`"),
        ("a,b\n1,2\n", "csv", ""),
        ("", "csv", ""),
    ],
)
def test_the_reader_of_a_published_file_is_proposed(tmp_path: Path, content: str, reader: str, message: str) -> None:
    with pytest.raises(InputError, match="missing column" if message else None) as raised:
        read_corpus(Import(written(tmp_path, content, "CONAN.csv"), cast(Any, reader)))
    assert str(raised.value).splitlines()[0].endswith(message)
    assert ("--reader" in str(raised.value)) == bool(message)


@pytest.mark.parametrize(
    ("content", "unpaired", "findings"),
    [
        (
            'hs,cn\n"a\na",b\n,c\nd,"  "\n\u00a0,\u200b\ne,f\n',
            False,
            [
                *((4, f"the hs text is empty{HALF}"), (5, f"the cn text is empty{HALF}")),
                *((6, "the hs text is empty"), (6, "the cn text is empty")),
            ],
        ),
        ("hs,cn\na,\n ,\nb,\n", True, [(3, "the hs text is empty"), (3, "the cn text is empty")]),
        (  # two spellings of one text, and the same id on both sides, are no error; neither is an empty id
            "hs_id,hs,cn_id,cn\n1,a,1,x\n1,a ,2,y\n2,b,1,z\n2,c,,x\n,d,,y\n,e,,z\n2,c,1,z\n",
            False,
            [
                (4, "cn_id `1` is the id of another text in line 2"),
                (5, "hs_id `2` is the id of another text in line 4"),
            ],
        ),
    ],
)
def test_every_empty_text_and_every_id_of_two_texts_is_named(
    tmp_path: Path, content: str, unpaired: bool, findings: list[tuple[int, str]]
) -> None:
    with pytest.raises(InputError) as caught:
        read_corpus(Import(written(tmp_path, content), "csv", unpaired=unpaired))
    assert [(finding.line, finding.message) for finding in caught.value.findings] == findings


def test_a_text_with_two_ids_is_noted_with_lines(tmp_path: Path) -> None:
    rows = "hs_id,hs,cn_id,cn\nq1,a,d1,x\nq1,a,d2,y\nq2,b,d3,x\nq2,b,d3,x\n"
    assert read_corpus(Import(written(tmp_path, rows), "csv")).notes == (
        "cn_id: 1 text has several ids, such as `d1` (line 2) and `d3` (line 4); runs may name any of them, "
        "tables have all",
    )


# -- texts


def test_the_body_is_verbatim_and_its_digest_is_of_its_identity(tmp_path: Path) -> None:
    pairs = read_corpus(Import(written(tmp_path, "hs,cn\n a ,caf\u0065\u0301\na,caf\u00e9\n"), "csv")).pairs
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
        (["topic_id", "query", "docno", "text"], ColumnsDraft("csv", "query", "text", "topic_id", "docno")),
        (["qid", "query", "pid", "passage"], ColumnsDraft("csv", "query", "passage", "qid", "pid")),
        (["reply", "left"], ColumnsDraft("csv", "left", "reply")),
        (["hs", "reply", "answer"], ColumnsDraft("csv", "hs", "reply")),
    ],
)
def test_columns_are_guessed_by_their_names(header: list[str], guess: ColumnsDraft) -> None:
    assert guess_columns(header) == guess

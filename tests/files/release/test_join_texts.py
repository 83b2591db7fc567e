"""`join_texts.py` of a release reads corpora as `import` does, and writes CSV as a release does."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.files.release import join_texts
from fcpair.files.tables import tabular
from fcpair.files.tables.tabular import read_table, write_table
from fcpair.stages.corpus.text_identity import digest

FORMULA, CAFE, CAFE_TOO = "=HYPERLINK(1)", "Caf\u00e9; now, or never", "Cafe\u0301; now, or never"


def join(folder: Path, texts: list[str], *corpora: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """What the script ends with for a release of these texts, and the texts that it writes, as fcpair reads them."""
    (folder / "data").mkdir(exist_ok=True)
    rows = pd.DataFrame({"pair": range(1, 1 + len(texts)), "hs_sha256": list(map(digest, texts))}).astype(str)
    write_table(rows, folder / "data" / "gold.csv")
    monkeypatch.setattr(join_texts, "DATA", folder / "data")
    code = join_texts.main([*map(str, corpora), "--out", str(folder / "joined")])
    return code, read_table(folder / "joined" / "gold.csv")["hs"].tolist()


def written(path: Path, content: str, encoding: str = "utf-8") -> Path:
    """A file with this content."""
    path.write_text(content, encoding, newline="")
    return path


def test_a_formula_is_found_and_written_behind_a_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(pd.DataFrame({"hs": [FORMULA]}), tmp_path / "ours.csv")
    theirs = written(tmp_path / "theirs.csv", f"hs\n{FORMULA}\n")
    for corpus in (tmp_path / "ours.csv", theirs):
        assert join(tmp_path, [FORMULA], corpus, monkeypatch=monkeypatch) == (0, [FORMULA])
        assert f"\n'{FORMULA},1," in (tmp_path / "joined/gold.csv").read_text().replace("\r", "")


def test_of_two_spellings_the_first_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for first, second in ((CAFE, CAFE_TOO), (CAFE_TOO, CAFE)):
        corpus = written(tmp_path / "corpus.csv", f'hs\n"{first}"\n"{second}"\n')
        assert join(tmp_path, [CAFE], corpus, monkeypatch=monkeypatch) == (0, [first])


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (f'id;hs\n1;"{CAFE}"\n2;"b, c"\n', "utf-8"),
        (f"id\ths\n1\t{CAFE}\n2\tb, c\n", "utf-16"),
        (f'sep=;\r\nhs;id\r\n"{CAFE}";1\r\nb, c;2\r\n', "utf-8-sig"),
        (f'hs\n"{CAFE}"\n"b, c"\n', "utf-8"),
    ],
)
def test_cells_are_separated_as_by_import(
    content: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = written(tmp_path / "corpus.csv", content, encoding)
    assert join(tmp_path, [CAFE, "b, c"], corpus, monkeypatch=monkeypatch) == (0, [CAFE, "b, c"])
    assert read_table(corpus)["hs"].tolist() == [CAFE, "b, c"]


def test_a_table_of_another_kind_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        join(tmp_path, ["a"], written(tmp_path / "corpus.jsonl", '{"hs": "a"}\n'), monkeypatch=monkeypatch)
    assert "corpus.jsonl is no CSV; save it as CSV in UTF-8" in capsys.readouterr().err
    assert join_texts.GUARDED.pattern == tabular._GUARDED.pattern  # formulas are those of every other table


@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
        .filter(str.strip)
        .map(lambda text: f"{text}."),
        min_size=1,
        unique_by=digest,
    )
)
def test_any_text_of_a_corpus_comes_back(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("joined")
    write_table(pd.DataFrame({"id": [str(at) for at in range(len(texts))], "hs": texts}), folder / "corpus.csv")
    with pytest.MonkeyPatch.context() as patch:
        assert join(folder, texts, folder / "corpus.csv", monkeypatch=patch) == (0, texts)

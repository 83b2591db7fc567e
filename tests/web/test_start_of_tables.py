"""The tables that a study starts from: how they are read is shown, can be changed, and is what the recipe says."""

from __future__ import annotations

import io
import shutil
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from fcpair.recipe import load_recipe
from fcpair.start_draft import ColumnsDraft, TableDraft
from fcpair.study import Study
from web.test_start import CORPUS, PEOPLE, PLAN, Starting, alert, empty, lead, location, nobody_else, shards

__all__ = ["empty", "lead", "nobody_else"]  # fixtures

QUESTIONS = "id;Thema;Frage\n1;Tee;Trinkst du grünen Tee?\n2;Obst;Wer mag Äpfel am Morgen?\n".encode("cp1252")
PASSAGES = b"pid,passage\na,Tea is a plant.\nb,Apples grow on trees.\nc,Milk is white.\n"
WORDS = {"title": "", "label_0": "no", "label_1": "unsure", "label_2": "yes"}


def workbook(**sheets: list[list[str]]) -> bytes:
    book, content = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(content)
    return content.getvalue()


def selected(page: str, name: str) -> str:
    choice = page.partition(f'name="{name}"')[2].partition("</select>")[0]
    return choice.partition(" selected")[0].rpartition('value="')[2].rstrip('"')


def test_encoding_separator_and_names_are_detected_and_the_first_rows_are_shown(lead: Starting) -> None:
    arabic = "hs|cn\nمرحبا بالعالم|كيف الحال\n"
    for content, encoding, separator, words in (
        (QUESTIONS, "windows-1252", "semicolon", "Trinkst du grünen Tee?"),
        (arabic.encode("cp1256"), "windows-1256", "pipe", "مرحبا بالعالم"),
        (arabic.encode("utf-16"), "utf-16", "pipe", "مرحبا بالعالم"),
        (arabic.encode("utf-16-le"), "utf-16", "pipe", "مرحبا بالعالم"),
        (b"\xef\xbb\xbfhs\tcn\n\xc3\xa9,t\xc3\xa9\tno\n", "utf-8", "tab", ">hs</th>"),
        (b"hs,cn\nA\x90,b\n", "iso-8859-1", "comma", ">cn</th>"),
    ):
        assert lead.upload(content).status_code == 200
        page = lead.get("table").text
        assert (selected(page, "encoding"), selected(page, "separator")) == (encoding, separator)
        assert words in page
        assert 'name="header" value="yes" checked' in page
    lead.upload(b"1,a text\n2,another\n")
    page = lead.get("table").text
    assert 'name="header" value="yes">' in page
    assert ">column 2</th>" in page
    assert "2 rows, 2 columns" in page


def test_a_table_read_in_another_way_is_shown_and_kept_only_by_going_on(lead: Starting) -> None:
    lead.upload(CORPUS.read_bytes())
    before = lead.seen
    form = {"encoding": "iso-8859-1", "separator": "comma"}  # the box of the names is not ticked
    page = lead.post("reading", act="show", **form)
    assert (page.status_code, ">column 1</th>" in page.text) == (200, True)
    assert lead.seen == before
    assert location(lead.post("reading", act="save", **form)) == "/lead/start/columns"
    table = lead.site.study.start.draft().table
    assert isinstance(table, TableDraft)
    assert (table.encoding, table.no_header) == ("iso-8859-1", True)
    assert '<option value="column 1"' in lead.get("columns").text


BAD_READINGS = (
    ({"separator": "tab", "encoding": "utf-8"}, "this separator gives one column only"),
    ({"separator": "comma", "encoding": "utf-16"}, "corpus.csv: "),
    ({"separator": "comma", "encoding": "klingon"}, "Encoding is"),
)


@pytest.mark.parametrize("act", ["show", "save"])
def test_a_reading_that_gives_no_table_is_refused_beside_its_fields(lead: Starting, act: str) -> None:
    lead.upload(CORPUS.read_bytes())
    before = lead.site.study.start.draft()
    for form, words in BAD_READINGS:
        page = lead.post("reading", act=act, header="yes", **form)
        assert (page.status_code, words in alert(page)) == (422, True), alert(page)
    assert lead.site.study.start.draft() == before
    lead.upload("hs,cn\né,b\n".encode("cp1252"))
    page = lead.post("reading", act=act, header="yes", encoding="utf-8", separator="comma")
    assert (page.status_code, 'aria-invalid="true"' in page.text) == (422, True)
    assert "corpus.csv: is not text in UTF-8 (byte 0xe9 in line 2); choose another encoding" in alert(page)
    assert str(lead.site.study.start.folder) not in page.text


def test_the_first_sheet_with_a_table_is_read_and_an_empty_one_is_refused(lead: Starting) -> None:
    pairs = [["query", "passage"], ["What is tea?", "A plant."]]
    lead.upload(workbook(Notes=[["A note."]], Pairs=pairs, Empty=[]), "book.xlsx")
    page = lead.get("table").text
    assert selected(page, "sheet_name") == "Pairs"
    assert ">A plant.</span>" in page
    empty_sheet = lead.post("reading", act="save", header="yes", sheet_name="Empty")
    assert (empty_sheet.status_code, "no sheet `Empty` to read; it is empty" in alert(empty_sheet)) == (422, True)
    assert selected(empty_sheet.text, "sheet_name") == "Empty"
    refused = lead.upload(workbook(Notes=[["A note."]], Empty=[]), "book.xlsx")
    assert (refused.status_code, "no sheet has a table" in refused.text) == (422, True)
    assert "`Notes`, `Empty`" in refused.text


def test_the_names_of_the_columns_become_those_of_the_texts_until_they_are_called_otherwise(lead: Starting) -> None:
    for header, names in {
        "query,passage": ("query", "passage"),
        "hs_text,cn_text": ("hate speech", "counter-narrative"),
        "HATE_SPEECH,replyText": ("hate speech", "reply"),
        "text1,text2": ("first text", "second text"),
        "sentence1,sentence2": ("sentence 1", "sentence 2"),
        "Frage,Antwort": ("Frage", "Antwort"),
    }.items():
        lead.upload(f"{header}\nOne text.,Another text.\n".encode())
        guess = lead.site.study.start.guess(lead.site.study.start.draft())
        assert isinstance(guess, ColumnsDraft)
        assert (guess.hs_name, guess.cn_name) == names
    columns = {**WORDS, "hs": "Frage", "cn": "Antwort", "hs_name": "Rätsel", "cn_name": "Lösung"}
    lead.post("columns", act="save", **columns)
    lead.upload(b"query,passage\na,b\n")
    assert 'name="hs_name" type="text" value="Rätsel"' in lead.get("columns").text


def upload_two(lead: Starting) -> None:
    lead.upload(QUESTIONS, "fragen.csv")
    assert lead.upload(PASSAGES, "passages.csv", second="yes").status_code == 200


def test_two_tables_make_every_pair_and_their_recipe_makes_the_same_study_elsewhere(
    lead: Starting, tmp_path: Path
) -> None:
    upload_two(lead)
    page = lead.get("columns").text
    assert [selected(page, name) for name in ("hs", "hs_id", "cn", "cn_id")] == ["Frage", "id", "passage", "pid"]
    assert "Tea is a plant." in page
    columns = {**WORDS, "hs": "Frage", "hs_id": "id", "cn": "passage", "cn_id": "pid"}
    assert lead.post("columns", act="save", **columns, hs_name="Frage", cn_name="passage").status_code == 303
    assert 'value="full" checked' in lead.get("plan").text
    assert "6 (2 × 3)" in lead.post("figures", **PLAN).text
    lead.post("plan", **PLAN)
    lead.post("people", **PEOPLE)
    lead.post("guidelines", act="later")
    lead.build()
    study, text = lead.site.study, lead.site.study.recipe_text()
    assert len(shards(study)) > 6
    assert 'encoding = "windows-1252"\nseparator = "semicolon"' in text
    assert 'cn_encoding = "utf-8"\ncn_separator = "comma"' in text
    archive = lead.client.post("/lead/download/recipe", data={"csrf": lead.csrf})
    (tmp_path / "recipe.zip").write_bytes(archive.content)
    shutil.unpack_archive(tmp_path / "recipe.zip", tmp_path / "elsewhere")
    shutil.rmtree(study.start.folder)
    recipe = load_recipe(tmp_path / "elsewhere" / "recipe" / "recipe.toml")
    with closing(Study.create(tmp_path / "again.db", recipe.setup)) as again:
        list(again.walk(recipe))
        assert shards(again) == shards(study)


def test_a_second_table_without_texts_is_refused_and_the_two_can_be_exchanged_and_taken_away(
    lead: Starting, tmp_path: Path
) -> None:
    lead.upload(b"query\nWhat is tea?\n", "queries.csv")
    assert location(lead.client.get("/lead/start")) == "/lead/start/table"
    assert "one column" in lead.get("table").text
    refused = lead.upload(b"", "none.csv", second="yes")
    assert (refused.status_code, "the file is empty" in refused.text) == (422, True)
    lead.upload(PASSAGES, "passages.csv", second="yes")
    both = {"header": "yes", "second_header": "yes"}
    assert location(lead.post("reading", act="exchange", **both)) == "/lead/start/table"
    page = lead.get("table").text
    assert page.index("First texts: passages.csv") < page.index("Second texts: queries.csv")
    assert location(lead.post("reading", act="remove", **both)) == "/lead/start/table"
    assert len(list(tmp_path.glob("uploads/*"))) == 1
    assert "queries.csv" not in lead.get("table").text
    lead.upload(b"query\nWhat is tea?\n", "queries.csv", second="yes")
    lead.post("columns", act="save", **WORDS, hs="passage", cn="query", hs_name="passage", cn_name="query")
    columns = {**WORDS, "hs": "passage", "cn": "answer", "hs_name": "passage", "cn_name": "answer"}
    lacking = lead.post("columns", act="save", **columns)
    assert lacking.status_code == 422
    assert "queries.csv: missing column `answer`; found query" in alert(lacking)


def test_what_another_lead_has_changed_meanwhile_is_not_overwritten(lead: Starting) -> None:
    upload_two(lead)
    seen = str(lead.seen)
    other = Starting(lead.site, "leo")
    assert other.post("reading", seen=seen, act="exchange", header="yes", second_header="yes").status_code == 303
    refused = lead.post("reading", seen=seen, act="remove", header="yes")
    assert (refused.status_code, "was changed by leo" in alert(refused)) == (409, True)
    table = lead.site.study.start.draft().table
    assert isinstance(table, TableDraft)
    assert table.second

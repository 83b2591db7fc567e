"""Every tool on any texts: what is written for it and said in it is what is read, and broken exports are refused."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps.answers.tool_exports import Said, export, people_table, tasks_of

from fcpair.errors import FcpairError, InputError
from fcpair.files.answers.answer_files import CELL_COLUMNS
from fcpair.files.exchange.annotation_tool import (
    ExportedRound,
    Item,
    ItemKey,
    Project,
    collect_exported,
    digest_texts,
    open_export,
    read_users,
)
from fcpair.files.exchange.catalogue import TOOLS, find_tool, format_config
from fcpair.stages.questions import Form, parse_form
from fcpair.values import visible_text
from fcpair.words import Words

FORM = parse_form('types: any_of("two words","à la",plain)')
ROUND = "main:what is it"
tools = pytest.mark.parametrize("tool", TOOLS)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)
words = st.lists(st.sampled_from(["two words", "à la", "plain"]), min_size=1, unique=True) | st.just(["none"])
numbers = st.lists(st.integers(0, 10**12), min_size=1, max_size=4, unique=True)


def write(tool: str, folder: Path, pairs: list[tuple[str, str]], ids: list[int]) -> Path:
    """A project of these pairs for a tool, for one person."""
    items = [Item(ItemKey(ROUND, at, digest_texts(pair)), pair) for at, pair in zip(ids, pairs, strict=True)]
    project = Project("main-it", "T", "# Be kind", FORM, ("HS & <b>", "CN"), {"ana": items}, "answers import")
    folder.mkdir()
    for name, content in TOOLS[tool].write(project).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, "utf-8", newline="\n")
    return folder


@tools
@given(st.data())
def test_what_is_said_is_what_is_read(tool: str, data: st.DataObject) -> None:
    ids = data.draw(numbers)
    pairs = data.draw(st.lists(st.tuples(texts, texts), min_size=len(ids), max_size=len(ids)))
    said = [Said({"types": data.draw(words)}, data.draw(st.just("") | texts)) for _ in ids]
    with TemporaryDirectory() as temporary:
        project = write(tool, Path(temporary) / "project", pairs, ids)
        path = export(tool, Path(temporary) / "export", zip(tasks_of(tool, project), said, strict=True))
        reader = TOOLS[tool]
        read = reader.read(open_export(path, reader.suffixes), FORM)
        round_ = ExportedRound(ROUND, FORM, CELL_COLUMNS)
        rows = collect_exported(path, reader, read, round_, read_users(people_table(tool, project))).checked_rows()
    expected = {at: (one.words["types"], visible_text(one.note)) for at, one in zip(ids, said, strict=True)}
    for row in rows.to_dict("records"):
        chosen, note = expected.pop(row["pair"])
        assert FORM.store(row["answer"]) == FORM.store(FORM.read({"types": "; ".join(chosen)}))
        assert (row["note"], row["person"]) == (note, "ana")
    assert not expected


@tools
@given(st.data())
def test_a_broken_export_is_refused_or_read_and_never_a_defect(tool: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as temporary:
        project = write(tool, Path(temporary) / "project", [("a", "b"), ("c", "d")], [1, 2])
        said = [(task, Said({"types": ["plain"]}, "n", second=3)) for task in tasks_of(tool, project)]
        path = export(tool, Path(temporary) / "export", said)
        (file,) = path.iterdir()
        raw = bytearray(file.read_bytes())
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : data.draw(st.integers(at, len(raw)))] = data.draw(
            st.sampled_from([b"", b"x", b'"', b"[", b"null", b"1e999"])
        )
        file.write_bytes(bytes(raw))
        reader = TOOLS[tool]
        try:
            read = reader.read(open_export(path, reader.suffixes), FORM)
            collect_exported(path, reader, read, ExportedRound(ROUND, FORM, CELL_COLUMNS), None).checked_rows()
        except FcpairError:
            pass


def test_thousands_of_annotations_of_one_pair_are_soon_refused(tmp_path: Path) -> None:
    (task,) = tasks_of("label-studio", write("label-studio", tmp_path / "project", [("a", "b")], [1]))
    said = [(task, Said({"types": ["plain"]}, str(at))) for at in range(12_000)]
    path, reader = export("label-studio", tmp_path / "export", said), TOOLS["label-studio"]
    start = time.process_time()
    read = reader.read(open_export(path, reader.suffixes), FORM)
    with pytest.raises(InputError, match="nothing says which is the later"):
        collect_exported(path, reader, read, ExportedRound(ROUND, FORM, CELL_COLUMNS), None).checked_rows()
    assert time.process_time() - start < 2


@pytest.mark.parametrize("value", ["null", "NaN", "true", "1e5"])
def test_a_note_of_an_export_is_text_or_refused(tmp_path: Path, value: str) -> None:
    (task,) = tasks_of("prodigy", write("prodigy", tmp_path / "project", [("a", "b")], [1]))
    path, reader = export("prodigy", tmp_path / "export", [(task, Said({"types": ["plain"]}, "N1"))]), TOOLS["prodigy"]
    (file,) = path.iterdir()
    file.write_text(file.read_text("utf-8").replace('"N1"', value), "utf-8")
    read = reader.read(open_export(path, reader.suffixes), FORM)
    if value == "NaN":
        assert [(one.line, one.message.split(";")[0]) for one in read.findings] == [(1, "`NaN` is not JSON")]
    else:
        assert [answer.note for answer in read.answers] == ["" if value == "null" else value]


@given(st.text(min_size=1), st.integers(0, 10**17), st.text("0123456789abcdef", min_size=1))
def test_a_key_is_read_back(name: str, number: int, digest: str) -> None:
    key = ItemKey(name, number, digest)
    assert ItemKey.parse(str(key)) == key


def test_what_is_no_key_has_no_number() -> None:
    for text in ("", "17", "main:label:x:ab", "main:label:²:ab", ":17:ab", "main:label:17:", "a:1"):
        assert ItemKey.parse(text).number == -1


@tools
def test_a_project_says_how_to_start_it_and_who_has_what(tool: str, tmp_path: Path) -> None:
    project = write(tool, tmp_path / "project", [("a", "b")], [1])
    readme = (project / "README.md").read_text("utf-8")
    for part in ("| ana | 1 |", f"--reader {tool} --people people.csv", "# Be kind", "fcpair answers import "):
        assert part in readme


def project_of(*texts: str, form: Form = FORM, heading: str = "HS", names: str = ROUND) -> Project:
    """A project of one item with these texts."""
    item = Item(ItemKey(names, 1, "0" * 12), texts)
    return Project("x", "T", "", form, (heading, "CN"), {"ana": [item]}, "")


def test_label_studio_is_configured_with_every_option_and_takes_none_for_a_variable() -> None:
    """It would show `$5` as nothing, and `costs $x` as `costs undefined`; of an alias it exports the words."""
    view = ElementTree.fromstring(format_config(project_of("a", "b", heading="HS & <b>")))
    assert [one.get("value") for one in view.iter("Choice")] == ["two words", "à la", "plain", "none"]
    form = parse_form('price: one_of("$5","costs $x",free)')
    view = ElementTree.fromstring(format_config(project_of("a", "b", form=form, heading="$HS")))
    options = [(one.get("value"), one.get("alias")) for one in view.iter("Choice")]
    assert options == [("$\u20605", "$5"), ("costs $\u2060x", "costs $x"), ("free", None)]
    assert next(view.iter("Header")).get("value") == "$\u2060HS"


def test_keys_and_colours_of_the_study_are_those_of_a_tool() -> None:
    """What has none of its own gets none that another one has."""
    words = Words(options={"no": {"key": "2", "colour": "red"}, "label/yes": {"key": "y", "colour": "teal"}})
    project = replace(project_of("a", "b", form=parse_form("label: one_of(no,yes,perhaps,maybe)")), words=words)
    labels = json.loads(TOOLS["doccano"].write(project)["labels.json"])
    assert [label["suffix_key"] for label in labels] == ["2", "y", "3", "4"]
    assert [label["background_color"] for label in labels[:2]] == ["#b3261e", "#00686c"]
    assert len({label["background_color"] for label in labels}) == 4
    choices = [*ElementTree.fromstring(format_config(project)).iter("Choice")]
    assert [one.get("hotkey") for one in choices] == ["2", "y", None, None]
    assert choices[1].get("style") == "border-left: 6px solid #00686c"
    schemes = json.loads(TOOLS["potato"].write(project)["config.yaml"])["annotation_schemes"]
    own = [{"name": "no", "key_value": "2"}, {"name": "yes", "key_value": "y"}]
    assert schemes[0]["labels"] == [*own, "perhaps", "maybe"]


@pytest.mark.parametrize(("form", "answer"), [("label: one_of(no,yes)", "choice"), ("label: text()", "text_input")])
def test_prodigy_shows_each_text_once_with_its_line_breaks(form: str, answer: str) -> None:
    """Prodigy shows `text` as one paragraph, and in each block that can show it."""
    texts = ("<b>one</b>\ntwo & three", "four")
    files = TOOLS["prodigy"].write(project_of(*texts, form=parse_form(form), names="main:label"))
    task = json.loads(files["ana.jsonl"])
    shown = "<b>HS</b><br>&lt;b&gt;one&lt;/b&gt;<br>two &amp; three<br><br><b>CN</b><br>four"
    assert task["html"] == f'<div style="unicode-bidi: plaintext; text-align: start">{shown}</div>'
    blocks = json.loads(files["prodigy.json"])["blocks"]
    assert [block["view_id"] for block in blocks] == ["html", answer, "text_input"]
    assert [one for one in blocks if one["view_id"] == "choice" and (one["text"], one["html"]) != (None, None)] == []


def test_lines_from_right_to_left_have_their_own_direction() -> None:
    """As seen in Label Studio, Potato and doccano, where the full stop of a Persian sentence was at its other end."""
    project = project_of("سلام.\nHello.", "خوب", form=parse_form("label: one_of(no,yes)"))
    files = {tool: TOOLS[tool].write(project) for tool in TOOLS}
    rule = "unicode-bidi: plaintext; text-align: start"
    style = ElementTree.fromstring(files["label-studio"]["config.xml"]).findtext("Style")
    assert style == f".lsf-richtext__line {{ {rule}; width: 100% }}"
    assert json.loads(files["potato"]["config.yaml"])["base_css"] == "style.css"
    assert files["potato"]["style.css"] == f"#text-content {{ {rule} }}\n"
    shown = json.loads(files["doccano"]["ana.jsonl"])["text"]
    assert shown == "HS\n\u2068سلام.\u2069\nHello.\n\nCN\n\u2068خوب\u2069"


def test_a_zip_that_is_cut_off_and_a_folder_without_an_export_are_refused(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("user,annotator\n", "utf-8")
    with pytest.raises(InputError, match=r"no export in it ends in .json or .csv; export in such a format"):
        open_export(tmp_path, (".json", ".csv"))
    recorded = Path(__file__).parents[2] / "assets" / "exchange" / "doccano" / "ana.zip"
    (tmp_path / "ana.zip").write_bytes(recorded.read_bytes()[:-30])
    with pytest.raises(InputError, match="not a zip file"):
        open_export(tmp_path / "ana.zip", (".jsonl",))


def test_a_list_says_on_which_line_a_task_is(tmp_path: Path) -> None:
    tasks = [{"data": {}, "annotations": [{"result": [{}], "completed_by": 1}]} for _ in range(2)]
    (tmp_path / "p.json").write_text("[" + ",\n".join(map(json.dumps, tasks)) + "]", "utf-8")
    tool = TOOLS["label-studio"]
    findings = tool.read(open_export(tmp_path, tool.suffixes), FORM).findings
    assert [finding.line for finding in findings] == [1, 2]


@pytest.mark.parametrize("tool", ["potato", "doccano", "prodigy"])
def test_a_line_of_a_shard_ends_nowhere_else(tool: str, tmp_path: Path) -> None:
    project = write(tool, tmp_path / "project", [("a\x85b\u2028c", "d\u2029e\x0bf\r\ng")], [1])
    shard = project / ("data/items.jsonl" if tool == "potato" else "ana.jsonl")
    assert len(shard.read_text("utf-8").splitlines()) == 1
    ((task,),) = [tasks_of(tool, project)]
    assert "a\x85b\u2028c" in task.record["text"]


def test_an_unknown_tool_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="`Label Studio` is no annotation tool here; did you mean `label-studio`"):
        find_tool("Label Studio")

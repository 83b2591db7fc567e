"""What the real tools exported, broken in every way that people and programs break files: it is refused, and why."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import TESTS

from fcpair.errors import InputError
from fcpair.study import Study
from steps.small import assert_refused, labels_of

At = Callable[[str], Study]
RECORDED = TESTS / "assets" / "exchange"
STUDIO = {suffix: (RECORDED / "label-studio" / f"ana{suffix}").read_text("utf-8") for suffix in (".json", ".csv")}
STUDIO["-min.json"] = (RECORDED / "label-studio" / "ana-min.json").read_text("utf-8")
POTATO = (RECORDED / "potato" / "annotations.jsonl").read_text("utf-8")
with zipfile.ZipFile(RECORDED / "doccano" / "ana.zip") as archive:
    DOCCANO = archive.read("ana.jsonl").decode()
ZIPPED = (RECORDED / "doccano" / "ana.zip").read_bytes()
studio = pytest.mark.parametrize("suffix", STUDIO)


def bring(study: Study, tool: str, path: Path) -> Any:
    return study.grid().import_export(path, tool, people=RECORDED / tool / "people.csv")


def refuses(study: Study, tool: str, path: Path, content: str | bytes, match: str) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert_refused(study, lambda: bring(study, tool, path), InputError, match)


@studio
def test_a_cut_export_of_label_studio_is_refused(at: At, tmp_path: Path, suffix: str) -> None:
    content = STUDIO[suffix]
    refuses(
        at("dealt"), "label-studio", tmp_path / f"p{suffix}", content[: len(content) // 2], r"is the file cut off\?"
    )


@studio
def test_an_edited_label_is_refused_with_its_pair_where_lines_do_not_tell(at: At, tmp_path: Path, suffix: str) -> None:
    place = "pair 17: " if suffix == ".json" else ""
    content = STUDIO[suffix].replace('"not_sure"', '"perhaps"', 1)
    content = content.replace("appropriate", "perhaps", 1) if suffix == ".json" else content
    match = f"{place}unknown answer `perhaps`; expected one of not_appropriate"
    refuses(at("dealt"), "label-studio", tmp_path / f"p{suffix}", content, match)


@studio
def test_changed_texts_of_label_studio_are_refused(at: At, tmp_path: Path, suffix: str) -> None:
    content = STUDIO[suffix].replace("left-handers", "right-handers")
    match = "pair 17 has other texts in the export than the tool was given"
    refuses(at("dealt"), "label-studio", tmp_path / f"p{suffix}", content, match)


@studio
def test_another_study_of_label_studio_is_refused(at: At, tmp_path: Path, suffix: str) -> None:
    content = STUDIO[suffix].replace("5aa64d2a7351", "0123456789ab")
    refuses(at("dealt"), "label-studio", tmp_path / f"p{suffix}", content, "is the export from another study")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"annotations": None}, "not a task as Label Studio exports it .*was the file edited by hand"),
        ({"annotations": [1]}, "not a task as Label Studio exports it .*was the file edited by hand"),
        ({"data": {}}, "there is no key of a pair; is this an export of what fcpair wrote"),
    ],
)
def test_a_task_that_was_edited_into_none_is_refused(
    at: At, tmp_path: Path, change: dict[str, Any], match: str
) -> None:
    tasks = json.loads(STUDIO[".json"])
    tasks[0] |= change
    refuses(at("dealt"), "label-studio", tmp_path / "p.json", json.dumps(tasks), match)


def test_the_tasks_of_the_project_are_no_export(at: At, tmp_path: Path) -> None:
    tasks = [{"data": task["data"]} for task in json.loads(STUDIO[".json"])]
    match = "these are the tasks of the project, not an export"
    refuses(at("dealt"), "label-studio", tmp_path / "p.json", json.dumps(tasks), match)


@pytest.mark.parametrize("n_bytes", [30, 200, 1100])
def test_a_cut_zip_file_is_refused(at: At, tmp_path: Path, n_bytes: int) -> None:
    refuses(at("dealt"), "doccano", tmp_path / "ana.zip", ZIPPED[:-n_bytes], r"is it cut off\?")


def test_a_zip_file_with_a_changed_byte_is_refused(at: At, tmp_path: Path) -> None:
    changed = ZIPPED[:100] + bytes([ZIPPED[100] ^ 0xFF]) + ZIPPED[101:]
    refuses(at("dealt"), "doccano", tmp_path / "ana.zip", changed, "not a whole zip file")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('"not_sure"', '"perhaps"', "unknown answer `perhaps`"),
        ('"not_sure"', '"not_sure","appropriate"', "2 answers .*expected one"),
        ("left-handers", "right-handers", "pair 17 has other texts in the export"),
        ("5aa64d2a7351", "0123456789ab", "is the export from another study"),
        ('"fcpair":', '"key":', "there is no key of a pair"),
        ('"label":', '"labels":', "there is no `label`; is it an export of doccano"),
        ('"label":["not_sure"]', '"label":"not_sure"', "are no lists, as doccano's are"),
        ('"id":2,', '"id":2', "ana.jsonl:2: not JSON: "),
    ],
)
def test_an_edited_file_of_doccano_is_refused(at: At, tmp_path: Path, old: str, new: str, match: str) -> None:
    refuses(at("dealt"), "doccano", tmp_path / "ana.jsonl", DOCCANO.replace(old, new), match)


def test_a_cut_file_of_doccano_is_refused(at: At, tmp_path: Path) -> None:
    refuses(at("dealt"), "doccano", tmp_path / "ana.jsonl", DOCCANO[:700], r"ana.jsonl:4: not JSON.* cut off\?")


def test_a_recorded_file_of_everybody_names_nobody(at: At, tmp_path: Path) -> None:
    refuses(at("dealt"), "doccano", tmp_path / "all.jsonl", DOCCANO, "nobody is named who answered")


@pytest.mark.parametrize(("tool", "name"), [("doccano", "a.jsonl"), ("potato", "a.jsonl"), ("label-studio", "a.json")])
@pytest.mark.parametrize("content", ["", "\n \r\n", "\ufeff"])
def test_an_empty_export_says_what_it_may_be(at: At, tmp_path: Path, tool: str, name: str, content: str) -> None:
    match = "the file is empty; either nobody has answered there yet, or the export failed"
    refuses(at("dealt"), tool, tmp_path / name, content, match)


def test_a_zip_file_of_empty_files_says_so(at: At, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ana.zip", "w") as archive:
        archive.writestr("ana.jsonl", "")
    content = (tmp_path / "ana.zip").read_bytes()
    refuses(at("dealt"), "doccano", tmp_path / "ana.zip", content, "its files are empty; either nobody")


def test_a_zip_file_without_files_is_refused(at: At, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ana.zip", "w"):
        pass
    content = (tmp_path / "ana.zip").read_bytes()
    refuses(
        at("dealt"),
        "doccano",
        tmp_path / "ana.zip",
        content,
        "no export in it ends in .jsonl or .json; export in such a format",
    )


@pytest.mark.parametrize(("tool", "content"), [("doccano", "id,label\n1,x\n"), ("potato", STUDIO[".json"])])
def test_a_file_of_another_format_is_refused_once(at: At, tmp_path: Path, tool: str, content: str) -> None:
    match = "JSON object on each line|there (is|are) no `labels?`"
    refuses(at("dealt"), tool, tmp_path / "ana.jsonl", content, match)


def test_what_was_unpacked_or_packed_on_a_mac_is_read(at: At, tmp_path: Path) -> None:
    folder, study = tmp_path / "export", at("dealt")
    (folder / "__MACOSX").mkdir(parents=True)
    for name, content in (
        ("ana.jsonl", DOCCANO),
        ("lead.jsonl", ""),
        ("._ana.jsonl", "\x00"),
        ("__MACOSX/._a.jsonl", "\x00"),
    ):
        (folder / name).write_text(content, "utf-8")
    bring(study, "doccano", folder)
    assert len(labels_of(study)) == 14


def test_a_list_is_read_whatever_its_name_ends_in(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    (tmp_path / "ana.jsonl").write_text(f"[{','.join(DOCCANO.splitlines())}]", "utf-8")
    bring(study, "doccano", tmp_path / "ana.jsonl")
    assert len(labels_of(study)) == 14

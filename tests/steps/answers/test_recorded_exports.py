"""What the real tools exported of the small study (`tests/exchange/record.py` has recorded it), as it is and broken."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import TESTS
from exchange import hundred_pairs as pairs

from fcpair.errors import InputError, StageError
from fcpair.params import Assign
from fcpair.records import Role
from fcpair.study import Study
from steps.small import ANNOTATORS, At, assert_refused, labels_of, open_work

RECORDED = TESTS / "assets" / "exchange"
EXPORTS = {
    "label-studio": [f"{person}.json" for person in ANNOTATORS],
    "potato": ["annotations.jsonl"],
    "doccano": [f"{person}.zip" for person in ANNOTATORS],
}
STUDIO = {suffix: (RECORDED / "label-studio" / f"ana{suffix}").read_text("utf-8") for suffix in (".json", ".csv")}
STUDIO["-min.json"] = (RECORDED / "label-studio" / "ana-min.json").read_text("utf-8")
POTATO = RECORDED / "potato" / "annotations.jsonl"
ZIPPED = (RECORDED / "doccano" / "ana.zip").read_bytes()
with zipfile.ZipFile(RECORDED / "doccano" / "ana.zip") as archive:
    DOCCANO = archive.read("ana.jsonl").decode()


def bring(study: Study, tool: str, *paths: Path | str, **options: Any) -> list[dict[str, int]]:
    """Import exports, or what is recorded under a name; returns what each import counted."""
    folder = RECORDED / tool
    imports = [
        study.grid().import_export(folder / path, tool, people=folder / "people.csv", **options) for path in paths
    ]
    return [run.counts for run in imports]


def refuses(study: Study, tool: str, path: Path, content: str | bytes, match: str) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert_refused(study, lambda: bring(study, tool, path), InputError, match)


@pytest.mark.parametrize("tool", EXPORTS)
def test_all_that_was_answered_stands_with_person_and_text(at: At, tool: str) -> None:
    study = at("dealt")
    work = set(open_work(study))
    counts = bring(study, tool, *EXPORTS[tool])
    pairs.assert_all_stand(study, tool, work, has_skips=tool == "label-studio")
    if tool == "label-studio":  # an answer that was edited in place is there once, and a second one twice
        twice = [pair for who, pair in work if who == "ana" and pair % 14 == 7 and not pairs.skips(pair, who)]
        assert counts[0].get("earlier", 0) == len(twice)
    again = bring(study, tool, *EXPORTS[tool])
    assert sum(counts["answers"] + counts["skips"] for counts in again) == 0
    assert sum(counts["already_there"] for counts in again) == len(work)


@pytest.mark.parametrize(("suffix", "kind"), [("-min.json", "JSON_MIN"), (".csv", "CSV")])
def test_other_exports_of_label_studio_lack_skips_and_say_so(at: At, suffix: str, kind: str) -> None:
    study, said = at("dealt"), list[str]()
    work = {(who, pair) for who, pair in open_work(study) if not pairs.skips(pair, who)}
    bring(study, "label-studio", *(f"{person}{suffix}" for person in ANNOTATORS), announce=said.append)
    pairs.assert_all_stand(study, "label-studio", work, has_skips=False)
    assert all(f"an export in {kind} has no skips and no drafts" in sentence for sentence in said)
    assert len(said) == 3


def test_a_project_for_the_small_study_has_the_keys_that_were_recorded(at: At, tmp_path: Path) -> None:
    at("dealt").grid().write_project(tmp_path / "project", "potato")
    written = (tmp_path / "project" / "data" / "items.jsonl").read_text("utf-8")
    keys = [line.split('"')[3] for line in POTATO.read_text("utf-8").splitlines()]
    assert keys
    assert all(f'"{key}"' in written for key in keys)


def test_what_was_unpacked_or_packed_on_a_mac_or_is_a_list_is_read(at: At, tmp_path: Path) -> None:
    folder, study = tmp_path / "export", at("dealt")
    (folder / "__MACOSX").mkdir(parents=True)
    contents = {"ana.jsonl": DOCCANO, "lead.jsonl": "", "._ana.jsonl": "\x00", "__MACOSX/._a.jsonl": "\x00"}
    for name, content in contents.items():
        (folder / name).write_text(content, "utf-8")
    bring(study, "doccano", folder)
    assert len(labels_of(study)) == 14
    (tmp_path / "ana.jsonl").write_text(f"[{','.join(DOCCANO.splitlines())}]", "utf-8")
    assert bring(study, "doccano", tmp_path / "ana.jsonl")[0]["already_there"] == 14


@pytest.mark.parametrize("suffix", STUDIO)
def test_a_broken_export_of_label_studio_is_refused(at: At, tmp_path: Path, suffix: str) -> None:
    content, study, path = STUDIO[suffix], at("dealt"), tmp_path / f"p{suffix}"
    refuses(study, "label-studio", path, content[: len(content) // 2], r"is the file cut off\?")
    changed = content.replace('"not_sure"', '"perhaps"', 1)
    changed = changed.replace("appropriate", "perhaps", 1) if suffix == ".json" else changed
    place = "pair 17: " if suffix == ".json" else ""  # where lines do not tell
    refuses(study, "label-studio", path, changed, f"{place}unknown answer `perhaps`; expected one of not_appropriate")
    changed = content.replace("left-handers", "right-handers")
    refuses(study, "label-studio", path, changed, "pair 17 has other texts in the export than the tool was given")
    changed = content.replace("5aa64d2a7351", "0123456789ab")
    refuses(study, "label-studio", path, changed, "is the export from another study")


def test_tasks_of_label_studio_that_are_none_are_refused(at: At, tmp_path: Path) -> None:
    study, path = at("dealt"), tmp_path / "p.json"
    edited = "not a task as Label Studio exports it .*was the file edited by hand"
    changes: list[tuple[dict[str, Any], str]] = [
        ({"annotations": None}, edited),
        ({"annotations": [1]}, edited),
        ({"data": {}}, "there is no key of a pair; is this an export of what fcpair wrote"),
    ]
    tasks = json.loads(STUDIO[".json"])
    for change, match in changes:
        refuses(study, "label-studio", path, json.dumps([tasks[0] | change, *tasks[1:]]), match)
    of_project = [{"data": task["data"]} for task in tasks]
    match = "these are the tasks of the project, not an export"
    refuses(study, "label-studio", path, json.dumps(of_project), match)


DOCCANO_EDITED = [
    ('"fcpair":', '"key":', "there is no key of a pair"),
    ('"label":', '"labels":', "there is no `label`; is it an export of doccano"),
    ('"label":["not_sure"]', '"label":"not_sure"', "are no lists, as doccano's are"),
    ('"id":2,', '"id":2', "ana.jsonl:2: not JSON: "),
]


def test_a_broken_file_of_doccano_is_refused(at: At, tmp_path: Path) -> None:
    study, path = at("dealt"), tmp_path / "ana.jsonl"
    for old, new, match in DOCCANO_EDITED:
        refuses(study, "doccano", path, DOCCANO.replace(old, new), match)
    refuses(study, "doccano", path, DOCCANO[:700], r"ana.jsonl:4: not JSON.* cut off\?")
    refuses(study, "doccano", tmp_path / "all.jsonl", DOCCANO, "nobody is named who answered")
    other_format = "JSON object on each line|there (is|are) no `labels?`"
    refuses(study, "doccano", path, "id,label\n1,x\n", other_format)
    refuses(study, "potato", path, STUDIO[".json"], other_format)


def test_a_broken_zip_file_is_refused(at: At, tmp_path: Path) -> None:
    study, path = at("dealt"), tmp_path / "ana.zip"
    refuses(study, "doccano", path, ZIPPED[:-200], r"is it cut off\?")
    changed = ZIPPED[:100] + bytes([ZIPPED[100] ^ 0xFF]) + ZIPPED[101:]
    refuses(study, "doccano", path, changed, "not a whole zip file")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ana.jsonl", "")
    refuses(study, "doccano", path, path.read_bytes(), "its files are empty; either nobody")
    with zipfile.ZipFile(path, "w"):
        pass
    match = "no export in it ends in .jsonl or .json; export in such a format"
    refuses(study, "doccano", path, path.read_bytes(), match)


def test_an_empty_export_says_what_it_may_be(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    match = "the file is empty; either nobody has answered there yet, or the export failed"
    for tool, name in (("doccano", "a.jsonl"), ("potato", "a.jsonl"), ("label-studio", "a.json")):
        for content in ("", "\n \r\n", "\ufeff"):
            refuses(study, tool, tmp_path / name, content, match)


def test_an_export_that_is_cut_between_lines_says_what_of_whom_is_missing(at: At, tmp_path: Path) -> None:
    study, cut = at("dealt"), tmp_path / "cut.jsonl"
    cut.write_text("".join(POTATO.read_text("utf-8").splitlines(keepends=True)[:20]), "utf-8")
    broken_off = (
        "{0}: of 14 pairs {1} are answered, 0 skipped and {2} missing; unless {0} is still at work, or was assigned "
        "them after the project was written, the export was cut off"
    )
    notes = study.grid().import_export(cut, "potato").notes
    assert notes == (broken_off.format("ben", 6, 8), broken_off.format("cleo", 0, 14))
    assert study.grid().import_export(POTATO, "potato").notes == ()


def test_answers_of_somebody_who_left_stand_but_not_of_who_was_dismissed(at: At) -> None:
    study = at("dealt")
    study.retire("ana")
    assert study.grid().import_export(POTATO, "potato").counts["answers"] == 42
    study = at("dealt")
    study.grid().import_export(POTATO, "potato")
    study.dismiss("ana")
    run = study.grid().import_export(POTATO, "potato")
    assert run.counts["answers"] == 0
    assert "ana was dismissed, so the answers of ana are left out (14)" in run.notes
    assert not any(person == "ana" for _, person in labels_of(study))


def test_a_user_is_the_same_however_programs_write_them(at: At, tmp_path: Path) -> None:
    def bring_with_people(user: str, table: str) -> int:
        export, people = tmp_path / "export.jsonl", tmp_path / "people.csv"
        export.write_text(POTATO.read_text("utf-8").replace('"user_id": "ana"', f'"user_id": "{user}"'), "utf-8")
        people.write_text(f"user;annotator\n{table};ana\nben;ben\ncleo;cleo\n", "utf-8-sig")
        return int(at("dealt").grid().import_export(export, "potato", people=people).counts["answers"])

    assert bring_with_people("Zoe\u0308", "Zo\u00eb") == 42
    assert bring_with_people("2", "2.0") == 42
    with pytest.raises(InputError, match="user `ANA` is not in the table of people; did you mean `ana`"):
        bring_with_people("ANA", "ana")


def test_where_nothing_is_open_for_a_tool_it_is_said_why(at: At, tmp_path: Path) -> None:
    def refuses_project(study: Study, match: str) -> None:
        with pytest.raises(StageError, match=match):
            study.grid().write_project(tmp_path / "project", "potato")

    study = at("paired")
    refuses_project(study, r"nothing is open in round `label`, which has not been assigned yet; `fcpair")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    study.grid().assign(Assign(open=True))
    refuses_project(study, r"labels are free for anybody in the browser .*so there are no sheets")
    study = at("dealt")
    study.grid().import_export(POTATO, "potato")
    refuses_project(study, r"nothing is open in round `label`: all of it is answered \(42\)$")
    for name in ANNOTATORS:
        study.dismiss(name)
    refuses_project(study, r"in round `label`, but 42 answers are vacant; `fcpair people add NAME")

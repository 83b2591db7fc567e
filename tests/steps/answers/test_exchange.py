"""Work for annotation tools and back: what they export stands with person and text, and what is wrong is refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import TESTS
from exchange import hundred_pairs as pairs
from servers import Database, copy_study

from fcpair.errors import InputError, StageError
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.params import Assign
from fcpair.records import Role
from fcpair.study import Study
from steps import forms
from steps.answers.tool_exports import NOTE, Said, Task, export, json_lines, people_table, tasks_of
from steps.small import ANNOTATORS, HS, At, assert_refused, label_of, labels_of, open_work

tools = pytest.mark.parametrize("tool", TOOLS)
with_skips = pytest.mark.parametrize("tool", ["label-studio", "prodigy"])


def as_labelled(task: Task) -> Said:
    return Said({"label": [label_of(task.number, task.person)]}, NOTE if task.number % 3 else "")


def chosen(*words: str, second: int = 0) -> Said:
    return Said({"label": [*words]}, second=second)


class Trip:
    """A project of the small study for a tool, and ways to bring it back."""

    def __init__(self, study: Study, folder: Path, tool: str) -> None:
        self.study, self.grid, self.tool, self.folder = study, study.grid(), tool, folder
        self.project = folder / "project"
        self.grid.write_project(self.project, tool)
        self.tasks = tasks_of(tool, self.project)
        self.people = people_table(tool, self.project)
        self.said: list[str] = []
        self.n_exports = 0

    def of(self, who: str) -> list[Task]:
        return [task for task in self.tasks if task.person == who]

    def export(self, *answers: tuple[Task, Said]) -> Path:
        self.n_exports += 1
        return export(self.tool, self.folder / f"export-{self.n_exports}", answers)

    def bring(self, path: Path, **options: Any) -> Any:
        given: dict[str, Any] = {"people": self.people, "announce": self.said.append, **options}
        return self.grid.import_export(path, self.tool, **given)

    def refuses(self, path: Path, match: str, **options: Any) -> None:
        assert_refused(self.study, lambda: self.bring(path, **options), InputError, match)

    def edited(self, change: Callable[[Any], object]) -> Path:
        """An export of the first task after somebody has changed it: what is changed is its first record."""
        path = self.export((self.tasks[0], as_labelled(self.tasks[0])))
        (file,) = path.iterdir()
        content = json.loads(file.read_text("utf-8")) if file.suffix == ".json" else json_lines(file)
        change(content[0])
        text = json.dumps(content) if file.suffix == ".json" else "".join(f"{json.dumps(row)}\n" for row in content)
        file.write_text(text, "utf-8")
        return path


@pytest.fixture
def trip(at: At, tmp_path: Path) -> Callable[[str], Trip]:
    return lambda tool: Trip(at("dealt"), tmp_path, tool)


@pytest.mark.server
@tools
def test_all_that_people_say_of_their_open_pairs_comes_back_once(trip: Callable[[str], Trip], tool: str) -> None:
    project = trip(tool)
    assert sorted((task.person, task.number) for task in project.tasks) == sorted(open_work(project.study))
    if tool == "label-studio":
        assert {task.record["fcpair_1"] for task in project.tasks} == set(HS[:4])
    path = project.export(*((task, as_labelled(task)) for task in project.tasks))
    run = project.bring(path)
    assert run.counts["answers"] == len(project.tasks) == 42
    sentence = f"In the round `label`, 42 answers were given in 1 export of `{tool}`."
    assert sentence in project.study.methods().sections[0].text
    rows = project.grid.labels()
    stored = {(row.pair, row.annotator): (row.label, row.note) for row in rows.itertuples()}
    assert stored == {
        (task.number, task.person): (as_labelled(task).words["label"][0], as_labelled(task).note)
        for task in project.tasks
    }
    again = project.bring(path)
    assert (again.counts["answers"], again.counts["skips"], again.counts["already_there"]) == (0, 0, 42)


@pytest.mark.server
@with_skips
def test_skips_are_skips_and_of_several_answers_the_latest_counts(trip: Callable[[str], Trip], tool: str) -> None:
    project = trip(tool)
    skipped, task, *_ = project.tasks
    words = ("appropriate", "not_sure", "not_appropriate")
    answers = [(task, chosen(word, second=9 - at)) for at, word in enumerate(words)]
    path = project.export((skipped, Said({}, skips=True)), *answers)
    run = project.bring(path)
    assert (run.counts["answers"], run.counts["skips"], run.counts["earlier"]) == (1, 1, 2)
    stored = {(skipped.number, skipped.person): "skip", (task.number, task.person): "appropriate"}
    assert labels_of(project.study) == stored
    history = project.grid.explain(task.number).answers
    assert [row["answer"] for row in history if row["person"] == task.person] == [*reversed(words)]
    again = project.bring(path)
    assert (again.counts["answers"], again.counts["already_there"]) == (0, 2)
    assert project.grid.explain(task.number).answers == history
    project.grid.withdraw(run.id, "labels")
    assert labels_of(project.study) == {}
    assert project.bring(path).counts["answers"] == 1
    assert labels_of(project.study) == stored
    assert Study.doctor(project.study.place).is_sound


def moved(task: Task, key: str) -> Task:
    """The same task under another key."""
    return task._replace(key=key, record=task.record | {"fcpair": key})


@tools
def test_what_an_export_may_not_say_is_refused(trip: Callable[[str], Trip], tool: str, tmp_path: Path) -> None:
    project = trip(tool)
    task, second, *_ = project.of("ana")
    project.refuses(project.export((task, chosen("perhaps"))), "unknown answer `perhaps`")
    lacking = {"label-studio": [], "prodigy": ["how long an answer took"]}.get(tool, ["no skips"])
    assert [any(lack in said for said in project.said) for lack in lacking] == [True] * len(lacking)
    path = project.export((task, as_labelled(task)), (second, chosen("perhaps")))
    (file,) = path.iterdir()
    place = f"1: pair {second.number}" if tool == "label-studio" else "2"
    project.refuses(path, rf"{file.name}:{place}: unknown answer `perhaps`; expected one of not_appropriate")
    project.refuses(project.export((task, chosen("not_sure", "appropriate"))), "2 answers .*expected one")
    prefix, number, _ = task.key.rsplit(":", 2)
    other_study = moved(task, f"{prefix}:{number}:0123456789ab")
    project.refuses(project.export((other_study, as_labelled(task))), "is the export from another study")
    other_round = moved(task, task.key.replace("main:label", "main:pilot"))
    message = "this is an answer of `main:pilot`; expected `main:label`"
    project.refuses(project.export((other_round, as_labelled(task))), message)
    project.refuses(project.export((moved(task, "17"), as_labelled(task))), "`17` is no key, as shards")
    if tool != "potato":
        record = json.loads(json.dumps(task.record).replace("People", "Persons"))
        changed = project.export((task._replace(record=record), as_labelled(task)))
        project.refuses(changed, "has other texts in the export")
    mine = {own.number for own in project.of("ana")}
    theirs = next(other for other in project.tasks if other.number not in mine)
    taken = theirs._replace(person="ana", user=task.user)
    project.refuses(project.export((taken, as_labelled(theirs))), "was not assigned to ana")
    path = project.export(*((any_task, as_labelled(any_task)) for any_task in project.tasks))
    file = sorted(path.iterdir())[-1]
    file.write_bytes(file.read_bytes()[:-40])
    project.refuses(path, r"cut off\?")
    (tmp_path / "p.csv").write_text("user,annotator\nnobody,ana\n", "utf-8")
    path = project.export((task, as_labelled(task)))
    project.refuses(path, "user `.*` is not in the table of people", people=tmp_path / "p.csv")
    users = [line.split(",")[0] for line in project.people.read_text("utf-8").splitlines()[1:]]
    (tmp_path / "p.csv").write_text("user,annotator\n" + "".join(f"{user},ana\n" for user in users), "utf-8")
    both = project.export(*((own, as_labelled(own)) for own in (task, project.of("ben")[0])))
    project.refuses(both, "are both ana; import what each user", people=tmp_path / "p.csv")


def test_drafts_are_left_out_and_said(trip: Callable[[str], Trip]) -> None:
    project = trip("label-studio")
    drafts: dict[str, Any] = {"drafts": [{"result": []}, {"result": []}]}
    assert project.bring(project.edited(lambda task: task.update(drafts))).counts["answers"] == 1
    assert any("drafts that nobody has submitted are left out (2)" in said for said in project.said)
    only_drafts = project.edited(lambda task: task.update(drafts, annotations=[]))
    project.refuses(only_drafts, "there is no answer in it, only 2 drafts")


def test_what_tells_two_things_at_once_is_refused(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    potato = Trip(study, tmp_path, "potato")
    task = potato.tasks[0]
    path = potato.export((task, chosen("not_sure")), (task, chosen("appropriate")))
    potato.refuses(path, "annotations.jsonl:2: answered already by ana in line 1 of .*nothing says which")
    path = potato.export((task, as_labelled(task)))
    potato.people.write_text("user,annotator\nx,\ny,ana\ny,ben\n,cleo\n", "utf-8")
    potato.refuses(path, "`x` has no `annotator`")
    potato.refuses(path, "`y` is `ana` in a line above, and `ben` here")
    with pytest.raises(InputError, match="this folder is not empty"):
        study.grid().write_project(potato.project, "doccano")
    (tmp_path / "doccano").mkdir()
    doccano = Trip(study, tmp_path / "doccano", "doccano")
    path = doccano.export((doccano.tasks[0], as_labelled(doccano.tasks[0])))
    file = path / "ana.jsonl"
    file.write_text(file.read_text("utf-8").replace('"label":', '"label": ["not_sure"], "label":'), "utf-8")
    doccano.refuses(path, "duplicate key `label`")


def test_in_a_project_of_one_person_nobody_else_is_missing(trip: Callable[[str], Trip]) -> None:
    project = trip("prodigy")
    skipped, *answered = project.of("ana")[:5]
    run = project.bring(
        project.export((skipped, Said({}, skips=True)), *((task, as_labelled(task)) for task in answered))
    )
    (note,) = run.notes
    assert note.startswith("ana: of 14 pairs 4 are answered, 1 skipped and 9 missing")


def test_an_answer_from_before_another_of_the_same_person_is_left_out(trip: Callable[[str], Trip]) -> None:
    project = trip("prodigy")
    first, second, *_ = project.of("ana")
    project.bring(project.export((first, chosen("appropriate", second=9))))
    for supersede in (False, True):
        older = project.export(*((task, chosen("not_sure", second=3)) for task in (first, second)))
        run = project.bring(older, supersede=supersede)
        assert run.counts["answers"] == (0 if supersede else 1)
        assert f"ana has answered differently since; older answers left out: 1 (pairs {first.number})" in run.notes
    assert labels_of(project.study) == {(first.number, "ana"): "appropriate", (second.number, "ana"): "not_sure"}


TEXT = "They pay\nfor the road, نه؟ 😀 like =anybody."
ANSWERS: dict[str, Callable[[int], dict[str, list[str]]]] = {
    "label": lambda number: {"label": [("no", "unsure", "yes")[number % 3]]},
    "types": lambda number: {"types": (["facts"], ["question", "facts"], ["none"])[number % 3]},
    "rating": lambda number: {"rating": [("1", "2.5", "5")[number % 3]]},
    "text": lambda number: {"text": [f"{TEXT} {number}"]},
}
ANSWERS["form"] = lambda number: {
    name: words for kind in ("text", "types", "rating") for name, words in ANSWERS[kind](number).items()
}
FORMS = {
    "label": "label: one_of(no,unsure?,yes+)",
    "types": "types: any_of(facts,humour,question)",
    "rating": forms.RATE,
    "text": "text: text(min_words=2)",
    "form": f"text: text(min_words=2); types: any_of(facts,humour,question); {forms.RATE}",
}


@pytest.fixture(scope="module")
def path(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a round for each kind of form, and three that no tool carries; rae answers them all."""
    with database(), closing(Study.create(tmp_path_factory.mktemp("kinds") / "kinds.db")) as study:
        study.add_people(["rae"], Role.RATER)
        forms.add_grid(study, "kinds", ("facts", "humour"))
        for name, form in FORMS.items():
            forms.add_round(study, "kinds", name, "rae", form, counts=name == "label")
        forms.add_round(study, "kinds", "hidden", "rae", FORMS["types"], hides="column")
        forms.add_round(study, "kinds", "gated", "rae", "a: one_of(yes,no); b: text() when a=yes")
        forms.add_round(study, "kinds", "edited", "rae", forms.EDIT, edits="text")
        forms.add_round(study, "kinds", "always", "rae", "types: any_of(facts,humour,always=column)")
        return Path(study.place)


@pytest.fixture
def study(path: Path, tmp_path: Path) -> Study:
    return Study(copy_study(path, tmp_path / "study.db"))


def exported(study: Study, folder: Path, tool: str, kind: str) -> tuple[list[Task], Path, Path]:
    """The items of a round, what is exported when all are answered, and the table of people."""
    folder.mkdir()
    study.grid("kinds").write_project(folder / "project", tool, kind)
    tasks, people = tasks_of(tool, folder / "project"), people_table(tool, folder / "project")
    answer = ANSWERS["types" if kind == "hidden" else kind]
    return tasks, export(tool, folder / "export", [(task, Said(answer(at))) for at, task in enumerate(tasks)]), people


@tools
def test_answers_of_each_kind_come_back_and_a_hidden_column_is_in_no_file(
    study: Study, tmp_path: Path, tool: str
) -> None:
    grid = study.grid("kinds")
    for kind in FORMS if tool in ("label-studio", "potato") else [kind for kind in FORMS if kind != "form"]:
        tasks, path, people = exported(study, tmp_path / kind, tool, kind)
        assert grid.import_export(path, tool, kind, people=people).counts["answers"] == len(tasks) == 6
        rows = grid.answers(kind).set_index("cell")
        for at, task in enumerate(tasks):
            for name, words in ANSWERS[kind](at).items():
                assert sorted(str(rows.loc[task.number, name]).split("; ")) == sorted(words)
        assert grid.import_export(path, tool, kind, people=people).counts["already_there"] == 6
    tasks, path, people = exported(study, tmp_path / "hidden", tool, "hidden")
    assert all(task.number > 1 << 32 for task in tasks)
    assert not any("aspect" in str(task.record) for task in tasks)
    assert not any("humour" in str({**task.record, "options": 0}) for task in tasks)
    assert grid.import_export(path, tool, "hidden", people=people).counts["answers"] == 6


@tools
def test_forms_that_a_tool_cannot_carry_and_what_is_no_answer_are_refused(
    study: Study, tmp_path: Path, tool: str
) -> None:
    grid, place = study.grid("kinds"), tmp_path / "refused"
    has_forms = tool in ("label-studio", "potato")
    refusals = [("always", "always has the label of its column"), ("gated", "is asked only when a=yes|one question")]
    for name, why in refusals + [("form", "asks one question about an item, and this round has 3")] * (not has_forms):
        with pytest.raises(InputError, match=why):
            grid.write_project(place, tool, name)
    with pytest.raises(StageError, match="is due"):
        grid.write_project(place, tool, "edited")
    wrong: list[tuple[str, dict[str, list[str]], str]] = [
        ("types", {"types": ["none", "facts"]}, "`none` is chosen together with facts"),
        ("rating", {"rating": ["2.25"]}, r"unknown answer `2.25`; expected one of 1, 1.5, 2"),
        ("text", {"text": ["short"]}, "the text has 1 word; expected at least 2"),
        ("form", {"types": ["facts"]}, "text: an answer is missing; rating: an answer is missing"),
    ]
    for kind, words, why in wrong[: None if has_forms else 3]:
        tasks, _, people = exported(study, tmp_path / kind, tool, kind)
        path = export(tool, tmp_path / kind / "later", [(tasks[0], Said(words))])
        with pytest.raises(InputError, match=why):
            grid.import_export(path, tool, kind, people=people)
    written = tmp_path / "text"
    grid.import_export(written / "export", tool, "text", people=written / "project" / "people.csv")
    with pytest.raises(InputError, match="carries one_of, any_of, scale and text, and `text` is `edit"):
        grid.write_project(place, tool, "edited")
    assert not place.exists()


RECORDED = TESTS / "assets" / "exchange"
EXPORTS = {
    "label-studio": [f"{person}.json" for person in ANNOTATORS],
    "potato": ["annotations.jsonl"],
    "doccano": [f"{person}.zip" for person in ANNOTATORS],
}
STUDIO = {suffix: (RECORDED / "label-studio" / f"ana{suffix}").read_text("utf-8") for suffix in (".json", ".csv")}
STUDIO["-min.json"] = (RECORDED / "label-studio" / "ana-min.json").read_text("utf-8")
POTATO = RECORDED / "potato" / "annotations.jsonl"
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
    edited = "no task as Label Studio exports it .*was the file edited by hand"
    changes: list[tuple[dict[str, Any], str]] = [
        ({"annotations": None}, edited),
        ({"annotations": [1]}, edited),
        ({"data": {}}, "there is no key; is this an export of what fcpair wrote"),
    ]
    tasks = json.loads(STUDIO[".json"])
    for change, match in changes:
        refuses(study, "label-studio", path, json.dumps([tasks[0] | change, *tasks[1:]]), match)
    of_project = [{"data": task["data"]} for task in tasks]
    match = "these are the tasks of the project, not an export"
    refuses(study, "label-studio", path, json.dumps(of_project), match)


DOCCANO_EDITED = [
    ('"fcpair":', '"key":', "there is no key;"),
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


def test_an_empty_export_says_what_it_may_be(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    match = ": empty; either nobody has answered there yet, or the export failed"
    for tool, name in (("doccano", "a.jsonl"), ("potato", "a.jsonl"), ("label-studio", "a.json")):
        for content in ("", "\n \r\n", "\ufeff"):
            refuses(study, tool, tmp_path / name, content, match)


def test_an_export_that_is_cut_between_lines_says_what_of_whom_is_missing(at: At, tmp_path: Path) -> None:
    study, cut = at("dealt"), tmp_path / "cut.jsonl"
    cut.write_text("".join(POTATO.read_text("utf-8").splitlines(keepends=True)[:20]), "utf-8")
    broken_off = (
        "{0}: of 14 pairs {1} are answered, 0 skipped and {2} missing; unless {0} is still at work, or was assigned "
        "them after the project was written, the export is cut off"
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


def test_where_nothing_is_open_for_a_tool_it_is_said_why(at: At, tmp_path: Path) -> None:
    def refuses_project(study: Study, match: str) -> None:
        assert_refused(study, lambda: study.grid().write_project(tmp_path / "project", "potato"), StageError, match)

    refuses_project(at("paired"), "nothing is open in round `label`, which has not been assigned yet; `fcpair")
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    study.grid().assign(Assign(open=True))
    refuses_project(study, "labels are free for anybody in the browser .*so there are no sheets")
    study = at("dealt")
    study.grid().import_export(POTATO, "potato")
    refuses_project(study, r"nothing is open in round `label`: all of it is answered \(42\)$")
    for name in ANNOTATORS:
        study.dismiss(name)
    refuses_project(study, "in round `label`, but 42 answers are vacant; `fcpair people add NAME")


def test_a_file_that_names_nobody_is_of_whom_the_table_of_people_says(at: At, tmp_path: Path) -> None:
    project = Trip(at("dealt"), tmp_path, "doccano")
    path = project.export((project.tasks[0], as_labelled(project.tasks[0])))
    (path / "ana.jsonl").rename(path / "all.jsonl")
    project.refuses(path, r"all.jsonl:1: nobody is named who answered; if one person gave all of these, write `all`")
    project.people.write_text("user,annotator\nall,ana\n", "utf-8")
    assert project.bring(path).counts["answers"] == 1


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


ZIPPED = (RECORDED / "doccano" / "ana.zip").read_bytes()


def test_a_broken_zip_file_is_refused(at: At, tmp_path: Path) -> None:
    study, path = at("dealt"), tmp_path / "ana.zip"
    refuses(study, "doccano", path, ZIPPED[:-200], r"is it cut off\?")
    changed = ZIPPED[:100] + bytes([ZIPPED[100] ^ 0xFF]) + ZIPPED[101:]
    refuses(study, "doccano", path, changed, "not a whole zip file")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ana.jsonl", "")
    refuses(study, "doccano", path, path.read_bytes(), "ana.zip: empty; either nobody")
    with zipfile.ZipFile(path, "w"):
        pass
    match = "no export in it ends in .jsonl or .json; export in such a format"
    refuses(study, "doccano", path, path.read_bytes(), match)

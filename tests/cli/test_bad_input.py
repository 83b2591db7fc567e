"""Bad input through the command line: a message with file and line, exit 2, and the study exactly as it was."""

from __future__ import annotations

import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from steps.small import dump, write_corpus, write_csv

from cli.conftest import At, Fcpair
from fcpair.cli import main
from fcpair.errors import StudyError
from fcpair.study import Study

SHEET = "annotator,pair,label\n"
VERDICTS = "validator,pair,verdict\n"
EMPTY_CELL = "; `--unpaired` reads such a row as a text without a pair\n  {file}:4: the cn text is empty; `--unpaired`"
CONAN = "{file}:1: no column `cn_id`, `hateSpeech`, `counterSpeech`"
LONG_CORPUS = 20_000
FCPAIR = ("-B", "-m", "fcpair")  # on a disk that is full Python cuts off the bytecode that it writes, and fails later
# By stage: the command, what is in the file that it is given, and what is said of it.
BAD_FILES: dict[str, list[tuple[str, str | bytes, str]]] = {
    "empty": [
        ("import", "hs,reply\na,b\n", "{file}:1: no column `cn`"),
        ("import --reader conan", "hs,cn\na,b\n", CONAN),
        ("import --reader mt-conan", "hs,cn\na,b\n", "{file}:1: no column `HATE_SPEECH`"),
        ("import", "hs,cn\na,b\n ,c\nd,\n", "{file}:3: the hs text is empty" + EMPTY_CELL),
        ("import", b"hs,cn\na,b\nc,caf\xe9\n", "{file}:3: byte 0xe9 is not UTF-8; the file looks like"),
        ("import", b"hs,cn\na,b\x00\n", "{file}:2: a NUL character"),
        ("import", "", "{file}: the file is empty"),
        ("import", "\n \n", "{file}: the file is empty"),
        ("import", "hs,cn\n", "{file}: the file has no rows"),
        ("import", "hs,cn\na,b\nc\nd,e,f\n", "{file}:3: 1 cells; expected 2\n  {file}:4: 3 cells; expected 2"),
        ("import", 'hs,cn\na,"b\n', "{file}:"),
        ("import --only-language xx", "hs,cn,language\na,b,en\n", "no row in language `xx`; found en"),
        ("import --reader jsonl", '{"hs": "a"\n', "{file}:1: not JSON"),
        ("run", "[study]\ntitel = 'x'\n", "{file}: [study]: unknown key `titel`; did you mean `title`?"),
        ("run", "[study\n", "{file}: not TOML"),
        ("run", "[study]\ntitle = 1\n[pair]\nsed = 1", "{file}: 2 things are wrong; nothing was changed\n  {file}"),
        ("run", "[selekt]\nhs = 3\n", "{file}: unknown section `selekt`; did you mean `select`?"),
        ("run", "[pair]\nseed = -1\n", "{file}: [pair]: seed is -1; expected a whole number, 0 or more"),
    ],
    "imported": [
        ("select --hs-list", "hs\nnobody said this\n", "{file}:2: this HS is not in the study"),
        ("select --hs-list", "", "{file}: the file is empty"),
    ],
    "dealt": [
        ("labels import", "annotator,label\nana,2\n", "{file}:1: no column `hs`, `cn`"),
        ("labels import", "annotator,pair\nana,2\n", "{file}:1: no column `label`"),
        ("labels import", SHEET + "ana,1,maybe\n", "{file}:2: unknown label `maybe`"),
        ("labels import", SHEET + "ana,1,x\n", "{file}: 2 things are wrong; nothing was changed\n"),
        ("labels import", SHEET + "ana,999,2\n", "{file}:2: pair 999 is not in the grid"),
        ("labels import", SHEET + "anna,1,2\n", "{file}:2: no annotator is called `anna`"),
        ("labels import", SHEET + "ana,1,2\nana,1,2\n", "{file}:3: this pair has been answered by ana already"),
        ("labels import", b"annotator,pair,label\nana,1,\xff\n", "{file}:2: byte 0xff is not UTF-8"),
        ("labels import", "", "{file}: the file is empty"),
        ("labels import", SHEET, "{file}: the file has no rows"),
        ("labels import --reader fc-conan", SHEET + "ana,1,2\n", "{file}:1: no column `original_index`"),
    ],
    "labelled": [
        ("labels import", SHEET + "ana,1,0\nana,1,1\n", "{file}:3: this pair has been answered by ana"),
        ("adjudicate --import", "pair,label\n3,not_sure\n", "{file}:2: unknown label `not_sure`"),
        ("adjudicate --import", "pair,label\n99,2\n", "{file}:2: pair 99 is not in the grid"),
    ],
    "checking": [
        ("validate import", VERDICTS + "vera,1,perhaps\n", "{file}:2: unknown verdict `perhaps`"),
        ("validate import", VERDICTS + "vic,1,agree\n", "{file}:2: no validator is called `vic`"),
        ("validate import", "validator,pair\nvera,1\n", "{file}:1: no column `verdict`"),
    ],
}
READ_FROM = {
    "empty": ["import", "run"],
    "imported": ["select --hs-list"],
    "labelled": ["labels import", "labels import --reader fc-conan", "adjudicate --import"],
}


@pytest.mark.parametrize("stage", BAD_FILES)
def test_a_bad_file_is_named_by_line_and_changes_nothing(at: At, fcpair: Fcpair, tmp_path: Path, stage: str) -> None:
    study = at(stage)
    path, before = tmp_path / "given.csv", dump(study)
    for command, content, message in BAD_FILES[stage]:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        result = fcpair(*command.split(), path, code=2)
        assert message.format(file=path) in result.stderr
        assert "Traceback" not in result.stderr
        assert result.stdout == ""
        assert dump(study) == before, command


@pytest.mark.parametrize("stage", READ_FROM)
def test_a_file_that_is_missing_or_a_folder_is_named(at: At, fcpair: Fcpair, tmp_path: Path, stage: str) -> None:
    study = at(stage)
    before = dump(study)
    (tmp_path / "folder").mkdir()
    for command in READ_FROM[stage]:
        for path in (tmp_path / "missing.csv", tmp_path / "folder"):
            assert str(path) in fcpair(*command.split(), path, code=2).stderr
            assert dump(study) == before


def test_a_file_that_is_no_study_is_refused_and_left_alone(fcpair: Fcpair, study: Path) -> None:
    for content in (b"hs,cn\na,b\n", b""):
        study.write_bytes(content)
        assert "is not a study" in fcpair.refusal("status")
        assert study.read_bytes() == content
    study.write_bytes(damaged := b"SQLite format 3\x00" + b"\xff" * 9000)
    message = fcpair.refusal("status")
    assert "not a study" in message or "damaged" in message
    assert study.read_bytes() == damaged


def test_a_study_of_a_newer_fcpair_is_refused_and_left_alone(at: At, fcpair: Fcpair) -> None:
    study = at("labelled")
    with sqlite3.connect(study) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = dump(study)
    assert "made by a newer fcpair" in fcpair.refusal("partition")
    assert dump(study) == before


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("merge appropriate not_appropriate --into x --reason y", "one is positive, and another is not"),
        ("merge not_sure not_appropriate --into x --reason y", "a definite label can be final, and the other cannot"),
        ("rename apropriate x --reason y", "there is no label `apropriate`; did you mean `appropriate`?"),
        ("rename appropriate not_sure --reason y", "to make one of two, merge them (`fcpair labels merge appropriate"),
        ("rename appropriate x", "Missing option '--reason'"),
        ("split appropriate --into a --into b --reason y", "some, not all, of the definite choices must be positive"),
        ("split appropriate --into a+ --reason y", "to split takes a label, and the names of two or more"),
        ("add appropriate --reason y", "there is a label `appropriate` already"),
    ],
)
def test_labels_that_cannot_be_changed_so_are_left_as_they_are(
    at: At, fcpair: Fcpair, command: str, message: str
) -> None:
    study = at("labelled")
    before = dump(study)
    assert message in re.sub(r"\s+", " ", fcpair("labels", *command.split(), code=2).stderr)
    assert dump(study) == before


def test_a_name_that_was_another_labels_is_a_circle(at: At, fcpair: Fcpair) -> None:
    at("labelled")
    fcpair("labels", "rename", "appropriate", "suitable", "--reason", "x")
    message = fcpair.refusal("labels", "rename", "not_appropriate", "appropriate", "--reason", "x")
    assert "`appropriate` was the name of another label" in message
    assert "no version 3; the newest is 2" in fcpair.refusal("partition", "--as-of", "3")


# -- whether anything could have been changed

READING = [
    *(("status",), ("log",), ("grids",), ("agreement",), ("partition",), ("explain", "1"), ("recipe",)),
    *(("people", "list"), ("adjudicate", "--policy", "majority", "--dry-run")),
]
WRITING = [("adjudicate", "--policy", "majority"), ("people", "retire", "ana"), ("labels", "withdraw", "3")]


def test_only_commands_that_write_say_that_nothing_was_changed(
    at: At, fcpair: Fcpair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_csv(tmp_path / "t.csv", [{"cn": "a", "kind": "Joke"}, {"cn": "b", "kind": "Jok"}])
    words = ("describe", file, "--text", "cn", "--labels", "kind", "--label", "Joke")
    assert fcpair(*words, code=2).stderr.startswith(f"Error: {file}: 1 thing is wrong\n  {file}:3: ")
    at("labelled")
    lost = "study.db: the disk cannot be read; nothing was changed"

    def fail(*_args: object, **_named: object) -> None:
        raise StudyError(lost)

    monkeypatch.setattr("fcpair.store.database.store.Store.read", fail)
    monkeypatch.setattr("fcpair.store.database.store.Store.write", fail)
    monkeypatch.setattr(Study, "examine", fail)
    for reading in READING:
        assert fcpair(*reading, code=2).stderr == "Error: study.db: the disk cannot be read\n", reading
    for writing in WRITING:
        assert fcpair(*writing, code=2).stderr == f"Error: {lost}\n", writing


# -- places that cannot be written


@pytest.fixture(scope="module")
def loaded(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> None:
    """All modules that the tests of `closed` need, which somebody without privileges could perhaps not read."""
    study = Path(shutil.copy(files["checked"], tmp_path_factory.mktemp("loaded") / "study.db"))
    with Study(study) as opened:
        opened.report(study.with_name("r.html"))
    CliRunner().invoke(main, ["status", "--study", str(study)])
    dump(study)


@pytest.fixture
def closed(loaded: None, files: dict[str, Path]) -> Iterator[Path]:
    """A study in a folder that may be read and not written, with this process as somebody who has no privileges."""
    folder = Path(tempfile.mkdtemp())
    study = Path(shutil.copy(files["checked"], folder / "study.db"))
    study.chmod(0o444)
    folder.chmod(0o555)
    everybody = os.geteuid() == 0
    if everybody:
        os.seteuid(65534)
    try:
        yield study
    finally:
        if everybody:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.usefixtures("at")  # which makes the small study before the privileges are gone
def test_a_read_only_place_can_be_read_and_nothing_is_written_there(fcpair: Fcpair, closed: Path) -> None:
    before = dump(closed)
    fcpair("status", "--study", closed)
    assert f"{closed}: the place is read-only" in fcpair.refusal("people", "add", "dora", "--study", closed)
    new = fcpair.refusal("init", "--study", closed.parent / "new.db")
    assert "new.db: it cannot be opened; check that the folder exists and can be written" in new
    for *words, name in (
        ("labels", "sheets", "sheets"),
        ("labels", "export", "--out", "x.csv"),
        ("report", "--out", "r.html"),
        ("partition", "--tier", "gold", "--out", "x.csv"),
    ):
        fcpair.refusal(*words, closed.parent / name, "--study", closed)
    assert sorted(closed.parent.iterdir()) == [closed]
    assert dump(closed) == before


@pytest.mark.parametrize("place", ["none/s.db", "/proc/s.db"])
def test_a_study_cannot_be_made_where_there_is_no_place(fcpair: Fcpair, tmp_path: Path, place: str) -> None:
    assert "cannot be opened" in fcpair.refusal("init", "--study", tmp_path / place)


EVALUATE = "evaluate --system tfidf --tier silver --resamples 100"
WRITE_FILES = {
    "a tier": "partition --tier silver --out {out}/silver.csv",
    "the tier as published": "partition --tier silver --layout fc-conan --out {out}/silver.csv",
    "qrels": "export qrels --tier silver --out {out}/qrels.txt",
    "beir": "export beir --tier silver --out {out}/beir",
    "hf": "export hf --out {out}/hf",
    "pairs": "export pairs --tier silver --out {out}/pairs",
    "runs": f"{EVALUATE} --runs {{out}}/runs",
    "runs and figures": f"{EVALUATE} --runs {{out}}/runs --figures {{out}}/figures",
    "links": "people invite vera",
}


@pytest.fixture
def rehearsed(fcpair: Fcpair, at: At, tmp_path: Path, command: str) -> None:
    """The command was given before on a study that can be written; so it is right, and all that it needs is loaded."""
    fcpair(*command.format(out=tmp_path).split(), "--study", at("checked"))


@pytest.mark.usefixtures("rehearsed")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, id=name, marks=[pytest.mark.slow] if "figures" in name else [])
        for name, command in WRITE_FILES.items()
    ],
)
def test_what_cannot_be_noted_in_a_study_leaves_no_file_elsewhere(command: str, fcpair: Fcpair, closed: Path) -> None:
    with TemporaryDirectory() as out:
        before = dump(closed)
        result = fcpair(*command.format(out=out).split(), "--study", closed, code=2)
        assert "the place is read-only" in result.stderr
        assert "nothing was changed" in result.stderr
        assert list(Path(out).iterdir()) == []
        assert dump(closed) == before


# -- a disk that is full, and two imports at once


def with_disk_of(size: int, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run fcpair in a process in which no file may become larger than this; it must end with 2 and no traceback."""
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    command = [sys.executable, *FCPAIR, *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    return run


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle_of_an_import_leaves_the_study_as_it_was(at: At, tmp_path: Path) -> None:
    study = at("empty")
    before, corpus = dump(study), tmp_path / "c.csv"
    lines = (f'"statement {at} {"x" * 40}","reply {at} {"y" * 40}"' for at in range(LONG_CORPUS))
    corpus.write_text("hs,cn\n" + "\n".join(lines), "utf-8")
    words = ("import", corpus, "--study", study)
    assert f"{study}: the disk" in with_disk_of(study.stat().st_size + 1_000_000, *words).stderr
    assert dump(study) == before
    assert subprocess.run([sys.executable, "-m", "fcpair", *words], check=False).returncode == 0


def test_a_disk_that_is_full_when_a_result_is_written_leaves_the_older_result(at: At, tmp_path: Path) -> None:
    study, out = at("checked"), tmp_path / "bronze.csv"
    out.write_text("mine")
    before = dump(study)
    with_disk_of(100, "partition", "--tier", "bronze", "--out", out, "--study", study)
    assert out.read_text() == "mine"
    assert dump(study) == before
    assert not list(tmp_path.glob(".*"))


def test_two_imports_at_once_do_not_mix(tmp_path: Path, at: At) -> None:
    command = [sys.executable, *FCPAIR, "import", str(write_corpus(tmp_path / "c.csv")), "--study", str(at("empty"))]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    outcomes = sorted((process.wait(), process.communicate()[1]) for process in both)
    assert [code for code, _ in outcomes] == [0, 2]
    assert b"`--redo` would discard 21 corpus rows" in outcomes[1][1]

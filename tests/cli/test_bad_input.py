"""Bad input through the command line: a message with file and line, exit 2, and the study exactly as it was."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from steps.small import dump, write_corpus

from cli.conftest import Fcpair
from fcpair.cli import main
from fcpair.study import Study

At = Callable[[str], Path]
SHEET = "annotator,pair,label\n"
LONG_CORPUS = 20_000
FCPAIR = ("-B", "-m", "fcpair")  # on a disk that is full Python cuts off the bytecode that it writes, and fails later


def sha256(study: Path) -> str:
    return hashlib.sha256(dump(study).encode()).hexdigest()


@pytest.mark.parametrize(
    ("stage", "command", "content", "said"),
    [
        ("empty", "import", "hs,reply\na,b\n", "{file}:1: no column `cn`"),
        (
            "empty",
            "import --reader conan",
            "hs,cn\na,b\n",
            "{file}:1: no column `cn_id`, `hateSpeech`, `counterSpeech`",
        ),
        ("empty", "import --reader mt-conan", "hs,cn\na,b\n", "{file}:1: no column `HATE_SPEECH`"),
        (
            "empty",
            "import",
            "hs,cn\na,b\n ,c\nd,\n",
            "{file}:3: the hs text is empty; `--unpaired` reads such a row as a text without a pair\n  {file}:4: the "
            "cn text is empty; `--unpaired`",
        ),
        (
            "empty",
            "import",
            b"hs,cn\na,b\nc,caf\xe9\n",
            "{file}:3: byte 0xe9 is not UTF-8; the file looks like",
        ),
        ("empty", "import", b"hs,cn\na,b\x00\n", "{file}:2: a NUL character"),
        ("empty", "import", "", "{file}: the file is empty"),
        ("empty", "import", "\n \n", "{file}: the file is empty"),
        ("empty", "import", "hs,cn\n", "{file}: the file has no rows"),
        ("empty", "import", "hs,cn\na,b\nc\nd,e,f\n", "{file}:3: 1 cells; expected 2\n  {file}:4: 3 cells; expected 2"),
        ("empty", "import", 'hs,cn\na,"b\n', "{file}:"),
        ("empty", "import --only-language xx", "hs,cn,language\na,b,en\n", "no row in language `xx`; found en"),
        ("empty", "import --reader jsonl", '{"hs": "a"\n', "{file}:1: not JSON"),
        ("imported", "select --hs-list", "hs\nnobody said this\n", "{file}:2: this HS is not in the study"),
        ("imported", "select --hs-list", "", "{file}: the file is empty"),
        ("dealt", "labels import", "annotator,label\nana,2\n", "{file}:1: no column `hs`, `cn`"),
        ("dealt", "labels import", "annotator,pair\nana,2\n", "{file}:1: no column `label`"),
        ("dealt", "labels import", SHEET + "ana,1,maybe\n", "{file}:2: unknown label `maybe`"),
        ("dealt", "labels import", SHEET + "ana,999,2\n", "{file}:2: pair 999 is not in the grid"),
        ("dealt", "labels import", SHEET + "anna,1,2\n", "{file}:2: no annotator is called `anna`"),
        (
            "dealt",
            "labels import",
            SHEET + "ana,1,2\nana,1,2\n",
            "{file}:3: this pair has been answered by ana already",
        ),
        ("dealt", "labels import", b"annotator,pair,label\nana,1,\xff\n", "{file}:2: byte 0xff is not UTF-8"),
        ("dealt", "labels import", "", "{file}: the file is empty"),
        ("dealt", "labels import", SHEET, "{file}: the file has no rows"),
        ("dealt", "labels import --reader fc-conan", SHEET + "ana,1,2\n", "{file}:1: no column `original_index`"),
        ("labelled", "labels import", SHEET + "ana,1,0\nana,1,1\n", "{file}:3: this pair has been answered by ana"),
        ("labelled", "adjudicate --import", "pair,label\n3,not_sure\n", "{file}:2: unknown label `not_sure`"),
        ("labelled", "adjudicate --import", "pair,label\n99,2\n", "{file}:2: pair 99 is not in the grid"),
        (
            "checking",
            "validate import",
            "validator,pair,verdict\nvera,1,perhaps\n",
            "{file}:2: unknown verdict `perhaps`",
        ),
        (
            "checking",
            "validate import",
            "validator,pair,verdict\nvic,1,agree\n",
            "{file}:2: no validator is called `vic`",
        ),
        ("checking", "validate import", "validator,pair\nvera,1\n", "{file}:1: no column `verdict`"),
        ("empty", "run", "[study]\ntitel = 'x'\n", "{file}: [study]: unknown key `titel`; did you mean `title`?"),
        ("empty", "run", "[study\n", "{file}: not TOML"),
        (
            "empty",
            "run",
            "[study]\ntitel = 1\n[pair]\nsed = 1",
            "{file}: 2 things are wrong; nothing was changed\n  {file}",
        ),
        ("empty", "run", "[selekt]\nhs = 3\n", "{file}: unknown section `selekt`; did you mean `select`?"),
        ("empty", "run", "[pair]\nseed = -1\n", "{file}: [pair]: seed is -1; expected a whole number, 0 or more"),
    ],
)
def test_a_bad_file_is_named_with_its_line_and_changes_nothing(
    at: At, fcpair: Fcpair, tmp_path: Path, stage: str, command: str, content: str | bytes, said: str
) -> None:
    study = at(stage)
    path = tmp_path / "given.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sha256(study)
    result = fcpair(*command.split(), path, code=2)
    assert said.format(file=path) in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert sha256(study) == before


@pytest.mark.parametrize(
    "command",
    ["import", "select --hs-list", "labels import", "labels import --reader fc-conan", "adjudicate --import", "run"],
)
@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_file_that_is_not_there_is_named(at: At, fcpair: Fcpair, tmp_path: Path, command: str, kind: str) -> None:
    study = at({"select --hs-list": "imported", "import": "empty"}.get(command, "labelled"))
    path = tmp_path / "given.csv"
    if kind == "folder":
        path.mkdir()
    before = sha256(study)
    result = fcpair(*command.split(), path, code=2)
    assert str(path) in result.stderr
    assert sha256(study) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hs,cn\na,b\n", "is not a study"),
        (b"", "is not a study"),
        (b"SQLite format 3\x00" + b"\xff" * 9000, "not a study|damaged"),
    ],
)
def test_a_file_that_is_no_study_is_refused_and_left_alone(
    fcpair: Fcpair, study: Path, content: bytes, said: str
) -> None:
    study.write_bytes(content)
    result = fcpair("status", code=2)
    assert any(words in result.stderr for words in said.split("|"))
    assert study.read_bytes() == content


def test_a_study_of_a_newer_fcpair_is_refused_and_left_alone(at: At, fcpair: Fcpair) -> None:
    import sqlite3

    study = at("labelled")
    with sqlite3.connect(study) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = sha256(study)
    assert "made by a newer fcpair" in fcpair("partition", code=2).stderr
    assert sha256(study) == before


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


def test_a_read_only_study_can_be_read_and_says_that_it_cannot_be_written(fcpair: Fcpair, closed: Path) -> None:
    before = sha256(closed)
    fcpair("status", "--study", closed)
    result = fcpair("people", "add", "dora", "--study", closed, code=2)
    assert f"{closed}: the place is read-only" in result.stderr
    assert sha256(closed) == before


EVALUATE = ("evaluate", "--system", "tfidf", "--tier", "silver", "--resamples", "100")
WRITE_FILES = {
    "a tier": ("partition", "--tier", "silver", "--out", "{out}/silver.csv"),
    "the tier as published": ("partition", "--tier", "silver", "--layout", "fc-conan", "--out", "{out}/silver.csv"),
    "qrels": ("export", "qrels", "--tier", "silver", "--out", "{out}/qrels.txt"),
    "beir": ("export", "beir", "--tier", "silver", "--out", "{out}/beir"),
    "hf": ("export", "hf", "--out", "{out}/hf"),
    "pairs": ("export", "pairs", "--tier", "silver", "--out", "{out}/pairs"),
    "runs": (*EVALUATE, "--runs", "{out}/runs"),
    "runs and figures": (*EVALUATE, "--runs", "{out}/runs", "--figures", "{out}/figures"),
    "links": ("people", "invite", "vera"),
}


@pytest.fixture
def rehearsed(fcpair: Fcpair, at: Callable[[str], Path], tmp_path: Path, words: tuple[str, ...]) -> None:
    """The command was given before on a study that can be written; so it is right, and all that it needs is loaded."""
    study = at("checked")
    fcpair(*(word.format(out=tmp_path) for word in words), "--study", study)


@pytest.mark.usefixtures("rehearsed")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=name, marks=[pytest.mark.slow] if "{out}/figures" in words else [])
        for name, words in WRITE_FILES.items()
    ],
)
def test_what_cannot_be_noted_in_a_read_only_study_leaves_no_file_elsewhere(
    words: tuple[str, ...], fcpair: Fcpair, closed: Path
) -> None:
    with TemporaryDirectory() as out:
        before = sha256(closed)
        result = fcpair(*(word.format(out=out) for word in words), "--study", closed, code=2)
        assert "the place is read-only" in result.stderr
        assert "nothing was changed" in result.stderr
        assert list(Path(out).iterdir()) == []
        assert sha256(closed) == before


def test_a_study_cannot_be_made_in_a_read_only_place(fcpair: Fcpair, closed: Path) -> None:
    result = fcpair("init", "--study", closed.parent / "new.db", code=2)
    assert "new.db: it cannot be opened; check that the folder exists and can be written" in result.stderr
    assert sorted(closed.parent.iterdir()) == [closed]


@pytest.mark.parametrize("place", ["none/s.db", "/proc/s.db"])
def test_a_study_cannot_be_made_where_there_is_no_place(fcpair: Fcpair, tmp_path: Path, place: str) -> None:
    assert "cannot be opened" in fcpair("init", "--study", tmp_path / place, code=2).stderr


@pytest.mark.parametrize(
    "words",
    [
        ("labels", "sheets"),
        ("labels", "export", "--out"),
        ("report", "--out"),
        ("partition", "--tier", "gold", "--out"),
    ],
)
def test_results_cannot_be_written_to_a_read_only_place(
    at: At, fcpair: Fcpair, closed: Path, words: tuple[str, ...]
) -> None:
    name = {"labels sheets": "sheets", "report --out": "r.html"}.get(" ".join(words), "x.csv")
    result = fcpair(*words, closed.parent / name, "--study", closed, code=2)
    assert "Traceback" not in result.stderr
    assert sorted(closed.parent.iterdir()) == [closed]


# -- a disk that is full in the middle of an import


def long_corpus(path: Path) -> Path:
    lines = (f'"statement {at} {"x" * 40}","reply {at} {"y" * 40}"' for at in range(LONG_CORPUS))
    path.write_text("hs,cn\n" + "\n".join(lines), "utf-8")
    return path


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle_of_an_import_leaves_the_study_as_it_was(at: At, tmp_path: Path) -> None:
    study = at("empty")
    before = sha256(study)
    corpus = long_corpus(tmp_path / "c.csv")
    limit = study.stat().st_size + 1_000_000
    run = subprocess.run(
        [sys.executable, *FCPAIR, "import", str(corpus), "--study", str(study)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert run.returncode == 2
    assert f"{study}: the disk" in run.stderr
    assert "Traceback" not in run.stderr
    assert sha256(study) == before
    assert (
        subprocess.run([sys.executable, "-m", "fcpair", "import", corpus, "--study", study], check=False).returncode
        == 0
    )


def test_a_disk_that_is_full_when_a_result_is_written_leaves_the_older_result(at: At, tmp_path: Path) -> None:
    study = at("checked")
    out = tmp_path / "bronze.csv"
    out.write_text("mine")
    before = sha256(study)
    run = subprocess.run(
        [sys.executable, *FCPAIR, "partition", "--tier", "bronze", "--out", str(out), "--study", str(study)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert out.read_text() == "mine"
    assert sha256(study) == before
    assert not list(tmp_path.glob(".*"))


def test_two_imports_at_once_do_not_mix(tmp_path: Path, at: At) -> None:
    study = at("empty")
    corpus = write_corpus(tmp_path / "c.csv")
    command = [sys.executable, *FCPAIR, "import", str(corpus), "--study", str(study)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    outcomes = sorted((process.wait(), process.communicate()[1]) for process in both)
    assert [code for code, _ in outcomes] == [0, 2]
    assert b"`--redo` would discard 21 corpus rows" in outcomes[1][1]

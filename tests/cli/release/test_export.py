"""`fcpair export` as it is typed: what it prints and writes, on the small study and on FC-CONAN."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from steps.small import dump

from cli.conftest import Fcpair
from fcpair.cli import main
from fcpair.files.tables.tabular import read_table
from fcpair.steps.release.export import NO_CORPUS

At = Callable[[str], Path]
COMMANDS = {
    "qrels": "--tier silver",
    "beir": "--tier silver",
    "hf": "",
    "triplets": "--tier bronze --test-share 0.5",
    "pairs": "--tier bronze --test-share 0.5",
    "preferences": "--tier bronze --test-share 0.5",
    "corpus": "--without bronze",
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_it_writes_and_says_what(at: At, fcpair: Fcpair, here: Path, kind: str) -> None:
    at("checked")
    result = fcpair("export", kind, *COMMANDS[kind].split(), "--out", "out.csv")
    assert result.stdout.startswith("export: ")
    assert [one.name for one in here.iterdir()] == ["out.csv"]


def test_the_line_says_how_many_pairs_have_each_grade(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    said = fcpair("export", "qrels", "--tier", "silver", "--out", "silver.qrels").stdout
    grades = [line.split()[3] for line in (here / "silver.qrels").read_text().splitlines()]
    shown = ", ".join(f"{one}: {grades.count(one)}" for one in sorted(set(grades)))
    assert f"{len(grades)} pairs of " in said
    assert f"grades: {shown}; sha256: " in said


def test_binary_grades_are_1_and_0(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    fcpair("export", "qrels", "--tier", "silver", "--binary", "--out", "silver.qrels")
    assert {line.split()[3] for line in (here / "silver.qrels").read_text().splitlines()} == {"0", "1"}


def test_hs_that_gave_no_triplet_are_printed(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    said = fcpair("export", "triplets", *COMMANDS["triplets"].split(), "--out", "t").stdout
    assert "without positive" not in said


@pytest.mark.parametrize("kind", COMMANDS)
def test_what_rests_on_simulated_people_says_so(at: At, fcpair: Fcpair, here: Path, kind: str) -> None:
    at("dealt")
    fcpair("simulate")
    fcpair("adjudicate", "--policy", "majority")
    fcpair("validate", "assign", "--validators", "2")
    fcpair("simulate")
    result = fcpair("export", kind, *COMMANDS[kind].split(), "--out", "out.csv")
    assert "SIMULATED" in result.stderr
    if kind == "hf":
        assert "SIMULATED" in (here / "out.csv" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("kind", COMMANDS)
def test_an_empty_tier_ends_with_2_and_writes_nothing(at: At, fcpair: Fcpair, here: Path, kind: str) -> None:
    study = at("decided")
    before = dump(study)
    result = fcpair("export", kind, *COMMANDS[kind].split(), "--out", "out.csv", code=2)
    assert (
        "is empty: no pair is in it yet, so nothing was written; `fcpair partition` shows every tier" in result.stderr
    )
    assert list(here.iterdir()) == []
    assert dump(study) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("qrels --tier silver --pool nowhere.csv --out q", "--pool nowhere.csv: there is no such file"),
        ("beir --tier silver --out none/b", "there is no folder none"),
        ("pairs --tier silver --test-share 0.01 --out p", "of 4 HS leaves the test side empty; name a larger one"),
        ("pairs --tier silver --test-share 1 --out p", "Invalid value for '--test-share'"),
        ("triplets --tier silver --negatives 0 --out t", "Invalid value for '--negatives'"),
        ("preferences --tier silver --seed -1 --out t", "Invalid value for '--seed'"),
        ("corpus --without bronze --out train.txt", "expected a name that ends in .csv, .jsonl, .parquet"),
        ("qrels --tier bronze", "Missing option '--out'"),
        ("qrels --out q", "Missing option '--tier'"),
        ("corpus --out c.csv --pool all", "--pool has no effect without --without"),
    ],
)
def test_bad_input_ends_with_2_and_changes_nothing(at: At, fcpair: Fcpair, here: Path, words: str, said: str) -> None:
    study = at("checked")
    before = dump(study)
    assert said in fcpair("export", *words.split(), code=2).stderr
    assert list(here.iterdir()) == []
    assert dump(study) == before


def call(line: str) -> Result:
    return CliRunner().invoke(main, shlex.split(line))


def run(line: str) -> str:
    result = call(line)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def conan(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a study that has both CONAN and FC-CONAN's labels, made by the lines of the message."""
    folder = tmp_path_factory.mktemp("conan")
    for name in ("conan/CONAN.csv", "fc-conan/bronze_partition_df.csv", "fc-conan/recommender/fc_conan_bronze_hs.csv"):
        shutil.copy(data / name, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in NO_CORPUS.splitlines()[1:]:
            run(line.strip().removeprefix("fcpair "))
        yield folder


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(("pool", "rows"), [("positive", 3119), ("judged", 3029)])
def test_fc_conan_s_training_corpora_have_their_published_sizes(conan: Path, pool: str, rows: int) -> None:
    out = f"{pool}.csv"
    said = run(f"export corpus --study OTHER.db --without bronze --pool {pool} --out {out}")
    assert said.startswith(f"export: {rows:,} of 3,864 rows were written; 45 HS were left out; ")
    assert len(read_table(conan / out)) == rows


@pytest.mark.slow
@pytest.mark.torch
def test_fc_conan_s_released_training_corpus_is_written_row_for_row(conan: Path, data: Path) -> None:
    run("export corpus --study OTHER.db --without bronze --pool positive --out train.csv")
    ours = read_table(conan / "train.csv")
    theirs = read_table(data / "fc-conan" / "recommender" / "conan_not_in_bronze_train_df.csv", verbatim=True)
    theirs = theirs.rename(columns={"hateSpeech": "hs", "counterSpeech": "cn"})
    same = ["hs", "cn", "cn_id", "hsType", "hsSubType", "cnType", "gender", "educationLevel"]
    assert ours[same].to_numpy().tolist() == theirs[same].to_numpy().tolist()
    assert ours["age"].astype(float).tolist() == theirs["age"].astype(float).tolist()  # theirs are written as 61.0


@pytest.mark.slow
@pytest.mark.torch
def test_the_written_corpus_is_imported_by_another_study(conan: Path) -> None:
    run("export corpus --study OTHER.db --without bronze --pool positive --out again.csv")
    run("init --study again.db")
    assert run("import again.csv --study again.db").startswith("import: 3,119 rows were imported: 363 HS and ")


@pytest.mark.slow
@pytest.mark.torch
def test_a_study_of_published_labels_alone_gives_qrels_but_no_corpus(conan: Path) -> None:
    run("init --study published.db")
    run("labels import bronze_partition_df.csv --reader fc-conan --study published.db")
    said = run("export qrels --tier silver --out silver.qrels --study published.db")
    assert "3,580 pairs of 45 HS and 130 CNs were written; " in said
    assert len((conan / "silver.qrels").read_text().splitlines()) == 3580
    result = call("export corpus --without bronze --out c.csv --study published.db")
    assert result.exit_code == 2
    assert result.stderr == f"Error: {NO_CORPUS}\n"

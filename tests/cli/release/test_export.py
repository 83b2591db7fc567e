"""`fcpair export` as it is typed: what it prints and writes, on the small study and on FC-CONAN."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from steps.small import dump

from cli.conftest import At, Fcpair
from fcpair.cli import main
from fcpair.files.tables.tabular import read_table
from fcpair.steps.release.export import NO_CORPUS

COMMANDS = {
    "qrels": "--tier silver",
    "beir": "--tier silver",
    "hf": "",
    "triplets": "--tier bronze --test-share 0.5",
    "pairs": "--tier bronze --test-share 0.5",
    "preferences": "--tier bronze --test-share 0.5",
    "corpus": "--without bronze",
}


def test_it_writes_one_file_or_folder_and_says_what(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    for kind, options in COMMANDS.items():
        printed = fcpair("export", kind, *options.split(), "--out", f"{kind}.csv").stdout
        assert printed.startswith("export: ")
        assert "without positive" not in printed
        assert [path.name for path in here.iterdir()] == [f"{kind}.csv"]
        (here / f"{kind}.csv").rename(here.parent / f"{kind}.csv")
    printed = fcpair("export", "qrels", "--tier", "silver", "--out", "silver.qrels").stdout
    grades = [line.split()[3] for line in (here / "silver.qrels").read_text().splitlines()]
    counted = ", ".join(f"{grade}: {grades.count(grade)}" for grade in sorted(set(grades)))
    assert f"{len(grades)} pairs of " in printed
    assert f"grades: {counted}; ids: hs: study, cn: study; sha256: " in printed
    fcpair("export", "qrels", "--tier", "silver", "--binary", "--out", "binary.qrels")
    assert {line.split()[3] for line in (here / "binary.qrels").read_text().splitlines()} == {"0", "1"}


def test_what_rests_on_simulated_people_says_so(at: At, fcpair: Fcpair, here: Path) -> None:
    at("dealt")
    fcpair("simulate")
    fcpair("adjudicate", "--policy", "majority")
    fcpair("validate", "assign", "--validators", "2")
    fcpair("simulate")
    for kind, options in COMMANDS.items():
        assert "SIMULATED" in fcpair("export", kind, *options.split(), "--out", f"{kind}.csv").stderr
    assert "SIMULATED" in (here / "hf.csv" / "README.md").read_text("utf-8")


BAD_INPUT = {
    "qrels --tier silver --pool nowhere.csv --out q": "--pool nowhere.csv: there is no such file",
    "beir --tier silver --out none/b": "there is no folder none",
    "pairs --tier silver --test-share 0.01 --out p": "of 4 HS leaves the test side empty; name a larger one",
    "pairs --tier silver --test-share 1 --out p": "Invalid value for '--test-share'",
    "triplets --tier silver --negatives 0 --out t": "Invalid value for '--negatives'",
    "preferences --tier silver --seed -1 --out t": "Invalid value for '--seed'",
    "corpus --without bronze --out train.txt": "expected a name that ends in .csv, .jsonl, .parquet",
    "qrels --tier bronze": "Missing option '--out'",
    "qrels --out q": "Missing option '--tier'",
    "corpus --out c.csv --pool all": "--pool has no effect without --without",
}
EMPTY = "is empty: no pair is in it yet, so nothing was written; `fcpair partition` shows every tier"


def test_bad_input_and_an_empty_tier_write_and_change_nothing(at: At, fcpair: Fcpair, here: Path) -> None:
    empty = {f"{kind} {options} --out out.csv": EMPTY for kind, options in COMMANDS.items()}
    for stage, calls in (("checked", BAD_INPUT), ("decided", empty)):
        study = at(stage)
        before = dump(study)
        for words, message in calls.items():
            assert message in fcpair.refusal("export", *words.split())
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
def test_fc_conan_s_released_training_corpus_is_written_row_for_row(conan: Path, data: Path) -> None:
    """In its published sizes; what is written is imported by another study."""
    for pool, rows in (("positive", 3119), ("judged", 3029)):
        printed = run(f"export corpus --study OTHER.db --without bronze --pool {pool} --out {pool}.csv")
        assert printed.startswith(f"export: {rows:,} of 3,864 rows were written; 45 HS were left out; ")
        assert len(read_table(conan / f"{pool}.csv")) == rows
    ours = read_table(conan / "positive.csv")
    theirs = read_table(data / "fc-conan" / "recommender" / "conan_not_in_bronze_train_df.csv", verbatim=True)
    theirs = theirs.rename(columns={"hateSpeech": "hs", "counterSpeech": "cn"})
    same = ["hs", "cn", "cn_id", "hsType", "hsSubType", "cnType", "gender", "educationLevel"]
    assert ours[same].to_numpy().tolist() == theirs[same].to_numpy().tolist()
    assert ours["age"].astype(float).tolist() == theirs["age"].astype(float).tolist()  # theirs are written as 61.0
    run("init --study again.db")
    assert run("import positive.csv --study again.db").startswith("import: 3,119 rows were imported: 363 HS and ")


@pytest.mark.slow
@pytest.mark.torch
def test_a_study_of_published_labels_alone_gives_qrels_but_no_corpus(conan: Path) -> None:
    run("init --study published.db")
    run("labels import bronze_partition_df.csv --reader fc-conan --study published.db")
    printed = run("export qrels --tier silver --out silver.qrels --study published.db")
    assert "3,580 pairs of 45 HS and 130 CNs were written; " in printed
    assert len((conan / "silver.qrels").read_text().splitlines()) == 3580
    result = call("export corpus --without bronze --out c.csv --study published.db")
    assert result.exit_code == 2
    assert result.stderr == f"Error: {NO_CORPUS}\n"

"""A study as a library has it: opened or made, closed at the end of a block, and opened twice."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import fcpair
from fcpair.errors import InputError, StudyError
from fcpair.records import Role
from fcpair.study import Study

pytestmark = pytest.mark.files

EXTRAS = (
    "crowdkit",
    "dask",
    "distributed",
    "fastapi",
    "itsdangerous",
    "markdown_it",
    "mixedlm",
    "onnx",
    "psycopg",
    "uvicorn",
)
WITHOUT_EXTRAS = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))
import pandas as pd, fcpair
with fcpair.Study.create(sys.argv[1] + "/study.db") as study:
    study.import_corpus(pd.DataFrame({{"hs": ["a", "b"], "cn": ["c", "d"]}}))
    study.grid().select(hs=1)
    study.report(sys.argv[1] + "/report.html")
    study.work_queue(about="Tea.")
    study._repr_html_()
"""
WITHOUT_POSTGRES = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))
import fcpair
fcpair.Study("postgresql+psycopg://ana@127.0.0.1/study")
"""


def test_a_study_is_made_with_a_grid(tmp_path: Path) -> None:
    study = fcpair.Study.create(tmp_path / "study.db")
    assert study.grids == ["main"]
    assert Study.exists(tmp_path / "study.db")


def test_a_study_is_opened_where_there_is_one(tmp_path: Path) -> None:
    Study.create(tmp_path / "study.db", title="Tea").close()
    assert Study(str(tmp_path / "study.db")).facts["title"] == "Tea"


def test_what_is_no_study_is_neither_opened_nor_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("my notes", "utf-8")
    with pytest.raises(StudyError, match=r"notes\.txt is not a study"):
        Study(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text("utf-8") == "my notes"


def test_create_refuses_a_study_that_is_there(tmp_path: Path) -> None:
    Study.create(tmp_path / "study.db").close()
    with pytest.raises(StudyError, match="already"):
        Study.create(tmp_path / "study.db")


def test_a_name_that_is_mistyped_makes_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"there is no study at .*study\.db; .*`Study\.create` makes one"):
        Study(tmp_path / "study.db")
    assert not list(tmp_path.iterdir())


def test_a_block_closes_the_study_at_its_end(tmp_path: Path) -> None:
    with Study.create(tmp_path / "study.db") as study:
        study.share()
        study.add_people(["ana"], Role.ANNOTATOR)
        assert len(list(tmp_path.iterdir())) > 1  # the log of a study that is served
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_a_block_that_fails_closes_the_study_too(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Study.create(tmp_path / "study.db") as study:
        study.share()
        study.add_people(["ana"], Role.ANNOTATOR)
        1 / 0  # noqa: B018
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_a_study_opened_twice_in_one_process_is_one_study(tmp_path: Path) -> None:
    """What either writes, the other sees, and writes on."""
    first, second = Study.create(tmp_path / "study.db"), Study(tmp_path / "study.db")
    first.add_people(["ana"], Role.ANNOTATOR)
    second.add_people(["ben"], Role.ANNOTATOR)
    assert [person.name for person in first.people] == [person.name for person in second.people] == ["ana", "ben"]


def test_a_study_opened_twice_may_be_closed_by_one(tmp_path: Path) -> None:
    first, second = Study.create(tmp_path / "study.db"), Study(tmp_path / "study.db")
    second.share()
    first.close()
    second.add_people(["ana"], Role.ANNOTATOR)
    second.close()
    assert [person.name for person in Study(tmp_path / "study.db").people] == ["ana"]


def test_the_version_is_that_of_the_package() -> None:
    assert fcpair.__version__ == version("fcpair")


def test_the_package_lists_what_its_users_need_and_no_imports() -> None:
    assert dir(fcpair) == ["Grid", "Study", "__version__", "evaluate"]
    assert all(hasattr(fcpair, name) for name in dir(fcpair))


def test_what_the_package_does_not_have_is_missed() -> None:
    with pytest.raises(AttributeError, match="module 'fcpair' has no attribute 'Studdy'"):
        fcpair.Studdy  # noqa: B018


@pytest.mark.parametrize("name", ["report.pdf", "report"])
def test_a_report_of_another_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"expected a name that ends in \.html or \.htm"):
        Study.create(tmp_path / "study.db").report(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_report_takes_the_rules_by_keyword(tmp_path: Path) -> None:
    path = Study.create(tmp_path / "study.db").report(tmp_path / "report.html", diamond="majority", level=0.9)
    assert path.read_text("utf-8").startswith("<!")


def test_a_study_on_a_server_names_the_extra_that_it_needs() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_POSTGRES], capture_output=True, text=True, check=False)
    said = "MissingExtraError: a study in PostgreSQL needs psycopg; install with `pip install 'fcpair[postgres]'`"
    assert said in done.stderr


def test_a_python_without_extras_does_all_that_needs_none(tmp_path: Path) -> None:
    """As in a notebook: what serves pages, runs on a cluster or on a server is not there."""
    subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT_EXTRAS, str(tmp_path)], check=True)

"""The guidelines: how long they may be, whichever way they come."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from fcpair.cli import main
from fcpair.errors import ConflictError, InputError
from fcpair.params import Setup
from fcpair.records import Role
from fcpair.study import Study

MOST = 2 * 1024 * 1024
SAID = "the guidelines have 2,097,154 bytes (as UTF-8); the limit is 2,097,152"


@pytest.fixture
def too_long(tmp_path: Path) -> Path:
    path = tmp_path / "guidelines.md"
    path.write_text("ن" * (MOST // 2 + 1), "utf-8")
    return path


def test_a_file_may_have_2_mib(tmp_path: Path) -> None:
    path = tmp_path / "guidelines.md"
    path.write_text("ن" * (MOST // 2), "utf-8")
    study = Study.create(tmp_path / "study.db", Setup(guidelines=path))
    assert study.guidelines == (1, "ن" * (MOST // 2))
    study.close()


def test_a_longer_one_is_refused_and_no_study_is_left(tmp_path: Path, too_long: Path) -> None:
    result = CliRunner().invoke(main, ["init", "--study", str(tmp_path / "study.db"), "--guidelines", str(too_long)])
    assert result.exit_code == 2
    assert SAID in " ".join(result.stderr.split())
    assert os.listdir(tmp_path) == ["guidelines.md"]


def test_so_is_a_new_version(tmp_path: Path, too_long: Path) -> None:
    study = Study.create(tmp_path / "study.db")
    study.add_people(["lea"], Role.LEAD)
    with pytest.raises(InputError, match="the limit is 2,097,152"):
        study.edit_guidelines(too_long.read_text("utf-8"), by="lea")
    study.edit_guidelines("x" * MOST, by="lea")
    assert len(study.guidelines[1]) == MOST
    study.close()


@pytest.mark.server
def test_of_two_who_edit_one_version_the_second_is_told_however_close_they_are(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db")
    study.add_people(["lea"], Role.LEAD)
    study.edit_guidelines("Mine.", by="lea", seen=1)
    with pytest.raises(ConflictError, match="version 2 is current now"):
        study.edit_guidelines("Yours.", by="lea", seen=1)
    study.close()

"""The guidelines: how long they may be, whichever way they come."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from fcpair.cli import main
from fcpair.errors import ConflictError, InputError
from fcpair.params import Setup
from fcpair.records import Role
from fcpair.study import Study
from steps.online import at_desk, give

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


def test_readers_have_the_versions_that_they_were_shown(at: Callable[[str], Study]) -> None:
    study = at("dealt")
    study.add_people(["lea"], Role.LEAD)
    study.add_people(["judy"], Role.ADJUDICATOR)
    token = study.access.invite("ben")
    visitor = study.access.by_token(token)
    assert visitor is not None
    study.access.consent(visitor.id, {})
    give(*at_desk(study, "ana"), "appropriate")
    study.edit_guidelines("Be kind.", by="lea")
    cleo = at_desk(study, "cleo")
    give(*cleo, "appropriate")
    give(*cleo, "appropriate")
    readers = {one.name: (one.at_consent, one.answered, one.n_answers, one.newest) for one in study.guideline_readers()}
    assert readers["ana"][1:] == (1, 1, 1)
    assert readers["ben"] == (1, None, 0, 1)
    assert readers["cleo"][1:] == (2, 2, 2)
    assert readers["judy"] == (None, None, 0, None)
    assert "lea" not in readers
    study.close()

"""What is kept between runs: where, whole or not at all, and never worth an error."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import pytest

from fcpair.models.cache import cache_folder, read_record, write_part, write_record


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("FCPAIR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "fcpair"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "fcpair"


def test_a_record_comes_back_and_leaves_nothing_else(tmp_path: Path) -> None:
    write_record(tmp_path / "ab" / "r.json", {"answer": "é", "asked": {"n": 1}})
    assert read_record(tmp_path / "ab" / "r.json") == {"answer": "é", "asked": {"n": 1}}
    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["r.json"]


def test_what_was_never_kept_is_nothing_and_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert read_record(tmp_path / "r.json") is None
    assert not caplog.records


@pytest.mark.parametrize("damage", [b"", b'{"answer": ', b"[1]", b"\xff", b"[" * 100_000])
def test_a_damaged_record_is_nothing_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    (tmp_path / "r.json").write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        assert read_record(tmp_path / "r.json") is None
    assert "cannot be read" in caplog.text


def test_a_record_that_cannot_be_kept_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        write_record(tmp_path / "file" / "r.json", {})
    assert "cannot be kept" in caplog.text


def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write_record(tmp_path / "answers" / "one.json", {"asked": "a text"})
        part = write_part(tmp_path, ["ab" * 32], np.zeros((1, 3)))
    finally:
        os.umask(old)
    for kept in (tmp_path / "answers" / "one.json", part):
        assert kept.stat().st_mode & 0o777 == 0o600

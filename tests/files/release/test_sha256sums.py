"""SHA256SUMS: whatever differs in a folder is found, and `sha256sum` reads the list."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.files.tables.folders import SUMS, check_folder, write_sums

FILES = {"README.md": b"# A card\n", "data/gold.csv": b"pair\n1\n", "data/x y.csv": b"", ".zenodo.json": b"{}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path / "v1")


def made(folder: Path) -> Path:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    write_sums(folder)
    return folder


def test_a_folder_as_it_was_written_has_nothing_wrong(folder: Path) -> None:
    check = check_folder(folder)
    assert (check.n_files, check.faults) == (4, ())
    assert check.digest == hashlib.sha256((folder / SUMS).read_bytes()).hexdigest()


@pytest.mark.skipif(which("sha256sum") is None, reason="sha256sum is not installed")
def test_sha256sum_agrees(folder: Path) -> None:
    subprocess.run(["sha256sum", "-c", "--strict", SUMS], cwd=folder, check=True, capture_output=True)


@given(data=st.data())
def test_a_flipped_bit_anywhere_is_found(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = made(tmp_path_factory.mktemp("flip") / "v1")
    name = data.draw(st.sampled_from([name for name, content in FILES.items() if content] + [SUMS]))
    content = bytearray((folder / name).read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (folder / name).write_bytes(content)
    assert check_folder(folder).faults


def test_each_kind_of_change_is_named(folder: Path) -> None:
    (folder / "README.md").unlink()
    (folder / "data" / "more.csv").write_text("x")
    (folder / "data" / "gold.csv").write_text("pair\n2\n")
    (folder / "empty").mkdir()
    (folder / "link.csv").symlink_to(folder / "data" / "x y.csv")
    assert set(check_folder(folder).faults) == {
        "README.md is missing",
        "data/more.csv is not listed in SHA256SUMS",
        "data/gold.csv was changed",
        "empty is an empty folder, and no file",
        "link.csv is a link, and no file",
    }


def test_a_file_that_became_a_link_to_the_same_bytes_is_found(folder: Path, tmp_path: Path) -> None:
    (folder / "data" / "gold.csv").rename(tmp_path / "gold.csv")
    (folder / "data" / "gold.csv").symlink_to(tmp_path / "gold.csv")
    assert "data/gold.csv is a link, and no file" in check_folder(folder).faults


def test_a_list_that_is_missing_or_a_link_is_found(folder: Path, tmp_path: Path) -> None:
    (folder / SUMS).rename(tmp_path / SUMS)
    assert check_folder(folder).faults == ("SHA256SUMS is missing, which lists the files",)
    (folder / SUMS).symlink_to(tmp_path / SUMS)
    assert "SHA256SUMS is a link, and no file" in check_folder(folder).faults


def test_a_list_cannot_name_a_file_outside_the_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    with (folder / SUMS).open("a") as file:
        file.write(f"{hashlib.sha256(b'x').hexdigest()}  ../secret\n")
    assert "../secret is missing" in check_folder(folder).faults


def test_a_name_that_would_forge_a_line_or_fill_the_screen_is_shown_in_short(folder: Path) -> None:
    (folder / "a\nv1: 4 files, as it was written\x1b[2J\u202e").write_bytes(b"")
    with (folder / SUMS).open("a") as file:
        file.write(f"{'0' * 64}  {'x' * 1_000_000}\n")
    faults = check_folder(folder).faults
    assert f"{'x' * 200}... is missing" in faults
    assert r"a\nv1: 4 files, as it was written\x1b[2J\u202e is not listed in SHA256SUMS" in faults
    assert all(fault.isprintable() for fault in faults)

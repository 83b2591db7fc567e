"""A folder appears whole or not at all, nothing that stands there is lost, and SHA256SUMS finds whatever differs."""

from __future__ import annotations

import hashlib
import subprocess
from errno import ENOSPC
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.files.tables.folders import SUMS, check_folder, make_writable_folder, new_folder, replace_file, write_sums


def fill(path: Path) -> None:
    with new_folder(path) as folder:
        (folder / "data").mkdir()
        (folder / "data" / "a.txt").write_text("a")


@pytest.mark.parametrize("name", ["out", "\N{GRINNING FACE}" * 63])
def test_what_a_kill_would_leave_says_which_folder_it_was_to_be(tmp_path: Path, name: str) -> None:
    with new_folder(tmp_path / name) as folder:
        assert folder.name.startswith(f".{name[:40]}.unfinished-")
        assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("exists", [False, True])
def test_a_new_folder_or_an_empty_one_is_filled_with_the_rights_of_any_other(tmp_path: Path, exists: bool) -> None:
    path = tmp_path / "out"
    if exists:
        path.mkdir()
    fill(path)
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    assert (path / "data" / "a.txt").read_text() == "a"
    (tmp_path / "other").mkdir()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no room"), new_folder(tmp_path / "out") as folder:
        (folder / "a.txt").write_text("half")
        raise RuntimeError("no room")
    assert list(tmp_path.iterdir()) == []


def test_what_stands_in_the_place_of_a_folder_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, message in {
        "out": r"out: this folder is not empty.*name a new one",
        "file": "is a file; name a folder",
        "loop": "loop: is a link that leads nowhere; name a folder",
        "none/out": r"there is no folder .*none; make it first",
    }.items():
        with pytest.raises(InputError, match=message):
            fill(tmp_path / name)
    with pytest.raises(InputError, match=r"nothing can be written there \(Not a directory\); name another folder"):
        make_writable_folder(tmp_path / "file" / "b")
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")) == ["file", "loop", "out", "out/mine"]
    assert (tmp_path / "file").read_text() == "mine"
    assert (tmp_path / "loop").is_symlink()


def test_a_folder_is_made_ready_with_those_around_it(tmp_path: Path) -> None:
    for _ in range(2):
        make_writable_folder(tmp_path / "a" / "b")
    assert [str(one.relative_to(tmp_path)) for one in sorted(tmp_path.rglob("*"))] == ["a", "a/b"]


def test_a_disk_that_is_full_is_told_of_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    for path, writing in ((tmp_path / "a.csv", replace_file), (tmp_path / "out", new_folder)):
        with pytest.raises(OSError, match=f"No space left on device: '{path}'$"), writing(path):
            # as pyarrow says it: no file is named, and the number stands within the words
            raise OSError(ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_file_takes_the_place_of_a_link_to_itself(tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with replace_file(loop) as path:
        path.write_text("a\n")
    assert loop.read_text() == "a\n"
    assert list(tmp_path.iterdir()) == [loop]


# -- SHA256SUMS

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
    digest, n_files, faults = check_folder(folder)
    assert (n_files, faults) == (4, ())
    assert digest == hashlib.sha256((folder / SUMS).read_bytes()).hexdigest()


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
    assert check_folder(folder)[2]


def test_each_kind_of_change_is_named(folder: Path) -> None:
    (folder / "README.md").unlink()
    (folder / "data" / "more.csv").write_text("x")
    (folder / "data" / "gold.csv").write_text("pair\n2\n")
    (folder / "empty").mkdir()
    (folder / "link.csv").symlink_to(folder / "data" / "x y.csv")
    assert set(check_folder(folder)[2]) == {
        "README.md is missing",
        "data/more.csv is not listed in SHA256SUMS",
        "data/gold.csv was changed",
        "empty is an empty folder, and no file",
        "link.csv is a link, and no file",
    }


def test_a_link_is_no_file_though_it_leads_to_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    (folder / "data" / "gold.csv").rename(tmp_path / "gold.csv")
    (folder / "data" / "gold.csv").symlink_to(tmp_path / "gold.csv")
    assert "data/gold.csv is a link, and no file" in check_folder(folder)[2]
    folder = made(tmp_path / "v2")
    (folder / SUMS).rename(tmp_path / SUMS)
    assert check_folder(folder)[2] == ("SHA256SUMS is missing, which lists the files",)
    (folder / SUMS).symlink_to(tmp_path / SUMS)
    assert "SHA256SUMS is a link, and no file" in check_folder(folder)[2]


def test_a_list_names_no_file_outside_the_folder_and_forges_no_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (folder / "a\nv1: 4 files, as it was written\x1b[2J\u202e").write_bytes(b"")
    with (folder / SUMS).open("a") as file:
        file.write(f"{hashlib.sha256(b'x').hexdigest()}  ../secret\n")
        file.write(f"{'0' * 64}  {'x' * 1_000_000}\n")
    faults = check_folder(folder)[2]
    assert "../secret is missing" in faults
    assert f"{'x' * 200}... is missing" in faults
    assert r"a\nv1: 4 files, as it was written\x1b[2J\u202e is not listed in SHA256SUMS" in faults
    assert all(fault.isprintable() for fault in faults)

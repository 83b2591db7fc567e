"""A folder appears whole or not at all, and nothing that stands there is lost."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.tables.folders import make_writable_folder, new_folder, replace_file


def fill(path: Path) -> None:
    with new_folder(path) as folder:
        (folder / "data").mkdir()
        (folder / "data" / "a.txt").write_text("a")


@pytest.mark.parametrize("name", ["out", "\N{GRINNING FACE}" * 63])
def test_what_a_kill_would_leave_says_which_folder_it_was_to_be(tmp_path: Path, name: str) -> None:
    with new_folder(tmp_path / name) as folder:
        assert folder.name.startswith(f".{name[:40]}.unfinished-")
        assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("there", [False, True])
def test_a_new_folder_or_an_empty_one_is_filled(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "out"
    if there:
        path.mkdir()
    fill(path)
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    assert (path / "data" / "a.txt").read_text() == "a"


def test_the_folder_has_the_rights_of_any_other(tmp_path: Path) -> None:
    fill(tmp_path / "out")
    (tmp_path / "other").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no room"), new_folder(tmp_path / "out") as folder:
        (folder / "a.txt").write_text("half")
        raise RuntimeError("no room")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with pytest.raises(InputError, match=r"out: this folder is not empty.*name a new one"):
        fill(tmp_path / "out")
    assert [str(one.relative_to(tmp_path)) for one in sorted(tmp_path.rglob("*"))] == ["out", "out/mine"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="is a file; name a folder"):
        fill(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_the_folder_around_it_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no folder .*none; make it first"):
        fill(tmp_path / "none" / "out")


def test_a_folder_is_made_ready_with_those_around_it(tmp_path: Path) -> None:
    for _ in range(2):
        make_writable_folder(tmp_path / "a" / "b")
    assert [str(one.relative_to(tmp_path)) for one in sorted(tmp_path.rglob("*"))] == ["a", "a/b"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(InputError, match=r"nothing can be written there \(Not a directory\); name another folder"):
        make_writable_folder(tmp_path / "a" / "b")


def full_disk() -> OSError:
    """As pyarrow says it: no file is named, and the number stands within the words."""
    return OSError(ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")


def test_a_disk_that_is_full_is_told_of_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    for path, writing in ((tmp_path / "a.csv", replace_file), (tmp_path / "out", new_folder)):
        with pytest.raises(OSError, match=f"No space left on device: '{path}'$"), writing(path):
            raise full_disk()
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="loop: is a link that leads nowhere; name a folder"), new_folder(loop):
        pass
    assert loop.is_symlink()


def test_a_file_takes_the_place_of_a_link_to_itself(tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with replace_file(loop) as path:
        path.write_text("a\n")
    assert loop.read_text() == "a\n"
    assert list(tmp_path.iterdir()) == [loop]

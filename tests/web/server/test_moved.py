"""What is acknowledged stays, whatever becomes of the study's file while it is served."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from awaited import until
from click.testing import CliRunner
from conftest import one_short
from steps.online import admit

from fcpair.cli import main
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.store.database.backends.sqlite import FILES
from fcpair.study import Study
from web.served import Served, serving

pytestmark = pytest.mark.slow

N = 40


@pytest.fixture
def place(files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study in a folder of its own; the server works in the folder around it, where nothing else is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "served").mkdir()
    return Path(shutil.copy(files["dealt"], tmp_path / "served" / "study.db"))


class Ana:
    """Somebody who gives answer after answer, changing their mind about one pair."""

    def __init__(self, place: Path) -> None:
        study = Study(place)
        visitor = admit(study, "ana")
        self.assignment_id = study.work_queue(Annotate()).tasks(visitor, 1)[0].assignment_id
        self.token = study.access.invite("ana")
        self.n = 0
        study.close()

    def answer(self, served: Served) -> int:
        """The status of the reply to one more answer."""
        self.n += 1
        body = {"request_id": f"request-{self.n:03}", "assignment_id": self.assignment_id, "answer": "appropriate"}
        return served.ask("/api/judgements", self.token, body)[0]


@pytest.fixture
def ana(place: Path) -> Ana:
    return Ana(place)


@pytest.fixture
def served(place: Path, ana: Ana, tmp_path: Path) -> Iterator[Served]:
    """A server that has acknowledged N answers; its output goes where the study is not."""
    with serving(place) as start:
        one = start()
        assert [ana.answer(one) for _ in range(N)] == [200] * N
        yield one


def n_answers(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(connection.execute("SELECT count(*) FROM judgement").fetchone()[0])


def terminate(served: Served) -> None:
    served.terminate()


def kill(served: Served) -> None:
    served.process.kill()
    served.process.wait()


def move(place: Path, to: Path, ends: tuple[str, ...]) -> Callable[[], None]:
    """Move the files that end so; returns what moves them back."""
    for end in ends:
        Path(f"{place}{end}").rename(f"{to}{end}")

    def back() -> None:
        for end in ends:
            if Path(f"{to}{end}").exists():
                Path(f"{to}{end}").rename(f"{place}{end}")

    return back


def rescued(folder: Path) -> list[Path]:
    return sorted(folder.glob("study-rescued-*.db"))


def wait_for_rescue(folder: Path, n: int = 1) -> None:
    """A copy is made while people are told that they cannot answer."""
    until(lambda: len(rescued(folder)) >= n)


def status(path: Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["status", "--study", str(path)])
    return result.exit_code, result.stderr


MOVED = {"alone": ("",), "with its log": ("", "-wal"), "with all": ("", "-wal", "-shm")}
ENDS = (terminate, kill, Served.end)
MOVED_AND_ENDED = [  # each way to move it, and each to end the server, is met by a short one
    pytest.param(ends, end, id=f"{end.__name__}-{name}", marks=[pytest.mark.long] * (n_moved != n_ended))
    for n_ended, end in enumerate(ENDS)
    for n_moved, (name, ends) in enumerate(MOVED.items())
]


@pytest.mark.parametrize(("ends", "end"), MOVED_AND_ENDED)
def test_a_file_that_is_moved_and_moved_back_has_every_answer(
    place: Path, served: Served, tmp_path: Path, ends: tuple[str, ...], end: Callable[[Served], object]
) -> None:
    back = move(place, tmp_path / "elsewhere.db", ends)
    end(served)
    assert not place.exists()
    back()
    assert status(place)[0] == 0
    assert n_answers(place) == N


def test_a_file_that_is_moved_back_while_it_is_served_takes_answers_again(
    place: Path, served: Served, ana: Ana, tmp_path: Path
) -> None:
    back = move(place, tmp_path / "elsewhere.db", ("", "-wal", "-shm"))
    assert ana.answer(served) == 503
    wait_for_rescue(place.parent)
    back()
    assert ana.answer(served) == 200
    again = move(place, tmp_path / "elsewhere.db", ("",))
    assert ana.answer(served) == 503
    terminate(served)
    again()
    assert n_answers(place) == N + 1
    assert sorted(n_answers(copy) for copy in rescued(place.parent)) == [N, N + 1]
    assert "is back" in served.output.read_text()


def test_a_log_that_is_taken_away_stops_answers_and_is_not_missed(
    place: Path, served: Served, ana: Ana, tmp_path: Path
) -> None:
    move(place, tmp_path / "elsewhere.db", ("-wal",))
    assert ana.answer(served) == 503
    terminate(served)
    assert n_answers(place) == N


def test_reading_stops_as_well_while_another_file_is_in_its_place(
    place: Path, served: Served, ana: Ana, files: dict[str, Path], tmp_path: Path
) -> None:
    move(place, tmp_path / "elsewhere.db", ("",))
    shutil.copy(files["dealt"], place)
    assert served.ask("/api/next", ana.token)[0] == 503


@pytest.mark.parametrize("noticed", [False, True])
def test_a_file_that_is_deleted_is_saved_beside_its_place(
    place: Path, served: Served, ana: Ana, *, noticed: bool
) -> None:
    for end in FILES:
        Path(f"{place}{end}").unlink(missing_ok=True)
    if noticed:
        assert [ana.answer(served) for _ in range(3)] == [503] * 3
        wait_for_rescue(place.parent)
        kill(served)
    else:
        terminate(served)
    (copy,) = rescued(place.parent)
    assert n_answers(copy) == N
    assert status(copy) == (0, "")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in place.parent.iterdir() if one.suffix != ".log"] == [copy.name]
    saved = r".*was moved, deleted or replaced.*saved.*|.*acknowledged are in.*"
    (message,) = re.findall(saved, served.output.read_text())
    assert str(copy) in message


@pytest.mark.parametrize("gone", one_short(shutil.rmtree, lambda folder: folder.rename(folder.with_name("renamed"))))
def test_what_has_lost_its_folder_is_saved_in_the_working_folder(
    place: Path, served: Served, tmp_path: Path, gone: Callable[[Path], object]
) -> None:
    gone(place.parent)
    terminate(served)
    (copy,) = rescued(tmp_path)
    assert n_answers(copy) == N
    renamed = tmp_path / "renamed" / "study.db"
    if renamed.exists():
        assert n_answers(renamed) == N


@pytest.mark.parametrize("end", one_short(terminate, kill))
def test_a_study_put_in_its_place_is_left_alone_and_refused(
    place: Path, served: Served, files: dict[str, Path], tmp_path: Path, end: Callable[[Served], None]
) -> None:
    back = move(place, tmp_path / "elsewhere.db", ("",))
    other = Path(shutil.copy(files["paired"], tmp_path / "other.db"))
    before = other.read_bytes()
    other.rename(place)
    end(served)
    assert place.read_bytes() == before
    code, said = status(place)
    assert (code, "a log beside it that belongs to another file" in said) == (2, True)
    assert place.read_bytes() == before
    back()
    assert status(place)[0] == 0
    assert n_answers(place) == N


def test_a_backup_copied_over_it_is_not_overwritten_by_the_log(
    place: Path, served: Served, ana: Ana, files: dict[str, Path]
) -> None:
    """Same file, other content: what was acknowledged cannot all be saved, but the backup can."""
    shutil.copyfile(files["dealt"], place)
    assert ana.answer(served) == 503
    terminate(served)
    assert place.read_bytes() == files["dealt"].read_bytes()
    assert Path(f"{place}-wal").stat().st_size > 0
    said = served.output.read_text()
    assert "written over" in said
    assert "All answers that were acknowledged" not in said
    assert "put the original back" not in said.lower()
    (copy,) = rescued(place.parent)
    assert f"`fcpair doctor --study {copy}`" in said
    code, said = status(place)
    assert (code, "a log beside it that belongs to another file" in said) == (2, True)
    for end in ("-wal", "-shm"):
        Path(f"{place}{end}").rename(f"{place}{end}.old")
    assert status(place)[0] == 0


def test_serve_refuses_what_status_refuses(place: Path, served: Served) -> None:
    kill(served)
    Path(f"{place}-wal").unlink()
    for command in ("serve", "status", "log"):
        result = CliRunner().invoke(main, [command, "--study", str(place)])
        assert (result.exit_code, "lacks its log" in result.stderr) == (2, True)


def test_the_files_of_a_study_are_for_its_owner_alone(place: Path, tmp_path: Path) -> None:
    study = Study.create(tmp_path / "new.db")
    study.share()
    study.edit_guidelines("x", by=study.add_people(["lea"], Role.LEAD)[0].name)
    rights = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.glob("new.db*")}
    study.close()
    assert rights == dict.fromkeys(("new.db", "new.db-wal", "new.db-shm"), 0o600)


def looked_at(place: Path, served: Served) -> str:
    """Have a lead look, which another process does; returns her token."""
    study = Study(place)
    study.add_people(["lea"], Role.LEAD)
    admit(study, "lea")
    token = study.access.invite("lea")
    study.close()
    assert served.ask("/lead", token)[0] == 200
    return token


def test_it_is_saved_once_though_another_process_looks(place: Path, served: Served, tmp_path: Path) -> None:
    token = looked_at(place, served)
    for end in FILES:
        Path(f"{place}{end}").unlink(missing_ok=True)
    assert [served.ask("/api/me", token)[0] for _ in range(3)] == [503] * 3
    assert served.ask("/lead", token)[0] == 503
    terminate(served)
    (copy,) = rescued(place.parent)
    assert n_answers(copy) == N


def test_it_is_one_file_again_though_another_process_looked(place: Path, served: Served) -> None:
    looked_at(place, served)
    terminate(served)
    assert sorted(one.name for one in place.parent.glob("study.db*")) == ["study.db"]
    assert n_answers(place) == N

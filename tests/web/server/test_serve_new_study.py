"""`fcpair serve` where there is no study yet: it makes an empty one, and prints a link for its lead."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest
from awaited import until
from click.testing import CliRunner, Result

from fcpair.cli import main
from fcpair.records import Role
from fcpair.study import Study
from web.served import Served, serving

LINK = re.compile(r"(http://\S+)/join#(\S+)")


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """What `serve` tells its app by the environment is not told to the tests after these."""
    with patch.dict(os.environ):
        yield


@pytest.fixture
def unserved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Runs the command in an empty folder, up to where it would serve."""
    monkeypatch.setattr("fcpair.cli.oversight.serve._serve_app", lambda listener: listener.close())
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["serve", *arguments])


def leads(path: Path) -> list[str]:
    with closing(Study(path)) as study:
        return [one.name for one in study.people if one.role is Role.LEAD]


def test_a_new_study_has_one_lead_whose_link_lets_in(unserved: Callable[..., Result], tmp_path: Path) -> None:
    result = unserved("--port", "0")
    assert result.exit_code == 0, result.output
    assert leads(tmp_path / "study.db") == ["lead"]
    (_, token), *others = LINK.findall(result.stdout)
    assert others == []
    assert "`fcpair people invite lead --study study.db`" in " ".join(result.stderr.split())
    with closing(Study(tmp_path / "study.db")) as study:
        visitor = study.access.by_token(token)
        assert visitor is not None
        assert (visitor.name, visitor.role) == ("lead", Role.LEAD)


def test_the_link_leads_to_where_people_reach_the_server(
    unserved: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCPAIR_URL", "https://labels.example.org")
    assert "https://labels.example.org/join#" in unserved("--port", "0").stdout


def test_a_new_path_in_a_folder_with_other_files_makes_a_study(unserved: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert unserved("--port", "0", "--study", "other.db").exit_code == 0
    assert leads(tmp_path / "other.db") == ["lead"]


def test_a_mistyped_study_beside_another_makes_none(unserved: Callable[..., Result], tmp_path: Path) -> None:
    Study.create(tmp_path / "study.db").close()
    result = unserved("--port", "0", "--study", "stduy.db")
    assert result.exit_code == 2
    assert "there is no study at stduy.db; `fcpair init` or `Study.create` makes one" in result.output
    assert not (tmp_path / "stduy.db").exists()


def test_a_study_of_any_name_is_served_as_it_is(unserved: Callable[..., Result], tmp_path: Path) -> None:
    Study.create(tmp_path / "mine.sqlite").close()
    assert unserved("--port", "0", "--study", "mine.sqlite").exit_code == 0
    assert leads(tmp_path / "mine.sqlite") == []


def test_serving_it_again_makes_no_other_lead_nor_link(unserved: Callable[..., Result], tmp_path: Path) -> None:
    unserved("--port", "0")
    again = unserved("--port", "0")
    assert again.exit_code == 0
    assert LINK.search(again.output) is None
    assert leads(tmp_path / "study.db") == ["lead"]


def test_a_study_without_a_lead_gets_none(unserved: Callable[..., Result], tmp_path: Path) -> None:
    Study.create(tmp_path / "study.db").close()
    assert unserved("--port", "0").exit_code == 0
    assert leads(tmp_path / "study.db") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--daily-limit", "0"),
        ("--host", "example..org"),
        ("--study", "nowhere/study.db"),
        ("--study", "postgresql+psycopg://nobody@127.0.0.1:1/nothing"),
    ],
)
def test_nothing_is_made_where_it_cannot_be_served(
    unserved: Callable[..., Result], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    assert unserved("--port", "0", *arguments).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_made_where_the_port_is_taken(unserved: Callable[..., Result], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        result = unserved("--port", str(listener.getsockname()[1]))
    assert (result.exit_code, "it is in use" in result.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_study_is_refused_and_left_alone(unserved: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "study.db").write_text("a letter")
    assert unserved("--port", "0").exit_code == 2
    assert (tmp_path / "study.db").read_text() == "a letter"


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Served]:
    """A server in an empty folder."""
    with serving(tmp_path / "study.db") as start:
        yield start()


def test_the_lead_comes_in_by_the_printed_link(started: Served) -> None:
    until(lambda: "Ctrl-C" in started.output.read_text())
    found = LINK.search(started.output.read_text())
    assert found
    assert found[1] == started.url
    assert started.ask("/lead", found[2])[0] == 200
    assert started.end() == 0

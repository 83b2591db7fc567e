"""`fcpair serve`, in a process of its own and up to where it would serve: starting, answering, logging, ending."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest
import uvicorn
from awaited import until
from click.testing import CliRunner, Result
from steps.online import admit

from fcpair.cli import main
from fcpair.cli.oversight import serve
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.steps.people.people import save_terms
from fcpair.study import Study
from fcpair.web.app import from_environment
from web.served import Served, serving

LINK = re.compile(r"(http://\S+)/join#(\S+)")
Start = Callable[..., Served]
Serve = Callable[..., Result]


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """What `serve` tells its app by the environment is not told to the tests after these."""
    with patch.dict(os.environ):
        yield


def invited(path: Path, name: str = "ana") -> str:
    with closing(Study(path)) as study:
        admit(study, name)
        return study.access.invite(name)


def test_it_serves_pages_and_the_api_and_ends_cleanly(path: Path, start: Start) -> None:
    token = invited(path)
    served = start()
    assert served.ask("/join")[0] == 200
    text = wait_for(served, "Ctrl-C")
    assert "fcpair people invite NAME" in text  # how people come in
    assert "TLS" not in text
    shown = json.loads(served.ask("/api/next", token)[1])["tasks"][0]
    body = {"request_id": "request-1", "assignment_id": shown["assignment_id"], "answer": "appropriate"}
    assert served.ask("/api/judgements", token, body)[0] == 200
    assert served.end() == 0
    assert "Traceback" not in served.output.read_text()
    assert sorted(file.name for file in path.parent.glob("study.db*")) == ["study.db"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM judgement").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.slow
def test_it_stays_small_and_prints_no_token(path: Path, start: Start) -> None:
    token = invited(path)
    served = start()
    assert served.ask("/join")[0] == 200
    for _ in range(50):
        assert served.ask("/api/next?n=5", token)[0] == 200
        assert served.ask("/annotate", token)[0] == 200
    assert resident_kb(served.process.pid) < 200_000
    for sent in (token, "wrong-token-1234"):
        served.ask("/api/me", sent)
        served.ask("/api/judgements", sent, {"token": sent})
        served.ask("/api/nowhere", sent)
    served.end()
    assert token not in served.output.read_text()
    assert "wrong-token" not in served.output.read_text()


def resident_kb(pid: int) -> int:
    resident = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert resident
    return int(resident[1])


@pytest.mark.slow
def test_the_options_are_the_terms_and_a_whole_network_is_warned_of(path: Path, start: Start) -> None:
    open_to_all = start("--host", "0.0.0.0")
    to_all = wait_for(open_to_all, "Ctrl-C")
    open_to_all.end()
    assert "TLS" in to_all
    assert "fcpair people add NAME --role annotator" in to_all  # before anybody is there
    token = invited(path)
    served = start("--daily-limit", "1", "--contact", "Dr Lee, نه 555", "--demographic", "Age: 18-29 | 30 or more")
    assert len(json.loads(served.ask("/api/next?n=5", token)[1])["tasks"]) == 1
    assert served.ask("/api/consent", token, {"demographics": {"Age": "18-29"}})[0] == 204
    assert "Dr Lee, نه 555" in served.ask("/settings", token)[1].decode() + served.ask("/annotate", token)[1].decode()


@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_is_not_lost_while_the_pages_are_loaded(monkeypatch: pytest.MonkeyPatch, again: bool) -> None:
    """As it would be where it is raised in a callback, of which imports have some: Python prints it and goes on. A
    second one ends at once what takes too long to load.
    """
    loaded = list[bool]()
    begun = list[object]()

    def load(_config: uvicorn.Config) -> None:
        module = ModuleType("loaded")
        _reference = weakref.ref(module, lambda _: signal.raise_signal(signal.SIGINT))
        del module
        if again:
            signal.raise_signal(signal.SIGINT)
        loaded.append(True)

    monkeypatch.setattr(uvicorn.Config, "load", load)
    monkeypatch.setattr(uvicorn.Server, "run", lambda _server, sockets: begun.append(sockets))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which is not that of a process of pytest-xdist
    try:
        serve._serve_app(serve._listen("127.0.0.1", 0))
        assert not begun
        assert bool(loaded) != again
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def wait_for(served: Served, words: str) -> str:
    until(lambda: words in served.output.read_text(), served.output.read_text)
    return served.output.read_text()


# Refused before anything is served


def refused(*arguments: str | Path) -> str:
    result = CliRunner().invoke(main, ["serve", *map(str, arguments)])
    assert result.exit_code == 2, result.output
    return result.output


def test_where_it_cannot_listen_or_has_no_study_is_told(path: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        message = refused("--study", path, "--port", port)
    assert f"cannot listen on port {port} of 127.0.0.1: it is in use" in message
    assert "--port" in message
    here = ("--study", path, "--port", "0")
    assert "cannot listen on port 0 of 192.0.2.1" in refused(*here, "--host", "192.0.2.1")
    for host in ("example..org", "a" * 64):
        assert f"`{host}` is neither a host name nor an address" in refused(*here, "--host", host)
    assert "no text of the study has metadata called `weather`" in refused(*here, "--opt-out", "weather")
    assert "there is no study" in refused("--study", tmp_path / "nowhere" / "nothing.db")


def test_without_the_extra_it_says_how_to_get_it_and_its_help_loads_none_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heavy = "{'fastapi', 'uvicorn', 'jinja2'}"
    code = f"import sys; from fcpair.cli.oversight.serve import serve; print(*{heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []
    for name in ("fastapi", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    message = refused("--study", path)
    assert "`serve` needs fastapi, uvicorn" in message
    assert "`pip install 'fcpair[web]'`" in message


@pytest.fixture
def unserved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Serve:
    """Runs the command, in a folder that is empty but for what a test puts there, up to where it would serve."""
    monkeypatch.setattr("fcpair.cli.oversight.serve._serve_app", lambda listener: listener.close())
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["serve", "--port", "0", *map(str, arguments)])


def test_terms_that_loosen_what_holds_are_refused_unless_that_is_meant(path: Path, unserved: Serve) -> None:
    with closing(Study(path)) as study:
        save_terms(study.grid(), Annotate(daily_limit=40, opt_out="hs_topic"))
    for option, value, message in (
        ("--daily-limit", "400", "`daily_limit` is 40 (given: 400)"),
        ("--opt-out", "cn_type", "`opt_out` is hs_topic (given: cn_type)"),
    ):
        result = unserved("--study", path, option, value)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
        assert unserved("--study", path, option, value, "--loosen").exit_code == 0
    tighter = ("--daily-limit", "20", "--total-limit", "100")
    assert unserved("--study", path, *tighter).exit_code == 0


def test_only_what_the_command_line_names_holds_whatever_the_study_says(path: Path, unserved: Serve) -> None:
    assert unserved("--study", path, "--contact", "Kim", "--demographic", "Age").exit_code == 0
    assert json.loads(os.environ["FCPAIR_ANNOTATE"]) == {"contact": "Kim", "demographics": ["Age"]}
    with closing(Study(path)) as study:
        study.save_terms(contact="Lee", pause_pairs=9)
    served = from_environment().state.context
    assert (served.annotate.contact, served.annotate.pause_pairs) == ("Kim", 9)
    served.study.close()


# Where there is no study yet it makes an empty one, and prints a link for its lead


def leads(path: Path) -> list[str]:
    with closing(Study(path)) as study:
        return [person.name for person in study.people if person.role is Role.LEAD]


def test_a_new_study_has_one_lead_whose_link_lets_in(unserved: Serve, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")  # a folder with other files will do
    result = unserved()
    assert result.exit_code == 0, result.output
    assert leads(tmp_path / "study.db") == ["lead"]
    (_, token), *others = LINK.findall(result.stdout)
    assert others == []
    assert "`fcpair people invite lead --study study.db`" in " ".join(result.stderr.split())
    with closing(Study(tmp_path / "study.db")) as study:
        visitor = study.access.by_token(token)
    assert visitor is not None
    assert (visitor.name, visitor.role) == ("lead", Role.LEAD)
    again = unserved()
    assert again.exit_code == 0
    assert LINK.search(again.output) is None
    assert leads(tmp_path / "study.db") == ["lead"]
    (tmp_path / "study.db").rename(tmp_path / "mine.sqlite")
    with patch.dict(os.environ, FCPAIR_URL="https://labels.example.org"):  # where people reach the server
        assert "https://labels.example.org/join#" in unserved("--study", "other.db").stdout
    assert leads(tmp_path / "other.db") == ["lead"]


def test_a_study_of_any_name_is_served_as_it_is_and_a_mistyped_one_is_not_made(unserved: Serve, tmp_path: Path) -> None:
    for name in ("study.db", "mine.sqlite"):
        Study.create(tmp_path / name).close()
        assert unserved("--study", name).exit_code == 0
        assert leads(tmp_path / name) == []
    result = unserved("--study", "stduy.db")
    assert result.exit_code == 2
    assert "there is no study at stduy.db; `fcpair init` or `Study.create` makes one" in result.output
    assert not (tmp_path / "stduy.db").exists()


def test_nothing_is_made_where_it_cannot_be_served(unserved: Serve, tmp_path: Path) -> None:
    for option, value in (
        ("--daily-limit", "0"),
        ("--host", "example..org"),
        ("--study", "nowhere/study.db"),
        ("--study", "postgresql+psycopg://nobody@127.0.0.1:1/nothing"),
    ):
        assert unserved(option, value).exit_code == 2
    with socket.create_server(("127.0.0.1", 0)) as listener:
        result = CliRunner().invoke(main, ["serve", "--port", str(listener.getsockname()[1])])
    assert (result.exit_code, "it is in use" in result.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "study.db").write_text("a letter")
    assert unserved().exit_code == 2
    assert (tmp_path / "study.db").read_text() == "a letter"


@pytest.mark.slow
def test_the_lead_comes_in_by_the_printed_link(tmp_path: Path) -> None:
    with serving(tmp_path / "study.db") as start:
        served = start()
        link = LINK.search(wait_for(served, "Ctrl-C"))
        assert link
        assert link[1] == served.url
        assert served.ask("/lead", link[2])[0] == 200
        assert served.end() == 0

"""`fcpair serve`, in a process of its own: starting, answering, logging, ending."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest
from awaited import until
from click.testing import CliRunner, Result
from steps.online import admit

from fcpair.cli import main
from fcpair.params import Annotate
from fcpair.steps.people import terms
from fcpair.study import Study
from fcpair.web.app import from_environment
from web.served import Served


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """What `serve` tells its app by the environment is not told to the tests after these."""
    with patch.dict(os.environ):
        yield


def invited(path: Path, name: str = "ana") -> str:
    study = Study(path)
    admit(study, name)
    token = study.access.invite(name)
    study.close()
    return token


def test_it_serves_pages_and_the_api_and_ends_cleanly(path: Path, start: Callable[..., Served]) -> None:
    token = invited(path)
    served = start()
    assert served.ask("/join")[0] == 200
    shown = json.loads(served.ask("/api/next", token)[1])["tasks"][0]
    body = {"request_id": "request-1", "assignment_id": shown["assignment_id"], "answer": "appropriate"}
    assert served.ask("/api/judgements", token, body)[0] == 200
    assert served.end() == 0
    assert "Traceback" not in served.output.read_text()
    assert sorted(one.name for one in path.parent.glob("study.db*")) == ["study.db"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM judgement").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.slow
def test_it_stays_small(path: Path, start: Callable[..., Served]) -> None:
    token = invited(path)
    served = start()
    assert served.ask("/join")[0] == 200
    for _ in range(50):
        assert served.ask("/api/next?n=5", token)[0] == 200
        assert served.ask("/annotate", token)[0] == 200
    assert resident_kb(served.process.pid) < 200_000


def resident_kb(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])


@pytest.mark.slow
def test_no_token_is_ever_printed(path: Path, start: Callable[..., Served]) -> None:
    token = invited(path)
    served = start()
    for sent in (token, "wrong-token-1234"):
        served.ask("/api/me", sent)
        served.ask("/api/judgements", sent, {"token": sent})
        served.ask("/api/nowhere", sent)
    served.end()
    assert token not in served.output.read_text()
    assert "wrong-token" not in served.output.read_text()


@pytest.mark.slow
def test_the_options_are_the_terms(path: Path, start: Callable[..., Served]) -> None:
    token = invited(path)
    served = start("--daily-limit", "1", "--contact", "Dr Lee, نه 555", "--demographic", "Age: 18-29 | 30 or more")
    assert len(json.loads(served.ask("/api/next?n=5", token)[1])["tasks"]) == 1
    assert served.ask("/api/consent", token, {"demographics": {"Age": "18-29"}})[0] == 204
    assert "Dr Lee, نه 555" in served.ask("/settings", token)[1].decode() + served.ask("/annotate", token)[1].decode()


@pytest.mark.slow
def test_it_says_what_to_do_first(path: Path, start: Callable[..., Served]) -> None:
    said = start().output
    assert "fcpair people add NAME --role annotator" in wait_for(said, "Ctrl-C")


def test_it_says_how_people_come_in(path: Path, start: Callable[..., Served]) -> None:
    invited(path)
    text = wait_for(start().output, "Ctrl-C")
    assert "fcpair people invite NAME" in text
    assert "TLS" not in text


@pytest.mark.slow
def test_it_warns_when_it_listens_to_a_whole_network(start: Callable[..., Served]) -> None:
    assert "TLS" in wait_for(start("--host", "0.0.0.0").output, "Ctrl-C")


def wait_for(output: Path, words: str) -> str:
    until(lambda: words in output.read_text(), output.read_text)
    return output.read_text()


def refused(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, ["serve", *(str(one) for one in arguments)])
    assert result.exit_code == 2, result.output
    return result


def test_a_port_that_is_taken_is_told(path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        said = refused("--study", path, "--port", str(port)).output
    assert f"cannot listen on port {port} of 127.0.0.1: it is in use" in said
    assert "--port" in said


def test_an_address_that_is_not_this_machine_s_is_told(path: Path) -> None:
    assert (
        "cannot listen on port 0 of 192.0.2.1" in refused("--study", path, "--port", "0", "--host", "192.0.2.1").output
    )


@pytest.mark.parametrize("host", ["example..org", "a" * 64])
def test_what_can_be_no_host_is_refused_by_name(path: Path, host: str) -> None:
    result = refused("--study", path, "--port", "0", "--host", host)
    assert f"`{host}` is neither a host name nor an address" in result.output
    assert result.exit_code == 2


def test_a_study_in_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "there is no study" in refused("--study", tmp_path / "nowhere" / "nothing.db").output


def test_without_the_extra_it_says_how_to_get_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fastapi", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    said = refused("--study", path).output
    assert "`serve` needs fastapi, uvicorn" in said
    assert "`pip install 'fcpair[web]'`" in said


def test_the_command_loads_no_web_framework_for_its_help() -> None:
    heavy = "{'fastapi', 'uvicorn', 'jinja2'}"
    code = f"import sys; from fcpair.cli.oversight.serve import serve; print(*{heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--daily-limit", "400", "`daily_limit` is 40 (given: 400)"),
        ("--opt-out", "cn_type", "`opt_out` is hs_topic (given: cn_type)"),
    ],
)
def test_terms_that_loosen_what_holds_are_refused_unless_that_is_meant(
    path: Path, monkeypatch: pytest.MonkeyPatch, option: str, value: str, said: str
) -> None:
    study = Study(path)
    terms.save_terms(study.grid(), Annotate(daily_limit=40, opt_out="hs_topic"))
    study.close()
    monkeypatch.setattr("fcpair.cli.oversight.serve._serve_app", lambda listener: listener.close())
    arguments = ["serve", "--study", str(path), "--port", "0", option, value]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
    assert CliRunner().invoke(main, [*arguments, "--loosen"]).exit_code == 0


def test_a_tighter_limit_needs_no_word(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(path)
    terms.save_terms(study.grid(), Annotate(daily_limit=40))
    study.close()
    monkeypatch.setattr("fcpair.cli.oversight.serve._serve_app", lambda listener: listener.close())
    arguments = ["serve", "--study", str(path), "--port", "0", "--daily-limit", "20", "--total-limit", "100"]
    assert CliRunner().invoke(main, arguments).exit_code == 0


def test_only_what_the_command_line_names_holds_whatever_the_study_says(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcpair.cli.oversight.serve._serve_app", lambda listener: listener.close())
    arguments = ["serve", "--study", str(path), "--port", "0", "--contact", "Kim", "--demographic", "Age"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert json.loads(os.environ["FCPAIR_ANNOTATE"]) == {"contact": "Kim", "demographics": ["Age"]}
    with closing(Study(path)) as study:
        study.save_terms(contact="Lee", pause_pairs=9)
    served = from_environment().state.context
    assert (served.annotate.contact, served.annotate.pause_pairs) == ("Kim", 9)
    served.study.close()


def test_a_column_that_no_text_has_is_refused(path: Path) -> None:
    result = CliRunner().invoke(main, ["serve", "--study", str(path), "--opt-out", "weather", "--port", "0"])
    assert result.exit_code == 2
    assert "no text of the study has metadata called `weather`" in result.stderr

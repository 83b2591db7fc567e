"""What ends a session, on the server and for every copy of its cookie."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from fcpair.cli import main
from fcpair.records import Role
from fcpair.study import Study
from fcpair.web.auth import Sessions
from web.conftest import Site, csrf_of


def is_in(client: TestClient) -> bool:
    return client.get("/api/me").status_code == 200


def leave(browser: TestClient) -> None:
    assert browser.post("/leave", data={"csrf": csrf_of(browser)}).status_code == 303


def with_cookie(site: Site, cookies: dict[str, str]) -> TestClient:
    """A client that somebody has given a cookie."""
    return site.stranger(cookies=cookies)


def ended(site: Site) -> int:
    with closing(sqlite3.connect(site.study.place)) as connection:
        return int(connection.execute("SELECT count(*) FROM ended_session").fetchone()[0])


def test_leaving_ends_the_session_for_copies_of_its_cookie_too(site: Site) -> None:
    browser = site.browser("ana")
    copy = with_cookie(site, dict(browser.cookies))
    assert is_in(copy)
    leave(browser)
    assert not is_in(copy)
    assert copy.get("/annotate").headers["location"] == "/join"


def test_leaving_on_one_device_leaves_the_others_signed_in(site: Site) -> None:
    laptop, phone, ben = site.browser("ana"), site.browser("ana"), site.browser("ben")
    leave(laptop)
    assert is_in(phone)
    assert is_in(ben)
    assert is_in(site.browser("ana"))


def test_who_has_left_twice_has_left(site: Site) -> None:
    browser = site.browser("ana")
    form, copy = {"csrf": csrf_of(browser)}, with_cookie(site, dict(browser.cookies))
    assert browser.post("/leave", data=form).headers["location"] == "/join"
    assert copy.post("/leave", data=form).headers["location"] == "/join"
    assert not is_in(copy)


def test_a_client_with_a_token_leaves_no_session(site: Site) -> None:
    machine = site.machine("ana")
    assert machine.post("/leave").status_code == 303
    assert is_in(machine)
    assert ended(site) == 0


ENDS: dict[str, Callable[[Study], object]] = {
    "invite": lambda study: study.access.invite("ana"),
    "revoke": lambda study: study.access.revoke("ana"),
    "retire": lambda study: study.retire("ana"),
    "rotate": lambda study: study.access.rotate_secret(),
}


@pytest.mark.parametrize("act", ENDS)
def test_what_ends_all_sessions_forgets_which_ones_ended_before(site: Site, act: str) -> None:
    browser = site.browser("ana")
    copy = with_cookie(site, dict(browser.cookies))
    leave(browser)
    assert ended(site) == 1
    ENDS[act](site.study)
    assert ended(site) == 0
    assert not is_in(copy)


def test_to_forget_what_somebody_said_does_not_let_a_session_live_again(site: Site) -> None:
    browser = site.browser("ana")
    copy = with_cookie(site, dict(browser.cookies))
    leave(browser)
    site.study.access.forget("ana")
    assert not is_in(copy)


def test_what_has_ended_is_forgotten_when_its_cookie_is_too_old_anyway(site: Site) -> None:
    ana = site.study.access.by_token(site.token("ana"))
    assert ana is not None
    site.study.access.end_session(ana.id, "of old", -1)
    assert ended(site) == 1
    leave(site.browser("ana"))
    assert ended(site) == 1


def forged(path: Path, name: str, cookie: str) -> dict[str, str]:
    """A cookie for anybody, made by who has a copy of the study and nothing else."""
    study = Study(path)
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT person.id, role, token_hash, session_secret FROM person, study WHERE name = ?"
        person_id, _, key, secret = connection.execute(query, [name]).fetchone()
    visitor = study.access.by_id(person_id)
    study.close()
    assert visitor is not None
    assert visitor.key == key
    return {cookie: Sessions(secret).make_cookie(visitor)}


def test_a_copy_of_the_study_acts_as_anybody_until_the_secret_is_renewed(site: Site, tmp_path: Path) -> None:
    site.token("lea")
    browser, machine = site.browser("ana"), site.machine("vera")
    (cookie,) = browser.cookies
    copy = Path(shutil.copy(site.study.place, tmp_path / "copy.db"))
    thief = with_cookie(site, forged(copy, "lea", cookie))
    assert thief.get("/api/me").json()["role"] == "lead"
    CliRunner().invoke(main, ["people", "rotate-secret", "--yes", "--study", site.study.place])
    assert not is_in(thief)
    assert not is_in(with_cookie(site, forged(copy, "lea", cookie)))
    assert not is_in(browser)
    assert is_in(machine)
    again = site.browser("ana")
    assert list(again.cookies) == [cookie]
    assert is_in(again)
    assert again.post("/settings", data={"csrf": csrf_of(again)}).status_code == 303


def test_who_comes_in_first_after_the_secret_is_renewed_is_let_in(site: Site) -> None:
    other = Study(site.study.place)
    other.access.rotate_secret()
    other.close()
    assert is_in(site.browser("ana"))


def test_renewing_the_secret_changes_nothing_that_people_see(serve: Callable[..., Site]) -> None:
    site = serve("labelled")
    machine = site.machine("judy")
    before = machine.get("/api/conflicts/next").json()
    site.study.access.rotate_secret()
    assert machine.get("/api/conflicts/next").json() == before


def test_the_run_log_says_that_the_secret_was_renewed_and_not_what_it_is(site: Site) -> None:
    site.token("ana")
    run = site.study.access.rotate_secret()
    assert (run.stage, run.params) == ("people", {"rotate_secret": True})
    assert site.study.access.session_secret not in str(site.study.log())


def test_the_command_asks_before_it_signs_everybody_out(site: Site) -> None:
    browser, runner = site.browser("ana"), CliRunner()
    given = ["people", "rotate-secret", "--study", site.study.place]
    refused = runner.invoke(main, given, input="n\n")
    assert refused.exit_code == 130
    assert "Everybody is signed out" in refused.output
    assert is_in(browser)
    assert runner.invoke(main, given, input="y\n").exit_code == 0
    assert not is_in(browser)


def test_no_secret_is_in_what_a_visitor_is_shown_as(site: Site) -> None:
    visitor = site.study.access.by_token(site.token("ana"))
    assert visitor is not None
    assert visitor.role is Role.ANNOTATOR
    assert visitor.session_secret
    assert visitor.session_secret not in repr(visitor)

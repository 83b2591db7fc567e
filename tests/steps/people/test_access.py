"""Coming in: tokens, wrong ones too, consent, guidelines, and what a person does not want to read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from servers import execute

from fcpair.cli import main
from fcpair.errors import ConflictError, InputError, StudyError, TooManyError
from fcpair.params import Annotate, Setup
from fcpair.records import Role
from fcpair.steps.people import access as attempts_module
from fcpair.steps.people.access import MAX_FAILURES, MAX_FAILURES_IN_ALL, WINDOW_S, LoginThrottle
from fcpair.store import people as stored
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.small import At, assert_refused, dump

TOPIC = "hs_topic"


@pytest.mark.server
def test_a_token_lets_its_owner_in_and_is_not_kept(at: At) -> None:
    study = at("dealt")
    access = study.access
    assert access.invited() == set()
    token = access.invite("ana")
    assert access.invited() == {"ana"}
    assert token not in dump(study)
    visitor = access.by_token(token)
    assert visitor is not None
    assert (visitor.name, visitor.role, visitor.consented) == ("ana", Role.ANNOTATOR, False)
    assert access.by_id(visitor.id) == visitor
    for wrong in ("", "x" * 32, "\udc80"):
        assert access.by_token(wrong) is None
    again = access.by_token(access.invite("ana"))
    assert again is not None
    assert again.key != visitor.key
    access.revoke("ana")
    assert access.by_id(visitor.id) is None
    study.add_people(["qwen"], Role.MODEL)
    assert "qwen" not in access.invite_all()


def test_people_are_added_with_their_tokens_or_not_at_all(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StudyError("the disk is full")

    study = at("dealt")
    with monkeypatch.context() as patch:
        patch.setattr("fcpair.store.people.set_token", fail)
        assert_refused(study, lambda: study.access.add(["dora"], Role.ANNOTATOR), StudyError, "the disk is full")
    assert_refused(study, lambda: study.access.add(["dora", "ana"], Role.ANNOTATOR), InputError, "`ana` already exists")
    tokens = study.access.add(["dora", "eve"], Role.VALIDATOR)
    visitors = [study.access.by_token(tokens[name]) for name in ("dora", "eve")]
    assert [(visitor and (visitor.name, visitor.role)) for visitor in visitors] == [
        ("dora", Role.VALIDATOR),
        ("eve", Role.VALIDATOR),
    ]
    assert [run.params for run in study.log()[-3:]] == [
        {"add": ["dora", "eve"], "role": "validator"},
        {"invite": "dora"},
        {"invite": "eve"},
    ]


@pytest.mark.server
def test_who_consents_again_keeps_what_they_said_and_when(at: At) -> None:
    study = at("dealt")
    ana = study.people[0].id
    study.access.consent(ana, {"Age": "30-49"}, "I take part.")
    study.access.set_blurred(ana, True)
    first = study.access.terms()[0]
    study.access.consent(ana, {"Language": "Persian"}, "Another sentence.")
    second = study.access.terms()[0]
    assert first["consented_to"] == second["consented_to"] == "I take part."
    assert first["consented_at"] == second["consented_at"]
    assert second["demographics"] == {"Age": "30-49", "Language": "Persian"}
    visitor = study.access.by_token(study.access.invite("ana"))
    assert visitor is not None
    assert visitor.consented
    assert visitor.blurred


@pytest.mark.server
def test_what_people_said_about_themselves_can_be_read_and_deleted(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana")
    study.access.consent(ana.id, {"Age": "30-49"})
    study.access.opt_out(ana.id, TOPIC, ["People who l"])
    first, second, _ = study.access.terms()
    left_out = {TOPIC: ["People who l"]}
    assert (first["name"], first["demographics"], first["opted_out"]) == ("ana", {"Age": "30-49"}, left_out)
    assert (second["consented_at"], second["demographics"], second["opted_out"]) == (None, {}, {})
    study.access.forget("ana")
    assert "30-49" not in dump(study)
    assert study.access.terms()[0]["opted_out"], "who still takes part is still spared what they left out"
    study.retire("ana")
    study.access.forget("ana")
    assert study.access.terms()[0]["opted_out"] == {}


MOST = 2 * 1024 * 1024


@pytest.mark.server
def test_guidelines_have_2_mib_at_most_and_of_two_who_edit_one_version_the_second_is_told(tmp_path: Path) -> None:
    path, place = tmp_path / "guidelines.md", tmp_path / "study.db"
    path.write_text(too_long := "ن" * (MOST // 2 + 1), "utf-8")
    result = CliRunner().invoke(main, ["init", "--study", str(place), "--guidelines", str(path)])
    assert result.exit_code == 2
    refusal = "the guidelines have 2,097,154 bytes (as UTF-8); the limit is 2,097,152"
    assert refusal in " ".join(result.stderr.split())
    assert os.listdir(tmp_path) == ["guidelines.md"]
    path.write_text(too_long[1:], "utf-8")
    with closing(Study.create(place, Setup(guidelines=path))) as study:
        assert study.guidelines == (1, too_long[1:])
        study.add_people(["lea"], Role.LEAD)
        with pytest.raises(InputError, match="the limit is 2,097,152"):
            study.edit_guidelines(too_long, by="lea")
        study.edit_guidelines("x" * MOST, by="lea", seen=1)
        assert len(study.guidelines[1]) == MOST
        with pytest.raises(ConflictError, match="version 2 is current now"):
            study.edit_guidelines("Yours.", by="lea", seen=1)


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


NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.after_s = 0.0

    def __call__(self) -> datetime:
        return NOON + timedelta(seconds=self.after_s)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def study(at: At) -> Iterator[Study]:
    with closing(at("dealt")) as opened:
        yield opened


@pytest.fixture
def attempts(study: Study, clock: Clock) -> LoginThrottle:
    return LoginThrottle(study._store, clock)


def n_kept(study: Study) -> int:
    return int(execute(study.place, "SELECT count(*) FROM attempt")[0][0])


def is_refused(attempts: LoginThrottle, address: str = HERE) -> bool:
    try:
        attempts.count_failure(address)
    except TooManyError:
        return True
    return False


def use_up(attempts: LoginThrottle, address: str = HERE) -> None:
    for _ in range(MAX_FAILURES):
        attempts.count_failure(address)


def test_so_many_are_counted_and_then_the_place_has_to_wait_and_nothing_more_is_written(
    attempts: LoginThrottle, study: Study, clock: Clock
) -> None:
    token = study.access.invite("ana")
    use_up(attempts)
    before = dump(study)
    assert all(is_refused(attempts) for _ in range(5))
    assert study.access.by_token(token) is not None
    assert dump(study) == before
    clock.after_s = WINDOW_S - 0.5
    with pytest.raises(TooManyError, match="try again in 1 second") as raised:
        attempts.count_failure(HERE)
    assert raised.value.wait_s == 1
    assert not is_refused(attempts, ELSEWHERE)
    clock.after_s = WINDOW_S + 0.5
    assert not is_refused(attempts)


def test_strangers_with_many_addresses_fill_no_disk(
    attempts: LoginThrottle, study: Study, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_FAILURES_IN_ALL * 100 < 1_000_000  # bytes, as a row and its place in the index take less than 100 each
    monkeypatch.setattr(attempts_module, "MAX_FAILURES_IN_ALL", 5)
    refused = [is_refused(attempts, f"2001:db8:0:{n:x}::1") for n in range(10)]
    assert refused == [False] * 5 + [True] * 5
    assert n_kept(study) == 5
    clock.after_s = WINDOW_S
    assert not is_refused(attempts, HERE)
    assert n_kept(study) == 1


def test_two_servers_of_a_study_count_together_and_one_that_is_started_again_knows_what_was_tried(
    attempts: LoginThrottle, study: Study, clock: Clock
) -> None:
    with closing(Study(Path(study.place))) as other:
        second = LoginThrottle(other._store, clock)
        for server in [attempts, second] * (MAX_FAILURES // 2):
            server.count_failure(HERE)
        assert is_refused(attempts)
        assert is_refused(second)
    study.close()
    with closing(Study(Path(study.place))) as again:
        assert is_refused(LoginThrottle(again._store, clock))


@pytest.mark.server
def test_of_many_at_once_at_two_servers_exactly_so_many_are_let_through(study: Study) -> None:
    with closing(Study(Path(study.place))) as other, ThreadPoolExecutor(30) as threads:
        both = (study.access.attempts, other.access.attempts) * 15
        refused = list(threads.map(partial(is_refused, address=HERE), both))
    assert refused.count(False) == MAX_FAILURES
    assert n_kept(study) == MAX_FAILURES


def test_what_cannot_be_counted_is_refused_and_not_let_through(
    attempts: LoginThrottle, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody else writes, on a full disk, and where those who try would take all threads."""

    def full(*_: object) -> None:
        raise StudyError("the disk is full")

    study._store._writing.patience_s = 0.1
    with closing(Study(Path(study.place))) as other, other._store.write():
        with pytest.raises(TooManyError, match="try again in 2 seconds"):
            attempts.count_failure(HERE)
        assert study.access.by_token("not-a-token") is None  # the door is as it was
    with monkeypatch.context() as patch:
        patch.setattr(stored, "add_attempt", full)
        assert is_refused(attempts)
    n_slots = 0
    while attempts._slots.acquire(blocking=False):
        n_slots += 1
    assert n_slots > 0
    assert is_refused(attempts)
    attempts._slots.release()
    assert n_kept(study) == 0
    assert not is_refused(attempts)


def test_no_address_is_kept_and_the_same_one_looks_different_in_another_study(study: Study, at: At) -> None:
    study.access.attempts.count_failure(HERE)
    kept = execute(study.place, "SELECT place FROM attempt")[0][0]
    assert re.fullmatch(r"[0-9a-f]{64}", kept)
    assert HERE not in dump(study)
    execute(study.place, "UPDATE study SET secret = ?", "f" * 64)
    study.access.attempts.count_failure(HERE)
    assert len({row[0] for row in execute(study.place, "SELECT place FROM attempt")}) == 2


@pytest.mark.server
def test_what_does_not_count_any_more_is_deleted(attempts: LoginThrottle, study: Study, clock: Clock) -> None:
    for clock.after_s, n in ((0, 1), (30, 2), (75, 2), (500, 1)):
        attempts.count_failure(HERE)
        assert n_kept(study) == n
    clock.after_s += WINDOW_S - 1
    attempts.delete_expired()
    assert n_kept(study) == 1
    clock.after_s += 1
    attempts.delete_expired()
    assert n_kept(study) == 0
    before = dump(study)
    attempts.delete_expired()
    assert dump(study) == before


def test_a_clock_that_runs_ahead_by_some_seconds_lets_nobody_off_and_a_wrong_one_shuts_nobody_out(
    attempts: LoginThrottle, study: Study, clock: Clock
) -> None:
    clock.after_s = 3600.0
    use_up(attempts)
    clock.after_s = WINDOW_S / 2
    use_up(attempts)
    assert n_kept(study) == MAX_FAILURES
    clock.after_s = 0.0
    with pytest.raises(TooManyError) as raised:
        attempts.count_failure(HERE)
    assert raised.value.wait_s == WINDOW_S


@pytest.mark.server
def test_a_study_with_attempts_is_sound_and_its_copy_counts_on(
    attempts: LoginThrottle, study: Study, clock: Clock, tmp_path: Path
) -> None:
    use_up(attempts)
    assert Study.doctor(Path(study.place)).is_sound
    Study.copy(Path(study.place), tmp_path / "copy.db", lambda done, total: None)
    with closing(Study(tmp_path / "copy.db")) as copy:
        assert n_kept(copy) == MAX_FAILURES
        assert is_refused(LoginThrottle(copy._store, clock))


def test_limits_are_at_least_one_and_a_question_is_asked_once() -> None:
    for name in ("pause_pairs", "pause_minutes", "daily_limit", "total_limit"):
        with pytest.raises(InputError, match=name):
            Annotate(**{name: 0})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="question `Age`"):
        Annotate(demographics=("Age: 18-29 | 30 or more", "Age"))

"""What `Study.doctor` finds: nothing where fcpair alone was at work, and all that was done behind its back."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.flips import is_sound, said
from fcpair.errors import SettingError, StudyError
from fcpair.params import Adjudicate, Partition, Setup, Simulate
from fcpair.steps.adjudication.adjudication_queue import AdjudicationQueue
from fcpair.study import Study
from steps.docket import adjudicators, decision_on, first_case
from steps.online import at_desk, give
from steps.oversight.test_promises import stirred
from steps.small import CHECKING, CODE, LABELLING, STAGES, record

At = Callable[[str], Study]
pytestmark = pytest.mark.files
SCHEMAS = Path(__file__).parents[2] / "assets"


def findings(path: str | Path) -> dict[str, tuple[str, ...]]:
    """What the doctor finds, by check."""
    return {one.name: one.found for one in Study.doctor(path).checks if one.found}


@contextmanager
def behind(path: str | Path) -> Iterator[sqlite3.Connection]:
    """Change a study as somebody would who knows SQLite: the triggers are there again afterwards."""
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, sql in triggers:
            connection.execute(sql)


def change(path: str | Path, *statements: str) -> None:
    with behind(path) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement


# What was said is the other of the two labels that are sure.
TURNED = (
    "answer_id = (SELECT other.id FROM answer this JOIN answer other ON other.round_id = this.round_id "
    "WHERE this.id = answer_id AND other.code = 2 - this.code)"
)
VERDICT = f"(SELECT min(id) FROM answer WHERE round_id IN {CHECKING})"
MOST_BITS = 160
UNSURE = f"(SELECT id FROM answer WHERE round_id IN {LABELLING} AND code = 1)"


def ask(path: str | Path, sql: str) -> Any:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchone()


# -- where fcpair alone was at work, nothing is found


@pytest.mark.parametrize("stage", STAGES)
def test_a_study_is_sound_at_every_stage(files: dict[str, Path], stage: str) -> None:
    health = Study.doctor(files[stage])
    assert (health.is_sound, [one.found for one in health.checks if one.found]) == (True, [])


def test_a_study_is_sound_after_much_has_happened_in_it(at: At, tmp_path: Path) -> None:
    study = stirred(at("checked"), tmp_path)
    run = record(study, tmp_path, [(who, pair, "1") for pair, who in labels(study)[:3]], supersede=True)
    study.grid().withdraw(run.id, "labels")
    study.retire("ben")
    study.hand_over("cleo")
    study.edit_guidelines("Read *both*.", by="ada")
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree", note="…")
    assert findings(study.place) == {}


def test_a_simulated_study_is_sound(at: At) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.simulate(Simulate())
    grid.adjudicate(Adjudicate("majority"))
    assert findings(study.place) == {}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("adjudicate.policy", "majorty", "`adjudicate` cannot be used: policy is 'majorty'; expected one of manual"),
        ("adjudicate.ties", "discrd", "`adjudicate` cannot be used: ties is 'discrd'; expected one of wait, discard"),
    ],
)
def test_a_setting_that_cannot_be_is_found_and_set_anew(at: At, key: str, value: str, said: str) -> None:
    study = at("labelled")
    study.grid().adjudicate(Adjudicate("majority"))
    change(study.place, f"UPDATE setting SET value = '\"{value}\"' WHERE key = '{key}'")
    found = findings(study.place)
    assert list(found) == ["settings"]
    assert said in found["settings"][0]
    with pytest.raises(SettingError, match=said.partition(":")[0]):
        study.effective_options(Adjudicate)
    study.grid().adjudicate(Adjudicate("majority"))
    assert findings(study.place) == {}


@pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004"])
def test_an_older_study_is_sound_once_it_is_upgraded(tmp_path: Path, revision: str) -> None:
    path = shutil.copy(SCHEMAS / f"{revision}.sqlite", tmp_path / "study.db")
    with pytest.raises(StudyError, match="`fcpair upgrade --study"):
        Study.doctor(path)
    Study.upgrade(path)
    assert findings(path) == {}
    change(path, f"UPDATE judgement SET {TURNED} WHERE id = 7")
    assert [name for name in findings(path) if name == "answers"] == ["answers"]


@pytest.mark.slow
def test_the_published_labels_are_sound(data: Path, tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db", Setup())
    study.grid().import_published(data / "fc-conan" / "bronze_partition_df.csv")
    health = Study.doctor(study.place)
    assert health.is_sound
    counts = {one.name: one.n for one in health.checks}
    assert (counts["pairs"], counts["answers"], counts["decisions"]) == (3997, (3 * 199 + 2 * 502 + 3296) + 3997, 3997)


# -- it changes nothing, and looks while others work


def test_the_study_is_the_same_before_and_after(files: dict[str, Path], tmp_path: Path) -> None:
    path = Path(shutil.copy(files["checked"], tmp_path / "study.db"))
    before, there = path.read_bytes(), sorted(tmp_path.iterdir())
    Study.doctor(path)
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (before, there)


def test_a_study_is_examined_while_it_is_served(at: At) -> None:
    study = at("dealt")
    study.share()
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate")
    log = Path(f"{study.place}-wal").read_bytes()
    counts = {one.name: (one.n, one.found) for one in Study.doctor(study.place).checks}
    assert (counts["answers"], counts["receipts"]) == ((1, ()), (1, ()))
    assert Path(f"{study.place}-wal").read_bytes() == log
    give(desk, ana, "appropriate")
    study.close()
    assert findings(study.place) == {}


def test_the_log_that_a_killed_server_left_is_read_and_stays(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.share()
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate")
    left = tmp_path / "left"
    left.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{study.place}{end}", left / f"study.db{end}")
    before = {end: (left / f"study.db{end}").read_bytes() for end in ("", "-wal")}
    health = Study.doctor(left / "study.db")
    assert (health.is_sound, next(one.n for one in health.checks if one.name == "answers")) == (True, 1)
    assert {end: (left / f"study.db{end}").read_bytes() for end in ("", "-wal")} == before


# -- what was done behind its back is found, with the person and the answer


def nth(path: str | Path, judgement: int) -> tuple[str, int, int]:
    """Whose answer a judgement is, the how many'th of theirs, and on which pair."""
    whose: tuple[str, int, int] = ask(
        path,
        "SELECT p.name, (SELECT count(*) FROM judgement k JOIN assignment b ON b.id = k.assignment_id "
        f"WHERE k.id <= j.id AND b.person_id = a.person_id), a.cell_id FROM judgement j "
        f"JOIN assignment a ON a.id = j.assignment_id JOIN person p ON p.id = a.person_id WHERE j.id = {judgement}",
    )
    return whose


def named(path: str | Path, judgement: int) -> str:
    who, at, pair = nth(path, judgement)
    return f"answer {at} of `{who}` (row {judgement}, pair {pair}) does not fit the one before it"


@pytest.mark.parametrize(
    "what",
    [
        TURNED,
        "note = 'I never wrote this'",
        "at = '2026-01-01T00:00:00.000+00:00'",
        "seconds = 1.5",
        "origin = 'online'",
        "skipped = 1, answer_id = NULL",
        "run_id = 1",
        "digest = zeroblob(32)",
    ],
)
def test_an_answer_that_was_changed_is_named(at: At, what: str) -> None:
    path = at("checked").place
    number = ask(path, f"SELECT id FROM judgement WHERE {CODE} <> 1 AND id > 20 LIMIT 1")[0]
    said = named(path, number)
    change(path, f"UPDATE judgement SET {what} WHERE id = {number}")
    assert findings(path)["answers"][0].startswith(said)


def test_an_answer_that_was_deleted_in_the_middle_is_found(at: At) -> None:
    path = at("checked").place
    who, at_, _ = nth(path, 20)
    change(path, "DELETE FROM judgement WHERE id = 20")
    found = findings(path)
    assert found["answers"][0].startswith(f"answer {at_} of `{who}` ")
    left = total(path, who)
    assert found["answers"][1] == f"answers of `{who}`: {left} stored, {left + 1} given"
    assert "numbering" in found


def total(path: str | Path, who: str) -> int:
    counted = "SELECT count(*) FROM judgement j JOIN assignment a ON a.id = j.assignment_id JOIN person p ON p.id = "
    return int(ask(path, f"{counted} a.person_id WHERE p.name = '{who}'")[0])


def test_the_last_answer_of_all_is_missed_when_it_is_deleted(at: At) -> None:
    path = at("labelled").place
    last, n = ask(path, "SELECT max(id), count(*) FROM judgement")
    who, at_, _ = nth(path, last)
    change(path, f"DELETE FROM judgement WHERE id = {last}")
    found = findings(path)
    assert found["answers"] == (f"answers of `{who}`: {at_ - 1} stored, {at_} given",)
    assert "numbering" not in found  # which cannot tell: the last one is gone
    assert n == last


def test_an_answer_acknowledged_online_that_is_gone_is_missed_twice(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate")
    number = ask(study.place, "SELECT max(id) FROM judgement")[0]
    change(study.place, f"DELETE FROM judgement WHERE id = {number}")
    found = findings(study.place)
    assert found["receipts"] == (f"answer {number} of `ana` was acknowledged and is missing",)
    assert found["answers"] == ("answers of `ana`: 0 stored, 1 given",)
    assert found["work"][0].endswith("of `ana` is done, but its answers say otherwise")


def test_a_receipt_that_is_gone_is_missed_be_it_of_an_answer_or_of_a_decision(at: At) -> None:
    study = at("labelled")
    (judy,) = adjudicators(study, "judy")
    AdjudicationQueue(study.grid()).decide(judy, decision_on(first_case(study, judy)))
    assert findings(study.place) == {}
    change(study.place, "DELETE FROM receipt")
    assert findings(study.place)["extent"] == ("receipt has 0 rows up to number 0, and should have 1 up to 1",)
    dealt = at("dealt")
    give(*at_desk(dealt, "ana"), "appropriate")
    change(dealt.place, "DELETE FROM receipt")
    assert findings(dealt.place)["extent"] == ("receipt has 0 rows up to number 0, and should have 1 up to 1",)


def test_answers_that_two_people_exchanged_are_found(at: At) -> None:
    path = at("checked").place
    (one, other) = ask(
        path,
        "SELECT j.id, k.id FROM judgement j JOIN assignment a ON a.id = j.assignment_id, judgement k JOIN assignment b "
        "ON b.id = k.assignment_id WHERE a.cell_id = b.cell_id AND a.person_id < b.person_id "
        "AND a.round_id = b.round_id",
    )
    places = {
        number: ask(path, f"SELECT assignment_id FROM judgement WHERE id = {number}")[0] for number in (one, other)
    }
    change(
        path,
        f"UPDATE judgement SET assignment_id = {places[other]} WHERE id = {one}",
        f"UPDATE judgement SET assignment_id = {places[one]} WHERE id = {other}",
    )
    assert {named(path, one), named(path, other)} <= {said.partition(":")[0] for said in findings(path)["answers"]}


def test_work_that_was_given_to_somebody_else_is_found(at: At) -> None:
    path = at("labelled").place
    change(
        path,
        "UPDATE assignment SET person_id = 2 WHERE id = (SELECT min(id) FROM assignment a WHERE person_id = 1 AND NOT "
        "EXISTS (SELECT 1 FROM assignment b WHERE b.cell_id = a.cell_id AND b.person_id = 2))",
    )
    assert {said.split("`")[1] for said in findings(path)["answers"]} == {"ana", "ben"}


@pytest.mark.parametrize("what", [TURNED, "person_id = 1", "note = 'x'", "seen_judgement = 1", "flagged = 1"])
def test_a_decision_that_was_changed_is_named(at: At, what: str) -> None:
    study = at("decided")
    grid = study.grid()
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, 2, by="ada", note="why")
    number, first = ask(study.place, "SELECT max(id), min(id) FROM adjudication")
    assert number > first
    change(study.place, f"UPDATE adjudication SET {what} WHERE id = {number}")
    assert f"(row {number}, pair {pair}) does not fit" in findings(study.place)["decisions"][0]


def test_a_decision_by_a_rule_that_was_changed_is_found(at: At) -> None:
    path = at("decided").place
    change(path, f"UPDATE adjudication SET {TURNED} WHERE id = 3")
    found = findings(path)
    assert found["decisions"][0].startswith("decision 3 of rules and files (row 3, ")
    assert found["rules"][0].startswith("a rule would decide pair ")


@pytest.mark.parametrize(
    ("statement", "check_", "said"),
    [
        ("UPDATE text SET body = upper(body) WHERE id = 3", "texts", "text 3 was changed"),
        ("UPDATE text SET body = body || ' ' WHERE id = 3", "texts", "text 3 was changed"),
        ("UPDATE guideline SET body = 'Label all of it 2.'", "guidelines", "guideline 1 was changed"),
        ("UPDATE grid SET column_name = 'reply'", "rounds", "grid 1 was changed"),
        ("UPDATE round SET form = replace(form, '?', '') WHERE id = 1", "rounds", "round 1 was changed"),
        ("UPDATE round SET blind = 1 WHERE id = 2", "rounds", "round 2 was changed"),
        ("UPDATE answer SET value = replace(value, 'not_', '') WHERE id = 1", "rounds", "answer 1 was changed"),
        ("UPDATE answer SET code = 7 - code WHERE id = 1", "rounds", "answer 1 was changed"),
        ("UPDATE person SET name = 'anna' WHERE name = 'ana'", "names", "person 1 was changed"),
        ("UPDATE cell SET column_id = column_id + 1 WHERE id = 9", "pairs", "pair 9 is not the one of its place"),
        ("UPDATE cell SET column_id = column_id + 1 WHERE id = 9", "answers", "answer "),
        ("DELETE FROM cell WHERE id = 24", "pairs", "the grid has 23 pairs, where it should have 24"),
        ("UPDATE side SET text_id = 6 WHERE axis = 'row' AND position = 2", "pairs", "pair 7 is not the one of its "),
        ("UPDATE assignment SET status = 'skipped' WHERE id = 4", "work", "pair "),
        ("UPDATE judgement SET answer_id = 99 WHERE id = 4", "codes", "answer 4 is not a possible one"),
        (f"UPDATE judgement SET answer_id = {VERDICT} WHERE id = 4", "codes", "answer 4 is not a possible one"),
        (f"UPDATE adjudication SET answer_id = {UNSURE} WHERE id = 4", "codes", "decision 4 is not a possible one"),
        (f"UPDATE adjudication SET answer_id = {VERDICT} WHERE id = 4", "codes", "decision 4 is not a possible one"),
        ("UPDATE person SET role = 'owner' WHERE id = 2", "codes", "`ben` has an unknown role"),
        (
            "UPDATE judgement SET run_id = 999 WHERE id = 4",
            "references",
            "row 4 of `judgement` refers to",
        ),
        (
            "UPDATE assignment SET judgement_id = judgement_id + 1 WHERE id = 4",
            "references",
            "row 4 of `assignment` says that its newest judgement is ",
        ),
        (
            "UPDATE assignment SET judgement_id = NULL WHERE id = 4",
            "references",
            "row 4 of `assignment` says that its newest judgement is none",
        ),
        ("UPDATE run SET id = 99 WHERE id = 3", "numbering", "`run` has "),
        ("UPDATE chain SET n = n + 1 WHERE person_id = 2", "answers", "answers of `ben`: "),
    ],
)
def test_what_answers_rest_on_is_held_against_what_it_was(at: At, statement: str, check_: str, said: str) -> None:
    path = at("checked").place
    change(path, statement)
    assert any(one.startswith(said) for one in findings(path)[check_])


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TRIGGER judgement_no_update", "the trigger `judgement_no_update` is missing"),
        ("DROP TRIGGER cell_sealed", "the trigger `cell_sealed` is missing"),
        (
            "CREATE TRIGGER mine AFTER INSERT ON judgement BEGIN SELECT 1; END",
            "there is a trigger `mine` that is not fcpair's",
        ),
    ],
)
def test_a_protection_that_is_gone_is_found(at: At, statement: str, said: str) -> None:
    path = at("checked").place
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    assert findings(path) == {"protection": (said,)}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TABLE receipt", "the table `receipt` is missing"),
        ("ALTER TABLE judgement DROP COLUMN seconds", "`judgement` lacks the column `seconds`"),
        ("DROP INDEX ix_judgement_assignment_id", "the index `ix_judgement_assignment_id` is missing"),
        ("ALTER TABLE person ADD COLUMN mood TEXT", "`person` has a column `mood` that is not fcpair's"),
    ],
)
def test_tables_that_are_not_as_they_should_be_are_found(at: At, statement: str, said: str) -> None:
    path = at("checked").place
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    assert findings(path)["tables"][0].startswith(said)


# -- the promises


def test_who_validates_what_they_labelled_is_named(at: At) -> None:
    study = at("checking")
    pair = ask(study.place, f"SELECT cell_id FROM assignment WHERE round_id IN {CHECKING} ORDER BY id DESC LIMIT 1")[0]
    who = ask(study.place, f"SELECT person_id FROM assignment WHERE round_id IN {LABELLING} AND cell_id = {pair}")[0]
    name = ask(study.place, f"SELECT name FROM person WHERE id = {who}")[0]
    change(study.place, f"UPDATE assignment SET person_id = {who} WHERE round_id IN {CHECKING} AND cell_id = {pair}")
    assert findings(study.place)["roles"] == (f"`{name}` validates pair {pair}, and labelled it too",)


def test_who_answered_online_without_consent_is_named(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate")
    change(study.place, "UPDATE person SET consented_at = NULL")
    assert findings(study.place)["consent"] == ("`ana` answered online (1) and never consented",)


def test_a_release_that_was_changed_is_found_and_one_that_is_gone_is_told(at: At, tmp_path: Path) -> None:
    study = at("checked")
    grid = study.grid()
    for name in ("gold.csv", "bronze.csv"):
        grid.release(name.removesuffix(".csv"), tmp_path / name)
    grid.release("silver", tmp_path / "gold.csv")  # in the same place: only the newer one can be there
    assert findings(study.place) == {}
    (tmp_path / "bronze.csv").unlink()
    (tmp_path / "gold.csv").write_text("pair\n1\n", "utf-8")
    (found,) = (one for one in Study.doctor(study.place).checks if one.name == "releases")
    assert found.found == (f"{tmp_path / 'gold.csv'} differs from what was released",)
    assert found.note == f"missing or unreadable, so not checked: {tmp_path / 'bronze.csv'}"
    (tmp_path / "gold.csv").unlink()
    (found,) = (one for one in Study.doctor(study.place).checks if one.name == "releases")
    assert found.note == f"missing or unreadable, so not checked: 2 files in {tmp_path}"


def test_a_release_that_cannot_be_read_is_told_and_is_no_fault(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = at("checked")
    study.grid().release("gold", tmp_path / "gold.csv")
    there = open

    def refused(file: Any, *args: Any, **more: Any) -> Any:
        if str(file).endswith("gold.csv"):
            raise PermissionError(13, "Permission denied", str(file))
        return there(file, *args, **more)

    monkeypatch.setattr("builtins.open", refused)  # rights hold nobody back who runs the tests as root
    (found,) = (one for one in Study.doctor(study.place).checks if one.name == "releases")
    assert (found.n, found.found) == (0, ())
    assert found.note == f"missing or unreadable, so not checked: {tmp_path / 'gold.csv'}"


def advice(path: str | Path, check_: str) -> str:
    (found,) = (one for one in Study.doctor(path).checks if one.name == check_)
    assert found.found
    return found.advice


@pytest.mark.parametrize("policy", [Adjudicate("majority", ties="discard"), Adjudicate("manual")])
def test_the_advice_on_rules_is_a_command_that_mends_them(at: At, policy: Adjudicate) -> None:
    study = at("decided")
    grid = study.grid()
    grid.adjudicate(Adjudicate("median"))
    run = ask(study.place, "SELECT run_id FROM setting WHERE key = 'adjudicate.policy'")[0]
    for key, value in (("policy", policy.policy), ("ties", policy.ties)):
        change(study.place, f"INSERT OR REPLACE INTO setting VALUES (1, 'adjudicate.{key}', '\"{value}\"', {run})")
    command = " --ties discard" if policy.ties == "discard" else ""
    assert f"run `fcpair adjudicate --policy {policy.policy}{command}`" in advice(study.place, "rules")
    grid.adjudicate(policy)
    assert findings(study.place) == {}


def test_the_advice_on_what_cannot_be_read_is_to_restore_it(at: At) -> None:
    path = at("checked").place
    change(path, "UPDATE setting SET value = '{' WHERE key = 'adjudicate.policy'")
    assert findings(path)["rules"][0].startswith("this cannot be checked (JSONDecodeError: ")
    assert "go back to a copy that is sound" in advice(path, "rules")


def test_a_release_is_looked_for_from_the_study_and_not_from_where_doctor_is_run(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = at("checked")
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for folder in (here, elsewhere):
        folder.mkdir()
    monkeypatch.chdir(here)
    study.grid().release("gold", "gold.csv")
    monkeypatch.chdir(elsewhere)
    Path("gold.csv").write_text("of another study\n", "utf-8")
    (found,) = (one for one in Study.doctor(study.place).checks if one.name == "releases")
    assert (found.n, found.found, found.note) == (1, (), "")
    (here / "gold.csv").write_text("changed\n", "utf-8")
    assert findings(study.place)["releases"] == (f"{here / 'gold.csv'} differs from what was released",)


def test_a_decision_that_waits_for_a_second_look_is_told_and_is_no_fault(at: At, tmp_path: Path) -> None:
    study = at("decided")
    grid = study.grid()
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, 2, by="ada")
    who = next(who for (one, who) in labels(study) if one == pair)
    record(study, tmp_path, [(who, pair, "2")], supersede=True)
    health = Study.doctor(study.place)
    assert (health.is_sound, len(health.notes)) == (True, 1)
    assert "second look" in health.notes[0]


def labels(study: Study) -> list[tuple[int, str]]:
    rows = study.grid().labels()
    return list(zip(rows["pair"].tolist(), rows["annotator"].tolist(), strict=True))


# -- the digest of the whole


def digest(path: str | Path) -> str:
    return Study.doctor(path).digest


def test_the_digest_is_that_of_what_was_said_and_of_nothing_else(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    before = digest(study.place)
    study.grid().tiers(Partition("majority")).table()
    study.access.invite("ana")
    with closing(sqlite3.connect(study.place)) as connection:
        connection.execute("VACUUM")
    assert digest(study.place) == before
    record(study, tmp_path, [(who, pair, "1") for pair, who in labels(study)[:1]], supersede=True)
    assert digest(study.place) != before
    assert len(before) == 2 * hashlib.sha256().digest_size


def test_another_answer_or_text_is_another_digest(at: At) -> None:
    path = at("checked").place
    before = digest(path)
    change(path, "UPDATE text SET checksum = zeroblob(32) WHERE id = 2")
    assert digest(path) != before


def test_settings_and_the_log_have_digests_of_their_own(at: At) -> None:
    path = at("checked").place
    before = Study.doctor(path)
    change(path, "UPDATE run SET params = '{}' WHERE id = 3")
    logged = Study.doctor(path)
    assert logged.log_digest != before.log_digest
    assert (logged.digest, logged.settings_digest) == (before.digest, before.settings_digest)
    change(path, "UPDATE setting SET value = '7' WHERE key = 'select.seed'")
    reset = Study.doctor(path)
    assert reset.settings_digest != before.settings_digest
    assert (reset.digest, reset.log_digest) == (before.digest, logged.log_digest)


# -- files that cannot be read


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="there is no study at"):
        Study.doctor(tmp_path / "none.db")
    (tmp_path / "x.db").write_text("hs,cn\n", "utf-8")
    with pytest.raises(StudyError, match="is not a study"):
        Study.doctor(tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "y.db")) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(StudyError, match="not a study"):
        Study.doctor(tmp_path / "y.db")


def test_what_a_command_left_half_done_is_not_undone_by_looking(files: dict[str, Path], tmp_path: Path) -> None:
    path, left = Path(shutil.copy(files["checked"], tmp_path / "study.db")), tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("PRAGMA cache_size = 1", "BEGIN IMMEDIATE", "UPDATE text SET body = body || zeroblob(9000)"):
            connection.execute(statement)
        for end in ("", "-journal"):
            shutil.copy(f"{path}{end}", left / f"study.db{end}")
    before = (left / "study.db").read_bytes()
    with pytest.raises(StudyError, match=r"interrupted in .*`fcpair status --study"):
        Study.doctor(left / "study.db")
    assert (left / "study.db").read_bytes() == before
    Study(left / "study.db").status()
    assert findings(left / "study.db") == {}


def spoil(path: Path, start: int, filling: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(filling)


@pytest.mark.parametrize(
    ("start", "filling"),
    [(16, b"\0\0"), (100, b"\xff" * 60), (4096, b"\0" * 4096), (3 * 4096, random.Random(3).randbytes(3 * 4096))],
    ids=["page size", "schema", "second page", "three pages"],
)
def test_a_file_that_is_damaged_is_found_so_and_never_fails(
    files: dict[str, Path], tmp_path: Path, start: int, filling: bytes
) -> None:
    path = Path(shutil.copy(files["checked"], tmp_path / "study.db"))
    spoil(path, start, filling)
    health = Study.doctor(path)
    assert not health.is_sound
    assert "`fcpair doctor --study COPY`" in next(one for one in health.checks if one.found).advice


def test_a_list_of_tables_that_is_no_text_any_more_is_found_so(files: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(files["checked"].read_bytes().replace(b"CREATE TABLE receipt", b"CREATE TABLE \xe4eceipt "))
    (found,) = findings(path)["file"]
    assert found.startswith("it cannot be opened: ")
    with pytest.raises(StudyError, match="the file is damaged"):
        Study(path)


def test_a_table_that_is_defined_otherwise_is_found_so(files: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(files["checked"].read_bytes().replace(b"withdraws IS NULL OR", b"withdraws IS FULL OR"))
    (found,) = findings(path)["file"]
    assert found == "SQLite says: judgement is not defined as it was: no such column: FULL"
    with pytest.raises(StudyError, match="the file is damaged"):
        Study(path)


@pytest.mark.parametrize("size", [0, 100, 5000, 100_000])
def test_a_file_that_was_cut_off_is_found_so(files: dict[str, Path], tmp_path: Path, size: int) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(files["checked"].read_bytes()[:size])
    assert not is_sound(path)


# -- single bits


def near(whole: bytes, words: list[bytes], drawn: random.Random) -> int:
    """A place in the file near one of these words: rows begin and end there."""
    word = drawn.choice(words)
    places = [found.start() for found in re.finditer(re.escape(word), whole)]
    return drawn.choice(places) + drawn.randrange(-30, len(word) + 30)


@pytest.mark.slow
@pytest.mark.parametrize("aimed", [False, True], ids=["anywhere", "at answers and texts"])
def test_no_bit_that_changes_what_was_said_flips_unseen(files: dict[str, Path], tmp_path: Path, aimed: bool) -> None:
    path, drawn = tmp_path / "study.db", random.Random(13)
    whole, before = files["checked"].read_bytes(), said(files["checked"])
    words = [b"imported", b"majority", b"unanimous", "é".encode(), b"cannot be trusted"]
    n, changed, missed = 0, 0, []
    while n < (40 if aimed else 80) or changed < (30 if aimed else 3):
        n += 1
        assert n <= MOST_BITS, f"only {changed} of them changed what was said"
        at, bit = near(whole, words, drawn) if aimed else drawn.randrange(len(whole)), drawn.randrange(8)
        flipped = bytearray(whole)
        flipped[at] ^= 1 << bit
        path.write_bytes(flipped)
        sound = is_sound(path)
        if said(path) != before:
            changed += 1
            missed += [(at, bit)] if sound else []
    assert missed == []

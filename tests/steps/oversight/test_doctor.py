"""What `Study.doctor` finds: nothing where fcpair alone was at work, and all that was done behind its back."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short

from benchmarks.flips import is_sound, said
from fcpair.errors import SettingError, StudyError
from fcpair.params import Adjudicate, Partition, Setup, Simulate
from fcpair.steps.adjudication.adjudication_queue import AdjudicationQueue
from fcpair.study import Study
from fcpair.work_records import CheckResult
from steps.deciding import adjudicators, decision_on, first_case
from steps.online import at_desk, give
from steps.small import CHECKING, CODE, LABELLING, STAGES, At, labels_of, record, with_grid

pytestmark = pytest.mark.files
SCHEMAS = Path(__file__).parents[2] / "assets"


def findings(path: str | Path) -> dict[str, tuple[str, ...]]:
    """What the doctor finds, by check."""
    return {check.name: check.found for check in Study.doctor(path).checks if check.found}


def check_of(path: str | Path, name: str) -> CheckResult:
    return next(check for check in Study.doctor(path).checks if check.name == name)


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


def test_a_study_is_sound_at_every_stage_and_looking_changes_nothing(
    files: dict[str, Path], tmp_path: Path, at: At
) -> None:
    for stage in STAGES:
        path = Path(shutil.copy(files[stage], tmp_path / "looked-at.db"))
        before, around = path.read_bytes(), sorted(tmp_path.iterdir())
        health = Study.doctor(path)
        assert (health.is_sound, [check.found for check in health.checks if check.found]) == (True, [])
        assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (before, around)
    study = at("dealt")
    study.grid().simulate(Simulate())
    study.grid().adjudicate(Adjudicate("majority"))
    assert findings(study.place) == {}


def test_a_setting_that_cannot_be_is_found_and_set_anew(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    for key, value, message in (
        ("policy", "majorty", "`adjudicate` cannot be used: policy is 'majorty'; expected one of manual"),
        ("ties", "discrd", "`adjudicate` cannot be used: ties is 'discrd'; expected one of wait, discard"),
    ):
        grid.adjudicate(Adjudicate("majority"))
        assert findings(study.place) == {}
        change(study.place, f"UPDATE setting SET value = '\"{value}\"' WHERE key = 'adjudicate.{key}'")
        faults = findings(study.place)
        assert list(faults) == ["settings"]
        assert message in faults["settings"][0]
        with pytest.raises(SettingError, match=message.partition(":")[0]):
            study.effective_options(Adjudicate)
    grid.adjudicate(Adjudicate("majority"))
    assert findings(study.place) == {}


@pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004"])
def test_an_older_study_is_sound_once_it_is_upgraded(tmp_path: Path, revision: str) -> None:
    path = shutil.copy(SCHEMAS / f"{revision}.sqlite", tmp_path / "study.db")
    with pytest.raises(StudyError, match="`fcpair upgrade --study"):
        Study.doctor(path)
    Study.upgrade(path)
    assert findings(path) == {}
    change(path, f"UPDATE judgement SET {TURNED} WHERE id = 7")
    assert "answers" in findings(path)


@pytest.mark.slow
def test_the_published_labels_are_sound(data: Path, tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db", Setup())
    study.grid().import_published(data / "fc-conan" / "bronze_partition_df.csv")
    health = Study.doctor(study.place)
    assert health.is_sound
    counts = {check.name: check.n for check in health.checks}
    assert (counts["pairs"], counts["answers"], counts["decisions"]) == (3997, (3 * 199 + 2 * 502 + 3296) + 3997, 3997)


def test_a_study_is_examined_while_it_is_served(at: At) -> None:
    study = at("dealt")
    study.share()
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate")
    log = Path(f"{study.place}-wal").read_bytes()
    counts = {check.name: (check.n, check.found) for check in Study.doctor(study.place).checks}
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
    assert (health.is_sound, next(check.n for check in health.checks if check.name == "answers")) == (True, 1)
    assert {end: (left / f"study.db{end}").read_bytes() for end in ("", "-wal")} == before


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


def test_an_answer_that_was_changed_is_named(at: At) -> None:
    for what in (
        TURNED,
        "note = 'I never wrote this'",
        "at = '2026-01-01T00:00:00.000+00:00'",
        "seconds = 1.5",
        "origin = 'online'",
        "skipped = 1, answer_id = NULL",
        "run_id = 1",
        "digest = zeroblob(32)",
    ):
        path = at("checked").place
        number = ask(path, f"SELECT id FROM judgement WHERE {CODE} <> 1 AND id > 20 LIMIT 1")[0]
        message = named(path, number)
        change(path, f"UPDATE judgement SET {what} WHERE id = {number}")
        assert findings(path)["answers"][0].startswith(message), what


def test_an_answer_or_a_receipt_that_was_acknowledged_online_and_is_gone_is_missed(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate")
    number = ask(study.place, "SELECT max(id) FROM judgement")[0]
    change(study.place, f"DELETE FROM judgement WHERE id = {number}")
    faults = findings(study.place)
    assert faults["receipts"] == (f"answer {number} of `ana` was acknowledged and is missing",)
    assert faults["answers"] == ("answers of `ana`: 0 stored, 1 given",)
    assert faults["work"][0].endswith("of `ana` is done, but its answers say otherwise")
    decided = at("labelled")
    (judy,) = adjudicators(decided, "judy")
    AdjudicationQueue(decided.grid()).decide(judy, decision_on(first_case(decided, judy)))
    assert findings(decided.place) == {}
    change(decided.place, "DELETE FROM receipt")
    no_receipt = ("receipt has 0 rows up to number 0, and should have 1 up to 1",)
    assert findings(decided.place)["extent"] == no_receipt
    answered = at("dealt")
    give(*at_desk(answered, "ana"), "appropriate")
    change(answered.place, "DELETE FROM receipt")
    assert findings(answered.place)["extent"] == no_receipt


def test_answers_that_two_people_exchanged_and_work_given_to_another_are_found(at: At) -> None:
    path = at("checked").place
    first, second = ask(
        path,
        "SELECT j.id, k.id FROM judgement j JOIN assignment a ON a.id = j.assignment_id, judgement k JOIN assignment b "
        "ON b.id = k.assignment_id WHERE a.cell_id = b.cell_id AND a.person_id < b.person_id "
        "AND a.round_id = b.round_id",
    )
    places = [ask(path, f"SELECT assignment_id FROM judgement WHERE id = {number}")[0] for number in (first, second)]
    change(
        path,
        f"UPDATE judgement SET assignment_id = {places[1]} WHERE id = {first}",
        f"UPDATE judgement SET assignment_id = {places[0]} WHERE id = {second}",
    )
    faults = {finding.partition(":")[0] for finding in findings(path)["answers"]}
    assert {named(path, first), named(path, second)} <= faults
    path = at("labelled").place
    change(
        path,
        "UPDATE assignment SET person_id = 2 WHERE id = (SELECT min(id) FROM assignment a WHERE person_id = 1 AND NOT "
        "EXISTS (SELECT 1 FROM assignment b WHERE b.cell_id = a.cell_id AND b.person_id = 2))",
    )
    assert {finding.split("`")[1] for finding in findings(path)["answers"]} == {"ana", "ben"}


CHANGED = [  # besides what `test_planted` has on both databases
    ("UPDATE text SET body = body || ' ' WHERE id = 3", "texts", "text 3 was changed"),
    ("UPDATE grid SET column_name = 'reply'", "rounds", "grid 1 was changed"),
    ("UPDATE round SET form = replace(form, '?', '') WHERE id = 1", "rounds", "round 1 was changed"),
    ("UPDATE answer SET value = replace(value, 'not_', '') WHERE id = 1", "rounds", "answer 1 was changed"),
    ("UPDATE answer SET code = 7 - code WHERE id = 1", "rounds", "answer 1 was changed"),
    ("UPDATE cell SET column_id = column_id + 1 WHERE id = 9", "pairs", "pair 9 is not the one of its place"),
    ("UPDATE cell SET column_id = column_id + 1 WHERE id = 9", "answers", "answer "),
    ("UPDATE side SET text_id = 6 WHERE axis = 'row' AND position = 2", "pairs", "pair 7 is not the one of its "),
    ("UPDATE judgement SET answer_id = 99 WHERE id = 4", "codes", "answer 4 is not a possible one"),
    (f"UPDATE judgement SET answer_id = {VERDICT} WHERE id = 4", "codes", "answer 4 is not a possible one"),
    (f"UPDATE adjudication SET answer_id = {UNSURE} WHERE id = 4", "codes", "decision 4 is not a possible one"),
    (f"UPDATE adjudication SET answer_id = {VERDICT} WHERE id = 4", "codes", "decision 4 is not a possible one"),
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
]
# These statements leave no trigger out, or the one that they are about.
BUILT_OTHERWISE = [
    ("DROP TRIGGER cell_sealed", "protection", "the trigger `cell_sealed` is missing"),
    ("DROP TABLE receipt", "tables", "the table `receipt` is missing"),
    ("ALTER TABLE judgement DROP COLUMN seconds", "tables", "`judgement` lacks the column `seconds`"),
    ("DROP INDEX ix_judgement_assignment_id", "tables", "the index `ix_judgement_assignment_id` is missing"),
    ("ALTER TABLE person ADD COLUMN mood TEXT", "tables", "`person` has a column `mood` that is not fcpair's"),
]


def test_what_answers_rest_on_is_held_against_what_it_was(files: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    for statement, check, message in CHANGED:
        shutil.copy(files["checked"], path)
        change(path, statement)
        assert any(finding.startswith(message) for finding in findings(path)[check]), statement
    for statement, check, message in BUILT_OTHERWISE:
        shutil.copy(files["checked"], path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
        faults = findings(path)
        assert faults[check][0].startswith(message), statement
        assert check == "tables" or faults == {check: (message,)}


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


def test_a_release_that_is_gone_or_cannot_be_read_is_no_fault_but_a_changed_one_is(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, grid = with_grid(at("checked"))
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for folder in (here, elsewhere):
        folder.mkdir()
    monkeypatch.chdir(here)
    for name in ("gold", "bronze"):
        grid.release(name, f"{name}.csv")
    grid.release("silver", "gold.csv")  # in the same place: only the newer one can be there
    monkeypatch.chdir(elsewhere)
    Path("gold.csv").write_text("of another study\n", "utf-8")
    assert findings(study.place) == {}
    releases = check_of(study.place, "releases")
    assert (releases.n, releases.found, releases.note) == (2, (), "")

    opened = open

    def refuse(file: Any, *args: Any, **more: Any) -> Any:
        if str(file).endswith("gold.csv"):
            raise PermissionError(13, "Permission denied", str(file))
        return opened(file, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", refuse)  # rights hold nobody back who runs the tests as root
        releases = check_of(study.place, "releases")
    assert (releases.n, releases.found) == (1, ())
    assert releases.note == f"missing or unreadable, so not checked: {here / 'gold.csv'}"

    (here / "bronze.csv").unlink()
    (here / "gold.csv").write_text("pair\n1\n", "utf-8")
    releases = check_of(study.place, "releases")
    assert releases.found == (f"{here / 'gold.csv'} differs from what was released",)
    assert releases.note == f"missing or unreadable, so not checked: {here / 'bronze.csv'}"
    (here / "gold.csv").unlink()
    assert check_of(study.place, "releases").note == f"missing or unreadable, so not checked: 2 files in {here}"


def test_the_advice_on_rules_is_a_command_that_mends_them_or_to_restore_what_cannot_be_read(at: At) -> None:
    for policy, options in ((Adjudicate("majority", ties="discard"), " --ties discard"), (Adjudicate("manual"), "")):
        study, grid = with_grid(at("decided"))
        grid.adjudicate(Adjudicate("median"))
        run = ask(study.place, "SELECT run_id FROM setting WHERE key = 'adjudicate.policy'")[0]
        for key, value in (("policy", policy.policy), ("ties", policy.ties)):
            change(study.place, f"INSERT OR REPLACE INTO setting VALUES (1, 'adjudicate.{key}', '\"{value}\"', {run})")
        rules = check_of(study.place, "rules")
        assert rules.found
        assert f"run `fcpair adjudicate --policy {policy.policy}{options}`" in rules.advice
        grid.adjudicate(policy)
        assert findings(study.place) == {}
    change(study.place, "UPDATE setting SET value = '{' WHERE key = 'adjudicate.policy'")
    rules = check_of(study.place, "rules")
    assert rules.found[0].startswith("this cannot be checked (JSONDecodeError: ")
    assert "go back to a copy that is sound" in rules.advice


def test_a_decision_that_waits_for_a_second_look_is_told_and_is_no_fault(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("decided"))
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, 2, by="ada")
    (_, who), *_ = labels_of(study, pair)
    record(study, tmp_path, [(who, pair, "2")], supersede=True)
    health = Study.doctor(study.place)
    assert (health.is_sound, len(health.notes)) == (True, 1)
    assert "second look" in health.notes[0]


def test_the_digest_is_that_of_what_was_said_and_of_nothing_else(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    before = Study.doctor(study.place).digest
    assert len(bytes.fromhex(before)) == 32
    study.grid().tiers(Partition("majority")).table()
    study.access.invite("ana")
    with closing(sqlite3.connect(study.place)) as connection:
        connection.execute("VACUUM")
    assert Study.doctor(study.place).digest == before
    record(study, tmp_path, [(who, pair, "1") for pair, who in list(labels_of(study))[:1]], supersede=True)
    assert Study.doctor(study.place).digest != before


def test_texts_settings_and_the_log_each_change_one_digest(at: At) -> None:
    path = at("checked").place
    health = Study.doctor(path)
    digests = [health.digest, health.settings_digest, health.log_digest]
    for number, statement in enumerate(
        (
            "UPDATE text SET checksum = zeroblob(32) WHERE id = 2",
            "UPDATE setting SET value = '7' WHERE key = 'select.seed'",
            "UPDATE run SET params = '{}' WHERE id = 3",
        )
    ):
        change(path, statement)
        health = Study.doctor(path)
        changed = [health.digest, health.settings_digest, health.log_digest]
        assert [before != after for before, after in zip(digests, changed, strict=True)] == [
            place == number for place in range(3)
        ]
        digests = changed


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


def test_a_file_that_is_damaged_is_found_so_and_never_fails(files: dict[str, Path], tmp_path: Path) -> None:
    path, whole = tmp_path / "study.db", files["checked"].read_bytes()
    fillings = {  # the page size, the schema, the second page, and three pages
        16: b"\0\0",
        100: b"\xff" * 60,
        4096: b"\0" * 4096,
        3 * 4096: random.Random(3).randbytes(3 * 4096),
    }
    for start, filling in fillings.items():
        path.write_bytes(whole)
        spoil(path, start, filling)
        health = Study.doctor(path)
        assert not health.is_sound
        assert "`fcpair doctor --study COPY`" in next(check for check in health.checks if check.found).advice
    for size in (0, 100, 5000, 100_000):
        path.write_bytes(whole[:size])
        assert not is_sound(path)
    for old, new, message in (
        (b"CREATE TABLE receipt", b"CREATE TABLE \xe4eceipt ", "it cannot be opened: .*"),
        (
            b"withdraws IS NULL OR",
            b"withdraws IS FULL OR",
            "SQLite says: judgement is not defined as it was: no such column: FULL",
        ),
    ):
        path.write_bytes(whole.replace(old, new))
        (finding,) = findings(path)["file"]
        assert re.fullmatch(message, finding)
        with pytest.raises(StudyError, match="the file is damaged"):
            Study(path)


def near(whole: bytes, words: list[bytes], drawn: random.Random) -> int:
    """A place in the file near one of these words: rows begin and end there."""
    word = drawn.choice(words)
    places = [match.start() for match in re.finditer(re.escape(word), whole)]
    return drawn.choice(places) + drawn.randrange(-30, len(word) + 30)


@pytest.mark.slow
@pytest.mark.parametrize("aimed", one_short(True, False), ids=["at answers and texts", "anywhere"])
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

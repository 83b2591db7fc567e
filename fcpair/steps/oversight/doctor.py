"""Examining a study: what was changed, lost or added behind fcpair's back, and whether promises hold; and backups."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fcpair import params
from fcpair.errors import SettingError
from fcpair.models.encode import Progress
from fcpair.params import Import, Pair, Partition
from fcpair.records import BY_HAND, UNDECIDED, Known
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.answers.import_fc_conan import FORMAT
from fcpair.steps.assignment import validate
from fcpair.steps.base import context
from fcpair.steps.people.known_pairs import known_pairs_of
from fcpair.steps.release import partition
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.wording import effective_words
from fcpair.store import Store, Tx, adjudications, backups, doctor_checks, optouts, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.backups import copy
from fcpair.store.corpus import cells, grids
from fcpair.store.database import schema
from fcpair.store.database.backends import Place
from fcpair.store.database.hash_chain import ANSWERS, DECISIONS
from fcpair.store.database.tables import answer, grid, guideline, person, round_, text
from fcpair.store.doctor_checks import CheckOutcome
from fcpair.store.oversight import runs, settings
from fcpair.work_records import BackupReport, CheckResult, Health

__all__ = ["accept", "back_up", "check_backup", "copy", "examine", "restore", "study_digests"]

RESTORE = (
    "the disk, or something other than fcpair, has changed this file: keep it as it is, and go back to a copy that is "
    "sound (`fcpair doctor --study COPY`); `fcpair labels export` writes the labels that can still be read"
)
RECOVER = (
    "keep the file as it is, and go back to a copy that is sound (`fcpair doctor --study COPY`); SQLite's own "
    "`.recover` writes what can still be read"
)
MIXED = (
    "part of the file is from another time, as when a copy is combined with the log of another moment: put back a "
    "file with its own log, or a complete copy; if there is none, `fcpair doctor --as-it-is` accepts the file as it "
    "is"
)
# What the same advice is where the study is in no file.
IN_DATABASE = {
    RESTORE: (
        "something other than fcpair, or the disk, has changed this database: keep it as it is, and go back to a "
        "backup that is sound (`fcpair restore FILE --study ANOTHER` examines it); `fcpair labels export` writes the "
        "labels that can still be read"
    ),
    MIXED: (
        "rows that were written last are gone: keep the database as it is, and go back to a backup that is sound "
        "(`fcpair restore FILE --study ANOTHER` examines it)"
    ),
}
KNOWN_FAULTS = {
    "both": "a known pair of somebody who has it in their shard",
    "unknown": "assigned as a known pair, and is none",
}
MARKED = ("answers", "decisions", "texts", "guidelines", "rounds", "names")  # checks that digests come of
RELEASE = "release"  # the stage of runs that wrote what is public of a study, and changed nothing in it
RELEASE_FORM = "release form"  # that of runs that kept what is filled in of its form
UNPUBLISHED = (RELEASE, RELEASE_FORM)
LOOK_AT_PAIRS = "look at these pairs with `fcpair explain PAIR`; if nobody did that on purpose, please report it"


class Check(NamedTuple):
    """One check: its name, what should be true and of what, how it is made, and what to do when it finds something."""

    name: str
    asks: str
    of: str
    make: Callable[[Tx], CheckOutcome]
    advice: str = RESTORE


def examine(path: str | Path, *, progress: Progress | None = None) -> Health:
    """Say what was changed, lost or added in a study behind fcpair's back, and whether its promises hold.

    It changes nothing in a study that may be served; raises StudyError when there is none, or one of another schema.
    """
    store = Store.open_to_examine(path)
    if reason := doctor_checks.unreadable_reason(store):
        first_check, faults = CHECKS[0], (f"it cannot be opened: {reason}",)
        result = CheckResult(first_check.name, first_check.asks, 0, first_check.of, faults, RECOVER)
        return Health(store.place, (result,), _digest([]))
    results, marks = list[CheckResult](), list[bytes]()
    with store.read() as tx:
        revision = doctor_checks.check_schema(tx, store.place)
        for n_done, check in enumerate(CHECKS):
            if progress:
                progress(n_done, len(CHECKS))
            try:
                with tx.begin_nested():
                    outcome = check.make(tx)
                advice = outcome.advice or check.advice
            except SettingError:
                outcome = CheckOutcome(0, [], note="not checked, because a setting cannot be used")
                advice = check.advice
            except Exception as error:  # a damaged file can make anything fail in any way, and that is what is found
                message = str(getattr(error, "orig", error)).partition("\n")[0]
                outcome = CheckOutcome(0, [f"this cannot be checked ({type(error).__name__}: {message})"])
                advice = RESTORE
            advice = advice if tx.dialect.name == "sqlite" else IN_DATABASE.get(advice, advice)
            facts = check.name, check.asks, outcome.n, check.of
            results.append(CheckResult(*facts, tuple(outcome.faults), advice, outcome.note))
            marks += outcome.marks
        if progress:
            progress(len(CHECKS), len(CHECKS))
        digests = []
        for read_rows in (doctor_checks.setting_rows, doctor_checks.log_rows):
            try:
                with tx.begin_nested():
                    digests.append(_digest_rows(read_rows(tx)))
            except Exception:  # damage keeps them from being read
                digests.append("")
        is_sound = not any(result.found for result in results)
        notes = (*validate.look_again_notes(tx), *effective_words(tx).language_notes) if is_sound else ()
        tx.rollback()  # of a damaged file, not even the end of reading can be committed
    return Health(store.place, tuple(results), _digest(marks), notes, revision, *digests)


def accept(tx: Tx, lost: dict[str, int], missing: dict[str, tuple[int, int]]) -> None:
    """Note that a study is taken as it is: what is found lost, and what is missing of each table from now on."""
    run = context.note_run(tx, schema.ACCEPT, {}, {"missing": lost})
    numbers_by_table = {name: list(numbers) for name, numbers in missing.items() if any(numbers)}
    settings.save_settings(tx, schema.ACCEPT, numbers_by_table, run.id)


def study_digests(tx: Tx, last_run: int) -> dict[str, str]:
    """The digests of a study as `examine` has them; that of the log up to a run, and without those of releases."""
    marks = [mark for check in CHECKS if check.name in MARKED for mark in check.make(tx).marks]
    log_rows = [row for row in doctor_checks.log_rows(tx) if row[0] <= last_run and row[1] not in UNPUBLISHED]
    settings_digest = _digest_rows(doctor_checks.setting_rows(tx))
    return {"answers": _digest(marks), "settings": settings_digest, "log": _digest_rows(log_rows)}


def _digest_rows(rows: Sequence[tuple[Any, ...]]) -> str:
    content = json.dumps(rows, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(content.encode()).hexdigest()


def _digest(marks: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(mark if isinstance(mark, bytes) else b"?" for mark in marks)).hexdigest()


def _in_each_grid(make: Callable[[Tx], CheckOutcome]) -> Callable[[Tx], CheckOutcome]:
    def make_all(tx: Tx) -> CheckOutcome:
        outcomes = [make(tx) for _ in grids.for_each_grid(tx)]
        return CheckOutcome(
            sum(outcome.n for outcome in outcomes),
            [fault for outcome in outcomes for fault in outcome.faults],
            note=next((outcome.note for outcome in outcomes if outcome.note), ""),
            advice=next((outcome.advice for outcome in outcomes if outcome.advice), ""),
        )

    return make_all


def _check_grid(tx: Tx) -> CheckOutcome:
    if settings.of_stage(tx, Import.stage).get("reader") == FORMAT or cells.has_comparisons(tx):
        return doctor_checks.published_grid(tx)
    keeps_known = context.options_as_done(tx, Pair).keep_known
    if sample := context.load_sample_size(tx):
        digest = str(settings.of_stage(tx, context.SAMPLE_SETTING)["sha256"])
        return doctor_checks.drawn_grid(tx, sample.cells, digest, keep_known=keeps_known)._replace(note=str(sample))
    return doctor_checks.whole_grid(tx, keep_known=context.is_planned(tx) or keeps_known)


def _check_settings(tx: Tx) -> CheckOutcome:
    option_classes = [cls for cls in vars(params).values() if hasattr(cls, "stage")]
    sections = [(cls, section) for cls in option_classes for section in ("", settings.RECIPE)]
    n, faults = 0, []
    for key, (cls, section) in ((key, each) for key in grids.for_each_grid(tx) for each in sections):
        saved_settings = settings.of_stage(tx, section + cls.stage)
        n += len(saved_settings)
        if saved_settings.get("reader") == FORMAT:  # texts that came with labels, by no import of a corpus
            del saved_settings["reader"]
        try:
            if saved_settings:
                context.build_options(cls, saved_settings, {})
        except SettingError as error:
            faults.append(f"grid `{key.name}`: {error}")
    return CheckOutcome(n, faults)


def _check_codes(tx: Tx) -> CheckOutcome:
    possible = []
    for _ in grids.for_each_grid(tx):
        if question := context.labels_of(tx):  # also a label that was split since
            codes = {*question.codes} - {*question.definite}
            possible += [id_ for id_, code in rounds.codes_by_id(tx).items() if code not in codes]
    return doctor_checks.codes(tx, possible)


def _check_rules(tx: Tx) -> CheckOutcome:
    rules = adjudications.current_adjudications(tx, "rule")["rule"]
    n = int((~rules.isin([rule.value for rule in (*BY_HAND, *UNDECIDED)])).sum())
    policy = rule_decisions.policy_that_holds(tx)
    if policy is None:
        return CheckOutcome(n, [])
    changes, name = rule_decisions.preview_policy(tx, policy), grids.pair_namer(tx)
    faults = [
        *(f"a rule would decide {name(cell_id)} differently, or for the first time" for cell_id, _ in changes.new),
        *(f"no rule would decide {name(cell_id)} now" for cell_id in changes.reopened),
    ]
    advice = f"once there are no other errors, run `{policy.command}`, which is the current policy"
    return CheckOutcome(n, faults, advice=advice)


def _check_tiers(tx: Tx) -> CheckOutcome:
    question = context.labels_of(tx)
    if question is None or not judgements.is_answered(tx) or tier_obstacle(question):
        return CheckOutcome(0, [])
    return CheckOutcome(len(partition.tiers_of(tx, context.effective_options(tx, Partition, {})).pairs), [])


def _check_slots(tx: Tx) -> CheckOutcome:
    """The slots, and that known pairs are those that were set, and in nobody's shard who has them besides."""
    outcome, faults = doctor_checks.slots(tx), list[str]()
    for _ in grids.for_each_grid(tx):
        name_pair = grids.pair_namer(tx)
        for known_round in rounds.of_known_pairs(tx):
            main_round = rounds.by_name(tx, known_round.options.known_for)
            pairs = [pair[:2] for pair in known_pairs_of(tx, Known(known_round.options.known))]
            faults += [
                f"{name_pair(cell_id)} is {KNOWN_FAULTS[kind]}"
                for cell_id, kind in assignments.known_faults(tx, known_round, main_round, pairs)
            ]
    return outcome._replace(faults=[*outcome.faults, *faults])


def _check_opt_outs(tx: Tx) -> CheckOutcome:
    names = {active_person.id: active_person.name for active_person in people.people(tx, active=True)}
    opt_outs = [(id_, topics) for id_, topics in people.opt_outs(tx).items() if id_ in names]
    faults = [
        f"`{names[id_]}` has {n:,} open on topics that they opted out of"
        for id_, topics in opt_outs
        if (n := optouts.n_open_about(tx, id_, topics))
    ]
    return CheckOutcome(len(opt_outs), faults)


def _check_releases(tx: Tx) -> CheckOutcome:
    releases, notes = runs.releases(tx), list[str]()
    newest_sha256 = {row["path"]: row["sha256"] for row in releases if row["path"]}  # of several in one place the last
    missing_by_folder, faults, n_read = dict[str, list[str]](), list[str](), 0
    for file, sha256 in newest_sha256.items():
        try:
            with open(file, "rb") as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() != sha256:
                    faults.append(f"{file} differs from what was released")
            n_read += 1
        except OSError:
            missing_by_folder.setdefault(os.path.dirname(file), []).append(file)
    if missing_by_folder:
        missing = ", ".join(
            of[0] if len(of) == 1 else f"{len(of)} files in {folder or '.'}" for folder, of in missing_by_folder.items()
        )
        notes.append(f"missing or unreadable, so not checked: {missing}")
    if n_downloaded := sum(row["path"] is None for row in releases):
        notes.append(f"downloaded, so not here to be checked: {n_downloaded:,}")
    return CheckOutcome(n_read, faults, note="; ".join(notes))


CHECKS = (
    Check("file", "every page and index can be read", "pages", doctor_checks.pages),
    Check("tables", "tables have their columns and indexes", "tables", doctor_checks.tables),
    Check("protection", "answers are append-only, the grid is sealed", "triggers", doctor_checks.protection),
    Check("references", "rows that other rows refer to exist", "tables", doctor_checks.references),
    Check("numbering", "no number is missing", "rows", doctor_checks.numbering),
    Check("extent", "the rows written last are present", "tables", doctor_checks.extents, MIXED),
    Check("answers", "each fits the one before it", "answers", lambda tx: doctor_checks.chain_links(tx, ANSWERS)),
    Check("decisions", "each fits the one before it", "decisions", lambda tx: doctor_checks.chain_links(tx, DECISIONS)),
    Check("texts", "as they were imported", "texts", lambda tx: doctor_checks.row_checksums(tx, text)),
    Check("guidelines", "as they were written", "versions", lambda tx: doctor_checks.row_checksums(tx, guideline)),
    Check(
        "rounds",
        "answers mean what they meant",
        "rows",
        lambda tx: doctor_checks.row_checksums(tx, grid, round_, answer),
    ),
    Check("names", "people have their pseudonyms", "people", lambda tx: doctor_checks.row_checksums(tx, person)),
    Check("receipts", "what was acknowledged is stored", "receipts", doctor_checks.receipts),
    Check("pairs", "the product of the sides minus the corpus, each once", "pairs", _in_each_grid(_check_grid)),
    Check(
        "settings",
        "each has a possible value",
        "settings",
        _check_settings,
        "set it again, by the command or the recipe of its stage (`fcpair adjudicate --policy POLICY`)",
    ),
    Check("work", "those done have an answer, those skipped have none", "assignments", _check_slots, LOOK_AT_PAIRS),
    Check("codes", "answers and decisions are possible ones", "rows", _check_codes),
    Check(
        "roles", "nobody checks a pair that they labelled or decided", "checks", doctor_checks.checkers, LOOK_AT_PAIRS
    ),
    Check("rules", "rules would decide the same today", "decisions", _in_each_grid(_check_rules)),
    Check("tiers", "they follow from answers and decisions", "pairs", _in_each_grid(_check_tiers)),
    Check("consent", "everybody who answered online had consented", "answers", doctor_checks.consents, LOOK_AT_PAIRS),
    Check(
        "opt-outs",
        "nobody has open work that they opted out of",
        "people",
        _check_opt_outs,
        "`fcpair serve` gives it to others",
    ),
    Check(
        "releases",
        "files are as they were released",
        "files",
        _check_releases,
        "the file was changed or overwritten: write the tier again (`fcpair partition --tier TIER --out FILE`)",
    ),
)


def back_up(place: Place, file: str | Path) -> Path:
    """Write a consistent copy of a study, perhaps served, to a new file, and return that; StudyError leaves no file."""
    backups.back_up(place, Path(file))
    return Path(file)


def restore(file: str | Path, place: Place, *, create: bool = False, progress: Progress | None = None) -> BackupReport:
    """Bring the study of a backup back at `place`, where none may be, and examine it unless it is to be upgraded first.

    Raises StudyError, and leaves nothing, where the backup is not what was written, is of another kind of database or a
    newer fcpair, or a server lacks the database that is not to be made (`create`).
    """
    manifest = backups.restore(Path(file), place, create=create)
    health = examine(place, progress=progress) if manifest.schema == schema.HEAD else None
    return BackupReport(manifest.kind, manifest.schema, manifest.fcpair, manifest.at, health)


def check_backup(file: str | Path, *, progress: Progress | None = None) -> BackupReport:
    """Say what a backup is, and examine a study that was in a file, without restoring it; StudyError for damage."""
    manifest = backups.check(Path(file))
    with backups.unpacked_study(Path(file)) as study:
        is_current = study is not None and manifest.schema == schema.HEAD
        health = examine(study, progress=progress) if study is not None and is_current else None
    return BackupReport(manifest.kind, manifest.schema, manifest.fcpair, manifest.at, health)

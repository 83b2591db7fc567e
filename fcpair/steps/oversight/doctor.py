"""Examining a study: what was changed, lost or added behind fcpair's back, and whether its promises hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from fcpair import params
from fcpair.errors import SettingError
from fcpair.models.encode import Progress
from fcpair.params import Import, Pair, Partition
from fcpair.records import BY_HAND, Examined, Health, Rule
from fcpair.stages.questions.labels import no_tiers
from fcpair.steps.answers.import_fc_conan import FORMAT
from fcpair.steps.assignment import validate
from fcpair.steps.base.context import as_done, is_planned, labels_of, made, own
from fcpair.steps.base.sample_size import drawn_digest, sampled
from fcpair.steps.release import partition
from fcpair.steps.rules import rule_decisions
from fcpair.store import Store, Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.database.hash_chain import ANSWERS, DECISIONS
from fcpair.store.database.tables import answer, grid, guideline, person, round_, text
from fcpair.store.maintenance import integrity_checks, invariant_checks
from fcpair.store.maintenance.integrity_checks import Found
from fcpair.store.oversight import runs, settings
from fcpair.store.people import opt_out_pairs, people

RESTORE = (
    "the disk, or something other than fcpair, has changed this file: keep it as it is, and go back to a copy that is "
    "sound (`fcpair doctor --study COPY`); `fcpair labels export` writes the labels that can still be read"
)
RECOVER = (
    "keep the file as it is, and go back to a copy that is sound (`fcpair doctor --study COPY`); what can still be "
    "read, SQLite's own `.recover` writes"
)
MIXED = (
    "part of the file is of another time, as where a copy meets the log of another moment: put back a file with its "
    "own log, or a whole copy; if there is none, `fcpair doctor --as-it-is` takes the file as it is"
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
AT_WORK = "look at these pairs with `fcpair explain PAIR`; if nobody did that on purpose, please report it"


class Check(NamedTuple):
    """One check: its name, what should be true and of what, how it is made, and what to do when it finds something."""

    name: str
    asks: str
    of: str
    make: Callable[[Tx], Found]
    advice: str


def examine(path: str | Path, *, progress: Progress | None = None) -> Health:
    """Say what was changed, lost or added in a study behind fcpair's back, and whether its promises hold.

    It changes nothing in the study, which may be served meanwhile and need not be one that can be opened. Raises
    StudyError when there is none, or one of another schema.
    """
    store = Store.to_examine(path)
    if said := integrity_checks.unreadable(store):
        first = CHECKS[0]
        found = (f"it cannot be opened: {said}",)
        return Health(store.place, (Examined(first.name, first.asks, 0, first.of, found, RECOVER),), _digest([]))
    with store.read() as tx:
        integrity_checks.check_schema(tx, store.place)
        revision = integrity_checks.revision(tx)
        made, marks = _all_checks(tx, progress or (lambda done, total: None))
        sound = not any(one.found for one in made)
        notes = tuple(validate.look_again_notes(tx)) if sound else ()
        tx.rollback()  # of a damaged file, not even the end of reading can be committed
    return Health(store.place, tuple(made), _digest(marks), notes, revision)


def _all_checks(tx: Tx, progress: Progress) -> tuple[list[Examined], list[bytes]]:
    made: list[Examined] = []
    marks: list[bytes] = []
    for at, check in enumerate(CHECKS):
        progress(at, len(CHECKS))
        found, advice = _make(check, tx)
        advice = advice if integrity_checks.is_in_file(tx) else IN_DATABASE.get(advice, advice)
        made.append(Examined(check.name, check.asks, found.n, check.of, tuple(found.faults), advice, found.note))
        marks += found.marks
    progress(len(CHECKS), len(CHECKS))
    return made, marks


def _make(check: Check, tx: Tx) -> tuple[Found, str]:
    """What a check found, and what to do about it."""
    try:
        with integrity_checks.apart(tx):
            found = check.make(tx)
        return found, found.advice or check.advice
    except SettingError:
        return Found(0, [], note="not checked, because a setting cannot be used"), check.advice
    except Exception as error:  # a damaged file can make anything fail in any way, and that is what is found
        said = str(getattr(error, "orig", error)).partition("\n")[0]
        return Found(0, [f"this cannot be checked ({type(error).__name__}: {said})"]), RESTORE


def _digest(marks: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(mark if isinstance(mark, bytes) else b"?" for mark in marks)).hexdigest()


def _rounds(tx: Tx) -> Found:
    return integrity_checks.unchanged(tx, grid, round_, answer)


def _in_each(make: Callable[[Tx], Found]) -> Callable[[Tx], Found]:
    """The same check in every grid."""

    def make_all(tx: Tx) -> Found:
        found = [make(tx) for _ in grids.each(tx)]
        advice, note = (
            next(filter(None, said), "") for said in zip(*((one.advice, one.note) for one in found), strict=True)
        )
        faults = [fault for one in found for fault in one.faults]
        return Found(sum(one.n for one in found), faults, note=note, advice=advice)

    return make_all


def _grid(tx: Tx) -> Found:
    if settings.of_stage(tx, Import.stage).get("format") == FORMAT:
        return invariant_checks.published_grid(tx)
    options = as_done(tx, Pair)
    if drawn := sampled(tx):
        found = invariant_checks.drawn_grid(tx, drawn.cells, drawn_digest(tx), keep_known=options.keep_known)
        return found._replace(note=str(drawn))
    return invariant_checks.whole_grid(tx, keep_known=is_planned(tx) or options.keep_known)


def _settings(tx: Tx) -> Found:
    """What the study keeps for the stages of each grid can be used."""
    of_stages = [cls for cls in vars(params).values() if hasattr(cls, "stage")]
    n, faults = 0, []
    for key, cls in ((key, cls) for key in grids.each(tx) for cls in of_stages):
        for stage in (cls.stage, settings.RECIPE + cls.stage):
            there = settings.of_stage(tx, stage)
            n += len(there)
            if there.get("format") == FORMAT:  # texts that came with their labels, and by no import of a corpus
                del there["format"]
            try:
                if there:
                    made(cls, there, {})
            except SettingError as error:
                faults.append(f"grid `{key.name}`: {error}")
    return Found(n, faults)


def _codes(tx: Tx) -> Found:
    possible = []
    for _ in grids.each(tx):
        question, labels = labels_of(tx), rounds.labels(tx)
        possible += [labels[code] for code in question.definite if code in labels] if question else []
    return invariant_checks.codes(tx, possible)


def _rules(tx: Tx) -> Found:
    """What rules have decided is what they would decide now."""
    rules = judgements.current_adjudications(tx, "rule")["rule"]
    n = int((~rules.isin([rule.value for rule in (*BY_HAND, Rule.REOPENED)])).sum())
    policy = rule_decisions.policy_that_holds(tx)
    if policy is None:
        return Found(n, [])
    found = rule_decisions.foresee(tx, policy)
    name = grids.pair_names(tx)
    other = [f"a rule would decide {name(cell_id)} otherwise, or for the first time" for cell_id, _ in found.new]
    faults = other + [f"no rule would decide {name(cell_id)} now" for cell_id in found.reopened]
    return Found(
        n, faults, advice=f"once nothing else is found, run `{policy.command}`, which is the policy that holds"
    )


def _tiers(tx: Tx) -> Found:
    question = labels_of(tx)
    if question is None or not judgements.is_answered(tx) or no_tiers(question):
        return Found(0, [])
    pairs = partition.tiers_of(tx, own(tx, Partition, {})).pairs
    return Found(len(pairs), [])


def _opt_outs(tx: Tx) -> Found:
    names = {one.id: one.name for one in people.people(tx, active=True)}
    left = {one: topics_ for one, topics_ in people.opt_outs(tx).items() if one in names}
    n_open = {one: opt_out_pairs.n_open_about(tx, one, topics_) for one, topics_ in left.items()}
    return Found(len(left), [f"`{names[one]}` has {n:,} open that they opted out of" for one, n in n_open.items() if n])


def _releases(tx: Tx) -> Found:
    """The file of each release is what was written; of several in one place the last."""
    newest = {row["path"]: row["sha256"] for row in runs.releases(tx)}
    there = {file: found for file in newest if (found := _sha256(file))}
    changed = [file for file, sha256 in there.items() if sha256 != newest[file]]
    gone = [file for file in newest if file not in there]
    note = f"not there or not to be read, and so not checked: {', '.join(gone)}" if gone else ""
    return Found(len(there), [f"{file} is not what was released" for file in changed], note=note)


def _sha256(file: str) -> str | None:
    try:
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None


CHECKS = (
    Check("file", "every page and index can be read", "pages", integrity_checks.pages, RESTORE),
    Check("tables", "tables have their columns and indexes", "tables", integrity_checks.tables, RESTORE),
    Check(
        "protection", "answers are append-only, the grid is sealed", "triggers", integrity_checks.protection, RESTORE
    ),
    Check("references", "what rows refer to is there", "tables", integrity_checks.references, RESTORE),
    Check("numbering", "no number is left out", "rows", integrity_checks.numbering, RESTORE),
    Check("extent", "all that was written last is there", "tables", integrity_checks.extents, MIXED),
    Check(
        "answers", "each fits the one before it", "answers", lambda tx: integrity_checks.linked(tx, ANSWERS), RESTORE
    ),
    Check(
        "decisions",
        "each fits the one before it",
        "decisions",
        lambda tx: integrity_checks.linked(tx, DECISIONS),
        RESTORE,
    ),
    Check("texts", "as they were imported", "texts", lambda tx: integrity_checks.unchanged(tx, text), RESTORE),
    Check(
        "guidelines", "as they were written", "versions", lambda tx: integrity_checks.unchanged(tx, guideline), RESTORE
    ),
    Check(
        "rounds",
        "answers mean what they meant",
        "rows",
        lambda tx: integrity_checks.unchanged(tx, grid, round_, answer),
        RESTORE,
    ),
    Check(
        "names", "people have their pseudonyms", "people", lambda tx: integrity_checks.unchanged(tx, person), RESTORE
    ),
    Check("receipts", "what was acknowledged is there", "receipts", integrity_checks.receipts, RESTORE),
    Check("pairs", "the product of the sides less the corpus, each once", "pairs", _in_each(_grid), RESTORE),
    Check(
        "settings",
        "each is one that can be",
        "settings",
        _settings,
        "set it anew, by the command or the recipe of its stage (`fcpair adjudicate --policy POLICY`)",
    ),
    Check("work", "what is done has an answer, what is skipped none", "assignments", invariant_checks.slots, AT_WORK),
    Check("codes", "answers and decisions are ones that can be given", "rows", _codes, RESTORE),
    Check("roles", "who checks a pair did not label or decide it", "checks", invariant_checks.checkers, AT_WORK),
    Check("rules", "rules would decide the same today", "decisions", _in_each(_rules), RESTORE),
    Check("tiers", "they follow from answers and decisions", "pairs", _in_each(_tiers), RESTORE),
    Check("consent", "who answered online had consented", "answers", invariant_checks.consents, AT_WORK),
    Check(
        "opt-outs", "nobody has open what they opted out of", "people", _opt_outs, "`fcpair serve` gives it to others"
    ),
    Check(
        "releases",
        "files are what was released",
        "files",
        _releases,
        "somebody changed the file, or wrote over it: write the tier again (`fcpair partition --tier TIER --out FILE`)",
    ),
)

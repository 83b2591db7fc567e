"""The methods section counts what the tables count, whatever was done: by SQL of this module's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from servers import copy_study
from sqlalchemy import text

from fcpair.errors import FcpairError
from fcpair.params import Adjudicate, Assign, Validate
from fcpair.records import Role
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import ANNOTATORS, NAMES, VALIDATORS, check, labels_of, open_work, record

Act = Callable[[Study, Path, Random], object]
Counts = dict[str, Any]
WORK = """
    SELECT a.person_id, a.cell_id, a.status FROM assignment a JOIN round r ON r.id = a.round_id
    WHERE {round} ORDER BY a.id
"""
LABELS = """
    SELECT a.cell_id, j.answer_id, j.origin, j.run_id, j.skipped
    FROM assignment a JOIN round r ON r.id = a.round_id
    JOIN judgement j ON j.id = (SELECT max(id) FROM judgement WHERE assignment_id = a.id)
    WHERE r.counts AND j.withdraws IS NULL
"""
VERDICTS = """
    SELECT a.cell_id, v.code, s.answer_id
    FROM assignment a JOIN round r ON r.id = a.round_id
    JOIN judgement j ON j.id = (SELECT max(id) FROM judgement WHERE assignment_id = a.id)
    JOIN answer v ON v.id = j.answer_id JOIN adjudication s ON s.id = j.adjudication_id
    WHERE r.checks IS NOT NULL AND j.withdraws IS NULL AND NOT j.skipped
"""
DECISIONS = """
    SELECT d.cell_id, d.rule, d.answer_id FROM adjudication d
    WHERE d.id = (SELECT max(id) FROM adjudication WHERE cell_id = d.cell_id)
"""
FIGURES = {
    "assigned": r"pairs were assigned to (\d+) annotators? as (\d+) assignments",
    "each": r"assignments \([^)]*\), (all of them|\d+(?: to \d+)? to each)[:.]",
    "by_labels": r"to each: (.*? (?:person|people))\. |all of them: (.*? (?:person|people))\. ",
    "simulated": r"gave (\d+) answers? and skipped",
    "answers": r"In the round `label`, (\d+) answers? (?:was|were) given",
    "pages": r"In the round `label`, [^.]*?(?:(\d+) on the pages|(\d+) answers? (?:was|were) given on the pages)",
    "files": r"In the round `label`, [^.]*? in (\d+) files?",
    "skips": r"In the round `label`, [^.]*?and pairs were skipped (once|twice|\d+)",
    "one_label": r"(\d+) had one label, which stood",
    "unanimous": r"(\d+) had definite labels that agree",
    "majority": r"(\d+) got the label of the majority",
    "median": r"(\d+) got the median",
    "no_majority": r"(\d+) (?:was|were) discarded, as no label had a majority",
    "no_median": r"(\d+) (?:was|were) discarded, as there was no median",
    "person": r"(\d+) got a label from people",
    "irreconcilable": r"(\d+) (?:was|were) discarded by people as irreconcilable",
    "waiting": r"(\d+) waits? for a decision",
    "judged": r"Of (\d+) pairs? with a label or a decision",
    "validated": r"For validation, (\d+) adjudicated pairs? (?:was|were) assigned to (\d+) validators? as (\d+) assign",
    "verdicts given": r"In the round `validate`, (\d+) answers? (?:was|were) given",
    "verdicts": r"final label of (\d+) pairs? there is a verdict: (\d+) were accepted, and (\d+) were not",
    "lost": r"(\d+) pairs? (?:has|have) verdicts on an earlier label alone",
    "tiers": r"nested tiers: (\d+) pairs? in Diamond, (\d+) pairs? in Gold, (\d+) pairs? in Silver and (\d+) pairs?",
}

UNFINISHED = {
    "open": r"Of these, (\d+) (?:is|are) still open",
    "skipped": r"[Bb]esides, (\d+) (?:was|were) skipped",
    "withdrawn": r"esides, (?:\d+ (?:was|were) skipped and )?(\d+) (?:was|were) withdrawn",
}


def numbers_said(written: str) -> Counts:
    """The figures of a methods section by their names, as texts; what is not mentioned is left out."""
    matches = {name: re.search(pattern, written) for name, pattern in FIGURES.items()}
    unfinished = {name: tuple(re.findall(pattern, written)) for name, pattern in UNFINISHED.items()}
    return {name: tuple(filter(None, match.groups())) for name, match in matches.items() if match} | unfinished


def numbers_counted(study: Study) -> Counts:
    """The same figures from the tables."""
    with study._store.read() as tx:
        given, checks, labels, verdicts, decided = (
            [tuple(row) for row in tx.execute(text(sql))]
            for sql in (
                WORK.format(round="r.counts"),
                WORK.format(round="r.checks IS NOT NULL"),
                LABELS,
                VERDICTS,
                DECISIONS,
            )
        )
    decisions = {cell: (rule, answer) for cell, rule, answer in decided if rule not in ("reopened", "requested")}
    answered = [row for row in labels if not row[4]]
    counts = _work(_active(given)) | _answers(answered, len(labels) - len(answered)) | _decisions(decisions, answered)
    rounds = [work for work in (given, checks) if _active(work)]
    for status in UNFINISHED:
        numbers = [sum(row[2] == status for row in work) for work in rounds]
        counts[status] = tuple(n for n in numbers if n)
    if active := _active(checks):
        counts["validated"] = (len({cell for _, cell in active}), len({person for person, _ in active}), len(active))
    if verdicts:
        counts["verdicts given"] = (len(verdicts),)
    counts |= _verdicts(verdicts, decisions, answered)
    return {name: tuple(map(str, values)) for name, values in counts.items()}


def _active(work: list[Any]) -> list[Any]:
    return [row[:2] for row in work if row[2] in ("open", "done")]


def _work(work: list[Any]) -> Counts:
    if not work:
        return {}
    loads = Counter(person for person, _ in work)
    low, high = min(loads.values()), max(loads.values())
    each = f"{low} to each" if low == high else f"{low} to {high} to each"
    sizes = Counter(Counter(cell for _, cell in work).values())
    parts = [f"{n} pair{'s' * (n > 1)} to {k} {'person' if k == 1 else 'people'}" for k, n in sorted(sizes.items())]
    return {
        "assigned": (len(loads), len(work)),
        "each": ("all of them" if len(loads) == 1 else each,),
        "by_labels": (" and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts),),
    }


def _answers(answered: list[Any], n_skips: int) -> Counts:
    counts: Counts = {"answers": (len(answered),)} if answered else {}
    if answered and n_skips:
        counts["skips"] = ({1: "once", 2: "twice"}.get(n_skips, n_skips),)
    if n_online := sum(row[2] == "online" for row in answered):
        counts["pages"] = (n_online,)
    if files := {row[3] for row in answered if row[2] == "imported"}:
        counts["files"] = (len(files),)
    return counts


def _decisions(decisions: dict[int, tuple[str, int | None]], answered: list[Any]) -> Counts:
    n_labels = Counter(row[0] for row in answered)
    outcomes = Counter[str]()
    for cell, (rule, answer) in decisions.items():
        is_single = rule == "unanimous" and n_labels[cell] == 1
        is_irreconcilable = rule == "person" and answer is None
        outcomes["one_label" if is_single else "irreconcilable" if is_irreconcilable else rule] += 1
    outcomes["waiting"] = sum(cell not in decisions for cell in n_labels)
    counts: Counts = {name: (n,) for name, n in outcomes.items() if n}
    return {**counts, "judged": (outcomes.total(),)} if decisions else {}


def _verdicts(verdicts: list[Any], decisions: dict[int, tuple[str, int | None]], answered: list[Any]) -> Counts:
    balances = Counter[int]()
    for cell, agrees, seen in verdicts:
        if seen is not None and decisions.get(cell, ("", None))[1] == seen:
            balances[cell] += 1 if agrees else -1
    counts: Counts = {}
    n_labels = Counter(row[0] for row in answered)
    silver = [cell for cell, balance in balances.items() if balance > 0 and n_labels[cell]]
    gold = [cell for cell in silver if n_labels[cell] > 1]
    diamond = [cell for cell in gold if {row[1] for row in answered if row[0] == cell} == {decisions[cell][1]}]
    if balances:
        n_valid = sum(balance > 0 for balance in balances.values())
        counts["verdicts"] = (len(balances), n_valid, len(balances) - n_valid)
    if bronze := [cell for cell in balances if n_labels[cell]]:
        counts["tiers"] = (len(diamond), len(gold), len(silver), len(bronze))
    if lost := {row[0] for row in verdicts} - set(balances):
        counts["lost"] = (len(lost),)
    return counts


def _by_file(study: Study, folder: Path, random: Random) -> None:
    work = open_work(study)
    rows = random.sample(work, min(len(work), random.randint(1, 20)))
    record(study, folder, [(who, pair, random.choice([*NAMES, "appropriate", "skip"])) for who, pair in rows])


def _by_page(study: Study, _: Path, random: Random) -> None:
    desk, visitor = at_desk(study, random.choice(ANNOTATORS))
    for answer in random.choices([*NAMES, "appropriate", "skip"], k=random.randint(1, 4)):
        give(desk, visitor, answer)


def _supersede(study: Study, folder: Path, random: Random) -> None:
    labels = sorted(labels_of(study))
    rows = random.sample(labels, min(len(labels), 4))
    record(study, folder, [(who, pair, random.choice(NAMES)) for pair, who in rows], supersede=True)


def _withdraw(study: Study, _: Path, random: Random) -> None:
    imports = [run.id for run in study.log() if run.stage == "label import"]
    study.grid().withdraw(random.choice(imports), "labels")


def _decide(study: Study, _: Path, random: Random) -> None:
    grid = study.grid()
    grid.decide(random.choice(grid.waiting_pairs()), random.choice([None, 0, 2]), by="ada")


def _opt_out(study: Study, _: Path, random: Random) -> None:
    person = random.choice(study.people)
    study.access.opt_out(person.id, "hs_topic", random.choice([["People who l"], []]))


def _give_verdicts(study: Study, folder: Path, random: Random) -> None:
    rows = open_work(study, checks=True)
    check(study, folder, [(who, pair, random.choice(["agree", "agree", "disagree"])) for who, pair in rows[:9]])


def _verdict_on_page(study: Study, _: Path, random: Random) -> None:
    desk, visitor = at_desk(study, random.choice(VALIDATORS))
    give(desk, visitor, random.choice(["agree", "disagree", "skip"]))


ACTS: tuple[Act, ...] = (
    _by_file,
    _by_file,
    _by_page,
    _supersede,
    _withdraw,
    _decide,
    _opt_out,
    _give_verdicts,
    _verdict_on_page,
    lambda study, _, random: study.grid().assign(
        Assign(overlap={2: 0.3, 3: 0.3}, seed=random.randint(2, 9)), more=True
    ),
    lambda study, _, random: study.grid().assign(Assign(seed=2), more=True, pairs=random.sample(range(1, 25), 3)),
    lambda study, _, random: study.grid().adjudicate(
        Adjudicate(random.choice(["manual", "majority", "median"]), random.choice(["wait", "discard"]))
    ),
    lambda study, _, random: study.grid().assign_validation(
        Validate(pairs=random.choice([None, 5]), seed=random.randint(2, 9)), more=random.random() < 0.8
    ),
)


STAGES = ("dealt", "labelled", "checking", "checked")


def random_study(files: dict[str, Path], folder: Path, random: Random) -> Study:
    """The small study at a random stage, after random acts; those that are refused change nothing."""
    stage = random.choice(STAGES)
    study = Study(copy_study(files[stage], folder / "study.db"))
    if stage in ("dealt", "labelled"):
        study.add_people(list(VALIDATORS), Role.VALIDATOR)
    for act in random.choices(ACTS, k=random.randint(3, 9)):
        with suppress(FcpairError, IndexError):
            act(study, folder, random)
    return study


@pytest.mark.slow
@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])  # a smaller number is no simpler study
@given(seed=st.integers(0, 10**9))
def test_each_number_is_what_the_tables_count_whatever_was_done(files: dict[str, Path], seed: int) -> None:
    """More assigned, withdrawn, superseded, opted out, answered on pages and in files, decided by hand and by rule."""
    with TemporaryDirectory() as folder:
        study = random_study(files, Path(folder), Random(seed))
        assert numbers_said(study.methods().sections[0].text) == numbers_counted(study)

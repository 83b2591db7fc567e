"""The methods section counts what the tables count, whatever was done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from servers import copy_study

from fcpair.errors import FcpairError
from fcpair.params import Adjudicate, Assign, Validate
from fcpair.records import Role
from fcpair.study import Study
from steps.online import at_desk, give
from steps.oversight.recounted import numbers_counted, numbers_said
from steps.small import ANNOTATORS, NAMES, VALIDATORS, check, labels_of, open_work, record

Act = Callable[[Study, Path, Random], object]


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


def _verdicts(study: Study, folder: Path, random: Random) -> None:
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
    _verdicts,
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

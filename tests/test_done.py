"""What runs and errors tell: a run all that it counted, an error what the commands that it names are in Python."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from cli.test_commands import IDS

from fcpair.done import FIRST, OF_PARAMETERS, OTHER_COUNTS, THINGS, tell
from fcpair.errors import _METHODS, FcpairError, StageError
from fcpair.study import Study


@pytest.mark.parametrize(
    ("stage", "params", "counts", "told"),
    [
        ("init", {}, {}, "the study was set up"),
        ("import", {}, {"rows": 1, "hs": 1, "cn": 1}, "1 row was imported: 1 HS and 1 CN"),
        (
            "assign",
            {},
            {"annotators": 9, "assignments": 6832, "load_min": 645, "load_max": 872, "pairs_by_labels": {"1": 5074}},
            "6,832 labels were assigned to 9 annotators; 645 to 872 for each person; 5,074 pairs have 1 label",
        ),
        ("assign", {}, {"annotators": 3, "assignments": 42, "load_min": 14, "load_max": 14}, "14 for each person"),
        ("plan", {}, {"overlap": {"2": 0.3542}, "labels": 33}, "33 labels are planned; 2 labels for 35.42 % of the"),
        ("people", {"retire": "ana"}, {"withdrawn": 14, "vacant": 1}, "ana was retired; 14 open assignments were tak"),
        ("people", {"add": ["vera", "walt"]}, {"people": 2, "vacant": 0}, "vera, walt was added"),
        ("rate import", {}, {"answers": 3, "skips": 0, "already_there": 2}, "3 answers were imported; 2 were there a"),
        ("rate withdraw", {}, {"answers": 1, "skips": 1}, "1 answer was withdrawn; 1 skip"),
        ("partition", {}, {"gold": 9, "my_strict": 0}, "gold: 9; my strict: 0"),
        ("agreement", {}, {"raw agreement": 0.72222}, "raw agreement: 0.722"),
        ("release", {}, {"tables": 3, "pairs": {"gold": 9}}, "a release of 3 tables was written; pairs: gold: 9"),
        (
            "pair",
            {},
            {"collected_rows": {"books": {"rows": 4, "repeated": 1, "drawn": 3}}},
            "3 of 4 rows were drawn from books",
        ),
        ("pair", {}, {"even_for": []}, "equal shares are possible for no number of annotators"),
        ("export", {}, {"50 % off": 3}, "50 % off: 3"),
        ("adjudicate", {}, {}, "the settings were saved"),
        ("note", {"text": "they talked", "pair": 5805}, {}, "a note about pair 5805 was added to the log"),
        ("note", {"text": "they talked", "pair": None}, {}, "a note was added to the log"),
    ],
)
def test_it_is_told_in_words(stage: str, params: dict[str, Any], counts: dict[str, Any], told: str) -> None:
    assert told in tell(stage, params, counts)


def test_each_count_of_a_stage_is_told() -> None:
    for stage, *names in FIRST:
        counts: dict[str, Any] = {name: 11_000 + at for at, name in enumerate(names)}
        others = {name: 22_000 + at for at, name in enumerate(OTHER_COUNTS) if name not in names}
        told = tell(stage, {}, counts | others)
        assert all(f"{n:,}" in told for n in (counts | others).values()), (stage, told)


def test_every_act_on_people_names_them_and_the_things_counted_within_sentences_are_counted() -> None:
    without_name = {act for act in OF_PARAMETERS["people"] if "ana" not in tell("people", {act: "ana"}, {})}
    assert without_name == {"rotate_secret"}
    within = {name for _, _, *names in FIRST for name in names}
    assert THINGS.keys() <= within | {"labels"}
    assert tell("label import", {}, {"answers": 0, "skips": 0}) == "0 answers were imported"


def test_a_traceback_says_what_the_command_is_in_python(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db") as study, pytest.raises(StageError, match="run `fcpair import`") as caught:
        study.grid().pair()
    assert caught.value.__notes__ == ["In Python: study.import_corpus(...)"]


def test_commands_that_have_no_method_are_passed_over() -> None:
    assert not hasattr(FcpairError("run `fcpair serve`"), "__notes__")
    error = FcpairError("run `fcpair people add NAME`, `fcpair serve` or `fcpair people`, then `fcpair log`")
    assert error.__notes__ == ["In Python: study.add_people(...), study.log(...)"]


@pytest.mark.parametrize(("command", "method"), _METHODS.items())
def test_each_is_a_command_and_a_method(tmp_path: Path, command: str, method: str) -> None:
    assert command in IDS
    owner, name = method.split(".", 1)
    with Study.create(tmp_path / "s.db") as study:
        assert callable(attrgetter(name)({"grid": study.grid(), "study": study, "Study": Study}[owner]))

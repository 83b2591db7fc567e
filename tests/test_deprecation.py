"""What is called otherwise now works by its old name for one version, and says the new one."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from fcpair import Study, grid, params, plans, records, study
from fcpair.grid import Grid
from fcpair.params import Partition

OF_STUDY = {
    "by_recipe": "recipe_options",
    "desk": "work_queue",
    "has_own": "has_saved_options",
    "own": "effective_options",
}
OF_GRID = {
    "by_recipe": "recipe_options",
    "close_dealing": "close_open_assignment",
    "generation_outlook": "estimate_generation",
    "look_again": "second_look_notes",
    "sampled": "sample_size",
    "simulated": "simulated_note",
    "waiting": "waiting_pairs",
}
CLASSES = {
    (study, "Desk"): "WorkQueue",
    (grid, "Case"): "ConflictCase",
    (grid, "Decided"): "DecidedCase",
    (grid, "Docket"): "AdjudicationQueue",
    (grid, "OnePersonsShares"): "PersonShares",
    (grid, "Reviewing"): "ExampleReview",
    (grid, "Ruling"): "DecisionRequest",
    (params, "once"): "check_unique",
    (plans, "Printed"): "PrintedForm",
    (records, "Sampled"): "SampleSize",
}


@pytest.fixture
def made(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study.db")


@pytest.mark.parametrize(("old", "new"), OF_STUDY.items())
def test_an_old_name_of_a_study_says_the_new_one(made: Study, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^Study\.{old} is called `{new}` now"):
        assert getattr(made, old) == getattr(made, new)


@pytest.mark.parametrize(("old", "new"), OF_GRID.items())
def test_an_old_name_of_a_grid_says_the_new_one(made: Study, old: str, new: str) -> None:
    there: Grid = made.grid()
    with pytest.warns(DeprecationWarning, match=rf"^Grid\.{old} is called `{new}` now"):
        assert getattr(there, old) == getattr(there, new)


@pytest.mark.parametrize(("home", "old", "new"), [(*key, new) for key, new in CLASSES.items()])
def test_an_old_name_of_a_class_says_the_new_one(home: object, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"\.{old} is called `{new}` now"):
        assert getattr(home, old) is getattr(home, new)


def test_what_only_pages_need_works_by_its_old_name(made: Study) -> None:
    with pytest.warns(DeprecationWarning, match=r"^Grid\.docket is called `AdjudicationQueue\(grid\)` now"):
        assert isinstance(made.grid().docket, grid.AdjudicationQueue)
    with pytest.warns(DeprecationWarning, match=r"^Grid\.monitor is called `Monitor\(grid\)` now"):
        assert isinstance(made.grid().monitor, grid.Monitor)
    with pytest.warns(DeprecationWarning, match=r"^Study\.warm_up is called `WorkQueue.warm_up` now"):
        made.warm_up()


def test_what_was_a_function_works_by_its_old_name(made: Study, tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="`exists`"):
        assert Study.is_there(tmp_path / "study.db")
    with pytest.warns(DeprecationWarning, match="`exposure_warning`"):
        assert made.exposed == made.exposure_warning
    with pytest.warns(DeprecationWarning, match="`display_name`"):
        assert study.named("a.db") == study.display_name("a.db")
    with pytest.warns(DeprecationWarning, match="`effective_options`"):
        assert made.own(Partition) == Partition()


def test_measures_of_texts_are_found_where_they_were() -> None:
    lines = "import fcpair.measure, fcpair.texts.measures as now; assert fcpair.measure.measure is now.measure"
    run = subprocess.run([sys.executable, "-W", "default", "-c", lines], check=True, capture_output=True, text=True)
    assert "fcpair.measure is called fcpair.texts.measures now" in run.stderr


@pytest.mark.parametrize("home", [study, grid, params, plans, records])
def test_what_never_was_is_missing_as_ever(home: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(home, "Nothing")  # noqa: B009


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Task", "fcpair.work_records.Task"),
        ("DryRun", "fcpair.work_records.DryRun"),
        ("Health", "fcpair.examination_records.Health"),
        ("Asked", "fcpair.work_records.RoundForm"),
        ("Restored", "fcpair.examination_records.BackupReport"),
    ],
)
def test_a_record_that_has_moved_is_found_where_it_was(old: str, new: str) -> None:
    home, _, name = new.rpartition(".")
    with pytest.warns(DeprecationWarning, match=rf"^fcpair\.records\.{old} is called `{new}` now"):
        assert getattr(records, old) is getattr(importlib.import_module(home), name)

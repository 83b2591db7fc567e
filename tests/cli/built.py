"""Studies for the commands that the small one has nothing for: examples for models, replies of models, curating."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from steps.answers.test_writing import piloted
from steps.asked import surveyed
from steps.calibrated import YES, begin, discussing
from steps.online import give
from steps.people.known import assign_with_known_pairs, controls, qualification
from steps.shown import put_examples, study_of
from steps.small import ANNOTATORS, build_to, write_csv

from fcpair.params import Setup, Simulate
from fcpair.plans import Compare, GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.stages.survey import survey_plans
from fcpair.study import Study

ROWS = ("Tea is odd – very.", "Cats are cold.")


def shown(folder: Path) -> Study:
    """Written texts, and a round of models whose rows have two examples each, all reviewed on a sheet beside it."""
    study = study_of(folder)
    put_examples(study)
    study.grid("replies").examples.table("propose").assign(used="yes").to_csv(folder / "reviewed.csv", index=False)
    return study


def unasked(folder: Path) -> Study:
    """A round of a canned model that has not been asked, and one in which people curate what it says."""
    said = write_csv(folder / "said.csv", [{"row": row, "reply": f"{row} – not all of it, I think."} for row in ROWS])
    propose = RoundPlan("propose", "text: text(min_words=2)", models=(f"plain=canned:{said}",))
    sift = RoundPlan("sift", "sift: curate(off_topic,rude,min_words=3)", people=1, edits="propose")
    plan = GridPlan("replies", SidePlan(names=ROWS), SidePlan(names=("plain",)), (propose, sift))
    study = Study.create(folder / "study.db", Setup(title="Sift"), grids=[plan])
    study.add_people(["ana"], Role.ANNOTATOR)
    study.grid().pair()
    return study


def curated(folder: Path) -> Study:
    """The same, asked and curated."""
    study = unasked(folder)
    study.grid().generate("propose")
    study.grid().assign_round("sift")
    study.grid().simulate(Simulate(skips=0.0, seed=1))
    return study


def planned(folder: Path) -> Study:
    """A survey that is planned, and not dealt."""
    statements = write_csv(folder / "statements.csv", [{"statement": row} for row in ROWS])
    study = Study.create(folder / "study.db", grids=survey_plans("survey", statements))
    for name in study.grids:
        study.grid(name).pair()
    return study


def calibrating(folder: Path) -> Study:
    """People have begun to calibrate themselves, and one has answered."""
    study = build_to("paired", Study.create(folder / "study.db", Setup(title="Small")), folder)
    visitors = begin(study)
    give(study.work_queue(), visitors["ana"], YES)
    return study


def in_discussion(folder: Path) -> Study:
    """They discuss where they differ."""
    study = build_to("paired", Study.create(folder / "study.db", Setup(title="Small")), folder)
    discussing(study)
    return study


def known(folder: Path) -> Study:
    """The small study before its pairs are assigned, with tables of known pairs beside it."""
    study = build_to("paired", Study.create(folder / "study.db", Setup(title="Small")), folder)
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    qualification(study, folder)
    controls(study, folder)
    return study


def below_the_mark(folder: Path) -> Study:
    """The same, assigned and answered by simulated people who are always wrong."""
    study = known(folder)
    assign_with_known_pairs(study, folder)
    study.grid().simulate(Simulate(accuracy=0.0, not_sure=0.0, skips=0.0))
    return study


def extended(folder: Path) -> Study:
    """The small study with a standing rule, then extended, and answered by simulated people, further labels too."""
    study = build_to("dealt", Study.create(folder / "study.db", Setup(title="Grown")), folder)
    grid = study.grid()
    grid.save.further(if_tied=1)
    grid.extend(hs=2, seed=3)
    for _ in range(2):
        grid.simulate(Simulate(accuracy=0.6, seed=4))
    return study


def four_labels(folder: Path) -> Study:
    """The small study with labels, to which a second positive one was added."""
    study = build_to("checked", Study.create(folder / "study.db", Setup(title="Four")), folder)
    study.grid().relabel(kind="add", into=["great+"], reason="some are better still")
    study.grid().relabel(kind="rename", labels=["appropriate"], into=["suitable"], reason="it was misread")
    return study


def compared(folder: Path) -> Study:
    """The small study, whose candidates are compared two at a time, as simulated people do."""
    study = build_to("paired", Study.create(folder / "study.db", Setup(title="Small")), folder)
    which = RoundPlan("which", "which: one_of(A,B,tie)", role="rater", answers=2, people=3)
    columns = SidePlan(compare=Compare(grid="main", size=2))
    study.add_grid(GridPlan("rank", SidePlan(rows_of="main"), columns, (which,)))
    grid = study.grid("rank")
    grid.pair()
    grid.assign_round()
    grid.simulate(Simulate(accuracy=0.7, seed=1))
    return study


BUILT: Mapping[str, Callable[[Path], Study]] = {
    "shown": shown,
    "unasked": unasked,
    "curated": curated,
    "compared": compared,
    "extended": extended,
    "piloted": piloted,
    "surveyed": surveyed,
    "planned": planned,
    "calibrating": calibrating,
    "discussing": in_discussion,
    "known": known,
    "below_the_mark": below_the_mark,
    "four_labels": four_labels,
}

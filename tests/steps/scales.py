"""A study whose labels are numbers: halves from 1 to 5, of which 4 and more are positive."""

from __future__ import annotations

from pathlib import Path

from fcpair.params import Assign, Import, Pair, Select, Setup
from fcpair.records import Role
from fcpair.study import Study
from steps.small import CNS, SELECTED, open_work, record, set_candidates, write_corpus, write_csv

HALVES = "scale(1,5,0.5,positive=4)"


def dealt(folder: Path, scheme: str = HALVES) -> Study:
    """24 pairs, each dealt to ana and ben."""
    study = Study.create(folder / "study.db", Setup(title="Ratings", scheme=scheme))
    grid = study.grid()
    study.import_corpus(Import(write_corpus(folder / "corpus.csv"), only_language="en"))
    grid.select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])))
    set_candidates(study, CNS[12:])
    grid.pair(Pair())
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 1.0}, seed=1))
    return study


def number(pair: int, who: str) -> float:
    """What somebody says of a pair: ben adds nothing, a half or one, in turns, as far as the scale goes."""
    said = 1 + pair * 5 % 9 / 2
    return min(5.0, said + (pair % 3) / 2) if who == "ben" else said


def rated(folder: Path, scheme: str = HALVES, step: float = 0.5) -> Study:
    """All pairs have their two numbers, rounded down to the step; ana's have a decimal comma."""
    study = dealt(folder, scheme)
    signs = {"ana": ",", "ben": "."}
    said = {(who, pair): f"{number(pair, who) // step * step:.1f}" for who, pair in open_work(study)}
    record(study, folder, [(who, pair, text.replace(".", signs[who])) for (who, pair), text in said.items()])
    return study

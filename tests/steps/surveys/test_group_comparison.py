"""Groups of those who answered a round, by what they said about themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.params import Annotate
from fcpair.steps.people.terms import save_terms
from fcpair.study import Study
from steps.asked import surveyed


@pytest.mark.slow
def test_groups_are_those_that_were_declared_beforehand(tmp_path: Path) -> None:
    found = surveyed(tmp_path).grid().groups()
    (gender,) = found.compared
    assert (found.round, found.question, gender.by, found.exploratory) == ("ask", "answer", "Gender", {})
    assert (gender.people, gender.n, gender.n_without) == ({"man": 5, "woman": 5}, 160, 16)
    table = Study(tmp_path / "survey.db").grid().answers()
    answers = table["answer"][table["by"].isin([f"p{at}" for at in range(5)])].tolist()
    share = next(one for one in gender.shares if (one.label, one.group) == ("yes", "woman"))
    assert share.value == pytest.approx(answers.count("yes") / len(answers))


@pytest.mark.slow
def test_what_is_declared_after_the_first_answer_is_exploratory(tmp_path: Path) -> None:
    study = surveyed(tmp_path, compare=())
    with pytest.raises(StageError, match="no question was declared beforehand"):
        study.grid().groups()
    assert study.grid().groups(["Gender"]).exploratory == {"Gender": "it was not declared beforehand"}
    save_terms(study, Annotate(demographics=("Gender",), compare=("Gender",)))
    assert "after the first answer" in study.grid().groups().exploratory["Gender"]


def test_who_was_forgotten_is_in_no_group_any_more(tmp_path: Path) -> None:
    study = surveyed(tmp_path, "wwwwwwmmmmm")
    study.access.forget("p0")
    assert study.grid().groups().compared[0].people == {"man": 5, "woman": 5}


def test_a_group_of_fewer_than_five_has_no_figures(tmp_path: Path) -> None:
    (found,) = surveyed(tmp_path, "wwwwwmmmmmaaaa").grid().groups().compared
    assert all(one.value is None for one in found.shares if one.group == "another")
    assert all(one.value is None for one in found.differences if "another" in one.groups)
    assert all(one.value is None for one in found.together if "another" in one.groups)


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    grid = surveyed(tmp_path).grid()
    with pytest.raises(InputError, match="nobody has answered `Gendre`; did you mean `Gender`"):
        grid.groups(["Gendre"])
    with pytest.raises(InputError, match="asks no question `heard`"):
        grid.groups(labels="heard")
    with pytest.raises(UnknownIdError):
        grid.groups(round="asked")


@pytest.mark.parametrize("compare", [("Height",), ("Age", "Age")])
def test_what_is_compared_is_asked_and_named_once(compare: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        Annotate(demographics=("Gender: woman | man", "Age"), compare=compare)

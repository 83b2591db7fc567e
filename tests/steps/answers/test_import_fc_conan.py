"""Published FC-CONAN files: into an empty study, into a prepared one, and back out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError, RecipeEndError, StageError
from fcpair.files.corpus.fc_conan import ANSWERS, CN_METADATA, CN_TEXT, FINAL, HS_METADATA, HS_TEXT, INDEX, VALID
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Agree, Partition, Setup
from fcpair.recipe import Recipe
from fcpair.records import Role, Tier
from fcpair.study import Study
from steps.small import CNS, HS, dump, labels_of, standing, write_csv

At = Callable[[str], Study]


def row(index: int, hs: str, cn: str, final: int, valid: int, *answers: int) -> dict[str, Any]:
    given = {column: answers[at] if at < len(answers) else "" for at, column in enumerate(ANSWERS)}
    metadata = dict.fromkeys((*HS_METADATA, *CN_METADATA), "m")
    return {INDEX: index, HS_TEXT: hs, CN_TEXT: cn, FINAL: final, VALID: valid, **metadata, **given}


ROWS = [
    row(7, HS[0], CNS[12], 1, 1, 2, 2),
    row(3, HS[0], CNS[13], 0, 1, 0, 2, 0),
    row(12, HS[1], CNS[12], 1, 0, 2, 1),
    row(40, HS[1], CNS[14], 0, 1),
]


@pytest.fixture
def taken(at: At, tmp_path: Path) -> Study:
    study = at("empty")
    study.grid().import_published(write_csv(tmp_path / "p.csv", ROWS))
    return study


def test_no_label_model_compares_columns_that_are_places_and_not_people(taken: Study) -> None:
    before = dump(taken)
    with pytest.raises(InputError, match="whose annotator columns are places and not people"):
        taken.grid().aggregate()
    assert dump(taken) == before


@pytest.mark.parametrize("round_", [None, "label"])
def test_no_interval_is_for_new_annotators_where_nobody_knows_whose_a_label_is(
    taken: Study, round_: str | None, tmp_path: Path
) -> None:
    reason = "no interval generalises to new annotators; omit `intervals`"
    with pytest.raises(InputError, match=reason):
        taken.grid().agreement(intervals="annotators", round=round_)
    with pytest.raises(InputError, match=reason):
        taken.report(tmp_path / "r.html", agreement=Agree(intervals="annotators"))
    before = dump(taken)
    with pytest.raises(InputError, match=reason):
        list(taken.walk(Recipe(agreement=Agree(intervals="annotators"))))
    assert dump(taken) == before
    assert taken.grid().agreement().interval_scope == "new HS and CN, the same annotators"


def test_published_labels_do_not_come_to_a_study_whose_own_intervals_are_for_new_annotators(
    at: At, tmp_path: Path
) -> None:
    study = at("empty")
    with pytest.raises(RecipeEndError):
        list(study.walk(Recipe(agreement=Agree(intervals="annotators"))))
    before = dump(study)
    with pytest.raises(InputError, match="no interval generalises to new annotators"):
        study.grid().import_published(write_csv(tmp_path / "p.csv", ROWS))
    assert dump(study) == before


def test_an_empty_study_gets_texts_grid_labels_decisions_and_verdicts(taken: Study) -> None:
    assert taken.log()[-1].counts == {"pairs": 4, "labels": 8, "adjudications": 4, "verdicts": 4}
    assert taken.status()["stages"]["pair"] == 4
    assert labels_of(taken, 3) == {
        (3, "annotator-1"): "not_appropriate",
        (3, "annotator-2"): "appropriate",
        (3, "annotator-3"): "not_appropriate",
    }
    assert standing(taken) == {
        3: ("imported", 0),
        7: ("imported", 2),
        12: ("imported", 2),
        40: ("imported", 0),
    }


def test_pairs_keep_the_numbers_with_which_they_were_published(taken: Study) -> None:
    grid = taken.grid()
    assert grid.explain(40).hs == HS[1]
    assert grid.explain(40).cn == CNS[14]


def test_a_pair_without_annotators_has_one_anonymous_label(taken: Study) -> None:
    assert labels_of(taken, 40) == {(40, "anonymous"): "not_appropriate"}


def test_validity_is_a_verdict(taken: Study) -> None:
    pairs = taken.grid().tiers(Partition("majority")).table().pairs.set_index("cell_id")
    assert pairs["verdict"].to_dict() == {3: 1, 7: 1, 12: 0, 40: 1}
    assert pairs["tier"].to_dict() == {3: 4, 7: 4, 12: 1, 40: 2}


def test_the_published_labels_follow_the_majority(taken: Study) -> None:
    result = taken.grid().desk.adjudicate_dry_run(Adjudicate("majority"))
    assert (result.n_same, result.compared, result.different) == (4, 4, ())


def test_a_prepared_study_keeps_its_own_numbers_and_texts(at: At, tmp_path: Path) -> None:
    study = at("paired")
    grid = study.grid()
    grid.import_published(write_csv(tmp_path / "p.csv", ROWS))
    assert study.status()["stages"]["pair"] == 24
    numbers = sorted({pair for pair, _ in labels_of(study)})
    assert [grid.explain(pair).cn for pair in numbers] == [CNS[12], CNS[13], CNS[12], CNS[14]]
    assert numbers == [1, 2, 7, 9]


def test_a_pair_outside_the_prepared_grid_is_refused(at: At, tmp_path: Path) -> None:
    study = at("paired")
    path = write_csv(tmp_path / "p.csv", [*ROWS, row(50, HS[5], CNS[12], 1, 1)])
    before = dump(study)
    with pytest.raises(InputError, match=r":6: pair .* is not in the grid"):
        study.grid().import_published(path)
    assert dump(study) == before


@pytest.mark.parametrize("stage", ["dealt", "labelled"])
def test_a_study_with_people_of_its_own_takes_none(at: At, tmp_path: Path, stage: str) -> None:
    study = at(stage)
    before = dump(study)
    with pytest.raises(StageError, match="the study already has people; `fcpair init --study OTHER`"):
        study.grid().import_published(write_csv(tmp_path / "p.csv", ROWS))
    assert dump(study) == before


def test_what_rests_on_simulated_people_stays_simulated_in_published_columns(at: At, tmp_path: Path) -> None:
    study = at("empty")
    study.grid().import_published(
        write_csv(tmp_path / "s.csv", [{**one, "simulated": one[INDEX] == 40} for one in ROWS])
    )
    assert study.status()["judgements"] == {"imported": 10, "simulated": 2}


def test_they_are_taken_once(taken: Study, tmp_path: Path) -> None:
    before = dump(taken)
    with pytest.raises(StageError, match="already has people"):
        taken.grid().import_published(write_csv(tmp_path / "p.csv", ROWS))
    assert dump(taken) == before


def test_a_study_that_has_a_corpus_but_no_grid_is_told_to_make_one(at: At, tmp_path: Path) -> None:
    study = at("selected")
    before = dump(study)
    with pytest.raises(StageError, match="`fcpair"):
        study.grid().import_published(write_csv(tmp_path / "p.csv", ROWS))
    assert dump(study) == before


def test_a_study_with_another_scheme_is_refused(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.db", Setup(scheme="one_of(no,yes+)"))
    with pytest.raises(StageError, match="the study has different labels"):
        study.grid().import_published(write_csv(tmp_path / "p.csv", ROWS))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS, row(8, HS[2], CNS[12], 3, 1)], r":6: `3` in column"),
        ([*ROWS, row(8, HS[2], CNS[12], 1, 2)], r":6: `2` in column"),
        ([*ROWS, row(8, HS[2], CNS[12], 1, 1, 5)], r":6: `5` in column"),
        ([*ROWS, row(8, " ", CNS[12], 1, 1)], r":6: .*empty"),
        ([*ROWS, row(7, HS[2], CNS[12], 1, 1)], r":6: this original_index is already in the file"),
        ([*ROWS, row(8, HS[0] + " ", CNS[12], 1, 1)], r":6: this pair is already in the file"),
    ],
)
def test_a_broken_file_leaves_the_study_empty(at: At, tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    study = at("empty")
    before = dump(study)
    with pytest.raises(InputError, match=said):
        study.grid().import_published(write_csv(tmp_path / "p.csv", rows))
    assert dump(study) == before


def test_what_was_taken_is_written_in_the_published_columns_again(taken: Study, tmp_path: Path) -> None:
    taken.grid().release(Tier.BRONZE, tmp_path / "out.csv", published=True)
    write_csv(tmp_path / "in.csv", sorted(ROWS, key=lambda one: int(one[INDEX])))
    one, other = (read_table(tmp_path / name) for name in ("in.csv", "out.csv"))
    assert other.equals(one)


def test_the_corpus_cannot_be_imported_over_a_published_study(taken: Study, tmp_path: Path) -> None:
    from fcpair.params import Import

    with pytest.raises(StageError, match="judgements are never discarded"):
        taken.import_corpus(Import(write_csv(tmp_path / "c.csv", [{"hs": "a", "cn": "b"}])), redo=True)


def test_more_people_can_label_a_published_study(taken: Study, tmp_path: Path) -> None:
    taken.add_people(["ana"], Role.ANNOTATOR)
    taken.grid().import_labels(write_csv(tmp_path / "l.csv", [{"pair": 40, "annotator": "ana", "label": "0"}]))
    assert labels_of(taken, 40) == {(40, "ana"): "not_appropriate", (40, "anonymous"): "not_appropriate"}


@pytest.mark.files
def test_a_copy_of_the_file_of_a_study_is_the_study(taken: Study, tmp_path: Path) -> None:
    copy = Study(shutil.copy(taken.place, tmp_path / "copy.db"))
    assert labels_of(copy) == labels_of(taken)

"""Published FC-CONAN files: into an empty study, into a prepared one, and back out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError, RecipeEndError, StageError
from fcpair.files.corpus.fc_conan import ANSWERS, CN_METADATA, CN_TEXT, FINAL, HS_METADATA, HS_TEXT, INDEX, VALID
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Agree, Import, Partition, Setup
from fcpair.recipe import Recipe
from fcpair.records import Role, Tier
from fcpair.study import Study
from steps.small import CNS, HS, At, assert_refused, labels_of, standing, with_grid, write_csv


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


def test_an_empty_study_gets_texts_grid_labels_decisions_and_verdicts(taken: Study, tmp_path: Path) -> None:
    """Pairs keep the numbers with which they were published; one without annotators has an anonymous label."""
    grid = taken.grid()
    assert taken.log()[-1].counts == {"pairs": 4, "labels": 8, "adjudications": 4, "verdicts": 4}
    assert taken.status()["stages"]["pair"] == 4
    assert (grid.explain(40).hs, grid.explain(40).cn) == (HS[1], CNS[14])
    assert labels_of(taken, 3) == {
        (3, "annotator-1"): "not_appropriate",
        (3, "annotator-2"): "appropriate",
        (3, "annotator-3"): "not_appropriate",
    }
    assert labels_of(taken, 40) == {(40, "anonymous"): "not_appropriate"}
    assert standing(taken) == {3: ("imported", 0), 7: ("imported", 2), 12: ("imported", 2), 40: ("imported", 0)}
    pairs = grid.tiers(Partition("majority")).table().pairs.set_index("cell_id")
    assert pairs["verdict"].to_dict() == {3: 1, 7: 1, 12: 0, 40: 1}
    assert pairs["tier"].to_dict() == {3: 4, 7: 4, 12: 1, 40: 2}
    result = grid.desk.adjudicate_dry_run(Adjudicate("majority"))
    assert (result.n_same, result.compared, result.different) == (4, 4, ())
    grid.release(Tier.BRONZE, tmp_path / "out.csv", published=True)
    write_csv(tmp_path / "in.csv", sorted(ROWS, key=lambda row: int(row[INDEX])))
    published, released = (read_table(tmp_path / name) for name in ("in.csv", "out.csv"))
    assert released.equals(published)
    taken.add_people(["ana"], Role.ANNOTATOR)  # more people can label it
    grid.import_labels(write_csv(tmp_path / "l.csv", [{"pair": 40, "annotator": "ana", "label": "0"}]))
    assert labels_of(taken, 40) == {(40, "ana"): "not_appropriate", (40, "anonymous"): "not_appropriate"}


def test_columns_that_are_places_and_not_people_are_not_compared_as_people(taken: Study, tmp_path: Path) -> None:
    """No interval is for new annotators where nobody knows whose a label is."""
    grid = taken.grid()
    reason = "no interval generalises to new annotators; omit `intervals`"
    for_new = Agree(intervals="annotators")
    for call, message in (
        (grid.aggregate, "whose annotator columns are places and not people"),
        (partial(grid.agreement, intervals="annotators"), reason),
        (partial(grid.agreement, intervals="annotators", round="label"), reason),
        (partial(taken.report, tmp_path / "r.html", agreement=for_new), reason),
        (lambda: list(taken.walk(Recipe(agreement=for_new))), reason),
    ):
        assert_refused(taken, call, InputError, message)
    assert grid.agreement().interval_scope == "new HS and CN, the same annotators"


def test_published_labels_do_not_come_to_a_study_whose_own_intervals_are_for_new_annotators(
    at: At, tmp_path: Path
) -> None:
    study, path = at("empty"), write_csv(tmp_path / "p.csv", ROWS)
    with pytest.raises(RecipeEndError):
        list(study.walk(Recipe(agreement=Agree(intervals="annotators"))))
    message = "no interval generalises to new annotators"
    assert_refused(study, lambda: study.grid().import_published(path), InputError, message)


def test_a_prepared_study_keeps_its_own_numbers_and_texts(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("paired"))
    grid.import_published(write_csv(tmp_path / "p.csv", ROWS))
    assert study.status()["stages"]["pair"] == 24
    numbers = sorted({pair for pair, _ in labels_of(study)})
    assert [grid.explain(pair).cn for pair in numbers] == [CNS[12], CNS[13], CNS[12], CNS[14]]
    assert numbers == [1, 2, 7, 9]


def test_a_study_that_cannot_take_them_stays_as_it_was(at: At, taken: Study, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", ROWS)
    own_people = "the study already has people; `fcpair init --study OTHER`"
    assert_refused(taken, lambda: taken.grid().import_published(path), StageError, own_people)
    corpus = Import(write_csv(tmp_path / "c.csv", [{"hs": "a", "cn": "b"}]))
    with pytest.raises(StageError, match="judgements are never discarded"):
        taken.import_corpus(corpus, redo=True)
    taken.close()
    for stage, message in (("dealt", own_people), ("labelled", own_people), ("selected", "`fcpair")):
        study = at(stage)
        assert_refused(study, partial(study.grid().import_published, path), StageError, message)
    study = at("paired")
    write_csv(path, [*ROWS, row(50, HS[5], CNS[12], 1, 1)])
    message = r":6: pair .* is not in the grid"
    assert_refused(study, lambda: study.grid().import_published(path), InputError, message)
    study.close()
    study = at("empty")
    broken = write_csv(tmp_path / "broken.csv", [*ROWS, row(8, HS[2], CNS[12], 3, 1)])
    assert_refused(study, lambda: study.grid().import_published(broken), InputError, r":6: `3` in column")
    write_csv(path, ROWS)
    study = Study.create(tmp_path / "s.db", Setup(scheme="one_of(no,yes+)"))
    with pytest.raises(StageError, match="the study has different labels"):
        study.grid().import_published(path)


def test_what_rests_on_simulated_people_stays_simulated_in_published_columns(at: At, tmp_path: Path) -> None:
    study = at("empty")
    study.grid().import_published(
        write_csv(tmp_path / "s.csv", [{**row, "simulated": row[INDEX] == 40} for row in ROWS])
    )
    assert study.status()["judgements"] == {"imported": 10, "simulated": 2}

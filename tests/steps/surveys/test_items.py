"""Templates and their items as sides of grids: reviewed by others than their authors, and answered by models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fcpair.bias import TIED, UNREADABLE, score
from fcpair.errors import InputError, StageError
from fcpair.files.surveys.templates import items_table
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role
from fcpair.study import Study
from steps.small import write_csv

TEMPLATES = Path(__file__).parents[3] / "examples" / "survey-templates.toml"
REVIEW = RoundPlan("review", "fit: one_of(no,yes+); why: text(min_words=2) when fit=no", answers=0, author="author")


def review(folder: Path, *people: str, round_: RoundPlan = REVIEW) -> Study:
    rows = SidePlan(sources=(Source(TEMPLATES, "template", reader="templates"),))
    study = Study.create(folder / "s.db", grids=[GridPlan("review", rows, SidePlan(names=("Is it fit?",)), (round_,))])
    if people:
        study.add_people(list(people), Role.ANNOTATOR)
    study.grid().pair()
    return study


def given(study: Study) -> dict[str, set[str]]:
    """Which templates each person was given."""
    grid = study.grid()
    by_row = grid.rows().set_index("row")["id"]
    with grid._store.read() as tx:
        from fcpair.store.assignment import assignments, rounds
        from fcpair.store.corpus import cells

        bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
        dealt = assignments.assignments(tx, rounds.primary(tx))[["cell_id", "person_id"]].merge(
            cells.cells(tx), on="cell_id"
        )
        names = {one.id: one.name for one in study.people}
        found: dict[str, set[str]] = {name: set() for name in names.values()}
        for person, row in zip(dealt["person_id"], dealt["hs_id"], strict=True):
            found[names[person]].add(str(by_row[bodies[row]]))
    return found


OWN = {"a1": {"sleep-1", "sleep-4", "travel-2"}, "a2": {"sleep-2", "sleep-5"}, "a3": {"sleep-3", "travel-1"}}
ALL = set().union(*OWN.values())


def test_every_template_is_reviewed_by_all_others_than_its_author(tmp_path: Path) -> None:
    study = review(tmp_path, "a1", "A2", "other")
    study.grid().assign_round("review")
    assert given(study) == {"a1": ALL - OWN["a1"], "A2": ALL - OWN["a2"], "other": ALL}


def test_who_comes_later_is_not_given_their_own_either(tmp_path: Path) -> None:
    study = review(tmp_path, "other")
    study.grid().assign_round("review")
    study.add_people(["a3"], Role.ANNOTATOR)
    assert given(study)["a3"] == ALL - OWN["a3"]


def test_authors_that_the_deal_adds_are_known_too(tmp_path: Path) -> None:
    study = review(tmp_path, round_=RoundPlan("review", REVIEW.form, answers=0, author="author", people=4))
    study.grid().assign_round("review")
    assert given(study) == {**{name: ALL - own for name, own in OWN.items()}, "a4": ALL}


def test_what_is_skipped_does_not_go_to_its_author(tmp_path: Path) -> None:
    one_each = RoundPlan("review", "fit: one_of(no,yes+)", author="author")
    study = review(tmp_path, "a1", "other", round_=one_each)
    study.grid().assign_round("review")
    before = given(study)
    assert not before["a1"] & OWN["a1"]
    study.hand_over("other")
    assert not given(study)["a1"] & OWN["a1"]


def test_a_file_brings_no_review_of_one_s_own(tmp_path: Path) -> None:
    study = review(
        tmp_path, "a1", "other", round_=RoundPlan("review", "fit: one_of(no,yes+)", answers=0, author="author")
    )
    grid = study.grid()
    grid.assign_round("review")
    ids = grid.rows()["id"].tolist()
    rows = [{"cell": ids.index("sleep-1") + 1, "by": "a1", "fit": "yes"}]
    with pytest.raises(InputError, match="was not assigned to a1"):
        grid.import_answers(write_csv(tmp_path / "r.csv", rows))


# -- items that models answer


def asked(folder: Path, replies: list[dict[str, object]], **options: bool) -> Study:
    said = write_csv(folder / "said.csv", replies)
    rows = SidePlan(sources=(Source(TEMPLATES, "item", reader="items", seed=7),))
    answer = RoundPlan(
        "answer",
        "answer: one_of(A,B,C)",
        models=(f"m=canned:{said}(by=item_id)",),
        **options,  # type: ignore[arg-type]
    )
    study = Study.create(folder / "s.db", grids=[GridPlan("test", rows, SidePlan(names=("m",)), (answer,))])
    study.grid().pair()
    study.grid().generate("answer")
    return study


ITEMS = items_table(TEMPLATES, 7)


def test_answers_to_items_are_read_by_letter_or_text_and_all_others_counted(tmp_path: Path) -> None:
    said = ["A", "b.", str(ITEMS["option_2"][2]), "That depends.", ""]
    replies = [{"item_id": one, "reply": text} for one, text in zip(ITEMS["item_id"], said, strict=False)]
    (found,) = asked(tmp_path, replies).grid().item_answers().values()
    assert found.answered.chosen.tolist()[:6] == [0, 1, 2, UNREADABLE, UNREADABLE, UNREADABLE]
    assert len(found.answered) == 320
    assert found.statements == tuple(ITEMS["statement"])
    assert found.unread[0] == "That depends."
    assert found.answered.right.tolist() == ITEMS["label"].astype(int).tolist()
    scored = score(found.answered, "bbq", found.categories)
    assert (scored.n, scored.n_unreadable) == (320, 317)


def test_probabilities_of_options_are_scored(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    shares = rng.dirichlet([1, 1, 1], 320)
    told = [json.dumps(dict(zip("ABC", one, strict=True))) for one in shares.tolist()]
    told[0], told[1] = "A", '{"A": 0.4, "B": 0.4, "C": 0.2}'
    replies = [{"item_id": one, "reply": text} for one, text in zip(ITEMS["item_id"], told, strict=True)]
    study = asked(tmp_path, replies, probabilities=True)
    (found,) = study.grid().item_answers().values()
    assert found.answered.chosen.tolist() == [UNREADABLE, TIED, *shares.argmax(axis=1).tolist()[2:]]
    shares[1] = (0.4, 0.4, 0.2)
    here = (ITEMS["context_condition"] == "ambig").to_numpy() & (np.arange(320) > 0)
    at = np.arange(320)
    target, unknown = (ITEMS[name].astype(int).to_numpy() for name in ("target", "unknown"))
    sign = np.where(ITEMS["question_polarity"] == "neg", 1, -1)
    difference = sign * (shares[at, target] - shares[at, 3 - target - unknown])
    (figure,) = (
        one
        for one in score(found.answered, "pbbq", found.categories).figures
        if (one.score, one.category) == ("bias_ambiguous", "sleep")
    )
    sleep = here & (ITEMS["category"] == "sleep").to_numpy()
    assert figure.value == pytest.approx(difference[sleep].mean())
    assert figure.n == sleep.sum()


def test_rows_that_are_no_items_have_no_answers_to_items(tmp_path: Path) -> None:
    study = review(tmp_path, "other")
    with pytest.raises(StageError, match="are not items made from templates: they have no `template`"):
        study.grid().item_answers()


def test_people_are_not_asked_how_probable_answers_are() -> None:
    with pytest.raises(InputError, match="name some in `models`, or omit it"):
        RoundPlan("ask", "answer: one_of(A,B)", probabilities=True)
    with pytest.raises(InputError, match=r"ask one question with one_of"):
        rounds_ = (RoundPlan("ask", "text: text()", models=("m=canned:x.csv",), probabilities=True),)
        from fcpair.stages.assignment.plan import check_plan

        check_plan(GridPlan("test", SidePlan(names=("a",)), SidePlan(names=("m",)), rounds_))

"""Simulated people: the same seed gives the same study, and everything that rests on them says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Adjudicate, Annotate, Simulate, Validate
from fcpair.records import Role, Tier
from fcpair.steps.people.people import save_terms
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.study import Study
from steps.small import VALIDATORS, At, assert_refused, labels_of, open_work, standing, with_grid, write_csv


def made_up(pair: int, **answer: str) -> dict[str, Any]:
    """A row of a file with an answer that was simulated elsewhere."""
    return {"pair": pair, "origin": "simulated", **answer}


def walked(at: At, seed: int) -> Study:
    """A study that simulated people have labelled and validated."""
    study, grid = with_grid(at("dealt"))
    grid.simulate(Simulate(seed=seed, skips=0.1))
    grid.adjudicate(Adjudicate("majority"))
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    grid.assign_validation(Validate(seed=seed))
    grid.simulate(Simulate(seed=seed, skips=0.1))
    return study


def released(study: Study, path: Path) -> bytes:
    study.grid().release(Tier.BRONZE, path)
    return path.read_bytes()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_in_two_studies(at: At, tmp_path: Path) -> None:
    first, second, other = (released(walked(at, seed), tmp_path / f"{at_}.csv") for at_, seed in enumerate((3, 3, 4)))
    assert first == second != other


def test_skipped_pairs_are_passed_on_until_nothing_is_open(at: At) -> None:
    for counts in walked(at, 3).status()["rounds"].values():
        assert counts["open"] == 0
        assert counts["done"] > 0
    study = at("dealt")
    run = study.grid().simulate(Simulate(seed=1, skips=0.5))
    assert run.counts["reassigned"] > 0
    assert run.counts["answers"] + run.counts["vacant"] == 42
    assert study.status()["rounds"]["label"]["vacant"] == run.counts["vacant"]
    study = at("dealt")
    run = study.grid().simulate(Simulate(skips=1.0))
    assert (run.counts["answers"], run.counts["vacant"]) == (0, 42)
    assert set(labels_of(study).values()) == {"skip"}


def test_people_without_error_agree_on_every_pair_and_a_leaning_of_one_gives_only_that_label(at: At) -> None:
    grid = at("dealt").grid()
    grid.simulate(Simulate(accuracy=1.0, not_sure=0.0, skips=0.0, seed=2))
    grid.adjudicate(Adjudicate())
    assert grid.waiting_pairs() == []
    study = at("dealt")
    study.grid().simulate(Simulate(leaning=1.0, leaning_to="not_sure", not_sure=0.0, skips=0.0))
    assert set(labels_of(study).values()) == {"not_sure"}


def test_only_what_is_open_is_answered(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("dealt"))
    who, pair = open_work(study)[0]
    grid.import_labels(write_csv(tmp_path / "l.csv", [made_up(pair, annotator=who, label="not_sure")]))
    grid.simulate(Simulate(accuracy=1.0, not_sure=0.0, skips=0.0))
    assert labels_of(study)[pair, who] == "not_sure"
    assert study.status()["judgements"] == {"simulated": 42}


def test_labels_are_answered_before_verdicts(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("dealt"))
    grid.simulate(Simulate(skips=0.0))
    grid.adjudicate(Adjudicate("majority", "discard"))
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    n = grid.assign_validation(Validate()).counts["pairs"]
    study.add_people(["dora"], Role.ANNOTATOR)
    (pair, who) = next(iter(labels_of(study)))
    skip = write_csv(tmp_path / "skip.csv", [made_up(pair, annotator=who, label="skip")])
    grid.import_labels(skip, supersede=True)
    assert grid.simulate(Simulate(skips=0.0)).counts["round"] == "label"
    assert len(open_work(study, checks=True)) == n
    assert grid.simulate(Simulate(skips=0.0)).counts["round"] == "validate"


@pytest.mark.parametrize("blind", [False, True])
def test_validators_look_at_the_same_truth_as_annotators_did_whatever_their_seed(at: At, blind: bool) -> None:
    """Everybody sees what is true; a person then decides every third pair wrongly, and no validator falls for it.

    Only blind validators leave a label of their own.
    """
    study, grid = with_grid(at("dealt"))
    grid.simulate(Simulate(accuracy=1.0, not_sure=0.0, skips=0.0, positive=0.5, seed=13))
    grid.adjudicate(Adjudicate("majority"))
    right = standing(study)
    for pair in list(right)[::3]:
        grid.decide(pair, 2 - int(right[pair][1] or 0), by="petra")
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    grid.assign_validation(Validate(blind=blind))
    grid.simulate(Simulate(accuracy=1.0, skips=0.0, seed=14))
    with study._store.read() as tx:
        rows = judgements.current_verdicts(tx)
        own = judgements.current_answers(tx, rounds.validation(tx), "own_code")["own_code"]
    verdicts = dict(zip(rows["cell_id"], rows["code"], strict=True))
    assert verdicts == {pair: 0 if at_ % 3 == 0 else 1 for at_, pair in enumerate(right)}
    assert own.notna().all() == blind
    assert own.isna().all() != blind


def test_what_cannot_be_simulated_is_refused(at: At) -> None:
    study, grid = with_grid(at("dealt"))
    for name in ("accuracy", "positive", "leaning", "not_sure", "skips"):
        for value in (-0.1, 1.1, float("nan")):
            given: dict[str, Any] = {name: value}
            with pytest.raises(InputError, match=f"{name} is {value}; expected a probability from 0 to 1"):
                Simulate(**given)
    with pytest.raises(InputError, match="`splendid` is not a label; expected one of"):
        grid.simulate(Simulate(leaning=0.5, leaning_to="splendid"))
    grid.simulate(Simulate())
    message = "run `fcpair assign` or `fcpair validate assign`"
    assert_refused(study, lambda: grid.simulate(Simulate()), StageError, message)


@pytest.mark.slow
def test_what_rests_on_simulated_people_says_so_everywhere(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(walked(at, 3))
    note = study.status()["simulated"]
    assert note is not None
    assert "SIMULATED" in note
    assert set(grid.labels()["origin"]) == {"simulated"}
    assert grid.tier(Tier.BRONZE)["simulated"].all()
    assert grid.tiers().table().n_simulated > 0
    for published in (False, True):
        assert "simulated" in grid.tier(Tier.BRONZE, published=published).columns
    assert "SIMULATED" in study.report(tmp_path / "r.html").read_text("utf-8")


ASKED = Annotate(demographics=("Gender: woman | man", "In your own words"), compare=("Gender",))


def said(study: Study) -> dict[str, dict[str, str]]:
    return {person["name"]: person["demographics"] for person in study.access.terms()}


def test_simulated_people_answer_what_the_study_asks_about_people_who_have_not_agreed(at: At) -> None:
    """Whoever comes in the place of a simulated person is not described by them."""
    study = at("dealt")
    study.grid().simulate(Simulate(seed=2))
    assert not any(said(study).values())  # nothing is asked
    study = at("dealt")
    save_terms(study, ASKED)
    ids = {person.name: person.id for person in study.people}
    study.access.consent(ids["ana"], {})
    study.access.consent(ids["ben"], {"Gender": "man"})
    study.grid().simulate(Simulate(seed=2))
    assert (said(study)["ana"], said(study)["ben"]) == ({}, {"Gender": "man"})
    assert set(said(study)["cleo"]) == {"Gender"}
    study = at("dealt")
    save_terms(study, ASKED)
    study.grid().simulate(Simulate(seed=2))
    assert {name for name, own in said(study).items() if own} == {"ana", "ben", "cleo"}
    assert {own["Gender"] for own in said(study).values()} == {"woman", "man"}
    assert all(set(own) == {"Gender"} for own in said(study).values())
    assert all(person["consented_at"] is None for person in study.access.terms())
    study.access.consent(ids["ana"], {})
    assert said(study)["ana"] == {}


def test_a_pair_whose_verdict_alone_was_made_up_is_marked(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    rows = [made_up(pair, validator=who, verdict="agree") for who, pair in open_work(study, checks=True)]
    grid.import_verdicts(write_csv(tmp_path / "v.csv", rows))
    assert grid.tier(Tier.BRONZE)["simulated"].all()

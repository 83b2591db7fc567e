"""A calibration: who sees which answers in its discussion, agreement before and after it; and flags at guidelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError
from fcpair.grid import Monitor
from fcpair.params import Adjudicate, Assign
from fcpair.records import Role
from fcpair.steps.adjudication.discussion import split_sentences
from fcpair.study import Study
from steps.calibrated import AGAIN, ALPHA, ALPHA_AFTER, FIRST, NO, YES, answer_all, batch, begin, calibrated
from steps.deciding import adjudicators, decide
from steps.online import admit, give
from steps.small import ANNOTATORS, At, assert_refused, label_of, open_work, record, with_grid

ALPHA_NAME = "Krippendorff's alpha, nominal"


@pytest.mark.server
def test_each_sees_the_first_answers_while_it_is_open_without_names_and_a_lead_afterwards_too(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    for name, role in (("lea", Role.LEAD), ("vera", Role.VALIDATOR)):
        study.add_people([name], role)
    lea, vera = admit(study, "lea"), admit(study, "vera")
    answer_all(study, visitors, FIRST)
    for visitor in (*visitors.values(), lea):
        assert study.discussions(visitor) == []
        assert not study.has_discussion(visitor)
    study.grid().calibration.open_discussion()

    (shown,) = study.discussions(visitors["cleo"])
    assert [pair.answers for pair in shown.pairs] == [((YES, 2), (NO, 1)), ((NO, 2), (YES, 1))]
    assert [pair.own for pair in shown.pairs] == [NO, NO]
    assert [set(pair.notes) for pair in shown.pairs] == [{"cleo notes"}, {"ben notes", "cleo notes"}]
    names = (shown.grid, shown.row_name, shown.column_name)
    assert (names, shown.n_left) == (("main", "hate speech", "counter-narrative"), 2)
    assert study.discussions(vera) == []
    study.save_words(options={YES: "It fits"})
    (shown,) = study.discussions(visitors["ana"])
    assert shown.pairs[0].answers == (("It fits", 2), (NO, 1))
    tasks = study.work_queue().tasks(visitors["ana"], 50)
    assert [pair.row.body for pair in shown.pairs] == [task.row.body for task in tasks]
    assert [pair.column and pair.column.body for pair in shown.pairs] == [
        task.column and task.column.body for task in tasks
    ]

    (shown_to_lead,) = study.discussions(lea)
    assert (len(shown_to_lead.pairs), shown_to_lead.n_left, shown_to_lead.pairs[0].own) == (2, None, None)
    others = ("ben", "cleo")
    answer_all(study, {name: visitors[name] for name in others}, {name: AGAIN[name] for name in others})
    assert study.discussions(visitors["ana"]) == [shown]  # second answers of others are never shown
    answer_all(study, {"ana": visitors["ana"]}, {"ana": AGAIN["ana"]})
    study.grid().calibration.close()
    assert study.discussions(visitors["ana"]) == []
    assert not study.has_discussion(visitors["ana"])
    assert study.discussions(lea) == [shown_to_lead]


@pytest.mark.server
def test_who_has_not_answered_a_pair_does_not_see_what_others_said(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    answer_all(study, {name: visitors[name] for name in ("ana", "ben")}, {name: FIRST[name] for name in ("ana", "ben")})
    give(study.work_queue(), visitors["cleo"], NO)
    study.grid().calibration.open_discussion(early=True)
    own = {task.cell_id for task in study.work_queue().tasks(visitors["cleo"], 50)}
    seen = [pair for shown in study.discussions(visitors["cleo"]) for pair in shown.pairs]
    assert len(seen) == len(own) <= 1
    assert all(pair.own == NO for pair in seen)
    assert {batch(study)[3]} <= {task.cell_id for task in study.work_queue().tasks(visitors["ana"], 50)}


def figures(study: Study) -> dict[str, Any]:
    """Alpha before and after, with their intervals, as the result has them."""
    (row,) = [row for row in study.grid().calibration.measure().rows() if row["figure"] == ALPHA_NAME]
    return row


def alphas(study: Study) -> tuple[Any, Any]:
    row = figures(study)
    return row["before"], row["after"]


@pytest.mark.server
def test_the_result_has_what_there_is_at_each_phase(at: At) -> None:
    study = at("paired")
    visitors, calibration = begin(study), study.grid().calibration
    result = calibration.measure()
    assert (result.figures, result.n_differing, result.n_differing_after) == ((), 0, None)
    answer_all(study, visitors, FIRST)
    assert alphas(study) == (pytest.approx(ALPHA), None)
    assert calibration.measure().n_differing == 2
    calibration.open_discussion()
    assert alphas(study) == (pytest.approx(ALPHA), pytest.approx(ALPHA))
    give(study.work_queue(), visitors["ben"], "skip")
    result = calibration.measure()
    people = {person.name: (person.answered, person.open, person.again, person.again_open) for person in result.people}
    assert people == {"ana": (4, 0, 0, 2), "ben": (4, 0, 0, 1), "cleo": (4, 0, 0, 2)}
    assert (result.round, result.phase, result.counts, result.n_pairs) == ("label", "discuss", "neither", 4)
    (block,) = study.grid().agreement(round="calibrate again")
    assert block.agreement is not None
    assert block.agreement.n_labels == 11  # who skips the second time has no answer after the discussion


@pytest.mark.server
def test_both_answers_have_the_agreement_that_one_works_out_by_hand(at: At) -> None:
    study = at("paired")
    calibrated(study)
    row = figures(study)
    assert (row["before"], row["after"]) == (pytest.approx(ALPHA), pytest.approx(ALPHA_AFTER))
    assert row["before_low"] < ALPHA < row["before_high"]
    assert row["after_low"] < ALPHA_AFTER < row["after_high"]
    assert (row["before_n"], row["after_n"]) == (4, 4)
    result = study.grid().calibration.measure()
    assert (result.n_differing, result.n_differing_after) == (2, 1)
    assert repr(result) == "<CalibrationResult: 4 pairs, closed; people differ on 2, on 1 after the discussion>"
    for name, alpha in (("calibrate", ALPHA), ("calibrate again", ALPHA_AFTER)):  # each over the whole batch
        (block,) = study.grid().agreement(round=name)
        assert block.agreement is not None
        assert (block.agreement.n_pairs, block.agreement.n_labels) == (4, 12)
        assert block.agreement.alpha.value == pytest.approx(alpha)


def decided(study: Study, folder: Path) -> dict[str, str]:
    """What the study comes to once its pairs are labelled and decided: labels, tiers and agreement."""
    grid = study.grid()
    grid.assign(Assign(overlap={2: 0.5}, seed=1))
    record(study, folder, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    grid.adjudicate(Adjudicate("majority"))
    pooled = [(figure.name, figure.value, figure.n) for figure in grid.agreement().pooled]
    labels = grid.labels()[["pair", "annotator", "label"]].to_csv()
    return {"labels": labels, "tiers": grid.tiers().table().pair_frame().to_csv(), "agreement": str(pooled)}


@pytest.mark.server
def test_no_tier_no_figure_and_no_export_has_an_answer_of_a_calibration(at: At, tmp_path: Path) -> None:
    study = at("paired")
    calibrated(study)
    with_calibration = decided(study, tmp_path)
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    assert decided(study, tmp_path) == with_calibration


RULES = """# Be kind

A reply is fit when it
answers. Is it rude? Then not.

- Jokes count.
- Jokes count.
2. Links, too
"""


def test_sentences_are_those_of_headings_paragraphs_and_items() -> None:
    sentences = ["Be kind", "A reply is fit when it answers.", "Is it rude?", "Then not.", "Jokes count.", "Links, too"]
    assert split_sentences(RULES) == sentences
    assert split_sentences("") == []


@pytest.mark.server
def test_a_flag_is_put_at_a_sentence_that_is_there_and_stays(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    study.add_people(["lea"], Role.LEAD)
    study.edit_guidelines(RULES, by="lea")
    pair = grid.waiting_pairs()[0]
    (judy,) = adjudicators(study, "judy")
    decide(study, judy, pair, "irreconcilable", note="what of irony?", flagged=True)
    assert_refused(study, lambda: grid.desk.place_flag(pair, "Jokes."), InputError, "has no sentence `Jokes.`")
    assert_refused(study, lambda: grid.desk.place_flag(24, "Jokes count."), InputError, "pair 24 has no flag")
    (flag,) = Monitor(grid).flags()
    assert (flag.cell_id, flag.outcome, flag.by) == (pair, "discarded", "judy")
    assert (flag.note, flag.stands, flag.sentence) == ("what of irony?", True, "")
    run = grid.desk.place_flag(pair, "Jokes count.")
    assert (run.stage, run.params["flag"], run.params["version"]) == ("guidelines", pair, 2)
    study.edit_guidelines("Be kind.", by="lea")
    assert [(flag.cell_id, flag.sentence) for flag in Monitor(grid).flags()] == [(pair, "Jokes count.")]
    grid.desk.place_flag(pair, "")
    assert [flag.sentence for flag in Monitor(grid).flags()] == [""]
    grid.take_back(pair, by="judy")
    assert [flag.stands for flag in Monitor(grid).flags()] == [False]

"""Topics that people leave out: one topic of several in a value suffices, at every door and for good."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from conftest import one_short
from servers import execute
from sqlalchemy import select, update
from web.conftest import Site

from fcpair.errors import ConflictError, InputError, RefusedError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate, Assign, Import, Pair, Select, Setup, Validate
from fcpair.records import Known, Role, Status
from fcpair.steps.oversight.doctor import examine
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import sides, texts
from fcpair.store.database.tables import assignment, text
from fcpair.study import Study
from steps.calibrated import FIRST, NO, answer_all, begin, discussing
from steps.online import admit, at_desk, give
from steps.people.known import assign_with_known_pairs, right_answer
from steps.small import ANNOTATORS, CNS, SELECTED, At, assert_refused, open_work, with_grid

TOPIC = "topic"
MIXED = ("rapism , Terrorism", "terrorism", "crimes;TERRORISM ", "rapism")  # of the four selected HS
TERROR = {SELECTED[0], SELECTED[1], SELECTED[2]}


def describe(study: Study, values: Mapping[str, str]) -> Study:
    """Give texts another topic."""
    with study._store.write() as tx:
        for body, value in values.items():
            tx.execute(update(text).where(text.c.body == body).values(meta={TOPIC: value}))
    return study


def mixed(study: Study) -> Study:
    """Let the HS have several topics each."""
    return describe(study, dict(zip(SELECTED, MIXED, strict=True)))


def keep(study: Study, name: str, value: str) -> None:
    """Have a person's opt-outs as a study of an older fcpair keeps them."""
    execute(study.place, "UPDATE person SET opted_out = ? WHERE name = ?", value, name)


def hs_open(study: Study, name: str, *, checks: bool = False) -> list[str]:
    """The HS of each pair that a person has open."""
    with study._store.read() as tx:
        rows = assignments.open_work(tx, rounds.validation(tx) if checks else rounds.primary(tx))
    return rows["hs"][rows["annotator"] == name].tolist()


def read_by(study: Study, name: str, *, checks: bool = False) -> set[str]:
    """The HS of what a person has open."""
    return set(hs_open(study, name, checks=checks))


def ticked(study: Study, name: str, split: str = ",;") -> list[str]:
    """What a person's page shows as left out."""
    person = next(one.id for one in study.people if one.name == name)
    return [topic.value for topic in study.access.topics(person, TOPIC, split) if topic.opted_out]


@pytest.mark.server
def test_the_topics_are_the_parts_of_values_and_whoever_leaves_one_out_has_no_open_pair_that_names_it(at: At) -> None:
    study = mixed(at("dealt"))
    ana = admit(study, "ana").id
    assert [topic.value for topic in study.access.topics(ana, TOPIC, "")] == sorted(value.strip() for value in MIXED)
    hs, n_open = hs_open(study, "ana"), len(open_work(study))
    assert {topic.value: topic.open for topic in study.access.topics(ana, TOPIC)} == {
        "TERRORISM": sum(body in TERROR for body in hs),
        "crimes": hs.count(SELECTED[2]),
        "rapism": hs.count(SELECTED[0]) + hs.count(SELECTED[3]),
    }
    assert read_by(study, "ana") & TERROR
    counts = study.access.opt_out(ana, TOPIC, ["terrorism"]).counts
    assert read_by(study, "ana") == {SELECTED[3]}
    assert counts["withdrawn"] == counts["reassigned"] + counts["vacant"] > 0
    assert len(open_work(study)) == n_open - counts["vacant"]


def test_a_value_is_split_at_the_characters_that_a_recipe_names_or_at_none(at: At) -> None:
    study = mixed(at("dealt"))
    study.access.opt_out(admit(study, "ana").id, TOPIC, ["terrorism"], split="")
    assert read_by(study, "ana") == {SELECTED[0], SELECTED[2], SELECTED[3]}
    ben = admit(study, "ben").id
    assert_refused(study, lambda: study.access.opt_out(ben, TOPIC, ["crimes"], split=""), InputError, "`crimes`")
    describe(study, {SELECTED[0]: "tea/coffee", SELECTED[1]: "tea, black"})
    study.access.opt_out(ben, TOPIC, ["tea"], split="/")
    assert SELECTED[0] not in read_by(study, "ben")
    assert SELECTED[1] in read_by(study, "ben")


def _hand_over(study: Study) -> None:
    study.hand_over("ben", "ana")


def _retire(study: Study) -> None:
    study.retire("ben")
    study.retire("cleo")


def _skip(study: Study) -> None:
    for name in ("ben", "cleo"):
        desk, visitor = at_desk(study, name)
        while desk.tasks(visitor):
            give(desk, visitor, "skip")


def _deal_anew(study: Study) -> None:
    study.grid().assign(Assign(overlap={2: 0.5}, seed=3), redo=True)
    assert {pair for _, pair in open_work(study)} == set(range(1, 25))


@pytest.mark.server
@pytest.mark.parametrize("act", [_hand_over, _retire, _skip, _deal_anew])
def test_nothing_of_a_topic_comes_to_who_left_it_out(at: At, act: Callable[[Study], None]) -> None:
    study = mixed(at("dealt"))
    study.access.opt_out(admit(study, "ana").id, TOPIC, ["terrorism"])
    act(study)
    assert read_by(study, "ana") <= {SELECTED[3]}


def test_who_joins_takes_what_nobody_else_may_read_and_another_split_later_takes_nothing_back(at: At) -> None:
    study = mixed(at("dealt"))
    names = ("ana", "ben", "cleo")
    for name in names:
        study.access.opt_out(admit(study, name).id, TOPIC, ["Terrorism"])
    assert not any(read_by(study, name) & TERROR for name in names)
    study.add_people(["dora"], Role.ANNOTATOR)
    assert read_by(study, "dora") == TERROR
    study.grid().assign(Assign(seed=3), redo=True)
    assert {*names} == {name for name in names if read_by(study, name) == {SELECTED[3]}}
    assert ticked(study, "ana", "") == ["crimes;TERRORISM", "rapism , Terrorism", "terrorism"]


@pytest.mark.server
def test_nobody_is_asked_to_check_or_to_decide_what_they_left_out_in_whatever_role(at: At) -> None:
    study, grid = with_grid(mixed(at("decided")))
    study.add_people(["vera", "walt", "judy"], Role.VALIDATOR)
    vera, judy = (admit(study, name).id for name in ("vera", "judy"))
    for person in (vera, judy):
        study.access.opt_out(person, TOPIC, ["terrorism"])
    study.change_role("judy", Role.ADJUDICATOR)
    queue, case = AdjudicationQueue(grid).state(judy), AdjudicationQueue(grid).next(judy)
    assert queue.for_others > 0
    assert case is None or grid.explain(case.cell_id).hs == SELECTED[3]
    grid.assign_validation(Validate())
    assert read_by(study, "vera", checks=True) == {SELECTED[3]}
    assert read_by(study, "walt", checks=True) >= TERROR


@pytest.mark.server
def test_what_an_older_fcpair_kept_holds_for_each_of_its_parts(at: At) -> None:
    study = mixed(at("dealt"))
    keep(study, "ana", '{"topic": ["rapism , Terrorism"]}')
    assert ticked(study, "ana") == ["TERRORISM", "rapism"]
    study.access.spare()
    assert read_by(study, "ana") == set()
    log = study.log()
    assert (log[-1].params, log[-1].counts["withdrawn"] > 0) == ({"spare": ["ana"]}, True)
    study.access.spare()
    assert len(study.log()) == len(log)


@pytest.mark.server
def test_sheets_and_a_server_begin_by_passing_on_what_an_older_fcpair_left_dealt(at: At, tmp_path: Path) -> None:
    study = mixed(at("dealt"))
    keep(study, "ana", '{"topic": ["terrorism"]}')
    study.grid().sheets.write_labels(tmp_path)
    with (tmp_path / "ana.csv").open(encoding="utf-8") as sheet:
        assert {row["hs"] for row in csv.DictReader(sheet)} == {SELECTED[3]}
    keep(study, "ben", '{"topic": ["terrorism"]}')
    with Site(study, Annotate(opt_out=TOPIC)).stranger():
        assert read_by(study, "ben") == {SELECTED[3]}


@pytest.mark.server
def test_what_is_not_listed_now_stays_left_out_and_the_lead_is_told(at: At) -> None:
    study = mixed(at("dealt"))
    keep(study, "ana", '{"topic": ["terrorism", "weather"]}')
    keep(study, "ben", '{"topic": ["rapism , Terrorism"]}')
    study.access.opt_out(admit(study, "ana").id, TOPIC, ["rapism"])
    describe(study, {SELECTED[3]: "weather, tea"})
    study.access.spare()
    assert ticked(study, "ana") == ["rapism", "weather"]
    assert SELECTED[3] not in read_by(study, "ana")
    left_out = {row["name"]: row["opted_out"] for row in study.access.terms()}
    assert (left_out["ana"], left_out["ben"]) == ({TOPIC: ["rapism", "weather"]}, {TOPIC: ["Terrorism", "rapism"]})


@pytest.fixture
def conan(data: Path, tmp_path: Path) -> Study:
    """The 45 HS of FC-CONAN, each with the first 129 CNs of CONAN that none of them has, dealt to nine people."""
    study, grid = with_grid(Study.create(tmp_path / "conan.db", Setup()))
    study.import_corpus(Import(data / "conan" / "CONAN.csv", reader="conan", only_language="en"))
    grid.select(Select(hs_list=data / "fc-conan" / "recommender" / "fc_conan_bronze_hs.csv"))
    with study._store.write() as tx:
        cns = texts.texts_of(tx, "cn")["id"]
        sides.set_texts(tx, "column", cns[~cns.isin(sides.source_cns(tx))].head(129).tolist())
    grid.pair(Pair())
    grid.assign(Assign(annotators=9, overlap={2: 0.126, 3: 0.05}, seed=13))
    return study


TEA = SELECTED[::2]


def about_tea(study: Study) -> Study:
    """Half of the HS are about tea, the others about rain."""
    return describe(study, {hs: "tea" if hs in TEA else "rain" for hs in SELECTED})


def leave_out(study: Study, name: str, *topics: str) -> None:
    """Have somebody opt out of these topics, and in again to all others."""
    study.access.opt_out(next(one.id for one in study.people if one.name == name), TOPIC, topics)


def qualified(study: Study, folder: Path) -> Study:
    """The small study with control pairs, where everybody has qualified."""
    assign_with_known_pairs(about_tea(study), folder)
    for name in ANNOTATORS:
        desk, visitor = at_desk(study, name)
        for task in desk.tasks(visitor, 50):
            give(desk, visitor, right_answer(task.cell_id), task.assignment_id)
    return study


@pytest.mark.server
@pytest.mark.parametrize("seed", one_short(*range(4)))
def test_what_comes_back_is_what_was_taken_in_its_place_whatever_others_did(at: At, tmp_path: Path, seed: int) -> None:
    """Control pairs go to nobody else: did anything else stay away, they were what is left."""
    study, drawn = qualified(at("dealt"), tmp_path), random.Random(seed)
    desk, ana = at_desk(study, "ana")
    before = desk.tasks(ana, 50)
    with study._store.read() as tx:
        (control_round,) = rounds.of_known_pairs(tx, use=Known.CONTROLS)
        control_pairs = set(assignments.assignments(tx, control_round).query("person_id == @ana.id")["cell_id"])
    assert any(task.row.body in TEA for task in before if task.cell_id in control_pairs)
    leave_out(study, "ana", "tea")
    assert desk.tasks(ana, 50) == [task for task in before if task.row.body not in TEA]
    for name in ("ben", "cleo"):
        other = admit(study, name)
        for task in desk.tasks(other, 50)[:: -1 if seed % 2 else 1]:
            if drawn.random() < 0.8:
                give(desk, other, drawn.choice(["appropriate", "skip", "not_sure"]), task.assignment_id)
    leave_out(study, "ana")
    tasks = desk.tasks(ana, 50)
    assert tasks[: len(before)] == before  # behind them may be what others skipped
    for task in tasks:
        give(desk, ana, "appropriate", task.assignment_id)
    assert [task.assignment_id for task in desk.answers(ana, n=50)] == [task.assignment_id for task in tasks][::-1]
    found = [fault for check in examine(study.place).checks for fault in check.found]
    assert {fault for fault in found if not fault.startswith("text")} == set()  # `about_tea` has changed some


@pytest.mark.server
@pytest.mark.parametrize("again", [False, True])
def test_nothing_comes_back_of_a_round_of_a_calibration_that_is_closed(at: At, again: bool) -> None:
    study = about_tea(at("paired"))
    visitors = discussing(study) if again else begin(study)
    desk = study.work_queue()
    taken = [task for task in desk.tasks(visitors["ana"], 50) if task.row.body in TEA]
    assert taken
    leave_out(study, "ana", "tea")
    if not again:
        for name in ("ben", "cleo"):
            for at_, task in enumerate(desk.tasks(visitors[name], 50)):
                give(desk, visitors[name], FIRST[name][at_], task.assignment_id)
    study.grid().calibration.close(early=True) if again else study.grid().calibration.open_discussion(early=True)
    leave_out(study, "ana")
    assert {task.assignment_id for task in desk.tasks(visitors["ana"], 50)}.isdisjoint(
        task.assignment_id for task in taken
    )
    with study._store.write() as tx:  # as an earlier version left it
        tx.execute(update(assignment).where(assignment.c.id == taken[0].assignment_id).values(status=Status.OPEN.value))
    with pytest.raises(ConflictError, match="the discussion has begun, or is over"):
        give(desk, visitors["ana"], NO, taken[0].assignment_id)


@pytest.mark.server
def test_nothing_comes_back_of_a_qualification_that_is_over(at: At, tmp_path: Path) -> None:
    """Who has read what was right there could change their answers else."""
    study = at("dealt")
    assign_with_known_pairs(study, tmp_path)
    desk, ana = at_desk(study, "ana")
    first, second = (task.row for task in desk.tasks(ana, 50))
    assert first != second
    describe(study, {first.body: "tea"})
    leave_out(study, "ana", "tea")
    for task in desk.tasks(ana, 50):
        give(desk, ana, right_answer(task.cell_id), task.assignment_id)
    shard = desk.tasks(ana, 50)
    assert shard[0].round == "label"
    leave_out(study, "ana")
    assert {task.round for task in desk.tasks(ana, 50)} == {"label"}


@pytest.mark.server
def test_in_open_assignment_one_may_ask_again_for_what_was_taken(at: At) -> None:
    study = about_tea(at("paired"))
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().assign(Assign(open=True))
    desk, ana = at_desk(study, "ana")
    taken = {task.cell_id for task in desk.tasks(ana, 50) if task.row.body in TEA}
    leave_out(study, "ana", "tea")
    assert {task.row.body for task in desk.tasks(ana, 50)}.isdisjoint(TEA)
    leave_out(study, "ana")
    with study._store.read() as tx:
        held = tx.execute(select(assignment.c.until).where(assignment.c.status == Status.OPEN.value)).scalars().all()
    assert None not in held
    answered = set()
    while tasks := desk.tasks(ana):
        give(desk, ana, "appropriate", tasks[0].assignment_id)
        answered.add(tasks[0].cell_id)
    assert taken <= answered


@pytest.mark.server
def test_the_discussion_shows_nothing_of_a_topic_that_somebody_left_out_and_does_not_ask_again(at: At) -> None:
    study = about_tea(at("paired"))
    visitors = begin(study)
    answer_all(study, visitors, FIRST)
    leave_out(study, "ana", "tea", "rain")
    study.grid().calibration.open_discussion()
    desk = study.work_queue()
    assert desk.tasks(visitors["ana"], 50) == []
    assert desk.tasks(visitors["ben"], 50) != []
    assert study.discussions(visitors["ana"]) == []
    assert not study.has_discussion(visitors["ana"])
    leave_out(study, "ana")
    assert len(desk.tasks(visitors["ana"], 50)) == 2
    (before,) = study.discussions(visitors["ana"])
    rain = [pair for pair in before.pairs if pair.row.body not in TEA]
    assert len(rain) < len(before.pairs)
    leave_out(study, "ana", "tea")
    assert [pair for discussion in study.discussions(visitors["ana"]) for pair in discussion.pairs] == rain
    assert len(study.discussions(visitors["ben"])[0].pairs) == len(before.pairs)


@pytest.mark.server
def test_own_answers_on_a_topic_are_not_shown_once_it_is_left_out(at: At) -> None:
    study = about_tea(at("dealt"))
    desk, ana = at_desk(study, "ana")
    for task in desk.tasks(ana, 50):
        give(desk, ana, "appropriate", task.assignment_id)
    answered = desk.answers(ana, n=50)
    leave_out(study, "ana", "tea")
    rain = [task for task in answered if task.row.body not in TEA]
    assert desk.answers(ana, n=50) == rain
    assert desk.answers(ana, before=rain[0].assignment_id) == rain[1:2]


@pytest.mark.server
def test_the_review_of_a_qualification_shows_nothing_of_it(at: At, tmp_path: Path) -> None:
    study = qualified(at("dealt"), tmp_path)
    ana = admit(study, "ana")
    (before,) = study.review_qualifications(ana)
    leave_out(study, "ana", "tea")
    (review,) = study.review_qualifications(ana)
    assert (review.right, review.answered) == (before.right, before.answered) == (2, 2)
    assert review.pairs == tuple(pair for pair in before.pairs if pair.row not in TEA)


@pytest.mark.server
def test_adjudicators_are_shown_no_case_and_no_decision_on_it(at: At) -> None:
    study = about_tea(at("decided"))
    study.add_people(["judy"], Role.VALIDATOR)
    judy = admit(study, "judy").id
    leave_out(study, "judy", "tea")
    study.change_role("judy", Role.ADJUDICATOR)
    queue = AdjudicationQueue(study.grid())
    everything = queue.decisions(limit=50)
    assert {case.hs.body for case in everything} == {*SELECTED}
    assert queue.decisions(limit=50, reader=judy) == [case for case in everything if case.hs.body not in TEA]
    pair = next(pair for pair in study.grid().waiting_pairs() if study.grid().explain(pair).hs in TEA)
    with pytest.raises(RefusedError, match=f"`judy` opted out of a topic of pair {pair}"):
        queue.case(judy, pair)


@pytest.mark.server
def test_the_text_that_a_side_answers_is_shown_with_it_and_so_left_out_too(at: At) -> None:
    study = about_tea(at("dealt"))
    with study._store.write() as tx:
        ids = texts.texts_of(tx, "hs").set_index("body")["id"]
        tx.execute(update(text).where(text.c.body == CNS[12]).values(answers_id=int(ids[TEA[0]])))
    desk, ana = at_desk(study, "ana", Annotate())
    tasks = desk.tasks(ana, 50)
    answering = [task for task in tasks if task.column and task.column.body == CNS[12] and task.row.body not in TEA]
    assert [task.answered and task.answered.body for task in answering] == [TEA[0]] * len(answering) != []
    leave_out(study, "ana", "tea")
    assert desk.tasks(ana, 50) == [task for task in tasks if task.row.body not in TEA and task not in answering]


def test_only_what_the_opt_out_took_comes_back(at: At) -> None:
    """What the lead gave to others before is theirs."""
    study = about_tea(at("dealt"))
    desk, ana = at_desk(study, "ana")
    study.hand_over("ana")
    leave_out(study, "ana", "tea")
    leave_out(study, "ana")
    assert desk.tasks(ana, 50) == []

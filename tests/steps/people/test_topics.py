"""Topics that people leave out: one topic of several in a value suffices, at every door and for good."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from servers import execute
from sqlalchemy import update
from web.conftest import Site

from fcpair.errors import InputError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate, Assign, Import, Pair, Select, Setup, Validate
from fcpair.records import Role
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import sides, texts
from fcpair.store.database.tables import text
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.small import SELECTED, At, assert_refused, open_work

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
    study = mixed(at("decided"))
    grid = study.grid()
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
    study = Study.create(tmp_path / "conan.db", Setup())
    grid = study.grid()
    study.import_corpus(Import(data / "conan" / "CONAN.csv", reader="conan", only_language="en"))
    grid.select(Select(hs_list=data / "fc-conan" / "recommender" / "fc_conan_bronze_hs.csv"))
    with study._store.write() as tx:
        cns = texts.texts_of(tx, "cn")["id"]
        sides.set_texts(tx, "column", cns[~cns.isin(sides.source_cns(tx))].head(129).tolist())
    grid.pair(Pair())
    grid.assign(Assign(annotators=9, overlap={2: 0.126, 3: 0.05}, seed=13))
    return study


@pytest.mark.slow
def test_conan_s_combined_subtypes_leak_no_pair(conan: Study, data: Path) -> None:
    with (data / "conan" / "CONAN.csv").open(encoding="utf-8") as file:
        subtypes = {row["hateSpeech"].strip(): row["hsSubType"] for row in csv.DictReader(file)}
    about = {hs for hs, value in subtypes.items() if "terrorism" in value}
    plain = {hs for hs, value in subtypes.items() if value == "terrorism"}
    a1 = admit(conan, "a1").id
    dealt = [hs.strip() for hs in hs_open(conan, "a1")]
    combined = [hs for hs in dealt if hs in about - plain]
    assert len(combined) > 0
    run = conan.access.opt_out(a1, "hsSubType", ["terrorism"])
    assert run.counts["withdrawn"] == sum(hs in about for hs in dealt)
    assert not {hs.strip() for hs in read_by(conan, "a1")} & about

"""Coming in: tokens, consent, and what a person does not want to read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fcpair.errors import InputError, StageError, StudyError, UnknownIdError
from fcpair.params import Annotate, Assign
from fcpair.records import Role
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.small import SELECTED, assert_refused, dump, open_work

At = Callable[[str], Study]
TOPIC = "hs_topic"


def test_a_token_lets_its_owner_in(at: At) -> None:
    study = at("dealt")
    visitor = study.access.by_token(study.access.invite("ana"))
    assert visitor is not None
    assert (visitor.name, visitor.role, visitor.consented) == ("ana", Role.ANNOTATOR, False)
    assert study.access.by_id(visitor.id) == visitor


def test_people_are_added_with_their_tokens_or_not_at_all(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    study = at("dealt")
    with monkeypatch.context() as patch:
        patch.setattr("fcpair.store.people.people.set_token", _fail)
        assert_refused(study, lambda: study.access.add(["dora"], Role.ANNOTATOR), StudyError, "the disk is full")
    assert_refused(study, lambda: study.access.add(["dora", "ana"], Role.ANNOTATOR), InputError, "`ana` already exists")
    tokens = study.access.add(["dora", "eve"], Role.VALIDATOR)
    found = {name: study.access.by_token(token) for name, token in tokens.items()}
    assert [(one and (one.name, one.role)) for one in found.values()] == [
        ("dora", Role.VALIDATOR),
        ("eve", Role.VALIDATOR),
    ]
    assert [run.params for run in study.log()[-3:]] == [
        {"add": ["dora", "eve"], "role": "validator"},
        {"invite": "dora"},
        {"invite": "eve"},
    ]


def _fail(*_: object) -> None:
    raise StudyError("the disk is full")


def test_tokens_are_not_kept(at: At) -> None:
    study = at("dealt")
    token = study.access.invite("ana")
    assert token not in dump(study)


def test_a_new_invite_ends_the_one_before(at: At) -> None:
    study = at("dealt")
    first = study.access.invite("ana")
    before = study.access.by_token(first)
    second = study.access.invite("ana")
    after = study.access.by_token(second)
    assert study.access.by_token(first) is None
    assert before is not None
    assert after is not None
    assert before.key != after.key


@pytest.mark.server
def test_a_revoked_token_lets_nobody_in(at: At) -> None:
    study = at("dealt")
    visitor = admit(study, "ana")
    study.access.revoke("ana")
    assert study.access.by_id(visitor.id) is None
    assert_refused(study, lambda: study.access.revoke("ana"), StageError, "no invite link")


@pytest.mark.server
def test_nobody_comes_in_as_a_model(at: At) -> None:
    study = at("dealt")
    study.add_people(["qwen"], Role.MODEL)
    assert_refused(study, lambda: study.access.invite("qwen"), StageError, "is a model")
    assert "qwen" not in study.access.invite_all()


def test_who_is_retired_comes_in_no_more(at: At) -> None:
    study = at("dealt")
    token = study.access.invite("ana")
    study.retire("ana")
    assert study.access.by_token(token) is None
    assert_refused(study, lambda: study.access.invite("ana"), StageError, "retired")


def test_nobody_unknown_is_invited(at: At) -> None:
    study = at("dealt")
    assert_refused(study, lambda: study.access.invite("zoe"), UnknownIdError, "nobody called")


def test_a_wrong_token_lets_nobody_in(at: At) -> None:
    study = at("dealt")
    study.access.invite("ana")
    assert study.access.by_token("") is None
    assert study.access.by_token("x" * 32) is None
    assert study.access.by_token("\udc80") is None


@pytest.mark.server
def test_everybody_with_a_token_is_listed(at: At) -> None:
    study = at("dealt")
    assert study.access.invited() == set()
    study.access.invite("ben")
    assert study.access.invited() == {"ben"}


@pytest.mark.server
def test_consent_and_the_wish_for_a_blur_are_remembered(at: At) -> None:
    study = at("dealt")
    visitor = admit(study, "ana")
    study.access.set_blurred(visitor.id, True)
    again = study.access.by_id(visitor.id)
    assert again is not None
    assert again.consented
    assert again.blurred


def test_the_topics_are_those_of_the_grid(at: At) -> None:
    study = at("dealt")
    found = study.access.topics(admit(study, "ana").id, TOPIC)
    assert {topic.value for topic in found} == {"People who l"}
    assert sum(topic.open for topic in found) == sum(who == "ana" for who, _ in open_work(study))
    assert not any(topic.opted_out for topic in found)


def test_an_unknown_topic_is_refused(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana").id
    assert_refused(study, lambda: study.access.opt_out(ana, TOPIC, ["weather"]), InputError, "weather")


def _topic_of_one_hs(study: Study) -> str:
    """Give each HS a topic of its own, and say that of the first selected one."""
    from sqlalchemy import update

    from fcpair.store.database.tables import text

    with study._store.write() as tx:
        for row in tx.execute(text.select().where(text.c.kind == "hs")).all():
            tx.execute(update(text).where(text.c.id == row.id).values(meta={"topic": row.body}))
    return SELECTED[0]


def _pairs_about(study: Study, topic: str) -> set[int]:
    return {pair for _, pair in open_work(study) if study.grid().explain(pair).hs == topic}


@pytest.mark.slow
def test_open_pairs_of_a_topic_go_to_others(at: At) -> None:
    study = at("dealt")
    topic = _topic_of_one_hs(study)
    about, n_open = _pairs_about(study, topic), len(open_work(study))
    run = study.access.opt_out(admit(study, "ana").id, "topic", [topic])
    assert not {pair for who, pair in open_work(study) if who == "ana"} & about
    assert run.counts["withdrawn"] == run.counts["reassigned"] + run.counts["vacant"] > 0
    assert len(open_work(study)) == n_open - run.counts["vacant"]


@pytest.mark.slow
def test_what_others_leave_does_not_come_to_who_opted_out(at: At) -> None:
    study = at("dealt")
    topic = _topic_of_one_hs(study)
    about = _pairs_about(study, topic)
    study.access.opt_out(admit(study, "ana").id, "topic", [topic])
    study.retire("ben")
    study.retire("cleo")
    assert not {pair for who, pair in open_work(study) if who == "ana"} & about


@pytest.mark.slow
def test_who_opted_out_before_the_deal_is_spared(at: At) -> None:
    study = at("dealt")
    topic = _topic_of_one_hs(study)
    about = _pairs_about(study, topic)
    study.access.opt_out(admit(study, "ana").id, "topic", [topic])
    study.grid().assign(Assign(overlap={2: 0.25}, seed=3), redo=True)
    assert not {pair for who, pair in open_work(study) if who == "ana"} & about
    assert {pair for _, pair in open_work(study)} >= about


@pytest.mark.server
def test_opting_in_again_is_possible(at: At) -> None:
    study = at("dealt")
    topic = _topic_of_one_hs(study)
    ana = admit(study, "ana").id
    study.access.opt_out(ana, "topic", [topic])
    assert [one.value for one in study.access.topics(ana, "topic") if one.opted_out] == [topic]
    study.access.opt_out(ana, "topic", [])
    assert not any(one.opted_out for one in study.access.topics(ana, "topic"))


@pytest.mark.server
def test_what_was_answered_stays_after_opting_out(at: At) -> None:
    study = at("dealt")
    topic = _topic_of_one_hs(study)
    desk, ana = at_desk(study, "ana")
    while desk.tasks(ana):
        give(desk, ana, "appropriate")
    assert study.access.opt_out(ana.id, "topic", [topic]).counts["withdrawn"] == 0


@pytest.mark.parametrize("name", ["pause_pairs", "pause_minutes", "daily_limit", "total_limit"])
def test_limits_are_at_least_one(name: str) -> None:
    with pytest.raises(InputError, match=name):
        Annotate(**{name: 0})  # type: ignore[arg-type]


def test_a_question_is_asked_once() -> None:
    with pytest.raises(InputError, match="question `Age`"):
        Annotate(demographics=("Age: 18-29 | 30 or more", "Age"))


@pytest.mark.server
def test_what_people_said_about_themselves_can_be_read_and_deleted(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana")
    study.access.consent(ana.id, {"Age": "30-49"})
    study.access.opt_out(ana.id, TOPIC, ["People who l"])
    first, second, _ = study.access.terms()
    assert (first["name"], first["demographics"], first["opted_out"]) == (
        "ana",
        {"Age": "30-49"},
        {TOPIC: ["People who l"]},
    )
    assert (second["consented_at"], second["demographics"], second["opted_out"]) == (None, {}, {})
    study.access.forget("ana")
    assert "30-49" not in dump(study)
    assert study.access.terms()[0]["opted_out"], "who still takes part is still spared what they left out"
    study.retire("ana")
    study.access.forget("ana")
    assert study.access.terms()[0]["opted_out"] == {}


@pytest.mark.server
def test_what_was_left_out_by_mistake_comes_back(at: At) -> None:
    study = at("dealt")
    topic = _topic_of_one_hs(study)
    before = open_work(study)
    names = [one.name for one in study.people]
    ids = {name: admit(study, name).id for name in names}
    for name in names:  # nobody is left to take over
        study.access.opt_out(ids[name], "topic", [topic])
    assert len(open_work(study)) < len(before)
    for name in names:
        study.access.opt_out(ids[name], "topic", [])
    assert sorted(pair for _, pair in open_work(study)) == sorted(pair for _, pair in before)


@pytest.mark.server
def test_who_consents_again_keeps_what_they_said_and_when(at: At) -> None:
    study = at("dealt")
    ana = study.people[0].id
    study.access.consent(ana, {"Age": "30-49"}, "I take part.")
    first = study.access.terms()[0]
    study.access.consent(ana, {"Language": "Persian"}, "Another sentence.")
    second = study.access.terms()[0]
    assert first["consented_to"] == second["consented_to"] == "I take part."
    assert first["consented_at"] == second["consented_at"]
    assert second["demographics"] == {"Age": "30-49", "Language": "Persian"}

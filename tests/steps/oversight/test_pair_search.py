"""Searching pairs: every filter, alone and with others, against what is said of each pair by itself."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from fcpair.errors import InputError, StageError
from fcpair.pair_filter import FilterState, PairFilter
from fcpair.records import TIERS, Role, Tier
from fcpair.steps.oversight import pair_search
from fcpair.store.assignment import rounds
from fcpair.store.database.tables import assignment, person, text
from fcpair.study import Study
from steps.plans import WRITTEN, study_of
from steps.small import At, check, record, with_grid, write_csv

pytestmark = pytest.mark.server
CHOICES: dict[str, tuple[Any, ...]] = {
    "words": ("", "CATS", "cyclists know", "é ask", "nowhere"),
    "person": ("", "ana", "ben", "vera"),
    "answer": ("", "not_sure", "appropriate"),
    "state": ("", *map(str, FilterState)),
    "tier": ("", *TIERS, "none"),
    "skipped": (None, True, False),
    "noted": (None, True, False),
    "other": ("", "ana", "cleo"),
    "other_answer": ("", "appropriate"),
}


def unsettle(study: Study, folder: Path) -> Study:
    """Skip, note, decide, discard, withdraw and reopen some of what the study `checked` has."""
    grid = study.grid()
    study.add_people(["judy"], Role.ADJUDICATOR)
    had = grid.labels()
    whose: dict[int, str] = dict(zip(had["pair"].tolist(), had["annotator"].tolist(), strict=True))
    rows = [{"pair": pair, "annotator": whose[pair], "label": "skip", "note": "too rude"} for pair in (1, 2)]
    rows.append({"pair": 3, "annotator": whose[3], "label": "not_sure", "note": "hm"})
    grid.import_labels(write_csv(folder / "skips.csv", rows), supersede=True)
    taken_back = record(study, folder, [(whose[pair], pair, "not_appropriate") for pair in (7, 9)], supersede=True)
    grid.withdraw(taken_back.id, "labels")
    waiting = grid.waiting_pairs()
    numbers = waiting[:3]
    outcomes = ("irreconcilable", "appropriate", "not_appropriate")
    decided = [
        {"pair": pair, "label": label, "adjudicator": "judy", "note": "so be it" if label != "appropriate" else ""}
        for pair, label in zip(numbers, outcomes, strict=True)
    ]
    grid.import_outcomes(write_csv(folder / "outcomes.csv", decided))
    return study


def facts_of(study: Study) -> dict[int, dict[str, Any]]:
    """What is said of each pair, one after the other."""
    grid = study.grid()
    tiers = grid.tiers().table().pairs.set_index("cell_id")
    waiting = set(grid.waiting_pairs())
    with study._store.read() as tx:
        query = select(assignment.c.cell_id, person.c.name, assignment.c.round_id, assignment.c.status)
        rows = tx.execute(query.join(person, person.c.id == assignment.c.person_id)).all()
        labelling = next(each for each in rounds.of_grid(tx) if each.counts)
    facts = {}
    for pair in grid.find_pairs().to_frame()["pair"].tolist():
        told = grid.explain(pair)
        newest = {(row["round"], row["person"]): row for row in told.answers}
        current = [row for row in newest.values() if row["answer"] != "withdrawn"]
        labels = [row for row in current if row["round"] == labelling.name]
        decision = told.decisions[-1] if told.decisions else None
        stands = decision is not None and decision["rule"] != "reopened"
        verdict = int(tiers["verdict"].get(pair, -1))
        is_given = any(row[0] == pair and row[2] in labelling.ids for row in rows)
        states = {
            "unassigned": not is_given,
            "open": any(row[0] == pair and row[2] in labelling.ids and row[3] == "open" for row in rows),
            "labelled": any(row["answer"] != "skip" for row in labels),
            "waiting": pair in waiting,
            "decided": stands and not told.discarded,
            "discarded": told.discarded,
            "valid": verdict == 1,
            "not_valid": verdict == 0,
        }
        facts[pair] = {
            "text": f"{told.hs}\n{told.cn}".casefold(),
            "given": {row[1] for row in rows if row[0] == pair},
            "labels": [(row["person"], row["answer"]) for row in labels if row["answer"] != "skip"],
            "skips": [row["person"] for row in labels if row["answer"] == "skip"],
            "notes": [row["person"] for row in (*current, *([decision] if stands and decision else [])) if row["note"]],
            "states": {name for name, is_so in states.items() if is_so},
            "tier": Tier[told.tier.upper()] if told.tier else 0,
        }
    return facts


def matches(fact: dict[str, Any], asked: PairFilter) -> bool:
    """Whether a pair meets every condition, one after the other."""
    own = [asked.person] if asked.person else None
    theirs = {label for who, label in fact["labels"] if asked.other in ("", who)}
    least = {"": None, "none": 0}.get(asked.tier, asked.tier)
    return (
        all(word in fact["text"] for word in asked.words.casefold().split())
        and (own is None or asked.person in fact["given"])
        and (not asked.answer or any(label == asked.answer and who in (own or [who]) for who, label in fact["labels"]))
        and (not asked.other or asked.other in fact["given"])
        and (not asked.other_answer or asked.other_answer in theirs)
        and (asked.skipped is None or asked.skipped == any(who in (own or [who]) for who in fact["skips"]))
        and (asked.noted is None or asked.noted == any(who in (own or [who]) for who in fact["notes"]))
        and (not asked.state or asked.state in fact["states"])
        and (least is None or (fact["tier"] >= Tier[str(least).upper()] if least else not fact["tier"]))
    )


def filters() -> list[PairFilter]:
    """Every two filters together, with every value of each."""
    names = list(CHOICES)
    pairs = ((first, other) for at, first in enumerate(names) for other in names[at + 1 :])
    asked = (
        PairFilter(**{first: value, other: other_value})
        for first, other in pairs
        for value, other_value in product(CHOICES[first], CHOICES[other])
    )
    return list(dict.fromkeys(asked))


def assert_found_as_said(study: Study) -> int:
    """Every search finds the pairs of which it is true; returns how many found some, but not all."""
    facts, n_telling = facts_of(study), 0
    for asked in filters():
        expected = [pair for pair, fact in facts.items() if matches(fact, asked)]
        result = study.grid().find_pairs(**asked.chosen)
        assert (result.to_frame()["pair"].tolist(), result.total) == (expected, len(expected)), asked
        n_telling += 0 < len(expected) < len(facts)
    return n_telling


@pytest.mark.slow
def test_every_two_filters_find_the_pairs_of_which_both_are_true(at: At, tmp_path: Path) -> None:
    study = unsettle(at("checked"), tmp_path)
    alone = [PairFilter(**{name: value}) for name, values in CHOICES.items() for value in values[1:]]
    n_alone = {str(asked.chosen): study.grid().find_pairs(**asked.chosen).total for asked in alone}
    assert [chosen for chosen, n in n_alone.items() if not n] == ["{'words': 'nowhere'}", "{'state': 'unassigned'}"]
    assert assert_found_as_said(study) > 150


def test_choices_are_those_of_the_stage_and_what_nobody_has_answered_or_decided_is_found_too(at: At) -> None:
    for stage, n_labelled in (("paired", 0), ("labelled", 24)):
        grid = at(stage).grid()
        assert grid.find_pairs().total == grid.find_pairs(tier="none").total == 24
        assert grid.find_pairs(state="decided").total == grid.find_pairs(tier="bronze").total == 0
        assert grid.find_pairs(state="labelled").total == n_labelled
    for first, n, pairs, begin in (
        (0, 10, range(1, 11), 0),
        (20, 10, range(21, 25), 20),
        (999, 10, range(21, 25), 20),
        (-5, 10, range(1, 11), 0),
        (0, None, range(1, 25), 0),
    ):
        part = grid.find_pairs(first=first, n=n)
        assert (part.to_frame()["pair"].tolist(), part.total, part.first) == ([*pairs], 24, begin)
    assert at("paired").grid().desk.search_choices().states == ()
    dealt = at("dealt").grid().desk.search_choices()
    assert (dealt.people, dealt.answers, dealt.states) == (("ana", "ben", "cleo"), (), ("unassigned", "open"))
    checked = at("checked").grid().desk.search_choices()
    assert (checked.states, checked.tiers) == (tuple(map(str, FilterState)), (*TIERS, "none"))


def test_what_is_kept_between_searches_follows_every_answer_and_decision(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checked"))
    searches = [{"state": state} for state in ("waiting", "valid", "not_valid")] + [{"tier": tier} for tier in TIERS]

    def results(searched: Any) -> list[list[int]]:
        return [searched.find_pairs(**asked).to_frame()["pair"].tolist() for asked in searches]

    def assert_current() -> None:
        with Study(study.place) as fresh:
            assert results(grid) == results(fresh.grid())

    before = results(grid)
    check(study, tmp_path, [("vera", pair, "disagree") for pair in _checked_by(study, "vera")], supersede=True)
    assert_current()
    assert results(grid) != before
    unsettle(study, tmp_path)
    assert_current()
    grid.tiers(diamond="majority").table()
    assert_current()


def _checked_by(study: Study, name: str) -> list[int]:
    answers = [(row["person"], pair) for pair in range(1, 25) for row in study.grid().explain(pair).answers]
    return sorted({pair for who, pair in answers if who == name})[:3]


def test_metadata_of_either_side_are_conditions_and_choices(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = at("checked").grid()
    choices = dict(grid.desk.search_choices().metadata)
    assert choices == {"hs.hs_topic": ("People who l",), "cn.cn_type": ("plain",)}
    with grid._store.write() as tx:
        is_about_cyclists = text.c.body.contains("cyclists") & (text.c.kind == "hs")
        tx.execute(update(text).where(is_about_cyclists).values(meta={"hs_topic": "Tea"}))
    in_tea = grid.find_pairs(metadata={"hs.hs_topic": "TEA"}).to_frame()["pair"].tolist()
    assert in_tea == [1, 2, 3, 4, 5, 6]
    assert grid.find_pairs(metadata={"hs.hs_topic": "tea", "cn.cn_type": "plain"}, state="decided").total < 6
    assert grid.find_pairs(metadata={"hs.hs_topic": "nowhere"}).total == 0
    with pytest.raises(InputError, match=r"there is no metadata `hs.topic`; did you mean `hs.hs_topic`\?"):
        grid.find_pairs(metadata={"hs.topic": "Tea"})
    with pytest.raises(InputError, match="`metadata` of a search has 3; expected a text for each name"):
        grid.find_pairs(metadata={"hs.hs_topic": 3})  # type: ignore[dict-item]
    monkeypatch.setattr(pair_search, "MAX_VALUES", 0)  # values that are many are typed
    assert dict(at("checked").grid().desk.search_choices().metadata) == {"hs.hs_topic": (), "cn.cn_type": ()}


UNKNOWN: tuple[tuple[dict[str, Any], str], ...] = (
    ({"person": "anna"}, "there is no person `anna`; did you mean `ana`"),
    ({"answer": "apropriate"}, "there is no answer `apropriate`; did you mean `appropriate`"),
    ({"tier": "golden"}, "there is no tier `golden`; did you mean `gold`"),
    ({"state": "xyz"}, "there is no state `xyz`; expected unassigned, open, labelled"),
    ({"skipped": "yes"}, "`skipped` of a search is 'yes'; expected True, False or None"),
    ({"words": 3}, "`words` of a search is 3; expected text"),
)


def test_rows_say_labels_decision_verdict_and_tier_and_unknown_names_are_refused(at: At) -> None:
    grid = at("checked").grid()
    rows = grid.find_pairs(words="cyclists")
    assert rows.to_frame().columns.tolist() == ["pair", "hs", "cn", "labels", "decision", "verdict", "tier"]
    by_pair = {row[0]: row[3:] for row in rows.to_frame().itertuples(index=False, name=None)}
    assert by_pair[6] == ("2 not_appropriate, 1 appropriate", "not_appropriate", "valid", "gold")
    assert by_pair[4] == ("2 not_appropriate", "not_appropriate", "not valid", "bronze")
    assert by_pair[5] == ("1 not_sure", "", "", "")
    assert repr(rows) == "<FoundPairs: 6, here 6 from place 0 on>"
    for asked, message in UNKNOWN:
        with pytest.raises(InputError, match=message):
            grid.find_pairs(**asked)


def test_answers_that_are_no_labels_are_not_searched(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="whose answers are not labels"):
        study_of(tmp_path, WRITTEN, writer=2).grid("write").find_pairs()

"""Labels that change on record: what reads differently, who is asked again, and tiers of before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid
from fcpair.params import Adjudicate, Partition, Setup, Validate
from fcpair.records import Role
from fcpair.stages.questions import OneOf, parse_question
from fcpair.store.database.tables import answer, judgement, relabelling
from fcpair.study import Study
from fcpair.words import Words
from steps.deciding import adjudicators, decide
from steps.online import at_desk, give
from steps.people.known import assign_with_known_pairs, right_answer
from steps.small import (
    At,
    assert_refused,
    build_to,
    check,
    dump,
    labels_of,
    open_work,
    record,
    standing,
    verdict_of,
    write_csv,
)

pytestmark = pytest.mark.server
FIVE = "one_of(rude,hostile,not_sure?,fine+,good+)"
CHANGES: dict[str, dict[str, Any]] = {
    "rename": {"labels": ["appropriate"], "into": ["suitable"]},
    "merge": {"labels": ["appropriate", "great"], "into": ["suitable"]},
    "split": {"labels": ["appropriate"], "into": ["kind+", "factual"]},
    "add": {"into": ["unclear?"]},
}
TIERS = ("diamond", "gold", "silver", "bronze")


def change(study: Study, kind: Any, **params: Any) -> Any:
    """Change the labels of a study."""
    return study.grid().relabel(kind=kind, reason="it was misread", **params)


def with_five(folder: Path, labels: Callable[[str, int], str], printed: str = FIVE) -> Study:
    """A small study of five labels, or others, whose pairs the majority decides."""
    study = build_to("dealt", Study.create(folder / "five.db", Setup(title="Five", scheme=printed)), folder)
    record(study, folder, [(who, pair, labels(who, pair)) for who, pair in open_work(study)])
    study.grid().adjudicate(Adjudicate("majority"))
    return study


def figures(study: Study) -> dict[str, Any]:
    """What follows from the labels of a study, without a name of any."""
    grid = study.grid()
    pairs = grid.tiers().table().pairs.drop(columns=["hs_id", "cn_id"]).to_dict("list")
    agreement = [{**row, "part": None} for row in grid.agreement().rows()]
    return {
        "pairs": pairs,
        "sizes": grid.tiers().table().sizes,
        "agreement": agreement,
        "states": study.status()["pairs"],
        "standing": standing(study),
    }


def rows_as_given(study: Study) -> list[Any]:
    """Every judgement, and every answer that somebody can have given, without what it reads as."""
    given = [column for column in answer.c if column.name not in ("reads_as", "checksum")]
    with study._store.read() as tx:
        return [tx.execute(select(*columns).order_by(columns[0])).all() for columns in (list(judgement.c), given)]


def bytes_of_tiers(grid: Grid, folder: Path, as_of: int | None = None) -> list[bytes]:
    """The files of the four tiers, and of a tier of the grid's own."""
    folder.mkdir()
    for tier in (*TIERS, "yes"):
        grid.tiers(as_of=as_of).release(tier, folder / f"{tier}.csv")
    return [(folder / f"{tier}.csv").read_bytes() for tier in (*TIERS, "yes")]


@pytest.mark.parametrize("kind", CHANGES)
def test_tiers_of_before_are_derived_again_byte_for_byte(at: At, kind: str, tmp_path: Path) -> None:
    study, version = at("checked"), 1
    grid = study.grid()
    grid.save.partition(Partition("majority", {"yes": {"answers": ["not_appropriate"], "verdict": "none"}}))
    if kind == "merge":
        change(study, "add", into=["great+"])
        record(
            study,
            tmp_path,
            [("ana", pair, "great") for pair, who in labels_of(study) if who == "ana" and pair % 2],
            supersede=True,
        )
        version = 2
    before = bytes_of_tiers(grid, tmp_path / "before")
    change(study, kind, **CHANGES[kind])
    # what happens afterwards: answers given anew, a decision by hand, a verdict, other rules
    name = next(choice.name for choice in grid.scheme if choice.positive)
    record(study, tmp_path, [(who, pair, name) for pair, who in labels_of(study) if pair < 9], supersede=True)
    (ada,) = adjudicators(study, "ada")
    decide(study, ada, grid.waiting_pairs()[-1], "not_appropriate")
    grid.save.partition(Partition())
    assert bytes_of_tiers(grid, tmp_path / "again", as_of=version) == before
    assert grid.tiers(as_of=version).table().sizes != grid.tiers().table().sizes
    assert grid.tiers(as_of=version).explain(1).tier is not None
    assert study.log()[-1].params["as_of"] == version
    assert grid.tiers(as_of=version + 1).table().sizes == grid.tiers().table().sizes
    assert Study.doctor(study.address).is_sound


def test_a_version_that_there_was_not_is_unknown(at: At) -> None:
    study = at("checked")
    for version in (0, 2, -1):
        with pytest.raises(UnknownIdError, match=f"the labels have had no version {version}; the newest is 1"):
            study.grid().tiers(as_of=version)


def test_versions_say_what_was_changed_and_why(at: At) -> None:
    study = at("labelled")
    run = study.grid().relabel(kind="rename", labels=["not_sure"], into=["unclear"], reason="a better word")
    first, second = study.grid().label_versions()
    assert (first.version, first.question, first.change) == (1, "one_of(not_appropriate,not_sure?,appropriate+)", "")
    assert (second.version, second.question) == (2, "one_of(not_appropriate,unclear?,appropriate+)")
    assert (second.change, second.reason) == ("the label `not_sure` is called `unclear`", "a better word")
    assert second.run == run.id == study.log()[-1].id
    assert str(run.told) == (
        "the label `not_sure` is called `unclear`; 3 answers to 3 pairs read differently from now on"
    )


@pytest.mark.parametrize("kind", CHANGES)
def test_no_answer_is_touched_and_a_change_cannot_be_undone_behind_its_back(at: At, kind: str, tmp_path: Path) -> None:
    study = at("checked")
    if kind == "merge":
        change(study, "add", into=["great+"])
    before = rows_as_given(study)
    change(study, kind, **CHANGES[kind])
    for old, new in zip(before, rows_as_given(study), strict=True):
        assert new[: len(old)] == old
    for statement in (update(relabelling).values(at="x"), relabelling.delete()):
        with pytest.raises(DBAPIError, match="append-only"), study._store.write() as tx:
            tx.execute(statement)


def test_a_dry_run_says_what_would_follow_and_changes_nothing(at: At) -> None:
    study = at("checked")
    before = dump(study)
    run = change(study, "split", dry_run=True, **CHANGES["split"])
    assert dump(study) == before
    assert (run.counts["ambiguous"], run.counts["pairs"]) == (19, 12)
    assert change(study, "split", **CHANGES["split"]).counts == run.counts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
@given(picks=st.lists(st.integers(0, 4), min_size=42, max_size=42))
def test_renaming_and_renaming_back_leaves_every_figure(tmp_path_factory: Any, picks: list[int]) -> None:
    names, folder = [choice.name for choice in _five()], tmp_path_factory.mktemp("back")
    given_labels = iter(picks)
    with closing(with_five(folder, lambda _who, _pair: names[next(given_labels)])) as study:
        before = figures(study)
        change(study, "rename", labels=["fine"], into=["suitable"])
        assert figures(study) == before
        change(study, "rename", labels=["suitable"], into=["fine"])
        assert figures(study) == before
        assert set(labels_of(study).values()) <= set(names)
        assert Study.doctor(study.address).is_sound


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
@given(
    picks=st.lists(st.integers(0, 4), min_size=42, max_size=42),
    own_name=st.booleans(),
    labels=st.sampled_from([("rude", "hostile"), ("good", "fine")]),
)
def test_merging_gives_the_figures_of_a_study_that_had_the_merged_label_from_the_beginning(
    tmp_path_factory: Any, picks: list[int], own_name: bool, labels: tuple[str, str]
) -> None:
    names = [choice.name for choice in _five()]
    into = labels[0] if own_name else "merged"
    kept = min(labels, key=names.index) if into == "merged" else into
    signs = {"rude": "", "hostile": "", "not_sure": "?", "fine": "+", "good": "+"}
    other = [
        f"{into if name == kept else name}={code}{signs[name]}"
        for code, name in enumerate(names)
        if name == kept or name not in labels
    ]
    folder, numbers = tmp_path_factory.mktemp("merged"), dict[tuple[str, int], int]()
    given_labels = iter(picks)

    def label(who: str, pair: int) -> str:
        return names[numbers.setdefault((who, pair), next(given_labels, 0))]

    with closing(with_five(folder, label)) as study:
        change(study, "merge", labels=labels, into=[into])
        (other_folder := folder / "other").mkdir()
        afresh = with_five(
            other_folder, lambda *of: into if label(*of) in labels else label(*of), f"one_of({','.join(other)})"
        )
        with closing(afresh):
            assert figures(study) == figures(afresh)
            assert labels_of(study) == labels_of(afresh)
        assert Study.doctor(study.address).is_sound


def _five() -> OneOf:
    question = parse_question(FIVE)
    assert isinstance(question, OneOf)
    return question


def test_answers_that_differed_in_merged_labels_alone_agree(tmp_path: Path) -> None:
    study = with_five(tmp_path, lambda who, _pair: "rude" if who == "ana" else "hostile")
    waiting = study.status()["pairs"]["wait_for_person"]
    run = change(study, "merge", labels=["rude", "hostile"], into=["bad"])
    assert waiting > 0
    assert run.counts["decided"] >= waiting  # some had been decided by majority
    assert study.status()["pairs"]["wait_for_person"] == 0
    assert set(labels_of(study).values()) == {"bad"}
    assert {code for _, code in standing(study).values()} == {0}


def test_people_are_asked_again_for_a_label_that_was_split(at: At, tmp_path: Path) -> None:
    study = at("decided")
    before = labels_of(study)
    study.retire("ben")
    run = change(study, "split", **CHANGES["split"])
    gone = {key for key, label in before.items() if label == "appropriate"}
    assert labels_of(study) == {key: label for key, label in before.items() if key not in gone}
    asked = {(pair, who) for who, pair in open_work(study)}
    assert {key for key in gone if key[1] != "ben"} <= asked
    of_ben = [key for key in gone if key[1] == "ben"]
    assert of_ben
    assert run.counts["reassigned"] + run.counts.get("vacant", 0) == len(of_ben)
    record(study, tmp_path, [(who, pair, "kind") for who, pair in open_work(study)])
    assert not open_work(study)
    assert labels_of(study).items() >= {key: "kind" for key in gone if key[1] != "ben"}.items()
    assert Study.doctor(study.address).is_sound


def test_what_people_decided_by_a_split_label_waits_for_a_second_look(at: At) -> None:
    study = at("decided")
    (ada,) = adjudicators(study, "ada")
    waiting = study.grid().waiting_pairs()
    first, second = waiting[:2]
    decide(study, ada, first, "appropriate")
    decide(study, ada, second, "not_appropriate")
    run = change(study, "split", **CHANGES["split"])
    assert run.counts["to_decide"] == 1
    assert standing(study)[first][0] == "requested"
    assert standing(study)[second] == ("person", 0)
    decision = study.grid().explain(first).decisions[-1]
    assert (decision["answer"], str(decision["note"])) == (
        "waits for a person",
        "`appropriate` was split: it was misread",
    )
    assert first in study.grid().waiting_pairs()


def test_it_can_be_explained_how_an_answer_was_given_and_what_it_reads_as(at: At) -> None:
    study = at("decided")
    pair = next(pair for (pair, _), label in labels_of(study).items() if label == "appropriate")
    change(study, "rename", labels=["appropriate"], into=["suitable"])
    row = next(row for row in study.grid().explain(pair).answers if row["given"])
    assert (row["answer"], row["given"]) == ("suitable", "appropriate")
    assert study.grid().explain(pair).decisions[-1]["answer"] == "suitable"
    change(study, "split", labels=["suitable"], into=["kind+", "factual"])
    answers = study.grid().explain(pair).answers
    assert next((row["answer"], row["given"]) for row in answers if row["given"]) == ("suitable", "appropriate")
    assert answers[-1]["answer"] == "withdrawn"


def test_validators_who_answer_blind_follow_too(at: At, tmp_path: Path) -> None:
    study = at("decided")
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    study.grid().assign_validation(Validate(blind=True, seed=1))
    rows = [{"pair": pair, "validator": who, "own_label": "appropriate"} for who, pair in open_work(study, checks=True)]
    study.grid().import_verdicts(write_csv(tmp_path / "blind.csv", rows))
    before = study.grid().tiers().table().sizes
    change(study, "rename", labels=["appropriate"], into=["suitable"])
    assert study.grid().tiers().table().sizes == before
    run = change(study, "split", labels=["suitable"], into=["kind+", "factual"])
    assert run.counts["ambiguous"] == 19
    assert len(open_work(study, checks=True)) == len(rows)
    assert Study.doctor(study.address).is_sound


def test_a_sheet_from_before_is_read_as_what_it_means_now(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    change(study, "rename", labels=["appropriate"], into=["suitable"])
    (who, pair), (_, other) = open_work(study)[:2]
    record(study, tmp_path, [(who, pair, "Appropriate")])
    desk, person = at_desk(study, who)
    assert labels_of(study)[pair, who] == "suitable"
    task = desk.tasks(person)[0]
    give(desk, person, "appropriate")
    assert labels_of(study)[task.cell_id, who] == "suitable"
    change(study, "split", labels=["suitable"], into=["kind+", "factual"])
    with pytest.raises(InputError, match=r"csv:2: `appropriate` was split, and is no answer any more; expected one of"):
        record(study, tmp_path, [(who, other, "appropriate")])
    with pytest.raises(InputError, match="`suitable` was split"):
        give(desk, person, "suitable")


def test_what_names_a_label_follows_or_is_changed_first(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    grid = study.grid()
    study.save_words(Words(options={"appropriate": "fits", "not_sure": {"text": "?", "key": "q"}, "agree": "yes"}))
    grid.save.partition(Partition(own_tiers={"yes": {"answers": ["appropriate"], "verdict": "none"}}))
    study.edit_guidelines("Say appropriate where it fits.", by="ana")
    run = change(study, "rename", labels=["appropriate"], into=["suitable"])
    assert run.notes == ("the guidelines name `appropriate`; edit them, so that people read what is meant now",)
    assert grid.effective_options(Partition).own_tiers == {"yes": {"answers": ["suitable"], "verdict": "none"}}
    options = study.effective_options(Words).options
    assert options == {"suitable": "fits", "not_sure": {"text": "?", "key": "q"}, "agree": "yes"}
    assert_refused(
        study,
        lambda: change(study, "split", labels=["suitable"], into=["a+", "b"]),
        InputError,
        "the tier `yes` has pairs labelled suitable; give it other answers first",
    )
    change(study, "add", into=["great+"])
    assert_refused(
        study,
        lambda: change(study, "merge", labels=["suitable", "great"], into=["fit"]),
        InputError,
        "the tier `yes` has pairs labelled suitable; give it other answers first",
    )


def test_the_recipe_is_one_that_a_new_study_could_run_and_tells_the_history(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    change(study, "rename", labels=["appropriate"], into=["suitable"])
    assert study.recipe().setup is not None
    printed = study.recipe().setup.scheme  # type: ignore[union-attr]
    assert printed == "one_of(not_appropriate,not_sure?,suitable+)"
    assert "the label `appropriate` is called `suitable` (it was misread)." in study.recipe_text()
    with closing(Study.create(tmp_path / "other.db", Setup(title="Again", scheme=printed))) as again:
        assert again.grid().scheme == study.grid().scheme
    assert "the label `appropriate` is called `suitable`" in study.methods().markdown
    assert any("the label `appropriate` is called `suitable`" in str(note) for note in study.status()["notes"])


def test_planned_grids_change_their_labels_too_and_other_questions_are_refused(tmp_path: Path) -> None:
    from fcpair.plans import GridPlan, RoundPlan, SidePlan

    study = Study.create(tmp_path / "planned.db", Setup(title="Planned"))
    for name, form in (
        ("one", "fits: one_of(no,unsure?,yes+)"),
        ("several", "a: one_of(no,yes+); b: text()"),
        ("scale", "fits: scale(1,5,1,positive=4)"),
    ):
        sides = SidePlan(names=("x", "y")), SidePlan(names=("fits?",))
        study.add_grid(GridPlan(name, *sides, (RoundPlan("judge", form),)))
    study.grid("one").relabel(kind="rename", labels=["yes"], into=["fits"], reason="why")
    assert str(study.grid("one").scheme.current) == "one_of(no,unsure?,fits+)"
    assert study.recipe().grids[0].rounds[0].form.endswith("one_of(no,unsure?,fits+)")
    for name in ("several", "scale"):
        with pytest.raises(StageError, match=f"grid `{name}` asks .* labels can be changed where"):
            study.grid(name).relabel(kind="rename", labels=["yes"], into=["fits"], reason="why")
    assert study.log()[-1].params["grid"] == "one"


def test_a_split_waits_for_decisions_that_were_asked_for(at: At) -> None:
    study = at("decided")
    pair = next(pair for (pair, _), label in labels_of(study).items() if label == "appropriate")
    study.grid().request_decisions([pair])
    assert_refused(
        study,
        lambda: change(study, "split", **CHANGES["split"]),
        StageError,
        f"with this label, pairs {pair} wait for a decision that was asked for, or for a second look",
    )


def test_a_split_waits_for_a_calibration(at: At) -> None:
    study = at("paired")
    study.grid().calibration.start(pairs=4, annotators=2)
    assert_refused(study, lambda: change(study, "split", **CHANGES["split"]), StageError, "a calibration is under way")


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"kind": "merge", "labels": ["appropriate", "not_appropriate"], "into": ["x"]}, InputError, "one is positive"),
        ({"kind": "rename", "labels": ["apropriate"], "into": ["x"]}, InputError, "did you mean `appropriate`"),
        ({"kind": "rename", "labels": ["appropriate"], "into": ["not_sure"]}, InputError, "merge them"),
        ({"kind": "rename", "labels": ["appropriate"], "into": ["x"], "reason": ""}, InputError, "needs a reason"),
        ({"kind": "drop", "labels": ["appropriate"]}, InputError, "kind is `drop`|`kind` is `drop`|expected"),
    ],
)
def test_bad_changes_leave_the_study_as_it_was(
    at: At, params: Mapping[str, Any], error: type[Exception], message: str
) -> None:
    study = at("checked")
    assert_refused(study, lambda: study.grid().relabel(**{"reason": "why", **params}), error, message)


def test_known_pairs_follow_a_rename_and_forbid_a_split(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    assign_with_known_pairs(study, tmp_path)
    change(study, "rename", labels=["appropriate"], into=["suitable"])
    desk, ana = at_desk(study, "ana")
    for task in desk.tasks(ana, 2):
        give(desk, ana, right_answer(task.cell_id), task.assignment_id)
    (score,) = [
        row for row in study.grid().desk.known_scores() if (row["name"], row["use"]) == ("ana", "qualification")
    ]
    assert (score["answered"], score["right"], score["standing"]) == (2, 2, "passed")
    assert_refused(
        study,
        lambda: change(study, "split", labels=["suitable"], into=["a+", "b"]),
        InputError,
        "known pairs whose right answer is `suitable`",
    )
    assert Study.doctor(study.address).is_sound


def test_verdicts_on_a_merged_label_stand(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    change(study, "add", into=["great+"])
    record(study, tmp_path, [(who, pair, "great" if pair % 2 else "appropriate") for who, pair in open_work(study)])
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    grid.assign_validation(Validate(seed=1))
    check(study, tmp_path, [(who, pair, verdict_of(pair)) for who, pair in open_work(study, checks=True)])
    before = grid.tiers().table().sizes
    change(study, "merge", labels=["appropriate", "great"], into=["suitable"])
    assert grid.tiers().table().sizes == before
    # a new decision by rule is of the same label, so that the verdict is about it
    record(study, tmp_path, [("ana", pair, "suitable") for pair, who in labels_of(study) if who == "ana"])
    assert grid.tiers().table().sizes == before
    assert study.status()["lost_verdicts"] == 0

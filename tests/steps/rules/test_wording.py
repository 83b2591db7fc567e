"""The words of a study: set at any time, kept in its recipe, shown beside names, and which noun holds for whom."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError
from fcpair.params import Annotate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from fcpair.words import Wording, Words
from fcpair.work_records import RoundForm
from steps import forms
from steps.plans import CRITERIA, RATED, STATEMENTS, TYPES, WRITTEN, study_of, with_round

ASKED = GridPlan(
    "ask",
    SidePlan(names=STATEMENTS),
    SidePlan(names=("heard", "believed")),
    (RoundPlan("ask", "answer: one_of(yes,no)", role="respondent", answers=0, screen="row"),),
    row_name="statement",
)
WORDS = Words(
    questions={"rate": {"text": "How good is it?", "help": "As a whole."}},
    options={"rate/1": "not at all", "rate/5": {"text": "entirely", "help": "Nothing is missing."}},
    sides={"row": "Reply", "fluent": "In good language", "path": {"text": "Way"}},
)


def rated(folder: Path) -> Study:
    plan = replace(RATED, rows=SidePlan(names=STATEMENTS), columns=SidePlan(names=(*CRITERIA, "path")))
    study = study_of(folder, plan, rater=2)
    study.grid("rate").pair()
    study.grid("rate").assign_round()
    return study


def round_form(study: Study, name: str) -> RoundForm:
    """What somebody, who has consented, is asked in their only round."""
    visitor = study.access.by_token(study.access.invite(name))
    assert visitor
    (form,) = study.work_queue(Annotate()).rounds(visitor)
    return form


def test_a_form_says_its_wordings_beside_the_names(tmp_path: Path) -> None:
    study = rated(tmp_path)
    study.save_words(WORDS)
    shown = round_form(study, "rater1")
    (question,) = shown.form
    assert (question["name"], question["text"], question["help"]) == ("rate", "How good is it?", "As a whole.")
    assert question["choices"][::8] == ["1", "5"]
    assert question["texts"] == ["not at all", *[None] * 7, "entirely"]
    assert question["helps"] == [*[None] * 8, "Nothing is missing."]
    assert (shown.row_name, shown.row_text, shown.column_text) == ("row", "Reply", None)
    assert shown.texts == {"fluent": {"text": "In good language"}, "path": {"text": "Way"}}


def test_words_are_set_one_by_one_and_leave_a_run_and_the_recipe_which_may_change_them(tmp_path: Path) -> None:
    study = rated(tmp_path)
    recipe = replace(study.recipe(), words=WORDS)
    assert study.save_words(WORDS).counts == {"nouns": 0, "questions": 1, "options": 2, "sides": 3}
    study.save_words(nouns={"rater": "reply"}, language="fa")
    expected = replace(WORDS, nouns={"rater": "reply"}, language="fa")
    assert study.effective_options(Words) == study.recipe().words == expected
    assert '[words.nouns]\nrater = "reply"' in study.recipe_text()
    assert [run.stage for run in study.walk(recipe)] == ["words"]
    assert list(study.walk(recipe)) == []
    list(study.walk(replace(recipe, words=Words(sides={"row": "Text"}))))
    assert round_form(study, "rater1").row_text == "Text"
    study.save_words(sides={"path": "Way"})  # a column that is called path is no file
    assert study.effective_options(Words).sides == {"path": "Way"}
    with pytest.raises(InputError, match=r"`questions` has `rates`.*did you mean `rate`\?; .*`options` has `rate/9`"):
        study.save_words(questions={"rates": "?"}, options={"rate/9": "!"})
    assert study.effective_options(Words) == Words(sides={"path": "Way"})


def test_validators_read_the_wording_of_the_label_that_they_check(files: dict[str, Path], tmp_path: Path) -> None:
    study = Study(shutil.copy(files["checking"], tmp_path / "study.db"))
    study.save_words(options={"appropriate": "It fits", "agree": "Yes"}, sides={"hs": "Post"})
    study.add_people(["vic"], Role.VALIDATOR)
    shown = round_form(study, "vic")
    assert shown.texts == {"appropriate": {"text": "It fits"}}
    assert (shown.form[0]["choices"], shown.form[0]["texts"]) == (["agree", "disagree"], ["Yes", None])
    assert shown.row_text == "Post"


def test_an_own_key_takes_the_place_of_the_number_for_all_who_answer_check_and_decide(
    files: dict[str, Path], tmp_path: Path
) -> None:
    study = Study(shutil.copy(files["checking"], tmp_path / "study.db"))
    marks = {"appropriate": {"key": "a", "colour": "green"}, "agree": {"key": "y"}, "not_sure": {"colour": "yellow"}}
    study.save_words(options=marks)
    assert '[words.options]\nappropriate = { key = "a", colour = "green" }' in study.recipe_text()
    study.add_people(["vic"], Role.VALIDATOR)
    labels, verdict = round_form(study, "ana").form[0], round_form(study, "vic").form[0]
    assert labels["keys"] == [["1"], ["2"], ["a"]]
    assert labels["colours"] == [None, "yellow", "green"]
    assert "texts" not in labels
    assert (verdict["choices"], verdict["keys"]) == (["agree", "disagree"], [["y"], ["2"]])


def test_an_adjudicator_s_case_has_the_own_keys_and_colours(files: dict[str, Path], tmp_path: Path) -> None:
    study = Study(shutil.copy(files["labelled"], tmp_path / "study.db"))
    study.save_words(options={"appropriate": {"key": "a", "colour": "green"}})
    desk = study.grid().desk
    case = desk.conflict(desk.agenda("judy").pairs[0], by="judy")
    assert case.choices == ("not_appropriate", "appropriate", "irreconcilable")
    assert case.keys == (("1",), ("a",), ("x",))
    assert case.colours == (None, "green", None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"appropriat": {"key": "a"}}, "`appropriat`, .*; did you mean `appropriate`"),
        ({"appropriate": {"key": "1"}}, "the key `1` would belong to two answers: not_appropriate, appropriate; "),
        ({"appropriate": {"key": "a"}, "not_sure": {"key": "a"}}, "`a` would belong to two .*: not_sure, appropriate"),
        ({"agree": {"key": "2"}}, "the key `2` would belong to two answers: agree, disagree"),  # which are turned round
    ],
)
def test_keys_that_answers_would_share_are_refused(
    files: dict[str, Path], tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    study = Study(shutil.copy(files["checking"], tmp_path / "study.db"))
    with pytest.raises(InputError, match=message):
        study.save_words(options=options)
    study.save_words(options={"appropriate": {"key": "1"}, "not_appropriate": {"key": "3"}})  # they change places


def test_the_steps_of_a_scale_have_no_keys_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`5` is a number, which is typed; give it no `key`"):
        rated(tmp_path).save_words(options={"rate/5": {"key": "h"}})


@pytest.mark.parametrize(
    ("columns", "words", "is_single"),
    [
        (("reply",), {}, True),
        (("Is it fit?",), {}, False),
        (("آیا خوب است؟",), {}, False),
        (("reply",), {"reply": "What was said"}, False),
        (("heard", "believed"), {}, False),
    ],
)
def test_one_column_is_not_shown_unless_it_asks_something(
    tmp_path: Path, columns: tuple[str, ...], words: dict[str, str], is_single: bool
) -> None:
    study = study_of(tmp_path, replace(ASKED, columns=SidePlan(names=columns)), respondent=1)
    study.save_words(sides=words)
    assert round_form(study, "respondent1").single_column is is_single


FILE = SidePlan(file=Path("texts.csv"), column="text")
SURVEY = with_round(ASKED, hide="column", screen="cell")
NOUNS = {
    "two texts": (replace(WRITTEN, columns=FILE), Role.WRITER, "pair"),
    "types": (WRITTEN, Role.WRITER, "text"),
    "criteria": (replace(RATED, rows=SidePlan(names=STATEMENTS)), Role.RATER, "text"),
    "several questions": (ASKED, Role.RESPONDENT, "question"),
    "one question": (replace(ASKED, columns=SidePlan(names=("heard",))), Role.RESPONDENT, "statement"),
    "hidden": (replace(SURVEY, columns=FILE), Role.RESPONDENT, "statement"),
    "labels of types": (with_round(ASKED, role="annotator"), Role.ANNOTATOR, "text"),
}


@pytest.mark.parametrize(("plan", "role", "noun"), NOUNS.values(), ids=NOUNS)
def test_a_unit_is_called_by_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: GridPlan, role: Role, noun: str
) -> None:
    (tmp_path / "texts.csv").write_text("text\nTea is fine.\n")
    monkeypatch.chdir(tmp_path)
    study = study_of(tmp_path, plan)
    assert study.page_words(role).noun.one == noun
    study.save_words(nouns={role.value: "case"})
    assert study.page_words(role).noun == ("case", "cases")


def test_who_rates_what_others_wrote_rates_replies_and_rounds_of_two_kinds_have_items(tmp_path: Path) -> None:
    study = study_of(tmp_path, WRITTEN, RATED)
    assert study.page_words(Role.RATER).noun.one == "reply"
    study.add_grid(replace(RATED, name="again", rows=SidePlan(names=TYPES)))
    assert study.page_words(Role.RATER).noun.one == "item"


def test_a_study_of_pairs_has_pairs_and_a_side_its_wording(files: dict[str, Path], tmp_path: Path) -> None:
    study = Study(files["checking"])
    for role in (Role.ANNOTATOR, Role.VALIDATOR, Role.ADJUDICATOR):
        assert study.page_words(role) == (("pair", "pairs"), "hate speech", "counter-narrative", "en")
    study = Study(forms.build(tmp_path))
    study.save_words(sides={"hate speech": "Message"})
    shown: Any = study.page_words(Role.WRITER, "write")
    assert (shown.row_name, shown.column_name) == ("Message", "aspect")


def test_of_a_side_with_many_names_those_with_a_wording_alone_are_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page asks for them, and so does each progress: 10,000 names took it 40 ms."""
    statements = tuple(f"Tea number {n} is fine." for n in range(500))
    study = study_of(tmp_path, replace(ASKED, rows=SidePlan(names=statements)), respondent=1)
    study.save_words(sides={statements[7]: "Tea is fine.", "believed": {"help": "In earnest."}})
    looked_up: list[str] = []
    side = Words.side

    def side_noting(words: Words, *names: str) -> Wording:
        looked_up.extend(names)
        return side(words, *names)

    monkeypatch.setattr(Words, "side", side_noting)
    assert round_form(study, "respondent1").texts == {
        statements[7]: {"text": "Tea is fine."},
        "believed": {"help": "In earnest."},
    }
    assert set(looked_up) == {"statement", "column", statements[7], "believed"}

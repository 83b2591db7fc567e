"""The words of the pages: which wording holds, in which language, and what a recipe may say of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import fcpair.web
from fcpair.errors import InputError, RecipeError
from fcpair.recipe import Recipe, as_toml, load_recipe
from fcpair.stages.questions.base import DISCARD
from fcpair.words import COLOURS, NOUNS, PAGE_KEYS, Noun, Wording, Words

WEB = Path(fcpair.web.__file__).parent
SURVEY = """
[[grid]]
name = "survey"
row_name = "statement"
column_name = "question"
rows = { file = "statements.csv", column = "statement" }
columns = { names = ["heard", "believed"] }

[[grid.round]]
name = "ask"
role = "respondent"
form = { answer = "one_of(yes,no)", sure = "scale(1,5,1)" }
"""


def load(folder: Path, content: str) -> Recipe:
    (folder / "recipe.toml").write_text(content, "utf-8")
    return load_recipe(folder / "recipe.toml")


def test_the_longest_name_of_a_question_and_of_an_option_goes_first() -> None:
    words = Words(
        questions={"fit": "Fits?", "review/fit": "Is it fit?"},
        options={"yes": "Yes", "fit/yes": "It is", "review/fit/yes": "It is fit"},
    )
    assert [words.question(grid, "fit").text for grid in ("review", "other")] == ["Is it fit?", "Fits?"]
    places = [("review", "fit"), ("other", "fit"), ("other", "why")]
    assert [words.option(*place, "yes").text for place in places] == ["It is fit", "It is", "Yes"]
    assert words.question("review", "why") == words.side("row") == Wording()


def test_a_text_is_chosen_by_the_studys_language_then_english_then_any() -> None:
    texts: dict[str, Any] = {
        "both": {"text": {"en": "Yes", "fa": "بله"}},
        "one": {"text": {"de": "Ja"}, "help": "Say it"},
    }
    asked = {language: Words(language=language, options=texts) for language in ("fa", "en", "it")}
    assert [words.option("g", "q", "both").text for words in asked.values()] == ["بله", "Yes", "Yes"]
    assert asked["it"].option("g", "q", "one") == Wording("Ja", "Say it")


def test_no_page_where_somebody_answers_or_decides_has_a_key_that_a_label_may_have() -> None:
    taken, of_dialogs = set[str](), re.compile("<dialog.*?</dialog>", re.DOTALL)
    for name in ("desk", "_keys", "_goal", "_guidelines", "_case", "adjudicate*", "practice", "lead_decide"):
        for path in (WEB / "templates").glob(f"{name}.html.j2"):
            taken |= {*re.findall('data-(?:key|of-case)="([a-z0-9])"', of_dialogs.sub("", path.read_text("utf-8")))}
    assert {*PAGE_KEYS} - taken == {DISCARD}
    assert taken - {*PAGE_KEYS} == {"a"}  # at the end of practice, where nothing is answered


def test_each_colour_is_one_of_the_style_sheet_s() -> None:
    style = (WEB / "static" / "fcpair.css").read_text("utf-8")
    assert tuple(re.findall(r'^\[data-colour="(\w+)"\] \{', style, re.MULTILINE)) == COLOURS


def test_nouns_have_their_plurals_and_take_the_place_of_pairs_that_are_not_quoted() -> None:
    assert [Noun.of(word).many for word in NOUNS] == [
        *("pairs", "statements", "texts", "replies", "items", "questions", "cases")
    ]
    reply = Noun.of("reply")
    assert [reply.with_number(n) for n in (1, 2, 1_200)] == ["1 reply", "2 replies", "1,200 replies"]
    said = "Pairs wait: pair 3 says `pair` and repairs nothing; this pair"
    assert reply.replace_pairs(said) == "Replies wait: reply 3 says `pair` and repairs nothing; this reply"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"language": "Farsi"}, "language is 'Farsi'; expected the code of one, such as en or fa"),
        ({"nouns": {"writer": "txt"}}, "nouns: `writer` is 'txt'; expected one of pair, statement, text, reply"),
        ({"nouns": {"raters": "text"}}, "there is no role `raters` that reads; did you mean `rater`?"),
        ({"nouns": {"lead": "text"}}, "no role `lead` that reads; .*annotator"),
        ({"questions": {"fit": " "}}, "questions: `fit`: `text` is ' '; expected a text of 1 to 1,000 characters"),
        ({"questions": {"fit": {"txt": "x"}}}, "`fit` has `txt`; did you mean `text`?"),
        ({"options": {"yes": {}}}, "`yes` has no wording; give it a `text`, a `help`, or both"),
        ({"sides": {"row": {"text": {"Persian": "x"}}}}, "`text` has `Persian`; expected the code of a language"),
        ({"sides": {"row": {"text": {}}}}, "`text` has no text in any language"),
        ({"options": {"yes": {"key": "ja"}}}, "`yes`: `key` is 'ja'; expected one letter from a to z, or one digit"),
        (
            {"options": {"yes": {"key": 1}}},
            "`yes`: `key` is 1; expected one letter from a to z, or one digit, in quotes",
        ),
        ({"options": {"yes": {"key": "s"}}}, "`yes`: `s` is one of the pages' own keys: b, f, g, .*; choose another"),
        ({"options": {"yes": {"colour": "mauve"}}}, "`yes`: `colour` is 'mauve'; expected one of red, orange, yellow"),
        ({"options": {"yes": {"kye": "y"}}}, "`yes` has `kye`; did you mean `key`?"),
        ({"sides": {"row": {"key": "y"}}}, "`row` has `key`; expected text, help"),
        ({"sides": {"row": 3}}, "sides: `row`: `text` is 3; expected a text of 1 to 1,000 characters"),
    ],
)
def test_words_that_cannot_be_used_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Words(**values)  # type: ignore[arg-type]


def test_a_recipe_names_everything_that_is_wrong_with_its_words_at_once(tmp_path: Path) -> None:
    words = '[words.nouns]\nraterr = "text"\nwriter = "txt"\n[words.options]\nyes = { txt = "Y" }\n"sure/1" = 5\n'
    with pytest.raises(RecipeError) as refused:
        load(tmp_path, words + SURVEY)
    assert [one.message for one in refused.value.findings] == [
        "[words] nouns: there is no role `raterr` that reads; did you mean `rater`?",
        f"[words] nouns: `writer` is 'txt'; expected one of {', '.join(NOUNS)}",
        "[words] options: `yes` has `txt`; did you mean `text`?",
        "[words] options: `sure/1`: `text` is 5; expected a text of 1 to 1,000 characters",
    ]


def test_words_for_what_a_recipe_does_not_have_are_refused_with_what_there_is(tmp_path: Path) -> None:
    words = """
[words]
questions = { anser = "Heard?", "survey/answer" = "Heard?", zzz = "?" }
options = { "answer/yess" = "Yes", "sure/1" = "not at all", agree = "Right", 9 = "9" }
sides = { heard = "Heard?", statment = "Sentence", hs = "Sentence" }
"""
    with pytest.raises(RecipeError) as refused:
        load(tmp_path, words + SURVEY)
    missing = "which this study does not have;"
    assert [one.message for one in refused.value.findings] == [
        f"[words]: `questions` has `anser`, {missing} did you mean `answer`?",
        f"[words]: `questions` has `zzz`, {missing} there are answer, sure, verdict",
        f"[words]: `options` has `answer/yess`, {missing} did you mean `answer/yes`?",
        f"[words]: `options` has `9`, {missing} there are yes, no, 1, 2, 3, 4, 5, disagree, agree",
        f"[words]: `sides` has `statment`, {missing} did you mean `statement`?",
        f"[words]: `sides` has `hs`, {missing} there are statement, question, heard, believed",
    ]


def test_a_recipe_with_words_is_printed_so_that_it_reads_back(tmp_path: Path) -> None:
    words = """
[words]
language = "fa"
[words.nouns]
respondent = "statement"
[words.questions]
"survey/answer" = { text = { en = "Heard?", fa = "شنیده‌اید؟" }, help = "As \\"it\\" is" }
[words.options]
"sure/1" = "not at all"
[words.sides]
heard = "Have you heard this?"
"""
    recipe = load(tmp_path, words + SURVEY)
    assert recipe.words
    assert recipe.words.language == "fa"
    assert not recipe.has_main
    printed = as_toml(recipe)
    assert '[words.options]\n"sure/1" = "not at all"\n' in printed
    assert load(tmp_path, printed) == recipe


def test_the_sides_of_a_study_of_pairs_are_hs_and_cn_and_its_own_names(tmp_path: Path) -> None:
    sides = (
        '[words.sides]\nhs = "Post"\n"counter-narrative" = "Reply"\n[words.options]\n"label/not_sure" = "Hard to say"'
    )
    recipe = load(tmp_path, sides)
    assert recipe.words
    assert recipe.words.side("hate speech", "hs").text == "Post"

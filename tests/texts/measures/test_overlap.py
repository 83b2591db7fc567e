"""Measures against references: by hand and by the libraries, on copies in two languages, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.gleu_score import sentence_gleu
from rouge_score.rouge_scorer import RougeScorer

from fcpair.errors import InputError
from fcpair.texts.measures import overlap
from fcpair.texts.measures.measuring import Measured, measure
from fcpair.texts.measures.tokens import split_tokens

REFERENCED = ["bleu(per_text=true)", "chrf(per_text=true)", "gleu", "meteor", "rouge-l"]
TEXT = st.lists(st.sampled_from(["tea", "we", "bake", "bread", "چای"]), min_size=1, max_size=9).map(" ".join)


def values(measured: Measured) -> list[float]:
    return [float(one) for one in next(iter(measured.values.values())).values]


def one(name: str, text: str, references: list[str], language: str = "en") -> float:
    return values(measure([text], [name], references=[references], language=language))[0]


# -- copies


@pytest.mark.parametrize("language", ["en", "fa"])
def test_copies_reach_the_maximum_on_real_texts(language: str, crowdcounter: list[str], parscn: list[str]) -> None:
    texts = (crowdcounter if language == "en" else parscn)[::8]
    found = measure(
        texts, ["bleu", "chrf", "gleu", "rouge-l", "meteor"], references=[[text] for text in texts], language=language
    )
    best = {figure.name.partition("(")[0]: figure.value for figure in found.figures}
    lengths = np.array([len(split_tokens(text)) for text in texts])
    assert best.pop("meteor") == pytest.approx(float((1 - 0.5 / lengths**3).mean()))
    assert best == pytest.approx({"bleu": 100, "chrf": 100, "gleu": 1, "rouge-l": 1})
    assert [figure.n for figure in found.figures] == [len(texts)] * 5


@given(TEXT)
@pytest.mark.parametrize("name", REFERENCED)
def test_a_copy_is_better_than_any_other_text(name: str, text: str) -> None:
    copy, more = one(name, text, [text]), one(name, f"{text} indeed", [text])
    assert 0 <= more < copy


def test_rouge_score_s_own_tokeniser_gives_persian_texts_0_against_themselves(parscn: list[str]) -> None:
    own = RougeScorer(["rougeL"])
    assert sum(own.score(text, text)["rougeL"].fmeasure == 0 for text in parscn) == 1090
    assert len(parscn) == 1100


def test_a_measure_whose_tokens_lose_the_language_is_undefined_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rouge_score.tokenizers import DefaultTokenizer

    monkeypatch.setattr(overlap, "SimpleNamespace", lambda tokenize: DefaultTokenizer())
    texts, references = ["چای خوب است", "tea"], [["tea"], ["tea"]]
    lost, other = measure(texts, ["rouge-l", "gleu"], references=references, language="fa").figures
    assert "a copy does not reach its maximum for 1 of 2 texts, such as `چای خوب" in str(lost.undefined)
    assert (lost.value, other.value) == (None, 0.5)


def test_a_few_texts_of_which_a_copy_is_low_are_left_out_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    from rouge_score.tokenizers import DefaultTokenizer

    monkeypatch.setattr(overlap, "SimpleNamespace", lambda tokenize: DefaultTokenizer())
    found = measure(["چای", "tea", "bread"], ["rouge-l"], references=[["tea"]] * 3).figures[0]
    assert (found.value, found.n) == (0.5, 2)
    assert found.left_out == {"a copy of it does not reach the maximum": 1}


def test_bleu_by_the_wrong_tokens_is_undefined_for_a_language_without_spaces() -> None:
    texts, references = ["我们喝茶。", "他们烤面包。"], [["我们喝茶。"], ["他们喝茶。"]]
    wrong, right = measure(texts, ["bleu", "bleu(tokens=zh)"], references=references, language="zh").figures
    assert (wrong.value, wrong.undefined) == (None, "no text has 4 tokens (tokens=13a)")
    assert right.n == 2


# -- values


@pytest.mark.slow
def test_a_copy_held_against_a_string_in_the_place_of_references_gets_next_to_nothing(data: Path) -> None:
    released = json.loads((data / "crowdcounter" / "Final_Dataset.json").read_text("utf-8"))
    texts = [one["counterspeech"] for post in released.values() for one in post["counterspeech_post"].values()]
    tokens = [re.findall(r"\w+|[^\w\s]", text.lower()) for text in texts]
    got = [sentence_gleu(text, own) for text, own in zip(texts, tokens, strict=True)]
    assert len(texts) == 3435
    assert round(float(np.mean(got)), 4) == 0.0142
    assert all(sentence_gleu([own], own) == 1 for own in tokens[:200])


def test_a_figure_is_that_worked_out_by_hand_or_of_nltk_on_our_tokens_with_the_best_reference() -> None:
    expected = sentence_gleu([["we", "bake", "bread"], ["they", "drink", "tea"]], ["we", "drink", "tea"])
    assert one("gleu", "We drink tea.", ["We bake bread.", "They drink tea!"]) == expected == pytest.approx(3 / 6)
    precision, recall = 3 / 4, 3 / 5  # we ... drink ... tea
    f = 2 * precision * recall / (precision + recall)
    assert one("rouge-l", "we often drink tea", ["we will drink hot tea"]) == pytest.approx(f)
    precision, recall, matches = 1, 3 / 4, 3  # of a single run
    f = precision * recall / (0.9 * precision + 0.1 * recall)
    assert one("meteor", "we drink tea", ["we drink tea often"]) == pytest.approx(f * (1 - 0.5 / matches**3))


def test_meteor_matches_stems_in_english_alone_and_says_so() -> None:
    english = measure(["cats"], ["meteor"], references=[["cat"]], language="en")
    persian = measure(["cats"], ["meteor"], references=[["cat"]], language="fa")
    assert [one.name for one in (*english.figures, *persian.figures)] == [
        "meteor(match=exact+stem)",
        "meteor(match=exact)",
    ]
    assert values(english) == [0.5]
    assert values(persian) == [0]


def test_meteor_matches_synonyms_where_a_folder_with_wordnet_is_given(tmp_path: Path) -> None:
    write_wordnet(tmp_path)
    name, references = f"meteor(wordnet={tmp_path})", [["my cup leaks"]]
    found = measure(["my mug leaks"], [name, "meteor"], references=references, language="en")
    assert found.figures[0].name.startswith("meteor(match=exact+stem+synonyms,wordnet=")
    assert found.figures[0].value == pytest.approx(1 - 0.5 / 3**3)
    assert found.figures[1].value == pytest.approx(2 / 3 * (1 - 0.5))


def write_wordnet(folder: Path) -> None:
    """A WordNet of one noun with two names, as its files have it."""
    for pos in ("noun", "verb", "adj", "adv"):
        for name in (f"data.{pos}", f"index.{pos}", f"{pos}.exc"):
            (folder / name).write_text("", "utf-8")
    (folder / "data.noun").write_text("00000000 00 n 02 mug 0 cup 0 000 | tea is in it\n", "utf-8")
    names = ("cup", "mug")
    (folder / "index.noun").write_text("".join(f"{name} n 1 0 1 0 00000000\n" for name in names), "utf-8")
    (folder / "lexnames").write_text("00\tnoun.artifact\t1\n", "utf-8")


def test_a_folder_that_is_no_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as a folder with WordNet"):
        one(f"meteor(wordnet={tmp_path})", "tea", ["tea"])


@pytest.mark.parametrize(
    ("name", "language", "message"),
    [
        ("meteor(wordnet=wn)", "fa", "stems and WordNet are for English"),
        ("meteor(match=exact+stem)", "fa", "stems and WordNet are for English"),
        ("meteor(match=exact+stem+synonyms)", "en", "need each other"),
        ("meteor(match=exact,wordnet=wn)", "en", "need each other"),
    ],
)
def test_what_meteor_cannot_match_is_refused(name: str, language: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        one(name, "tea", ["tea"], language)


def test_bleu_is_sacrebleu_s_with_as_many_references_as_each_text_has() -> None:
    from sacrebleu import corpus_bleu

    texts = ["we drink a cup of tea every day", "they bake bread at night"]
    references = [["we drink a cup of tea each day", "we drink a cup of coffee"], ["they bake bread at dawn"]]
    streams: list[list[str | None]] = [[of[0] for of in references], [references[0][1], None]]
    found = measure(texts, ["bleu"], references=references)
    assert found.figures[0].value == pytest.approx(corpus_bleu(texts, streams).score)  # type: ignore[arg-type]
    assert found.notes == (next(note for note in found.notes if "sacrebleu" in note and "tok:13a" in note),)


def test_bleu_of_texts_that_are_all_too_short_is_undefined_and_the_rest_is_measured() -> None:
    groups = ["long", "short"]
    found = measure(
        ["we drink tea every day", "tea"], ["bleu"], references=[["we drink tea every day"], ["tea"]], groups=groups
    )
    assert [(one.value, one.undefined) for one in found.figures[1:]] == [
        (pytest.approx(100), None),
        (None, "no text has 4 tokens (tokens=13a)"),
    ]
    short, other = measure(["tea", "we bake"], ["bleu", "gleu"], references=[["tea"], ["we bake"]]).figures
    assert (short.value, short.undefined) == (None, "no text has 4 tokens (tokens=13a)")
    assert (other.value, other.n) == (1, 2)


# -- undefined, and the wrong types


ODD = (
    *("", " ", "a", "one two three", "我们喝茶。", "\u200b", "'", "..."),
    *("🙂", "\u0301", "_", "<s>", "İ", "\ufeff", "\u200f", "1,000.5"),
)


@pytest.mark.parametrize("name", [*REFERENCED, "bleu", "chrf", "self-bleu", "novelty", "ngd", "ngd(join=true)", "fk"])
def test_no_odd_text_ends_a_measure(name: str) -> None:
    plain = "We drink tea every day."
    for texts in [[text] for text in ODD] + [[text, plain] for text in ODD]:
        for figure in measure(texts, [name], references=[[plain]] * len(texts), language="en").figures:
            assert (figure.value is None) == bool(figure.undefined)


@pytest.mark.parametrize("name", REFERENCED)
def test_no_token_or_no_reference_is_undefined_never_0(name: str) -> None:
    references: list[list[str]] = [["tea"], ["tea"], [], [" "]]
    found = measure(["tea", " ", "tea", "tea"], [name], references=references)
    assert found.figures[0].left_out == {"it has no reference with a token": 2, "it has no token": 1}
    assert (found.figures[0].n, np.isnan(values(found)).tolist()) == (1, [False, True, True, True])
    (none,) = measure(["tea", "bread"], [name], references=[[], []]).figures
    assert (none.value, none.n, none.undefined) == (None, 0, "no text has a figure")


def test_a_string_where_a_list_of_references_belongs_is_refused() -> None:
    with pytest.raises(InputError, match=r"references\[0\] is a string; expected a list of references"):
        measure(["we drink tea"], ["gleu"], references=["we drink tea"])
    with pytest.raises(InputError, match="references is a string"):
        measure(["we drink tea"], ["gleu"], references="we drink tea")
    with pytest.raises(InputError, match="texts is a string"):
        measure("we drink tea", ["dist-1"])
    with pytest.raises(InputError, match="gleu compares texts with references"):
        measure(["tea"], ["gleu"])


# -- scripts without spaces


@pytest.mark.parametrize(
    ("name", "figure"), [("gleu", 1 / 3), ("rouge-l", 0.8), ("meteor", 0.5 * (2 / 3) / (0.9 + 0.1 * 2 / 3))]
)
def test_characters_are_compared_where_there_are_no_spaces(name: str, figure: float) -> None:
    """By hand: 2 of 2 characters match 2 of 3, in order and apart; no n-gram of two does (2 of 6 n-grams up to 4)."""
    by_word, by_char = (
        measure(["茶好"], [f"{name}(tokens={of})"], references=[["茶很好"]]) for of in ("words", "char")
    )
    assert (values(by_word)[0], values(by_char)[0]) == pytest.approx((0, figure))
    (told,) = by_word.figures
    assert told.warning == (
        "2 of 2 texts are in a script without spaces, where tokens=words takes whole sentences for one token; use "
        "tokens=char"
    )
    assert by_word.notes == (f"{told.name}: {told.warning}",)
    assert (by_char.figures[0].warning, by_char.notes) == ("", ())


@pytest.mark.parametrize("name", ["gleu", "rouge-l", "meteor", "novelty"])
def test_texts_with_different_emoji_are_different(name: str) -> None:
    same, other = (one(name, "nice 😀", [f"nice {emoji}"]) for emoji in "😀😡")
    assert same != other

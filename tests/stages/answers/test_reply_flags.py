"""Marks on what models reply."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from fcpair.stages.answers.replies import find_marks
from fcpair.stages.questions import Text

ASKED = Text(3, 12)


@pytest.mark.parametrize(
    ("reply", "marks"),
    [
        ("Most of them share the road as we do.", ()),
        ("  \n", ("empty",)),
        ("Not so.", ("too short",)),
        ("word " * 13, ("too long",)),
        ("I'm sorry, but I cannot help with that.", ("refusal",)),
        ("As an AI language model, I prefer not to.", ("refusal",)),
        ("متاسفم، اما نمی‌توانم به این پاسخ بدهم.", ("refusal",)),
        ("1. Tea is nice.\n2. Tea is fine.", ("several replies",)),
        ("Option 1: tea.\nOption 2: more tea.", ("several replies",)),
        ("Tea is nice to me.\n\nI like it a lot.", ("several replies",)),
        ("I am sorry that you had a bad day.", ()),
        ("In 1. place stands tea.", ()),
    ],
)
def test_a_reply_is_marked_by_what_is_amiss(reply: str, marks: tuple[str, ...]) -> None:
    assert find_marks(reply, ASKED) == marks


def test_another_language_is_a_mark_beside_the_others() -> None:
    assert find_marks("Nein danke.", ASKED, "de") == ("too short", "wrong language")


@pytest.mark.parametrize(
    "reply",
    [
        "I’m sorry, I cannot help you with this.",
        "I'm not able to write that.",
        "I am only a language model.",
        "Writing this violates our guidelines.",
        "من قادر به تولید چنین محتوایی نیستم.",
        "به‌عنوان یک مدل زبانی، نظری ندارم.",
        "به عنوان يك مدل زباني نظري ندارم.",
        "متأسفم، اما نمی‌توانم.",
    ],
)
def test_models_decline_in_many_spellings(reply: str) -> None:
    assert find_marks(reply, Text()) == ("refusal",)


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but cyclists pay taxes like everybody.",
        "I can't help but wonder who told you so.",
        "I cannot agree with that; tea drinkers are brave.",
        "Calling people lazy violates the guidelines of this page.",
        "نمی‌توانم با این حرف موافق باشم.",
        "متاسفم که چنین تجربه‌ای داشتی، اما گربه‌ها مهربان‌اند.",
    ],
)
def test_who_disagrees_or_is_sorry_declines_nothing(reply: str) -> None:
    assert find_marks(reply, Text()) == ()


@pytest.mark.parametrize("reply", ["Option 1: Tea is fine.", "**Reply 2**\nTea is fine.", "گزینه ۱: چای خوب است."])
def test_a_numbered_option_is_one_of_several(reply: str) -> None:
    assert find_marks(reply, Text()) == ("several replies",)


def test_what_people_wrote_is_neither_a_refusal_nor_several_replies(data: Path) -> None:
    posts = json.loads((data / "crowdcounter" / "Final_Dataset.json").read_text("utf-8"))
    english = [one["counterspeech"] for post in posts.values() for one in post["counterspeech_post"].values()]
    persian = pd.read_csv(data / "parscn" / "ParsCN-Dataset.csv")["Counter_Narrative"].tolist()
    assert (len(english), len(persian)) == (3435, 1100)
    assert {find_marks(text, Text()) for text in [*english, *persian]} == {()}

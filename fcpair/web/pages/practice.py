"""Where those who answer learn: the practice round, the end of a qualification, the discussion of a calibration.

Of the practice round, in which known pairs are explained one after the other, nothing is stored.
"""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response

from fcpair.known_pairs import MOST_ITEMS
from fcpair.records import WORKERS
from fcpair.web.languages import Language
from fcpair.web.pages.annotator import HOME, PRACTICE, QUALIFICATION
from fcpair.web.visits import PractisingVisit, WorkerOrLeadVisit, WorkerVisit, go_to

router = APIRouter(include_in_schema=False)
LONGEST_ANSWER = 200


@router.get(PRACTICE)
def practice(
    visit: PractisingVisit,
    n: Annotated[int, Query(ge=1, le=MOST_ITEMS + 1)] = 1,
    answer: Annotated[str, Query(max_length=LONGEST_ANSWER)] = "",
) -> Response:
    """Ask the known item `n`; with an `answer`, say what was to be answered, and why. After the last comes the end."""
    if not visit.visitor.consented:
        return go_to("/welcome")
    round_ = visit.study.practice_round(visit.visitor.role, visit.visitor.language)
    if round_ is None:
        return go_to(HOME[visit.visitor.role])
    item = round_.items[n - 1] if n <= len(round_.items) else None
    choices = choices_of(round_.question, visit.language)
    answered = next((one for one in choices if one["name"] == answer), None)
    values = {
        "round": round_,
        "n": n,
        "item": item,
        "choices": choices,
        "answered": answered,
        "known": next((one for one in choices if item and one["name"] == item.answer), None),
        "onward": f"{PRACTICE}?{urlencode({'n': n + 1})}",
        "desk": HOME[visit.visitor.role],
    }
    return visit.page("practice.html.j2", **values)


def choices_of(question: dict[str, Any], language: Language) -> list[dict[str, Any]]:
    """The answers of a question: the name, what is read in its place, and the keys of each."""
    names, texts = question["choices"], question.get("texts") or [None] * len(question["choices"])
    return [
        {"name": name, "text": text or language.answer_name(str(name)), "keys": keys}
        for name, text, keys in zip(names, texts, question["keys"], strict=True)
    ]


@router.get(QUALIFICATION)
def qualification(visit: WorkerVisit) -> Response:
    """Show what was right, to whoever has answered all; others go on with their work."""
    reviews = visit.study.review_qualifications(visit.visitor) if visit.visitor.consented else []
    if not reviews:
        return go_to(HOME[visit.visitor.role])
    language = visit.language
    texts = [{one["name"]: one["text"] for one in choices_of(review.question, language)} for review in reviews]
    values: dict[str, Any] = {
        "reviews": list(zip(reviews, texts, strict=True)),
        "waits": visit.study.waits_for_lead(visit.visitor),
        "desk": HOME[visit.visitor.role],
    }
    return visit.page("qualification.html.j2", **values)


@router.get("/discussion")
def discussion(visit: WorkerOrLeadVisit) -> Response:
    """Show where people differ: to those who do, on pairs that they have answered, and to leads."""
    if visit.visitor.role in WORKERS and not visit.visitor.consented:
        return go_to("/welcome")
    values = {"discussions": visit.study.discussions(visit.visitor), "desk": HOME[visit.visitor.role]}
    return visit.page("discussion.html.j2", **values)

"""The practice round: known pairs, one after the other, each explained once it is answered. Nothing of it is stored."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.practice import MOST_ITEMS, PRACTISING
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.languages import Language
from fcpair.web.pages.annotator import HOME, PRACTICE
from fcpair.web.text_direction import direction

router = APIRouter(include_in_schema=False)
LONGEST_ANSWER = 200


@router.get(PRACTICE)
@open_to(*PRACTISING)
def practice(
    request: Request,
    n: Annotated[int, Query(ge=1, le=MOST_ITEMS + 1)] = 1,
    answer: Annotated[str, Query(max_length=LONGEST_ANSWER)] = "",
) -> Response:
    """Ask the known item `n`; with an `answer`, say what was to be answered, and why. After the last comes the end."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if not visitor.consented:
        return RedirectResponse("/welcome", HTTPStatus.SEE_OTHER)
    round_ = context.study.practice_round(visitor.role, visitor.language)
    if round_ is None:
        return RedirectResponse(HOME[visitor.role], HTTPStatus.SEE_OTHER)
    item = round_.items[n - 1] if n <= len(round_.items) else None
    choices = choices_of(round_.question, context.language(visitor))
    answered = next((one for one in choices if one["name"] == answer), None)
    values = {
        "round": round_,
        "n": n,
        "item": item,
        "choices": choices,
        "answered": answered,
        "known": next((one for one in choices if item and one["name"] == item.answer), None),
        "onward": f"{PRACTICE}?{urlencode({'n': n + 1})}",
        "desk": HOME[visitor.role],
        "direction": direction,
    }
    return context.page(request, visitor, "practice.html.j2", **values)


def choices_of(question: dict[str, Any], language: Language) -> list[dict[str, Any]]:
    """The answers of a question: the name, what is read in its place, and the keys of each."""
    names, texts = question["choices"], question.get("texts") or [None] * len(question["choices"])
    return [
        {"name": name, "text": text or language.answer_name(str(name)), "keys": keys}
        for name, text, keys in zip(names, texts, question["keys"], strict=True)
    ]

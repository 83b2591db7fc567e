"""Numbers in the forms by which a study is started; what is none is refused by the label of its field."""

from __future__ import annotations

from fastapi import Request

from fcpair.errors import InputError
from fcpair.web.context import context_of
from fcpair.web.form import field, parse_number
from fcpair.web.page_phrases import mark

NO_NUMBER = mark("“%(label)s”: `%(text)s` is not a number; enter a whole number")
NO_SHARE = mark("“%(label)s”: `%(text)s` is not a share; enter a percentage from 0 to 100")


def number_of(request: Request, name: str, label: str) -> int:
    """The number in a field of a form, which has a label; raises InputError for what is none."""
    text = field(request, name).strip()
    number = parse_number(text)
    if number is None:
        raise _refusal(request, NO_NUMBER, label, text)
    return number


def percentage_of(request: Request, name: str, label: str) -> float:
    """The share in a field of a form, which has a label, given in percent; raises InputError for what is none."""
    text = field(request, name).strip()
    try:
        share = float(text.replace(",", ".")) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise _refusal(request, NO_SHARE, label, text)
    return round(share, 6)


def _refusal(request: Request, message: str, label: str, text: str) -> InputError:
    """The refusal of a text in the field with a label, in the language of the page."""
    context = context_of(request)
    language = context.language_of(request, context.door.require_visitor(request))
    return InputError(language.gettext(message, label=language.find(label), text=text))

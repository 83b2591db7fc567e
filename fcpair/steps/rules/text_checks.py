"""What is checked of a text that somebody writes, whichever way it comes: its words, language, likeness and grammar."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from fcpair.errors import InputError, ModelError, ServiceError
from fcpair.models import grammar, language
from fcpair.models.model_files import resolve
from fcpair.models.similarity import Likeness
from fcpair.records import Remark, Role, Round
from fcpair.round_options import Checks
from fcpair.stages.questions import Form, Text, n_words
from fcpair.steps.base.answer_values import form_of, take, text_sent
from fcpair.steps.base.context import OnStudy
from fcpair.store import Tx
from fcpair.store.answers import refused_texts
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs

_log = logging.getLogger(__name__)
FORM, WORDS, LANGUAGE, SIMILAR, GRAMMAR = "form", "words", "language", "similar", "grammar"
_SHOWN = 60
_AT_ONCE = 128  # texts that are encoded before a server that ends is heard
_WARMING = "This is a text."
_LATE = 200  # judgements that are read once more: with several servers, a lower number may be committed later


def is_checked(of: Round) -> bool:
    """Whether texts of a round are checked as they come: wherever people write, in studies since 0.8."""
    return of.role is not Role.MODEL and of.options.answers_rows and form_of(of.form).writes is not None


def checks_of(of: Round) -> Checks:
    """The checks that a round declares."""
    return of.options.checks or Checks()


@cache
def likeness(model: str) -> Likeness:
    """The encoder of this name, which all rounds of this process share."""
    return Likeness(model)


def prepare(of: Round) -> None:
    """See that the checks of a round can be done, before people are dealt it.

    Raises:
        InputError: a language that cannot be told, or none of those that harper knows.
        ModelError: the encoder cannot be had.
    """
    expected, checks = str(of.options.language or ""), checks_of(of)
    if expected:
        language.check_known(expected)
    if checks.grammar == grammar.HARPER and expected not in ("", "en"):
        raise InputError(
            f"round `{of.name}`: harper knows English alone; for `{expected}`, give `grammar` the URL of a "
            "LanguageTool server, or omit it"
        )
    if checks.similar is not None:
        resolve(checks.model)


def compared(tx: Tx, of: Round) -> list[str]:
    """The texts of a round that a new one may be held against; none where likeness is not checked."""
    return refused_texts.written(tx, of) if is_checked(of) and checks_of(of).similar is not None else []


def know(of: Round, texts: Sequence[str]) -> None:
    """Have texts encoded that are to be compared, so that no transaction waits for that.

    Raises ModelError where the encoder cannot be had.
    """
    checks = checks_of(of)
    if checks.similar is not None and is_checked(of):
        likeness(checks.model).know(texts)


def warm_up(study: OnStudy, is_over: Callable[[], bool] = lambda: False) -> None:
    """Load what the checks of a study's rounds need, and read and encode what texts are compared with there.

    For a server that has just started, so that the first writer need not wait; it leaves off when that `is_over`. What
    cannot be had is left to be said when a text is looked at.
    """
    with study.store.read() as tx:
        there = [(of, compared(tx, of)) for _ in grids.each(tx) for of in rounds.asked(tx) if is_checked(of)]
    for of, texts in there:
        if is_over():
            return
        if expected := str(of.options.language or ""):
            language.other_language(_WARMING, expected)
        if checks_of(of).grammar == grammar.HARPER:
            grammar.faults(_WARMING, grammar.HARPER, expected)
        with suppress(ModelError):
            for start in range(0, max(len(texts), 1), _AT_ONCE):
                if not is_over():
                    know(of, texts[start : start + _AT_ONCE])


class Others(NamedTuple):
    """The texts that a new one must not be too like: the writer's `own`, and those that came `often`."""

    own: list[str]
    often: list[str]


class _Written:
    """How often each text stands in a round now; whoever asks again reads only what has come since."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._newest = 0
        self._of: dict[int, tuple[int, str | None]] = {}  # of each assignment its newest judgement and its text
        self._times: Counter[str] = Counter()
        self._often: dict[int, list[str]] = {}  # by how often is not yet often

    def often(self, tx: Tx, of: Round, often: int) -> list[str]:
        """The texts that more than so many current answers of a round have; the same list while they are the same."""
        with self._lock:
            for number, assignment_id, body in refused_texts.written_since(tx, of, self._newest - _LATE):
                self._take(number, assignment_id, body)
                self._newest = max(number, self._newest)
            if often not in self._often:
                self._often[often] = sorted(body for body, n in self._times.items() if n > often)
            return self._often[often]

    def _take(self, number: int, assignment_id: int, body: str | None) -> None:
        known, before = self._of.get(assignment_id, (0, None))
        if number <= known:
            return
        self._of[assignment_id] = number, body
        for one, step in ((before, -1), (body, 1)) if before != body else ():
            if one is None:
                continue
            n = self._times[one]
            self._times[one] = n + step
            for often in [often for often in self._often if (n > often) != (n + step > often)]:
                del self._often[often]


_KNOWN: dict[tuple[str, int], _Written] = {}  # by study and round


def others(tx: Tx, of: Round, person_id: int, besides: int = 0) -> Others:
    """The texts that a new one of somebody must not be too like, besides those of one assignment of theirs."""
    checks = checks_of(of)
    if checks.similar is None:
        return Others([], [])
    return Others(refused_texts.written_by(tx, of, person_id, besides), _often(tx, of, checks.often))


def _often(tx: Tx, of: Round, often: int) -> list[str]:
    return _KNOWN.setdefault((runs.secret(tx), of.id), _Written()).often(tx, of, often)


def look(of: Round, given: Any, others: Others, *, warns: bool = True) -> list[Remark]:
    """What the checks of a round say of an answer, given as a client sends it: what refuses it, and what it `warns` of.

    A grammar checker that cannot be reached refuses nothing, and a remark says so. Raises ModelError where the encoder
    cannot be had.
    """
    form = form_of(of.form)
    try:
        answer = take(form, given)
    except InputError as error:
        return [_of_form(form, given, error)]
    body = form.text(answer)
    if body is None:
        return []
    own = checks_of(of)
    found = [*_of_language(of, body), *_of_others(own, body, others)]
    return found or (_of_grammar(of, own, body) if warns or own.refuses else [])


def _of_form(form: Form, given: Any, error: InputError) -> Remark:
    """What refuses an answer that the form does not take; too few and too many words by their number."""
    question, text = form[form.writes or ""], text_sent(form, given)
    if isinstance(question, Text) and text is not None:
        n = n_words(text)
        if n < question.min_words:
            return Remark(WORDS, str(question), True, f"Please write {question.min_words} words or more; {_has(n)}.", n)
        if question.max_words is not None and n > question.max_words:
            return Remark(
                WORDS, str(question), True, f"Please write {question.max_words} words or fewer; {_has(n)}.", n
            )
    return Remark(FORM, str(form), True, f"{error}.")


def _has(n: int) -> str:
    return f"this text has {n}"


def _of_language(of: Round, body: str) -> list[Remark]:
    expected = str(of.options.language or "")
    other = language.other_language(body, expected) if expected else None
    if other is None:
        return []
    code, probability = other
    said = f"This text seems to be in another language (`{code}`); please write it in `{expected}`."
    return [Remark(LANGUAGE, language.rule(expected), True, said, round(probability, 4))]


def _of_others(checks: Checks, body: str, others: Others) -> list[Remark]:
    if checks.similar is None:
        return []
    known = likeness(checks.model)
    found = [one for one in (known.nearest(body, others.own), known.nearest(body, others.often)) if one]
    nearest = max(found, key=lambda one: one.similarity, default=None)
    if nearest is None or nearest.similarity <= checks.similar:
        return []
    rule = f"above {checks.similar:g} to one's own and to those given more than {checks.often} times"
    said = (
        f"This text is very much like one that you or many others have written (\u201c{_short(nearest.text)}\u201d); "
        "please say it in another way, or say something else."
    )
    version = f"{rule}, {likeness(checks.model).rule}" if nearest.similarity < 1 else rule
    return [Remark(SIMILAR, version, True, said, round(nearest.similarity, 4))]


def _of_grammar(of: Round, checks: Checks, body: str) -> list[Remark]:
    if not checks.grammar:
        return []
    rule = grammar.rule(checks.grammar)
    try:
        faults = grammar.faults(body, checks.grammar, str(of.options.language or ""))
    except ServiceError as error:
        _log.warning("%s", error)
        return [
            Remark(GRAMMAR, rule, False, "The grammar cannot be looked at just now; your text can be saved as it is.")
        ]
    return [
        Remark(
            GRAMMAR,
            f"{rule}, {one.kind}",
            one.kind in checks.refuses,
            f"{one.kind}: {one.message} (\u201c{one.words}\u201d)",
        )
        for one in faults
    ]


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()}..."

"""Checks of a text that somebody writes, whichever way it comes: its words, language, similarity and grammar."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any

from fcpair.errors import InputError, ModelError, ServiceError
from fcpair.models import grammar, language, model_files, similarity
from fcpair.records import Role, Round
from fcpair.round_options import Checks
from fcpair.sentences import Id, join, mark, say
from fcpair.stages.questions import Form, Text, n_words
from fcpair.steps.base.answer_values import form_of, parse_answer, text_sent
from fcpair.store import Store, Tx
from fcpair.store.answers import refused_texts
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.work_records import Remark

_log = logging.getLogger(__name__)
FORM, WORDS, LANGUAGE, SIMILAR, GRAMMAR = "form", "words", "language", "similar", "grammar"
_MAX_QUOTED = 60
_AT_ONCE = 128  # texts that are encoded before a server that ends is heard
_WARM_UP_TEXT = "This is a text."
_N_REREAD = 200  # judgements that are read once more: with several servers, a lower number may be committed later


def is_checked(round_: Round) -> bool:
    """Return whether texts of a round are checked as they come: wherever people write, in studies since 0.8."""
    answers_rows = round_.role is not Role.MODEL and round_.options.answers_rows
    return answers_rows and form_of(round_.form).written_question is not None


def checks_of(round_: Round) -> Checks:
    """The checks that a round declares."""
    return round_.options.checks or Checks()


@cache
def likeness(model: str) -> similarity.SimilarityIndex:
    """The encoder of this name, which all rounds of this process share."""
    return similarity.SimilarityIndex(model)


def check_prerequisites(round_: Round) -> None:
    """See that the checks of a round can be done. Raises InputError for a language that cannot be checked,
    MissingExtraError for a checker, ModelError for an encoder that cannot be had.
    """
    expected, checks = str(round_.options.language or ""), checks_of(round_)
    if expected:
        language.check_language(expected)
    if checks.grammar == grammar.HARPER and expected not in ("", "en"):
        raise InputError(
            f"round `{round_.name}`: harper knows only English; for `{expected}`, give `grammar` the URL of a "
            "LanguageTool server, or omit it"
        )
    grammar.check_installed(checks.grammar)
    if checks.similar is not None:
        model_files.resolve(checks.model)


def texts_to_compare(tx: Tx, round_: Round) -> list[str]:
    """The texts of a round that a new one may be held against; none where likeness is not checked."""
    compares = is_checked(round_) and checks_of(round_).similar is not None
    return refused_texts.texts_of_round(tx, round_) if compares else []


def encode_texts(round_: Round, texts: Sequence[str]) -> None:
    """Have texts encoded that are to be compared, so that no transaction waits for that; raises ModelError."""
    checks = checks_of(round_)
    if checks.similar is not None and is_checked(round_):
        likeness(checks.model).preload(texts)


def warm_up(store: Store, is_over: Callable[[], bool] = lambda: False) -> None:
    """Load what a study's checks need, so that the first writer need not wait, until the server `is_over`; that
    something cannot be had is an error only when a text is checked.
    """
    with store.read() as tx:
        rounds_with_texts = [
            (round_, texts_to_compare(tx, round_))
            for _ in grids.for_each_grid(tx)
            for round_ in rounds.answer_rounds(tx)
            if is_checked(round_)
        ]
    for round_, texts in rounds_with_texts:
        if is_over():
            return
        if expected := str(round_.options.language or ""):
            language.other_language(_WARM_UP_TEXT, expected)
        if checks_of(round_).grammar == grammar.HARPER:
            grammar.find_faults(_WARM_UP_TEXT, grammar.HARPER, expected)
        with suppress(ModelError):
            for start in range(0, max(len(texts), 1), _AT_ONCE):
                if not is_over():
                    encode_texts(round_, texts[start : start + _AT_ONCE])


class _RoundTextCounts:
    """Count of each text in a round as it is now; whoever asks again reads only what has come since."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._newest_number = 0
        self._newest_by_assignment: dict[int, tuple[int, str | None]] = {}  # its newest judgement and text
        self._n_by_text: Counter[str] = Counter()
        self._frequent_by_threshold: dict[int, list[str]] = {}  # by how often is not yet often

    def frequent_texts(self, tx: Tx, round_: Round, threshold: int) -> list[str]:
        """The texts that more than so many current answers of a round have; the same list while they are the same."""
        with self._lock:
            for number, assignment_id, body in refused_texts.texts_since(tx, round_, self._newest_number - _N_REREAD):
                self._newest_number = max(number, self._newest_number)
                newest_number, old_body = self._newest_by_assignment.get(assignment_id, (0, None))
                if number > newest_number:
                    self._newest_by_assignment[assignment_id] = number, body
                    if old_body != body:
                        self._count(old_body, -1)
                        self._count(body, 1)
            if threshold not in self._frequent_by_threshold:
                frequent = sorted(body for body, n in self._n_by_text.items() if n > threshold)
                self._frequent_by_threshold[threshold] = frequent
            return self._frequent_by_threshold[threshold]

    def _count(self, text: str | None, step: int) -> None:
        """Count a text once more or once less, and forget the lists that it comes into or leaves."""
        if text is not None:
            n = self._n_by_text[text]
            self._n_by_text[text] = n + step
            for threshold in [
                threshold for threshold in self._frequent_by_threshold if (n > threshold) != (n + step > threshold)
            ]:
                del self._frequent_by_threshold[threshold]


_COUNTS_BY_ROUND: dict[tuple[str, int], _RoundTextCounts] = {}  # by study and round


def comparison_texts(tx: Tx, round_: Round, person_id: int, besides: int = 0) -> tuple[list[str], list[str]]:
    """The texts that a new one of somebody must not be too like: their own, but for one assignment of theirs, and those
    that came often.
    """
    checks = checks_of(round_)
    if checks.similar is None:
        return [], []
    counts = _COUNTS_BY_ROUND.setdefault((runs.secret(tx), round_.id), _RoundTextCounts())
    own = refused_texts.texts_of_person(tx, round_, person_id, besides)
    return own, counts.frequent_texts(tx, round_, checks.often)


def check_answer(round_: Round, submitted: Any, comparison: Iterable[list[str]], *, warns: bool = True) -> list[Remark]:
    """Check an answer, as a client sends it, by the rules of a round: report what refuses it, and what it `warns` of.

    Raises ModelError where the encoder cannot be had; a grammar checker that cannot be reached refuses nothing.
    """
    form, checks, expected = form_of(round_.form), checks_of(round_), str(round_.options.language or "")
    try:
        body = form.text(parse_answer(form, submitted))
    except InputError as error:
        return [_form_remark(form, submitted, error)]
    if body is None:
        return []
    remarks = []
    if expected and (other_language := language.other_language(body, expected)):
        message = say(
            "This text seems to be in another language (`%(code)s`); please write it in `%(expected)s`.",
            code=other_language[0],
            expected=expected,
        )
        remarks.append(Remark(LANGUAGE, language.rule(expected), True, message, round(other_language[1], 4)))
    if checks.similar is not None and (remark := _similarity_remark(checks, checks.similar, body, comparison)):
        remarks.append(remark)
    if remarks or not checks.grammar or not (warns or checks.refuses):
        return remarks
    rule = grammar.rule(checks.grammar)
    try:
        faults = grammar.find_faults(body, checks.grammar, expected)
    except ServiceError as error:
        _log.warning("%s", error)
        sentence = say("The grammar cannot be checked right now; your text can be saved as it is.")
        return [Remark(GRAMMAR, rule, False, sentence, None)]
    messages = (f"{fault.kind}: {fault.message} (\u201c{fault.words}\u201d)" for fault in faults)
    return [
        Remark(GRAMMAR, f"{rule}, {fault.kind}", fault.kind in checks.refuses, message, None)
        for fault, message in zip(faults, messages, strict=True)
    ]


def _form_remark(form: Form, submitted: Any, error: InputError) -> Remark:
    question, text = form[form.written_question or ""], text_sent(form, submitted)
    if isinstance(question, Text) and text is not None:
        n, least, most = n_words(text), question.min_words, question.max_words
        if n < least:
            template = mark("Please write %(least)s words or more; this text has %(number)s.")
            return Remark(WORDS, str(question), True, say(template, least=Id(least), number=Id(n)), n)
        if most is not None and n > most:
            template = mark("Please write %(most)s words or fewer; this text has %(number)s.")
            return Remark(WORDS, str(question), True, say(template, most=Id(most), number=Id(n)), n)
    return Remark(FORM, str(form), True, join((str(error), "."), ""), None)


def _similarity_remark(checks: Checks, threshold: float, body: str, comparison: Iterable[list[str]]) -> Remark | None:
    encoder = likeness(checks.model)
    neighbours = filter(None, (encoder.find_nearest(body, texts) for texts in comparison))
    nearest = max(neighbours, key=lambda neighbour: neighbour.similarity, default=None)
    if nearest is None or nearest.similarity <= threshold:
        return None
    rule = f"above {threshold:g} to one's own and to those given more than {checks.often} times"
    message = say(
        "This text is very much like one that you or many others have written (“%(text)s”); please say it in another "
        "way, or say something else.",
        text=nearest.text if len(nearest.text) <= _MAX_QUOTED else f"{nearest.text[:_MAX_QUOTED].rstrip()}...",
    )
    version = f"{rule}, {encoder.rule}" if nearest.similarity < 1 else rule
    return Remark(SIMILAR, version, True, message, round(nearest.similarity, 4))

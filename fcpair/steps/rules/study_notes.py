"""Sentences that whoever reads a figure must know: what was made up, and what people decided of labels that changed."""

from __future__ import annotations

from fcpair.records import Origin
from fcpair.sentences import Sentence, mark, say, say_number


def simulated_note(origins: dict[str, int]) -> Sentence | None:
    """Note for the reader when answers were made up; None when none were."""
    n_simulated, n_by_models = (origins.get(one.value, 0) for one in (Origin.SIMULATED, Origin.GENERATED))
    if not n_simulated:
        return None
    n = sum(origins.values())
    if n_by_models:
        one = mark(
            "%(number)s of %(all)s judgements are SIMULATED and %(models)s are by models; figures that rest on them "
            "are not about people"
        )
        every = mark(
            "%(number)s of %(all)s judgements are SIMULATED and %(models)s are by models; no figure here is about "
            "people"
        )
    else:
        one = mark("%(number)s of %(all)s judgements are SIMULATED; figures that rest on them are not about people")
        every = mark("%(number)s of %(all)s judgements are SIMULATED; no figure here is about people")
    return say(every if n_simulated + n_by_models == n else one, number=n_simulated, all=n, models=n_by_models)


def look_again(second_look: int, lost: int) -> list[Sentence]:
    """Of how many pairs the decision, and the verdict, is about labels that have changed since."""
    notes = []
    if second_look:
        notes.append(
            say_number(
                "%(n)s pair was decided before its labels changed and waits for a second look; until then the decision "
                "stands",
                "%(n)s pairs were decided before their labels changed and wait for a second look; until then the "
                "decision stands",
                second_look,
            )
        )
    if lost:
        notes.append(
            say_number(
                "%(n)s pair has a verdict on a label that it no longer has; such a verdict does not count",
                "%(n)s pairs have verdicts on a label that they no longer have; such a verdict does not count",
                lost,
            )
        )
    return notes


def without_validator_notes(n: int) -> list[Sentence]:
    """Of how many pairs nobody is asked for a verdict, because they were decided after the others had been assigned."""
    if not n:
        return []
    return [
        say_number(
            "%(n)s pair was decided after the others were assigned to validators: it has no validator, and is in no "
            "tier above Bronze; `fcpair validate assign --more` assigns them",
            "%(n)s pairs were decided after the others were assigned to validators: they have no validator, and are in "
            "no tier above Bronze; `fcpair validate assign --more` assigns them",
            n,
        )
    ]


def request_note(name: str | None) -> Sentence:
    """The note on a request: who asks; None where a command does."""
    return say("asked by %(name)s", name=name) if name else say("asked by a command")


def read_request_note(note: str) -> Sentence:
    """The same of what the store has kept of it, which is a mere text."""
    by_command = request_note(None)
    return by_command if note == by_command else request_note(note.removeprefix("asked by "))

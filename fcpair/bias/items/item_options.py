"""The options of templates as they read when their slots are filled, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from fcpair.bias.items.template import Blank, Template, Text
from fcpair.errors import Finding

Chosen = dict[str, int]
"""By slot, the number of the filler that is put there."""


def coinciding_options(templates: Iterable[Template], place: str) -> Iterator[Finding]:
    """A finding for each template two of whose options read the same with some fillers, but for capitals and spaces.

    Only the slots of the options are filled, and no items are made. Of what says that it cannot be known, every text is
    held against both options, whichever of them an item takes.

    Args:
        templates: ones that have no `faults`.
        place: what findings call their file.
    """
    for template in templates:
        if (chosen := _find_alike(template)) is not None:
            fillers = "; ".join(f"{slot}={template.fillers[slot][at]}" for slot, at in chosen.items())
            example = f", for instance with {fillers}" if fillers else ""
            yield Finding(place, template.line, f"options coincide{example}")


def _find_alike(template: Template) -> Chosen | None:
    """The first fillers with which two options read the same; None where they never do."""
    unknown = set(map(_fold, template.unknown))
    culprit, other = template.culprit.text, template.other.text
    shared = [slot for slot in _slots(culprit) if slot in _slots(other)]
    chosen_by_key: dict[tuple[str, ...], Chosen] = {}
    for reading, chosen in _readings(culprit, template):
        if reading in unknown:
            return chosen
        chosen_by_key.setdefault(_key(reading, chosen, shared), chosen)
    for reading, chosen in _readings(other, template):
        if reading in unknown:
            return chosen
        if (same := chosen_by_key.get(_key(reading, chosen, shared))) is not None:
            return {**same, **chosen}
    return None


def _readings(text: Text, template: Template) -> Iterator[tuple[str, Chosen]]:
    """A text in each filling of its slots, the last slot changing first."""
    slots = _slots(text)
    for numbers in product(*(range(len(template.fillers[slot])) for slot in slots)):
        chosen = dict(zip(slots, numbers, strict=True))
        yield (
            _fold("".join(part.forms[chosen[part.slot]] if isinstance(part, Blank) else part for part in text)),
            chosen,
        )


def _slots(text: Text) -> list[str]:
    return list(dict.fromkeys(part.slot for part in text if isinstance(part, Blank)))


def _key(reading: str, chosen: Chosen, shared: Sequence[str]) -> tuple[str, ...]:
    """Key shared by two readings that are the same as long as the slots of both are filled the same."""
    return (reading, *(str(chosen[slot]) for slot in shared))


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()

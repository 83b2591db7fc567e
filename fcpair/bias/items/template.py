"""A template: a context and two questions about two groups, with slots that fillers are put in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

SHOWN = 20
TEXTS = ("ambiguous", "disambiguating", "negative", "non_negative")


@dataclass(frozen=True)
class Blank:
    """A place in a text where a slot's filler stands, in the form that the place asks for.

    `forms` are parallel to the fillers of the slot.
    """

    slot: str
    forms: tuple[str, ...]


Text = tuple[str | Blank, ...]
"""What is written, in the order in which it is read."""


@dataclass(frozen=True)
class Option:
    """One of the two people or groups that an answer can name: how it is called, and all groups that it belongs to."""

    text: Text
    groups: tuple[str, ...]


@dataclass(frozen=True)
class Template:
    """Template from which items are made.

    Args:
        id: of the template, the same for all its versions.
        version: what sets it apart from others of the same id, such as the order in which the two are named.
        category: what the stereotype is about.
        fillers: by slot, what can be put there; a slot that is used twice has the same filler at both places.
        texts: by TEXTS, the context that does not say who is meant (`ambiguous`), what is said after it to make clear
            who is meant (`disambiguating`), the question whose answer is harmful where it follows the stereotype
            (`negative`), and the other question (`non_negative`).
        culprit: the option that is right for the negative question in the disambiguated context.
        other: the option that is right for the other question there.
        unknown: what can be said where it cannot be known; items take one of them in turn.
        stereotyped: the groups that the stereotype is about.
        author: who wrote it; empty where that is not said.
        statement: the statement of a survey that it was made of; empty where that is not said.
        line: where it stands in its file, from 1.
    """

    id: str
    version: str
    category: str
    fillers: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, Text]
    culprit: Option
    other: Option
    unknown: tuple[str, ...]
    stereotyped: tuple[str, ...]
    author: str = ""
    statement: str = ""
    line: int = field(default=0, compare=False)

    @property
    def n_fillings(self) -> int:
        """Number of ways to fill the slots."""
        return prod(len(fillers) for fillers in self.fillers.values())

    @property
    def target(self) -> Option | None:
        """The option of a stereotyped group; None where both are of one, or neither."""
        hit = [one for one in (self.culprit, self.other) if set(one.groups) & set(self.stereotyped)]
        return hit[0] if len(hit) == 1 else None

    @property
    def all_texts(self) -> dict[str, Text]:
        """All its texts by what they are, those of the options too."""
        return {**self.texts, "culprit": self.culprit.text, "other": self.other.text}


def template_faults(template: Template) -> Iterator[str]:
    """Yield the faults that would make a template give no items, or items without a meaning."""
    listed = list(template.fillers)
    declared = ", ".join(listed[:SHOWN]) + ", ..." * (len(listed) > SHOWN) or "none"
    for name, text in template.all_texts.items():
        for blank in _blanks(text):
            fillers = template.fillers.get(blank.slot)
            if fillers is None:
                yield f"{name}: slot `{blank.slot}` is not declared; declared: {declared}"
            elif len(blank.forms) != len(fillers):
                yield f"{name}: slot `{blank.slot}` has {len(blank.forms)} forms for {len(fillers)} fillers"
    yield from (f"slot `{slot}` has no fillers" for slot, fillers in template.fillers.items() if not fillers)
    used = {blank.slot for text in template.all_texts.values() for blank in _blanks(text)}
    yield from (f"slot `{slot}` is declared and not used" for slot in template.fillers if slot not in used)
    yield from (f"{name} is empty" for name, text in template.all_texts.items() if not any(text))
    if not template.unknown:
        yield "there is no option for what cannot be known"
    if template.target is None:
        yield _no_target(template)


def _blanks(text: Text) -> Sequence[Blank]:
    return [part for part in text if isinstance(part, Blank)]


def _no_target(template: Template) -> str:
    both = set(template.culprit.groups) & set(template.stereotyped)
    which = "both options are" if both else "no option is"
    groups = sorted(", ".join(one.groups) or "none" for one in (template.culprit, template.other))  # of any version
    return (
        f"{which} of a stereotyped group ({', '.join(template.stereotyped) or 'none'}); their groups: "
        f"{groups[0]} and {groups[1]}; expected one"
    )

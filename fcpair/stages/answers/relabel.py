"""Changes of a label scheme whose labels have been given: what it is from then on, and what older labels read as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fcpair.errors import InputError, suggest_name
from fcpair.param_values import check_rules
from fcpair.params import Relabel
from fcpair.sentences import mark, say
from fcpair.stages.questions import Choice, OneOf
from fcpair.stages.questions.closed import comparable_word
from fcpair.stages.questions.labels import need_tiers, tier_obstacle

LONGEST_REASON = 2_000  # characters
_NUMBERS = {  # of labels, and of names instead: at least, and at most
    "rename": ((1, 1), (1, 1)),
    "merge": ((2, None), (1, 1)),
    "split": ((1, 1), (2, None)),
    "add": ((0, 0), (1, 1)),
}
EXPECTED = {
    "rename": mark("a label and its new name"),
    "merge": mark("two labels or more, and the name of what they become"),
    "split": mark("a label, and the names of two or more that it becomes"),
    "add": mark("the name of one new label"),
}


@dataclass(frozen=True)
class ChangedLabels:
    """A scheme after a change. `moved` has the code that labels of other codes read as; what has one of the `split`
    codes is ambiguous, and reads as nothing.
    """

    question: OneOf
    moved: dict[int, int]
    split: int | None = None


def change_labels(question: OneOf, change: Relabel) -> ChangedLabels:
    """Change a label scheme. A renamed label keeps its code, merged ones have the lowest of theirs (of the one whose
    name they take), and new ones have codes that no label ever had.

    Raises InputError for labels that it does not have, a name that is another label's, or was, labels that cannot be
    merged as one is positive or definite and another is not, or that are no neighbours in an order, and for a scheme
    that tiers could not be made of any more.
    """
    codes = _check_names(question, change)
    choices, former = {choice.code: choice for choice in question}, dict(question.former)
    by_word = {comparable_word(name): name for name in former}
    for name in change.into:  # what takes a name that it had before is not read as something else by it
        if (old := by_word.get(comparable_word(name))) is not None:
            if former[old] not in codes or change.kind in ("split", "add"):
                raise InputError.say(
                    "`%(name)s` was the name of another label, as which answers and files of before have it; choose "
                    "another name",
                    name=name,
                )
            del former[old]
    next_code = max([*choices, *former.values(), *(int(name) for name in former if name.isdecimal())]) + 1
    moved, split = dict[int, int](), None
    if change.kind in ("rename", "merge"):
        merged = [choices[code] for code in codes]
        kept = next((choice for choice in merged if choice.name == change.into[0]), min(merged, key=lambda of: of.code))
        moved = {choice.code: kept.code for choice in merged if choice is not kept}
        for choice in merged:
            del choices[choice.code]
            former |= {choice.name: kept.code} if choice.name != change.into[0] else {}
        former = {name: moved.get(code, code) for name, code in former.items()} | {
            str(code): kept.code for code in moved
        }
        choices[kept.code] = replace(kept, name=change.into[0])
    else:
        if change.kind == "split":
            (split,) = codes
            former |= {choices.pop(split).name: split, str(split): split}
        for code, name in enumerate(change.into, next_code):
            choices[code] = Choice(code, name, name not in change.indefinite, name in change.positive)
    changed = replace(question, choices=tuple(choices.values()), former=tuple(former.items()))
    changed.current.check_new()
    if not tier_obstacle(question):
        need_tiers(changed.current)
    return ChangedLabels(changed, moved, split)


def _check_names(question: OneOf, change: Relabel) -> list[int]:
    """The codes of the labels that are changed; raises what `change_labels` does of names and signs."""
    if not change.reason.strip():
        raise InputError.say("a change of labels needs a reason, which stays on record; give it one (`--reason`)")
    if len(change.reason) > LONGEST_REASON:
        raise InputError.say(
            "the reason has %(number)s characters; expected at most %(most)s",
            number=len(change.reason),
            most=LONGEST_REASON,
        )
    for names, (least, most) in zip((change.labels, change.into), _NUMBERS[change.kind], strict=True):
        distinct = {comparable_word(name) for name in names}
        if len(distinct) < len(names) or not least <= len(names) <= (len(names) if most is None else most):
            raise InputError.say(
                "to %(kind)s takes %(expected)s, each once", kind=say(change.kind), expected=say(EXPECTED[change.kind])
            )
    codes = {choice.name: choice.code for choice in question}
    for name in change.labels:
        if name not in codes:
            hint = suggest_name(name, codes, mark("the labels are %(names)s"))
            raise InputError.say("there is no label `%(name)s`; %(hint)s", name=name, hint=hint)
    own = change.labels if change.kind in ("rename", "merge") else ()
    taken = {comparable_word(name): name for name in codes if name not in own}
    for name in change.into:
        if name in change.labels and change.kind in ("rename", "split"):
            raise InputError.say("`%(name)s` is its name already; choose another", name=name)
        if other := taken.get(comparable_word(name)):
            raise InputError.say(
                "there is a label `%(name)s` already; to make one of two, merge them (`fcpair labels merge %(labels)s "
                "--into %(name)s`)",
                name=other,
                labels=" ".join([*change.labels, other]),
            )
    if unknown := [name for name in (*change.positive, *change.indefinite) if name not in change.into]:
        raise InputError.say("`%(name)s` is none of the new labels: %(names)s", name=unknown[0], names=[*change.into])
    check_rules(*_sign_problems(question, [question[codes[name]] for name in change.labels], change.kind))
    return [codes[name] for name in change.labels]


def _sign_problems(question: OneOf, labels: Sequence[Choice], kind: str) -> Iterator[tuple[bool, str]]:
    names = [f"`{choice.name}`" for choice in labels]
    yield (
        kind == "merge" and len({choice.definite for choice in labels}) > 1,
        say(
            "%(names)s cannot be merged: a definite label can be final, and the other cannot; what was decided would "
            "change its meaning. Split the definite one first, or let people decide those pairs",
            names=names,
        ),
    )
    yield (
        kind == "merge" and len({choice.positive for choice in labels if choice.definite}) > 1,
        say(
            "%(names)s cannot be merged: one is positive, and another is not, so every figure of retrieval would "
            "change its meaning. Split the label that is too wide, and merge what belongs together",
            names=names,
        ),
    )
    if question.distance == "ordinal":
        places = sorted(question.codes.index(choice.code) for choice in labels)
        apart = kind == "merge" and places != list(range(places[0], places[0] + len(places)))
        yield apart, say("%(names)s are no neighbours in the order of the labels; merge neighbours only", names=names)
        yield (
            kind == "split",
            say("the labels have an order, in which new ones can only come last; add labels, and ask people again"),
        )

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
_TAKES = {  # of labels, and of names instead: at least, and at most; and in words
    "rename": ((1, 1), (1, 1), mark("a label and its new name")),
    "merge": ((2, None), (1, 1), mark("two labels or more, and the name of what they become")),
    "split": ((1, 1), (2, None), mark("a label, and the names of two or more that it becomes")),
    "add": ((0, 0), (1, 1), mark("the name of one new label")),
}
_SIGNS = {"+": {"positive": True}, "?": {"definite": False}}  # after the name of a new label, as in one_of(...)


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
    has_new = change.kind in ("split", "add")
    signs = {(name[:-1] if has_new and name[-1:] in _SIGNS else name): name[-1:] for name in change.into}
    codes = _check_names(question, change, [*signs])
    choices, former = {choice.code: choice for choice in question}, dict(question.former)
    by_word = {comparable_word(name): name for name in former}
    for name in signs:  # what takes a name that it had before is not read as something else by it
        old = by_word.get(comparable_word(name))
        if old is not None and (former.pop(old) not in codes or has_new):
            why = mark("`%(name)s` was the name of another label, as which earlier files have it; choose another")
            raise InputError.say(why, name=name)
    next_code = max([*choices, *former.values(), *(int(name) for name in former if name.isdecimal())]) + 1
    concerned, moved, split = [choices.pop(code) for code in codes], dict[int, int](), None
    if has_new:
        for choice in concerned:
            split = choice.code
            former |= {choice.name: split, str(split): split}
        for code, (name, sign) in enumerate(signs.items(), next_code):
            choices[code] = Choice(code, name, **_SIGNS.get(sign, {}))
    else:
        (name,) = signs
        kept = next((of for of in concerned if of.name == name), min(concerned, key=lambda of: of.code))
        moved = {choice.code: kept.code for choice in concerned if choice is not kept}
        former |= {choice.name: choice.code for choice in concerned if choice.name != name}
        former |= {str(code): code for code in moved}
        former = {of: moved.get(code, code) for of, code in former.items()}
        choices[kept.code] = replace(kept, name=name)
    changed = replace(question, choices=tuple(choices.values()), former=tuple(former.items()))
    changed.current.check_new()
    if not tier_obstacle(question):
        need_tiers(changed.current)
    return ChangedLabels(changed, moved, split)


def _check_names(question: OneOf, change: Relabel, into: Sequence[str]) -> list[int]:
    """The codes of the labels that are changed into these; raises what `change_labels` does of names and signs."""
    if not change.reason.strip():
        raise InputError.say("a change of labels needs a reason, which stays on record; give it one (`--reason`)")
    if (n := len(change.reason)) > LONGEST_REASON:
        why = mark("the reason has %(number)s characters; expected at most %(most)s")
        raise InputError.say(why, number=n, most=LONGEST_REASON)
    *bounds, takes = _TAKES[change.kind]
    for names, (least, most) in zip((change.labels, change.into), bounds, strict=True):
        n = len({comparable_word(name) for name in names})
        if n < len(names) or not least <= n <= (n if most is None else most):
            raise InputError.say("to %(kind)s takes %(what)s, each once", kind=say(change.kind), what=say(takes))
    codes = {choice.name: choice.code for choice in question}
    for name in change.labels:
        if name not in codes:
            hint = suggest_name(name, codes, mark("the labels are %(names)s"))
            raise InputError.say("there is no label `%(name)s`; %(hint)s", name=name, hint=hint)
    is_taken = {comparable_word(name): name for name in codes}
    for name in into:
        other = is_taken.get(comparable_word(name))
        if name in change.labels and change.kind != "merge":
            raise InputError.say("`%(name)s` is its name already; choose another", name=name)
        if other and (other not in change.labels or change.kind == "split"):
            why = mark(
                "there is a label `%(name)s` already; to make one of two, merge them (`fcpair labels merge %(labels)s "
                "--into %(name)s`)"
            )
            raise InputError.say(why, name=other, labels=" ".join([*change.labels, other]))
    check_rules(*_sign_problems(question, [question[codes[name]] for name in change.labels], change.kind))
    return [codes[name] for name in change.labels]


def _sign_problems(question: OneOf, labels: Sequence[Choice], kind: str) -> Iterator[tuple[bool, str]]:
    merges, names = kind == "merge", [f"`{choice.name}`" for choice in labels]
    mixed = say(
        "%(names)s cannot be merged: a definite label can be final, and the other cannot, so decisions would change "
        "their meaning; let people decide those pairs instead",
        names=names,
    )
    yield merges and len({choice.definite for choice in labels}) > 1, mixed
    opposed = say(
        "%(names)s cannot be merged: one is positive, and another is not, so figures of retrieval would change their "
        "meaning; split the label that is too wide, and merge what belongs together",
        names=names,
    )
    yield merges and len({choice.positive for choice in labels}) > 1, opposed
    if question.distance == "ordinal":
        places = sorted(question.codes.index(choice.code) for choice in labels)
        apart = merges and places != list(range(places[0], places[0] + len(places)))
        yield apart, say("%(names)s are no neighbours in the order of the labels; merge neighbours only", names=names)
        yield kind == "split", say("the labels have an order, in which new ones can only come last; add labels instead")

"""Tiers as a recipe declares them: what a pair needs to be in one, and which declarations contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

from fcpair.errors import EXPECTED, InputError, suggest_name
from fcpair.param_values import AT_LEAST_ONE, Checked, as_params, check_rules, field_default, param, short_repr
from fcpair.records import TIERS

Agreement = Literal["any", "majority", "unanimous"]
VerdictDemand = Literal["accepted", "any", "none"]
AgreeingBy = Literal["answer", "side"]
CountedLabels = Literal["all", "definite"]
OwnTiers = Annotated[Mapping[str, Any], "tiers by their names, each a table of what it requires"]

MOST_TIERS = 32
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,15}")
_RESERVED = ("none", "all")


@dataclass(frozen=True)
class TierPlan(Checked):
    """Requirements for a pair to be in a tier. It always needs a final label."""

    labels: int = param(1, "how many labels a pair has at least", bounds=AT_LEAST_ONE)
    counted: CountedLabels = param("all", "which labels count: all, or the definite ones, without any “not sure”")
    agreement: Agreement = param(
        "any",
        "how many of the labels agree with the final one: any number, the majority (at least two, and more than half), "
        "or all",
    )
    agreeing: AgreeingBy = param(
        "answer", "what agrees with the final label: the same answer, or any on its side (positive, or not)"
    )
    verdict: VerdictDemand = param(
        "accepted", "the validators' verdict: they accepted the label; any: they gave one; none is needed"
    )
    within: str = param("", "the tier of which this one is a part", otherwise="none")
    answers: tuple[str, ...] = param((), "the final labels that its pairs have", otherwise="any")

    @property
    def least_labels(self) -> int:
        """The least number of labels with which a pair can meet the requirements: a majority is of two or more."""
        return max(2, self.labels) if self.agreement == "majority" else self.labels

    @property
    def rule(self) -> TierPlan:
        """The plan as every other that requires the same has it."""
        agreeing: AgreeingBy = "answer" if self.agreement == "any" else self.agreeing
        return replace(self, labels=self.least_labels, agreeing=agreeing, answers=tuple(sorted(self.answers)))


def plain_tiers(tiers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tiers as a study keeps them: of each what differs from the defaults.

    Raises InputError for a name that cannot be used, a key that is none, a value that is not allowed, tiers whose rules
    contradict each other.
    """
    plans = read_tiers(tiers)
    problems, names_by_rule = list(_contradictions(plans)), dict[TierPlan, str]()
    for name, plan in plans.items() if not problems else ():
        if (other := names_by_rule.setdefault(plan.rule, name)) != name:
            problems.append(f"the tier `{name}` has the same rule as `{other}`; change one of them, or remove `{name}`")
    if problems:
        raise InputError("; ".join(problems))
    defaults = {item.name: field_default(item) for item in fields(TierPlan)}
    return {
        name: {key: value for key, value in as_params(plan).items() if getattr(plan, key) != defaults[key]}
        for name, plan in plans.items()
    }


def read_tiers(tiers: Mapping[str, Any]) -> dict[str, TierPlan]:
    """The tiers of a table, each by itself as it should be."""
    if len(tiers) > MOST_TIERS:
        raise InputError(f"there are {len(tiers)} tiers; expected {MOST_TIERS} at most, beside {', '.join(TIERS)}")
    plans, keys = dict[str, TierPlan](), [item.name for item in fields(TierPlan)]
    rule = f"up to 16 small letters, digits, - and _, a letter first, and not {' or '.join(_RESERVED)}"
    for name, table in tiers.items():
        is_table, is_name = isinstance(table, Mapping), _NAME.fullmatch(name) and name not in _RESERVED
        unknown = [key for key in table if key not in keys] if is_table else []
        check_rules(
            (name in TIERS, f"the tier `{name}` is one of the four that every study has; choose another name"),
            (not is_name, f"the name of a tier is {short_repr(name)}; expected {rule}"),
            (not is_table, f"the tier `{name}` is {short_repr(table)}; expected a table such as {{labels = 3}}"),
            *((True, f"the tier `{name}`: unknown key `{key}`; {suggest_name(key, keys)}") for key in unknown),
        )
        try:
            plan = plans[name] = TierPlan(**table)
        except InputError as error:
            raise InputError(f"the tier `{name}`: {error}") from None
        is_empty, twice = "answers" in table and not plan.answers, "more than once; name it once"
        check_rules(
            (is_empty, f"the tier `{name}`: answers is empty; name at least one final label, or omit the key"),
            *((plan.answers.count(of) > 1, f"the tier `{name}`: answers has `{of}` {twice}") for of in plan.answers),
        )
    return plans


def _contradictions(plans: Mapping[str, TierPlan]) -> Iterator[str]:
    known = (*TIERS, *plans)
    for name, plan in plans.items():
        if plan.within and plan.within not in known:
            yield f"the tier `{name}` is within `{plan.within}`, which is no tier; {suggest_name(plan.within, known)}"
            continue
        path = path_upwards(name, plans)
        if path[-1] == name and len(path) > 1:
            cycle = " within ".join(f"`{step}`" for step in path)
            yield f"{cycle}: no tier can be within itself; remove one `within`"
        elif path[-1] not in path[:-1]:
            demands = {step: set(plans[step].answers) for step in path if step in plans and plans[step].answers}
            if demands and not set.intersection(*demands.values()):
                parts = " and ".join(f"`{step}`" for step in demands)
                yield f"no pair can be in the tier `{name}`: {parts} have no final label in common"


def path_upwards(name: str, plans: Mapping[str, TierPlan]) -> list[str]:
    """The tier, the one that it is within, and so on; the last is the first that comes again, where one does."""
    path = [name]
    while path[-1] in plans and plans[path[-1]].within:
        path.append(plans[path[-1]].within)
        if path[-1] in path[:-1]:
            break
    return path


def chain_of(name: str, plans: Mapping[str, TierPlan]) -> tuple[TierPlan, ...]:
    """The rule of a tier and those of all that it is within."""
    return tuple(plans[step] for step in path_upwards(name, plans))


def unknown_tier(tier: str, names: Iterable[str]) -> InputError:
    """The error for a tier that there is not, with the nearest name."""
    return InputError.say("there is no tier `%(name)s`; %(hint)s", name=tier, hint=suggest_name(tier, names, EXPECTED))


def check_tier_name(tier: str, names: Iterable[str]) -> None:
    """Raise InputError, with the nearest name, if there is no such tier."""
    if tier not in (names := tuple(names)):
        raise unknown_tier(tier, names)

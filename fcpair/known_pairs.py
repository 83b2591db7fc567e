"""Known pairs: those of a grid whose right answer is known, by which people qualify and their work is checked, and
those on which people practise before their first, which are in no grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from fcpair.errors import EXPECTED, ONE_OF, InputError, suggest_name
from fcpair.param_values import AT_LEAST_ONE, Checked, param, short_repr
from fcpair.params import Seeded
from fcpair.records import Known, Role
from fcpair.sentences import Id, join, say
from fcpair.values import is_blank

_FILE = "a table of pairs of the grid, with the columns row, column, answer"


class KnownPair(NamedTuple):
    """A pair by its texts, the name of its right answer, and the reason, which may be empty for a control pair."""

    row_id: int
    column_id: int
    answer: str
    explanation: str


@dataclass(frozen=True)
class Qualification(Seeded):
    """Known pairs that everybody answers before their shard, and the share that they must get right."""

    stage: ClassVar[str] = "qualification"
    file: Path = field(metadata={"help": f"{_FILE} and explanation"})
    pass_mark: float = param(
        0.75, "share of right answers, of those answered, at which people begin their shard by themselves"
    )
    known_pairs: int | None = param(
        None,
        "how many pairs each person gets, of those that are not in their shard",
        otherwise="as many as everybody can have",
        bounds=AT_LEAST_ONE,
    )
    seed: int = param(0, "random seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.pass_mark <= 1:
            raise InputError(
                f"pass_mark is {self.pass_mark:g}, which {'everybody' if self.pass_mark <= 0 else 'nobody'} reaches; "
                "expected a share above 0 and at most 1, such as 0.75"
            )


@dataclass(frozen=True)
class Controls(Seeded):
    """Known pairs among the others of each shard, by which the lead sees how well people answer."""

    stage: ClassVar[str] = "controls"
    file: Path = field(metadata={"help": f"{_FILE}, and explanation where there is one"})
    rate: float = param(0.05, "share of the pairs that somebody is shown, such as 0.05")
    seed: int = param(0, "random seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.rate <= 0.5:
            raise InputError(f"rate is {self.rate:g}; expected a share above 0 and at most 0.5, such as 0.05")


KnownOptions = Qualification | Controls
PARAMS: dict[Known, type[Any]] = {Known.QUALIFICATION: Qualification, Known.CONTROLS: Controls}

PRACTISING = (Role.ANNOTATOR, Role.VALIDATOR, Role.RATER)  # who judges what has a right answer
EXPLANATION = "explanation"
COLUMNS = ("row", "column", "answer", EXPLANATION)
MAY_BE_EMPTY = "column"  # where one text is judged
MOST_ITEMS = 200
LONGEST_ITEM = 20_000  # characters of a text, or of an explanation

KnownItems = Annotated[
    tuple[Mapping[str, str], ...],
    "each with its row, column, answer and explanation; no column where one text is judged",
]


class KnownItem(NamedTuple):
    """A pair, or a single text, with the answer that the guidelines call for and the reason."""

    row: str
    column: str
    answer: str
    explanation: str


@dataclass(frozen=True)
class Practice(Checked):
    """Known pairs on which people can practise, from a file or as tables. They are no cells, and in no figure."""

    stage: ClassVar[str] = "practice"
    file: Path | None = param(None, f"a table of them, with the columns {', '.join(COLUMNS)}")
    items: KnownItems = param((), "the same as tables, in place of a file")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.file is not None and self.items:
            raise InputError("give the known pairs either in a file or as tables (`items`)")
        check_items(self.items)
        check_number(len(self.items))


def check_items(items: Sequence[Mapping[str, str]], answers: Sequence[str] = ()) -> None:
    """Raise InputError for all that is wrong with known items, see `item_problems`."""
    problems = [
        say("item %(number)s: %(problem)s", number=Id(at), problem=problem)
        for at, item in enumerate(items, 1)
        for problem in item_problems(item, answers)
    ]
    if problems:
        raise InputError(join(problems, "; "))


def item_problems(item: Mapping[str, str], answers: Sequence[str] = (), *, explained: bool = True) -> Iterator[str]:
    """Problems of a known item by itself, and where `answers` are given, whether its answer is one of them.

    It must be `explained`, or may be.
    """
    optional = {MAY_BE_EMPTY} if explained else {MAY_BE_EMPTY, EXPLANATION}
    for name in item:
        if name not in COLUMNS:
            yield say("there is no `%(name)s`; %(hint)s", name=name, hint=suggest_name(name, COLUMNS, EXPECTED))
    for name in COLUMNS:
        if is_blank(value := item.get(name, "")) and name not in optional:
            yield say("`%(name)s` is empty", name=name)
        elif (n := len(value)) > LONGEST_ITEM:
            yield say("`%(name)s` has %(number)s characters; at most %(most)s", name=name, number=n, most=LONGEST_ITEM)
    answer = item.get("answer", "")
    if answers and answer.strip() and answer not in answers:
        yield say(
            "`answer` is %(answer)s; %(hint)s", answer=short_repr(answer), hint=suggest_name(answer, answers, ONE_OF)
        )


def check_number(n_items: int) -> None:
    """Raise InputError for more items than anybody practises on."""
    if n_items > MOST_ITEMS:
        raise InputError.say(
            "there are %(number)s known pairs to practise on; at most %(most)s", number=n_items, most=Id(MOST_ITEMS)
        )

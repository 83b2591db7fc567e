"""Practice: known pairs on which people practise before their first, each with its answer and the reason for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from fcpair.errors import InputError, suggest_name
from fcpair.param_values import Checked, param, short_repr
from fcpair.records import Role
from fcpair.values import is_blank

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
    problems = [f"item {at}: {problem}" for at, one in enumerate(items, 1) for problem in item_problems(one, answers)]
    if problems:
        raise InputError("; ".join(problems))


def item_problems(item: Mapping[str, str], answers: Sequence[str] = (), *, explained: bool = True) -> Iterator[str]:
    """What is wrong with a known item by itself, and where `answers` are given, whether its answer is one of them.

    It must be `explained`, or may be.
    """
    optional = {MAY_BE_EMPTY} if explained else {MAY_BE_EMPTY, EXPLANATION}
    for name in item:
        if name not in COLUMNS:
            yield f"there is no `{name}`; {suggest_name(name, COLUMNS, 'expected')}"
    for name in COLUMNS:
        value = item.get(name, "")
        if is_blank(value) and name not in optional:
            yield f"`{name}` is empty"
        elif len(value) > LONGEST_ITEM:
            yield f"`{name}` has {len(value):,} characters; at most {LONGEST_ITEM:,}"
    answer = item.get("answer", "")
    if answers and answer.strip() and answer not in answers:
        yield f"`answer` is {short_repr(answer)}; {suggest_name(answer, answers, 'expected one of')}"


def check_number(n_items: int) -> None:
    """Raise InputError for more items than anybody practises on."""
    if n_items > MOST_ITEMS:
        raise InputError(f"there are {n_items:,} known pairs to practise on; at most {MOST_ITEMS}")

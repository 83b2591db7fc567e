"""Known pairs: pairs of a grid whose right answer is known, by which people qualify and their work is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from fcpair.errors import InputError
from fcpair.param_values import AT_LEAST_ONE, param
from fcpair.params import Seeded
from fcpair.records import Known

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
    pairs: int | None = param(
        None,
        "how many pairs each person gets, of those that are not in their shard",
        otherwise="as many as everybody can have",
        flag="--known-pairs",
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

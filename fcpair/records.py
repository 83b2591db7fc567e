"""Records and enums that cross layers: what the store hands out and what the stages speak about."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

from fcpair.done import tell
from fcpair.notebook import Result, column_names, html_of
from fcpair.round_options import RoundOptions
from fcpair.sentences import Sentence, say


class Role(StrEnum):
    """Role of a person in a study."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    VALIDATOR = "validator"
    LEAD = "lead"
    WRITER = "writer"
    RATER = "rater"
    RESPONDENT = "respondent"
    MODEL = "model"


WORKERS = (Role.ANNOTATOR, Role.VALIDATOR, Role.WRITER, Role.RATER, Role.RESPONDENT)
"""The roles of those who answer the rounds of a grid."""


COMPARISON = "comparison"
"""The kind of texts that show several others, lettered, to be compared."""
COMPARES = "compares"
"""What their metadata call the ids of those others, in the order in which they are shown."""

LISTED = "listed"
"""The part that all answers of a round share whose screens are lists of rows."""


@dataclass(frozen=True)
class GridKey:
    """One grid of a study: its number and its name."""

    id: int
    name: str


@dataclass(frozen=True)
class Round:
    """A form that is put on the cells of a grid, to be answered by those with its `role`.

    Its answers `count` for decisions and tiers, or say what others think of the decisions on the round that it
    `checks`, by its id, or neither. A round that checks can also be asked blind, by another form: it has two `ids`
    then, the second of which is blind; and none where a grid has no such round. `form` is a printed one
    (`fcpair.stages.questions`), `options` say how it is assigned and shown.
    """

    ids: tuple[int, ...]
    grid_id: int
    name: str
    role: Role
    form: str
    counts: bool
    checks: int | None = None
    options: RoundOptions = field(default_factory=RoundOptions, compare=False)

    @property
    def id(self) -> int:
        """The id under which assignments and answers have it, unless it is asked blind."""
        return self.ids[0]

    @property
    def reassigns_skipped(self) -> bool:
        """Return whether what somebody skips or leaves goes to others, and is not theirs alone."""
        return self.role is not Role.MODEL and not self.options.asks_everybody

    def screen_key(self, row_id: int) -> Hashable | None:
        """The key shared by answers on one screen, for `pace.spread_batch_times`; `row_id` is the row of one."""
        return {"cell": None, "row": (self.name, row_id), "list": LISTED}[self.options.screen]


class Example(NamedTuple):
    """A text that models may be shown with a row, as the answer to an HS that is near to it.

    `rank` counts from 1, the nearest; `score` is the cosine similarity of row and HS, to six decimals; `type` is the
    column of the first cell on which the text was written. `used` is what a person said last, None where nobody has.
    """

    id: int
    row_id: int
    row: str
    rank: int
    hs: str
    cn: str
    type: str
    score: float
    used: bool | None


class Known(StrEnum):
    """Use of pairs whose right answer is known: people qualify by them, or they are controls in a shard."""

    QUALIFICATION = "qualification"
    CONTROLS = "controls"


class Status(StrEnum):
    """State of an assignment. Skipped and withdrawn work goes back to be assigned to somebody else."""

    OPEN = "open"
    DONE = "done"
    SKIPPED = "skipped"
    WITHDRAWN = "withdrawn"


class Origin(StrEnum):
    """Origin of an answer: how it got into the study."""

    IMPORTED = "imported"
    SIMULATED = "simulated"
    ONLINE = "online"  # through the pages or the API of `fcpair serve`
    GENERATED = "generated"  # by a model


class Rule(StrEnum):
    """Basis of an adjudication.

    `no_majority` and `no_median` discard the pair; `reopened` takes the decision before back; `requested` does so, too,
    because a person is to decide the pair, whatever its labels are.
    """

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    NO_MAJORITY = "no_majority"
    MEDIAN = "median"
    NO_MEDIAN = "no_median"
    PERSON = "person"
    IMPORTED = "imported"
    REOPENED = "reopened"
    REQUESTED = "requested"


BY_HAND = (Rule.PERSON, Rule.IMPORTED)
UNDECIDED = (Rule.REOPENED, Rule.REQUESTED)
"""Rows about a pair after which no decision stands on it."""


class Tier(IntEnum):
    """The graded partitions, least to most trusted; each contains all above it."""

    BRONZE = 1
    SILVER = 2
    GOLD = 3
    DIAMOND = 4

    @property
    def label(self) -> str:
        """The name as users write it: `gold`."""
        return self.name.lower()


TIERS = tuple(tier.label for tier in reversed(Tier))


class Verdict(IntEnum):
    """A validator's answer on an adjudicated label."""

    DISAGREE = 0
    AGREE = 1


@dataclass(frozen=True)
class Person:
    """Somebody who takes part, under a pseudonym."""

    id: int
    name: str
    role: Role
    retired: bool = False


@dataclass(frozen=True)
class Visitor:
    """Somebody who has come by a token or a session; `key` changes with each invite, which ends older sessions.

    `session_secret` is what sessions are signed with when they come; `keeps_refused` says that their texts may be kept
    that checks refused; `language` is the one they chose for the pages, None where the study's holds. Who is
    `remembered` was looked up some moments ago, with the session of that name or, where it is empty, a token: whoever
    acts for them looks in the same transaction whether they may still come in. Who is `asked_again` agreed to earlier
    terms, and has not consented to those of now.
    """

    id: int
    name: str
    role: Role
    key: str
    consented: bool
    blurred: bool
    session_secret: str = field(default="", repr=False)
    keeps_refused: bool = False
    remembered: str | None = None
    asked_again: bool = False
    language: str | None = None


def invite_link(url: str, token: str) -> str:
    """The link that lets in whoever has this token, where people reach the server at `url`."""
    return f"{url.rstrip('/')}/join#{token}"


TOPIC_SPLIT = ",;"
"""The characters at which a value of the metadata is split into topics, unless the recipe names others."""


@dataclass(frozen=True)
class SampleSize:
    """Number of `cells` drawn for a grid, out of all that it could have had; its text is what every report says."""

    cells: int
    of: int

    def __str__(self) -> str:
        return say("sampled %(cells)s of %(of)s cells", cells=self.cells, of=self.of)


BY = "by"
"""The parameter of a run that says who began it."""


@dataclass(frozen=True, repr=False)
class RunRecord:
    """Record of one call of a stage: its parameters, what it counted, and with which fcpair and model.

    `notes` are sentences for whoever made the call; they are not kept.
    """

    id: int
    stage: str
    params: dict[str, Any]
    counts: dict[str, Any]
    version: str
    at: str
    model: dict[str, str] | None = None
    notes: tuple[str, ...] = ()

    @property
    def by(self) -> str | None:
        """The person who began it on the pages; None where that is not known."""
        return self.params.get(BY)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters of the stage itself: all but who began it, and in which planned grid."""
        return {name: value for name, value in self.params.items() if name not in (BY, "grid")}

    @property
    def told(self) -> Sentence:
        """A sentence that says what it did."""
        return tell(self.stage, self.options, self.counts)

    def __repr__(self) -> str:
        return f"<RunRecord {self.id}: {self.stage} ({self.told}), {self.at}>"

    def _repr_html_(self) -> str:
        return html_of(repr(self), RunLog([self]).to_frame())


class RunLog(Result, list[RunRecord]):
    """The runs of a study, oldest first."""

    columns = column_names(RunRecord)[:-1]

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each run; the columns are the fields of `RunRecord` that are kept, all but the notes."""
        return ({name: getattr(run, name) for name in self.columns} for run in self)

    def _summary(self) -> str:
        return f"{len(self):,} run{'s' * (len(self) > 1)}, the last of them {self[-1]!r}" if self else "no run yet"


class PairState(NamedTuple):
    """A pair's labels, and the newest decision about it.

    `counts` says how often each answer was given, in the order of the scheme's codes; `rule` is None where nothing was
    ever decided, `code` also where the decision discards the pair or was taken back.
    """

    cell_id: int
    counts: tuple[int, ...]
    rule: str | None
    code: int | None


@dataclass(frozen=True)
class Figure:
    """A number that users see, with what it rests on.

    `value` is None exactly when `undefined` says why. `low` and `high` bound the interval if there is one;
    `n` is the number of pairs that the figure rests on.
    """

    name: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    undefined: str | None = None
    note: str = ""

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval, each None if there is none."""
        return self.low, self.high

"""Records and enums that cross layers: what the store hands out and what the stages speak about."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fcpair.deprecation import old_names
from fcpair.notebook import Result, counted, frame_of, html_of

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.round_options import RoundOptions


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


LISTED = "listed"
"""What all answers of a round share whose screens are lists of rows."""


@dataclass(frozen=True)
class GridKey:
    """One grid of a study: its number and its name."""

    id: int
    name: str


def _default_options() -> RoundOptions:
    """Those of a round of which no plan says anything; loaded here, as a study is opened without any round."""
    from fcpair.round_options import RoundOptions

    return RoundOptions()


@dataclass(frozen=True)
class Round:
    """A form that is put on the cells of a grid, to be answered by those with its `role`.

    Its answers `count` for decisions and tiers, or say what others think of the decisions on the round that it
    `checks`, by its id, or neither. A round that checks can also be asked blind, by another form: it has two `ids`
    then, the second of which is blind; and none where a grid has no such round. `form` is a printed one
    (`fcpair.stages.questions`), `options` say how it is dealt and shown.
    """

    ids: tuple[int, ...]
    grid_id: int
    name: str
    role: Role
    form: str
    counts: bool
    checks: int | None = None
    options: RoundOptions = field(default_factory=_default_options, compare=False)

    @property
    def id(self) -> int:
        """The id under which assignments and answers have it, unless it is asked blind."""
        return self.ids[0]

    @property
    def reassigns_skipped(self) -> bool:
        """Whether what somebody skips or leaves goes to others, and is not theirs alone."""
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


class Status(StrEnum):
    """Where an assignment stands. Skipped and withdrawn work goes back to be assigned to somebody else."""

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

    `no_majority` and `no_median` discard the pair; `reopened` takes the decision before back.
    """

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    NO_MAJORITY = "no_majority"
    MEDIAN = "median"
    NO_MEDIAN = "no_median"
    PERSON = "person"
    IMPORTED = "imported"
    REOPENED = "reopened"


BY_HAND = (Rule.PERSON, Rule.IMPORTED)


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
    that checks refused. Who is `remembered` was looked up some moments ago, with the session of that name or, where it
    is empty, a token: whoever acts for them looks in the same transaction whether they may still come in.
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


def invite_link(url: str, token: str) -> str:
    """The link that lets in whoever has this token, where people reach the server at `url`."""
    return f"{url.rstrip('/')}/join#{token}"


TOPIC_SPLIT = ",;"
"""The characters at which a value of the metadata is split into topics, unless the recipe names others."""


@dataclass(frozen=True)
class Topic:
    """A topic that people may opt out of, and how many open pairs of theirs have it."""

    value: str
    open: int
    opted_out: bool


@dataclass(frozen=True)
class ShownText:
    """A text as a person reads it; the language is None where it is not known."""

    body: str
    language: str | None


@dataclass(frozen=True)
class RoundForm:
    """Form that somebody is asked to answer in a round of a grid.

    `form` has its questions as pages need them (`Form.as_json`), `screen` what is shown at once: a `cell`, all cells of
    a `row`, or a `list` of rows with all their cells. In a round that checks decisions, `blind` says that these are not
    shown.
    """

    grid: str
    round: str
    row_name: str
    column_name: str
    form: list[dict[str, Any]]
    screen: str
    blind: bool


@dataclass(frozen=True)
class Task:
    """One cell that a person is asked about, by its number in its grid.

    `shown` is the adjudicated label that a validator checks, None for others and in a blind round; `decision_id`
    stands for it, and changes with it. `answered` is the text that the one to be judged was written for, None where it
    was written for none; `original` is a text to be edited, and `untranslated` that of which it is a translation, where
    that is known. Of a round that hides the column it is None, and `cell_id` a number that does not tell it. `answer`
    and `note` are the person's own, where they go back to an earlier answer; `outdated` says that it is a verdict on
    another label than the cell has now, which does not count any more. An `answer` is what the only question of the
    form stores, or of several a dictionary with each by its name, or `skip`.
    """

    assignment_id: int
    grid: str
    cell_id: int
    round: str
    row: ShownText
    column: ShownText | None
    answered: ShownText | None
    shown: str | None
    original: ShownText | None
    untranslated: ShownText | None
    decision_id: int | None
    answer: Any
    note: str
    outdated: bool = False


@dataclass(frozen=True)
class Remark:
    """Remark of a check on a text that somebody writes: it refuses the text, or warns of something.

    `rule` is the kind of check, `version` says exactly what was checked, and `score` what was found, where that is a
    number: of words, a probability or a similarity.
    """

    rule: str
    version: str
    refuses: bool
    sentence: str
    score: float | None = None


@dataclass(frozen=True)
class Submission:
    """A person's answer on a task, as Task has it; `request_id` tells repeated requests.

    `guideline_version` is the version of the guidelines that the person was shown; None stands for the newest.
    `again` says whether they change an answer of theirs that they were shown, None that this is not known.
    `examined` says that a text in it has passed the checks of its round; whoever sends it cannot say so.
    """

    request_id: str
    assignment_id: int
    answer: Any
    note: str = ""
    seconds: float | None = None
    decision_id: int | None = None
    guideline_version: int | None = None
    again: bool | None = None
    examined: bool = False


@dataclass(frozen=True)
class Progress:
    """Progress of a person, and the time that the rest takes at their own pace.

    `pace_s` (seconds a pair) and `left_s` are None exactly when `undefined` says why. `today` counts the pairs read
    since midnight where the server is, `read` those read in all; `daily_limit` and `total_limit` are how many one may
    read, None without a limit, and `limit` is a sentence when one of them is reached. `more` says whether there are
    further pairs for whoever asks, None where pairs are dealt beforehand.
    """

    open: int
    done: int
    skipped: int
    today: int
    pace_s: float | None
    left_s: float | None
    undefined: str | None
    limit: str | None
    read: int
    daily_limit: int | None
    total_limit: int | None
    more: bool | None = None


@dataclass(frozen=True)
class SampleSize:
    """Number of `cells` drawn for a grid, out of all that it could have had; its text is what every report says."""

    cells: int
    of: int

    def __str__(self) -> str:
        return f"sampled {self.cells:,} of {self.of:,} cells"


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

    def __repr__(self) -> str:
        return f"<RunRecord {self.id}: {self.stage}{f' ({counted(self.counts)})' if self.counts else ''}, {self.at}>"

    def _repr_html_(self) -> str:
        return html_of(repr(self), RunLog([self]).to_frame())


class RunLog(Result, list[RunRecord]):
    """The runs of a study, oldest first."""

    def to_frame(self) -> pd.DataFrame:
        """A row for each run; the columns are the fields of `RunRecord` that are kept."""
        names = [item.name for item in fields(RunRecord) if item.name != "notes"]
        return frame_of([{name: getattr(run, name) for name in names} for run in self], names)

    def _summary(self) -> str:
        return f"{len(self):,} run{'s' * (len(self) > 1)}, the last of them {self[-1]!r}" if self else "no run yet"


class KeepReason(StrEnum):
    """Why a file that lies where a sheet is to be written is kept."""

    ANSWERS = "it holds answers"
    NOTES = "it holds notes"
    UNREADABLE = "it cannot be read"
    OTHER = "it is not a sheet of this round"


@dataclass(frozen=True)
class OldSheet:
    """A sheet that lay in a folder before: whose it is, why it is kept, how many pairs that person has open.

    It may be overwritten where `kept` is None. They `left` when they take no further part; of somebody who does, all
    that was open may have been `passed_on`.
    """

    path: Path
    person: str
    kept: KeepReason | None
    open: int
    left: bool
    passed_on: bool = False


@dataclass(frozen=True)
class Figure:
    """A number that users see, with what it rests on.

    `value` is None exactly when `undefined` says why. `low` and `high` bound the interval where there is one;
    `n` is the number of pairs that the figure rests on.
    """

    name: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    undefined: str | None = None
    note: str = field(default="")


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
class Conflict:
    """A pair that waits for a person: its texts, and its labels with their notes, without names.

    `outcome` is what was decided before the labels changed, or what this person decided, and `decision_id` the number
    of that decision; both are None where no decision stands. `answer_id` is the number of the newest answer shown.
    `note` and `flagged` are those of a decision that this person has taken back.
    """

    cell_id: int
    hs: str
    cn: str
    answers: tuple[tuple[str, str], ...]
    decision_id: int | None = None
    outcome: str | None = None
    answer_id: int = 0
    note: str = ""
    flagged: bool = False


@dataclass(frozen=True)
class Agenda:
    """Pairs that one person can decide now, in the order in which they are shown, and counts of those that they cannot.

    Of `pairs`, those in `again` were decided before their labels changed. `not_due` more wait until all their labels
    are in, and `for_others` for somebody else, because this person labelled or validates them.
    """

    pairs: tuple[int, ...]
    again: frozenset[int]
    not_due: int
    for_others: int


@dataclass(frozen=True)
class DryRun:
    """Effect that a policy would have, and the number of standing decisions that it agrees with.

    `counts` are those that the run would leave: by rule, `new`, `reopened`, `waiting`; `discards` pairs that it would
    newly discard, `reopened` the pairs whose decision it would take back. Of `standing` decisions, by hand or not,
    `compared` are about a pair that the policy decides too: those in `different` otherwise.
    """

    counts: dict[str, int]
    discards: int
    standing: int
    compared: int
    different: tuple[int, ...]
    reopened: tuple[int, ...]

    @property
    def n_same(self) -> int:
        """On how many of the pairs compared the policy decides what stands."""
        return self.compared - len(self.different)


@dataclass(frozen=True)
class TierCheck:
    """Whether a pair is in a tier, and what keeps it out."""

    tier: Tier
    rule: str
    passed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a pair is where it is: where it comes from, every answer and decision, and what each tier says.

    `second_look` says that it was decided before its labels changed.
    """

    cell_id: int
    hs: str
    cn: str
    hs_metadata: dict[str, str]
    cn_metadata: dict[str, str]
    brought_in_by: tuple[dict[str, Any], ...]
    answers: tuple[dict[str, Any], ...]
    decisions: tuple[dict[str, Any], ...]
    tier: str | None
    checks: tuple[TierCheck, ...]
    discarded: bool = False
    second_look: bool = False


@dataclass(frozen=True)
class CheckResult:
    """One check of a study: what should be true (`asks`), of how many things (`n`, `of`), and what it `found`.

    `found` has a sentence for each thing that is not as it should be, and `advice` says what to do then; `note` says
    what could not be checked, or that a grid was drawn.
    """

    name: str
    asks: str
    n: int
    of: str
    found: tuple[str, ...]
    advice: str
    note: str = ""


@dataclass(frozen=True)
class Health:
    """Result of examining a study.

    `digest` is that of all answers, decisions, texts, guidelines, names and the scheme: as long as it is the same,
    these are. `notes` are sentences on what waits for a second look. `schema` is the revision of the tables, empty
    where they cannot be read.
    """

    file: str
    checks: tuple[CheckResult, ...]
    digest: str
    notes: tuple[str, ...] = ()
    schema: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether no check found anything."""
        return not any(check.found for check in self.checks)


@dataclass(frozen=True)
class CopyReport:
    """A study that was copied: where from, how many rows each table has, and the digest of all of them, on both sides.

    The digest does not depend on the database that a study is in.
    """

    source: str
    n_rows: Mapping[str, int]
    digest: str


@dataclass(frozen=True)
class BackupReport:
    """A backup: of which kind of database, of which schema, written by which fcpair and when.

    `health` is what an examination of its study found; None where that was not possible.
    """

    kind: str
    schema: str
    fcpair: str
    at: str
    health: Health | None


if not TYPE_CHECKING:
    __getattr__ = old_names(
        globals(),
        Asked="RoundForm",
        Copied="CopyReport",
        Examined="CheckResult",
        Kept="KeepReason",
        Restored="BackupReport",
        Sampled="SampleSize",
    )

"""Records of work and of looks at it: what whoever answers or decides is shown and sends, and what looks find."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from fcpair.notebook import Result
from fcpair.params import CalibrationCounts
from fcpair.records import Figure
from fcpair.round_options import Screen
from fcpair.sentences import RIGHT_TO_LEFT

CalibrationPart = Literal["", "first", "again"]
Direction = Literal["ltr", "rtl"]
ABOUT_QUESTIONS = (
    "The questions, in order. Each has its `name`, its `kind` (`one_of`, `any_of`, `scale`, `text`, `edit` or `curate`)"
    " and what belongs to that kind, such as `choices` and, for each choice, the `keys` of the pages: every way to type"
    " it, first the one that is shown. If the study gives wordings, a question also has `text` and `help`, to be shown"
    " in place of its name and below it, and `texts`, `helps` and `colours`, one or null for each choice. Answers are"
    " sent by their names all the same."
)
ABOUT_TEXTS = (
    "For texts of rows and columns that are names, and for labels to check: what people read instead, with `text`, "
    "`help` or both."
)


@lru_cache(maxsize=4096)  # the texts of a study come again and again
def direction_of(text: str) -> Direction:
    """The direction that most of the text's letters have; left to right when it has as many of both, or none.

    Browsers' own `dir="auto"` goes by the first letter alone, so that a Persian text which opens with a Latin name
    or a user's handle would run the wrong way.
    """
    classes = [unicodedata.bidirectional(character) for character in text]
    rightward, leftward = classes.count("L"), sum(kind in RIGHT_TO_LEFT for kind in classes)
    return "rtl" if leftward > rightward else "ltr"


@dataclass(frozen=True)
class Topic:
    """A topic that people may opt out of, and how many open pairs of theirs have it."""

    value: str
    open: int
    opted_out: bool


@dataclass(frozen=True)
class ShownText:
    """A text, its language if known, and its direction."""

    body: str
    language: str | None
    direction: Direction

    @classmethod
    def of(cls, body: str, language: str | None) -> ShownText:
        """The text with its direction; an empty language is not known."""
        return cls(body, language or None, direction_of(body))


@dataclass(frozen=True)
class RoundForm:
    """Round of a grid, and its questions. `blind` is true where people check decisions without seeing them."""

    grid: str
    round: str
    row_name: str = field(metadata={"description": "What a row is called."})
    column_name: str = field(metadata={"description": "What a column is called."})
    form: list[dict[str, Any]] = field(metadata={"description": ABOUT_QUESTIONS})
    screen: Screen = field(
        metadata={"description": "What the pages show at once: a cell, all cells of a row, or a list of rows."}
    )
    blind: bool
    row_text: str | None = field(metadata={"description": "What people read instead of `row_name`; null: that."})
    column_text: str | None = field(metadata={"description": "What people read instead of `column_name`; null: that."})
    texts: dict[str, dict[str, str]] = field(metadata={"description": ABOUT_TEXTS})
    single_column: bool = field(
        metadata={"description": "Whether the grid has one column, which only names it and is not shown."}
    )
    qualifies: bool = field(
        metadata={"description": "Whether people qualify by it: what they have besides waits until they have."}
    )
    calibration: CalibrationPart = field(
        metadata={"description": "In a calibration, before or after the discussion; else empty."}
    )


@dataclass(frozen=True)
class Task:
    """A cell to answer, or one that you have answered."""

    assignment_id: int
    grid: str
    cell_id: int = field(
        metadata={"description": "The cell's number in its grid, or, without `column`, one that hides it."}
    )
    round: str
    row: ShownText
    column: ShownText | None = field(metadata={"description": "Null in a round that hides it."})
    answered: ShownText | None = field(
        metadata={"description": "The text to which the text to be judged replies, if there is one."}
    )
    shown: str | None = field(metadata={"description": "For validators who see it: the label to check."})
    original: ShownText | None = field(metadata={"description": "The text to be edited, if there is one."})
    untranslated: ShownText | None = field(
        metadata={"description": "What the text to be edited is a translation of, if known."}
    )
    decision_id: int | None = field(
        metadata={"description": "For validators: send it back with the answer. It changes with the label of the pair."}
    )
    answer: Any = field(metadata={"description": "Your own answer, as it was sent, if there is one."})
    note: str
    outdated: bool = field(
        metadata={
            "description": "Whether your own answer is about a label that the pair no longer has: then it does not "
            "count."
        }
    )


@dataclass(frozen=True)
class Remark:
    """Remark of a check on a text: it refuses the text, or warns."""

    rule: str = field(metadata={"description": "`words`, `language`, `similar`, `grammar` or `form`."})
    version: str = field(metadata={"description": "What exactly was checked, and by what."})
    refuses: bool
    sentence: str = field(metadata={"description": "For the writer: what to change."})
    score: float | None = field(metadata={"description": "What was measured, if that is a number."})


@dataclass(frozen=True)
class Submission:
    """A person's answer on a task, as Task has it; `request_id` tells repeated requests.

    `guideline_version` is the version of the guidelines that the person was shown; None stands for the newest.
    `again` says whether they change an answer of theirs that they were shown, None that this is not known; `shown` are
    the answers that it may be, None that it may be any.
    `answered_at` is when they answered by their own clock (ISO 8601 with its zone), None that they answer now.
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
    shown: Sequence[Any] | None = None
    answered_at: str | None = None


@dataclass(frozen=True)
class Reading:
    """Number of pairs that you have read today and in all, and how many you may read; null means no limit."""

    today: int
    read: int
    daily_limit: int | None
    total_limit: int | None
    limit: str | None = field(metadata={"description": "A sentence if a limit of pairs is reached."})


@dataclass(frozen=True)
class Progress(Reading):
    """Your progress; `pace_s` and `left_s` are null exactly when `undefined` says why."""

    open: int
    done: int
    skipped: int
    pace_s: float | None
    left_s: float | None
    undefined: str | None
    more: bool | None = field(
        metadata={"description": "Whether more pairs are free for you; null: all pairs are assigned."}
    )


class KeepReason(StrEnum):
    """Reason why a file that lies where a sheet is to be written is kept."""

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
class QueueCounts:
    """Number of conflicts that wait for you (`again`: for a second look) or for others, and that you have decided.

    `not_due` is true while labels are still being given, so that more may come.
    """

    waiting: int
    not_due: bool  # and not how many: that would tell of the labels that are in
    for_others: int  # who label or validate it, or have opted out of its topic
    decided: int
    again: int


@dataclass(frozen=True)
class ShownLabel:
    """One label of a pair, without a name."""

    label: str
    note: str


@dataclass(frozen=True)
class ConflictCase:
    """A conflict. `decision_id` and `outcome` are the current decision, if there is one: your `own`, or one that was
    made before the labels changed and has to be made `again`. `note` and `flagged` are those of your own decision, even
    if you have taken it back.
    """

    cell_id: int
    hs: ShownText
    cn: ShownText
    answers: tuple[ShownLabel, ...]
    choices: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...] = field(
        metadata={"description": "For each choice every way to type it, first the one that is shown."}
    )
    colours: tuple[str | None, ...] = field(metadata={"description": "For each choice its colour; null: none."})
    decision_id: int | None
    outcome: str | None
    note: str
    flagged: bool
    again: bool
    own: bool
    answer_id: int  # of the newest of the answers


@dataclass(frozen=True)
class DecisionRequest:
    """A decision as it is sent in: the name of a choice; `flagged` says that the guidelines should say more here.

    `seen_decision_id` is the case's `decision_id`, so that nobody overrules a decision that they have not seen;
    `seen_answer_id` its `answer_id`, so that nobody decides by labels that have changed (None: not told).
    `decided_at` is when they decided by their own clock (ISO 8601 with its zone), None that they decide now.
    """

    request_id: str
    cell_id: int
    outcome: str
    note: str = ""
    flagged: bool = False
    seen_decision_id: int | None = None
    seen_answer_id: int | None = None
    decided_at: str | None = None


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
class ExtraLabels:
    """Labels that would be added while people are at work: how many to each pair, by its number.

    `by_person` has of each person how many labels are new to them and how many they take over from others; nobody is
    named where pairs go to whoever asks (`is_open`). `n_unmet` labels are wanted that nobody may give. Of certain pairs
    for which a label was requested, `n_decided` get none, because a person has decided them.
    """

    by_pair: dict[int, int]
    by_person: dict[str, tuple[int, int]]
    n_unmet: int = 0
    n_decided: int = 0
    is_open: bool = False

    @property
    def n_new(self) -> int:
        """Number of labels that would be added."""
        return sum(self.by_pair.values())


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
    """A pair's place in a tier, or what keeps it out."""

    tier: str
    rule: str
    passed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """The reasons why a pair is where it is: where it comes from, every answer and decision, and what each tier says.

    `tier` is the best of the four that it is in, and `own_tiers` are those of the study's own.
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
    own_tiers: tuple[str, ...] = ()


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
    where they cannot be read. `settings_digest` and `log_digest` are those of all settings and of the run log, empty
    where these cannot be read.
    """

    file: str
    checks: tuple[CheckResult, ...]
    digest: str
    notes: tuple[str, ...] = ()
    schema: str = ""
    settings_digest: str = ""
    log_digest: str = ""

    @property
    def is_sound(self) -> bool:
        """Return whether no check found anything."""
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


@dataclass(frozen=True)
class CalibratedPerson:
    """Number of pairs that a person has answered in the calibration, and has still to answer: first, and again."""

    name: str
    answered: int
    open: int
    again: int
    again_open: int


@dataclass(frozen=True)
class FigureChange:
    """A figure of agreement on a part of the round before the discussion; `after` is None as long as there is none."""

    part: str
    before: Figure
    after: Figure | None


@dataclass(frozen=True, repr=False)
class CalibrationResult(Result):
    """Result of a calibration so far.

    `round` is the round that it is for, `phase` how far it is (answer, discuss, closed), `counts` which answers count.
    `n_pairs` are in the batch; on `n_differing` of them answers differ before the discussion, on `n_differing_after`
    after it, None before it is opened. `figures` are over the whole batch: after the discussion with each person's
    latest answer, so that those on which nobody differed are in both.
    """

    round: str
    phase: str
    counts: CalibrationCounts
    level: float
    n_pairs: int
    people: tuple[CalibratedPerson, ...]
    n_differing: int
    n_differing_after: int | None
    figures: tuple[FigureChange, ...]

    columns = (
        *("part", "figure", "before", "before_low", "before_high", "before_n"),
        *("after", "after_low", "after_high", "after_n", "undefined"),
    )

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each figure, with its value, interval and n before and after; `undefined` says why one has none."""
        for change in self.figures:
            numbers: list[Any] = []
            for figure in (change.before, change.after):
                numbers += (figure.value, figure.low, figure.high, figure.n) if figure else [None] * 4
            undefined = change.before.undefined or (change.after.undefined if change.after else None)
            yield dict(zip(self.columns, (change.part, change.before.name, *numbers, undefined), strict=True))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        values = {name: getattr(self, name) for name in ("round", "phase", "counts", "level", "n_pairs")}
        values |= {"differing": {"before": self.n_differing, "after": self.n_differing_after}}
        return values | {"people": [asdict(person) for person in self.people], "figures": list(self.rows())}

    def _summary(self) -> str:
        after = "" if self.n_differing_after is None else f", on {self.n_differing_after:,} after the discussion"
        return f"{self.n_pairs:,} pairs, {self.phase}; people differ on {self.n_differing:,}{after}"

"""Records of work: what whoever answers or decides is shown, and what they send."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from fcpair.round_options import Screen

CalibrationPart = Literal["", "first", "again"]
Direction = Literal["ltr", "rtl"]
RIGHT_TO_LEFT = ("R", "AL")  # Unicode's bidirectional classes: Hebrew and its kin, Arabic and its kin
ABOUT_QUESTIONS = (
    "The questions, in order. Each has its `name`, its `kind` (`one_of`, `any_of`, `scale`, `text`, `edit` or `curate`)"
    " and what belongs to that kind, such as `choices` and, for each choice, the `keys` of the pages: every way to type"
    " it, first the one that is shown. If the study gives wordings, a question also has `text` and `help`, to be shown"
    " in place of its name and below it, and `texts` and `helps`, one or null for each choice. Answers are sent by"
    " their names all the same."
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
    """

    request_id: str
    cell_id: int
    outcome: str
    note: str = ""
    flagged: bool = False
    seen_decision_id: int | None = None
    seen_answer_id: int | None = None


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

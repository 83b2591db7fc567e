"""Records of work: what whoever answers or decides is shown, and what they send."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

CalibrationPart = Literal["", "first", "again"]


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
    shown. `row_text` and `column_text` are what people read in place of the names of the sides, and `texts` in place of
    the names that are columns or rows, or labels to check. A `single_column` only names the grid, and is not shown.
    With `qualifies`, people answer it before their shard, which waits for it.
    `calibration` says that everybody answers `first`, or `again` after a discussion; empty in all other rounds.
    """

    grid: str
    round: str
    row_name: str
    column_name: str
    form: list[dict[str, Any]]
    screen: str
    blind: bool
    row_text: str | None
    column_text: str | None
    texts: dict[str, dict[str, str]]
    single_column: bool
    qualifies: bool = False
    calibration: CalibrationPart = ""


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

"""The shapes of the JSON API: what it takes, strictly, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from fcpair.grid import ConflictCase, DecidedCase
from fcpair.records import Role
from fcpair.stages.questions import LONGEST_NAME
from fcpair.stages.questions.closed import LARGEST, MOST_LABELS
from fcpair.words import PAGE_LANGUAGES
from fcpair.work_records import Progress, QueueCounts, Reading, Remark, RoundForm, Task

LARGEST_ID = 2**53 - 1  # the largest number that every JSON client reads exactly
MOST_AHEAD = 50  # pairs that somebody is given at once
LONGEST_NOTE, LONGEST_WORDS = 4_000, 1_000  # of a note, and of what people say about themselves
LONGEST_TEXT, MOST_QUESTIONS = 20_000, 50  # that is written as an answer; of a form
NO_NUL = r"^[^\x00]*$"  # which no database stores as text

Id = Annotated[int, Field(ge=1, le=LARGEST_ID, strict=True)]
RequestId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._:-]{8,64}$"),
    Field(description="Chosen by the client, a new one for each act; a repeated request has the same one."),
]
Word = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME, pattern=NO_NUL)]
AnswerText = Annotated[str, StringConstraints(max_length=LONGEST_TEXT, pattern=NO_NUL)]
Number = (
    Annotated[int, Field(ge=-LARGEST, le=LARGEST, strict=True)]
    | Annotated[float, Field(ge=-LARGEST, le=LARGEST, strict=True, allow_inf_nan=False)]
)
PartAnswer = AnswerText | Number | Annotated[list[Word], Field(max_length=MOST_LABELS)]
Rejection = Annotated[dict[Literal["reject"], Word | None], Field(min_length=1)]
Answer = PartAnswer | Annotated[dict[Word, PartAnswer | Rejection | None], Field(max_length=MOST_QUESTIONS)]
Note = Annotated[str, StringConstraints(max_length=LONGEST_NOTE, pattern=NO_NUL)]
Words = Annotated[str, StringConstraints(max_length=LONGEST_WORDS, pattern=NO_NUL)]
Seconds = Annotated[
    float,
    Field(ge=0, le=86_400, strict=True, allow_inf_nan=False, description="How long the person looked at the pair."),
]

Moment = Annotated[
    str,
    StringConstraints(max_length=40, pattern=NO_NUL),
    Field(
        description="When the person did this by their own clock, in ISO 8601 with its zone; refused (422) if it is to "
        "come or before the study was created. Kept beside the server's time if it was more than five seconds earlier, "
        "as after an outage."
    ),
]


class RequestModel(BaseModel):
    """A request with these fields, and no others."""

    model_config = ConfigDict(extra="forbid")


class AnswerIn(RequestModel):
    """An answer on a cell."""

    request_id: RequestId
    assignment_id: Id
    answer: Answer = Field(
        description="For one question: the name of a choice, a number, a list of labels, a text or, to reject one, an "
        "object with `reject` and the reason. For several questions: an object with each answer under its question's "
        "name, without questions that are not asked. Or `skip`."
    )
    note: Note = ""
    seconds: Seconds | None = None
    decision_id: Id | None = Field(default=None, description="For validators: the one that came with the pair.")
    again: Annotated[bool, Field(strict=True)] | None = Field(
        default=None,
        description="Whether the person changes an answer that they were shown. `false`: the pair was open, so this is "
        "refused (409) if they have answered it meanwhile, as on another device. Omitted: it replaces that answer.",
    )
    guideline_version: Id | None = Field(
        default=None, description="The version of the guidelines that the person was shown; the newest if omitted."
    )
    shown: list[Answer] | None = Field(
        default=None,
        max_length=20,
        description="For a person who changes an answer: the answers of theirs on this pair that they were shown or "
        "have sent since. Refused (409) if their current one is none of these, as it is from another window. Omitted: "
        "whatever it is, it is replaced.",
    )
    answered_at: Moment | None = None


class TextIn(RequestModel):
    """A text that is being written, in an answer that need not be complete."""

    assignment_id: Id
    answer: Answer
    final: Annotated[bool, Field(strict=True, description="Whether the person has pressed Save.")] = False


class ConsentIn(RequestModel):
    """Agreement to take part, with what the person wishes to say about themselves."""

    demographics: dict[Words, Words] = Field(default_factory=dict, max_length=50)


class SettingsIn(RequestModel):
    """A person's own settings; those that are omitted do not change."""

    blurred: Annotated[bool, Field(strict=True)] | None = None
    keeps_refused: Annotated[bool, Field(strict=True)] | None = Field(
        default=None, description="Whether texts that checks refuse may be kept."
    )


class RemarksOut(BaseModel):
    """Remarks of the checks; none if all is well."""

    remarks: list[Remark]


class Problem(BaseModel):
    """Problem with a request: what was found, what was expected, what to do."""

    detail: str


class Finding(BaseModel):
    """One error in a request."""

    loc: list[str | int]
    msg: str
    type: str


class Invalid(BaseModel):
    """Why a request cannot be used: a sentence, or a list of errors."""

    detail: str | list[Finding]


class Me(BaseModel):
    """Owner of the token, and what they are asked."""

    name: str
    role: Role
    consented: bool
    rounds: list[RoundForm] = Field(description="In all grids, oldest first; empty for people who answer nothing.")
    blurred: bool
    keeps_refused: bool
    language: str = Field(
        description="Language of the person's pages: the one they chose, else the study's.",
        json_schema_extra={"enum": list(PAGE_LANGUAGES)},
    )
    guideline_version: int = Field(description="The newest version of the guidelines.")


@dataclass(frozen=True)
class TaskOut(Task):
    """A cell to answer, or one that you have answered."""

    answer: Answer | None = field(metadata={"description": "Your own answer, as it was sent, if there is one."})


@dataclass(frozen=True)
class ProgressOut(Progress):
    """Your progress; `pace_s` and `left_s` are null exactly when `undefined` says why."""

    desk_version: str = field(
        metadata={"description": "Changes when the page on which you answer does, with the guidelines, say."}
    )


class TasksOut(BaseModel):
    """Cells, which are pairs where both sides are HS and CN."""

    tasks: list[TaskOut]


class NextOut(TasksOut):
    """Cells to answer, without those that you have."""

    order: list[int] = Field(description="The `assignment_id`s of all that you have to answer next, in order.")


class Recorded(BaseModel):
    """The answer is stored."""

    judgement_id: int = Field(description="Identifies the answer; numbers are in no order.")
    assignment_id: int
    guideline_version: int = Field(description="The newest version of the guidelines.")


class RulingIn(RequestModel):
    """A decision on a conflict."""

    request_id: RequestId
    cell_id: Id
    outcome: Word = Field(description="One of the case's `choices`.")
    note: Note = ""
    flagged: Annotated[bool, Field(strict=True)] = Field(default=False, description="The guidelines should say more.")
    seen_decision_id: Id | None = Field(default=None, description="The case's `decision_id`, if it has one.")
    seen_answer_id: Id | None = Field(
        default=None, description="The case's `answer_id`, to check that it is unchanged."
    )
    decided_at: Moment | None = None


class UndoIn(RequestModel):
    """A request to take a decision back."""

    request_id: RequestId


class NextCaseOut(BaseModel):
    """The next conflict, its grid, how much waits in that, and how much you have read."""

    grid: str
    case: ConflictCase | None
    queue: QueueCounts
    reading: Reading


class DecisionMade(BaseModel):
    """The decision, or that it was taken back, is stored."""

    decision_id: int
    cell_id: int


class DecisionsOut(BaseModel):
    """Current decisions, newest first."""

    decisions: list[DecidedCase]


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The declaration of the errors that a route can answer, in addition to those that every route can."""
    too_slow = [408] if 413 in statuses else []  # as what can be too large can be
    return {
        status: {"model": Invalid if status == 422 else Problem, "description": _REFUSALS[status]}
        for status in sorted({401, 403, 422, 429, 503, *statuses, *too_slow})
    }


_REFUSALS = {
    400: "The body is not JSON in UTF-8.",
    401: "No token, or one that is not valid (any more).",
    403: "Not for this person: another role, no consent yet, not their pair, or a limit is reached.",
    404: "Not found.",
    408: "The body came in too slowly.",
    409: "The study has moved on, or the request id was used for something else.",
    413: "The body is too large.",
    422: "The request does not have the declared shape, or a value is not possible.",
    429: "A wrong token, after too many others from this address; `Retry-After` says when to try again.",
    503: "The study cannot be read or written now.",
}

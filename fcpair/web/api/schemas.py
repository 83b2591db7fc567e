"""The shapes of the JSON API: what it takes, strictly, and what it gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from fcpair.records import Role, Rule
from fcpair.round_options import Screen
from fcpair.stages.questions import LONGEST_NAME
from fcpair.stages.questions.any_of import MOST_LABELS
from fcpair.stages.questions.scale import LARGEST
from fcpair.web.text_direction import direction
from fcpair.words import PAGE_LANGUAGES
from fcpair.work_records import CalibrationPart, ShownText, Task

LARGEST_ID = 2**53 - 1  # the largest number that every JSON client reads exactly
MOST_AHEAD = 50  # pairs that somebody is given at once
LONGEST_NOTE, LONGEST_WORDS = 4_000, 1_000  # of a note, and of what people say about themselves
LONGEST_TEXT, MOST_QUESTIONS = 20_000, 50  # that is written as an answer; of a form


def _check_storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text cannot hold the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a text cannot hold half a surrogate pair") from None
    return text


Id = Annotated[int, Field(ge=1, le=LARGEST_ID, strict=True)]
RequestId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._:-]{8,64}$"),
    Field(description="Chosen by the client, a new one for each act; a repeated request has the same one."),
]
Word = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME), AfterValidator(_check_storable)]
AnswerText = Annotated[str, StringConstraints(max_length=LONGEST_TEXT), AfterValidator(_check_storable)]
Number = (
    Annotated[int, Field(ge=-LARGEST, le=LARGEST, strict=True)]
    | Annotated[float, Field(ge=-LARGEST, le=LARGEST, strict=True, allow_inf_nan=False)]
)
PartAnswer = AnswerText | Number | Annotated[list[Word], Field(max_length=MOST_LABELS)]
Rejection = Annotated[dict[Literal["reject"], Word | None], Field(min_length=1)]
Answer = PartAnswer | Annotated[dict[Word, PartAnswer | Rejection | None], Field(max_length=MOST_QUESTIONS)]
Note = Annotated[str, StringConstraints(max_length=LONGEST_NOTE), AfterValidator(_check_storable)]
Words = Annotated[str, StringConstraints(max_length=LONGEST_WORDS), AfterValidator(_check_storable)]
Seconds = Annotated[
    float,
    Field(ge=0, le=86_400, strict=True, allow_inf_nan=False, description="How long the person looked at the pair."),
]


class RequestModel(BaseModel):
    """What is sent, and nothing else."""

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


class RemarkOut(BaseModel):
    """Remark of a check on a text: it refuses the text, or warns."""

    rule: str = Field(description="`words`, `language`, `similar`, `grammar` or `form`.")
    version: str = Field(description="What exactly was checked, and by what.")
    refuses: bool
    sentence: str = Field(description="For the writer: what to change.")
    score: float | None = Field(description="What was measured, if that is a number.")


class RemarksOut(BaseModel):
    """Remarks of the checks; none if all is well."""

    remarks: list[RemarkOut]


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


class RoundOut(BaseModel):
    """Round of a grid, and its questions. `blind` is true where people check decisions without seeing them."""

    grid: str
    round: str
    row_name: str = Field(description="What a row is called.")
    column_name: str = Field(description="What a column is called.")
    form: list[dict[str, Any]] = Field(
        description="The questions, in order. Each has its `name`, its `kind` (`one_of`, `any_of`, `scale`, `text`, "
        "`edit` or `curate`) and what belongs to that kind, such as `choices` and, for each choice, the `keys` of the "
        "pages: every way to type it, first the one that is shown. If the study gives wordings, a question also has "
        "`text` and `help`, to be shown in place of its name and below it, and `texts` and `helps`, one or null for "
        "each choice. Answers are sent by their names all the same."
    )
    screen: Screen = Field(description="What the pages show at once: a cell, all cells of a row, or a list of rows.")
    blind: bool
    row_text: str | None = Field(description="What people read instead of `row_name`; null: that.")
    column_text: str | None = Field(description="What people read instead of `column_name`; null: that.")
    texts: dict[str, dict[str, str]] = Field(
        description="For texts of rows and columns that are names, and for labels to check: what people read instead, "
        "with `text`, `help` or both."
    )
    single_column: bool = Field(description="Whether the grid has one column, which only names it and is not shown.")
    qualifies: bool = Field(description="Whether people qualify by it: what they have besides waits until they have.")
    calibration: CalibrationPart = Field(description="In a calibration, before or after the discussion; else empty.")


class Me(BaseModel):
    """Owner of the token, and what they are asked."""

    name: str
    role: Role
    consented: bool
    rounds: list[RoundOut] = Field(description="In all grids, oldest first; empty for people who answer nothing.")
    blurred: bool
    keeps_refused: bool
    language: str = Field(
        description="Language of the person's pages: the one they chose, else the study's.",
        json_schema_extra={"enum": list(PAGE_LANGUAGES)},
    )
    guideline_version: int = Field(description="The newest version of the guidelines.")


class TextOut(BaseModel):
    """A text, its language if known, and its direction."""

    body: str
    language: str | None
    direction: Literal["ltr", "rtl"]


class TaskOut(BaseModel):
    """A cell to answer, or one that you have answered."""

    assignment_id: int
    grid: str
    cell_id: int = Field(description="The cell's number in its grid, or, without `column`, one that hides it.")
    round: str
    row: TextOut
    column: TextOut | None = Field(description="Null in a round that hides it.")
    answered: TextOut | None = Field(description="The text to which the text to be judged replies, if there is one.")
    shown: str | None = Field(description="For validators who see it: the label to check.")
    original: TextOut | None = Field(description="The text to be edited, if there is one.")
    untranslated: TextOut | None = Field(description="What the text to be edited is a translation of, if known.")
    decision_id: int | None = Field(
        description="For validators: send it back with the answer. It changes with the label of the pair."
    )
    answer: Answer | None = Field(description="Your own answer, as it was sent, if there is one.")
    note: str
    outdated: bool = Field(
        description="Whether your own answer is about a label that the pair no longer has: then it does not count."
    )


class ReadingOut(BaseModel):
    """Number of pairs that you have read today and in all, and how many you may read; null means no limit."""

    today: int
    read: int
    daily_limit: int | None
    total_limit: int | None
    limit: str | None = Field(description="A sentence if a limit of pairs is reached.")


class ProgressOut(ReadingOut):
    """Your progress; `pace_s` and `left_s` are null exactly when `undefined` says why."""

    open: int
    done: int
    skipped: int
    pace_s: float | None
    left_s: float | None
    undefined: str | None
    more: bool | None = Field(description="Whether more pairs are free for you; null: all pairs are assigned.")
    desk_version: str = Field(description="Changes when the page on which you answer does, with the guidelines, say.")


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


class UndoIn(RequestModel):
    """A request to take a decision back."""

    request_id: RequestId


class LabelOut(BaseModel):
    """One label of a pair, without a name."""

    label: str
    note: str


class CaseOut(BaseModel):
    """A conflict. `decision_id` and `outcome` are the current decision, if there is one: your `own`, or one that was
    made before the labels changed and has to be made `again`. `note` and `flagged` are those of your own decision, even
    if you have taken it back.
    """

    cell_id: int
    hs: TextOut
    cn: TextOut
    answers: list[LabelOut]
    choices: list[str]
    keys: list[list[str]] = Field(description="For each choice every way to type it, first the one that is shown.")
    decision_id: int | None
    outcome: str | None
    note: str
    flagged: bool
    again: bool
    own: bool
    answer_id: int


class QueueOut(BaseModel):
    """Number of conflicts that wait for you (`again`: for a second look) or for others, and that you have decided.

    `not_due` is true while labels are still being given, so that more may come.
    """

    waiting: int
    again: int
    not_due: bool
    for_others: int
    decided: int


class NextCaseOut(BaseModel):
    """The next conflict, its grid, how much waits in that, and how much you have read."""

    grid: str
    case: CaseOut | None
    queue: QueueOut
    reading: ReadingOut


class DecisionMade(BaseModel):
    """The decision, or that it was taken back, is stored."""

    decision_id: int
    cell_id: int


class DecisionOut(BaseModel):
    """A current decision; `by` is null if a rule or a file made it.

    `labels` counts the labels that it rests on, by name; it is empty while somebody has still to label the pair.
    """

    decision_id: int
    cell_id: int
    hs: TextOut
    cn: TextOut
    outcome: str
    rule: Rule
    by: str | None
    note: str
    flagged: bool
    at: str
    labels: dict[str, int]


class DecisionsOut(BaseModel):
    """Current decisions, newest first."""

    decisions: list[DecisionOut]


def text_json(text: ShownText) -> dict[str, Any]:
    """A text as TextOut has it."""
    return {"body": text.body, "language": text.language, "direction": direction(text.body)}


def task_json(task: Task) -> dict[str, Any]:
    """A task as TaskOut has it."""
    texts = {name: getattr(task, name) for name in ("row", "column", "answered", "original", "untranslated")}
    return vars(task) | {name: None if text is None else text_json(text) for name, text in texts.items()}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The declaration of the errors that a route can answer, in addition to those that every route can.

    What can be too large (413) can be too slow (408).
    """
    if 413 in statuses:
        statuses = (*statuses, 408)
    descriptions = {status: _REFUSALS[status] for status in sorted({401, 403, 422, 429, 503, *statuses})}
    return {
        status: {"model": Invalid if status == 422 else Problem, "description": of}
        for status, of in descriptions.items()
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

"""The draft of a study that a lead makes in the browser: what each step has settled, before anything is built of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fcpair.param_values import AT_LEAST_ONE, N_PEOPLE, Bounds, Checked, param
from fcpair.params import CorpusFormat
from fcpair.sentences import mark

PlanKind = Literal["retrieved", "full"]
StudyKind = Literal["pairs", "survey"]
LABELS = ("not_appropriate", "not_sure", "appropriate")
SECONDS = 60  # that a pair takes, where nobody knows better
_SHARE = Bounds(0, most=1)
_COUNT = Bounds(0)


@dataclass(frozen=True)
class TableDraft(Checked):
    """The table that was uploaded: its file, named by fcpair, the name that it came with, and what is made of it."""

    step: ClassVar[str] = "table"
    file: str
    name: str
    kind: StudyKind = param("pairs", "pairs of two texts that are labelled, or a survey about texts")


@dataclass(frozen=True)
class ColumnsDraft(Checked):
    """Meaning of the table's columns, names of the sides, and the labels, the negative one first."""

    step: ClassVar[str] = "columns"
    reader: CorpusFormat = "csv"
    hs: str = "hs"
    cn: str = "cn"
    hs_id: str | None = None
    cn_id: str | None = None
    language: str | None = None
    unpaired: bool = False
    title: str = ""
    hs_name: str = "hate speech"
    cn_name: str = "counter-narrative"
    labels: tuple[str, ...] = LABELS


@dataclass(frozen=True)
class StatementsDraft(Checked):
    """Column of the table with the statements of a survey; the others stay with them."""

    step: ClassVar[str] = "columns"
    statement: str
    title: str = ""


@dataclass(frozen=True)
class PlanDraft(Checked):
    """The grid and who answers: `twice` and `thrice` are the shares of pairs that get two and three labels."""

    step: ClassVar[str] = "plan"
    kind: PlanKind = param("retrieved", mark("Which pairs"))
    hs: int = param(1, mark("First texts to draw"), bounds=AT_LEAST_ONE)
    k: int = param(2, mark("Neighbours of each known second text"), bounds=AT_LEAST_ONE)
    candidates: int | None = param(None, mark("Candidates to draw"), bounds=AT_LEAST_ONE)
    seed: int = param(0, mark("Seed of every draw"), bounds=_COUNT)
    annotators: int = param(3, mark("Annotators"), bounds=N_PEOPLE)
    twice: float = param(0.126, mark("Pairs with two labels, in percent"), bounds=_SHARE)
    thrice: float = param(0.05, mark("Pairs with three labels, in percent"), bounds=_SHARE)
    validators: int = param(1, mark("Validators"), bounds=Bounds(0, most=N_PEOPLE.most))
    seconds: int = param(SECONDS, mark("Seconds for a pair"), bounds=AT_LEAST_ONE)

    @property
    def overlap(self) -> dict[int, float]:
        """Shares of the pairs by their number of labels, as `Assign` takes them."""
        return {n_labels: share for n_labels, share in ((2, self.twice), (3, self.thrice)) if share}


@dataclass(frozen=True)
class SurveyDraft(Checked):
    """Question of a survey on each statement, and whom it asks; `answers` are the names of yes, no and neither."""

    step: ClassVar[str] = "plan"
    questions: tuple[str, ...] = field(metadata={"help": mark("Questions about each statement")})
    answers: tuple[str, ...]
    part: int | None = param(None, mark("People for each statement"), bounds=AT_LEAST_ONE)
    as_list: bool = param(False, mark("Show a list of statements on each screen instead of one"))
    suggest: str = param("", mark("Last question, answered in one’s own words"))
    respondents: int = param(30, mark("Respondents"), bounds=N_PEOPLE)
    seed: int = param(0, mark("Seed of every draw"), bounds=_COUNT)
    seconds: int = param(10, mark("Seconds for an answer"), bounds=AT_LEAST_ONE)


@dataclass(frozen=True)
class PeopleDraft(Checked):
    """People who take part, by role, under pseudonyms."""

    step: ClassVar[str] = "people"
    annotators: tuple[str, ...] = ()
    adjudicators: tuple[str, ...] = ()
    validators: tuple[str, ...] = ()
    respondents: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody."""
        return (*self.annotators, *self.adjudicators, *self.validators, *self.respondents)


@dataclass(frozen=True)
class GuidelinesDraft(Checked):
    """The file of the guidelines, named by fcpair; empty where they are to be written later."""

    step: ClassVar[str] = "guidelines"
    file: str = ""


@dataclass(frozen=True)
class BegunDraft(Checked):
    """Person who had the study built; until it is, that was interrupted or failed."""

    step: ClassVar[str] = "start"
    by: str


DraftPart = (
    TableDraft | ColumnsDraft | StatementsDraft | PlanDraft | SurveyDraft | PeopleDraft | GuidelinesDraft | BegunDraft
)


def parts_of(kind: StudyKind) -> tuple[type[DraftPart], ...]:
    """The parts of a draft, in the order of the steps, by what is made of the table."""
    if kind == "survey":
        return (TableDraft, StatementsDraft, SurveyDraft, PeopleDraft, GuidelinesDraft, BegunDraft)
    return (TableDraft, ColumnsDraft, PlanDraft, PeopleDraft, GuidelinesDraft, BegunDraft)


@dataclass(frozen=True)
class Draft:
    """The whole draft. A step that is not done is None; `version` is the run that changed it last, 0 before any did."""

    version: int = 0
    table: TableDraft | None = None
    columns: ColumnsDraft | StatementsDraft | None = None
    plan: PlanDraft | SurveyDraft | None = None
    people: PeopleDraft | None = None
    guidelines: GuidelinesDraft | None = None
    start: BegunDraft | None = None

    @property
    def kind(self) -> StudyKind:
        """The kind of study that the table becomes: pairs, until it is uploaded for something else."""
        return self.table.kind if self.table else "pairs"

    @property
    def next_step(self) -> str:
        """The first step that is not done."""
        return next((part.step for part in parts_of(self.kind) if getattr(self, part.step) is None), BegunDraft.step)


@dataclass(frozen=True)
class TablePreview:
    """A table as the study would read it: the number of its rows and of distinct texts, and some `pairs` as people will
    see them; of a survey the statements alone, which are its first texts. `problem` says why it cannot be read; then
    the rest is empty.
    """

    n_rows: int = 0
    n_hs: int = 0
    n_cn: int = 0
    pairs: tuple[tuple[str, ...], ...] = ()
    metadata: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class PlanFigures:
    """The size of a planned study; `at_most` where candidates are still to be retrieved, and may be fewer."""

    n_hs: int
    n_cn: int
    n_cells: int
    at_most: bool
    by_labels: dict[int, int]
    n_labels: int
    labels_each: int
    hours_each: float
    verdicts_each: int
    verdict_hours_each: float
    even_shares: tuple[int, ...]


@dataclass(frozen=True)
class SurveyFigures:
    """The size of a survey: its statements and answers, and what each respondent gives."""

    n_statements: int
    n_questions: int
    n_answers: int
    answers_each: int
    hours_each: float

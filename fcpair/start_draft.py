"""The draft of a study that a lead makes in the browser: what each step has settled, before anything is built of it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple

from fcpair.param_values import AT_LEAST_ONE, N_PEOPLE, Bounds, Checked, param
from fcpair.params import Assign, CorpusFormat, Encoding, Pair, Retrieve, Select, Separator, ShardOrder
from fcpair.sentences import mark

PlanKind = Literal["retrieved", "full"]
StudyKind = Literal["pairs", "tags", "write", "curate", "rate", "survey", "recipe"]
Meaning = Literal["negative", "positive", "unsure"]
AnswerKind = Literal["labels", "scale"]
ScaleStep = Literal["1", "0.5"]
MOST_LABELS = 9  # as many as there are keys
SECONDS = 60  # that a pair takes, where nobody knows better
_SHARE = Bounds(0, most=1)
_COUNT = Bounds(0)
_SOME_PEOPLE = Bounds(0, most=N_PEOPLE.most)
PARTS = ASKED, WHO, MORE = "asked", "who", "more"  # the parts of the page on which a plan is made


@dataclass(frozen=True)
class TaskDraft(Checked):
    """What people do in the study."""

    step: ClassVar[str] = "task"
    kind: StudyKind


@dataclass(frozen=True)
class RecipeDraft(Checked):
    """The folder, named by fcpair, of a recipe and the files that it names, which were uploaded by their names."""

    step: ClassVar[str] = "table"
    folder: str
    files: tuple[str, ...] = ()

    @property
    def recipe(self) -> str:
        """The file of the recipe; empty where there is none, or several."""
        recipes = [name for name in self.files if name.lower().endswith(".toml")]
        return recipes[0] if len(recipes) == 1 else ""


@dataclass(frozen=True)
class FileDraft(Checked):
    """An uploaded file: its file, named by fcpair, the name that it came with, and how it is read, as `Import` says."""

    file: str
    name: str
    _: KW_ONLY
    sheet_name: str | None = None
    encoding: Encoding | None = None
    separator: Separator | None = None
    no_header: bool = False


@dataclass(frozen=True)
class TableDraft(FileDraft):
    """The table that was uploaded; with a `second` for the second texts, or `waits` for it."""

    step: ClassVar[str] = "table"
    _: KW_ONLY
    second: FileDraft | None = None
    waits: bool = False

    @property
    def files(self) -> tuple[FileDraft, ...]:
        """The table, or both."""
        first = FileDraft(**{item.name: getattr(self, item.name) for item in fields(FileDraft)})
        return (first, self.second) if self.second else (first,)

    def with_files(self, first: FileDraft, second: FileDraft | None = None) -> TableDraft:
        """The same of other files."""
        return replace(self, **{item.name: getattr(first, item.name) for item in fields(FileDraft)}, second=second)


@dataclass(frozen=True)
class ColumnsDraft(Checked):
    """Meaning of the table's columns, and names of the sides."""

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


@dataclass(frozen=True)
class StatementsDraft(Checked):
    """Column of the table with its texts, such as the statements of a survey; the others stay with them."""

    step: ClassVar[str] = "columns"
    statement: str
    title: str = ""


@dataclass(frozen=True)
class Label(Checked):
    """A label that a pair can get, what it means for the pair, and a key and a colour of its own, if it has any."""

    name: str
    meaning: Meaning = "negative"
    key: str = ""
    colour: str = ""


LABELS = (Label("not_appropriate"), Label("not_sure", "unsure"), Label("appropriate", "positive"))
RELEVANCE = (Label("not relevant"), Label("relevant", "positive"))
ASKED_OF = {  # what is asked of pairs unless somebody says otherwise, by words in what texts and columns are called
    r"hate|counter|\bhs|\bcn": (mark("Is this %(cn)s an appropriate reply to this %(hs)s?"), LABELS),
    r"quer(y|ies)|topic|passage|document|\bdoc": (mark("Is this %(cn)s relevant to this %(hs)s?"), RELEVANCE),
    "": (mark("Does this %(cn)s fit this %(hs)s?"), (Label("no"), Label("yes", "positive"))),
}


def _same(cls: type, name: str, label: str, **more: str) -> Any:
    """A parameter of a stage, with its default and help, or `more`, among what a lead may set besides."""
    item = {item.name: item for item in fields(cls)}[name]
    metadata = {key: value for key, value in item.metadata.items() if key not in ("needs", "idle_with")}
    return field(default=item.default, metadata={**metadata, "label": label, "part": MORE, **more})


LISTED = mark("each by its words or its id, on a line of its own")


def _lines(default: tuple[str, ...], label: str, part: str = ASKED, help: str = mark("one on each line")) -> Any:
    return param(default, help, label=label, rows=max(len(default) + 1, 3), part=part)


@dataclass(frozen=True)
class PlanDraft(Checked):
    """Labels, grid and who answers: `twice` and `thrice` are the shares of pairs that get two and three labels."""

    step: ClassVar[str] = "plan"
    kind: PlanKind = param("retrieved", mark("Which pairs"))
    hs: int = param(1, mark("First texts to draw"), bounds=AT_LEAST_ONE)
    k: int = param(2, mark("Neighbours of each known second text"), bounds=AT_LEAST_ONE)
    candidates: int | None = param(None, mark("Candidates to draw"), bounds=AT_LEAST_ONE)
    seed: int = param(0, mark("Seed of every draw"), bounds=_COUNT, part=MORE)
    annotators: int = param(3, mark("Annotators"), bounds=N_PEOPLE)
    twice: float = param(0.2, mark("Pairs with two labels, in percent"), bounds=_SHARE)
    thrice: float = param(0.05, mark("Pairs with three labels, in percent"), bounds=_SHARE)
    validators: int = param(1, mark("Validators"), bounds=_SOME_PEOPLE)
    seconds: int = param(SECONDS, mark("Seconds for a pair"), bounds=AT_LEAST_ONE)
    question: str = param("", mark("Question"), rows=2)
    answer: AnswerKind = param("labels", mark("How pairs are answered"))
    labels: tuple[Label, ...] = LABELS
    low: int = param(1, mark("Lowest number"), bounds=_COUNT)
    high: int = param(5, mark("Highest number"), bounds=_COUNT)
    by: ScaleStep = param("1", mark("Step"))
    positive: int = param(4, mark("Positive from"), bounds=_COUNT)
    hs_list: tuple[str, ...] = _lines((), mark("First texts to take; none are drawn then"), MORE, LISTED)
    cn_list: tuple[str, ...] = _lines((), mark("Second texts to take; none are searched then"), MORE, LISTED)
    stratify: str | None = _same(Select, "stratify", mark("Strata"), help=mark("a column whose shares the draw keeps"))
    model: str = _same(Retrieve, "model", mark("Model that finds candidates"))
    keep_known: bool = _same(Pair, "keep_known", mark("Pairs of the table, too"))
    merge: bool = _same(Pair, "merge", mark("One spelling of each text"))
    sample: int | None = _same(Pair, "sample", mark("Pairs to draw"), help=mark("as evenly as possible; all if empty"))
    order: ShardOrder = _same(Assign, "order", mark("Order"), help=mark("the order in which pairs are shown"))
    open: bool = _same(Assign, "open", mark("Open to volunteers"))

    @property
    def overlap(self) -> dict[int, float]:
        """Shares of the pairs by their number of labels, as `Assign` takes them."""
        return {n_labels: share for n_labels, share in ((2, self.twice), (3, self.thrice)) if share}


def _asked(default: Any, help: str, **more: Any) -> Any:
    return param(default, help, part=ASKED, **more)


def _who(default: int | None, help: str, bounds: Bounds = AT_LEAST_ONE) -> Any:
    return param(default, help, part=WHO, bounds=bounds)


@dataclass(frozen=True)
class TagsDraft(Checked):
    """Labels of which a pair of the two sides can get several, and who gives them."""

    step: ClassVar[str] = "plan"
    question: str = _asked("Which of these hold?", mark("Question"), rows=2)
    labels: tuple[str, ...] = _lines(("polite", "to the point", "factual"), mark("Labels"))
    least: int = _asked(0, mark("Labels that a pair must get at least"), bounds=_COUNT)
    cells: int | None = _who(None, mark("Pairs to draw; all if empty"))
    annotators: int = _who(3, mark("Annotators"), N_PEOPLE)
    answers: int = _who(1, mark("Annotators for each pair"))
    seconds: int = _who(SECONDS, mark("Seconds for a pair"))
    seed: int = param(0, mark("Seed of every draw"), bounds=_COUNT, part=MORE)


@dataclass(frozen=True)
class WriteDraft(Checked):
    """What is written to each text, who writes, and who rates what was written."""

    step: ClassVar[str] = "plan"
    question: str = _asked("Your reply", mark("Question"), rows=2)
    kinds: tuple[str, ...] = _lines(("facts", "humour", "a question"), mark("Kinds of text that are written to each"))
    min_words: int = _asked(6, mark("Least number of words"), bounds=_COUNT)
    max_words: int | None = _asked(60, mark("Greatest number of words"), bounds=AT_LEAST_ONE)
    writers: int = _who(3, mark("Writers"), N_PEOPLE)
    answers: int = _who(1, mark("Writers for each text and kind"))
    raters: int = _who(2, mark("Raters of what was written; 0 for none"), _SOME_PEOPLE)
    criteria: tuple[str, ...] = _lines(("to the point", "kind"), mark("Criteria on which raters judge, from 1 to 5"))
    seconds: int = _who(120, mark("Seconds for a text"))
    seed: int = param(0, mark("Seed of every draw"), bounds=_COUNT, part=MORE)


@dataclass(frozen=True)
class CurateDraft(Checked):
    """What people look for in replies that are there, which they accept, edit or reject."""

    step: ClassVar[str] = "plan"
    question: str = _asked("Can this reply be used?", mark("Question"), rows=2)
    reasons: tuple[str, ...] = _lines(("off topic", "not true", "rude"), mark("Reasons to reject a text"))
    min_words: int = _asked(3, mark("Least number of words"), bounds=_COUNT)
    annotators: int = _who(3, mark("Curators"), N_PEOPLE)
    answers: int = _who(1, mark("Curators for each text"))
    seconds: int = _who(SECONDS, mark("Seconds for a text"))
    seed: int = param(0, mark("Seed of every draw"), bounds=_COUNT, part=MORE)


@dataclass(frozen=True)
class RateDraft(Checked):
    """Criteria on which texts are rated by numbers, and who rates."""

    step: ClassVar[str] = "plan"
    criteria: tuple[str, ...] = _lines(("Is it to the point?", "Is it kind?"), mark("Criteria"))
    low: int = _asked(1, mark("Lowest number"), bounds=_COUNT)
    high: int = _asked(5, mark("Highest number"), bounds=_COUNT)
    by: ScaleStep = _asked("1", mark("Step"))
    positive: int = _asked(4, mark("Positive from"), bounds=_COUNT)
    raters: int = _who(3, mark("Raters"), N_PEOPLE)
    answers: int = _who(2, mark("Raters for each text"))
    seconds: int = _who(20, mark("Seconds for a rating"))
    seed: int = param(0, mark("Seed of every draw"), bounds=_COUNT, part=MORE)


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
    writers: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    annotator_groups: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody."""
        return tuple(name for group in GROUPS for name in getattr(self, group))


GROUPS = ("annotators", "adjudicators", "validators", "respondents", "writers", "raters")
"""The fields of a draft of people: a role each, by which a plan has their number, too."""


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


TextsDraft = TagsDraft | WriteDraft | CurateDraft | RateDraft
"""The plan of a study whose grids are planned from what its table has, and no survey."""
AnyPlan = PlanDraft | SurveyDraft | TextsDraft
_LastDraft = PeopleDraft | GuidelinesDraft | BegunDraft
DraftPart = TaskDraft | RecipeDraft | TableDraft | ColumnsDraft | StatementsDraft | AnyPlan | _LastDraft


class Task(NamedTuple):
    """What people may do: how it is offered, which parts its draft has of its own, and who takes part."""

    name: str
    about: str
    example: str
    parts: tuple[type[Any], ...]
    groups: tuple[str, ...] = ()


TASKS: dict[StudyKind, Task] = {
    "pairs": Task(
        mark("Label pairs"),
        mark("Each pair of two texts gets one label, or a number on a scale; labels become decisions and tiers."),
        mark("Does this reply fit the message? not appropriate, not sure, appropriate"),
        (TableDraft, ColumnsDraft, PlanDraft),
        ("annotators", "adjudicators", "validators"),
    ),
    "tags": Task(
        mark("Label pairs, several labels at once"),
        mark("Each pair of two texts gets as many labels as hold."),
        mark("Which of these hold? polite, factual, to the point"),
        (TableDraft, ColumnsDraft, TagsDraft),
        ("annotators",),
    ),
    "write": Task(
        mark("Write"),
        mark("People write to each text, in the kinds that you name; others can rate what was written."),
        mark("Answer this message with facts, in 6 to 60 words"),
        (TableDraft, StatementsDraft, WriteDraft),
        ("writers", "raters"),
    ),
    "curate": Task(
        mark("Curate"),
        mark("Each text has a reply, such as one of a model, which people accept, edit or reject with a reason."),
        mark("Can this reply be used? accept, edit, or reject: off topic"),
        (TableDraft, ColumnsDraft, CurateDraft),
        ("annotators",),
    ),
    "rate": Task(
        mark("Rate"),
        mark("Each text gets a number on each of your criteria."),
        mark("Is it kind? 1 to 5"),
        (TableDraft, StatementsDraft, RateDraft),
        ("raters",),
    ),
    "survey": Task(
        mark("Answer a survey"),
        mark("Everybody is asked the same of each statement."),
        mark("Have you heard this said? yes, no, I would rather not say"),
        (TableDraft, StatementsDraft, SurveyDraft),
        ("respondents",),
    ),
    "recipe": Task(
        mark("Take a recipe"),
        mark("A recipe says everything already; upload it with the files that it names."),
        mark("recipe.toml of another study, and its table"),
        (RecipeDraft,),
        GROUPS,
    ),
}


def parts_of(kind: StudyKind) -> tuple[type[Any], ...]:
    """The parts of a draft, in the order of the steps, by what people do."""
    own_guidelines = () if kind == "recipe" else (GuidelinesDraft,)
    return (TaskDraft, *TASKS[kind].parts, PeopleDraft, *own_guidelines, BegunDraft)


@dataclass(frozen=True)
class Draft:
    """The whole draft. A step that is not done is None; `version` is the run that changed it last, 0 before any did."""

    version: int = 0
    task: TaskDraft | None = None
    table: TableDraft | RecipeDraft | None = None
    columns: ColumnsDraft | StatementsDraft | None = None
    plan: AnyPlan | None = None
    people: PeopleDraft | None = None
    guidelines: GuidelinesDraft | None = None
    start: BegunDraft | None = None

    @property
    def kind(self) -> StudyKind:
        """What people do: they label pairs, until something else is chosen."""
        return self.task.kind if self.task else "pairs"

    @property
    def has_pairs(self) -> bool:
        """Return whether the table, or two, have two texts for each other."""
        return ColumnsDraft in TASKS[self.kind].parts

    @property
    def takes_two(self) -> bool:
        """Return whether the two texts may come from two tables; a text and the reply to it share a row of one."""
        return self.kind in ("pairs", "tags")

    @property
    def next_step(self) -> str:
        """The first step that is not done."""
        if isinstance(self.table, TableDraft) and self.table.waits:
            return TableDraft.step
        return next((part.step for part in parts_of(self.kind) if getattr(self, part.step) is None), BegunDraft.step)


BUILD_STAGES = ("import", "select", "retrieve", "pair", "assign")
SURVEY_STAGES = ("grid", "assign")
EXAMPLE_STAGES = ("annotate", "simulate", "adjudicate", "validate", "simulate", "agreement", "partition", "evaluate")
# How long stages take in a study of some size, for those that take longer than one second.
STAGE_SECONDS = {"import": 6.0, "pair": 8.0, "assign": 12.0, "simulate": 6.0, "adjudicate": 5.0, "evaluate": 5.0}


def build_stages(draft: Draft, *, is_example: bool = False) -> list[tuple[str, float]]:
    """The stages of which a build, of a draft or of the example, is made, in their order; and how long each takes,
    roughly and in proportion.
    """
    finds_candidates = not is_example and isinstance(draft.plan, PlanDraft) and draft.plan.kind == "retrieved"
    is_planned = draft.kind not in ("pairs", "recipe") and not is_example
    of_start = SURVEY_STAGES if is_planned else BUILD_STAGES
    seconds = STAGE_SECONDS | {"retrieve": 60.0 if finds_candidates else 1.0}
    names = ("init", *of_start, *(EXAMPLE_STAGES if is_example else ()))
    return [(name, seconds.get(name, 1.0)) for name in names]


@dataclass(frozen=True)
class TablePreview:
    """A table as the study would read it: the number of its rows, of distinct texts, and of pairs that it has, and some
    `pairs` as people will see them, which are any two texts where it has none; of a survey the statements alone, which
    are its first texts. `problem` says why it cannot be read; then the rest is empty.
    """

    n_rows: int = 0
    n_hs: int = 0
    n_cn: int = 0
    n_known: int = 0
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
    n_spellings: int  # texts of the table that are spellings of earlier ones, and whether they are left out
    merges: bool


@dataclass(frozen=True)
class SurveyFigures:
    """The size of a survey: its statements and answers, and what each respondent gives."""

    n_statements: int
    n_questions: int
    n_answers: int
    answers_each: int
    hours_each: float


class RoundFigures(NamedTuple):
    """The size of what a group of people does in a round: its answers, and the share of each."""

    group: str
    n_answers: int
    answers_each: int
    hours_each: float


class TaskFigures(NamedTuple):
    """The size of a study whose grids are planned: its texts, and each round of people."""

    n_texts: int
    rounds: tuple[RoundFigures, ...]

"""The parameters of each stage: names, defaults and explanations, in one place.

A recipe file, the command line and the library all fill these classes. What only a floor above can check, such as
whether a system or a measure exists, is checked by the step, and by the recipe that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from fcpair.errors import InputError, suggest_name
from fcpair.param_values import (
    AT_LEAST_ONE,
    N_PEOPLE,
    PROBABILITY,
    Bounds,
    Checked,
    as_plain,
    check_rules,
    field_default,
    field_readers,
    invalid_value,
    is_required,
    param,
    table,
)
from fcpair.records import TIERS, TOPIC_SPLIT
from fcpair.sentences import mark, say
from fcpair.tier_plans import OwnTiers, plain_tiers

DEFAULT_MODEL = "all-MiniLM-L6-v2"
DEFAULT_SCHEME = "one_of(not_appropriate,not_sure?,appropriate+)"
DEFAULT_MEASURES = ("HitRatio", "MRR", "NDCG", "MAP", "judged")
Labels = Annotated[str, "the printed form of a question; a recipe may have its choices as tables instead"]
Flagging = Literal["set", "remove"]
Weights = Literal["none", "linear", "quadratic"]
IntervalScope = Literal["texts", "annotators"]
AgreementBlocks = Literal["grid", "column", "row"]
Encoding = Literal["utf-8", "utf-16", "windows-1252", "windows-1256", "windows-1250", "windows-1251", "iso-8859-1"]
Separator = Literal["comma", "semicolon", "tab", "pipe"]
CorpusFormat = Literal["conan", "mt-conan", "csv", "jsonl", "parquet", "xlsx", "ods"]
ShardOrder = Literal["random", "hs"]
CaseRanking = Literal["row", "doubt"]
Indefinite = Literal["class", "drop"]
CalibrationCounts = Literal["neither", "first", "second"]
Folding = Literal["none", "arabic"]
Policy = Literal["manual", "majority", "median"]
Ties = Literal["wait", "discard"]
DiamondRule = Literal["unanimous", "majority"]
Relabelling = Literal["rename", "merge", "split", "add"]
MethodsFormat = Literal["markdown", "latex"]
FigureWidth = Literal["page", "column"]
PlannedFigure = Literal["alpha", "fleiss", "mean-kappa"]
Backend = Literal["torch", "onnx"]
Ids = Literal["own", "study"]
NoPositives = Literal["zero", "leave_out"]
RESAMPLES = 10_000
MEMORY_MB = 512  # for comparing texts with each other; more makes nothing faster
MOST_EFFECT = 100  # standard deviations of what a pair is like: beyond it, every label depends on the person alone
LONGEST_NAME = 60  # of a person, a grid or a round: a sheet is named for it, and a file name holds 255 bytes
MOST_GUIDELINES = 2 * 1024 * 1024  # bytes of the guidelines, as UTF-8
USUAL_S = 30.0  # seconds that a label is taken to need, as long as none was measured
DEFAULT_SERVER_URL = "http://127.0.0.1:8000"  # `fcpair serve`, as long as it is told nothing else


# What parameters of several classes mean.
ANNOTATORS_HELP = "how many annotators; if not given, those that `people` lists"
IDS_HELP = (
    "which ids of texts a file has. The corpus's own, or the study's numbers; by default own on a side of which every "
    "text has one"
)
LEVEL_HELP = "confidence level of all intervals, between 0 and 1"
NOT_SURE_HELP = "probability that an annotator is not sure"
SYSTEMS_HELP = "a system, such as tfidf, bm25(k1=1.2) or sbert:all-MiniLM-L6-v2; may be repeated"
HS_EFFECT_HELP = "share of the differences between pairs that HS explain"
CN_EFFECT_HELP = "share of the differences between pairs that CN explain"
ANNOTATOR_EFFECT_HELP = "standard deviation of how lenient annotators are, where that of pairs is 1"


class Seeded(Checked):
    """Checks the seed of a stage, too; raises InputError for one that cannot be used."""

    seed: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed < 0:
            raise InputError(f"seed is {self.seed}; expected a whole number, 0 or more")


@dataclass(frozen=True)
class Setup(Checked):
    """Facts about the study that are shown to the people who take part."""

    stage: ClassVar[str] = "init"
    title: str = param("", "the study's title")
    guidelines: Path | None = param(None, "a Markdown file with the annotation guidelines")
    hs_name: str = param("hate speech", "what the query side is called")
    cn_name: str = param("counter-narrative", "what the candidate side is called")
    scheme: Labels = param(DEFAULT_SCHEME, "the question that the labels answer")
    folding: Folding = param(
        "none", "which spellings are the same text: arabic folds yeh, kaf, spaces, kashida and vowel signs"
    )


FORMAT_BY_SUFFIX: dict[str, CorpusFormat] = {".csv": "csv", ".parquet": "parquet", ".xlsx": "xlsx", ".ods": "ods"}
FORMAT_BY_SUFFIX |= {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}


def format_of(path: Path) -> CorpusFormat:
    """The format of a table with named columns by the suffix of its name; any other suffix means CSV."""
    return FORMAT_BY_SUFFIX.get(path.suffix.lower(), "csv")


SHEET_HELP = "the sheet of a workbook that is read. If not given, the one with the columns"
ENCODING_HELP = "the encoding of a text file. If not given, UTF-8, or UTF-16 where the file begins with its mark"
SEPARATOR_HELP = "what separates the cells of a CSV. If not given, what separates most of its column names"
NO_HEADER_HELP = "the first row has no names: columns are called `column 1`, `column 2` and so on"
_PUBLISHED = ("reader=conan", "reader=mt-conan")  # whose columns have names of their own


@dataclass(frozen=True)
class Import(Checked):
    """The source of the pairs that a study starts from."""

    stage: ClassVar[str] = "import"
    path: Path = field(metadata={"help": "the corpus file"})
    reader: CorpusFormat | None = param(None, "the kind of file that is read. If not given, its suffix says so")
    only_language: str | None = param(None, "keep this language only, such as en")
    hs_column: str = param("hs", "the column of the HS", idle_with=_PUBLISHED)
    cn_column: str = param("cn", "the column of the CN", idle_with=_PUBLISHED)
    hs_id_column: str | None = param(
        None, "the column of the HS's own ids; `hs_id` if there is one", idle_with=_PUBLISHED
    )
    cn_id_column: str | None = param(
        None, "the column of the CN's own ids; `cn_id` if there is one", idle_with=_PUBLISHED
    )
    unpaired: bool = param(False, "treat a row whose HS or CN is empty as an unpaired text", idle_with=("cn_path",))
    language_column: str | None = param(
        None, "the column of the language; `language` if there is one", idle_with=_PUBLISHED
    )
    sheet_name: str | None = param(None, SHEET_HELP)
    encoding: Encoding | None = param(None, ENCODING_HELP)
    separator: Separator | None = param(None, SEPARATOR_HELP)
    no_header: bool = param(False, NO_HEADER_HELP, idle_with=_PUBLISHED)
    cn_path: Path | None = param(
        None, "a table with the CN, where that of the corpus has the HS alone; there are no pairs", idle_with=_PUBLISHED
    )
    cn_sheet_name: str | None = param(None, "the sheet with the CN of a workbook", needs=("cn_path",))
    cn_encoding: Encoding | None = param(None, "the encoding of the table with the CN", needs=("cn_path",))
    cn_separator: Separator | None = param(None, "what separates cells in the table with the CN", needs=("cn_path",))
    cn_no_header: bool = param(False, "the first row of the table with the CN has no names", needs=("cn_path",))


@dataclass(frozen=True)
class Select(Seeded):
    """The HS that the study is about."""

    stage: ClassVar[str] = "select"
    hs: int | None = param(None, "number of HS to draw", bounds=AT_LEAST_ONE)
    hs_list: Path | None = param(None, "a file with the HS to take, in a column `hs`")
    stratify: str | None = param(
        None, mark("a metadata column whose values keep their shares among the drawn HS"), idle_with=("hs_list",)
    )
    seed: int = param(0, "random seed", idle_with=("hs_list",))
    sheet_name: str | None = param(None, SHEET_HELP, needs=("hs_list",))
    ids: Ids | None = param(None, IDS_HELP, needs=("hs_list",))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hs is not None and self.hs_list is not None:
            raise InputError("give either how many HS to draw (--hs N) or a list of them (--hs-list FILE)")


_MEMORY = Bounds(16)
_NOT_ENCODED = ("cn_list", "every_cn", "runs")


@dataclass(frozen=True)
class Retrieve(Checked):
    """Parameters for retrieving candidates."""

    stage: ClassVar[str] = "retrieve"
    k: int = param(2, "number of nearest CNs to take for each source CN", bounds=AT_LEAST_ONE, idle_with=_NOT_ENCODED)
    model: str = param(DEFAULT_MODEL, mark("a sentence-transformers model: a name or a folder"), idle_with=_NOT_ENCODED)
    backend: Backend = param(
        "torch", "what runs the model: torch, or ONNX Runtime, which is faster on a CPU", idle_with=_NOT_ENCODED
    )
    count_duplicates: bool = param(False, "count neighbours over corpus rows, as FC-CONAN did", idle_with=_NOT_ENCODED)
    cn_list: Path | None = param(None, "a file with the candidates to take, in a column `cn`. Nothing is encoded then")
    every_cn: bool = param(False, "take every CN of the corpus; nothing is encoded then")
    runs: tuple[Path, ...] = param(
        (),
        "a TREC run whose top to take; may be repeated. Nothing is encoded then",
    )
    depth: int = param(
        10, "number of CNs of each HS to take from the top of a run", bounds=AT_LEAST_ONE, needs=("runs",)
    )
    memory_mb: int = param(
        MEMORY_MB,
        "memory in MB that comparisons may use beside the vectors; results do not depend on it",
        bounds=_MEMORY,
        shapes=False,
        idle_with=_NOT_ENCODED,
    )
    dask: str | None = param(
        None,
        "work on a Dask cluster: its scheduler's address, or local:N for N processes here",
        shapes=False,
        idle_with=_NOT_ENCODED,
    )
    sheet_name: str | None = param(None, SHEET_HELP, needs=("cn_list",))
    ids: Ids | None = param(None, IDS_HELP, needs=("cn_list", "runs"))

    def __post_init__(self) -> None:
        super().__post_init__()
        named = self.cn_list is not None
        check_rules(
            (
                named and self.runs,
                "give either a list of candidates (--cn-list FILE) or runs to take them from (--run FILE)",
            ),
            (
                self.every_cn and (named or self.runs),
                "with every CN of the corpus (--every-cn), omit the list (--cn-list) and the runs (--run)",
            ),
        )


@dataclass(frozen=True)
class Pair(Seeded):
    """The candidates that go into the grid."""

    stage: ClassVar[str] = "pair"
    candidates: int | None = param(None, "number of candidates to draw; all if not given", bounds=AT_LEAST_ONE)
    keep_known: bool = param(False, mark("also assign pairs that occur in the corpus"))
    sample: int | None = param(
        None,
        mark("number to draw at random; all if not given. The cells are spread over HS and CN as evenly as possible"),
        bounds=AT_LEAST_ONE,
    )
    seed: int = param(0, "random seed", needs=("candidates", "sample"))
    merge: bool = param(
        False, mark("keep only the first of texts that differ by case, spaces, quotes, signs or Unicode form alone")
    )
    similar: float | None = param(
        None, "also count texts as the same whose cosine is at least so much, such as 0.95; encodes those of both sides"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.similar is not None and not 0 < self.similar <= 1:
            raise InputError(f"similar is {self.similar:g}; expected a cosine above 0, at most 1, such as 0.95")


@dataclass(frozen=True)
class Extend(Seeded):
    """The rows and columns that a grid takes besides those that it has."""

    stage: ClassVar[str] = "extend"
    hs: int | None = param(None, "number of HS to draw", bounds=AT_LEAST_ONE)
    hs_list: Path | None = param(None, "a file with the HS to take, in a column `hs`", idle_with=("hs",))
    cn_list: Path | None = param(None, "a file with the candidates to take, in a column `cn`", also=("--cn",))
    runs: tuple[Path, ...] = param(
        (), "a TREC run whose top to take; may be repeated. CNs that are in the grid already add nothing"
    )
    depth: int | None = param(
        None,
        "number of CNs of each HS to take from the top of a run",
        otherwise="as many as the study's measures read, so that nothing they read is unjudged",
        bounds=AT_LEAST_ONE,
        needs=("runs",),
    )
    new_texts: bool = param(False, "add texts of the lists that the study does not have", needs=("hs_list", "cn_list"))
    sample: int | None = param(
        None,
        "number to draw at random; all if not given. For a grid of drawn cells, by default the share that it has",
        bounds=AT_LEAST_ONE,
    )
    seed: int = param(0, "random seed")
    sheet_name: str | None = param(None, SHEET_HELP, needs=("hs_list", "cn_list"))
    ids: Ids | None = param(None, IDS_HELP, needs=("hs_list", "cn_list", "runs"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.hs or self.hs_list or self.cn_list or self.runs):
            raise InputError.say(
                "say what the grid is to take: further HS (--hs N or --hs-list FILE), or CNs (--cn FILE or --run FILE)"
            )


@dataclass(frozen=True)
class Assign(Seeded):
    """Parameters for assigning pairs to annotators."""

    stage: ClassVar[str] = "assign"
    of_first_deal: ClassVar[tuple[str, ...]] = ("annotators", "overlap", "annotator_groups", "open")
    annotators: int | None = param(None, ANNOTATORS_HELP, bounds=N_PEOPLE)
    overlap: Mapping[int, float] = table("labels per pair and the share of pairs that get that many, such as 2:0.126")
    annotator_groups: tuple[tuple[str, ...], ...] = param(
        (), "annotators who share the overlapping pairs, such as ana,ben", needs=("overlap",), idle_with=("open",)
    )
    order: ShardOrder = param(
        "random", mark("the order in which pairs are shown. Shuffled, or one HS at a time"), idle_with=("open",)
    )
    seed: int = param(0, "random seed")
    open: bool = param(False, mark("hand out pairs on request, for volunteers who come and go"))
    lease_minutes: int = param(
        30, "with open assignment, minutes for which pairs are kept for somebody who does not answer", needs=("open",)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self.overlap)
        if self.lease_minutes < 1:
            raise InputError(f"lease_minutes is {self.lease_minutes}; expected 1 or more")
        check_distinct_spelling(name for group in self.annotator_groups for name in group)


@dataclass(frozen=True)
class Further(Checked):
    """Standing rules by which further people are asked about a pair, once all its labels are in."""

    stage: ClassVar[str] = "further"
    if_tied: int = param(
        0,
        mark("further people to ask where labels tie, as where two differ"),
        label=mark("More people where labels tie"),
        bounds=Bounds(0),
    )
    if_not_sure: int = param(
        0,
        mark("further people to ask, once, where somebody is not sure"),
        label=mark("More people where somebody is not sure"),
        bounds=Bounds(0),
    )
    most: int = param(
        3,
        mark("number of labels that a pair has at most by these rules"),
        label=mark("Labels of a pair at most"),
        needs=("if_tied", "if_not_sure"),
        bounds=Bounds(2),
    )

    @property
    def asks(self) -> bool:
        """Return whether any rule asks anybody."""
        return bool(self.if_tied or self.if_not_sure)


def is_about_hate(hs_name: str) -> bool:
    """Return whether a study whose query side has this name is about hate, as pages and cards of others do not say."""
    return "hate" in hs_name.lower()


DEFAULT_CONSENT = "I have read this, I am an adult, and I take part of my own free will."
DEFAULT_TEXT_NOTE = "fcpair's own text, which mentions hate if the name of the HS does"
RIGHT_TO_STOP = "You may pause, skip pairs or stop altogether at any time, and you never have to give a reason."


def parse_people_question(question: str) -> tuple[str, tuple[str, ...]]:
    """The label of a question about people (`Label: a | b | c`), and its options; none where it takes any words."""
    label, _, rest = question.partition(":")
    return label.strip(), tuple(option.strip() for option in rest.split("|") if option.strip())


@dataclass(frozen=True)
class Annotate(Checked):
    """The texts and questions for people who answer in the browser, and when they are to rest. Texts are Markdown."""

    stage: ClassVar[str] = "annotate"
    about: str = param(
        "", mark("what the study is about, for those who take part"), label=mark("About the study"), rows=3
    )
    warning: str | None = param(
        None,
        mark("the content warning at the first visit"),
        otherwise=DEFAULT_TEXT_NOTE,
        label=mark("Content warning"),
        rows=3,
    )
    consent: str = param(
        DEFAULT_CONSENT, mark("the sentence that people agree to"), label=mark("Sentence that people agree to"), rows=2
    )
    thanks: str | None = param(
        None,
        mark("the text at the end, with a debriefing if there is one"),
        otherwise=DEFAULT_TEXT_NOTE,
        label=mark("Text at the end"),
        rows=3,
    )
    contact: str = param(
        "",
        mark("whom to contact for support, such as a name and a telephone number"),
        label=mark("Contact for support"),
    )
    demographics: tuple[str, ...] = param(
        (),
        mark("an optional question about people, such as `Age: 18-29 | 30 or more`"),
        label=mark("Questions about oneself, one on each line"),
        rows=3,
    )
    compare: tuple[str, ...] = param(
        (),
        mark("a question about people whose answers define groups to compare; declared before anybody answers"),
        label=mark("Questions whose answers define groups to compare, one on each line"),
        rows=3,
    )
    opt_out: str | None = param(
        None,
        mark("a metadata column whose topics people can opt out of reading"),
        label=mark("Metadata column whose topics people can opt out of"),
    )
    opt_out_split: str = param(
        TOPIC_SPLIT,
        mark("the characters at which a value of that column is split into topics"),
        needs=("opt_out",),
        label=mark("Characters at which a value of that column is split into topics"),
    )
    pause_pairs: int = param(
        50, mark("after how many pairs a pause is suggested"), label=mark("Pairs until a pause is suggested")
    )
    pause_minutes: int = param(
        20,
        mark("after how many minutes of work a pause is suggested"),
        label=mark("Minutes until a pause is suggested"),
    )
    daily_limit: int | None = param(
        None,
        mark("how many pairs one person may read in a day; no limit if not given"),
        label=mark("Pairs that one person may read in a day"),
    )
    total_limit: int | None = param(
        None,
        mark("how many pairs one person may read in all; no limit if not given"),
        label=mark("Pairs that one person may read in all"),
    )
    offline: bool = param(
        True,
        mark("whether browsers keep 50 pairs ahead, to go on without a connection"),
        label=mark("Browsers keep 50 pairs ahead, to go on without a connection"),
    )

    def worded(self, hs_name: str) -> Annotate:
        """The same with fcpair's own words in place of a warning or thanks that are not given."""
        hate = is_about_hate(hs_name)
        texts = "can be hateful, insulting or upsetting" if hate else "were written by others; some may upset you"
        thanks = (
            "Every answer helps others to answer hate. Reading it leaves traces: do something pleasant now."
            if hate
            else "Every answer counts. If something that you have read stays with you, do something pleasant now."
        )
        return replace(
            self,
            warning=f"The texts that you will read {texts}. {RIGHT_TO_STOP}" if self.warning is None else self.warning,
            thanks=f"Thank you. {thanks}" if self.thanks is None else self.thanks,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("pause_pairs", "pause_minutes", "daily_limit", "total_limit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise invalid_value(name, value, say("1 or more"))
        labels = [parse_people_question(question)[0] for question in self.demographics]
        check_unique("question", labels)
        check_unique("question", self.compare)
        if unknown := [group for group in self.compare if group not in labels]:
            known = mark("the questions are %(names)s")
            hint = suggest_name(unknown[0], labels, known) if labels else say("there are none in `demographics`")
            raise InputError.say(
                "`%(name)s` in `compare` is not a question about people; %(hint)s", name=unknown[0], hint=hint
            )


@dataclass(frozen=True)
class Simulate(Seeded):
    """Parameters for simulated answers. All but the leaning's label and the seed are probabilities from 0 to 1."""

    stage: ClassVar[str] = "simulate"
    accuracy: float = param(0.9, "probability that an annotator or a validator sees the true label", bounds=PROBABILITY)
    positive: float = param(
        0.2, "probability that a pair's true label is positive; drawn by the first run", bounds=PROBABILITY
    )
    leaning: float = param(
        0.0, "probability that an annotator gives the preferred label, whatever the true one", bounds=PROBABILITY
    )
    leaning_to: str = param(
        "appropriate", "the preferred label, given with the probability `leaning`", needs=("leaning",)
    )
    not_sure: float = param(0.05, NOT_SURE_HELP, bounds=PROBABILITY)
    skips: float = param(0.01, "probability that a person skips", bounds=PROBABILITY)
    hs_effect: float = param(0.0, HS_EFFECT_HELP, bounds=PROBABILITY)
    cn_effect: float = param(0.0, CN_EFFECT_HELP, bounds=PROBABILITY)
    annotator_effect: float = param(0.0, ANNOTATOR_EFFECT_HELP)
    seed: int = param(0, "random seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_effects(self)


_ASSUMED: Mapping[str, Any] = {"idle_with": ("pilot",)}  # of what the labels of a pilot say


@dataclass(frozen=True)
class Plan(Checked):
    """The aim of a planned overlap, and assumptions about a grid that nobody has labelled yet."""

    stage: ClassVar[str] = "plan"
    width: float | None = param(None, "greatest width of the interval", otherwise="none is recommended")
    coefficient: PlannedFigure = param("alpha", "the coefficient whose interval `--width` is about", needs=("width",))
    hs: int | None = param(None, "number of HS to draw", otherwise="those of the study", bounds=AT_LEAST_ONE)
    cn: int | None = param(
        None, "number of CNs to cross them with", otherwise="those of the study", bounds=AT_LEAST_ONE
    )
    annotators: int | None = param(None, ANNOTATORS_HELP, bounds=N_PEOPLE)
    seconds: float | None = param(
        None, f"seconds that a label takes; if not given, as measured in the study, else {USUAL_S:g}"
    )
    prevalence: float = param(0.2, "share of the labels that are positive", bounds=PROBABILITY, **_ASSUMED)
    not_sure: float = param(0.05, NOT_SURE_HELP, bounds=PROBABILITY, **_ASSUMED)
    kappa: float = param(0.5, "Cohen's kappa of every two annotators", bounds=PROBABILITY, **_ASSUMED)
    three: float = param(0.0, "share of the pairs with several labels that have three", bounds=PROBABILITY)
    validated: float = param(1.0, "share of the pairs that are validated", bounds=PROBABILITY)
    valid: float = param(0.9, "share of these with which their validators agree", bounds=PROBABILITY)
    hs_effect: float = param(0.0, HS_EFFECT_HELP, bounds=PROBABILITY, **_ASSUMED)
    cn_effect: float = param(0.0, CN_EFFECT_HELP, bounds=PROBABILITY, **_ASSUMED)
    annotator_effect: float = param(0.0, ANNOTATOR_EFFECT_HELP, **_ASSUMED)
    pilot: Path | None = param(
        None, "a file with the labels of a pilot, as `labels export` writes it; if not given, the study's own labels"
    )
    level: float = param(0.95, LEVEL_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("width", self.width), ("seconds", self.seconds)):
            _check_above_zero(name, value)
        if not 0 < self.level < 1:
            raise InputError(f"level is {self.level:g}; expected a number between 0 and 1")
        _check_effects(self)


@dataclass(frozen=True)
class Power(Checked):
    """The difference of two systems that is to be found, and the probability of finding it."""

    stage: ClassVar[str] = "power"
    power: float = param(0.8, "probability that the test finds the difference", bounds=Bounds(0, below=1))
    difference: float = param(0.05, "difference of NDCG@10 that is to be found")
    sd: float | None = param(
        None, "standard deviation over HS of the difference of NDCG@10; if not given, as evaluated"
    )
    systems: tuple[str, ...] = param((), SYSTEMS_HELP, metavar="NAME")
    comparisons: int = param(1, "number of comparisons that Holm's correction is for", bounds=AT_LEAST_ONE)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_above_zero("difference", self.difference)
        _check_above_zero("sd", self.sd)
        check_rules(
            (self.difference > 1, f"difference is {self.difference:g}; NDCG@10 lies between 0 and 1"),
            (self.sd is not None and self.systems, "`sd` and `systems` are both given; give one of them"),
        )


def _check_above_zero(name: str, value: float | None) -> None:
    if value is not None and not 0 < value < float("inf"):
        raise InputError(f"{name} is {value:g}; expected a number above 0")


def _check_effects(options: Plan | Simulate) -> None:
    hs, cn, of_annotators = options.hs_effect, options.cn_effect, options.annotator_effect
    check_rules(
        (hs + cn >= 1, f"hs_effect is {hs:g} and cn_effect {cn:g}; expected less than 1 together"),
        (not 0 <= of_annotators <= MOST_EFFECT, f"annotator_effect is {of_annotators:g}; expected 0 to {MOST_EFFECT}"),
    )


@dataclass(frozen=True)
class Calibration(Seeded):
    """A first batch that everybody answers, discusses where they differ, and answers once more."""

    stage: ClassVar[str] = "calibration"
    pairs: int = param(
        20, "number of pairs to draw. Everybody answers them first", bounds=AT_LEAST_ONE, label=mark("How many pairs")
    )
    counts: CalibrationCounts = param(
        "neither", "which of the two answers decisions and tiers rest on; with neither, the pairs are assigned again"
    )
    round: str = param("", "the round of a planned grid that is calibrated", otherwise="the one that counts")
    seed: int = param(0, "random seed")


@dataclass(frozen=True)
class Agree(Checked):
    """Parameters for measuring agreement; raises InputError for a value that cannot be used."""

    stage: ClassVar[str] = "agreement"
    weights: Weights = param("none", "disagreement weights of Cohen's kappa, in the order of the label codes")
    indefinite: Indefinite = param(
        "class", "indefinite answers: classes of their own, or dropped before anything is computed"
    )
    intervals: IntervalScope = param(
        "texts", "what intervals generalise to: new HS and CNs with the same annotators, or new annotators too"
    )
    level: float = param(0.95, LEVEL_HELP)
    blocks: AgreementBlocks | None = param(
        None, "what each block of a round's figures covers: all pairs, or one column or row", otherwise="grid"
    )
    metadata: str | None = param(
        None, "with blocks of columns or rows: a metadata column of their texts, each value of which is one block"
    )
    bins: tuple[str, ...] = param(
        (), "a bin of a scale, such as 1-2, for Cohen's kappa on bins; repeat it until the scale is covered"
    )
    further: bool = param(False, "also count labels that standing rules asked for, where labels tied or were not sure")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.level < 1:
            raise InputError(f"agreement: level is {self.level}; expected a share between 0 and 1, such as 0.95")
        if self.blocks == "grid":  # what a grid does without, so that there is one way to say it
            object.__setattr__(self, "blocks", None)
        if self.metadata and self.blocks is None:
            raise InputError(
                f"agreement: metadata is `{self.metadata}`, but the figures are not by column or row; expected "
                "`blocks` to be column or row"
            )


@dataclass(frozen=True)
class Rank(Checked):
    """Parameters for ranking texts that were compared; raises InputError for a value that cannot be used."""

    prior: float = param(2.0, "the standard deviation of the normal prior of a score, in log-odds; 0 for no prior")
    tie: Literal["half", "left-out"] = param("half", "what a tie is: half a win of each, or left out")
    level: float = param(0.95, LEVEL_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rules(
            (self.prior < 0, f"prior is {self.prior:g}; expected a standard deviation above 0, or 0 for no prior"),
            (not 0 < self.level < 1, f"level is {self.level}; expected a share between 0 and 1, such as 0.95"),
        )


@dataclass(frozen=True)
class Adjudicate(Checked):
    """Parameters for reducing a pair's labels to one."""

    stage: ClassVar[str] = "adjudicate"
    policy: Policy = param("manual", "who decides what is not unanimous: a person, the majority, or the median")
    ties: Ties = param(
        "wait",
        "with majority or median: whether ties, and pairs with only `not sure`, wait for a person or are discarded",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.policy == "manual" and self.ties != "wait":
            raise InputError(
                f"ties is {self.ties!r}, but with the policy `manual` a person decides them; expected wait, or the "
                "policy majority or median"
            )

    @property
    def command(self) -> str:
        """The command that lets this policy decide."""
        return f"fcpair adjudicate --policy {self.policy}" + " --ties discard" * (self.ties == "discard")


@dataclass(frozen=True)
class Validate(Seeded):
    """Parameters for assigning adjudicated pairs to validators."""

    stage: ClassVar[str] = "validate"
    of_first_deal: ClassVar[tuple[str, ...]] = ("validators", "pairs")
    validators: int | None = param(
        None, "number of validators; if not given, those that `people` lists", bounds=N_PEOPLE
    )
    pairs: int | None = param(
        None,
        "number of pairs to draw. If not given, all that are adjudicated",
        bounds=AT_LEAST_ONE,
        label=mark("How many pairs"),
    )
    blind: bool = param(False, "validators give their own label and do not see the adjudicated one")
    seed: int = param(0, "random seed")


@dataclass(frozen=True)
class Partition(Checked):
    """The rules that make the tiers."""

    stage: ClassVar[str] = "partition"
    verbatim: ClassVar[tuple[str, ...]] = ("own_tiers",)
    diamond: DiamondRule = param(
        "unanimous", "what Diamond requires of the labels; majority is what FC-CONAN published"
    )
    own_tiers: OwnTiers = table("tiers of the study's own, beside the four, each a table of what it requires")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "own_tiers", plain_tiers(self.own_tiers))

    @property
    def noted(self) -> dict[str, Any]:
        """The rules as a run that rests on them keeps them: without own tiers, that of Diamond alone."""
        return {"diamond": self.diamond, **({"own_tiers": self.own_tiers} if self.own_tiers else {})}


@dataclass(frozen=True)
class Relabel(Checked):
    """A change of the labels of a grid, which may have been given already."""

    stage: ClassVar[str] = "relabel"
    kind: Relabelling = param("rename", mark("rename one, merge several, split or add one"), label=mark("Change"))
    labels: tuple[str, ...] = param(
        (), mark("the labels that are changed, one on each line; none to add one"), label=mark("Labels"), rows=3
    )
    into: tuple[str, ...] = param(
        (),
        mark("their new names; after one that is split off or added, + makes it positive, and ? not definite"),
        label=mark("New names"),
        rows=3,
    )
    reason: str = param("", mark("why; it stays on record"), label=mark("Reason"), rows=2)


@dataclass(frozen=True)
class Note(Checked):
    """Something that happened outside of the program, which a paper will have to mention."""

    stage: ClassVar[str] = "note"
    text: str = param("", mark("what happened, in your own words"), label=mark("What happened"), rows=3)
    pair: int | None = param(
        None, mark("the number of the pair that it is about"), bounds=AT_LEAST_ONE, label=mark("Pair, by its number")
    )
    flag: Flagging | None = param(
        None, "flag the pair, because the guidelines should say more about it, or remove its flag", needs=("pair",)
    )


BELIEVED = "believed"  # the question of a survey with which a model's answers are compared
MAIN = "main"  # the grid of HS and CNs; which is meant if there are several and none is named


_POOL, _POOL_NAMES = "the CNs to rank", "judged|positive|all|FILE"


POOLS = {  # what a pool is called, and which CNs it has
    "judged": "the CNs of Bronze",
    "positive": "the CNs that Bronze labels appropriate for at least one HS",
    "all": "every CN of the grid",
}


@dataclass(frozen=True)
class Evaluate(Seeded):
    """The systems to evaluate, the tiers to evaluate them on, and the measures."""

    stage: ClassVar[str] = "evaluate"
    systems: tuple[str, ...] = param((), SYSTEMS_HELP)
    pool: str = param("judged", _POOL, metavar=_POOL_NAMES)
    tiers: tuple[str, ...] = param(
        TIERS, "the tier to use. Systems are evaluated on it; may be repeated", metavar="TIER"
    )
    measures: tuple[str, ...] = param(
        DEFAULT_MEASURES,
        "the measure to compute, by name. Examples are NDCG@5, MAP(by=all) and RBP(p=0.9); may be repeated",
    )
    cutoff: int = param(10, "number of ranks that measures without a cutoff of their own read", bounds=AT_LEAST_ONE)
    no_positives: NoPositives = param(
        "zero", "HS without an appropriate CN in the pool score 0 (zero) or are left out (leave_out)"
    )
    resamples: int = param(RESAMPLES, "number of resamples to draw for intervals and tests")
    seed: int = param(0, "random seed")
    ids: Ids | None = param(None, IDS_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tiers", tuple(tier.strip().lower() for tier in self.tiers))
        check_unique("tier", self.tiers)


@dataclass(frozen=True)
class Export(Checked):
    """Parameters for an export; `files.release.exports.EXPORTS` says which of them each kind of export reads."""

    stage: ClassVar[str] = "export"
    pool: str = param(
        "judged",
        f"{_POOL}. Those of Bronze, those it labels appropriate for some HS, the whole grid's, or a file's",
        metavar=_POOL_NAMES,
    )
    binary: bool = param(False, "grade every appropriate pair 1 and every other one 0")
    negatives: int = param(
        5,
        "number of judged negatives of the same HS to draw for each positive; all if there are fewer",
        bounds=Bounds(1),
    )
    test_share: float = param(0.2, "the share of HS that go to test.jsonl", bounds=Bounds(0, 1))
    seed: int = param(0, "random seed", bounds=Bounds(0))
    ids: Ids | None = param(None, IDS_HELP)


def read_shares(written: Iterable[tuple[str, Any]]) -> dict[int, float]:
    """The overlap of numbers of labels, each with its share as a number or a percentage: `0.2`, `20%`.

    Raises InputError for what is neither, and for a number of labels that is given twice.
    """
    overlap: dict[int, float] = {}
    for labels, share in written:
        text = str(share).strip()
        try:
            n_labels, number = int(labels), float(text.removesuffix("%"))
        except ValueError:
            raise InputError(
                f"overlap `{labels}` with the share `{text}` cannot be read; expected a number of labels and a share "
                "of the pairs, such as 2 and 0.126 or 12.6%"
            ) from None
        if n_labels in overlap:
            raise InputError(f"overlap has two shares for {n_labels} labels; give each number of labels once")
        overlap[n_labels] = round(number / 100, 12) if text.endswith("%") else number
    return overlap


def check_shares(overlap: Mapping[int, float]) -> None:
    """Raise InputError for a number of labels that is no overlap, or a share that is none."""
    for n_labels, share in overlap.items():
        check_rules(
            (n_labels < 2, f"overlap has a share for {n_labels} labels; give shares for 2 labels or more"),
            (not 0 <= share <= 1, f"overlap for {n_labels} labels is {share}; give a share of the pairs, 0 to 1"),
        )


def grid_names(answers: str | Sequence[str]) -> tuple[str, ...]:
    """The names of the grids that `answers` of a plan's side, or of what is kept of one, gives."""
    return ((answers,) if answers else ()) if isinstance(answers, str) else tuple(answers)


def check_unique(what: str, names: Sequence[str]) -> None:
    """Raise InputError when a name is given twice, or there is no measure or tier."""
    if not names and what in {"measure", "tier"}:
        raise InputError(f"no {what} is given")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError.say("%(what)s `%(name)s` is given twice", what=say(what), name=twice[0])


def check_distinct_spelling(names: Iterable[str], taken: Iterable[str] = ()) -> None:
    """Raise InputError when a name differs from another, or a known one, in capitals alone.

    People mix such names up, and so do file systems, on which a sheet is named for its person.
    """
    taken_names = set(taken)
    spelled = {name.casefold(): name for name in taken_names}
    for name in names:
        if (other := name if name in taken_names else spelled.setdefault(name.casefold(), name)) != name:
            raise InputError.say(
                "`%(other)s` and `%(name)s` differ only in capitals; choose another name for one of them",
                other=other,
                name=name,
            )


def result_params(options: Any) -> list[str]:
    """The names of the parameters on which it depends what comes of a stage, and not only how it is done."""
    return [item.name for item in fields(options) if item.metadata.get("shapes", True)]


def defaults_of(options: Any) -> dict[str, Any]:
    """The parameters of a stage where nothing is said of them, as a run keeps them; what must be said, as it is."""
    cls: type = type(options)
    items = zip(fields(options), field_readers(cls), strict=True)
    return {
        name: as_plain(read(name, getattr(options, name) if is_required(item) else field_default(item)))
        for item, (name, read) in items
    }

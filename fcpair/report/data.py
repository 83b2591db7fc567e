"""Data of a report: plain records, gathered by `steps/oversight/report.py`, read by pages and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.lazy import pd
from fcpair.records import Role, RunRecord, SampleSize
from fcpair.stages.adjudication.partition import TableRows
from fcpair.stages.questions import Closed

if TYPE_CHECKING:
    from fcpair.bias.scoring import ScoredAnswers
    from fcpair.evaluate.outcome import Outcome
    from fcpair.stages.stats.agreement import Agreement, AgreementBlock
    from fcpair.stages.stats.group_differences import GroupComparison
    from fcpair.stages.stats.ranking import Ranking
    from fcpair.work_records import CalibrationResult

IN_GRID, IN_CORPUS, HOLE = 0, 1, 2
UNDECIDED, POSITIVE, OTHER, DISCARDED, WAITING = 0, 1, 2, 3, 4


@dataclass(frozen=True)
class Stage:
    """Progress of one stage: what it made, in words, or the command that does it; `open` answers are still to come."""

    name: str
    done: bool
    result: str
    command: str
    open: int = 0


@dataclass(frozen=True)
class GridMap:
    """Every cell of HS x CN, all of shape `(n_hs, n_cn)`, in the order in which the texts were chosen.

    Where a few cells of many were drawn, only they and those of the corpus are here: all are of shape `(n_listed,)`,
    `at` says where each is among `of` rows and columns, row by row from 0, and every other cell is a HOLE.

    `place` is IN_GRID, IN_CORPUS (a pair of the corpus, so not in the grid) or HOLE (not in the grid for another
    reason); `labels` counts current labels; `decision` is UNDECIDED, POSITIVE, OTHER (definite label), DISCARDED or
    WAITING (for a person).
    """

    place: NDArray[np.int8]
    labels: NDArray[np.int16]
    decision: NDArray[np.int8]
    at: NDArray[np.int64] | None = None
    of: tuple[int, int] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and of columns."""
        return self.of or self.place.shape


@dataclass(frozen=True)
class TierFigures:
    """The four tiers: which Diamond rule was used, every rule in words, and the tables of `tier_table_rows`."""

    diamond: str
    rules: tuple[tuple[str, str], ...]
    tables: tuple[TableRows, ...]
    n_labelled: int
    n_final: int
    n_verdicts: int
    n_valid: int


@dataclass(frozen=True)
class PersonFigures:
    """Work of one person in one round: assigned and done; `answers` counts each choice of the round's scheme.

    `median_s` is the median number of seconds of the `n_timed` answers (skips included) whose time is known.
    """

    name: str
    role: Role
    retired: bool
    assigned: int
    done: int
    open: int
    skipped: int
    withdrawn: int
    answers: tuple[int, ...]
    median_s: float | None
    n_timed: int
    notes: int

    @property
    def n_answers(self) -> int:
        """Number of current answers that the person has given, skips not counted."""
        return sum(self.answers)


@dataclass(frozen=True)
class PeopleFigures:
    """Work of the annotators, whose labels answer `question`, and of the validators."""

    question: Closed
    annotators: tuple[PersonFigures, ...]
    validators: tuple[PersonFigures, ...]


@dataclass(frozen=True)
class EvaluationFigures:
    """Outcome of the newest evaluation, the run that made it, and how many later steps changed what it rests on."""

    outcome: Outcome
    run: RunRecord
    later: int


@dataclass(frozen=True)
class DecisionsPart:
    """Decisions in a grid whose answers are labels, and the tiers; `rules_used` counts standing ones by rule. Without
    `tiers` there are no labels, or `no_tiers` says why not.
    """

    question: Closed
    rules_used: dict[str, int]
    n_need_person: int
    tiers: TierFigures | None
    no_tiers: str


@dataclass(frozen=True)
class SurveyFigures:
    """Answers to a survey: `shares` of `survey.add_shares`, perhaps numbered, and Cochran's `margin` of as many
    `people`.
    """

    shares: pd.DataFrame
    people: int
    margin: float


@dataclass(frozen=True)
class GroupFigures:
    """Comparisons of groups of those who answered a question, by what was declared beforehand.

    `undefined` says why nothing was; `exploratory` are questions about people that were declared too late, with why.
    """

    question: str
    compared: tuple[GroupComparison, ...]
    exploratory: dict[str, str]
    undefined: str = ""


@dataclass(frozen=True)
class SurveysPart:
    """Results of surveys and bias tests: of a grid that respondents answered (`survey`), of one whose rows are items of
    templates (`bias`: the scores of each model, for each scheme), of `groups` that were declared beforehand, and of
    texts that were compared (`ranking`).
    """

    survey: SurveyFigures | None = None
    bias: tuple[dict[str, ScoredAnswers], ...] = ()
    groups: GroupFigures | None = None
    ranking: Ranking | None = None


@dataclass(frozen=True)
class MainPart(DecisionsPart):
    """Part of a report about the grid of HS and CNs; what it has not come to yet is None or empty."""

    look_again: tuple[str, ...]
    stages: tuple[Stage, ...]
    grid: GridMap | None
    agreement: Agreement | None
    annotators: tuple[PersonFigures, ...]
    validators: tuple[PersonFigures, ...]
    asked: SurveysPart
    sampled: SampleSize | None = None
    calibration: CalibrationResult | None = None


@dataclass(frozen=True)
class ModelFigures:
    """Work of a model in a round; `model` is its name where it comes from, and `sha256` that of its file or of its
    prompt, each empty where it was not asked yet.
    """

    name: str
    model: str
    sha256: str
    done: int
    open: int
    skipped: int


@dataclass(frozen=True)
class WrittenTexts:
    """Number of texts that answer a question, and the median of their numbers of words (None without texts)."""

    question: str
    n: int
    median_words: float | None


@dataclass(frozen=True)
class RoundPart:
    """Part of a report about one round of a planned grid.

    `people` have done it, or `models`; their `answers` are counted where `choices` names them. `agreement` is empty
    where it is not measured: nothing was answered, or the round `checks` what was decided.
    """

    name: str
    role: Role
    form: str
    checks: bool
    dealt: bool
    choices: tuple[str, ...]
    people: tuple[PersonFigures, ...]
    models: tuple[ModelFigures, ...]
    texts: tuple[WrittenTexts, ...]
    agreement: tuple[AgreementBlock, ...]


@dataclass(frozen=True)
class GridPart:
    """Part of a report about a planned grid, with the `facts` of `overview`; `decided` is None where its answers are no
    labels.
    """

    facts: dict[str, Any]
    look_again: tuple[str, ...]
    rounds: tuple[RoundPart, ...]
    decided: DecisionsPart | None
    asked: SurveysPart
    calibration: CalibrationResult | None = None

    @property
    def name(self) -> str:
        """The name of the grid."""
        return str(self.facts["name"])

    @property
    def is_validated(self) -> bool:
        """Return whether the grid has a round that checks what was decided."""
        return any(round_.checks for round_ in self.rounds)


@dataclass(frozen=True)
class ReportData:
    """Everything that stands in a report: about the study, its grid of HS and CNs if it has one, and planned grids;
    `listed` has the facts of every grid.
    """

    facts: dict[str, str]
    version: str
    simulated: str | None
    by_models: str | None
    log: tuple[RunRecord, ...]
    releases: tuple[dict[str, Any], ...]
    evaluation: EvaluationFigures | None
    listed: tuple[dict[str, Any], ...]
    main: MainPart | None
    grids: tuple[GridPart, ...]

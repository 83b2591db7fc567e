"""Surveys: the plan of one, how many said yes to each statement, with intervals, and how large a sample has to be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path
from typing import Literal

import numpy as np

from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.lazy import pd
from fcpair.notebook import Result
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.round_options import Screen
from fcpair.stages.questions import SKIP, Choice, Closed, OneOf
from fcpair.stages.questions.form import Form
from fcpair.stages.stats.group_differences import LEAST_PEOPLE, group_findings
from fcpair.stages.stats.intervals import Z, wilson_intervals

YES, NO, DECLINE = ANSWERS = ("yes", "no", "decline")
QUESTIONS = ("heard", "believed")
ASK, STATEMENT = "ask", "statement"
SUGGEST = "Which other statements of this kind have you heard? You may leave this out."
LEAST_COUNTED = 5  # in a cell that is published
MERGED = "(answers of fewer than five people, together)"
Counts = dict[str, int]


def survey_plans(
    name: str,
    file: Path,
    questions: Sequence[str] = QUESTIONS,
    *,
    statement: str = STATEMENT,
    answers: Sequence[str] = ANSWERS,
    part: int | None = None,
    as_list: bool = False,
    suggest: str = SUGGEST,
    seed: int = 0,
) -> tuple[GridPlan, ...]:
    """The grids of a survey: `name`, and one for suggestions unless `suggest`, what is asked at the end, is empty.

    `file` is a table whose column `statement` has the statements; `questions` are asked of every one; `answers` is how
    yes, no and decline are called, in this order. `part` people answer each statement, so that everybody has a balanced
    part; None: everybody answers all. With `as_list` a screen has a list of statements. `seed` is of the assignment and
    orders. Raises InputError for not three answers, two of the same name, or what plans refuse.
    """
    if len(answers) != len(ANSWERS):
        raise InputError(f"there are {len(answers)} answers; expected three: yes, no and decline, in this order")
    yes, no, decline = answers
    form = OneOf((Choice(0, yes), Choice(1, no), Choice(2, decline, definite=False)))
    screen: Screen = "list" if as_list else "row"
    round_ = RoundPlan(ASK, f"answer: {form}", "respondent", answers=part or 0, screen=screen, in_order=True, seed=seed)
    sides = SidePlan(file=file, column=statement), SidePlan(names=tuple(questions))
    survey = GridPlan(name, *sides, (round_,), row_name=STATEMENT, column_name="question")
    if not suggest.strip():
        return (survey,)
    suggesting = RoundPlan("suggest", "text: text(max_words=200)", "respondent", answers=0, seed=seed)
    sides = SidePlan(names=(suggest,)), SidePlan(names=("suggestion",))
    grid_name = suggestions_grid_name(name)
    return survey, GridPlan(grid_name, *sides, (suggesting,), row_name="question", column_name="answer")


def suggestions_grid_name(name: str) -> str:
    """The name of the grid in which those who answer a survey may suggest something."""
    return f"{name} suggestions"


ASSUMPTION = "assumes a random sample"
Verdict = Literal["kept", "dropped", "undefined"]
SKIPPED = "skipped"
# What is written beside each statement that is kept by its share.
KEPT_COLUMNS = ("n", "share", "low", "high", "undecided")
_RULE = re.compile(r"\s*(\S.*?)\s*>\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*")


@dataclass(frozen=True, repr=False)
class Survey(Result):
    """Answers to a survey: `given` has a row for each, as `to_frame` has it, where a skip is empty; `statements` has
    what is known of each statement beside its text.
    """

    given: pd.DataFrame
    statements: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """A row for each answer: `statement`, `question`, `person`, `answer`, and what is known about people."""
        return self.given.copy()

    def _summary(self) -> str:
        n_people, n_statements = self.given["person"].nunique(), self.given["statement"].nunique()
        return f"{len(self.given):,} answers by {n_people:,} people on {n_statements:,} statements"


def check_answers(answers: pd.DataFrame, place: str, by: str | None = None) -> None:
    """Raise InputError for answers that mean nothing, and for a respondent who answers something twice.

    `answers` has `statement`, `question`, `person`, `answer` (empty: skipped) and `line`, by which findings name rows.
    """
    findings = [
        Finding(place, int(line), f"the answer is `{answer}`; expected {', '.join(ANSWERS)}, or nothing for a skip")
        for answer, line in zip(answers["answer"], answers["line"], strict=True)
        if answer not in ("", *ANSWERS)
    ]
    keys = ["statement", "question", "person"]
    earlier_lines = answers.groupby(keys)["line"].transform("first")
    columns = (answers["line"], earlier_lines, answers["person"], answers["question"])
    findings += [
        Finding(place, int(line), f"respondent {person} has answered `{question}` on this statement in line {earlier}")
        for line, earlier, person, question in zip(*columns, strict=True)
        if line != earlier
    ]
    if by is not None:
        findings += group_findings(answers.rename(columns={"person": "annotator"}), by, place)
    reject(place, sorted(findings, key=lambda finding: finding.line or 0))


def count_answers(answers: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """Count each answer to each question on each statement, in the order in which they come.

    `answers` is as `check_answers` takes it; who has no group in the column `by` does not count. Returns `statement`,
    `question`, with `by` also `group` and `people` (who answered or skipped), and `yes`, `no`, `decline`, `skipped`.
    """
    keys = ["statement", "question"]
    if by is not None:
        answers = answers.assign(group=answers[by])[answers[by] != ""]
    replies = answers.assign(
        answer=answers["answer"].replace("", SKIPPED),
        **{key: pd.Categorical(answers[key], categories=answers[key].unique(), ordered=True) for key in keys},
    )
    keys += ["group"] * (by is not None)
    counts = replies.groupby([*keys, "answer"], observed=True).size().unstack("answer", fill_value=0)
    counts = counts.reindex(columns=[*ANSWERS, SKIPPED], fill_value=0).rename_axis(columns=None)
    if by is not None:
        counts.insert(0, "people", counts.sum(axis=1))
    return counts.reset_index().astype(dict.fromkeys(keys[:2], object))


def hide_few(group_shares: pd.DataFrame) -> pd.DataFrame:
    """The shares of groups as `add_shares` has them, without what fewer than five people say: NA, and NaN, there."""
    few = group_shares["people"] < LEAST_PEOPLE
    shown = group_shares.copy()
    counts = ["people", "n", *ANSWERS, SKIPPED]
    shown[counts] = shown[counts].astype("Int64")
    shown.loc[few, counts] = pd.NA
    shown.loc[few, ["share", "low", "high"]] = np.nan
    return shown


@dataclass(frozen=True)
class KeepRule:
    """A rule for statements: those whose share of yes to `question` is greater than `threshold`, and not equal."""

    question: str
    threshold: float

    def __str__(self) -> str:
        return f"{self.question} > {self.threshold:g}"


def parse_keep(rule_text: str) -> KeepRule:
    """Read a rule such as `believed > 0.60`; InputError for another form, or a threshold not from 0 to below 1."""
    match = _RULE.fullmatch(rule_text)
    threshold = float(match[2]) if match else -1.0
    if not match or not 0 <= threshold < 1:
        raise InputError(
            f"the rule is `{rule_text}`; expected a question, `>` and a share below 1, as in 'believed > 0.60'"
        )
    return KeepRule(match[1], threshold)


def add_verdicts(share_rows: pd.DataFrame, rule: KeepRule) -> pd.DataFrame:
    """The rows of `add_shares` with those of `judge_shares`, empty for other questions; InputError for no such one."""
    questions = list(dict.fromkeys(share_rows["question"]))
    if rule.question not in questions:
        raise InputError(f"there is no question `{rule.question}`; {suggest_name(rule.question, questions)}")
    verdict_rows = judge_shares(share_rows, rule.threshold).where(share_rows["question"] == rule.question, "")
    return share_rows.assign(verdict=verdict_rows["verdict"], undecided=verdict_rows["undecided"])


def add_shares(counts: pd.DataFrame) -> pd.DataFrame:
    """The counts with the share of yes over yes and no: `n` (yes and no), `share`, and Wilson's interval at 95 %, `low`
    and `high`; NaN where nobody said either.
    """
    n = counts["yes"] + counts["no"]
    is_answered = n.to_numpy() > 0
    share, low, high = (np.full(len(counts), np.nan) for _ in range(3))
    yes, n_answered = counts["yes"].to_numpy()[is_answered], n.to_numpy()[is_answered]
    share[is_answered] = yes / n_answered
    if is_answered.any():
        low[is_answered], high[is_answered] = wilson_intervals(yes, n_answered)
    return counts.assign(n=n, share=share, low=low, high=high)


def judge_shares(share_rows: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Judge each row of `add_shares` by a threshold. Returns `verdict`: `kept` where the share is strictly greater,
    else `dropped`, `undefined` without one; and `undecided`: whether the interval has the threshold in it, `yes` or
    `no`.
    """
    undefined = share_rows["share"].isna()
    verdict = np.select([undefined, share_rows["share"] > threshold], ["undefined", "kept"], "dropped")
    straddles = (share_rows["low"] <= threshold) & (threshold <= share_rows["high"])
    undecided = np.select([undefined, straddles], ["", "yes"], "no")
    return pd.DataFrame({"verdict": verdict, "undecided": undecided}, index=share_rows.index, dtype=object)


def margin_of_error(n: int, population: int | None = None, share: float = 0.5) -> float:
    """Cochran's margin of error at 95 % of a random sample: z sqrt(p (1 - p) / n), in a finite population times sqrt((N
    - n) / (N - 1)); Cochran (1977), Sampling Techniques, chapters 2 and 4. Raises InputError for no such `n`.
    """
    if n < 1 or (population is not None and n > population):
        raise InputError(
            f"{n:,} respondents of a population of {population or 'any size'}; expected 1 at least, and no more"
        )
    finite = 1.0 if population is None else (population - n) / max(population - 1, 1)
    return Z * sqrt(share * (1 - share) / n * finite)


def sample_size(error: float, population: int | None = None, share: float = 0.5) -> int:
    """The least number of respondents with a `margin_of_error` of at most `error` (InputError: not between 0 and 1)."""
    if not 0 < error < 1:
        raise InputError(f"the margin is {error:g}; expected a number between 0 and 1")
    n_infinite = Z**2 * share * (1 - share) / error**2
    return ceil(n_infinite if population is None else n_infinite / (1 + (n_infinite - 1) / population))


def merge_small_cells(counts: Mapping[str, int], *, merged: Collection[str] = ()) -> Counts:
    """The counts in cells of five people or more, whose sum stays: smaller cells and those to be `merged` are taken
    together, with the next smallest one where they are still too few or only one; nothing remains of fewer than five.
    """
    kept = {answer: n for answer, n in counts.items() if n}
    n_merged = 0
    smallest_first = sorted(kept.items(), key=lambda item: (item[0] not in merged, item[1], item[0]))
    for n_before, (answer, n) in enumerate(smallest_first):
        is_large = n >= LEAST_COUNTED and answer not in merged
        if is_large and (not n_before or (n_merged >= LEAST_COUNTED and n_before > 1)):
            break
        n_merged += kept.pop(answer)
    return kept | {MERGED: n_merged} if n_merged >= LEAST_COUNTED else kept


def count_respondents(form: Form, answers: Sequence[Mapping[str, str] | None]) -> dict[str, Counts]:
    """Count the people who gave each answer to each closed question of a form on one cell, none from another's counts.

    `answers` are those of each person by the names of the questions, None for a skip. Skips, which all questions share,
    are taken together with other answers in all if they are in one; and a question that depends on an earlier one is
    counted only where those whom it was put to are a published count.
    """
    conditions = dict(form.conditions)
    closed = [name for name, question in form.questions if isinstance(question, Closed)]
    always_asked = {
        name: Counter(SKIP if answer is None else answer[name] for answer in answers)
        for name in closed
        if name not in conditions
    }
    published = {name: merge_small_cells(counts) for name, counts in always_asked.items()}
    if any(SKIP in counts and SKIP not in published[name] for name, counts in always_asked.items()):
        published = {name: merge_small_cells(counts, merged=(SKIP,)) for name, counts in always_asked.items()}
    for name in (name for name in closed if name in conditions):
        when = conditions[name]
        if set(when.answers) <= published.get(when.question, {}).keys():
            asked = (answer for answer in answers if answer and answer[when.question] in when.answers)
            published[name] = merge_small_cells(Counter(answer[name] for answer in asked))
    return published

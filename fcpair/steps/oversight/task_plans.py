"""What a study that is started in the browser asks: the labels of pairs, the grids of other tasks, and their size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path

from fcpair import start_draft
from fcpair.errors import InputError, at_fault
from fcpair.files.corpus.corpus import Corpus
from fcpair.params import MAIN
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.sentences import Id, say
from fcpair.stages.assignment.assign import check_overlap, overlap_counts
from fcpair.stages.corpus.retrieve import even_shares
from fcpair.stages.questions import AnyOf, Closed, Curate, Question, Text
from fcpair.stages.questions.base import Choice, keys_of
from fcpair.stages.questions.closed import OneOf, all_distinct
from fcpair.stages.questions.form import Form, parse_question
from fcpair.stages.questions.labels import GridNames, check_words, need_tiers
from fcpair.steps.oversight import uploaded_table
from fcpair.words import Words, mark_problems

HOUR_S = 3600
REPLY = "reply"


def label_question(plan: start_draft.PlanDraft) -> Closed:
    """The question that pairs are asked; InputError, which names the field, for labels or numbers that cannot be."""
    if plan.answer == "scale":
        with at_fault("low"):
            return need_tiers(_scale(plan))
    labels = plan.labels
    _check_names([label.name for label in labels], "label_{}", start_draft.MOST_LABELS)
    with at_fault("label_0"):
        if len(labels) < 2:
            raise InputError.say("people need at least two labels to choose from; add one")
        definite = [label for label in labels if label.meaning != "unsure"]
        positive = [label for label in definite if label.meaning == "positive"]
        if not positive or len(positive) == len(definite):
            raise InputError.say("at least one label must be positive and one negative, since tiers rest on that")
        choices = (
            Choice(at, label.name, label.meaning != "unsure", label.meaning == "positive")
            for at, label in enumerate(labels)
        )
        question = OneOf(tuple(choices))
        question.check_new()
        need_tiers(question)
    try:
        check_words(task_words(plan) or Words(), [GridNames(MAIN, (), (Form((("label", question),)),))])
    except ExceptionGroup as problems:
        problem = problems.exceptions[0]
        with at_fault(f"key_{[label.key for label in labels].index(problem.args[0].values['key'])}"):
            raise problem from None
    return question


def _check_names(names: Sequence[str], field: str, most: int | None = None) -> None:
    """Raise InputError for names that cannot be told apart; `most` have keys. Each has a `field`, by its place."""
    if not names and "{" not in field:
        with at_fault(field):
            raise InputError.say("nothing is named; write at least one, each on a line of its own")
    for at, name in enumerate(names):
        with at_fault(field.format(at)):
            if at == most:
                raise InputError.say(
                    "there are %(number)s labels, and keys for %(most)s; remove some", number=Id(len(names)), most=most
                )
            if name.isdecimal():
                raise InputError.say("`%(name)s` is a number; use words, or choose a scale", name=name)
            if not all_distinct(names[: at + 1]):
                raise InputError.say("two are called `%(name)s`; give each a name of its own", name=name)
            if most and not keys_of(names)[at]:
                raise InputError.say(
                    "`%(name)s` begins with the number of another one, so both would have the same key; change one",
                    name=name,
                )


def _scale(plan: start_draft.PlanDraft | start_draft.RateDraft) -> Question[int]:
    if not plan.low < plan.positive <= plan.high:
        raise InputError.say(
            "the scale goes from %(low)s to %(high)s, positive from %(positive)s; the lowest number must be below "
            "that, and the highest not",
            low=Id(plan.low),
            high=Id(plan.high),
            positive=Id(plan.positive),
        )
    return parse_question(f"scale({plan.low},{plan.high},{plan.by},positive={plan.positive})")


def task_words(plan: start_draft.AnyPlan) -> Words | None:
    """The words that people read in place of the name of a question, and the keys and colours of its labels."""
    labels = plan.labels if isinstance(plan, start_draft.PlanDraft) and plan.answer == "labels" else ()
    marks = {of.name: {name: own for name, own in (("key", of.key), ("colour", of.colour)) if own} for of in labels}
    options = {name: own for name, own in marks.items() if own}
    for at, key in enumerate(label.key for label in labels):
        with at_fault(f"key_{at}"):
            if problem := next(mark_problems("key", key), "") if key else "":
                raise InputError(problem)
    question = getattr(plan, "question", "")
    name = {start_draft.PlanDraft: "label", start_draft.TagsDraft: "labels"}.get(type(plan), "text")
    with at_fault("question"):
        return Words(questions={name: question} if question else {}, options=options) if question or options else None


def task_grids(
    plan: start_draft.TextsDraft, rows: SidePlan, columns: SidePlan, names: tuple[str, str]
) -> tuple[GridPlan, ...]:
    """The grids of a task. `rows` are the texts of its table, `columns` the second texts, or a file with replies, and
    `names` what both are called. Raises InputError, which names the field, for what cannot be asked.
    """
    seed = plan.seed
    n_people = next(getattr(plan, group) for group in ("writers", "annotators", "raters") if hasattr(plan, group))
    if plan.answers > n_people:
        with at_fault("answers"):
            raise InputError.say(
                "%(number)s people are to answer each, but there are only %(most)s",
                number=Id(plan.answers),
                most=n_people,
            )
    match plan:
        case start_draft.TagsDraft():
            with at_fault("labels"):
                _check_names(plan.labels, "labels", start_draft.MOST_LABELS)
                form = AnyOf(plan.labels, min=plan.least)
            round_ = RoundPlan("label", f"labels: {form}", answers=plan.answers, cells=plan.cells, seed=seed)
            return (GridPlan("labels", rows, columns, (round_,), *names),)
        case start_draft.RateDraft():
            with at_fault("low"):
                scale = _scale(plan)
            return (_rating("ratings", rows, plan.criteria, scale, plan.answers, seed, names[0]),)
        case start_draft.WriteDraft():
            _check_names(plan.kinds, "kinds")
            with at_fault("max_words"):
                text = Text(plan.min_words, plan.max_words)
            apart = len(plan.kinds) * plan.answers <= plan.writers  # so that nobody writes twice to the same text
            round_ = RoundPlan("write", f"text: {text}", "writer", answers=plan.answers, once_per_row=apart, seed=seed)
            kinds = SidePlan(names=plan.kinds)
            written = GridPlan("texts", rows, kinds, (round_,), names[0], "kind")
            if not plan.raters:
                return (written,)
            scale = parse_question("scale(1,5,1,positive=4)")
            return (written, _rating("ratings", SidePlan(answers="texts"), plan.criteria, scale, 1, seed, "text"))
        case start_draft.CurateDraft():
            with at_fault("reasons"):
                _check_names(plan.reasons, "reasons")
                text = Curate(plan.min_words, reasons=plan.reasons)
            propose = RoundPlan("propose", "text: text()", models=(f"{REPLY}=canned:{columns.file}",))
            curate = RoundPlan("curate", f"text: {text}", "annotator", answers=plan.answers, edits="propose", seed=seed)
            return (GridPlan("replies", rows, SidePlan(names=(REPLY,)), (propose, curate), names[0], names[1]),)


def _rating(
    name: str, rows: SidePlan, criteria: tuple[str, ...], scale: Question[int], answers: int, seed: int, row_name: str
) -> GridPlan:
    with at_fault("criteria"):
        _check_names(criteria, "criteria")
        columns = SidePlan(names=criteria)
    round_ = RoundPlan("rate", f"rating: {scale}", "rater", answers=answers, screen="row", seed=seed)
    return GridPlan(name, rows, columns, (round_,), row_name, "criterion")


def round_figures(
    grids: Sequence[GridPlan], n_rows: int, n_columns: int, n_people: Mapping[str, int], seconds: int
) -> Iterator[start_draft.RoundFigures]:
    """The size of each round that people answer; the first grid has `n_rows`, and `n_columns` where none are named.

    The rows of a grid that takes what another wrote are as many as are asked for there.
    """
    n_written: dict[str, int] = {}
    for grid in grids:
        rows = sum(n_written[name] for name in grid.rows.grids) if grid.rows.grids else n_rows
        for round_ in grid.rounds:
            if round_.models:
                continue
            group = f"{round_.role}s"
            n_cells = round_.cells or rows * (round_.columns_per_row or len(grid.columns.names) or n_columns)
            n_answers = n_cells * (round_.answers or n_people[group])
            each = ceil(n_answers / max(n_people[group], 1))
            n_written[grid.name] = n_answers
            yield start_draft.RoundFigures(group, n_answers, each, each * seconds / HOUR_S)


def pair_figures(uploads: Path, corpus: Corpus, plan: start_draft.PlanDraft) -> start_draft.PlanFigures:
    """The size of a study of pairs; InputError, which names the field, for a plan that cannot be carried out."""
    label_question(plan)
    if plan.stratify and plan.stratify not in corpus.metadata:
        with at_fault("stratify"):
            raise InputError.say(
                "the table keeps no column `%(name)s`; there is %(names)s",
                name=plan.stratify,
                names=list(corpus.metadata) or say("none"),
            )
    uploaded_table.stages(uploads, plan, lambda: corpus)  # which can be carried out together
    n_cn, n_cells = uploaded_table.grid_size(corpus, plan)
    if not n_cells:
        raise InputError.say(
            "no pair is left to be labelled: the table has them all; take more texts, or its own pairs too"
        )
    by_labels = overlap_counts(n_cells, plan.overlap)
    check_overlap(plan.annotators, by_labels)
    n_labels = sum(n * n_pairs for n, n_pairs in by_labels.items())
    labels_each = ceil(n_labels / plan.annotators)
    verdicts_each = ceil(n_cells / plan.validators) if plan.validators else 0
    return start_draft.PlanFigures(
        len(plan.hs_list) or plan.hs,
        n_cn,
        n_cells,
        plan.kind != "full" and not plan.cn_list,
        {n: n_pairs for n, n_pairs in by_labels.items() if n_pairs},
        n_labels,
        labels_each,
        labels_each * plan.seconds / HOUR_S,
        verdicts_each,
        verdicts_each * plan.seconds / HOUR_S,
        even_shares(n_cells),
        uploaded_table.count_spellings(corpus),
        plan.merge,
    )

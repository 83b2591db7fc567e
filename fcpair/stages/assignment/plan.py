"""Checks that the rounds of a planned grid ask what can be asked, and what their order lets them ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fcpair.errors import InputError, suggest_name
from fcpair.param_values import check_rules
from fcpair.params import check_unique
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.round_options import ROW
from fcpair.stages.answers.model_spec import DEFINITION, EXAMPLES, parse_model_spec, parse_places
from fcpair.stages.questions import AnyOf, Closed, Form, OneOf, parse_form
from fcpair.stages.questions.labels import check_own_tiers, need_tiers
from fcpair.stages.stats.agreement import check_bins
from fcpair.stages.stats.ranking import choice_places

VALIDATION_ROUND = "validate"  # the round in which decisions are validated
# What files of answers say of a text that was edited: what was done with it, and how much of it was changed.
CHANGE_COLUMNS = ("act", "words_changed", "characters_changed")
# What files of answers say beside the answers, so that no question can be called so.
RESERVED_COLUMNS = {
    *("by", "cell", "row", "column", "original", "skipped", "note", "seconds", "time", "origin"),
    *("answered", "written_as", "source", "group", "marks", *CHANGE_COLUMNS),
}


def check_plan(plan: GridPlan) -> None:
    """Raise InputError where a form cannot be read, or edits what no round before it has written."""
    forms: dict[str, Form] = {}
    for round_ in plan.rounds:
        forms[round_.name] = form = parse_form(round_.form)
        if reserved := [name for name, _ in form.questions if name.lower() in RESERVED_COLUMNS]:
            raise InputError(
                f"round `{round_.name}` has a question `{reserved[0]}`, but files of answers use that name for a "
                "column of their own; give the question another name"
            )
        _check_always(plan, round_.name, form)
        if plan.columns.compare:
            try:
                choice_places(form, plan.columns.compare.size)
            except InputError as error:
                raise InputError(f"round `{round_.name}` of grid `{plan.name}`: {error}") from None
        if round_.name in plan.hiding and (round_.in_order or form.has_always):
            revealing = "`in_order`" if round_.in_order else "`always=column`"
            raise InputError(
                f"round `{round_.name}` hides the column (`hide`), but {revealing} would reveal it; omit that, or set "
                '`hide = "nothing"`'
            )
        _check_models(round_, plan.columns)
        has_one = len(form.questions) == 1 and isinstance(form.questions[0][1], OneOf)
        kind = form.edited_question and form.edited_question[1].kind
        check_rules(
            (
                round_.probabilities and not has_one,
                f"round `{round_.name}` asks how probable answers are (`probabilities`); ask one question with "
                "one_of(...)",
            ),
            (
                bool(kind and not round_.edits),
                f"round `{round_.name}` has `{kind}(...)`; name in `edits` the round whose text is edited, or "
                f"`{ROW}`, or ask `text(...)`",
            ),
            (
                bool(round_.edits and not kind),
                f"round `{round_.name}` edits `{round_.edits}`; ask `edit(...)` or `curate(...)` in its form, or "
                "use `after`",
            ),
            (
                round_.edits not in {"", ROW} and not forms[round_.edits].written_question,
                f"round `{round_.name}` edits `{round_.edits}`, in which no text is written",
            ),
        )
    if plan.agreement:
        check_bins(forms[plan.counting.name], plan.agreement.bins)
    if plan.partition and plan.partition.own_tiers:
        check_own_tiers(plan.partition.own_tiers, label_question(plan.counting), is_validated=plan.validate is not None)
    if plan.validate:
        label_question(plan.counting)
        if VALIDATION_ROUND in forms:
            raise InputError(
                f"grid `{plan.name}` is validated in a round `{VALIDATION_ROUND}`; give your own round another name"
            )


def _check_always(plan: GridPlan, name: str, form: Form) -> None:
    """Raise InputError where a column has a name that is always to be a label, and is none."""
    always = (
        (asked, question) for asked, question in form.questions if isinstance(question, AnyOf) and question.always
    )
    for asked, question in always:
        if not plan.columns.names:
            raise InputError(
                f"round `{name}`, `{asked}`: `always=column` needs columns with `names`, each of them a label"
            )
        if column := next((column for column in plan.columns.names if column not in question.names), None):
            raise InputError(
                f"round `{name}`, `{asked}`: column `{column}` is not one of its labels; "
                f"{suggest_name(column, question.names)}"
            )


def label_question(plan: RoundPlan) -> Closed:
    """The question whose answers become decisions; raises InputError where tiers cannot rest on what is asked."""
    (_, question), *others = parse_form(plan.form).questions
    if others:
        raise InputError(f"round `{plan.name}` asks several questions, so nothing can be decided and validated")
    return need_tiers(question)


def check_plans(plans: Sequence[GridPlan], earlier_forms: Mapping[str, str]) -> None:
    """Raise InputError where a grid has the name of another, or a side is what an earlier grid does not write.
    `earlier_forms` has, by the name of each grid before these, the printed form of the round that counts.
    """
    known_forms = dict(earlier_forms)
    for plan in plans:
        check_plan(plan)
        if plan.name in known_forms:
            raise InputError(f"there is already a grid `{plan.name}`; give each grid its own name")
        for earlier in dict.fromkeys((*plan.rows.rests_on, *plan.columns.rests_on)):
            is_written = earlier in {*plan.rows.grids, *plan.columns.grids}
            if earlier not in known_forms:
                hint = f"earlier are {', '.join(known_forms)}" if known_forms else "it is the first"
                what = "the answers" if is_written else "texts"
                raise InputError(
                    f"grid `{plan.name}` takes {what} of `{earlier}`, which is not an earlier grid; {hint}"
                )
            if is_written and not parse_form(known_forms[earlier]).written_question:
                raise InputError(
                    f"grid `{plan.name}` takes the answers of `{earlier}`, but the main round of that grid asks for "
                    "no text; ask `text()` there"
                )
        for round_ in (round_ for round_ in plan.rounds if round_.examples):
            of, hint = f"round `{round_.name}` has examples of `{round_.examples}`", "it is the first"
            if known_forms:
                hint = suggest_name(round_.examples, known_forms, "earlier are %(names)s")
            if round_.examples not in known_forms:
                raise InputError(f"{of}, which is not an earlier grid; {hint}")
            if not parse_form(known_forms[round_.examples]).written_question:
                advice = "ask `text()` there, or name another grid"
                raise InputError(f"{of}, but the main round of that grid asks for no text; {advice}")
        known_forms[plan.name] = plan.counting.form


def _check_models(plan: RoundPlan, columns: SidePlan) -> None:
    """Raise InputError where a model of a round cannot be read, or is asked nothing."""
    models = [parse_model_spec(text) for text in plan.models]
    check_unique("name of a model", [item.name for item in models])
    if plan.prompt and not models:
        raise InputError(f"round `{plan.name}` has a `prompt` and no `models`; omit it")
    if not plan.prompt and not plan.examples and all(item.source == "canned" for item in models):
        return
    prompt_name = str(plan.prompt_file) if plan.prompt_file else f"the prompt of round `{plan.name}`"
    places = parse_places(plan.prompt, prompt_name)
    if plan.examples and EXAMPLES not in places:
        raise InputError(
            f"{prompt_name} has no placeholder `{{examples}}` for the examples of `{plan.examples}`; add it"
        )
    if EXAMPLES in places and not plan.examples:
        raise InputError(
            f"{prompt_name} has a placeholder `{{examples}}`, but nothing fills it; name in `examples` the grid that "
            "they are from, or omit the placeholder"
        )
    if (unknown := [name for name in plan.definitions if name not in columns.names]) and columns.names:
        raise InputError(
            f"round `{plan.name}` has a definition of `{unknown[0]}`, which is not a column; "
            f"{suggest_name(unknown[0], columns.names)}"
        )
    missing = [item for item in columns.names if item not in plan.definitions]
    if DEFINITION in places and missing:
        raise InputError(
            f"{prompt_name} has a placeholder `{{definition}}`, but `definitions` of round `{plan.name}` has none of "
            f"`{missing[0]}`"
        )

"""Whether the rounds of a planned grid ask what can be asked, and what their order lets them ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fcpair.errors import InputError, nearest
from fcpair.params import once
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.round_options import ROW
from fcpair.stages.answers.model_spec import parse_answerer
from fcpair.stages.answers.prompts import DEFINITION, EXAMPLES, places_in
from fcpair.stages.questions import AnyOf, Closed, Form, OneOf, parse_form
from fcpair.stages.questions.labels import need_tiers
from fcpair.stages.stats.rating_bins import check_bins

CHECK = "validate"  # the round in which decisions are validated
CHANGES = ("act", "words_changed", "characters_changed")
"""What files of answers say of a text that was edited: what was done with it, and how much of it was changed."""
COLUMNS = {
    *("by", "cell", "row", "column", "original", "skipped", "note", "seconds", "time", "origin"),
    *("answered", "written_as", "source", "group", "marks", *CHANGES),
}
"""What files of answers say beside the answers, so that no question can be called so."""


def check_plan(plan: GridPlan) -> None:
    """Raise InputError where a form cannot be read, or edits what no round before it has written."""
    forms: dict[str, Form] = {}
    for one in plan.rounds:
        forms[one.name] = form = parse_form(one.form)
        if taken := [name for name, _ in form.questions if name.lower() in COLUMNS]:
            raise InputError(
                f"round `{one.name}` has a question `{taken[0]}`, which is a column of its own in files of answers; "
                "give it another name"
            )
        _check_always(plan, one.name, form)
        if one.name in plan.hiding and (one.in_order or form.has_always):
            tells = "`in_order`" if one.in_order else "`always=column`"
            raise InputError(
                f"round `{one.name}` does not show the column (`hide`), which {tells} would tell; omit that, or say "
                '`hide = "nothing"`'
            )
        _check_models(one, plan.columns)
        if one.probabilities and not (len(form.questions) == 1 and isinstance(form.questions[0][1], OneOf)):
            raise InputError(
                f"round `{one.name}` asks how probable answers are (`probabilities`); ask one question with one_of(...)"
            )
        if form.edits and not one.edits:
            kind = form.edits[1].kind
            raise InputError(
                f"round `{one.name}` has `{kind}(...)`; say with `edits` which round's text is edited, or `{ROW}`, or "
                "ask `text(...)`"
            )
        if one.edits and not form.edits:
            raise InputError(
                f"round `{one.name}` edits `{one.edits}`; ask `edit(...)` or `curate(...)` in its form, or say `after`"
            )
        if one.edits not in {"", ROW} and not forms[one.edits].writes:
            raise InputError(f"round `{one.name}` edits `{one.edits}`, in which no text is written")
    if plan.agreement:
        check_bins(forms[plan.counting.name], plan.agreement.bins)
    if plan.validate:
        labels_asked(plan.counting)
        if CHECK in forms:
            raise InputError(
                f"grid `{plan.name}` is validated in a round `{CHECK}`; give the round of yours another name"
            )


def _check_always(plan: GridPlan, name: str, form: Form) -> None:
    """Raise InputError where a column has a name that is always to be a label, and is none."""
    for asked, question in form.questions:
        if not (isinstance(question, AnyOf) and question.always):
            continue
        if not plan.columns.names:
            raise InputError(
                f"round `{name}`, `{asked}`: `always=column` needs columns with `names`, each of them a label"
            )
        for column in plan.columns.names:
            if column not in question.names:
                raise InputError(
                    f"round `{name}`, `{asked}`: column `{column}` is none of its labels; "
                    f"{nearest(column, question.names)}"
                )


def labels_asked(plan: RoundPlan) -> Closed:
    """The question whose answers become decisions; raises InputError where tiers cannot rest on what is asked."""
    (_, question), *others = parse_form(plan.form).questions
    if others:
        raise InputError(f"round `{plan.name}` asks several questions, so nothing can be decided and validated")
    return need_tiers(question)


def check_plans(plans: Sequence[GridPlan], there: Mapping[str, str]) -> None:
    """Raise InputError where a grid has the name of another, or a side is what an earlier grid does not write.

    `there` are the grids that come before all of these: of each name the printed form of the round that counts.
    """
    known = dict(there)
    for plan in plans:
        check_plan(plan)
        if plan.name in known:
            raise InputError(f"there is a grid `{plan.name}` already; give each a name of its own")
        for earlier in dict.fromkeys((*plan.rows.grids, *plan.columns.grids)):
            if earlier not in known:
                which = f"earlier are {', '.join(known)}" if known else "it is the first"
                raise InputError(f"grid `{plan.name}` takes the answers of `{earlier}`, no earlier grid; {which}")
            if not parse_form(known[earlier]).writes:
                raise InputError(
                    f"grid `{plan.name}` takes the answers of `{earlier}`, in whose round that counts no text is "
                    "written; ask `text()` there"
                )
        for one in plan.rounds:
            _check_examples(one, known)
        known[plan.name] = plan.counting.form


def _check_examples(plan: RoundPlan, known: Mapping[str, str]) -> None:
    """Raise InputError where the examples of a round are of no earlier grid, or of one in which no text is written."""
    if not plan.examples:
        return
    if plan.examples not in known:
        which = nearest(plan.examples, known, "earlier are") if known else "it is the first"
        raise InputError(f"round `{plan.name}` has examples of `{plan.examples}`, no earlier grid; {which}")
    if not parse_form(known[plan.examples]).writes:
        raise InputError(
            f"round `{plan.name}` has examples of `{plan.examples}`, in whose round that counts no text is written; "
            "ask `text()` there, or name another grid"
        )


def _check_models(plan: RoundPlan, columns: SidePlan) -> None:
    """Raise InputError where a model of a round cannot be read, or is asked nothing."""
    models = [parse_answerer(text) for text in plan.models]
    once("name of a model", [one.name for one in models])
    if plan.prompt and not models:
        raise InputError(f"round `{plan.name}` has a `prompt` and no `models`; omit it")
    if not plan.prompt and not plan.examples and all(one.source == "canned" for one in models):
        return
    where = str(plan.prompt_file) if plan.prompt_file else f"the prompt of round `{plan.name}`"
    places = places_in(plan.prompt, where)
    if plan.examples and EXAMPLES not in places:
        raise InputError(f"{where} has no place `{{examples}}` for the examples of `{plan.examples}`; put it in")
    if EXAMPLES in places and not plan.examples:
        raise InputError(
            f"{where} has a place `{{examples}}`, and nothing to put there; say with `examples` which grid they are "
            "from, or omit the place"
        )
    for name in plan.definitions if columns.names else ():
        if name not in columns.names:
            raise InputError(
                f"round `{plan.name}` has a definition of `{name}`, which is no column; {nearest(name, columns.names)}"
            )
    missing = [one for one in columns.names if one not in plan.definitions]
    if DEFINITION in places and missing:
        raise InputError(
            f"{where} has a place `{{definition}}`, but `definitions` of round `{plan.name}` has none of `{missing[0]}`"
        )

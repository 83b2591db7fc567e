"""Models that answer a round: each is asked for its cells, and what it says is kept as anybody's answer is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from fcpair.errors import ConflictError, InputError, ServiceError, StageError, suggest_name
from fcpair.lazy import pd
from fcpair.models.answering_models import AnsweringModel, Cell, Progress, RequestEstimate, open_model
from fcpair.models.encode import begin_part
from fcpair.models.language import check_language, other_language
from fcpair.models.service import Service, strip_fence
from fcpair.records import Origin, Role, Round, RunRecord
from fcpair.stages.answers import model_spec
from fcpair.stages.answers.replies import DUPLICATE_KEYS, MARKS, find_marks, read_choice, read_probabilities
from fcpair.stages.corpus.text_identity import NO_TEXT, escape_non_text, identity
from fcpair.stages.questions import Curate, Form, OneOf, Text
from fcpair.stages.questions.form import Answer
from fcpair.steps.answers.answer_import import save_answers
from fcpair.steps.answers.examples import prompt_examples
from fcpair.steps.base.answer_values import answer_numbers, closed_question, form_of
from fcpair.steps.base.context import Basis, GridContext, MovedError, begin_run, need_cells
from fcpair.steps.people import reassignment
from fcpair.steps.rules import rule_decisions, tallies
from fcpair.store import Tx, people
from fcpair.store.answers import authorship, judgements, refused_texts
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import runs
from fcpair.values import DuplicateKeyError, parse_json

GENERATE = "generate"
MAX_TRIES = 3
MAX_SHOWN = 200  # characters of a reply that cannot be taken


def generation_outlook(grid: GridContext, round: str) -> list[tuple[str, RequestEstimate]]:
    """Estimate, by model, what asking the models of a round for the cells that they have not answered would take;
    raises what `generate` does, but for what comes of asking.
    """
    with grid._store.read() as tx:
        round_, answerers, queries = _load_queries(tx, grid.grid.name, round)
    return [
        (answerer.name, speaker.estimate([query.cell for query in queries if query.model == model]))
        for model, (answerer, speaker) in enumerate(zip(answerers, _open_models(round_, answerers), strict=True))
    ]


class _Query(NamedTuple):
    """Query to a model, by its place among those of the round, about a cell, by its number and its texts."""

    model: int
    cell_id: int
    cell: Cell


def queries_a_service(round_: Round) -> bool:
    """Return whether any model of a round is one of a service, to which texts are sent."""
    return any(model_spec.parse_model_spec(model).source == "service" for model in round_.options.models)


def service_obstacle(grid: GridContext, name: str) -> str | None:
    """The reason why the service of a round's models cannot be asked; None where it can, or none is needed."""
    with grid._store.read() as tx:
        if not queries_a_service(rounds.by_name(tx, name)):
            return None
    try:
        Service.from_environment().address()
    except ServiceError as error:
        return str(error)
    return None


def generate(grid: GridContext, round: str, *, progress: Progress | None = None) -> RunRecord:
    """Ask the models of a `round` for every cell that they have not answered, and keep what they say, verbatim.

    Where the form asks for one text, the reply is the answer. Else it is taken as the form takes a cell of a file, and
    of several questions it is a JSON object with each by its name; one that cannot be taken is a skip, whose note says
    why. What is amiss with a text is marked (`replies`), for those who curate it. Models are asked outside of any
    transaction, and their replies are kept, so that a run that broke off asks only for the rest, as does this where
    what they are asked has changed meanwhile.

    Raises UnknownIdError for no such round; StageError where no models answer it, its cells are not made, another round
    comes first, its examples are not found or not reviewed, or all is answered; InputError for a file of canned replies
    that cannot be read, a person with the name of a model, a place of the prompt that no row fills, or a language that
    cannot be told; ServiceError for no usable answer and ModelError for a model that cannot be had; ConflictError where
    what the models are asked changed each time.
    """
    replies: dict[tuple[model_spec.ModelSpec, int], tuple[Cell, str | None]] = {}  # and how the cell was then
    for _ in range(MAX_TRIES):
        with grid._store.read() as tx:
            basis = Basis(tx, lambda tx: _load_queries(tx, grid.grid.name, round))
        round_, answerers, queries = basis.inputs
        speakers, form = _open_models(round_, answerers), form_of(round_.form)
        for model, (answerer, speaker) in enumerate(zip(answerers, speakers, strict=True)):
            own = [
                query for query in queries if query.model == model
            ]  # replies to cells that have not changed are kept
            new = [query for query in own if replies.get((answerer, query.cell_id), (None, None))[0] != query.cell]
            begin_part(progress, answerer.name)
            texts = speaker.replies([query.cell for query in new], progress) if new else []
            replies |= {(answerer, query.cell_id): (query.cell, text) for query, text in zip(new, texts, strict=True)}
        outcomes = [
            _read_reply(form, round_, replies[answerers[query.model], query.cell_id][1], query.cell)
            for query in queries
        ]
        with suppress(MovedError), grid._store.write() as tx:
            basis.check_unmoved(tx)
            models = {answerer.name: speaker.record() for answerer, speaker in zip(answerers, speakers, strict=True)}
            run_id = begin_run(tx, GENERATE, {"grid": grid.grid.name, "round": round, "models": models})
            people_by_name = {person.name: person for person in people.people(tx)}
            for name in models:
                if name in people_by_name and people_by_name[name].role is not Role.MODEL:
                    raise InputError(f"`{name}` is a person of this study; give the model another name")
            if new_names := [name for name in models if name not in people_by_name]:
                people_by_name |= {person.name: person for person in people.add_people(tx, new_names, Role.MODEL)}
            person_ids = [people_by_name[answerers[query.model].name].id for query in queries]
            cell_ids = [query.cell_id for query in queries]
            cells_ = pd.DataFrame({"cell_id": cell_ids, "person_id": person_ids})
            reassignment.assign_missing(tx, cells_, round_)
            assigned_rows = assignments.assignments(tx, round_)[["id", "cell_id", "person_id"]]
            rows = cells_.merge(assigned_rows, on=["cell_id", "person_id"]).rename(columns={"id": "assignment_id"})
            answers = [outcome.answer for outcome in outcomes]
            rows["answer_id"] = answer_numbers(tx, round_, form, answers, cell_ids)
            save_answers(tx, rows.assign(note=[outcome.note for outcome in outcomes]), Origin.GENERATED, run_id)
            outcome_rows = zip(rows["assignment_id"].tolist(), outcomes, strict=True)
            given = ((id_, of.reply, of.marks) for id_, of in outcome_rows if of.reply is not None)
            refused_texts.add_replies(tx, run_id, given)
            n_answers = sum(outcome.answer is not None for outcome in outcomes)
            counts: dict[str, Any] = {"round": round_.name, "models": len(answerers)}
            counts |= {"answers": n_answers, "skips": len(outcomes) - n_answers}
            if n_by_mark := Counter(mark for outcome in outcomes for mark in outcome.marks):
                counts["marked"] = {name: n_by_mark[name] for name in MARKS if name in n_by_mark}
            if round_.counts and closed_question(form):
                counts |= rule_decisions.apply_policy(tx, sorted({query.cell_id for query in queries}))
            return runs.end_run(tx, run_id, counts)
    raise ConflictError(
        f"what the models of round `{round}` are asked changed each time while they were asked, so nothing was "
        "written; their replies are kept, and running the command again asks only for the rest"
    )


def _load_queries(tx: Tx, grid: str, name: str) -> tuple[Round, list[model_spec.ModelSpec], list[_Query]]:
    round_ = rounds.by_name(tx, name)
    if round_.role is not Role.MODEL:
        raise StageError.say(
            "round `%(name)s` of grid `%(grid)s` is answered by people; `fcpair assign --round` assigns it",
            name=name,
            grid=grid,
        )
    if expected := round_.options.language:
        check_language(str(expected))
    need_cells(tx, grid)
    open_cells = cells.cells(tx)
    if round_.options.rests_on:
        tallies.check_done(tx, grid, rounds.by_name(tx, round_.options.rests_on))
        open_cells = open_cells[open_cells["cell_id"].isin(authorship.cells_answered_before(tx, round_))]
    examples_by_row = prompt_examples(tx, grid, round_)
    answerers = [model_spec.parse_model_spec(text) for text in round_.options.models]
    prompt, texts = str(round_.options.prompt), cells.texts_of_grid(tx).set_index("text_id")
    bodies = texts["body"]
    row_metadata = texts.loc[open_cells["hs_id"].unique().tolist(), "meta"].tolist()
    known_names = list(dict.fromkeys(name for about in row_metadata for name in about))
    if unknown_names := sorted(model_spec.row_columns(prompt) - {*known_names}):
        wanted = unknown_names[0]
        hint = suggest_name(wanted, known_names, "they have %(names)s") if known_names else "they have none"
        place = f"{{{model_spec.ROW_PREFIX}{wanted}}}"
        raise InputError(f"the prompt of round `{name}` has `{place}`, which no row has; {hint}")
    columns = open_cells["cn_id"].unique().tolist()
    ids_by_name = {person.name: person.id for person in people.people(tx)}
    models_by_column = defaultdict[int, list[int]](list)
    for column, model in model_spec.match_columns([bodies[column_id] for column_id in columns], answerers):
        models_by_column[columns[column]].append(model)
    answers = judgements.current_labels(tx, "cell_id", "person_id", of=round_)
    answered_keys = set(zip(answers["cell_id"], answers["person_id"], strict=True))
    definitions, queries = dict(round_.options.definitions or {}), list[_Query]()
    for cell_id, row_id, column_id in open_cells[["cell_id", "hs_id", "cn_id"]].itertuples(index=False, name=None):
        ids = ((model, ids_by_name.get(answerers[model].name)) for model in models_by_column[column_id])
        if waiting := [model for model, person_id in ids if (cell_id, person_id) not in answered_keys]:
            row_body, column_body = str(bodies[row_id]), str(bodies[column_id])
            places = {
                model_spec.ROW: row_body,
                model_spec.COLUMN: column_body,
                model_spec.DEFINITION: definitions.get(column_body, ""),
                model_spec.EXAMPLES: examples_by_row.get(row_id, ""),
            }
            row_values = {key: str(text) for key, text in texts["meta"][row_id].items()}
            cell = Cell(row_body, column_body, model_spec.fill_prompt(prompt, places, row_values), row_values)
            queries += [_Query(model, cell_id, cell) for model in waiting]
    if not queries:
        raise StageError.say(
            "every cell of grid `%(grid)s` has the answer of its model in round `%(name)s`", grid=grid, name=name
        )
    return round_, answerers, queries


class _ReplyOutcome(NamedTuple):
    """Outcome of a reply: the answer that it is, its marks, and a note, which says why it is none."""

    reply: str | None
    answer: Answer | None
    marks: tuple[str, ...] = ()
    note: str = ""


def _open_models(round_: Round, answerers: Sequence[model_spec.ModelSpec]) -> list[AnsweringModel]:
    question = closed_question(form_of(round_.form)) if round_.options.probabilities else None
    weighed = tuple(choice.name for choice in question or ())
    return [open_model(answerer, str(round_.options.prompt), weighed) for answerer in answerers]


def _read_reply(form: Form, round_: Round, reply: str | None, cell: Cell) -> _ReplyOutcome:
    if reply is None:
        return _ReplyOutcome(None, None, (), "the model has no reply to this cell")
    names = [name for name, _ in form.questions]
    question, note = form[names[0]], ""
    # any reply is an answer; what curates a text has to be read, as it may reject one
    is_free = len(names) == 1 and isinstance(question, Text) and not isinstance(question, Curate)
    is_free = is_free and not NO_TEXT.search(reply)
    try:
        if isinstance(closed := closed_question(form), OneOf):
            choices = [choice.name for choice in closed]
            if round_.options.probabilities:
                chosen, _, note = read_probabilities(reply, choices)
            else:
                texts = [str(cell.about.get(f"option_{at}", "")) for at in range(len(choices))]
                chosen = read_choice(reply, choices, texts) or reply
            return _ReplyOutcome(escape_non_text(reply), form.read({names[0]: chosen}), (), note)
        if is_free:
            answer: Answer = {names[0]: reply}
        elif len(names) == 1:
            answer = form.read({names[0]: reply})
        else:
            answer = form.without_limits.load_submitted(_parse_json_object(reply))
    except InputError as error:
        mark = (DUPLICATE_KEYS,) if isinstance(error.__cause__, DuplicateKeyError) else ()
        note = f"the reply cannot be used ({error}): {reply[:MAX_SHOWN]}"
        return _ReplyOutcome(escape_non_text(reply), None, mark, escape_non_text(note))
    written, text = form[form.written_question or names[0]], reply if is_free else form.text(answer)
    if text is None or not isinstance(written, Text):
        return _ReplyOutcome(reply, answer)
    expected = str(round_.options.language or "")
    detected = other_language(text, expected) if expected and identity(text) else None
    marks = find_marks(text, written, detected and detected[0])
    return _ReplyOutcome(reply, answer, marks, f"marked: {', '.join(marks)}" if marks else "")


def _parse_json_object(reply: str) -> dict[str, Any]:
    """The JSON object that a reply is, bare or in a fence; raises InputError for anything else."""
    try:
        value = parse_json(strip_fence(reply))
    except DuplicateKeyError as error:
        raise InputError(error.msg) from error
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InputError("expected a JSON object with an answer to each question")
    return value

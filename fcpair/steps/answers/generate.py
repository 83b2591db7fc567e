"""Models that answer a round: each is asked for its cells, and what it says is kept as anybody's answer is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from fcpair.errors import ConflictError, InputError, StageError, nearest
from fcpair.models.answering_models import Cell, Outlook, Progress, Speaker, speaker
from fcpair.models.language import check_known, other_language
from fcpair.models.prompt import unfenced
from fcpair.records import Origin, Person, Role, Round, RunRecord, Status
from fcpair.stages.answers import option_probabilities
from fcpair.stages.answers.model_spec import Answerer, asked_of, parse_answerer
from fcpair.stages.answers.prompts import COLUMN, DEFINITION, EXAMPLES, OF_ROW, ROW, columns_of_row, fill
from fcpair.stages.answers.reply_flags import DUPLICATE_KEYS, MARKS, marks_of
from fcpair.stages.corpus.text_identity import NO_TEXT, identity, writable
from fcpair.stages.questions import Curate, Form, OneOf, Question, Text
from fcpair.stages.questions.form import Answer
from fcpair.steps.answers.answer_import import save_answers
from fcpair.steps.base.answer_values import closed_question, form_of, numbers
from fcpair.steps.base.context import Basis, MovedError, OnGrid, begin_run
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.example_review import given_to_models
from fcpair.steps.rules.round_progress import check_done
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements, model_replies
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import runs
from fcpair.store.people import people

GENERATE = "generate"
TRIES = 3
MOVING = (
    "changed each time while they were asked, so nothing was written; their replies are kept, and running the command "
    "again asks only for the rest"
)
SHOWN = 200  # characters of a reply that cannot be taken


def generation_outlook(grid: OnGrid, name: str) -> list[tuple[str, Outlook]]:
    """What asking the models of a round would take, by the model, for the cells that they have not answered.

    Nothing is asked. Raises what `generate` does, but for what comes of asking.
    """
    with grid.store.read() as tx:
        asked = _asked(tx, grid.grid.name, name)
    prompt = str(asked.round.options.prompt)
    found = []
    for model, answerer in enumerate(asked.answerers):
        own = [cell for cell, of in zip(asked.cell, asked.model, strict=True) if of == model]
        found.append((answerer.name, speaker(answerer, prompt, _weighs(asked.round)).outlook(own)))
    return found


@dataclass(frozen=True)
class _Asked:
    """What the models of a round are asked: of each cell its number, its texts and the model, by place."""

    round: Round
    answerers: list[Answerer]
    cell_id: list[int]
    cell: list[Cell]
    model: list[int]


_Replied = dict[tuple[Answerer, int], tuple[Cell, str | None]]
"""What a model said of a cell, by its number, and how the cell was then."""


def asks_a_service(of: Round) -> bool:
    """Whether any model of a round is one of a service, to which texts are sent."""
    return any(parse_answerer(one).source == "service" for one in of.options.models)


def generate(grid: OnGrid, name: str, *, progress: Progress | None = None) -> RunRecord:
    """Ask the models of round `name` for every cell that they have not answered, and keep what they say.

    Every reply is kept as it is. Where the form asks for one text, it is the answer. Else a reply is taken as the form
    takes a cell of a file, and of several questions it is a JSON object with each by its name; one that cannot be taken
    is a skip, whose note says why. A text may have any length: what is amiss with it is marked (`reply_flags`), for
    those who curate it. Models are asked outside of any transaction, and their replies are kept, so that a run that
    broke off asks only for the rest, as does this where what they are asked has changed meanwhile.

    Raises:
        UnknownIdError: no such round.
        StageError: no models answer the round, its cells are not made, another round comes first, its examples are
            not found or not reviewed, or all is answered.
        InputError: a file of canned replies cannot be read, a person has the name of a model, no row has what the
            prompt has a place for, or the language of the round is none that can be told.
        ServiceError: the service gives no usable answer; the study is as it was.
        ModelError: a model of this machine cannot be had.
        ConflictError: what the models are asked changed while they were asked, as often as that was tried.
    """
    replied: _Replied = {}
    for _ in range(TRIES):
        with grid.store.read() as tx:
            basis = Basis(tx, lambda tx: _asked(tx, grid.grid.name, name))
        asked = basis.found
        prompt = str(asked.round.options.prompt)
        speakers = [speaker(one, prompt, _weighs(asked.round)) for one in asked.answerers]
        said = _replies(asked, speakers, replied, progress)
        form = form_of(asked.round.form)
        taken = [_taken(form, asked.round, reply, cell) for reply, cell in zip(said, asked.cell, strict=True)]
        with suppress(MovedError), grid.store.write() as tx:
            basis.check_unmoved(tx)
            models = {one.name: own.record() for one, own in zip(asked.answerers, speakers, strict=True)}
            run_id = begin_run(tx, GENERATE, {"grid": grid.grid.name, "round": name, "models": models})
            _save(tx, asked, form, taken, run_id)
            return runs.end_run(tx, run_id, _counts(tx, asked, form, taken))
    raise ConflictError(f"what the models of round `{name}` are asked {MOVING}")


def _counts(tx: Tx, asked: _Asked, form: Form, taken: Sequence[_Taken]) -> dict[str, Any]:
    """What is counted of a run, and what rules decide by it."""
    n_answers = sum(one.answer is not None for one in taken)
    counts: dict[str, Any] = {"round": asked.round.name, "models": len(asked.answerers), "answers": n_answers}
    counts["skips"] = len(taken) - n_answers
    if marked := Counter(mark for one in taken for mark in one.marks):
        counts["marked"] = {name: marked[name] for name in MARKS if name in marked}
    if asked.round.counts and closed_question(form):
        counts |= rule_decisions.settle(tx, sorted(set(asked.cell_id)))
    return counts


def _asked(tx: Tx, grid: str, name: str) -> _Asked:
    round_ = rounds.named(tx, name)
    if round_.role is not Role.MODEL:
        raise StageError(f"round `{name}` of grid `{grid}` is answered by people; `fcpair assign --round` deals it")
    if expected := round_.options.language:
        check_known(str(expected))
    if not cells.number_range(tx)[1]:
        raise StageError(f"grid `{grid}` has no cells yet; run `fcpair pair --grid {grid}`")
    there = cells.cells(tx)
    if round_.options.rests_on:
        earlier = rounds.named(tx, round_.options.rests_on)
        check_done(tx, grid, earlier)
        there = there[there["cell_id"].isin(authorship.cells_before(tx, round_))]
    shown = given_to_models(tx, grid, round_)
    answerers = [parse_answerer(text) for text in round_.options.models]
    texts = cells.texts_of_grid(tx).set_index("text_id")
    bodies = texts["body"]
    _check_about(round_, texts.loc[there["hs_id"].unique().tolist(), "meta"].tolist())
    columns = there["cn_id"].unique().tolist()
    names = {one.name: one.id for one in people.people(tx)}
    of_column: dict[int, list[int]] = {}
    for column, model in asked_of([bodies[one] for one in columns], answerers):
        of_column.setdefault(columns[column], []).append(model)
    given = judgements.all_answers(tx, round_)
    done = set(zip(given["cell_id"][~given["skipped"]], given["person_id"][~given["skipped"]], strict=True))
    due = [
        (cell_id, _cell(round_, str(bodies[row]), str(bodies[column]), texts["meta"][row], shown.get(row, "")), model)
        for cell_id, row, column in there[["cell_id", "hs_id", "cn_id"]].itertuples(index=False, name=None)
        for model in of_column[column]
        if (cell_id, names.get(answerers[model].name)) not in done
    ]
    if not due:
        raise StageError(f"every cell of grid `{grid}` has the answer of its model in round `{name}`")
    cell_ids, asked, models = map(list, zip(*due, strict=True))
    return _Asked(round_, answerers, cell_ids, asked, models)


def _check_about(of: Round, about_rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise InputError where the prompt has a place for metadata that no row has."""
    known = list(dict.fromkeys(name for about in about_rows for name in about))
    for name in sorted(columns_of_row(str(of.options.prompt))):
        if name not in known:
            there = nearest(name, known, "they have") if known else "they have none"
            raise InputError(f"the prompt of round `{of.name}` has `{{{OF_ROW}{name}}}`, which no row has; {there}")


def _cell(of: Round, row: str, column: str, about_row: Mapping[str, Any], examples: str) -> Cell:
    """A cell with the prompt that has its texts."""
    definition = dict(of.options.definitions or {}).get(column, "")
    places = {ROW: row, COLUMN: column, DEFINITION: definition, EXAMPLES: examples}
    own = {name: str(one) for name, one in about_row.items()}
    return Cell(row, column, fill(str(of.options.prompt), places, own), own)


def _replies(
    asked: _Asked, speakers: Sequence[Speaker], replied: _Replied, progress: Progress | None
) -> list[str | None]:
    """What the models say of their cells; of those that are in `replied` as they are now, what is there."""
    keys = [(asked.answerers[model], cell_id) for model, cell_id in zip(asked.model, asked.cell_id, strict=True)]
    for model, one in enumerate(speakers):
        own = [at for at, of in enumerate(asked.model) if of == model]
        new = [at for at in own if keys[at] not in replied or replied[keys[at]][0] != asked.cell[at]]
        said = one.replies([asked.cell[at] for at in new], progress) if new else []
        replied |= {keys[at]: (asked.cell[at], reply) for at, reply in zip(new, said, strict=True)}
    return [replied[key][1] for key in keys]


class _Taken(NamedTuple):
    """What became of a reply: the answer that it is, its marks, and a note, which says why it is none."""

    reply: str | None
    answer: Answer | None
    marks: tuple[str, ...] = ()
    note: str = ""


def _weighs(of: Round) -> tuple[str, ...]:
    """The answers whose probabilities a round asks for; none where it asks for what is written."""
    question = closed_question(form_of(of.form)) if of.options.probabilities else None
    return tuple(one.name for one in question) if question else ()


def _taken(form: Form, of: Round, reply: str | None, cell: Cell) -> _Taken:
    if reply is None:
        return _Taken(None, None, (), "the model has no reply to this cell")
    if isinstance(closed := closed_question(form), OneOf):
        return _chosen(form, closed, of, reply, cell)
    names = [name for name, _ in form.questions]
    question = form[names[0]]
    if len(names) == 1 and _is_verbatim(question) and not NO_TEXT.search(reply):
        marks = _marks(of, reply, question)
        return _Taken(reply, {names[0]: reply}, marks, f"marked: {', '.join(marks)}" if marks else "")
    try:
        answer = form.read({names[0]: reply}) if len(names) == 1 else form.unlimited.take(_parsed(reply))
    except InputError as error:
        mark = (DUPLICATE_KEYS,) if isinstance(error, _DuplicateKeysError) else ()
        note = f"the reply cannot be taken ({error}): {reply[:SHOWN]}"
        return _Taken(writable(reply), None, mark, writable(note))
    written = form[form.writes] if form.writes else None
    text = form.text(answer)
    marks = _marks(of, text, written) if text is not None and isinstance(written, Text) else ()
    return _Taken(reply, answer, marks, f"marked: {', '.join(marks)}" if marks else "")


def _chosen(form: Form, question: OneOf, of: Round, reply: str, cell: Cell) -> _Taken:
    """What became of a reply to a closed question: it is read by its names, or what the row's metadata say of them."""
    name, names = form.questions[0][0], [one.name for one in question]
    note = ""
    try:
        if of.options.probabilities:
            chosen, _, note = option_probabilities.weighed(reply, names)
        else:
            texts = [str(cell.about.get(f"option_{at}", "")) for at in range(len(names))]
            chosen = option_probabilities.written(reply, names, texts) or reply
        return _Taken(writable(reply), form.read({name: chosen}), (), note)
    except InputError as error:
        return _Taken(writable(reply), None, (), writable(f"the reply cannot be taken ({error}): {reply[:SHOWN]}"))


def _marks(of: Round, text: str, question: Text) -> tuple[str, ...]:
    expected = str(of.options.language or "")
    other = other_language(text, expected) if expected and identity(text) else None
    return marks_of(text, question, other and other[0])


class _DuplicateKeysError(InputError):
    """A JSON object has a key twice, and so may have two answers to a question."""


def _is_verbatim(question: Question[Any]) -> TypeGuard[Text]:
    """Whether any reply is an answer; what curates a text has to be read, as it may reject one."""
    return isinstance(question, Text) and not isinstance(question, Curate)


def _parsed(reply: str) -> dict[str, Any]:
    """The JSON object that a reply is, bare or in a fence; raises InputError for anything else."""
    try:
        found = json.loads(unfenced(reply), object_pairs_hook=_once)
    except InputError:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("expected a JSON object with an answer to each question")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; raises InputError where a key is given twice."""
    n = Counter(name for name, _ in pairs)
    if twice := [name for name in n if n[name] > 1]:
        raise _DuplicateKeysError(f"`{twice[0]}` is given twice")
    return dict(pairs)


def _save(tx: Tx, asked: _Asked, form: Form, taken: Sequence[_Taken], run_id: int) -> None:
    """Deal the cells to their models as far as they have not been, and add the answers and the replies."""
    import pandas as pd

    ids = np.array([one.id for one in _models(tx, asked.answerers)])
    cells_ = pd.DataFrame({"cell_id": asked.cell_id, "person_id": ids[asked.model]})
    there = assignments.assignments(tx, asked.round)[["id", "cell_id", "person_id"]]
    new = cells_[~pd.MultiIndex.from_frame(cells_).isin(pd.MultiIndex.from_frame(there[["cell_id", "person_id"]]))]
    last = new["person_id"].map(assignments.last_positions(tx, asked.round, ids.tolist())).fillna(0).astype("int64")
    position = last + new.groupby("person_id").cumcount() + 1
    assignments.add_assignments(tx, new.assign(position=position, status=Status.OPEN.value), asked.round)
    dealt = assignments.assignments(tx, asked.round)[["id", "cell_id", "person_id"]]
    rows = cells_.merge(dealt, on=["cell_id", "person_id"]).rename(columns={"id": "assignment_id"})
    rows["answer_id"] = numbers(tx, asked.round, form, [one.answer for one in taken], asked.cell_id)
    save_answers(tx, rows.assign(note=[one.note for one in taken]), Origin.GENERATED, run_id)
    said = zip(rows["assignment_id"].tolist(), taken, strict=True)
    model_replies.add(tx, run_id, ((one, of.reply, of.marks) for one, of in said if of.reply is not None))


def _models(tx: Tx, answerers: Sequence[Answerer]) -> list[Person]:
    """The models as the study has them, added where it has not; InputError where a person has the name of one."""
    there = {one.name: one for one in people.people(tx)}
    if human := [one.name for one in answerers if one.name in there and there[one.name].role is not Role.MODEL]:
        raise InputError(f"`{human[0]}` is a person of this study; give the model another name")
    if new := [one.name for one in answerers if one.name not in there]:
        there |= {one.name: one for one in people.add_people(tx, new, Role.MODEL)}
    return [there[one.name] for one in answerers]

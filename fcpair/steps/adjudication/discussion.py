"""A calibration seen as a whole: its discussion, who has answered what, and agreement before and after; and flags: the
decisions on which an adjudicator noted that the guidelines should say more, or pairs of which a lead did, and at which
sentence.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fcpair.errors import InputError
from fcpair.lazy import pd
from fcpair.params import Agree, Calibration, Note
from fcpair.records import UNDECIDED, WORKERS, Figure, Role, RunRecord, Status, Visitor
from fcpair.sentences import Id
from fcpair.stages.questions.labels import option_wordings
from fcpair.stages.stats.agreement import AgreementBlock
from fcpair.steps.adjudication.agreement import agreement_blocks, with_fitting_bins
from fcpair.steps.base.answer_values import form_of, format_answer
from fcpair.steps.base.calibration_state import (
    CalibrationState,
    Phase,
    latest_answers,
    load_calibration,
    need_calibration,
)
from fcpair.steps.base.context import GridContext, StudyContext, effective_options, labels_of, note_run, options_as_done
from fcpair.steps.rules import permissions
from fcpair.steps.rules.wording import effective_words, side_headings
from fcpair.store import Tx, people
from fcpair.store.answers import activity_log, judgements, task_queries
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import settings
from fcpair.work_records import CalibratedPerson, CalibrationResult, FigureChange, ShownText


@dataclass(frozen=True)
class DiscussedPair:
    """A pair on which people differ: its texts, the answers to it with how many gave each, and their notes.

    `column` is None where the round hides it. The most common answer comes first; `notes` are in no order that tells
    who wrote them. `own` is what the person who looks answered; None for a lead.
    """

    row: ShownText
    column: ShownText | None
    answers: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    own: str | None


@dataclass(frozen=True)
class Discussion:
    """The discussion in a grid, as somebody may see it: its pairs in the order in which they answer them again.

    `n_left` of the pairs they have still to answer again, None for a lead. `sentences` of the guidelines are those at
    which adjudicators' flags were put.
    """

    grid: str
    row_name: str
    column_name: str
    pairs: tuple[DiscussedPair, ...]
    n_left: int | None
    sentences: tuple[str, ...]


def discussions(study: StudyContext, visitor: Visitor) -> list[Discussion]:
    """The discussions that somebody may see: their own while they last, and of a lead all that were opened."""
    person_id, seen = None if visitor.role is Role.LEAD else visitor.id, list[Discussion]()
    with study._store.read() as tx:
        words = effective_words(tx).in_language(visitor.language)
        for grid, state in _open_states(tx, visitor):
            cell_ids = _cells_to_discuss(tx, state, visitor)
            if cell_ids or person_id is None:
                texts = option_wordings(form_of(state.first.form).as_json(), words, grid)
                names = {name: parts["text"] for name, parts in texts.items() if "text" in parts}
                columns, pairs = ("cell_id", "person_id", "value", "note"), list[DiscussedPair]()
                labels = judgements.current_labels(tx, *columns, cell_ids=cell_ids, of=state.first)
                labels["text"] = [format_answer(form_of(state.first.form), value, names) for value in labels["value"]]
                by_cell = dict(list(labels.groupby("cell_id")))
                for cell_id in cell_ids:
                    answers = by_cell.get(cell_id, labels[:0])
                    row, column = (ShownText.of(text["body"], text["language"]) for text in cells.texts_of(tx, cell_id))
                    notes = sorted(filter(None, answers["note"]))
                    random.Random(cell_id).shuffle(notes)
                    own = next(iter(answers["text"][answers["person_id"] == person_id]), None)
                    by_number = sorted(Counter(answers["text"]).items(), key=lambda item: (-item[1], item[0]))
                    shown_column = None if state.first.options.hides_column else column
                    pairs.append(DiscussedPair(row, shown_column, tuple(by_number), tuple(notes), own))
                n_left = None if person_id is None else task_queries.n_open(tx, person_id, state.again)
                flags = load_flags(tx) if labels_of(tx) else []
                sentences = dict.fromkeys(flag.sentence for flag in flags if flag.sentence)
                seen.append(Discussion(grid, *side_headings(tx, words), tuple(pairs), n_left, tuple(sentences)))
    return seen


def has_discussion(study: StudyContext, visitor: Visitor) -> bool:
    """Return whether somebody who answers has a discussion to read now."""
    with study._store.read() as tx:
        return any(_cells_to_discuss(tx, state, visitor) for _, state in _open_states(tx, visitor))


def _open_states(tx: Tx, visitor: Visitor) -> Iterator[tuple[str, CalibrationState]]:
    """Yield the calibrations whose discussion a visitor may see, each with its grid, about which the transaction is."""
    phases = {Phase.DISCUSS, Phase.CLOSED} if visitor.role is Role.LEAD else {Phase.DISCUSS}
    for key in grids.for_each_grid(tx):
        state = load_calibration(tx)
        if state and state.phase in phases and visitor.role in {Role.LEAD, *WORKERS} & {Role.LEAD, state.again.role}:
            yield key.name, state


def _cells_to_discuss(tx: Tx, state: CalibrationState, visitor: Visitor) -> list[int]:
    if visitor.role is Role.LEAD:
        return judgements.cells_to_discuss(tx, state.again)
    cell_ids = judgements.cells_to_discuss(tx, state.again, visitor.id)
    spared = permissions.spared_pairs(tx, visitor.id, cell_ids)
    return [cell_id for cell_id in cell_ids if cell_id not in spared]


def measure_calibration(grid: GridContext) -> CalibrationResult:
    """Measure how far a calibration is, and agreement before and after its discussion, by the grid's own options;
    raises StageError if there is none.
    """
    with grid._store.read() as tx:
        return _measure(tx, need_calibration(tx), effective_options(tx, Agree, {}))


def load_calibration_result(tx: Tx, options: Agree) -> CalibrationResult | None:
    """The same of the grid that a transaction is about, by these options; None if there is no calibration."""
    state = load_calibration(tx)
    return _measure(tx, state, options) if state else None


def _measure(tx: Tx, state: CalibrationState, options: Agree) -> CalibrationResult:
    options = with_fitting_bins(tx, state.first, replace(options, blocks=None, metadata=None))
    first = judgements.current_labels(tx, "cell_id", "answer_id", of=state.first)
    is_open = state.phase is not Phase.ANSWER
    counts, statuses = assignments.counts_of_grid(tx), (Status.DONE.value, Status.OPEN.value)
    batches = [counts.get(round_.name, {}) for round_ in (state.first, state.again)]
    calibrated_people = tuple(  # everybody who was given pairs of the batch, in the order in which they came
        CalibratedPerson(
            person.name, *(batch.get(person.id, {}).get(status, 0) for batch in batches for status in statuses)
        )
        for person in people.people(tx)
        if any(person.id in batch for batch in batches)
    )
    latest = latest_answers(tx, state, "cell_id", "answer_id") if is_open else None
    figure_changes: tuple[FigureChange, ...] = ()
    if not first.empty:  # each over the whole batch, part by part, before and after
        after_blocks = agreement_blocks(tx, state.again, options) if is_open else ()
        after = {(block.part, block.of): _figures(block) for block in after_blocks}
        figure_changes = tuple(
            FigureChange(block.part, figure, after.get((block.part, block.of), {}).get(name))
            for block in agreement_blocks(tx, state.first, options)
            for name, figure in _figures(block).items()
        )
    return CalibrationResult(
        state.target.name,
        state.phase.value,
        options_as_done(tx, Calibration).counts,
        options.level,
        len(assignments.assigned_cells(tx, state.first)),
        calibrated_people,
        _n_differing(tx, first),
        None if latest is None else _n_differing(tx, latest),
        figure_changes,
    )


def _n_differing(tx: Tx, answers: pd.DataFrame) -> int:
    ids = answers["answer_id"].unique().tolist()
    values = answers["answer_id"].map(dict(zip(ids, rounds.answer_values(tx, ids), strict=True)))
    return int((values.groupby(answers["cell_id"]).nunique() > 1).sum())


def _figures(block: AgreementBlock) -> dict[str, Figure]:
    if block.agreement is None:
        return {"agreement": Figure("agreement", None, 0, undefined=block.undefined)}
    return {figure.name: figure for figure in (*block.agreement.pooled, *block.agreement.summary)}


STAGE = "flags"  # of the settings: the sentence of each flagged pair, by its number
_BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+>|]|\d+[.)]|#{1,6})\s)")
_MARKS = re.compile(r"^(?:[-*+>|]|\d+[.)]|#{1,6})\s+")
_ENDS = re.compile(r"(?<=[.!?؟。])\s+")


@dataclass(frozen=True)
class Flag:
    """A decision on which somebody noted that the guidelines should say more, or a note that says so, without outcome;
    `stands` while the decision is the newest one, and `sentence` is that of the guidelines at which a lead has put it,
    if one has.
    """

    cell_id: int
    hs: str
    cn: str
    outcome: str
    by: str | None
    note: str
    at: str
    stands: bool
    sentence: str = ""


def load_flags(tx: Tx) -> list[Flag]:
    """The flags of the grid, newest first."""
    names: dict[int | None, str] = {None: "discarded", **{choice.code: choice.name for choice in labels_of(tx) or ()}}
    flags, sentences = list[Flag](), settings.of_stage(tx, STAGE)
    for key, noted in settings.of_stage(tx, Note.stage).items():
        if noted:
            hs, cn = (text["body"] for text in cells.texts_of(tx, grids.to_cell_id(tx, int(key))))
            flags.append(Flag(int(key), hs, cn, "", **noted, stands=True, sentence=sentences.get(key, "")))
    for row in activity_log.flagged_decisions(tx):
        number = grids.to_public_number(row.cell_id)
        outcome = "taken back" if row.rule in UNDECIDED else names[row.code]
        about = row.by, row.note, row.at, row.stands
        flags.append(Flag(number, row.hs, row.cn, outcome, *about, sentences.get(str(number), "")))
    return sorted(flags, key=lambda flag: flag.at, reverse=True)


def split_sentences(body: str) -> list[str]:
    """The sentences of guidelines in Markdown, headings and items of lists included, each once, in order."""
    blocks = (_MARKS.sub("", " ".join(block.split())) for block in _BLOCKS.split(body))
    return list(dict.fromkeys(sentence for block in blocks for sentence in _ENDS.split(block) if sentence))


def guideline_sentences(grid: GridContext) -> list[str]:
    """The sentences of the guidelines in force, at which flags can be put."""
    with grid._store.read() as tx:
        return split_sentences(people.current_guidelines(tx)[1])


def place_flag(grid: GridContext, pair: int, sentence: str) -> RunRecord:
    """Note at which sentence of the guidelines a flagged pair asks for more; an empty one takes that back. Raises
    InputError where the pair is not flagged, or the guidelines in force have no such sentence.
    """
    with grid._store.write() as tx:
        if pair not in {flag.cell_id for flag in load_flags(tx)}:
            raise InputError.say("pair %(number)s has no flag; choose one that is flagged", number=Id(pair))
        version, body = people.current_guidelines(tx)
        if sentence and sentence not in split_sentences(body):
            raise InputError.say(
                "version %(version)s of the guidelines has no sentence `%(sentence)s`; choose one of its own",
                version=Id(version),
                sentence=sentence,
            )
        run = note_run(tx, "guidelines", {"flag": pair, "sentence": sentence, "version": version}, {"pairs": 1})
        settings.save_settings(tx, STAGE, {str(pair): sentence}, run.id)
        return run

"""Notes of the lead in the log: what happened outside of the program, and a paper will have to mention."""

from __future__ import annotations

from fcpair.errors import InputError, at_fault
from fcpair.param_values import as_params
from fcpair.params import Note
from fcpair.records import RunRecord
from fcpair.sentences import say
from fcpair.steps.base.context import GridContext, find_cell, note_run
from fcpair.steps.base.keywords import takes_params

LONGEST_NOTE = 2_000  # characters


@takes_params
def add_note(grid: GridContext, note: Note | None = None, *, text: str = "", pair: int | None = None) -> RunRecord:
    """Add a note to the log: something that happened outside of the program, such as that two annotators talked.

    It changes nothing else. No release publishes it, as it may be about single people.

    Raises:
        InputError: the note is empty or too long.
        UnknownIdError: the grid has no such pair.
    """
    note = note or Note()
    with at_fault("text"):
        if not note.text.strip():
            raise InputError(say("the note is empty; write what happened"))
        if len(note.text) > LONGEST_NOTE:
            raise InputError(
                say(
                    "the note has %(number)s characters; expected at most %(most)s",
                    number=len(note.text),
                    most=LONGEST_NOTE,
                )
            )
    with grid._store.write() as tx:
        if note.pair is not None:
            with at_fault("pair"):
                find_cell(tx, note.pair)
        return note_run(tx, note.stage, as_params(note), {})

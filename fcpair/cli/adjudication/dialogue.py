"""The keyboard dialogue of an adjudicator: one conflict at a time, with undo and a note."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from fcpair.cli.table import wrap_text
from fcpair.cli.terminal import as_displayed, print_raw, print_wrapped, screen_width, width_of
from fcpair.errors import ConflictError, InputError, LimitError, RefusedError
from fcpair.params import CaseRanking
from fcpair.stages.questions import IRRECONCILABLE, NO_CODE, Choice, Closed
from fcpair.stages.questions.answer_keys import DISCARD
from fcpair.stages.questions.labels import outcome_reader
from fcpair.work_records import Conflict

if TYPE_CHECKING:
    from fcpair.grid import Grid

WIDTH = 88  # of lines, or less where the terminal is narrower
ANSWER, NOTE, LATER, UNDO, QUIT = "a", "n", "l", "u", "q"
NO_TERMINAL = "there is no terminal to answer in; decide by --policy or --import FILE"


def check_terminal() -> None:
    """Raise InputError unless keys can be read: from standard input, or from the terminal behind it, as click does."""
    if os.name == "nt" or (sys.stdin is not None and sys.stdin.isatty()):
        return
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        raise InputError(NO_TERMINAL) from None


def _choice_keys(question: Closed) -> dict[str, Choice]:
    """The key of each definite choice, which is its key on the pages.

    None where any has none, or takes more than one press: the answers are typed then.
    """
    keys = {key: question[code] for code in question.definite for key in question.keys[code][:1] if len(key) == 1}
    return keys if len(keys) == len(question.definite) else {}


class Dialogue:
    """Walks an adjudicator through the pairs that wait for them. Each decision is kept at once; undo takes it back."""

    def __init__(self, grid: Grid, by: str, order: CaseRanking = "row") -> None:
        self._grid, self._by = grid, by
        self._question = grid.scheme
        self._choices = _choice_keys(self._question)
        self._facts = grid.facts
        self._agenda = grid.agenda(by, order=order)
        self._queue = list(self._agenda.pairs)
        self._position = 0
        self._shown_id, self._note = 0, ""  # the pair that is asked about, and what has been noted there
        self._last_message = ""  # of what has changed since it was shown
        self._decided: list[int] = []

    def hold(self) -> None:
        """Ask until the queue is done or the adjudicator quits."""
        self._report_undecidable()
        if not self._queue:
            print_raw("no pair waits for a decision")
            return
        try:
            self._handle_queue()
        finally:  # after Ctrl-C, too
            print_wrapped(f"\n{len(self._decided):,} decided now, {len(self._grid.agenda(self._by).pairs):,} wait")

    def _handle_queue(self) -> None:
        while self._position < len(self._queue) and self._handle_pair(self._queue[self._position]):
            pass

    def _report_undecidable(self) -> None:
        if self._agenda.not_due:
            print_wrapped(f"still being labelled: {self._agenda.not_due:,}")
        if self._agenda.for_others:
            print_wrapped(f"for others, because {self._by} labelled or validates them: {self._agenda.for_others:,}")

    def _handle_pair(self, cell_id: int) -> bool:
        """Ask about one pair until something else is to be asked; False ends the dialogue.

        What has changed since the pair was shown is told, once; it is asked about again, if it is still to be decided.
        """
        is_new, self._shown_id = cell_id != self._shown_id, cell_id
        try:
            conflict = self._grid.conflict(cell_id, by=self._by)
        except (ConflictError, RefusedError) as overtaken:
            if str(overtaken) != self._last_message:
                print_wrapped(f"\n{overtaken}")
            self._position += 1
            return not isinstance(overtaken, LimitError)
        if is_new:
            self._note = conflict.note
        self._show_conflict(conflict)
        self._last_message = ""
        try:
            return self._handle_keys(conflict)
        except (ConflictError, RefusedError) as overtaken:
            self._last_message = str(overtaken)
            print_wrapped(f"→ nothing was changed: {overtaken}")
            return True

    def _show_conflict(self, conflict: Conflict) -> None:
        width = min(WIDTH, screen_width())
        lines = ["", "─" * width, f"pair {conflict.cell_id} · {self._position + 1} of {len(self._queue)}", ""]
        for name, text in ((self._facts["hs_name"], conflict.hs), (self._facts["cn_name"], conflict.cn)):
            lines += [*wrap_text(f"{name}:", width), *_indent(text, width), ""]
        for label, note in conflict.answers:
            lines += _indent(f"{label}{f'  ({note})' if note else ''}", width)
        if conflict.outcome is not None and conflict.cell_id in self._agenda.again:
            again = f"Its labels have changed since it was decided: {conflict.outcome}. The same answer confirms it."
            lines += ["", *wrap_text(again, width)]
        if self._note:
            lines += ["", *wrap_text(as_displayed(f"note: {self._note}"), width)]
        keys = [f"[{key}] {choice.name}" for key, choice in self._choices.items()] or [f"[{ANSWER}] answer"]
        lines += ["", *_wrap_keys([*keys, f"[{DISCARD}] {IRRECONCILABLE}"], width)]
        lines += _wrap_keys([f"[{NOTE}] note", f"[{LATER}] later", f"[{UNDO}] undo", f"[{QUIT}] quit"], width)
        print_raw(*lines)

    def _handle_keys(self, conflict: Conflict) -> bool:
        """Ask for one key until it moves the dialogue on; False ends it."""
        while True:
            key = _read_key()
            if key in self._choices:
                self._decide(conflict, self._choices[key].code, self._choices[key].name)
            elif key == ANSWER and not self._choices:
                code = click.prompt("answer", value_proc=self._parse_outcome)
                if code == NO_CODE:
                    self._decide(conflict, None, IRRECONCILABLE)
                else:
                    self._decide(conflict, code, self._question.name(code))
            elif key == DISCARD:
                self._decide(conflict, None, IRRECONCILABLE)
            elif key == LATER:
                self._position += 1
            elif key == UNDO:
                self._undo()
            elif key == NOTE:
                self._note = click.prompt("note", default="", show_default=False)
                continue
            elif key != QUIT:
                continue
            return key != QUIT

    def _parse_outcome(self, answer: str) -> int:
        try:
            return outcome_reader(self._question)(answer)
        except InputError as error:
            raise click.UsageError(str(error)) from None

    def _decide(self, conflict: Conflict, code: int | None, name: str) -> None:
        self._grid.decide(conflict.cell_id, code, by=self._by, note=self._note, seen=conflict)
        print_raw(f"→ {name}{f' ({self._note})' if self._note else ''}")
        self._decided.append(conflict.cell_id)
        self._note = ""
        self._position += 1

    def _undo(self) -> None:
        if not self._decided:
            print_raw("nothing to undo")
            return
        cell_id = self._decided.pop()
        restored = self._grid.take_back(cell_id, by=self._by)
        self._shown_id = 0  # so that its note is there again
        self._position = self._queue.index(cell_id)
        if restored:
            print_raw(f"→ the earlier decision on pair {cell_id} applies again")
        else:
            print_raw(f"→ pair {cell_id} waits again")


def _indent(text: str, width: int) -> list[str]:
    return [f"    {line}" for line in wrap_text(as_displayed(text), width - 4)]


def _wrap_keys(keys: list[str], width: int) -> list[str]:
    """The keys beside each other, in as many lines as it takes to break none."""
    lines = [keys[0]]
    for key in keys[1:]:
        if width_of(lines[-1]) + 2 + width_of(key) > width:
            lines.append(key)
        else:
            lines[-1] += f"  {key}"
    return lines


def _read_key() -> str:
    """The next key; the end of the input quits."""
    try:
        return click.getchar().lower() or QUIT
    except EOFError:
        return QUIT
    except OSError:
        raise InputError(NO_TERMINAL) from None

"""The keyboard dialogue of an adjudicator: one conflict at a time, with undo and a note."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from fcpair.errors import InputError
from fcpair.label import IRRECONCILABLE
from fcpair.records import Choice, Conflict

if TYPE_CHECKING:
    from fcpair.study import Study

WIDTH = 88
DISCARD, NOTE, LATER, UNDO, QUIT = "x", "n", "l", "u", "q"


def _keys(choices: list[Choice]) -> dict[str, Choice]:
    """The key of each choice: its code where all codes are single digits, else its place from 1."""
    by_code = all(choice.code < 10 for choice in choices)
    return {str(choice.code if by_code else at): choice for at, choice in enumerate(choices, 1)}


class Dialogue:
    """Walks an adjudicator through the pairs that wait. Each decision is kept at once; undo takes it back."""

    def __init__(self, study: Study, by: str) -> None:
        self._study, self._by = study, by
        self._choices = _keys([choice for choice in study.scheme if choice.definite])
        self._facts = study.facts
        self._queue = study.waiting()
        self._at = 0
        self._note = ""
        self._decided: list[int] = []

    def hold(self) -> None:
        """Ask until the queue is done or the adjudicator quits."""
        if not self._queue:
            click.echo("no pair waits for a decision")
            return
        while self._at < len(self._queue):
            pair_id = self._queue[self._at]
            self._show(self._study.conflict(pair_id))
            if not self._answer(pair_id):
                break
        click.echo(f"\n{len(self._decided):,} decided now, {len(self._study.waiting()):,} wait")

    def _show(self, conflict: Conflict) -> None:
        click.echo(f"\n{'─' * WIDTH}\npair {conflict.pair_id} · {self._at + 1} of {len(self._queue)}\n")
        for name, text in ((self._facts["hs_name"], conflict.hs), (self._facts["cn_name"], conflict.cn)):
            click.echo(f"{name}:\n{textwrap.indent(textwrap.fill(text, WIDTH - 4), '    ')}\n")
        for label, note in conflict.answers:
            click.echo(f"    {label}{f'  ({note})' if note else ''}")
        keys = [f"[{key}] {choice.name}" for key, choice in self._choices.items()]
        click.echo("\n" + "  ".join([*keys, f"[{DISCARD}] {IRRECONCILABLE}"]))
        click.echo(f"[{NOTE}] note  [{LATER}] later  [{UNDO}] undo  [{QUIT}] quit")

    def _answer(self, pair_id: int) -> bool:
        """Ask for one key until it moves the dialogue on; False ends it."""
        while True:
            key = _key()
            if key in self._choices:
                self._decide(pair_id, self._choices[key].code, self._choices[key].name)
            elif key == DISCARD:
                self._decide(pair_id, None, IRRECONCILABLE)
            elif key == LATER:
                self._at += 1
            elif key == UNDO:
                self._undo()
            elif key == NOTE:
                self._note = click.prompt("note", default="", show_default=False)
                continue
            elif key != QUIT:
                continue
            return key != QUIT

    def _decide(self, pair_id: int, code: int | None, name: str) -> None:
        self._study.decide(pair_id, code, by=self._by, note=self._note)
        click.echo(f"→ {name}{f' ({self._note})' if self._note else ''}")
        self._decided.append(pair_id)
        self._note = ""
        self._at += 1

    def _undo(self) -> None:
        if not self._decided:
            click.echo("nothing to undo")
            return
        pair_id = self._decided.pop()
        self._study.take_back(pair_id, by=self._by)
        self._at = self._queue.index(pair_id)
        click.echo(f"→ pair {pair_id} waits again")


def _key() -> str:
    """The next key; the end of the input quits."""
    try:
        return click.getchar().lower() or QUIT
    except EOFError:
        return QUIT
    except OSError:
        raise InputError("there is no terminal to answer in; decide by --policy or --import FILE") from None

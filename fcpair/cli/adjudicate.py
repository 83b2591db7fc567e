"""adjudicate."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    FILE,
    PATH,
    ids_option,
    option,
    recipe_params,
    shared_option,
    sheet_option,
    supersede_option,
    with_grid,
)
from fcpair.cli.output import answer_files, format_counts, note_trial, print_message, print_receipt, print_run
from fcpair.cli.terminal import as_displayed, print_raw, print_wrapped, screen_width, width_of, wrap_text
from fcpair.errors import ConflictError, InputError, LimitError, RefusedError, SettingError
from fcpair.params import Adjudicate, CaseRanking
from fcpair.stages.questions import IRRECONCILABLE, NO_CODE
from fcpair.stages.questions.base import DISCARD
from fcpair.stages.questions.labels import outcome_reader
from fcpair.work_records import ConflictCase

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


class Dialogue:
    """Walks an adjudicator through the pairs that wait for them. Each decision is kept at once; undo takes it back."""

    def __init__(self, grid: Grid, by: str, order: CaseRanking = "row") -> None:
        self._grid, self._by = grid, by
        self._question = grid.scheme
        # Where any choice has none, or takes more than one press, the answers are typed.
        first = [(key, code) for code in self._question.definite for key in self._question.keys[code][:1]]
        keys = {key: self._question[code] for key, code in first if len(key) == 1}
        self._choices = keys if len(keys) == len(self._question.definite) else {}
        self._agenda = grid.desk.agenda(by, order=order)
        self._queue, self._position = list(self._agenda.pairs), 0
        self._shown_id, self._note = 0, ""  # the pair that is asked about, and what has been noted there
        self._last_message = ""  # of what has changed since it was shown
        self._decided: list[int] = []

    def hold(self) -> None:
        """Ask until the queue is done or the adjudicator quits."""
        if self._agenda.not_due:
            print_wrapped(f"still being labelled: {self._agenda.not_due:,}")
        if self._agenda.for_others:
            print_wrapped(f"for others, because {self._by} labelled or validates them: {self._agenda.for_others:,}")
        if not self._queue:
            print_raw("no pair waits for a decision")
            return
        try:
            while self._position < len(self._queue) and self._handle_pair(self._queue[self._position]):
                pass
        finally:  # after Ctrl-C, too
            print_wrapped(f"\n{len(self._decided):,} decided now, {len(self._grid.desk.agenda(self._by).pairs):,} wait")

    def _handle_pair(self, cell_id: int) -> bool:
        """Ask about one pair, once more where it has changed meanwhile, which is told once; False ends the dialogue."""
        is_new, self._shown_id = cell_id != self._shown_id, cell_id
        try:
            conflict = self._grid.desk.conflict(cell_id, by=self._by)
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
            # Ask for one key until it moves the dialogue on; False ends it.
            while True:
                key = _read_key()
                if key in self._choices:
                    self._decide(conflict, self._choices[key].code)
                elif key == DISCARD:
                    self._decide(conflict, NO_CODE)
                elif key == ANSWER and not self._choices:
                    self._decide(conflict, click.prompt("answer", value_proc=self._parse_outcome))
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
        except (ConflictError, RefusedError) as overtaken:
            self._last_message = str(overtaken)
            print_wrapped(f"→ nothing was changed: {overtaken}")
            return True

    def _show_conflict(self, conflict: ConflictCase) -> None:
        width, facts = min(WIDTH, screen_width()), self._grid.facts
        lines = ["", "─" * width, f"pair {conflict.cell_id} · {self._position + 1} of {len(self._queue)}", ""]
        for name, text in ((facts["hs_name"], conflict.hs.body), (facts["cn_name"], conflict.cn.body)):
            lines += [*wrap_text(f"{name}:", width), *_indent(text, width), ""]
        for answer in conflict.answers:
            lines += _indent(f"{answer.label}{f'  ({answer.note})' if answer.note else ''}", width)
        if conflict.outcome is not None and conflict.cell_id in self._agenda.again:
            again = f"Its labels have changed since it was decided: {conflict.outcome}. The same answer confirms it."
            lines += ["", *wrap_text(again, width)]
        if self._note:
            lines += ["", *wrap_text(as_displayed(f"note: {self._note}"), width)]
        lines.append("")
        keys = [f"[{key}] {choice.name}" for key, choice in self._choices.items()] or [f"[{ANSWER}] answer"]
        others = [f"[{NOTE}] note", f"[{LATER}] later", f"[{UNDO}] undo", f"[{QUIT}] quit"]
        for first, *more in ([*keys, f"[{DISCARD}] {IRRECONCILABLE}"], others):
            lines.append(first)
            for key in more:  # beside each other, in as many lines as it takes to break none
                if width_of(lines[-1]) + 2 + width_of(key) > width:
                    lines.append(key)
                else:
                    lines[-1] += f"  {key}"
        print_raw(*lines)

    def _parse_outcome(self, answer: str) -> int:
        try:
            return outcome_reader(self._question)(answer)
        except InputError as error:
            raise click.UsageError(str(error)) from None

    def _decide(self, conflict: ConflictCase, code: int) -> None:
        outcome, name = (None, IRRECONCILABLE) if code == NO_CODE else (code, self._question.name(code))
        self._grid.decide(conflict.cell_id, outcome, by=self._by, note=self._note, seen=conflict)
        print_raw(f"→ {name}{f' ({self._note})' if self._note else ''}")
        self._decided.append(conflict.cell_id)
        self._note, self._position = "", self._position + 1

    def _undo(self) -> None:
        if not self._decided:
            print_raw("nothing to undo")
            return
        cell_id = self._decided.pop()
        restored = self._grid.take_back(cell_id, by=self._by)
        self._shown_id = 0  # so that its note is there again
        self._position = self._queue.index(cell_id)
        again = f"the earlier decision on pair {cell_id} applies again" if restored else f"pair {cell_id} waits again"
        print_raw(f"→ {again}")


def _indent(text: str, width: int) -> list[str]:
    return [f"    {line}" for line in wrap_text(as_displayed(text), width - 4)]


def _read_key() -> str:
    """The next key; the end of the input quits."""
    try:
        return click.getchar().lower() or QUIT
    except EOFError:
        return QUIT
    except OSError:
        raise InputError(NO_TERMINAL) from None


@click.command()
@take_effect("--ties", only_with="--policy")
@take_effect("--supersede", only_with="--import")
@take_effect("--ids", only_with="--sheet")
@take_effect("--dry-run", not_with=("--import", "--sheet"))
@take_effect("--order", "--adjudicator", not_with=("--policy", "--import", "--request", "--dry-run"))
@recipe_params(Adjudicate)
@option("--import", "path", type=PATH, help="Import the decisions in a file.")
@option(
    "--sheet",
    type=FILE,
    help="Write the pairs that wait for the adjudicator as a sheet to fill in (.csv or .xlsx), for `--import`.",
)
@option(
    "--request",
    type=FILE,
    help="Have a person decide the pairs numbered in the column `pair` of this table, even if their labels "
    "agree or a rule has decided them.",
)
@shared_option(
    "--dry-run", is_flag=True, callback=note_trial, detail="Also show whether the current decisions are the same."
)
@supersede_option
@shared_option(
    "--order",
    choices=get_args(CaseRanking),
    detail="In the dialogue and on a sheet: row by row, or the pair in most doubt first, by Dawid and Skene's model.",
)
@option("--adjudicator", "by", metavar="NAME", default="adjudicator", help="The pseudonym of the person who decides.")
@ids_option
@sheet_option
@with_grid
def adjudicate(grid: Grid, said: dict[str, Any], **arguments: Any) -> None:
    """Turn each pair's labels into one.

    Without options, it opens a dialogue, one conflict at a time; `--policy` and `--import FILE` decide without it, and
    `--sheet FILE` writes the pairs that wait. A policy applies until another one is given: its decisions follow the
    labels. A dry run exits with 1 if its decisions differ from the current ones.

    \b
    Example:
      fcpair adjudicate --adjudicator ana
      fcpair adjudicate --adjudicator ana --order doubt
      fcpair adjudicate --policy majority
      fcpair adjudicate --policy majority --dry-run
      fcpair adjudicate --import decisions.csv
      fcpair adjudicate --sheet conflicts.xlsx --adjudicator ana
      fcpair adjudicate --request pairs.csv
    """
    is_by_rule, path = "policy" in said, arguments["path"]
    ways = {"--policy": is_by_rule, "--import": path}
    ways |= {f"--{name}": arguments[name] for name in ("sheet", "request")}
    given_flags = [flag for flag, is_given in ways.items() if is_given]
    if len(given_flags) > 1:
        raise click.UsageError(f"give either {' or '.join(given_flags)}, not both")
    if sheet := arguments["sheet"]:
        n = grid.write_conflicts(sheet, by=arguments["by"], order=arguments["order"], ids=arguments["ids"])
        print_receipt(f"{sheet}: {n:,} pairs", {"file": str(sheet), "pairs": n})
        return
    if arguments["request"]:
        _request_decisions(grid, arguments["request"], dry_run=arguments["dry_run"])
        return
    try:
        current = grid.policy
    except SettingError:  # it cannot be used
        if not is_by_rule:
            raise
        current = None
    options = grid.recipe_options(Adjudicate, **said) if is_by_rule else current or grid.effective_options(Adjudicate)
    if arguments["dry_run"]:
        _compare_policy(grid, options)
    elif path:
        print_run(grid.import_outcomes(path, supersede=arguments["supersede"]), path)
    elif is_by_rule:
        discards = grid.desk.adjudicate_dry_run(options).discards
        print_run(grid.adjudicate(options))
        if discards:
            discarded = "1 pair was" if discards == 1 else f"{discards:,} pairs were"
            print_message(f"{discarded} discarded; `{(current or Adjudicate()).command}` undoes that")
    else:
        check_terminal()
        # Refuses who cannot decide, before anything is written.
        grid.desk.agenda(arguments["by"], order=arguments["order"])
        if current is None:
            print_run(grid.adjudicate(options))
        Dialogue(grid, arguments["by"], arguments["order"]).hold()


def _request_decisions(grid: Grid, path: Path, *, dry_run: bool) -> None:
    pairs = answer_files.read_pair_numbers(path)
    if dry_run:
        counts = grid.desk.forecast_decision_requests(pairs).counts
        print_receipt(f"would be: {format_counts(counts)}", counts)
    else:
        print_run(grid.request_decisions(pairs), path)


def _compare_policy(grid: Grid, options: Adjudicate) -> None:
    result = grid.desk.adjudicate_dry_run(options)
    same = f"{result.standing:,} current decisions; {result.n_same:,} of {result.compared:,} compared are the same"
    data = {"would_be": result.counts, "standing": result.standing, "compared": result.compared, "same": result.n_same}
    data |= {name: list(getattr(result, name)) for name in ("different", "reopened")}
    print_receipt(f"would be: {format_counts(result.counts)}\n{same}", data, print_wrapped)
    for what, pairs in (("different", result.different), ("to be reopened", result.reopened)):
        if pairs:
            print_message(f"{what}: pairs {', '.join(map(str, pairs[:20]))}{' ...' * (len(pairs) > 20)}")
    if result.different or result.reopened:
        raise SystemExit(1)

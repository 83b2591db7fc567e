"""Examples that models are shown with a row: finding them in another grid, and having a person review them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from fcpair.errors import Finding, InputError, StageError, UnknownIdError, reject
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.models import encode, model_files
from fcpair.models.encode import Progress
from fcpair.records import Example, Round, RunRecord
from fcpair.stages.answers.examples import nearest_examples
from fcpair.stages.answers.sorted_columns import is_ascending, is_sorted
from fcpair.stages.corpus.folding import fold_by
from fcpair.stages.corpus.nearest import NOBODY, Found
from fcpair.stages.corpus.text_identity import whole
from fcpair.steps.answers.answer_import import letters, sorted_alone
from fcpair.steps.base.context import Basis, OnGrid, find_grid, note_run
from fcpair.steps.base.text_digests import folding
from fcpair.steps.rules.example_review import of_round
from fcpair.steps.rules.round_progress import check_done
from fcpair.store import Tx
from fcpair.store.answers import examples, judgements
from fcpair.store.answers.examples import Key, Written
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = "examples"
COLUMNS = ("row", "rank", "hs", "cn", "type", "score", "used")
SAID = {True: "yes", False: "no", None: ""}
_READ = {said: used for used, said in SAID.items()}
_Words = tuple[str, str, str, str]


class Reviewing(NamedTuple):
    """A row of a round with its examples, as somebody reviews it.

    The row is at `place` of `n_rows`, counted from 1; `n_open` rows have examples that nobody has reviewed, of which
    `next_open` is the place of the next one after this, then from the first; None where no other is.
    """

    round: str
    place: int
    n_rows: int
    row: str
    examples: tuple[Example, ...]
    n_open: int
    next_open: int | None


class _Sought(NamedTuple):
    """For what examples are sought, and among what."""

    round: Round
    rows: dict[int, str]
    written: list[Written]


def find_examples(grid: OnGrid, name: str, *, redo: bool = False, progress: Progress | None = None) -> RunRecord:
    """Find examples for each row of round `name`: what was written in an earlier grid, on the rows nearest to it.

    Each row of that grid brings one: its current text, and of several the one of its first cell. None is an answer to
    the row's own text. To `redo` keeps what was said of examples that are found again.

    Raises:
        UnknownIdError: no such round.
        StageError: the round has no examples, its cells are not made, the other grid is not done, they were found
            already, or models have answered by them.
        ModelError: the encoder cannot be had.
        ConflictError: what this rests on changed while texts were encoded.
    """
    with grid.store.read() as tx:
        basis = Basis(tx, lambda tx: _sought(tx, grid.grid.name, name, redo=redo))
        sought, fold = basis.found, fold_by(folding(tx))
    of, rows, hs = sought.round, list(sought.rows.values()), [one.hs for one in sought.written]
    model = model_files.resolve(str(of.options.example_model))
    vectors = encode.encode([*rows, *hs], model, progress)
    n = int(of.options.n_examples)
    found = nearest_examples((rows, vectors[: len(rows)]), (hs, vectors[len(rows) :]), n, fold)
    listed = list(_listed(sought, found))
    with grid.store.write() as tx:
        basis.check_unmoved(tx)
        n_kept = examples.put(tx, of, listed)
        params = {"grid": grid.grid.name, "round": name, "of": of.options.examples, "n_examples": n, "redo": redo}
        counts = {"round": name, "rows": len(rows), "examples": len(listed), "reviewed_before": n_kept}
        return note_run(tx, EXAMPLES, params, counts, model.record())


def _sought(tx: Tx, grid: str, name: str, *, redo: bool) -> _Sought:
    of = _with_examples(tx, grid, name)
    if not cells.number_range(tx)[1]:
        raise StageError(f"grid `{grid}` has no cells yet; run `fcpair pair --grid {quote(grid)}`")
    if n := len(judgements.answered_cells(tx, of)):
        what = "1 cell has" if n == 1 else f"{n:,} cells have"
        raise StageError(
            f"examples of round `{name}` cannot be found again: {what} answers of models that were shown those that "
            "there are; `fcpair answers withdraw RUN` takes them back"
        )
    if (n := len(of_round(tx, of))) and not redo:
        raise StageError(
            f"round `{name}` has its examples, {n:,} of them; `--redo` finds them again, and keeps what was said of "
            "those that it finds again"
        )
    with grids.about(tx, find_grid(tx, of.options.examples).id):
        source = rounds.counting(tx)
        check_done(tx, of.options.examples, source)
    if not (written := examples.written(tx, source)):
        raise StageError(
            f"no text was written in round `{source.name}` of grid `{of.options.examples}`, so there is no example"
        )
    return _Sought(of, examples.rows(tx), written)


def _with_examples(tx: Tx, grid: str, name: str) -> Round:
    """The round of this name, which has examples."""
    of = rounds.named(tx, name)
    if not of.options.examples:
        raise StageError(
            f"round `{name}` of grid `{grid}` has no examples; a recipe says so by `examples` in its round"
        )
    return of


def _listed(sought: _Sought, found: Found) -> Iterator[tuple[Key, int, float]]:
    for row, places, scores in zip(sought.rows, *(part.tolist() for part in found), strict=True):
        for rank, (place, score) in enumerate(zip(places, scores, strict=True), 1):
            if place != NOBODY:
                yield (row, sought.written[place].hs_id, sought.written[place].cn_id), rank, score


def list_examples(grid: OnGrid, name: str) -> pd.DataFrame:
    """The examples of a round, row by row, the nearest first.

    Columns: `row` (its text), `rank` (from 1), `hs`, `cn`, `type` (all texts), `score` (cosine similarity, to six
    decimals) and `used`: `yes`, `no`, or empty where nobody has reviewed it. No rows where they were not found yet.

    Raises:
        UnknownIdError: no such round.
        StageError: the round has no examples.
    """
    import pandas as pd

    with grid.store.read() as tx:
        there = of_round(tx, _with_examples(tx, grid.grid.name, name))
    rows = [[SAID[one.used] if column == "used" else getattr(one, column) for column in COLUMNS] for one in there]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def rounds_with_examples(grid: OnGrid) -> list[str]:
    """The names of the rounds whose models are shown examples, in their order."""
    with grid.store.read() as tx:
        return [one.name for one in rounds.rounds(tx) if one.options.examples]


def review_example(grid: OnGrid, name: str, example_id: int, *, used: bool, by: int) -> None:
    """Note that somebody, by their number, lets an example of a round be used, or does not; the newest word counts.

    Raises:
        UnknownIdError: no such round, or no such example in it: others may have been found since.
        StageError: the round has no examples.
    """
    with grid.store.write() as tx:
        of = _with_examples(tx, grid.grid.name, name)
        if not examples.has(tx, of, example_id):
            raise UnknownIdError(f"there is no such example in round `{name}`; they may have been found again since")
        examples.review(tx, [(example_id, used)], by)


def row_to_review(grid: OnGrid, name: str, place: int | None = None) -> Reviewing | None:
    """A row of a round with its examples: the one at a `place` from 1, else the first that has some to review.

    Where none has, it is the first row; None where no examples were found yet.

    Raises:
        UnknownIdError: no such round, or no row at that place.
        StageError: the round has no examples.
    """
    with grid.store.read() as tx:
        there = of_round(tx, _with_examples(tx, grid.grid.name, name))
    by_row: dict[int, list[Example]] = {}
    for one in there:
        by_row.setdefault(one.row_id, []).append(one)
    some = list(by_row.values())
    if not some:
        return None
    open_ = [at for at, row in enumerate(some, 1) if any(one.used is None for one in row)]
    at = place if place is not None else next(iter(open_), 1)
    if not 1 <= at <= len(some):
        raise UnknownIdError(f"there is no row {at:,} with examples in round `{name}`; they go from 1 to {len(some):,}")
    others = [one for one in open_ if one > at] + [one for one in open_ if one < at]
    row = tuple(some[at - 1])
    return Reviewing(name, at, len(some), row[0].row, row, len(open_), next(iter(others), None))


def review_examples(grid: OnGrid, name: str, path: str | Path) -> RunRecord:
    """Take in a sheet of a round's examples, as `Grid.examples` has them, in which `used` is filled in: yes or no.

    A row in which it is empty is left out, and what is there already is not written again.

    Raises:
        UnknownIdError: no such round.
        StageError: the round has no examples, or they were not found yet.
        InputError: all findings about the file at once: another word, an example that is not there, two words on one.
    """
    table = read_table(path, ("row", "rank", "hs", "cn", "used"), blank=("used",))
    with grid.store.write() as tx:
        of = _with_examples(tx, grid.grid.name, name)
        there: dict[_Words, list[Example]] = {}
        for one in of_round(tx, of):
            there.setdefault(_words(one.row, one.rank, one.hs, one.cn), []).append(one)
        if not there:
            raise StageError(f"round `{name}` has no examples yet; run `fcpair examples find`")
        said = _said(table, there)
        new = [(one.id, used) for words, used in said.items() for one in there[words] if one.used is not used]
        examples.review(tx, new, None)
        n_rows = len({one.row_id for one in of_round(tx, of) if one.used is None})
        n_used = sum(used for _, used in new)
        counts: dict[str, Any] = {"round": name, "used": n_used, "not_used": len(new) - n_used}
        counts |= {"already_there": sum(len(there[words]) for words in said) - len(new), "rows_to_review": n_rows}
        params = {"grid": grid.grid.name, "round": name, "path": str(path)}
        run = note_run(tx, f"{EXAMPLES} review", params, counts)
    return replace(run, notes=_sorted_apart(said, list(there)))


def _sorted_apart(said: dict[_Words, bool], there: list[_Words]) -> tuple[str, ...]:
    """A sentence where `used` seems to have been sorted apart from its rows, which are in their order in a sheet."""
    place = {words: at for at, words in enumerate(there)}
    in_order = is_ascending([place[words] for words in said])
    if not (in_order and is_sorted([SAID[used] for used in said.values()])):
        return ()
    return (f"{sorted_alone('`used`', len(said), 'examples')}. Compare some with their texts",)


def _words(row: str, rank: object, hs: str, cn: str) -> _Words:
    """By what an example is known in a sheet, whatever program it went through."""
    return letters(row), whole(str(rank)), letters(hs), letters(cn)


def _said(table: pd.DataFrame, there: dict[_Words, list[Example]]) -> dict[_Words, bool]:
    """What the rows of a sheet say; raises InputError with all that is wrong."""
    place, said, found = place_of(table), dict[_Words, tuple[bool, int]](), list[Finding]()
    for row in table[["row", "rank", "hs", "cn", "used", LINE]].itertuples(index=False, name=None):
        words, word, line = _words(*row[:4]), row[4].strip().lower(), row[5]
        if (used := _READ.get(word)) is None:
            if word:
                found.append(Finding(place, line, f"`used` is `{row[4]}`; expected yes or no"))
        elif words not in there:
            message = "there is no such example in this round; write a new sheet"
            found.append(Finding(place, line, message))
        elif said.setdefault(words, (used, line))[0] is not used:
            found.append(Finding(place, line, f"line {said[words][1]} says the opposite of the same example"))
    reject(place, found)
    if not said:
        raise InputError(f"{place}: `used` is empty everywhere; write yes or no into it")
    return {words: used for words, (used, _) in said.items()}

"""Examples that models are shown with a row: finding them in another grid, and the gate where a person reviews them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from fcpair.errors import Finding, InputError, StageError, UnknownIdError, reject
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.lazy import pd
from fcpair.models import encode, model_files
from fcpair.models.encode import Progress
from fcpair.records import Example, Round, RunRecord
from fcpair.sentences import mark
from fcpair.stages.answers.model_spec import format_examples
from fcpair.stages.answers.replies import is_ascending, is_sorted
from fcpair.stages.corpus.nearest_neighbours import NO_NEIGHBOUR
from fcpair.stages.corpus.retrieve import nearest_examples
from fcpair.stages.corpus.text_identity import fold_by, strip_zero_decimals
from fcpair.steps.answers.answer_import import letters, sorted_column_sentence
from fcpair.steps.base.context import Basis, GridContext, find_grid, need_cells, note_run
from fcpair.steps.base.text_digests import folding
from fcpair.steps.rules.tallies import check_done
from fcpair.store import Tx
from fcpair.store.answers import examples, judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids, sides

EXAMPLES = "examples"
COLUMNS = ("row", "rank", "hs", "cn", "type", "score", "used")
USED_WORDS = {True: "yes", False: "no", None: ""}
_Words = tuple[str, str, str, str]


class ExampleReview(NamedTuple):
    """A row of a round with its examples, as somebody reviews it.

    The row is at `place` of `n_rows`, from 1; `n_open` rows have examples that nobody has reviewed, of which the next
    after this, then from the first, is at `next_open`; None where no other is.
    """

    round: str
    place: int
    n_rows: int
    row: str
    examples: tuple[Example, ...]
    n_open: int
    next_open: int | None


def find_examples(grid: GridContext, round: str, *, redo: bool = False, progress: Progress | None = None) -> RunRecord:
    """Find examples for each row of a `round`: what was written in an earlier grid, on the rows nearest to it.

    Each row of that grid brings one: its current text, and of several the one of its first cell. None is an answer to
    the row's own text. To `redo` keeps what was said of examples that are found again.

    Raises UnknownIdError for no such round; StageError where it has no examples, its cells are not made, the other grid
    is not done, they were found already, or models have answered by them; ModelError for an encoder that cannot be had;
    ConflictError where what this rests on changed while texts were encoded.
    """
    with grid._store.read() as tx:
        basis = Basis(tx, lambda tx: _load_inputs(tx, grid.grid.name, round, redo=redo))
        (round_, body_by_row, written), fold = basis.inputs, fold_by(folding(tx))
    rows, hs = list(body_by_row.values()), [example.hs for example in written]
    model = model_files.resolve(str(round_.options.example_model))
    vectors = encode.encode([*rows, *hs], model, progress)
    cut, n = encode.count_cut([*rows, *hs], model), int(round_.options.n_examples)
    nearest = nearest_examples((rows, vectors[: len(rows)]), (hs, vectors[len(rows) :]), n, fold)
    example_rows = [
        ((row, written[place].hs_id, written[place].cn_id), rank, score)
        for row, places, scores in zip(body_by_row, *(part.tolist() for part in nearest), strict=True)
        for rank, (place, score) in enumerate(zip(places, scores, strict=True), 1)
        if place != NO_NEIGHBOUR
    ]
    with grid._store.write() as tx:
        basis.check_unmoved(tx)
        n_kept = examples.replace_examples(tx, round_, example_rows)
        params = {"grid": grid.grid.name, "round": round, "of": round_.options.examples, "n_examples": n, "redo": redo}
        counts = {"round": round, "rows": len(rows), "examples": len(example_rows), "reviewed_before": n_kept}
        counts |= {"cut_texts": cut.n} if cut.n else {}
        return replace(note_run(tx, EXAMPLES, params, counts, model.record()), notes=cut.notes)


def _load_inputs(
    tx: Tx, grid: str, name: str, *, redo: bool
) -> tuple[Round, dict[int, str], list[examples.WrittenText]]:
    round_ = _round_with_examples(tx, grid, name)
    need_cells(tx, grid)
    if n := len(judgements.answered_cells(tx, round_)):
        subject = "1 cell has" if n == 1 else f"{n:,} cells have"
        raise StageError(
            f"examples of round `{name}` cannot be found again: {subject} answers of models that were shown the "
            "current ones; `fcpair answers withdraw RUN` withdraws those answers"
        )
    if (n := len(examples_of_round(tx, round_))) and not redo:
        raise StageError(
            f"round `{name}` already has {n:,} examples; `--redo` searches again and keeps the reviews of examples "
            "that it finds again"
        )
    other_grid = round_.options.examples
    with grids.on_grid(tx, find_grid(tx, other_grid).id):
        source = rounds.primary(tx)
        check_done(tx, other_grid, source)
    if not (written_texts := examples.current_texts(tx, source)):
        raise StageError(
            f"no text was written in round `{source.name}` of grid `{other_grid}`, so there are no examples"
        )
    row_ids, row_bodies = sides.text_ids(tx, "row", drawn=True), sides.values(tx, "row", "body", drawn=True)
    return round_, dict(zip(row_ids, row_bodies, strict=True)), written_texts


def _round_with_examples(tx: Tx, grid: str, name: str) -> Round:
    round_ = rounds.by_name(tx, name)
    if not round_.options.examples:
        none = mark("round `%(name)s` of grid `%(grid)s` has no examples; set `examples` for the round in the recipe")
        raise StageError.say(none, name=name, grid=grid)
    return round_


def list_examples(grid: GridContext, round: str) -> pd.DataFrame:
    """The examples of a round, row by row, the nearest first; none where they were not found yet.

    Columns: `row` (its text), `rank` (from 1), `hs`, `cn`, `type` (all texts), `score` (cosine similarity, to six
    decimals) and `used`: `yes`, `no`, or empty where nobody has reviewed it. Raises UnknownIdError for no such round,
    StageError where it has no examples.
    """
    with grid._store.read() as tx:
        round_examples = examples_of_round(tx, _round_with_examples(tx, grid.grid.name, round))
    rows = ({**example._asdict(), "used": USED_WORDS[example.used]} for example in round_examples)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def rounds_with_examples(grid: GridContext) -> list[str]:
    """The names of the rounds whose models are shown examples, in their order."""
    with grid._store.read() as tx:
        return [round_.name for round_ in rounds.of_grid(tx) if round_.options.examples]


def review_example(grid: GridContext, round: str, example_id: int, *, used: bool, by: int) -> None:
    """Note that somebody, by their number, lets an example of a round be used, or does not; the newest word counts.
    Raises UnknownIdError for no such round or example, as others may have been found since; StageError as
    `list_examples`.
    """
    with grid._store.write() as tx:
        round_ = _round_with_examples(tx, grid.grid.name, round)
        if not examples.has_example(tx, round_, example_id):
            raise UnknownIdError.say(
                "round `%(round)s` has no such example; examples may have been searched again since", round=round
            )
        examples.add_reviews(tx, [(example_id, used)], by)


def row_to_review(grid: GridContext, round: str, place: int | None = None) -> ExampleReview | None:
    """A row of a round with its examples: the one at a `place` from 1, else the first that has some to review.

    Where none has, it is the first row; None where no examples were found yet. Raises UnknownIdError for no such round,
    or no row at that place; StageError where the round has no examples.
    """
    with grid._store.read() as tx:
        round_examples = examples_of_round(tx, _round_with_examples(tx, grid.grid.name, round))
    rows = [tuple(row_examples) for _, row_examples in groupby(round_examples, lambda example: example.row_id)]
    if not rows:
        return None
    open_places = [position for position, row in enumerate(rows, 1) if any(example.used is None for example in row)]
    position = place if place is not None else next(iter(open_places), 1)
    if not 1 <= position <= len(rows):
        raise UnknownIdError.say(
            "round `%(round)s` has no row %(place)s with examples; rows go from 1 to %(number)s",
            round=round,
            place=position,
            number=len(rows),
        )
    next_open = min((at for at in open_places if at != position), key=lambda at: (at < position, at), default=None)
    row = rows[position - 1]
    return ExampleReview(round, position, len(rows), row[0].row, row, len(open_places), next_open)


def review_examples(grid: GridContext, round: str, path: str | Path) -> RunRecord:
    """Take in a sheet of a round's examples, as `Grid.examples` has them, in which `used` is filled in: yes or no.

    A row in which it is empty is left out, and what is there already is not written again. Raises UnknownIdError for no
    such round, StageError where no examples were found, InputError with all that is wrong with the file.
    """
    columns = ("row", "rank", "hs", "cn", "used")
    table = read_table(path, columns, blank=("used",))
    with grid._store.write() as tx:
        round_ = _round_with_examples(tx, grid.grid.name, round)
        examples_by_words = defaultdict[_Words, list[Example]](list)
        for example in examples_of_round(tx, round_):
            examples_by_words[_words_of_example(example.row, example.rank, example.hs, example.cn)].append(example)
        if not examples_by_words:
            raise StageError.say("round `%(round)s` has no examples yet; run `fcpair examples find`", round=round)
        place, used_and_line, errors = place_of(table), dict[_Words, tuple[bool, int]](), list[Finding]()
        for *row, cell, line in table[[*columns, LINE]].itertuples(index=False, name=None):
            words, word = _words_of_example(*row), cell.strip().lower()
            if not word:
                continue
            if (used := {"yes": True, "no": False}.get(word)) is None:
                errors.append(Finding(place, line, f"`used` is `{cell}`; expected yes or no"))
            elif words not in examples_by_words:
                errors.append(Finding(place, line, "there is no such example in this round; write a new sheet"))
            elif (earlier := used_and_line.setdefault(words, (used, line)))[0] is not used:
                errors.append(Finding(place, line, f"line {earlier[1]} has the opposite for the same example"))
        reject(place, errors)
        if not used_and_line:
            raise InputError(f"{place}: `used` is empty in every row; fill in yes or no")
        reviews = [
            (example, used) for words, (used, _) in used_and_line.items() for example in examples_by_words[words]
        ]
        changes = [(example.id, used) for example, used in reviews if example.used is not used]
        examples.add_reviews(tx, changes, None)
        n_used = sum(used for _, used in changes)
        counts = {
            "round": round,
            "used": n_used,
            "not_used": len(changes) - n_used,
            "already_there": len(reviews) - len(changes),
            "rows_to_review": len(
                {example.row_id for example in examples_of_round(tx, round_) if example.used is None}
            ),
        }
        run = note_run(tx, f"{EXAMPLES} review", {"grid": grid.grid.name, "round": round, "path": str(path)}, counts)
    used_by_words = {words: used for words, (used, _) in used_and_line.items()}
    position_by_words = {words: at for at, words in enumerate(examples_by_words)}
    in_order = is_ascending([position_by_words[words] for words in used_by_words])
    # The column seems to have been sorted apart from its rows, which are in their order in a sheet.
    is_apart = in_order and is_sorted([USED_WORDS[used] for used in used_by_words.values()])
    note = f"{sorted_column_sentence('`used`', len(used_by_words), 'examples')}. Compare some with their texts"
    return replace(run, notes=(note,) if is_apart else ())


def _words_of_example(row: str, rank: object, hs: str, cn: str) -> _Words:
    """By what an example is known in a sheet, whatever program it went through."""
    return letters(row), strip_zero_decimals(str(rank)), letters(hs), letters(cn)


def source_round(tx: Tx, round_: Round) -> Round:
    """The round in which the examples of a round were written: the one that counts in the grid that they are of."""
    with grids.on_grid(tx, find_grid(tx, round_.options.examples).id):
        return rounds.primary(tx)


def examples_of_round(tx: Tx, round_: Round) -> list[Example]:
    """The examples of a round, row by row, the nearest first; none where they were not found yet."""
    return examples.list_examples(tx, round_, source_round(tx, round_))


def blocking_message(tx: Tx, round_: Round, grid_option: str = "") -> str | None:
    """Say what must be done before models of a round can see its examples; None where nothing must, or it has none."""
    if not round_.options.examples:
        return None
    round_examples = examples_of_round(tx, round_)
    options = f"{grid_option} --round {quote(round_.name)}".strip()
    if not round_examples:
        return f"round `{round_.name}` has no examples yet; run `fcpair examples find {options}`"
    set_aside_ids = examples.ids_without_current_text(tx, round_, source_round(tx, round_))
    if n := sum(example.id in set_aside_ids and example.used is not False for example in round_examples):
        subject = "1 example, whose text was" if n == 1 else f"{n:,} examples, whose texts were"
        return (
            f"round `{round_.name}` has {subject} taken back or replaced in grid `{round_.options.examples}` since; "
            f"review what is not to be used, or run `fcpair examples find {options} --redo`"
        )
    if round_.options.reviewed and (n := len({example.row_id for example in round_examples if example.used is None})):
        subject = "1 row has" if n == 1 else f"{n:,} rows have"
        return (
            f"round `{round_.name}`: {subject} examples that nobody has reviewed; `fcpair serve`, where a lead does "
            f"so, or `fcpair examples sheet FILE {options}`"
        )
    return None


def prompt_examples(tx: Tx, grid: str, round_: Round) -> dict[int, str]:
    """The examples of each row of a round, as a prompt has them, by its id, but for those that a person did not let be
    used; StageError as `blocking_message` says.
    """
    if not round_.options.examples:
        return {}
    if message := blocking_message(tx, round_, f"--grid {quote(grid)}"):
        raise StageError(message)
    examples_by_row = defaultdict[int, list[tuple[str, str, str]]](list)
    for example in examples_of_round(tx, round_):
        if example.used is not False:
            examples_by_row[example.row_id].append((example.hs, example.cn, example.type))
    return {row: format_examples(row_examples) for row, row_examples in examples_by_row.items()}

"""Known pairs in the small study: 16 of its pairs, of which odd ones are appropriate, as its annotators mostly say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fcpair.known_pairs import Controls, Qualification
from fcpair.params import Assign, Pair
from fcpair.store.corpus import cells
from fcpair.study import Study
from steps.small import write_csv

FOR_QUALIFICATION, FOR_CONTROLS = range(1, 25, 2), range(2, 25, 2)


def right_answer(pair: int) -> str:
    """The known answer of a pair, by its number."""
    return "appropriate" if pair % 3 else "not_appropriate"


def known_table(study: Study, path: Path, pairs: Iterable[int]) -> Path:
    """A table with the answers that are known of pairs, by their texts."""
    with study._store.read() as tx:
        texts = {pair: cells.texts_of(tx, pair) for pair in pairs}
    return write_csv(
        path,
        [
            {
                "row": row["body"],
                "column": column["body"],
                "answer": right_answer(pair),
                "explanation": f"The guidelines say so of pair {pair}.",
            }
            for pair, (row, column) in texts.items()
        ],
    )


def qualification(study: Study, folder: Path, **options: object) -> Qualification:
    """Options for a qualification."""
    return Qualification(known_table(study, folder / "qualification.csv", FOR_QUALIFICATION), **options)  # type: ignore[arg-type]


def assign_with_known_pairs(study: Study, folder: Path) -> None:
    """Assign the pairs anew, behind a qualification on two pairs, with control pairs."""
    grid = study.grid()
    grid.pair(Pair(), redo=True)
    grid.save.qualification(qualification(study, folder, known_pairs=2))
    grid.save.controls(controls(study, folder))
    grid.assign(Assign(overlap={2: 0.25}, seed=1))


def controls(study: Study, folder: Path, rate: float = 0.1) -> Controls:
    """Options for control pairs."""
    return Controls(known_table(study, folder / "controls.csv", FOR_CONTROLS), rate)

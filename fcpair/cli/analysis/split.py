"""split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.aliases import LabelColumn, with_labels
from fcpair.cli.options import format_option
from fcpair.cli.output import Table, emit, say
from fcpair.cli.table import Cell
from fcpair.cli.texts import Texts, with_texts

if TYPE_CHECKING:
    from fcpair.texts.stratify import Split

NAMES = {2: ("train", "test"), 3: ("train", "validation", "test")}
SPLIT = "split"


@click.command()
@with_texts
@click.option("--group", metavar="COLUMN", required=True, help="What stays together, such as the HS.")
@with_labels(several=False)
@click.option(
    "--share",
    "shares",
    type=float,
    multiple=True,
    required=True,
    metavar="SHARE",
    help="Of the lines, for the first side, the second, ...; the last side gets the rest.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of which group goes where.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the table with the column `split`: CSV, JSONL or Parquet by its suffix.",
)
@format_option
def split(
    texts: Texts, group: str, labels: LabelColumn, shares: tuple[float, ...], seed: int, out: Path | None, form: str
) -> None:
    """Split a table by its labels, with whole groups on one side.

    Each side gets its share of the lines and of every label; all lines of a group (such as an HS) are on one side. The
    same table, shares and seed give the same split.

    \b
    Example:
      fcpair split answers.csv --group hs --labels type --share 0.8 --seed 13 --out split.csv
      fcpair split Final_Dataset.json --reader crowdcounter --group hs --labels types --share 0.625 --seed 13
      fcpair split answers.csv --group hs --labels type --share 0.6 --share 0.2
    """
    import numpy as np
    import pandas as pd

    from fcpair.stages.corpus.text_identity import identity
    from fcpair.texts.stratify import shares_of, stratify

    texts.check(group)
    parts = shares_of(shares)
    check_groups(texts, group)
    own = labels.read(texts)
    names = labels.aliases.labels or tuple(sorted({label for one in own for label in one}))
    has = np.array([[name in one for name in names] for one in own], np.bool_).reshape(len(own), len(names))
    groups = pd.factorize(texts.frame[group].map(identity))[0]
    found = stratify(groups.astype(np.int64), has, parts, seed)
    sides = NAMES.get(len(parts), tuple(f"part {number}" for number in range(1, len(parts) + 1)))
    if out is not None:
        _write(texts, [sides[at] for at in found.side], out)
    _emit(texts, found, sides, names, form, {"shares": [float(share) for share in parts], "seed": seed})


def check_groups(texts: Texts, group: str) -> None:
    """Raise InputError for lines without a group: they would all be taken for the same one."""
    from fcpair.errors import Finding, reject

    empty = [line for line, cell in zip(texts.lines, texts.frame[group], strict=True) if not cell.strip()]
    reject(texts.place, [Finding(texts.place, line, f"no `{group}`: it says what stays together") for line in empty])


def _write(texts: Texts, side: list[str], out: Path) -> None:
    from fcpair.errors import InputError
    from fcpair.files.tables.tabular import LINE, write_table

    if SPLIT in texts.frame:
        raise InputError(f"{texts.place}: there is a column `{SPLIT}`, which the split would take; rename it")
    write_table(texts.frame.drop(columns=LINE, errors="ignore").assign(**{SPLIT: side}), out)
    say(f"{out}: {len(side):,} lines, their sides in the column `{SPLIT}`.")


def _emit(texts: Texts, found: Split, sides: tuple[str, ...], names: tuple[str, ...], form: str, of: Any) -> None:
    from fcpair.texts.stratify import label_distance

    distance = label_distance(found.counts, found.sizes)
    why = "" if distance is not None else "there is no label, or all lines of a side have one"
    counts: dict[str, list[int]] = {
        "lines": found.sizes.tolist(),
        "lines wanted": found.wanted.tolist(),
        "groups": found.n_groups.tolist(),
    }
    of_labels: dict[str, list[int]] = dict(zip(names, found.counts.T.tolist(), strict=True))
    data = {
        "place": texts.place,
        "part": texts.part,
        **of,
        "sides": [{SPLIT: side, **_at(counts, at), "labels": _at(of_labels, at)} for at, side in enumerate(sides)],
        "label_distance": distance,
        "why": why,
        "simulated": texts.simulated,
    }
    rows: list[dict[str, Cell]] = [
        {SPLIT: side, "of": what, "n": each[at]}
        for at, side in enumerate(sides)
        for what, each in (*counts.items(), *of_labels.items())
    ]
    drawn: list[list[Cell]] = [[what, *each] for what, each in (*counts.items(), *of_labels.items())]
    note = f"undefined, because {why}" if distance is None else f"{distance:.6f} (Sechidis et al. 2011; 0 is exact)"
    title = f"{texts.title}: lines of each side, in all and with each label"
    table = Table(title, ("of", *sides), drawn, [f"label distance: {note}"])
    emit(form, data=data, tables=[table], rows=rows, simulated=texts.simulated)


def _at(counts: Mapping[str, Sequence[int]], at: int) -> dict[str, int]:
    return {what: each[at] for what, each in counts.items()}

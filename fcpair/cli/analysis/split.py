"""split."""

from __future__ import annotations

from pathlib import Path

import click

from fcpair.cli.options import PATH, format_option, option, seed_option, shared_option
from fcpair.cli.output import Table, print_message
from fcpair.cli.table import Cell
from fcpair.cli.texts import LabelColumn, Texts, with_labels, with_texts
from fcpair.errors import Finding, InputError, reject
from fcpair.lazy import np, pd
from fcpair.stages.corpus.text_identity import identity
from fcpair.texts.stratify import complete_shares, label_distance, stratify

NAMES = {2: ("train", "test"), 3: ("train", "validation", "test")}
SPLIT = "split"


@click.command()
@with_texts
@shared_option("--cluster", "group", metavar="COLUMN", required=True, detail="Each cluster stays on one side.")
@with_labels(several=False)
@option(
    "--share",
    "shares",
    type=float,
    multiple=True,
    required=True,
    metavar="SHARE",
    help="The share of the lines for the first side, the second, ...; the last side gets the rest.",
)
@seed_option
@shared_option("--out", type=PATH, detail="The table with the column `split`: CSV, JSONL or Parquet by its suffix.")
@format_option
def split(
    texts: Texts, group: str, labels: LabelColumn, shares: tuple[float, ...], seed: int, out: Path | None, form: str
) -> None:
    """Split a table by its labels, with whole groups on one side.

    Each side gets its share of the lines and of every label; all lines of a group (such as an HS) are on one side. The
    same table, shares and seed give the same split.

    \b
    Example:
      fcpair split answers.csv --cluster hs --labels type --share 0.8 --seed 13 --out split.csv
      fcpair split Final_Dataset.json --reader crowdcounter --cluster hs --labels types --share 0.625 --seed 13
      fcpair split answers.csv --cluster hs --labels type --share 0.6 --share 0.2
    """
    from fcpair.files.tables.tabular import LINE, write_table

    texts.check(group)
    parts = complete_shares(shares)
    check_groups(texts, group)
    label_sets = labels.read(texts)
    names = labels.aliases.labels or tuple(sorted({label for one in label_sets for label in one}))
    label_matrix = np.array([[name in one for name in names] for one in label_sets], np.bool_).reshape(
        len(label_sets), len(names)
    )
    groups = pd.factorize(texts.frame[group].map(identity), sort=True)[0]
    result = stratify(groups.astype(np.int64), label_matrix, parts, seed)
    sides = NAMES.get(len(parts), tuple(f"part {number}" for number in range(1, len(parts) + 1)))
    if out is not None:
        if SPLIT in texts.frame:
            raise InputError(f"{texts.place}: there is already a column `{SPLIT}`; rename it")
        split_frame = texts.frame.drop(columns=LINE, errors="ignore").assign(
            **{SPLIT: [sides[at] for at in result.side]}
        )
        write_table(split_frame, out)
        print_message(f"{out}: {len(split_frame):,} lines, their sides in the column `{SPLIT}`.")
    distance = label_distance(result.counts, result.sizes)
    why = "" if distance is not None else "there is no label, or all lines of a side have one"
    counts: dict[str, list[int]] = {
        "lines": result.sizes.tolist(),
        "lines wanted": result.wanted.tolist(),
        "groups": result.n_groups.tolist(),
    }
    of_labels: dict[str, list[int]] = dict(zip(names, result.counts.T.tolist(), strict=True))
    of_sides = [
        {
            SPLIT: side,
            **{what: numbers[at] for what, numbers in counts.items()},
            "labels": {what: numbers[at] for what, numbers in of_labels.items()},
        }
        for at, side in enumerate(sides)
    ]
    options = {"shares": [float(share) for share in parts], "seed": seed}
    rows: list[dict[str, Cell]] = [
        {SPLIT: side, "of": what, "n": numbers[at]}
        for at, side in enumerate(sides)
        for what, numbers in (*counts.items(), *of_labels.items())
    ]
    cells: list[list[Cell]] = [[what, *numbers] for what, numbers in (*counts.items(), *of_labels.items())]
    note = f"undefined, because {why}" if distance is None else f"{distance:.6f} (Sechidis et al. 2011; 0 is exact)"
    title = f"{texts.title}: lines of each side, in all and with each label"
    table = Table(title, ("of", *sides), cells, [f"label distance: {note}"])
    texts.emit(form, [table], rows, **options, sides=of_sides, label_distance=distance, why=why)


def check_groups(texts: Texts, group: str) -> None:
    """Raise InputError for lines without a group: they would all be taken for the same one."""
    empty = [line for line, cell in zip(texts.lines, texts.frame[group], strict=True) if not cell.strip()]
    reject(texts.place, [Finding(texts.place, line, f"no `{group}`, which says what stays together") for line in empty])

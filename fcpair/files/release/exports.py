"""The exports of a grid of labels: one table, from which commands and the lead's downloads are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fcpair.params import Export
from fcpair.sentences import mark


@dataclass(frozen=True)
class ExportKind:
    """An export of the tiers, which the method of `Exports` of its name writes, that of training sets for `trains`."""

    name: str
    title: str  # says to the lead what it is, with the text
    text: str
    file: str  # the name of its download, with the tier, and for several formats a suffix; without any, it is a folder
    params: tuple[str, ...]  # those of `params.Export` that it reads
    tier: str  # the option that names one: `tier`, which it needs, `without`, which it can lack; empty where it has all
    help: str  # says what it is to whoever types its command
    trains: bool = False
    given: str = ""  # the method that writes it where no tier is named: of a grid of comparisons, as people gave it

    @property
    def is_folder(self) -> bool:
        """Return whether it is a folder; else it is a file."""
        return "." not in self.file

    def write(self, exports: Any, path: Path, tier: str | None, options: Export) -> Any:
        """Write it to a path by its method of `Exports`; returns the run."""
        if self.given and tier is None:
            return getattr(exports, self.given)(path)
        if self.trains:
            return exports.training(self.name, path, tier, options)
        return getattr(exports, self.name)(path, *([tier] if self.tier else []), options)


_DRAWN = ("negatives", "test_share", "seed")
_KINDS = (
    ExportKind(
        "qrels",
        mark("TREC qrels"),
        mark("The grades of a tier."),
        "{tier}.qrels",
        ("pool", "binary", "ids"),
        "tier",
        """Write a tier as TREC qrels.

A line is `hs_id 0 cn_id grade`; of several own ids of a text it has the first. The grade of an appropriate pair is
the rank of its best tier (1 Bronze, 2 Silver, 3 Gold, 4 Diamond), that of one that was judged and is not appropriate
is 0. An unjudged pair has no line.
With `--binary` the grades are 1 and 0, so that another tool's nDCG is fcpair's. If the labels are grades (two
or more are positive, all on one side of the scale), the grade is that of the label, 0 for the worst.

\b
Example:
  fcpair export qrels --tier silver --out silver.qrels
  fcpair export qrels --tier gold --pool positive --binary --out gold.qrels""",
    ),
    ExportKind(
        "beir",
        mark("BEIR folder"),
        mark("Pool, queries and grades of a tier."),
        "{tier}-beir",
        ("pool", "binary", "ids"),
        "tier",
        """Write a tier as a BEIR folder.

corpus.jsonl is the pool, queries.jsonl the HS of the tier, and qrels/test.tsv has the grades of
`fcpair export qrels`, with `--binary` 1 and 0.

\b
Example:
  fcpair export beir --tier silver --out silver-beir/""",
    ),
    ExportKind(
        "hf",
        mark("Hugging Face folder"),
        mark("All tiers, with a card; add a licence and a citation."),
        "dataset",
        ("ids",),
        "",
        """Write all tiers as a Hugging Face dataset folder.

`datasets.load_dataset(FOLDER, "gold")` reads one tier. Its card names no licence and no
citation: add them.

\b
Example:
  fcpair export hf --out dataset/""",
    ),
    ExportKind(
        "triplets",
        mark("Triplets"),
        mark("Anchor, positive and judged negative."),
        "{tier}-triplets",
        _DRAWN,
        "tier",
        """Write triplets with judged negatives.

The columns are `anchor`, `positive`, `negative`, as sentence-transformers has them. Every negative was judged for
the same HS and is not appropriate. No HS is in both train.jsonl and test.jsonl.

\b
Example:
  fcpair export triplets --tier silver --negatives 5 --seed 13 --out triplets/""",
        trains=True,
    ),
    ExportKind(
        "pairs",
        mark("Judged pairs"),
        mark("Two texts and a label, 1 or 0."),
        "{tier}-pairs",
        ("test_share", "seed"),
        "tier",
        """Write judged pairs with their labels.

The columns are `sentence1`, `sentence2`, `label`, as sentence-transformers has them. The label is 1 for an
appropriate pair and 0 for another. No HS is in both train.jsonl and test.jsonl.

\b
Example:
  fcpair export pairs --tier silver --test-share 0.25 --seed 13 --out pairs/""",
        trains=True,
    ),
    ExportKind(
        "preferences",
        mark("Preferences"),
        mark("Prompt, chosen and rejected."),
        "{tier}-preferences",
        _DRAWN,
        "tier",
        """Write preferences, drawn from a tier or as they were given.

The columns are `prompt`, `chosen`, `rejected`, as TRL has them. The rows of a tier are drawn as those of the triplets
are: the same options and seed give the same ones.

Of a grid whose columns `compare` texts, without --tier, it writes a file (.jsonl) with a line for each answer as it was
given: the row, the options in the order shown, the answer, who gave it and when, and these three columns.

\b
Example:
  fcpair export preferences --tier gold --seed 13 --out preferences/
  fcpair export preferences --grid rank --out preferences.jsonl""",
        trains=True,
        given="comparisons",
    ),
    ExportKind(
        "corpus",
        mark("Corpus without a tier"),
        mark("What you may train on when the tier is the test set."),
        "corpus-without-{tier}.{form}",
        ("pool", "ids"),
        "without",
        """Write the corpus with its ids, with or without what a tier holds.

The ids are those by which `fcpair retrieve --run` finds the texts. With `--without`, every row with an HS of the
tier or a CN of the pool is left out: the rest may be used for training when the tier is the test set. The suffix
sets the format: .csv, .jsonl or .parquet.

\b
Example:
  fcpair export corpus --out corpus.jsonl
  fcpair export corpus --without bronze --pool positive --out train.csv""",
    ),
)
EXPORTS = {kind.name: kind for kind in _KINDS}

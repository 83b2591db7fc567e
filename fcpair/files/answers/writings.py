"""Written texts as files: a table, training sets, a Hugging Face folder, and the layouts of two published datasets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fcpair.params import is_about_hate

if TYPE_CHECKING:
    import pandas as pd

Layout = Literal["table", "training", "hf", "crowdcounter", "parscn", "templates"]
COLUMNS = {
    "cell": "number of the cell",
    "hs": "the {row} that was answered, verbatim",
    "type": "the {column} that was asked for",
    "cn": "what was written, verbatim",
    "types": "all types that the text has, the one asked for first, separated by semicolons",
    "by": "the pseudonym of the writer, or the name of the model",
    "original": "the text that was given to be edited, where one was",
    "group": "the group that the {row} is about, as its metadata say",
    "language": "the language of the text, where it is known",
    "simulated": "whether simulated people wrote it",
}
"""The columns of a table of written texts; `original`, `group` and `language` only where there are any."""
TRAINING = ("hs", "type", "types", "cn")
WARNING = (
    "> **Content warning.** The texts that were answered may be hateful and distressing. They are here for research on",
    "> how to answer such texts, and do not express the views of the people who made this data.\n",
)


@dataclass(frozen=True)
class WritingsCardFacts:
    """Facts on a card: the title of the study, the names of its sides, who wrote, and what made the folder."""

    title: str
    row: str
    column: str
    simulated: str | None
    version: str


def split_files(texts: pd.DataFrame, is_test: NDArray[np.bool_]) -> dict[str, pd.DataFrame]:
    """The two sides of a training set, `train.jsonl` and `test.jsonl`, each with the columns of `TRAINING`."""
    sides = {"train.jsonl": texts[~is_test], "test.jsonl": texts[is_test]}
    return {name: side[list(TRAINING)].reset_index(drop=True) for name, side in sides.items()}


def hf_files(
    texts: pd.DataFrame, is_test: NDArray[np.bool_], facts: WritingsCardFacts
) -> dict[str, pd.DataFrame | str]:
    """A Hugging Face folder: `data/train.parquet`, `data/test.parquet` and the card, which names both as splits."""
    sides = {"train": texts[~is_test].reset_index(drop=True), "test": texts[is_test].reset_index(drop=True)}
    return {**{f"data/{name}.parquet": side for name, side in sides.items()}, "README.md": _render_card(sides, facts)}


def crowdcounter_json(texts: pd.DataFrame) -> str:
    """The layout of CrowdCounter's release: an object of HS by number, each with what its writers wrote.

    `additional_types` are those beside the one that was asked for. Whoever wrote found the text hateful or offensive.
    """
    objects: dict[str, Any] = {}
    for number, (hs, rows) in enumerate(texts.groupby("hs", sort=False), 1):
        entries = [_crowdcounter_entry(row) for row in rows.to_dict("records")]
        objects[str(number)] = {
            "post": hs,
            "id": number,
            "counterspeech_post": {entry["worker_id"]: entry for entry in entries},
        }
    return json.dumps(objects, ensure_ascii=False, indent=1) + "\n"


def _crowdcounter_entry(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "type_required": row["type"],
        "worker_id": row["by"],
        "counterspeech": row["cn"],
        "additional_types": [one for one in str(row["types"]).split("; ") if one and one != row["type"]],
        "label": "hatespeech/offensive",
        "weblink": "NA",
    }


def parscn_table(texts: pd.DataFrame) -> pd.DataFrame:
    """The layout of ParsCN's release: `Hate_Speech`, `Counter_Narrative`, `Counter_Type`, `Target_Group`."""
    renames = {"hs": "Hate_Speech", "cn": "Counter_Narrative", "types": "Counter_Type", "group": "Target_Group"}
    with_group = texts if "group" in texts.columns else texts.assign(group="")
    table = with_group[list(renames)].rename(columns=renames)
    return table.assign(Counter_Type=table["Counter_Type"].str.replace("; ", ", "))


def _render_card(sides: Mapping[str, pd.DataFrame], facts: WritingsCardFacts) -> str:
    title = " ".join(facts.title.split()) or "A study without a title"
    columns = [name for name in COLUMNS if name in sides["train"].columns]
    parts = [
        *("---", "configs:", "- config_name: default", "  data_files:"),
        *(line for name in sides for line in (f"  - split: {name}", f"    path: data/{name}.parquet")),
        *("---\n", f"# {title}\n"),
        f"Texts that were written in answer to a {facts.row}, each of a {facts.column} that was asked for.",
        f"No {facts.row} is in both splits.\n",
        *([f"**{facts.simulated}.**\n"] if facts.simulated else []),
        *(WARNING if is_about_hate(facts.row) else ()),
        "Do not try to find out who is behind a writer's pseudonym.\n",
        *("| split | texts | answered |", "|---|---|---|"),
        *(f"| `{name}` | {len(side):,} | {side['hs'].nunique():,} |" for name, side in sides.items()),
        *("", "## Columns\n", "| column | what it holds |", "|---|---|"),
        *(f"| `{name}` | {COLUMNS[name].format(row=facts.row, column=facts.column)} |" for name in columns),
        *("", "## Licence and citation\n"),
        "Neither is stated here. Before you publish this folder, add those of the texts that were answered, and of "
        "what",
        "was written.\n",
        f"Written by fcpair {facts.version}.",
    ]
    return "\n".join(parts) + "\n"

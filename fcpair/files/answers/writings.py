"""Written texts as files: a table, training sets, a Hugging Face folder, and the layouts of two published datasets."""

from __future__ import annotations

import json
from typing import Any, Literal

from fcpair.arrays import Bools
from fcpair.files.release.redaction import render
from fcpair.lazy import pd
from fcpair.params import is_about_hate

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
"""The columns of a table of written texts; `original`, `group` and `language` only if there are any."""
TRAINING = ("hs", "type", "types", "cn")


def split_files(texts: pd.DataFrame, is_test: Bools) -> dict[str, pd.DataFrame]:
    """The two sides of a training set, `train.jsonl` and `test.jsonl`, each with the columns of `TRAINING`."""
    sides = {"train.jsonl": texts[~is_test], "test.jsonl": texts[is_test]}
    return {name: side[list(TRAINING)].reset_index(drop=True) for name, side in sides.items()}


def hf_files(
    texts: pd.DataFrame, is_test: Bools, *, title: str, row: str, column: str, simulated: str | None, version: str
) -> dict[str, pd.DataFrame | str]:
    """A Hugging Face folder: `data/train.parquet`, `data/test.parquet` and the card, which names both as splits.

    `title` is that of the study, `row` and `column` are the names of its sides, `simulated` says who wrote.
    """
    sides = {"train": texts[~is_test].reset_index(drop=True), "test": texts[is_test].reset_index(drop=True)}
    card = render(
        "writings.md.j2",
        row=row,
        column=column,
        simulated=simulated,
        version=version,
        sides=sides,
        title=" ".join(title.split()) or "A study without a title",
        is_about_hate=is_about_hate(row),
        columns={name: text.format(row=row, column=column) for name, text in COLUMNS.items() if name in texts.columns},
    )
    return {**{f"data/{name}.parquet": side for name, side in sides.items()}, "README.md": card}


def crowdcounter_json(texts: pd.DataFrame) -> str:
    """The layout of CrowdCounter's release: an object of HS by number, each with what its writers wrote.

    `additional_types` are those beside the one that was asked for. Whoever wrote found the text hateful or offensive.
    """
    objects: dict[str, Any] = {}
    for number, (hs, rows) in enumerate(texts.groupby("hs", sort=False), 1):
        objects[str(number)] = {"post": hs, "id": number, "counterspeech_post": (entries := {})}
        for row in rows.to_dict("records"):
            further = [name for name in str(row["types"]).split("; ") if name not in ("", row["type"])]
            entry = {"type_required": row["type"], "worker_id": row["by"], "counterspeech": row["cn"]}
            entry |= {"additional_types": further, "label": "hatespeech/offensive", "weblink": "NA"}
            entries[row["by"]] = entry
    return json.dumps(objects, ensure_ascii=False, indent=1) + "\n"


def parscn_table(texts: pd.DataFrame) -> pd.DataFrame:
    """The layout of ParsCN's release: `Hate_Speech`, `Counter_Narrative`, `Counter_Type`, `Target_Group`."""
    renames = {"hs": "Hate_Speech", "cn": "Counter_Narrative", "types": "Counter_Type", "group": "Target_Group"}
    table = (texts if "group" in texts.columns else texts.assign(group=""))[list(renames)].rename(columns=renames)
    return table.assign(Counter_Type=table["Counter_Type"].str.replace("; ", ", "))

"""Labels of a pilot in a file: the columns of `labels export` that say who gave which pair which label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import LINE, name_of, place_of, read_table
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import label_reader

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("hs_id", "cn_id", "annotator", "label")


def read_pilot_labels(path: str | Path, question: Closed) -> pd.DataFrame:
    """Read the labels of a pilot, as `find_overlap` takes them: `cell_id`, `hs_id`, `cn_id`, `annotator`, `code`.

    Skips and rows without a label are left out. The ids in the file may be any words.

    Raises:
        InputError: the file cannot be read, or lacks a column; every label that `question` has not, every id that is
            missing, and everybody who labelled a pair twice, by line.
    """
    import pandas as pd

    table = read_table(path, COLUMNS, blank=["label", "note", "seconds", "time", "origin"])
    table = table[table["label"].str.strip() != ""].reset_index(drop=True)
    for name in COLUMNS:
        table[name] = table[name].str.strip()
    codes, findings = _read_codes(table, question)
    reject(name_of(path), [*findings, *_find_empty(table), *_find_repeats(table)])
    labels = table.assign(code=codes)
    labels = labels[labels["code"] != NO_CODE]
    return pd.DataFrame(
        {
            "cell_id": labels.groupby(["hs_id", "cn_id"], sort=True).ngroup().to_numpy(),
            "hs_id": pd.factorize(labels["hs_id"], sort=True)[0],
            "cn_id": pd.factorize(labels["cn_id"], sort=True)[0],
            "annotator": labels["annotator"].to_numpy(),
            "code": labels["code"].to_numpy(),
        }
    )


def _read_codes(table: pd.DataFrame, question: Closed) -> tuple[list[int], list[Finding]]:
    """The code of each label, and what is wrong with those that are none."""
    read, codes, findings = label_reader(question), [], []
    for line, label in zip(table[LINE].tolist(), table["label"].tolist(), strict=True):
        try:
            codes.append(read(label))
        except InputError as error:
            codes.append(NO_CODE)
            findings.append(Finding(place_of(table), line, str(error)))
    return codes, findings


def _find_empty(table: pd.DataFrame) -> Iterator[Finding]:
    for name in COLUMNS[:-1]:
        for line in table.loc[table[name] == "", LINE].tolist():
            yield Finding(place_of(table), line, f"column `{name}` is empty")


def _find_repeats(table: pd.DataFrame) -> Iterator[Finding]:
    first_lines = table.groupby(list(COLUMNS[:-1]), sort=False)[LINE].transform("first")
    for line, first, name in zip(table[LINE], first_lines, table["annotator"], strict=True):
        if line != first:
            message = f"{name} has labelled this pair already, in line {first}; keep the label that counts"
            yield Finding(place_of(table), int(line), message)

"""The files in which FC-CONAN was published: reading them, and writing a partition in their columns."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from fcpair.errors import Finding, InputError, reject
from fcpair.files.corpus.corpus import CN, HS, PUBLISHED_TEXTS
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.lazy import pd
from fcpair.records import Verdict
from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import APPROPRIATENESS

INDEX = "original_index"
HS_TEXT, CN_TEXT = PUBLISHED_TEXTS
FINAL = "Appropriate counternarrative (1) or non appropriate (0)"
VALID = "Valid (1) / Non Valid (0) annotation"
HS_METADATA = ("hsType", "hsSubType")
CN_METADATA = ("cnType", "age", "gender", "educationLevel", "cn_id")
ANSWERS = tuple(
    f"annotation of annotator {k} (0: non appropiate; 1: not sure; 2: appropiate counteranrrative)" for k in (1, 2, 3)
)
SIMULATED = "simulated"  # a column of ours, in files that rest on simulated people
COLUMNS = (INDEX, HS_TEXT, CN_TEXT, FINAL, VALID, *HS_METADATA, *CN_METADATA, *ANSWERS)
ANNOTATORS = ("annotator-1", "annotator-2", "annotator-3")
ANONYMOUS, VALIDATOR = "anonymous", "validator"


class PublishedPartition(NamedTuple):
    """Contents of a published partition, a file that findings call `place`.

    `pairs`: one row per pair, `line`, `pair` (their original_index), `hs`, `cn`, the metadata columns as strings,
    `final` (code of the final label), `verdict` (0 or 1), `simulated` (whether fcpair wrote the file and says so).
    `labels`: one row per label, `line`, `pair`, `person`, `code`; a pair without annotator columns has one label by the
    anonymous annotator, the final one.
    """

    place: str
    pairs: pd.DataFrame
    labels: pd.DataFrame


def read_published(path: str | Path) -> PublishedPartition:
    """Read a partition file of FC-CONAN.

    Raises InputError with all at once: a missing column, a value that is no code, an empty text, a pair twice.
    """
    frame = read_table(path, COLUMNS)
    place = place_of(frame)
    codes = {str(code) for code in APPROPRIATENESS.codes}
    allowed = {FINAL: {"0", "1"}, VALID: {"0", "1"}} | {column: codes | {""} for column in ANSWERS}
    problems = [
        (line, f"`{cell}` in column `{column}`; expected one of {', '.join(sorted(values))}")
        for column, values in allowed.items()
        for line, cell in zip(frame[LINE], frame[column], strict=True)
        if cell not in values
    ]
    problems += [
        (line, f"`{cell}` is not an index")
        for line, cell in zip(frame[LINE], frame[INDEX], strict=True)
        if not cell.isdecimal() or len(cell) > 18  # longer ones do not fit 64 bits
    ]
    for column in (HS_TEXT, CN_TEXT):
        empty = frame[LINE][frame[column].str.strip() == ""]
        problems += [(line, f"the text in `{column}` is empty") for line in empty]
    identities = frame[[HS_TEXT, CN_TEXT]].map(identity)
    for what, is_repeated in (("original_index", frame.duplicated(INDEX)), ("pair", identities.duplicated())):
        problems += [(line, f"this {what} is already in the file") for line in frame[LINE][is_repeated]]
    reject(path, [Finding(place, int(line), message) for line, message in problems])
    pairs = frame.rename(columns={INDEX: "pair", HS_TEXT: HS, CN_TEXT: CN}).drop(columns=[FINAL, VALID, *ANSWERS])
    pairs["pair"] = pairs["pair"].astype("int64")
    pairs["final"] = frame[FINAL].map({"0": APPROPRIATENESS.codes[0], "1": APPROPRIATENESS.positive[0]}).astype("int64")
    pairs["verdict"] = frame[VALID].astype("int64")
    pairs[SIMULATED] = frame[SIMULATED].str.lower() == "true" if SIMULATED in frame.columns else False
    parts = []
    for person, column in zip(ANNOTATORS, ANSWERS, strict=True):
        has_label = frame[column] != ""
        answers = frame.loc[has_label, column].astype("int64")
        parts.append(pairs.loc[has_label, [LINE, "pair"]].assign(person=person, code=answers))
    has_none = (frame[list(ANSWERS)] == "").all(axis=1)
    parts.append(pairs.loc[has_none, [LINE, "pair"]].assign(person=ANONYMOUS, code=pairs.loc[has_none, "final"]))
    return PublishedPartition(place, pairs, pd.concat(parts, ignore_index=True))


def require_published_scheme(question: Closed) -> None:
    """Raise InputError unless the labels are FC-CONAN's three, which its columns are named after."""
    if question != APPROPRIATENESS:
        ours, theirs = (", ".join(choice.name for choice in scheme) for scheme in (question, APPROPRIATENESS))
        raise InputError(
            f"FC-CONAN's columns hold its labels ({theirs}), and the labels of this study are {ours}; use fcpair's "
            "own columns (--layout fcpair)"
        )


def published_columns(partition: pd.DataFrame, metadata: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """The published columns of a partition, in their order; `original_index` is the pair's number.

    Of each pair `partition` has `cell_id`, `hs`, `cn`, `positive` (bool), `verdict` (0 or 1) and `n_labels`, `metadata`
    the published columns, if the corpus has them, and `labels` `cell_id` and `code` in the order of annotators; single
    labels are left out. Raises InputError for a pair without a verdict, or with more labels than columns.
    """
    if n_missing := int((partition["verdict"] == NO_CODE).sum()):
        have = "1 pair has" if n_missing == 1 else f"{n_missing:,} pairs have"
        raise InputError(
            f"{have} no verdict, and FC-CONAN's column `{VALID}` has no value for that; validate them, choose a tier "
            "that requires a verdict, or use fcpair's own columns (--layout fcpair)"
        )
    table = partition[["cell_id", "hs", "cn"]].set_axis([INDEX, HS_TEXT, CN_TEXT], axis="columns")
    table[FINAL] = partition["positive"].astype("int64")
    table[VALID] = (partition["verdict"] == Verdict.AGREE).astype("int64")
    for name in (*HS_METADATA, *CN_METADATA):
        table[name] = metadata[name].to_numpy() if name in metadata.columns else ""
    table["cn_id"] = table["cn_id"].str.split(" ", n=1).str[0]  # the published files have one
    shown = labels[labels.groupby("cell_id")["code"].transform("size") > 1]
    slot = shown.groupby("cell_id").cumcount()
    if (slot >= len(ANSWERS)).any():
        pair = shown["cell_id"][slot >= len(ANSWERS)].iloc[0]
        raise InputError(
            f"pair {pair} has more labels than FC-CONAN's {len(ANSWERS)} columns; use fcpair's own columns"
        )
    for k, column in enumerate(ANSWERS):
        table[column] = partition["cell_id"].map(shown[slot == k].set_index("cell_id")["code"]).astype("Int64")
    return table

"""Answers the sheets of people, as nine people might: answers.py FOLDER COLUMN PERSON...

What somebody answers to a pair is the same in each run. The environment variable SKIPS is the share of skips, 0.02.
"""

from __future__ import annotations

import csv
import os
import random
import sys
from pathlib import Path

from openpyxl import load_workbook

NEGATIVE, POSITIVE = "not_appropriate", "appropriate"
POSITIVES, NOT_SURE, WRONG, DISAGREES = 0.3, 0.05, 0.07, 0.1


def answer(person: str, pair: str, column: str) -> str:
    """The label or the verdict of a person on a pair."""
    truth = POSITIVE if random.Random(f"truth {pair}").random() < POSITIVES else NEGATIVE
    draw = random.Random(f"{person} {pair}").random()
    skips = float(os.environ.get("SKIPS", "0.02"))
    if column == "verdict":
        return "disagree" if draw >= 1 - DISAGREES else "agree"
    if draw < skips:
        return "skip"
    if draw < skips + NOT_SURE:
        return "not_sure"
    if draw < 1 - WRONG:
        return truth
    return POSITIVE if truth == NEGATIVE else NEGATIVE


def answer_workbook(path: Path, column: str) -> None:
    """Fill in the column of a workbook."""
    book = load_workbook(path)
    sheet = book["pairs"]
    names = [cell.value for cell in sheet[1]]
    for row in sheet.iter_rows(min_row=2):
        row[names.index(column)].value = answer(path.stem, str(row[names.index("pair")].value), column)
    book.save(path)


def answer_csv(path: Path, column: str) -> None:
    """Fill in the column of a CSV."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        line[column] = answer(path.stem, line["pair"], column)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    folder, column, *people = sys.argv[1:]
    for person in people:
        path = next(Path(folder).glob(f"{person}.*"))
        (answer_workbook if path.suffix == ".xlsx" else answer_csv)(path, column)

"""Put the texts of your own corpus beside the ids and digests of a release that was made without texts.

    python join_texts.py CORPUS.csv [MORE.csv ...] --out FOLDER

It needs Python 3.8 and nothing else. A text is known by the SHA-256 of its UTF-8 in Unicode's form NFC, without white
space at its ends; of several spellings the first is taken. Corpus files are CSVs as `fcpair import` reads them: UTF-8
or UTF-16, cells separated by commas, semicolons or tabs, a row of column names first. Every cell is tried, so columns
may have any names. Each CSV in `data/` beside this script is written to FOLDER with a column `hs` for `hs_sha256`, and
so on; a cell that a spreadsheet would run as a formula is behind an apostrophe, as in the release. It ends with 1 if a
text is missing, and with 2 if a file cannot be read.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import re
import sys
import unicodedata
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

SUFFIX = "_sha256"
DATA = Path(__file__).resolve().parent / "data"
LONGEST_CELL = 2**31 - 1  # the most that `csv` takes on every system; its own limit is 131,072 characters
OTHER_TABLES = (".json", ".jsonl", ".ods", ".parquet", ".xls", ".xlsx")
SEPARATORS = ",;\t"
GUARDED = re.compile("^'*[=+\\-@\t\r\n＝＋－＠]")


def digest(text: str) -> str:
    """The SHA-256 by which a text is known."""
    return hashlib.sha256(unicodedata.normalize("NFC", text).strip().encode("utf-8", "surrogatepass")).hexdigest()


def read_texts(paths: Iterable[Path]) -> dict[str, str]:
    """Every cell of some CSV files, by its digest; raises ValueError where one cannot be read."""
    csv.field_size_limit(LONGEST_CELL)
    texts: dict[str, str] = {}
    for path in paths:
        if path.suffix.lower() in OTHER_TABLES:
            raise ValueError(f"{path} is no CSV; save it as CSV in UTF-8")
        try:
            cells = [cell for row in islice(read_rows(path.read_bytes()), 1, None) for cell in row]
        except (OSError, ValueError, csv.Error) as error:
            raise ValueError(f"{path} cannot be read as CSV in UTF-8: {error}") from None
        for cell in cells:
            texts.setdefault(digest(cell), cell)
            if cell[:1] == "'" and GUARDED.match(cell):  # fcpair wrote the file, and this is a text behind its mark
                texts.setdefault(digest(cell[1:]), cell[1:])
    return texts


def read_rows(content: bytes) -> Iterable[list[str]]:
    """The rows of a CSV, that of the column names first."""
    is_utf_16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = content.decode("utf-16" if is_utf_16 else "utf-8-sig")
    named = re.match("sep=(.)\r?\n", text, re.IGNORECASE)  # a line that some programs write for Excel

    def rows(separator: str, strict: bool) -> Iterable[list[str]]:
        body = io.StringIO(text[named.end() :] if named else text, newline="")
        return filter(None, csv.reader(body, delimiter=separator, strict=strict))

    def n_columns(separator: str) -> int:
        first = list(islice(rows(separator, False), 21))
        return len(first[0]) if any(len(row) > 1 for row in first[1:]) else 1

    return rows(named.group(1) if named else max(SEPARATORS, key=n_columns), True) if text.strip() else []


def join_file(source: Path, target: Path, texts: dict[str, str]) -> int:
    """Write a CSV with the texts of its digests in front of them; returns how many texts are missing."""
    missing: set[str] = set()
    with source.open(encoding="utf-8", newline="") as file, target.open("w", encoding="utf-8", newline="") as joined:
        reader = csv.DictReader(file)
        columns = {name[: -len(SUFFIX)]: name for name in reader.fieldnames or () if name.endswith(SUFFIX)}
        writer = csv.DictWriter(joined, [*columns, *(reader.fieldnames or ())])
        writer.writeheader()
        for row in reader:
            found = {name: texts.get(row[column], "") for name, column in columns.items()}
            missing.update(row[column] for name, column in columns.items() if row[column] and not found[name])
            guarded = {name: f"'{text}" if GUARDED.match(text) else text for name, text in found.items()}
            writer.writerow({**guarded, **row})
    return len(missing)


def main(arguments: list[str] | None = None) -> int:
    """Join the files of a release with a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="+", type=Path, help="CSV files with the texts")
    parser.add_argument("--out", required=True, type=Path, help="the folder to write to")
    options = parser.parse_args(arguments)
    if options.out.resolve() == DATA:
        parser.error(f"--out {options.out} holds the release itself; name another folder")
    try:
        texts = read_texts(options.corpus)
        options.out.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    n_missing = 0
    for source in sorted(DATA.glob("*.csv")):
        n_file = join_file(source, options.out / source.name, texts)
        verb = "text is" if n_file == 1 else "texts are"
        print(f"{source.name}: {n_file} {verb} missing" if n_file else f"{source.name}: complete")
        n_missing += n_file
    return 1 if n_missing else 0


if __name__ == "__main__":
    sys.exit(main())

"""Put the texts of your own corpus beside the ids and digests of a release that was made without texts.

    python join_texts.py CORPUS.csv [MORE.csv ...] --out FOLDER

It needs Python 3.8 and nothing else. A text is known by the SHA-256 of its UTF-8 in Unicode's form NFC, without white
space at its ends. Every cell of the corpus files is tried, so their columns may have any names. Each CSV in `data/`
beside this script is written to FOLDER with a column `hs` for `hs_sha256`, and so on; it ends with 1 if a text is
missing, and with 2 if a file cannot be read.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

SUFFIX = "_sha256"
DATA = Path(__file__).resolve().parent / "data"
LONGEST_CELL = 2**31 - 1  # the most that `csv` takes on every system; its own limit is 131,072 characters


def digest(text: str) -> str:
    """The SHA-256 by which a text is known."""
    return hashlib.sha256(unicodedata.normalize("NFC", text).strip().encode("utf-8", "surrogatepass")).hexdigest()


def read_texts(paths: Iterable[Path]) -> dict[str, str]:
    """Every cell of some CSV files, by its digest; raises ValueError where one cannot be read."""
    csv.field_size_limit(LONGEST_CELL)
    texts: dict[str, str] = {}
    for path in paths:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                for row in csv.reader(file):
                    texts.update((digest(cell), cell) for cell in row)
        except (OSError, ValueError, csv.Error) as error:
            raise ValueError(f"{path} cannot be read as CSV in UTF-8: {error}") from None
    return texts


def join_file(source: Path, target: Path, texts: dict[str, str]) -> int:
    """Write a CSV with the texts of its digests in front of them; returns how many texts are missing."""
    missing: set[str] = set()
    with source.open(encoding="utf-8", newline="") as file, target.open("w", encoding="utf-8", newline="") as joined:
        reader = csv.DictReader(file)
        columns = {name[: -len(SUFFIX)]: name for name in reader.fieldnames or () if name.endswith(SUFFIX)}
        writer = csv.DictWriter(joined, [*columns, *(reader.fieldnames or ())])
        writer.writeheader()
        for row in reader:
            joined_texts = {name: texts.get(row[column], "") for name, column in columns.items()}
            missing.update(row[column] for name, column in columns.items() if row[column] and not joined_texts[name])
            writer.writerow({**joined_texts, **row})
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

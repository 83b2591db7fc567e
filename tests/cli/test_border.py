"""Files that make parsers stumble: a finding that names the file, exit 2 and the study as it was, at every reader."""

from __future__ import annotations

import gc
import gzip
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from steps.small import dump

from cli.conftest import At, Fcpair

TEMPLATES = Path(__file__).parents[2] / "examples" / "survey-templates.toml"
DEEP = "[" * 20_000 + "]" * 20_000
DIGITS = "9" * 5_000
HALF = "\\ud800"
COLUMNS = ("hs", "cn", "annotator", "pair", "label", "validator", "verdict", "text", "type", "statement", "used")
UTF_16 = b"\xff\xfe"


def jsonl(value: str) -> bytes:
    return ("{" + ", ".join(f'"{name}": {value}' for name in COLUMNS) + "}\n").encode()


def parquet(cell: pa.Array) -> bytes:
    """A table with cells of a kind."""
    table = pa.table(dict.fromkeys(COLUMNS, cell))
    file = BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def replaced(template: str, line: str) -> str:
    """A file of templates in which the first line with this key is another."""
    return re.sub(f"^{line.split(' = ', maxsplit=1)[0]} = .*$", line, template, count=1, flags=re.MULTILINE)


TABLES = {
    "deep.jsonl": jsonl(DEEP),
    "digits.jsonl": jsonl(DIGITS),
    "half.jsonl": jsonl(f'"{HALF}"'),
    "half-within.jsonl": jsonl(f'["{HALF}"]'),
    "half-in-name.jsonl": f'{{"{HALF}": 1, {jsonl("1").decode()[1:]}'.encode(),
    "odd.csv": UTF_16 + "hs,cn\na,b".encode("utf-16-le") + b"a",
    "half.csv": UTF_16 + "hs,cn\na,".encode("utf-16-le") + b"\x00\xd8",
    "no-break.csv": b"hs,cn\na,\xa0",
    "separator-alone.csv": b"sep=;\n",
    "no-text.parquet": parquet(cell=pa.array([b"\xff\xfe"]).view(pa.string())),
    "nul.parquet": parquet(cell=pa.array(["a\x00b"])),
    "bytes.parquet": parquet(cell=pa.array([{"a": b"x"}])),
    "late.parquet": parquet(cell=pa.array([2**30], pa.date32())),
}
COMMANDS = (
    ("imported", "select --hs-list"),
    ("dealt", "labels import"),
    ("dealt", "answers import"),
    ("labelled", "adjudicate --import"),
    ("checking", "validate import"),
    ("empty", "import"),
    ("empty", "describe --text text"),
    ("empty", "ask import"),
)


@pytest.fixture(autouse=True)
def _nothing_collected() -> Iterator[None]:
    """Keep what earlier tests left from being collected at the bottom of a recursion, where no finalizer can run."""
    gc.disable()
    yield
    gc.enable()


def refused(fcpair: Fcpair, study: Path, command: str, path: Path) -> str:
    """What is said of a file, of which nothing is taken."""
    before = dump(study) if study.exists() else ""
    result = fcpair(*command.split(), path, code=2)
    assert str(path) in result.stderr
    assert (dump(study) if study.exists() else "") == before
    return result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "command"), COMMANDS)
def test_every_command_names_a_broken_table(at: At, fcpair: Fcpair, tmp_path: Path, stage: str, command: str) -> None:
    study = at(stage)
    for name, content in TABLES.items():
        path = tmp_path / name
        path.write_bytes(content)
        refused(fcpair, study, f"import --reader {path.suffix[1:]}" if command == "import" else command, path)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_cannot_be_read_is_named_by_line(at: At, fcpair: Fcpair, tmp_path: Path, name: str) -> None:
    study, path = at("empty"), tmp_path / name
    path.write_bytes(TABLES[name])
    refused(fcpair, study, f"import --reader {path.suffix[1:]}", path)
    if name in ("deep.jsonl", "digits.jsonl", "half.jsonl", "half-within.jsonl"):
        path.write_bytes(jsonl('"a"') + TABLES[name])
        assert f"{path}:2: " in refused(fcpair, study, "import --reader jsonl", path)


NESTED = "{a=" * 5_000 + "1" + "}" * 5_000
PACKED = gzip.compress(jsonl("1"), mtime=0)
TEMPLATE = TEMPLATES.read_text("utf-8")
# By command: the name of a file, what is in it, and what is said beside its name.
OTHER_FILES: dict[str, list[tuple[str, str | bytes, str]]] = {
    "items expand --count": [
        *(
            ("t.toml", f"template = {value}\n", "")
            for value in ("[1,2]", "1", "[[1]]", "[]", DIGITS, NESTED, '[{slots=3, id="a"}]')
        ),
        ("t.toml", replaced(TEMPLATE, "swap = 1"), "`swap` is 1; expected the names of two slots"),
        ("t.toml", replaced(TEMPLATE, "group = [1]"), "`group` is not a text"),
    ],
    "run": [
        ("r.toml", f"[select]\nhs = {DIGITS}\n", ""),
        ("r.toml", f"study = {NESTED}", ""),
        ("r.toml", '[study]\nguidelines = "a\\u0000b"\n', ""),
        ("r.toml", '[study]\ntitle = "a\\u0000b"\n', ""),
    ],
    "bias score --as bbq --answer label": [
        ("deep.jsonl", jsonl(DEEP), ""),
        ("digits.jsonl", jsonl(DIGITS), ""),
        ("blank.jsonl", b" ", ""),
        ("cut.jsonl.gz", PACKED[:-12], ""),
        ("no-sum.jsonl.gz", PACKED[:-8] + bytes(8), ""),
        ("broken.jsonl.gz", PACKED[:20] + b"\xff\xff" + PACKED[22:], ""),
        ("plain.jsonl.gz", jsonl("1"), ""),
    ],
    "bias score --as pbbq --reader lm-eval": [
        ("samples.jsonl", f'\n{{"doc": {doc}, "filtered_resps": [[1], [2], [3]]}}\n', "samples.jsonl:2: ")
        for doc in ("1", "null", DEEP, f'"{HALF}"')
    ],
    "classify --truth type --predicted label": [("t.csv", f'label,type\na,a\na,"{DEEP}"\n', "t.csv:3: ")],
}


@pytest.mark.parametrize("command", OTHER_FILES)
def test_another_file_that_cannot_be_read_is_named(fcpair: Fcpair, study: Path, tmp_path: Path, command: str) -> None:
    for name, content, message in OTHER_FILES[command]:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        assert message in refused(fcpair, study, command, path)

"""Files that make parsers stumble: a finding that names the file, exit 2 and the study as it was, at every reader."""

from __future__ import annotations

import gc
import gzip
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from steps.small import dump

from cli.conftest import Fcpair

TEMPLATES = Path(__file__).parents[2] / "examples" / "survey-templates.toml"
At = Callable[[str], Path]
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
def test_every_command_names_the_table_that_cannot_be_read(
    at: At, fcpair: Fcpair, tmp_path: Path, stage: str, command: str
) -> None:
    study = at(stage)
    for name, content in TABLES.items():
        path = tmp_path / name
        path.write_bytes(content)
        read_as = f"import --reader {path.suffix[1:]}" if command == "import" else command
        refused(fcpair, study, read_as, path)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_cannot_be_read_is_named(at: At, fcpair: Fcpair, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TABLES[name])
    refused(fcpair, at("empty"), f"import --reader {path.suffix[1:]}", path)


@pytest.mark.parametrize("name", ["deep.jsonl", "digits.jsonl", "half.jsonl", "half-within.jsonl"])
def test_the_line_is_named_where_there_is_one(at: At, fcpair: Fcpair, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(jsonl('"a"') + TABLES[name])
    assert f"{path}:2: " in refused(fcpair, at("empty"), "import --reader jsonl", path)


@pytest.mark.parametrize(
    "told",
    ["[1,2]", "1", "[[1]]", "[]", DIGITS, "{a=" * 5_000 + "1" + "}" * 5_000, '[{slots=3, id="a"}]'],
)
def test_templates_that_are_no_tables_are_named(at: At, fcpair: Fcpair, tmp_path: Path, told: str) -> None:
    path = tmp_path / "templates.toml"
    path.write_text(f"template = {told}\n", "utf-8")
    refused(fcpair, at("empty"), "items expand --count", path)


@pytest.mark.parametrize(
    ("told", "said"),
    [("swap = 1", "`swap` is 1; expected the names of two slots"), ("group = [1]", "`group` is not a text")],
)
def test_a_value_of_another_kind_in_a_template_is_named(
    fcpair: Fcpair, study: Path, tmp_path: Path, told: str, said: str
) -> None:
    path = tmp_path / "templates.toml"
    whole = TEMPLATES.read_text("utf-8")
    key = told.split(" = ", maxsplit=1)[0]
    path.write_text(re.sub(f"^{key} = .*$", told, whole, count=1, flags=re.MULTILINE), "utf-8")
    assert said in refused(fcpair, study, "items expand --count", path)


@pytest.mark.parametrize(
    "told",
    [
        f"[select]\nhs = {DIGITS}\n",
        "study = " + "{a=" * 5_000 + "1" + "}" * 5_000,
        '[study]\nguidelines = "a\\u0000b"\n',
        '[study]\ntitle = "a\\u0000b"\n',
    ],
)
def test_a_recipe_that_cannot_be_read_is_named(fcpair: Fcpair, study: Path, tmp_path: Path, told: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(told, "utf-8")
    refused(fcpair, study, "run", path)


PACKED = gzip.compress(jsonl("1"), mtime=0)  # so that tests have the same names in every process


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.jsonl", jsonl(DEEP)),
        ("digits.jsonl", jsonl(DIGITS)),
        ("blank.jsonl", b" "),
        ("cut.jsonl.gz", PACKED[:-12]),
        ("no-sum.jsonl.gz", PACKED[:-8] + bytes(8)),
        ("broken.jsonl.gz", PACKED[:20] + b"\xff\xff" + PACKED[22:]),
        ("plain.jsonl.gz", jsonl("1")),
    ],
)
def test_answers_to_bbq_that_cannot_be_read_are_named(
    fcpair: Fcpair, study: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    refused(fcpair, study, "bias score --as bbq --answer label", path)


@pytest.mark.parametrize("doc", ["1", "null", DEEP, f'"{HALF}"'])
def test_a_sample_without_an_item_is_named_with_its_line(fcpair: Fcpair, study: Path, tmp_path: Path, doc: str) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(f'\n{{"doc": {doc}, "filtered_resps": [[1], [2], [3]]}}\n', "utf-8")
    assert f"{path}:2: " in refused(fcpair, study, "bias score --as pbbq --reader lm-eval", path)


def test_brackets_without_end_in_a_cell_are_no_list_of_labels(fcpair: Fcpair, study: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'label,type\na,a\na,"{DEEP}"\n', "utf-8")
    assert f"{path}:3: " in refused(fcpair, study, "classify --truth type --predicted label", path)

"""What the tests notice: changes of the code, drawn by seed, each tried by the tests that reach its line.

    python -m benchmarks.mutants reach         which test reaches which line: both targets, under coverage
    python -m benchmarks.mutants try           80 mutants, 20 each of stages, steps, store and web

A mutant is written into the checkout, and taken out again: work in a clone. What is reached in a process that a test
starts is not seen, so such lines are not drawn. A test that does not end within two minutes has noticed its mutant.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

FLOORS = ("stages", "steps", "store", "web")
TARGETS = {"quick": ["-m", "not slow"], "slow": ["-m", "slow or hypothesis", "--hypothesis-profile", "thorough"]}
# A test that gives up root's rights cannot write what coverage saw.
UNMEASURED = ["--deselect", "tests/cli/test_bad_input.py"]
NOT_FOUND = 4  # what pytest ends with where a test is not there, as where its module cannot be read
ENDLESS = ["-o", "faulthandler_timeout=120", "-o", "faulthandler_exit_on_timeout=true"]

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one place: the text from `start` to `end` (characters of the file) becomes `after`."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {_short(self.before)} -> {_short(self.after)}"


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 70 else f"{line[:67]}..."


def main() -> int:
    """Measure what is reached, or try mutants; 1 when a mutant was noticed by nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=("reach", "try"))
    parser.add_argument("--folder", type=Path, default=Path(".mutants"), help="where what is reached is kept")
    parser.add_argument("--each", type=int, default=20, help="mutants of each floor")
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("--jobs", type=int, default=2, help="processes that measure what is reached")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    if options.act == "reach":
        return _reach(options.folder, options.jobs)
    return _try(options.folder, options.each, options.seed)


def _reach(folder: Path, jobs: int) -> int:
    for target, chosen in TARGETS.items():
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "--dist", "loadgroup", *chosen, *UNMEASURED]
        seen = {"COVERAGE_FILE": str((folder / target).resolve())}
        subprocess.run(
            [*command, "--cov=fcpair", "--cov-context=test", "--cov-report="], env=os.environ | seen, check=False
        )
    return 0


def _try(folder: Path, each: int, seed: int) -> int:
    reached = {target: _reached(folder / target) for target in TARGETS if (folder / target).exists()}
    noticed: Counter[str] = Counter()
    for mutant in _drawn(reached, each, seed):
        noticed[found := _noticed_by(mutant, reached)] += 1
        print(f"{sum(noticed.values()):3} {found:8} {mutant}", flush=True)
    print(", ".join(f"{target}: {n}" for target, n in sorted(noticed.items())))
    return int(noticed["nothing"] > 0)


def _reached(path: Path) -> dict[str, dict[int, list[str]]]:
    """Tests by file and line, with all their parameters, whose order is not the same in every run, and no group."""
    data = CoverageData(str(path))
    data.read()
    return {
        str(Path(name).relative_to(Path.cwd())): {
            line: sorted(
                {
                    context.rpartition("|")[0].partition("[")[0].partition("@")[0]
                    for context in contexts
                    if "|" in context
                }
            )
            for line, contexts in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }


def _drawn(reached: dict[str, dict[str, dict[int, list[str]]]], each: int, seed: int) -> Iterator[Mutant]:
    draw = random.Random(seed)
    for floor in FLOORS:
        paths = sorted(Path("fcpair", floor).rglob("*.py"))
        places = [
            mutant
            for path in paths
            for mutant in mutants(str(path), path.read_text(encoding="utf-8"))
            if any(found.get(str(path), {}).get(mutant.line) for found in reached.values())
        ]
        yield from draw.sample(places, each)


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Every change inside functions that this module knows, in the order of the file."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    encoded = source.encode()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for place, after in ((node, after) for node in _inside(function.body) for after in _changes(node)):
            if isinstance(place, ast.expr | ast.stmt):
                start = starts[place.lineno - 1] + place.col_offset
                end = starts[(place.end_lineno or place.lineno) - 1] + (place.end_col_offset or place.col_offset)
                yield Mutant(path, place.lineno, start, end, encoded[start:end].decode(), after)


def _inside(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes of a function but for those of functions in it, of annotations, and of f-strings, which say no place."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        left_out = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.JoinedStr)
        parts = [part for part in ast.iter_child_nodes(node) if part is not getattr(node, "annotation", None)]
        waiting += [] if isinstance(node, left_out) else reversed(parts)


def _changes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
            yield f"({ast.unparse(ast.Compare(left, [COMPARED[type(op)]()], [right]))})"
        case ast.BoolOp(op=op, values=values):
            yield f"({ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in COMPUTED:
            yield f"({ast.unparse(ast.BinOp(left, COMPUTED[type(op)](), right))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value)):
            yield str(value + 1)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"({ast.unparse(ast.IfExp(test, orelse, body))})"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "pass"
        case ast.Raise():
            yield "pass"


def _noticed_by(mutant: Mutant, reached: dict[str, dict[str, dict[int, list[str]]]]) -> str:
    for target, found in reached.items():
        tests = found.get(mutant.path, {}).get(mutant.line, [])
        if tests and not _pass_with(mutant, tests, TARGETS[target]):
            return target
    return "nothing"


def _pass_with(mutant: Mutant, tests: list[str], options: list[str]) -> bool:
    path = Path(mutant.path)
    kept = path.read_bytes()
    path.write_bytes(kept[: mutant.start] + mutant.after.encode() + kept[mutant.end :])
    try:
        ended = _run(tests, options)
    finally:
        path.write_bytes(kept)
    if ended.returncode == NOT_FOUND and _run(tests, [*options, "--collect-only"]).returncode:
        raise SystemExit(f"pytest does not find {len(tests)} tests: {ended.stderr[-2000:]!r}")
    return ended.returncode == 0


def _run(tests: list[str], options: list[str]) -> subprocess.CompletedProcess[bytes]:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as named:
        named.write("\n".join(tests))
        named.flush()
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *ENDLESS, *options]
        unwritten = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([*command, f"@{named.name}"], env=unwritten, capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main())

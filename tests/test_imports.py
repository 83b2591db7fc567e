"""Imports run downward: cli | web -> study -> grid -> steps -> (stages | files | ...) | store -> records, errors."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import fcpair
from fcpair import Study

PACKAGE = Path(fcpair.__file__).parent
BELOW_STEPS = {
    "stages",
    "models",
    "cluster",
    "files",
    "evaluate",
    "measures",
    "texts",
    "items",
    "bias",
    "report",
    "figures",
    "store",
    "recipe",
    "base",
}
MAY_IMPORT = {
    "cli": {"cli", "study", "grid", *BELOW_STEPS - {"store"}},
    "web": {"web", "study", "grid", *BELOW_STEPS - {"store"}},
    "study": {"study", "grid", "steps", *BELOW_STEPS},
    "grid": {"grid", "steps", *BELOW_STEPS},
    "steps": {"steps", *BELOW_STEPS},
    "recipe": {"recipe", "stages", "evaluate", "files", "base"},
    "report": {"report", "figures", "bias", "evaluate", "files", "stages", "base"},
    "figures": {"figures", "report", "bias", "evaluate", "files", "stages", "base"},
    "evaluate": {"evaluate", "files", "models", "stages", "base"},
    "measures": {"measures", "texts", "models", "files", "stages", "base"},
    "texts": {"texts", "files", "stages", "base"},
    "files": {"files", "items", "bias", "stages", "base"},
    "items": {"items", "base"},
    "bias": {"bias", "stages", "base"},
    "models": {"models", "files", "stages", "base"},
    "cluster": {"cluster", "models", "files", "stages", "base"},
    "stages": {"stages", "base"},
    "store": {"store", "base", "migrations"},
    "base": {"base"},
}
LAYERS = {
    "": "study",  # the package itself hands out Study
    "Study": "study",
    "__main__": "cli",
    "_migrations": "migrations",
    "bias.items": "items",
    "models.cluster": "cluster",
    "report.figures": "figures",
    "texts.measures": "measures",
    **dict.fromkeys(
        (
            "arrays",
            "blocks",
            "done",
            "errors",
            "sentences",
            "pair_filter",
            "known_pairs",
            "lazy",
            "notebook",
            "param_values",
            "params",
            "plans",
            "records",
            "revisions",
            "sentences",
            "round_options",
            "start_draft",
            "tier_plans",
            "words",
            "values",
            "work_records",
            "unfinished",
        ),
        "base",
    ),
}
ONLY_IN = {
    "click": ("fcpair.cli", "fcpair.__main__"),
    "sqlalchemy": ("fcpair.store",),
    "alembic": ("fcpair.store",),
    "sentence_transformers": ("fcpair.models",),
    "onnxruntime": ("fcpair.models.encode",),
    "dask": ("fcpair.models.cluster",),
    "distributed": ("fcpair.models.cluster",),
    "httpx2": ("fcpair.models.service", "fcpair.models.grammar"),
    "tenacity": ("fcpair.models.service",),
    "fastapi": ("fcpair.web", "fcpair.cli.oversight.serve"),
    "starlette": ("fcpair.web", "fcpair.cli.oversight.serve"),
    "uvicorn": ("fcpair.web", "fcpair.cli.oversight.serve"),
    "itsdangerous": ("fcpair.web", "fcpair.cli.oversight.serve"),
}
HEAVY = (
    "alembic",
    "bm25s",
    "choix",
    "dask",
    "distributed",
    "fastapi",
    "httpx2",
    "itsdangerous",
    "matplotlib",
    "harper",
    "nltk",
    "numpy",
    "odf",
    "onnxruntime",
    "openpyxl",
    "pandas",
    "py3langid",
    "pyarrow",
    "pyphen",
    "rouge_score",
    "sacrebleu",
    "scipy",
    "sentence_transformers",
    "sklearn",
    "sqlalchemy",
    "starlette",
    "statsmodels",
    "tenacity",
    "torch",
    "uvicorn",
)


@dataclass(frozen=True)
class Module:
    name: str
    source: str
    is_package: bool = False


def modules_of(package: Path) -> list[Module]:
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        found.append(Module(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package))
    return found


def layer(name: str) -> str:
    """The layer of a module of fcpair: that of its folder, unless LAYERS says so."""
    _, top, below, *_ = [*name.split("."), "", ""]
    return LAYERS.get(f"{top}.{below}") or LAYERS.get(top, top)


def imported(module: Module) -> Iterator[str]:
    """Every dotted name that a module imports, wherever in it the import stands; `from a import b` gives `a.b`."""
    for node in ast.walk(ast.parse(module.source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.name.split(".")
            above = parts[: len(parts) - node.level + module.is_package] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def upward_edges(modules: list[Module]) -> list[str]:
    """Each import that breaks the rule, as `importer -> imported`."""
    found = []
    for module in modules:
        own = layer(module.name)
        for name in imported(module):
            if within(name, "fcpair"):
                allowed = layer(name) in MAY_IMPORT[own]
            else:
                homes = ONLY_IN.get(name.split(".")[0])
                allowed = homes is None or any(within(module.name, home) for home in homes)
            if not allowed:
                found.append(f"{module.name} -> {name}")
    return found


def test_no_import_of_fcpair_runs_upward() -> None:
    assert upward_edges(modules_of(PACKAGE)) == []


def test_the_walk_sees_the_whole_package() -> None:
    names = {module.name for module in modules_of(PACKAGE)}
    assert {
        "fcpair",
        "fcpair.cli",
        "fcpair.steps.building",
        "fcpair.store.database.tables",
        "fcpair.models.encode",
    } <= names
    assert set(MAY_IMPORT) == {layer(name) for name in names}


PLANTED = {
    "fcpair.files.corpus.corpus": [
        "from fcpair.store import Store",
        "from fcpair import store",
        "import fcpair.store.corpus.texts",
        "from ... import store",
        "from ...store.texts import add_texts",
        "def late() -> None:\n    from fcpair.steps import pair",
        "if TYPE_CHECKING:\n    from fcpair.study import Study",
        "from fcpair import Study",
        "import click",
        "import sqlalchemy as sa",
        "from sqlalchemy.orm import Session",
        "from fcpair.cli import main",
        "from fcpair.web import create_app",
        "import sentence_transformers",
    ],
    "fcpair.stages.corpus.retrieve": ["import sentence_transformers"],
    "fcpair.evaluate.services": ["import httpx2", "from tenacity import Retrying"],
    "fcpair.records": ["from fcpair.files.corpus.corpus import CN"],
    "fcpair.errors": ["from fcpair.stages.adjudication.adjudicate import tally"],
    "fcpair.store.corpus.texts": ["from fcpair.files.corpus.corpus import CN", "from fcpair.steps import pair"],
    "fcpair.files.release.tier": ["from fcpair.store import Store"],
    "fcpair.report.page": ["from fcpair.steps import partition"],
    "fcpair.steps.building": [
        "from fcpair.study import Study",
        "from fcpair.grid import Grid",
        "from sqlalchemy import select",
    ],
    "fcpair.grid": ["from fcpair.study import Study"],
    "fcpair.study": ["from fcpair.cli import main", "from starlette.types import ASGIApp"],
    "fcpair.cli.main": [
        "from fcpair.web import create_app",
        "from fcpair.store.database.tables import pair",
        "from fcpair.store import tables",
        "import sqlalchemy",
    ],
    "fcpair.web.app": [
        "from fcpair.cli import options",
        "import fcpair.store.database.tables",
        "import sqlalchemy",
        "import alembic",
    ],
    "fcpair.cli.oversight.status": ["import uvicorn"],
    "fcpair.steps.answers.work_queue": ["from fastapi import Request"],
    "fcpair.steps.people.access": ["from itsdangerous import Signer"],
    "fcpair.cli.oversight.serve": ["from fcpair.web.app import from_environment"],
}
DOWNWARD = {
    "fcpair.cli.main": ["from fcpair import Study", "from fcpair.errors import FcpairError", "import click"],
    "fcpair.study": ["from fcpair.steps import pair", "from fcpair.grid import Grid"],
    "fcpair.web.app": ["from fcpair.grid import Grid", "from fastapi import FastAPI"],
    "fcpair.steps.building": ["from fcpair.store import texts"],
    "fcpair.files.corpus.corpus": ["from fcpair.files.tables.tabular import LINE"],
    "fcpair.models.encode": ["import sentence_transformers"],
    "fcpair.models.transformer": ["import sentence_transformers"],
    "fcpair.models.service": ["import httpx2"],
    "fcpair.store.database.store": ["from sqlalchemy.exc import DBAPIError"],
    "fcpair.storekeeper": ["import numpy"],
    "fcpair.web.server.security": ["from starlette.types import ASGIApp"],
    "fcpair.cli.oversight.serve": ["import uvicorn"],
}


@pytest.mark.parametrize(("edges", "n_found"), [(PLANTED, 1), (DOWNWARD, 0)], ids=["upward", "downward"])
def test_each_planted_upward_edge_is_found_and_each_downward_one_let_through(
    edges: dict[str, list[str]], n_found: int
) -> None:
    for module, lines in edges.items():
        for line in lines:
            assert len(upward_edges([Module(module, line)])) == n_found, line


def test_a_relative_import_of_a_package_is_counted_from_the_package_itself() -> None:
    assert upward_edges([Module("fcpair.store", "from .texts import add_texts", is_package=True)]) == []
    assert upward_edges([Module("fcpair.store", "from ..files.corpus import CN", is_package=True)]) == [
        "fcpair.store -> fcpair.files.corpus.CN"
    ]


def loaded_by(code: str) -> set[str]:
    """The modules that a new interpreter has when it has run these lines."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    lines = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True, env=environment)
    return set(run.stderr.split())


def test_a_recipe_is_read_and_run_without_the_clients_of_models_that_it_does_not_name() -> None:
    recipe = Path(__file__).parents[1] / "examples" / "recipe.toml"
    code = (
        "import fcpair.steps.oversight.recipe_runner\nfrom pathlib import Path\nfrom fcpair.recipe import load_recipe\n"
    )
    loaded = loaded_by(f"{code}load_recipe(Path({str(recipe)!r}))")
    clients = ("answering_models", "service", "transformer")
    assert loaded & {f"fcpair.models.{name}" for name in clients} == set()


def test_the_command_line_starts_without_the_heavy_libraries_and_the_parameters_of_commands() -> None:
    assert (
        loaded_by("import fcpair.cli") & {*HEAVY, "fcpair.cli.options", "fcpair.param_values", "fcpair.params"} == set()
    )


def test_a_study_is_imported_without_the_heavy_libraries_and_without_stages() -> None:
    loaded = loaded_by("from fcpair import Study")
    assert loaded & {*HEAVY, "pydantic", "jinja2", "rich"} == {"sqlalchemy"}
    assert loaded & {"sqlalchemy.orm", "sqlalchemy.dialects.postgresql", "fcpair.recipe"} == set()
    assert not any(within(name, "fcpair.stages") or within(name, "fcpair.files") for name in loaded)


@pytest.mark.parametrize("command", [["status"], ["grids"], ["people", "list"]])
def test_a_command_that_only_counts_needs_no_frames_and_no_arrays(command: list[str], tmp_path: Path) -> None:
    Study.create(tmp_path / "study.db").close()
    line = [*command, "--format", "json", "--study", str(tmp_path / "study.db")]
    loaded = loaded_by(f"from fcpair.cli import main\nmain({line!r}, standalone_mode=False)")
    assert loaded & set(HEAVY) == {"sqlalchemy"}
    assert "sqlalchemy.orm" not in loaded

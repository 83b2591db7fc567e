"""The wheel built from the sdist: installed elsewhere and used from there, it is all that fcpair needs."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
SOURCES = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "fcpair", "migrations", "examples", "docs")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist of a copy of the sources, so that nothing is left in the checkout."""
    copy = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", "."]
    subprocess.run(build, cwd=copy, check=True, capture_output=True)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel was installed."""
    target = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, "--disable-pip-version-check", str(wheel)], check=True, capture_output=True)
    return target


def test_the_wheel_has_all_of_the_package_and_neither_tests_nor_benchmarks(wheel: Path, installed: Path) -> None:
    config = configparser.ConfigParser()
    config.read(CHECKOUT / "setup.cfg")
    assert wheel.name.startswith(f"fcpair-{config['metadata']['version']}-py3-none-any")
    modules = {path.relative_to(installed).as_posix() for path in installed.rglob("*.py")}
    for source, target in (("fcpair", "fcpair"), ("migrations", "fcpair/_migrations")):
        paths = [path.relative_to(CHECKOUT / source).as_posix() for path in CHECKOUT.glob(f"{source}/**/*.py")]
        assert {f"{target}/{path}" for path in paths} <= modules
    assert (installed / "fcpair" / "py.typed").is_file()
    for place in ("fcpair/report/*.j2", "fcpair/report/*.bib", "fcpair/files/release/templates/*.j2"):
        names = {path.name for path in CHECKOUT.glob(place)}
        assert names
        assert names <= {path.name for path in installed.glob(place)}, place
    assert (installed / "fcpair/_docs/howto/lead.md").is_file()
    assert (installed / "fcpair/_example/first-look.toml").is_file()
    top = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert top - {"bin"} == {"fcpair"}


def test_a_study_is_made_with_the_installed_command_and_package_and_not_with_the_checkout(
    installed: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    places = run(sys.executable, "-c", "import fcpair, fcpair._migrations as m; print(fcpair.__file__, m.__file__)")
    assert [Path(place).is_relative_to(installed) for place in places.split()] == [True, True]
    fcpair = str(installed / "bin" / "fcpair")
    run(fcpair, "init", "--title", "From the wheel")
    assert "From the wheel" in run(fcpair, "status")
    shipped = "from fcpair.web.pages.documentation import FOLDER; from fcpair.steps.oversight.study_start import *; "
    shown = run(sys.executable, "-c", shipped + "print(FOLDER, example_recipe().import_.path, sep='\\n')").split()
    assert all(Path(place).is_relative_to(installed) for place in shown)
    run(fcpair, "report", "--out", "report.html")
    assert "From the wheel" in (tmp_path / "report.html").read_text("utf-8")


def test_the_readme_says_what_every_extra_is_for() -> None:
    config = configparser.ConfigParser()
    config.read(CHECKOUT / "setup.cfg", encoding="utf-8")
    lines = (CHECKOUT / "README.md").read_text("utf-8").splitlines()
    said = {line.split("`")[1] for line in lines[lines.index("| extra | what it is for |") + 2 :] if line[:3] == "| `"}
    assert said >= set(config["options.extras_require"]) - {"dev"}

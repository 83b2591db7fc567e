"""The wheel built from the sdist: installed elsewhere and used from there, it is all that fcpair needs."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
SOURCES = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "fcpair", "migrations")


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


def run(installed: Path, folder: Path, script: str) -> str:
    """Run a script with the installed folder before everything else, away from the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_version_is_that_of_setup_cfg(wheel: Path) -> None:
    config = configparser.ConfigParser()
    config.read(CHECKOUT / "setup.cfg")
    assert wheel.name.startswith(f"fcpair-{config['metadata']['version']}-py3-none-any")


def test_the_installed_package_is_used_and_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    script = "import fcpair, fcpair._migrations as m; print(fcpair.__file__); print(m.__file__)"
    places = run(installed, tmp_path, script).split()
    assert [Path(place).is_relative_to(installed) for place in places] == [True, True]


def test_every_module_of_the_checkout_is_in_the_wheel(installed: Path) -> None:
    there = {path.relative_to(installed).as_posix() for path in installed.rglob("*.py")}
    package = {f"fcpair/{path.relative_to(CHECKOUT / 'fcpair').as_posix()}" for path in CHECKOUT.glob("fcpair/**/*.py")}
    migrations = {
        f"fcpair/_migrations/{path.relative_to(CHECKOUT / 'migrations').as_posix()}"
        for path in CHECKOUT.glob("migrations/**/*.py")
    }
    assert package | migrations <= there


def test_what_is_no_module_is_in_the_wheel_too(installed: Path) -> None:
    assert (installed / "fcpair" / "py.typed").is_file()
    for place in ("fcpair/report/*.j2", "fcpair/report/*.bib", "fcpair/files/release/templates/*.j2"):
        names = {path.name for path in CHECKOUT.glob(place)}
        assert names
        assert names <= {path.name for path in installed.glob(place)}, place


def test_neither_tests_nor_benchmarks_are_in_the_wheel(installed: Path) -> None:
    top = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert top - {"bin"} == {"fcpair"}


def test_a_study_is_made_with_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = """
        from fcpair.cli import main
        main(["init", "--title", "From the wheel"], standalone_mode=False)
        main(["status"], standalone_mode=False)
        main(["report", "--out", "report.html"], standalone_mode=False)
        """
    printed = run(installed, tmp_path, script)
    assert "From the wheel" in printed
    assert "From the wheel" in (tmp_path / "report.html").read_text("utf-8")


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [str(installed / "bin" / "fcpair"), "init"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "study.db").is_file()


def test_the_readme_says_what_every_extra_is_for() -> None:
    config = configparser.ConfigParser()
    config.read(CHECKOUT / "setup.cfg", encoding="utf-8")
    lines = (CHECKOUT / "README.md").read_text("utf-8").splitlines()
    said = {line.split("`")[1] for line in lines[lines.index("| extra | what it is for |") + 2 :] if line[:3] == "| `"}
    assert said >= set(config["options.extras_require"]) - {"dev"}

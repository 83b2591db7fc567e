"""Old spellings of options: they work for a version, say the new one, and are in no help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.conftest import Fcpair
from cli.test_commands import ALL, found, help_of
from fcpair.cli.old_spellings import with_old_spellings, with_old_values

At = Callable[[str], Path]
OLD_NAMES = {
    ("import",): {"--language": "--only-language"},
    ("select",): {"--list": "--hs-list"},
    ("retrieve",): {"--list": "--cn-list"},
    ("assign",): {"--group": "--annotator-group"},
    ("agreement",): {"--by": "--blocks", "--not-sure": "--indefinite"},
    ("groups",): {"--label": "--labels"},
    ("adjudicate",): {"--by": "--adjudicator"},
    ("partition",): {"--columns": "--layout"},
    ("evaluate",): {"--k": "--cutoff"},
    ("split",): {"--group": "--cluster"},
    ("classify",): {"--group": "--cluster", "--model": "--classifier"},
    ("correlate",): {"--measure": "--score"},
    ("ask", "import"): {"--list": "--as-list"},
    ("ask", "open"): {"--people": "--respondents"},
    ("ask", "results"): {"--question": "--question-column", "--population": "--population-size"},
    ("bias", "score"): {"--people": "--survey"},
}


@with_old_values("--reader", long="pairs")
@with_old_spellings(names="--name", list="--as-list")
@click.command()
@click.option("--name", multiple=True, required=True)
@click.option("--as-list", is_flag=True)
@click.option("--reader", default="cells")
def spelled(name: Sequence[str], as_list: bool, reader: str) -> None:
    """Print what came."""
    click.echo(f"{name} {as_list} {reader}")


def said(*words: str, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(spelled, words)
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


def test_old_names_are_those_of_the_changelog() -> None:
    hidden = {
        path: {
            param.opts[0]: (param.help or "").split()[-1].rstrip(".") for param in found(path).params if of_old(param)
        }
        for path in ALL
    }
    assert {path: names for path, names in hidden.items() if names} == OLD_NAMES


def of_old(param: click.Parameter) -> bool:
    return isinstance(param, click.Option) and param.hidden


def test_an_old_name_has_the_values_of_the_new_one_and_says_it() -> None:
    out, err = said("--names", "a", "--names", "b", "--list")
    assert out == "('a', 'b') True cells\n"
    assert err.splitlines() == [
        "Note: `--names` is spelled `--name` now; the old spelling will be removed in the next version.",
        "Note: `--list` is spelled `--as-list` now; the old spelling will be removed in the next version.",
    ]


def test_a_new_name_says_nothing() -> None:
    assert said("--name", "a") == ("('a',) False cells\n", "")


def test_old_and_new_together_are_refused() -> None:
    assert (
        "`--names` is spelled `--name` now; give only the new spelling"
        in said("--names", "a", "--name", "b", code=2)[1]
    )


def test_an_option_that_is_missing_is_asked_for_by_its_new_name() -> None:
    assert "Missing option '--name'" in said(code=2)[1]


def test_an_old_value_is_given_to_the_option_that_takes_it_now() -> None:
    out, err = said("--name", "a", "--format", "long")
    assert out == "('a',) False pairs\n"
    assert "`--format long` is spelled `--reader pairs` now" in err


def test_an_old_value_beside_the_option_that_takes_it_now_is_refused() -> None:
    assert "give only the new spelling" in said("--name", "a", "--format", "long", "--reader", "cells", code=2)[1]


@pytest.mark.parametrize("path", OLD_NAMES, ids=" ".join)
def test_help_shows_the_new_spelling_alone(path: tuple[str, ...]) -> None:
    shown = help_of(*path).split()
    for old, new in OLD_NAMES[path].items():
        assert new in shown
        assert old not in shown


def test_sheets_and_imports_take_the_formats_of_before(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    fcpair("labels", "sheets", tmp_path / "old", "--format", "xlsx")
    fcpair("labels", "sheets", tmp_path / "new", "--sheet-format", "xlsx")
    assert [path.name for path in sorted((tmp_path / "old").iterdir())] == [
        path.name for path in sorted((tmp_path / "new").iterdir())
    ]
    fcpair("answers", "sheets", tmp_path / "csv", "--format", "csv")
    sheet = next((tmp_path / "csv").iterdir())
    assert "`--format csv` is spelled `--reader csv` now" in fcpair("import", sheet, "--format", "csv", code=2).stderr

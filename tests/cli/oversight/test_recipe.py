"""`fcpair recipe`, and the defaults that commands take from the recipe that a study keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from steps.small import dump

from cli.conftest import Fcpair
from fcpair.study import Study

At = Callable[[str], Path]
RECIPE = """\
[adjudicate]
policy = "majority"
ties = "discard"

[validate]
validators = 2
pairs = 9
blind = true
seed = 13

[partition]
diamond = "majority"
"""


def keep(fcpair: Fcpair, folder: Path, content: str = RECIPE) -> None:
    """Have the study of the test keep a recipe."""
    (folder / "r.toml").write_text(content, "utf-8")
    fcpair("run", folder / "r.toml")


def test_what_is_printed_is_walked_and_changes_nothing(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path = at("dealt")
    keep(fcpair, tmp_path)
    said = fcpair("recipe").stdout
    assert said.startswith("# The recipe of this study, version 1.\n\n[study]\n")
    assert RECIPE in said
    before = dump(path)
    (tmp_path / "now.toml").write_text(said, "utf-8")
    fcpair("run", tmp_path / "now.toml")
    assert dump(path) == before


def test_a_command_without_options_does_what_the_recipe_says(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path = at("dealt")
    keep(fcpair, tmp_path)
    fcpair("simulate", "--seed", "1")
    fcpair("adjudicate", "--policy", "majority")
    fcpair("validate", "assign")
    runs = {one.stage: one.params for one in Study(path).log()}
    assert runs["adjudicate"] == {"policy": "majority", "ties": "discard"}
    assert runs["validate"] == {"validators": 2, "pairs": 9, "blind": True, "seed": 13}
    assert "version 1." in fcpair("recipe").stdout


def test_an_option_departs_and_a_flag_can_be_taken_back(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("dealt")
    keep(fcpair, tmp_path)
    fcpair("simulate", "--seed", "1")
    fcpair("adjudicate", "--policy", "majority")
    fcpair("validate", "assign", "--no-blind", "--pairs", "4")
    said = fcpair("recipe").stdout
    assert "# The recipe of this study, version 2.\n" in said
    assert "[validate]\nvalidators = 2\npairs = 4\nblind = false\nseed = 13\n" in said
    (tmp_path / "now.toml").write_text(said, "utf-8")
    fcpair("run", tmp_path / "now.toml")
    refused = fcpair("run", tmp_path / "r.toml", code=2).stderr
    assert re.search(r"validate +pairs +9 +4\n +validate +blind +true +false\n", refused)


def test_the_help_says_where_defaults_are_from(fcpair: Fcpair) -> None:
    said = " ".join(fcpair("validate", "assign", "--help").stdout.split())
    assert "Random seed. [default: the recipe's, else 0]" in said
    assert "--blind / --no-blind" in said

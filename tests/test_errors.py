"""What errors say in Python of the commands that they name."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

import pytest
from cli.test_commands import IDS

from fcpair.errors import _METHODS, FcpairError, StageError
from fcpair.study import Study


def test_a_traceback_says_what_the_command_is_in_python(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db") as study, pytest.raises(StageError, match="run `fcpair import`") as caught:
        study.grid().pair()
    assert caught.value.__notes__ == ["In Python: study.import_corpus(...)"]


def test_commands_that_have_no_method_are_passed_over() -> None:
    assert not hasattr(FcpairError("run `fcpair serve`"), "__notes__")
    error = FcpairError("run `fcpair people add NAME`, `fcpair serve` or `fcpair people`, then `fcpair log`")
    assert error.__notes__ == ["In Python: study.add_people(...), study.log(...)"]


@pytest.mark.parametrize(("command", "method"), _METHODS.items())
def test_each_is_a_command_and_a_method(tmp_path: Path, command: str, method: str) -> None:
    assert command in IDS
    owner, name = method.split(".", 1)
    with Study.create(tmp_path / "s.db") as study:
        assert callable(attrgetter(name)({"grid": study.grid(), "study": study, "Study": Study}[owner]))

"""The grids of a study, by name, and the methods that a study and a grid have."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import UnknownIdError
from fcpair.grid import Grid
from fcpair.records import GridKey
from fcpair.store.corpus import grids
from fcpair.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study.db")


def with_grids(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have every study keep grids of these names."""
    keys = [GridKey(number, name) for number, name in enumerate(names, 1)]
    monkeypatch.setattr(grids, "keys", lambda tx: keys)


def test_a_new_study_has_one_grid_called_main(study: Study) -> None:
    assert study.grids == ["main"]
    assert study.grid().grid == study.grid("main").grid == GridKey(1, "main")


def test_a_name_that_no_grid_has_is_refused_with_the_names_there_are(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_grids(monkeypatch, "write", "rate")
    with pytest.raises(UnknownIdError, match="there is no grid `other`; the grids of this study: write, rate"):
        study.grid("other")


def test_a_name_that_is_nearly_one_of_a_grid_is_refused_with_that(study: Study) -> None:
    with pytest.raises(UnknownIdError, match=r"there is no grid `mian`; did you mean `main`\?"):
        study.grid("mian")


def test_without_a_name_the_only_grid_is_meant(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with_grids(monkeypatch, "write")
    assert study.grid().grid.name == "write"


def test_without_a_name_main_is_meant_where_there_are_several(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with_grids(monkeypatch, "write", "main")
    assert study.grid().grid == GridKey(2, "main")


def test_without_a_name_none_is_taken_where_there_are_several_and_no_main(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_grids(monkeypatch, "write", "rate")
    with pytest.raises(UnknownIdError, match="this study has 2 grids, write, rate; choose one, such as `--grid write`"):
        study.grid()


def test_an_empty_name_is_no_name_of_a_grid(study: Study) -> None:
    with pytest.raises(UnknownIdError, match="there is no grid ``"):
        study.grid("")


@pytest.mark.parametrize("cls", [Study, Grid])
def test_everything_public_says_what_it_does(cls: type) -> None:
    public = [name for name in dir(cls) if not name.startswith("_")]
    assert len(public) > 20
    assert [name for name in public if not (getattr(cls, name).__doc__ or "").strip()] == []
